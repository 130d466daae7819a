// SPDX-License-Identifier: MIT OR Apache-2.0
//! Memory placed by color, and memory whose frames the kernel chooses.

use anyhow::{Context, bail};
use huepage::{
    available_memory,
    color::{Chosen, Color, ColorCount, ColorOracle, Oracle, Pressure},
    mapping::{Mapping, PageAddr, PageKind, page_size},
    place::{PlaceError, Policy, Pool, Region},
    units::Bytes,
};

use super::{
    Placement, Workbench, memory,
    plain::{Plain, PlainBuffer},
    suite::Job,
};

/// Serves every placement: colored ones from pools of classified pages, the others from
/// the kernel.
pub struct Placements {
    plain: Plain,
    oracle: Oracle,
    /// Measures evictions if colors come from frame numbers.
    witness: Option<Box<Oracle>>,
    colored: Pool,
    /// Pages whose labels were permuted at random.
    shuffled: Option<Pool>,
    sequence: Result<(), PlaceError>,
    /// Colors that allocations are made of: all, or those of a share of the cache.
    count: ColorCount,
    reason: String,
    rng: fastrand::Rng,
}

/// Memory of one allocation.
pub enum PlacedBuffer {
    /// From the kernel.
    Plain(PlainBuffer),
    /// From a pool of classified pages.
    Colored(Region),
    /// From the pool of pages with shuffled labels.
    Shuffled(Region),
}

impl AsMut<[u8]> for PlacedBuffer {
    fn as_mut(&mut self) -> &mut [u8] {
        match self {
            PlacedBuffer::Plain(buffer) => buffer.as_mut(),
            PlacedBuffer::Colored(region) | PlacedBuffer::Shuffled(region) => region.as_mut_slice(),
        }
    }
}

impl PlacedBuffer {
    fn pages(&self) -> Vec<PageAddr> {
        match self {
            PlacedBuffer::Plain(buffer) => buffer.mapping().iter().collect(),
            PlacedBuffer::Colored(region) | PlacedBuffer::Shuffled(region) => {
                (0..region.pages()).map(|index| region.page(index)).collect()
            }
        }
    }
}

/// A pool is larger by this factor than its allocations need, and by this many MiB in
/// all, since chance does not give colors evenly.
const SPARE: f64 = 1.3;
/// See [`SPARE`].
const LEAST_SPARE: Bytes = Bytes::mib(4);

/// The pages of each color that allocations of a placement need at most: a quarter of
/// the colors, another one in each of four allocations.
fn pages_of_a_color(
    placement: Placement,
    bytes: Bytes,
    allocations: usize,
    count: ColorCount,
) -> u64 {
    let pages = bytes.pages(page_size()) as u64;
    let colors = u64::from(count.get());
    let allocations = allocations as u64;
    match placement {
        plain if plain.is_plain() => 0,
        Placement::Quarter => {
            let quarter = (colors / 4).max(1);
            allocations.div_ceil(colors / quarter).saturating_mul(pages.div_ceil(quarter))
        }
        _ => allocations.saturating_mul(pages.div_ceil(colors)),
    }
}

/// The size of a pool with so many pages of each of `count` colors, if its pages are
/// drawn from all of `all` colors.
fn pool_size(of_a_color: u64, count: ColorCount, all: ColorCount) -> Bytes {
    let bytes = of_a_color as f64 * f64::from(count.get()) * page_size().0 as f64;
    // Only pages of the colors of a share of the cache are kept.
    let share = f64::from(all.get()) / f64::from(count.get());
    Bytes(((bytes * SPARE + LEAST_SPARE.0 as f64) * share) as u64)
}

impl Placements {
    /// Classifies pages for `allocations` allocations of each of `placements`
    /// that runs in one of the jobs, in the first `count` colors.
    ///
    /// # Errors
    /// If memory runs short or colors can no longer be found.
    pub fn new(
        chosen: Chosen,
        jobs: &[Job],
        placements: &[Placement],
        allocations: usize,
        count: ColorCount,
        seed: u64,
    ) -> anyhow::Result<Self> {
        let Chosen { mut oracle, reason, witness, .. } = chosen;
        let mut rng = fastrand::Rng::with_seed(seed);
        let of_a_color = |wanted: &dyn Fn(Placement) -> bool| {
            let of =
                |p: &Placement| pages_of_a_color(*p, memory::largest(jobs, *p), allocations, count);
            placements.iter().filter(|p| wanted(**p)).map(of).fold(0, u64::saturating_add)
        };
        let is_shuffled = |p| p == Placement::ShuffledLabels;
        let colored = pool_size(of_a_color(&|p| !is_shuffled(p)), count, oracle.count());
        let shuffled = match of_a_color(&is_shuffled) {
            0 => Bytes(0),
            some => pool_size(some, count, oracle.count()),
        };
        // Placements by the kernel are offered for the whole cache only.
        let plain = match count == oracle.count() {
            true => memory::plain(jobs, placements, allocations),
            false => Bytes(0),
        };
        let wanted = colored.0.saturating_add(shuffled.0).saturating_add(plain.0);
        memory::check(Bytes(wanted), allocations)?;
        let colored = pool(&mut oracle, of_a_color(&|p| !is_shuffled(p)), count, |_| ())?;
        let shuffled = match of_a_color(&is_shuffled) {
            0 => None,
            some => Some(pool(&mut oracle, some, count, |labels| rng.shuffle(labels))?),
        };
        let mut placements = Placements {
            plain: Plain::probe(seed),
            oracle,
            witness,
            colored,
            shuffled,
            sequence: Ok(()),
            count,
            reason,
            rng,
        };
        placements.sequence = placements.try_sequence();
        Ok(placements)
    }

    /// Following first touch needs a privilege, so it is tried before it is offered.
    fn try_sequence(&mut self) -> Result<(), PlaceError> {
        let region = self.colored.allocate(page_size(), &Policy::Sequence)?;
        Ok(self.colored.give_back(region)?)
    }

    fn shares_the_cache(&self) -> bool {
        self.count != self.oracle.count()
    }

    fn colored_buffer(&mut self, bytes: Bytes, policy: &Policy) -> anyhow::Result<PlacedBuffer> {
        let mut region = self.colored.allocate(bytes, policy)?;
        if *policy == Policy::Sequence {
            // Placed by touching it for the first time; then the thread that follows
            // first touch can end.
            let bytes = region.as_mut_slice();
            bytes.iter_mut().step_by(page_size().0 as usize).for_each(|byte| *byte = 1);
            self.colored.settle(&mut region)?;
        }
        Ok(PlacedBuffer::Colored(region))
    }

    /// A quarter of the colors, other ones in each allocation of four, so that no
    /// single color decides the figure and none runs short.
    fn quarters(&mut self, count: usize) -> Vec<Policy> {
        let quarter = (self.count.get() / 4).max(1) as usize;
        let mut quarters: Vec<Policy> = Vec::new();
        while quarters.len() < count {
            let mut colors: Vec<Color> = self.count.iter().collect();
            self.rng.shuffle(&mut colors);
            quarters.extend(colors.chunks_exact(quarter).map(|some| Policy::Colors(some.to_vec())));
        }
        quarters.truncate(count);
        quarters
    }
}

/// A pool with so many pages of each of the first `count` colors.
///
/// Free memory may hold far fewer pages of some colors than of others (see
/// [`MeasuredOracle::discover`]): then the pool is drawn from more memory, while the
/// first pages are kept, so that the kernel does not give them again.
fn pool(
    oracle: &mut Oracle,
    of_a_color: u64,
    count: ColorCount,
    relabel: impl FnOnce(&mut [Option<Color>]),
) -> anyhow::Result<Pool> {
    let mut size = pool_size(of_a_color, count, oracle.count());
    let mut kept: Vec<Mapping> = Vec::new();
    let (mapping, mut labels) = loop {
        let mapping = Mapping::populated(size.pages(page_size()), PageKind::Base)
            .with_context(|| format!("allocating a pool of {size}"))?;
        let pages: Vec<PageAddr> = mapping.iter().collect();
        // SAFETY: the pages belong to `mapping`, which outlives the call.
        let mut labels = unsafe { oracle.classify(&pages) }.context("classifying the pool")?;
        // If a color is short, more memory has more pages of it; but not if most pages
        // got no color.
        let told = 4 * labels.iter().flatten().count() >= 3 * labels.len();
        for label in &mut labels {
            *label = label.filter(|color| color.0 < count.get());
        }
        let mut pages = vec![0u64; count.get() as usize];
        labels.iter().flatten().for_each(|color| pages[color.index()] += 1);
        let larger = Bytes(size.0.saturating_mul(LARGER));
        let room = available_memory().is_none_or(|available| available.0 / 2 >= larger.0);
        // Random allocations take more of some colors than of others: four standard
        // deviations are added for that.
        let needed = of_a_color as f64 + 4.0 * (of_a_color as f64).sqrt();
        let enough = pages.iter().all(|&pages| pages as f64 >= needed);
        if enough || !told || kept.len() == TRIES || !room {
            break (mapping, labels);
        }
        kept.push(mapping);
        size = larger;
    };
    relabel(&mut labels);
    Ok(Pool::from_parts(mapping, &labels, count, None)?)
}

/// The factor by which a pool that did not suffice is enlarged, and how often.
const LARGER: u64 = 3;
/// See [`LARGER`].
const TRIES: usize = 3;

impl Workbench for Placements {
    type Buffer = PlacedBuffer;

    fn describe(&self) -> String {
        let mut text = format!("pages of {} colors, told by {}", self.oracle.count(), self.reason);
        if self.shares_the_cache() {
            text.push_str(&format!("; {} of the colors are used", self.count));
        }
        if let Err(why) = &self.sequence {
            let why = huepage::with_causes(why);
            text.push_str(&format!("; sequence is left out: {why}"));
        }
        text
    }

    fn offers(&self) -> Vec<Placement> {
        let plain = self.plain.offers();
        let served = |placement: &Placement| match placement {
            // Pages that the kernel chooses do not keep to a part of the cache.
            plainly if plainly.is_plain() => !self.shares_the_cache() && plain.contains(plainly),
            Placement::Sequence => self.sequence.is_ok(),
            _ => true,
        };
        Placement::ALL.into_iter().filter(served).collect()
    }

    fn allocate(
        &mut self,
        placement: Placement,
        bytes: Bytes,
        count: usize,
    ) -> anyhow::Result<Vec<PlacedBuffer>> {
        let policies = match placement {
            plain if plain.is_plain() => {
                let buffers = self.plain.allocate(placement, bytes, count)?;
                return Ok(buffers.into_iter().map(PlacedBuffer::Plain).collect());
            }
            Placement::Random => {
                (0..count).map(|_| Policy::Random { seed: self.rng.u64(..) }).collect()
            }
            Placement::Quarter => self.quarters(count),
            Placement::Sequence => vec![Policy::Sequence; count],
            Placement::ShuffledLabels => {
                let Some(pool) = &mut self.shuffled else {
                    bail!("no pages with shuffled labels were set aside");
                };
                let regions = (0..count).map(|_| pool.allocate(bytes, &Policy::Balanced));
                return Ok(regions
                    .map(|region| region.map(PlacedBuffer::Shuffled))
                    .collect::<Result<_, _>>()?);
            }
            _ => vec![Policy::Balanced; count],
        };
        policies.iter().map(|policy| self.colored_buffer(bytes, policy)).collect()
    }

    fn give_back(&mut self, buffer: PlacedBuffer) -> anyhow::Result<()> {
        match buffer {
            PlacedBuffer::Plain(_) => {}
            PlacedBuffer::Colored(region) => self.colored.give_back(region)?,
            PlacedBuffer::Shuffled(region) => match &mut self.shuffled {
                Some(pool) => pool.give_back(region)?,
                None => bail!("a region of a pool that is not there"),
            },
        }
        Ok(())
    }

    fn colors(&mut self, buffer: &mut PlacedBuffer) -> anyhow::Result<Option<Vec<Option<Color>>>> {
        let pages = buffer.pages();
        // SAFETY: the pages are those of `buffer`, which is borrowed here.
        let colors = unsafe { self.oracle.classify(&pages) }.context("telling colors again")?;
        Ok(Some(colors))
    }

    fn pressure(&mut self) -> anyhow::Result<Option<Pressure>> {
        let measured = self.witness.as_deref_mut().unwrap_or(&mut self.oracle);
        Ok(measured.pressure(Pressure::WAIT)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Policies as they are allocated, counted color by color.
    #[test]
    fn pools_hold_as_many_pages_of_each_color_as_allocations_take() {
        let colors = ColorCount::new(32).unwrap();
        let pages = |placement, allocations| {
            pages_of_a_color(placement, Bytes::mib(2), allocations, colors)
        };
        assert_eq!(pages(Placement::Balanced, 15), 15 * 16);
        // Four allocations in a quarter each take 64 of every color.
        assert_eq!(pages(Placement::Quarter, 1), 64);
        assert_eq!(pages(Placement::Quarter, 4), 64);
        assert_eq!(pages(Placement::Quarter, 15), 4 * 64);
        assert_eq!(pages(Placement::Thp, 15), 0);
        let size = pool_size(100, ColorCount::new(8).unwrap(), colors);
        assert!(size.0 >= 32 * 100 * 4096, "{size}");
        assert!(pages(Placement::Balanced, usize::MAX) > 1 << 60);
    }
}
