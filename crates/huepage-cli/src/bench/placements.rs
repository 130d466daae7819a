// SPDX-License-Identifier: MIT OR Apache-2.0
//! Memory placed by color, beside what the kernel deals out.

use std::collections::VecDeque;

use anyhow::{Context, bail};
use huepage::{
    color::{Chosen, Color, ColorCount, ColorOracle},
    mapping::{Mapping, PageAddr, PageKind, page_size},
    place::{PlaceError, Policy, Pool, Region},
    units::Bytes,
};

use super::{
    Buffer, Placement, Workbench,
    plain::{Plain, PlainBuffer},
};

/// Serves every placement: colored ones from pools of classified pages, the
/// others as the kernel deals them out.
pub struct Placements {
    plain: Plain,
    colored: Stock,
    /// Pages whose labels were dealt out anew at random.
    shuffled: Stock,
    sequence: Result<(), PlaceError>,
    count: ColorCount,
    reason: String,
    rng: fastrand::Rng,
}

/// A pool, and the regions of past samples.
struct Stock {
    pool: Pool,
    /// Given back to the pool only when it runs short, oldest first: a sample
    /// then never lies on the pages of the one before.
    used: VecDeque<Region>,
}

/// Memory for one sample.
pub enum PlacedBuffer {
    /// From the kernel.
    Plain(PlainBuffer),
    /// From a pool of classified pages.
    Colored(Region),
    /// From the pool of pages with shuffled labels.
    Shuffled(Region),
}

impl Buffer for PlacedBuffer {
    fn bytes_mut(&mut self) -> &mut [u8] {
        match self {
            PlacedBuffer::Plain(buffer) => buffer.bytes_mut(),
            PlacedBuffer::Colored(region) | PlacedBuffer::Shuffled(region) => region.as_mut_slice(),
        }
    }
}

/// A pool is never smaller, so that small samples lie on fresh pages too.
const LEAST_POOL: Bytes = Bytes::mib(64);

impl Placements {
    /// Classifies pages for samples of up to `largest` bytes.
    ///
    /// # Errors
    /// If memory runs short or colors can no longer be told.
    pub fn new(
        chosen: Chosen,
        largest: Bytes,
        placements: &[Placement],
        seed: u64,
    ) -> anyhow::Result<Self> {
        let Chosen { mut oracle, reason, .. } = chosen;
        let mut rng = fastrand::Rng::with_seed(seed);
        let count = oracle.count();
        // A quarter of the colors holds a quarter of the pages. A tenth more
        // than the mean is enough for the least frequent color of a large pool.
        let share = if placements.contains(&Placement::Quarter) { 4 } else { 1 };
        let pool = Bytes((largest.0 * share * 11 / 10).max(LEAST_POOL.0));
        let colored = Stock::new(&mut oracle, pool, |_| ())?;
        let wanted = placements.contains(&Placement::ShuffledLabels);
        let shuffled =
            if wanted { Bytes((largest.0 * 13 / 10).max(LEAST_POOL.0)) } else { page_size() };
        let shuffled = Stock::new(&mut oracle, shuffled, |labels| rng.shuffle(labels))?;
        let mut placements = Placements {
            plain: Plain::probe(),
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

    /// Following first touch needs a privilege: tried before it is offered.
    fn try_sequence(&mut self) -> Result<(), PlaceError> {
        let region = self.colored.pool.allocate(page_size(), &Policy::Sequence)?;
        self.colored.pool.give_back(region)
    }

    fn policy(&mut self, placement: Placement) -> Policy {
        match placement {
            Placement::Random => Policy::Random { seed: self.rng.u64(..) },
            Placement::Sequence => Policy::Sequence,
            Placement::Quarter => {
                // Other colors each time: no single one decides the figure.
                let quarter = (self.count.get() / 4).max(1) as usize;
                let mut colors: Vec<Color> = self.count.iter().collect();
                self.rng.shuffle(&mut colors);
                colors.truncate(quarter);
                Policy::Colors(colors)
            }
            _ => Policy::Balanced,
        }
    }
}

impl Stock {
    fn new(
        oracle: &mut dyn ColorOracle,
        size: Bytes,
        relabel: impl FnOnce(&mut [Option<Color>]),
    ) -> anyhow::Result<Self> {
        let mapping = Mapping::populated(size.pages(page_size()), PageKind::Base)
            .with_context(|| format!("allocating a pool of {size}"))?;
        let pages: Vec<PageAddr> = mapping.iter().collect();
        // SAFETY: the pages belong to `mapping`, which outlives the call.
        let mut labels = unsafe { oracle.classify(&pages) }.context("classifying the pool")?;
        relabel(&mut labels);
        let pool = Pool::from_parts(mapping, &labels, oracle.count(), None)?;
        Ok(Stock { pool, used: VecDeque::new() })
    }

    fn allocate(&mut self, bytes: Bytes, policy: &Policy) -> anyhow::Result<Region> {
        loop {
            match self.pool.allocate(bytes, policy) {
                Err(short @ PlaceError::PoolShort { .. }) => match self.used.pop_front() {
                    Some(oldest) => self.pool.give_back(oldest)?,
                    None => return Err(short.into()),
                },
                other => return Ok(other?),
            }
        }
    }
}

impl Workbench for Placements {
    type Buffer = PlacedBuffer;

    fn describe(&self) -> String {
        let mut text = format!("pages of {} colors, told by {}", self.count, self.reason);
        if let Err(why) = &self.sequence {
            text.push_str(&format!("; sequence is left out: {why}"));
        }
        text
    }

    fn offers(&self) -> Vec<Placement> {
        let plain = self.plain.offers();
        let served = |placement: &Placement| match placement {
            Placement::Default | Placement::Thp => plain.contains(placement),
            Placement::Sequence => self.sequence.is_ok(),
            _ => true,
        };
        Placement::ALL.into_iter().filter(served).collect()
    }

    fn allocate(&mut self, placement: Placement, bytes: Bytes) -> anyhow::Result<PlacedBuffer> {
        let policy = self.policy(placement);
        Ok(match placement {
            Placement::Default | Placement::Thp => {
                PlacedBuffer::Plain(self.plain.allocate(placement, bytes)?)
            }
            Placement::ShuffledLabels => {
                PlacedBuffer::Shuffled(self.shuffled.allocate(bytes, &policy)?)
            }
            Placement::Sequence if self.sequence.is_err() => bail!("sequence is not offered here"),
            _ => PlacedBuffer::Colored(self.colored.allocate(bytes, &policy)?),
        })
    }

    fn give_back(&mut self, buffer: PlacedBuffer) -> anyhow::Result<()> {
        match buffer {
            PlacedBuffer::Plain(buffer) => self.plain.give_back(buffer)?,
            PlacedBuffer::Colored(mut region) => {
                // Ends the thread that follows first touch.
                self.colored.pool.settle(&mut region)?;
                self.colored.used.push_back(region);
            }
            PlacedBuffer::Shuffled(region) => self.shuffled.used.push_back(region),
        }
        Ok(())
    }
}
