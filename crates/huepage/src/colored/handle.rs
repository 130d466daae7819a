// SPDX-License-Identifier: MIT OR Apache-2.0
//! Pools that grow, and the oracle for their colors, shared by all memory that they
//! gave out.

use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard},
};

use super::{Builder, ColoredError, Partition, Placed};
use crate::{
    color::{Color, ColorCount, ColorOracle, Method},
    mapping::PageAddr,
    place::{PlaceError, Policy, Pool, Reclassified, Recolored, Region},
    units::Bytes,
};

/// Colored memory for this process. Clones share everything.
///
/// A forked child can go on using memory that it inherited. To allocate, it opens a
/// `Huepage` of its own.
#[derive(Clone)]
pub struct Huepage(Arc<Shared>);

struct Shared {
    policy: Policy,
    count: ColorCount,
    method: Method,
    reason: String,
    stock: Mutex<Stock>,
    process: u32,
}

/// What is used by one thread at a time.
struct Stock {
    oracle: Box<dyn ColorOracle + Send>,
    pools: Vec<Pool>,
    /// Regions that collections hold, by their first address.
    allocated: HashMap<usize, Region>,
}

impl fmt::Debug for Huepage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Huepage")
            .field("count", &self.0.count)
            .field("method", &self.0.method)
            .field("policy", &self.0.policy)
            .finish_non_exhaustive()
    }
}

impl Huepage {
    /// Finds the colors of the cache, by the method that can be trusted on this
    /// machine.
    ///
    /// # Errors
    /// [`ColoredError`] says what is missing.
    pub fn open() -> Result<Self, ColoredError> {
        Self::builder().open()
    }

    /// As [`Huepage::open`], with settings for CPU, policy, pool and more.
    pub fn builder() -> Builder {
        Builder::default()
    }

    pub(super) fn new(
        oracle: Box<dyn ColorOracle + Send>,
        reason: String,
        policy: Policy,
    ) -> Result<Self, ColoredError> {
        policy.check(oracle.count()).map_err(PlaceError::from)?;
        Ok(Huepage(Arc::new(Shared {
            policy,
            count: oracle.count(),
            method: oracle.method(),
            reason,
            stock: Mutex::new(Stock { oracle, pools: Vec::new(), allocated: HashMap::new() }),
            process: std::process::id(),
        })))
    }

    /// How many colors there are.
    pub fn count(&self) -> ColorCount {
        self.0.count
    }

    /// How colors are found.
    pub fn method(&self) -> Method {
        self.0.method
    }

    /// Why this method is used, as a sentence for people.
    pub fn reason(&self) -> &str {
        &self.0.reason
    }

    /// How many pages wait in pools; zero after a fork.
    pub fn pages(&self) -> usize {
        self.stock().map_or(0, |stock| stock.pools.iter().map(Pool::pages).sum())
    }

    /// All colors as one part, to be split.
    pub fn partition(&self) -> Partition {
        Partition::whole(self.0.count)
    }

    /// `n` elements, each its type's default, in memory placed by the policy that
    /// was opened with. Their order of first touch is ascending.
    ///
    /// # Errors
    /// [`ColoredError::TooMany`]; [`ColoredError::Place`] where memory or colors
    /// are short; [`ColoredError::Color`] if new pages cannot be classified.
    pub fn vec<T: Default>(&self, n: usize) -> Result<Placed<T>, ColoredError> {
        Placed::new(self, n, &self.0.policy)
    }

    /// As [`Huepage::vec`], in colors of one part of the cache only.
    ///
    /// # Errors
    /// As [`Huepage::vec`].
    pub fn vec_in<T: Default>(
        &self,
        part: &Partition,
        n: usize,
    ) -> Result<Placed<T>, ColoredError> {
        Placed::new(self, n, &part.policy())
    }

    /// The colors of the pages that a slice lies in, placed or not; `None` for a
    /// page that has none (never written) or whose color cannot be found now.
    ///
    /// # Errors
    /// [`ColoredError::Color`] if no answer could be trusted;
    /// [`PlaceError::OtherProcess`] after a fork.
    pub fn colors_of<T>(&self, slice: &[T]) -> Result<Vec<Option<Color>>, ColoredError> {
        // SAFETY: the borrow keeps the memory mapped and readable.
        unsafe { self.colors_of_memory(slice.as_ptr().cast(), size_of_val(slice)) }
    }

    /// As [`Huepage::colors_of`], for memory that others may be writing to.
    ///
    /// # Errors
    /// As [`Huepage::colors_of`].
    ///
    /// # Safety
    /// The bytes are mapped and readable, and stay so during the call.
    pub unsafe fn colors_of_memory(
        &self,
        start: *const u8,
        bytes: usize,
    ) -> Result<Vec<Option<Color>>, ColoredError> {
        if bytes == 0 {
            return Ok(Vec::new());
        }
        start.expose_provenance();
        let first = PageAddr::containing(start);
        let last = PageAddr::containing(start.wrapping_add(bytes - 1));
        let pages: Vec<PageAddr> =
            (0..=last.number() - first.number()).map(|page| first.nth(page)).collect();
        let mut stock = self.stock()?;
        // SAFETY: every page holds one of the bytes, and is mapped and readable as
        // that is. Nothing is written.
        Ok(unsafe { stock.oracle.classify(&pages) }?)
    }

    /// Classifies all pages that wait in pools again: the kernel or the host may have
    /// moved some. For memory in use see [`Placed::reverify`].
    ///
    /// # Errors
    /// [`PlaceError::Color`] if no answer could be trusted;
    /// [`PlaceError::OtherProcess`] after a fork.
    pub fn reverify(&self) -> Result<Reclassified, ColoredError> {
        let mut stock = self.stock()?;
        let Stock { oracle, pools, .. } = &mut *stock;
        let mut all = Reclassified::default();
        for pool in pools {
            let found = pool.reclassify(&mut **oracle)?;
            all.same += found.same;
            all.changed += found.changed;
            all.released += found.released;
        }
        Ok(all)
    }

    /// Draws a pool for so much memory.
    pub(super) fn draw(&self, size: Bytes) -> Result<(), ColoredError> {
        Ok(self.stock()?.draw(size, &self.0.policy)?)
    }

    /// Zeroed bytes placed by a policy, untouched: for [`Policy::Sequence`], and for
    /// memory of other languages. The caller returns them with [`Huepage::give_back`];
    /// if a region is dropped instead, its pages go to the kernel.
    ///
    /// # Errors
    /// As [`Pool::build`] and [`Pool::allocate`].
    pub fn region(&self, size: Bytes, policy: &Policy) -> Result<Region, ColoredError> {
        Ok(self.stock()?.region(size, policy)?)
    }

    /// A region known by its first address alone, for callers that can keep only a
    /// pointer.
    pub(super) fn lend(&self, size: Bytes) -> Result<*mut u8, ColoredError> {
        let mut stock = self.stock()?;
        let mut region = stock.region(size, &self.0.policy)?;
        let first = region.as_mut_ptr();
        stock.allocated.insert(first.addr(), region);
        Ok(first)
    }

    /// Takes back a region of [`Huepage::lend`].
    pub(super) fn take_lent(&self, first: *mut u8) {
        // In a child the pages belong to the pool of the parent: they stay as they are
        // until the child ends.
        let Ok(mut stock) = self.stock() else { return };
        if let Some(region) = stock.allocated.remove(&first.addr()) {
            stock.put_back(region);
        }
    }

    /// Takes back a region of [`Huepage::region`]. In a child, and for regions of other
    /// pools, the pages go to the kernel.
    pub fn give_back(&self, region: Region) {
        if let Ok(mut stock) = self.stock() {
            stock.put_back(region);
        }
    }

    /// [`Placed::reverify`] for a region.
    ///
    /// # Errors
    /// As [`Pool::repair`].
    pub fn reverify_region(&self, region: &mut Region) -> Result<Recolored, ColoredError> {
        let mut stock = self.stock()?;
        let Stock { oracle, pools, .. } = &mut *stock;
        let pool = pools.iter_mut().find(|pool| pool.owns(region));
        Ok(pool.ok_or(PlaceError::ForeignRegion)?.repair(region, &mut **oracle)?)
    }

    /// The stock, locked. Refused in a forked child: there the lock may be held by a
    /// thread that the child does not have.
    fn stock(&self) -> Result<MutexGuard<'_, Stock>, PlaceError> {
        if self.0.process != std::process::id() {
            return Err(PlaceError::OtherProcess);
        }
        Ok(self.0.stock.lock().unwrap_or_else(|poisoned| poisoned.into_inner()))
    }
}

impl Stock {
    fn draw(&mut self, size: Bytes, policy: &Policy) -> Result<(), PlaceError> {
        self.pools.push(Pool::build(&mut *self.oracle, size, policy)?);
        Ok(())
    }

    /// From the first pool that has enough, otherwise from a new one.
    fn region(&mut self, size: Bytes, policy: &Policy) -> Result<Region, PlaceError> {
        for pool in &mut self.pools {
            match pool.allocate(size, policy) {
                Err(PlaceError::PoolTooSmall { .. } | PlaceError::PoolShort { .. }) => {}
                done => return done,
            }
        }
        self.draw(size, policy)?;
        self.pools.last_mut().expect("a pool was just drawn").allocate(size, policy)
    }

    fn put_back(&mut self, region: Region) {
        if let Some(pool) = self.pools.iter_mut().find(|pool| pool.owns(&region)) {
            // If the pool cannot take the region, its pages go to the kernel.
            let _ = pool.give_back(region);
        }
    }
}
