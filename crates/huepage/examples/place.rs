// SPDX-License-Identifier: MIT OR Apache-2.0
//! Placing memory by color: pools, policies, regions.
//!
//! Colors come from frame numbers here, to keep the example short: they are
//! the cache's on bare metal, and need `CAP_SYS_ADMIN` to be seen. In a virtual
//! machine use an oracle that measures.

use huepage::{
    color::{Color, ColorCount, ColorError, ColorOracle, Method},
    frames::Pagemap,
    mapping::PageAddr,
    place::{self, PlaceError, Policy, Pool},
    units::Bytes,
};

struct ByFrameNumber {
    pagemap: Pagemap,
    count: ColorCount,
}

impl ColorOracle for ByFrameNumber {
    fn method(&self) -> Method {
        Method::FrameNumber
    }

    fn count(&self) -> ColorCount {
        self.count
    }

    unsafe fn classify(&mut self, pages: &[PageAddr]) -> Result<Vec<Option<Color>>, ColorError> {
        let failed = |source| ColorError::System { action: "read /proc/self/pagemap", source };
        if !self.pagemap.frame_numbers_visible().map_err(failed)? {
            return Err(ColorError::FrameNumbersHidden);
        }
        let color = |page: &PageAddr| {
            let state = self.pagemap.read(*page, 1).map_err(failed)?[0];
            Ok(state.pfn().map(|frame| Color((frame.0 % u64::from(self.count.get())) as u32)))
        };
        pages.iter().map(color).collect()
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let count = ColorCount::new(32).ok_or("no colors")?;
    let mut oracle = ByFrameNumber { pagemap: Pagemap::open()?, count };
    let size = Bytes::mib(2);

    // Pages are drawn and classified once, and kept.
    let mut pool = Pool::build(&mut oracle, size, &Policy::Balanced)?;
    println!("pool: {} pages, moved by {:?}", pool.pages(), pool.mechanism());
    if let Some(reason) = pool.fallback() {
        println!("by mremap, since {reason}");
    }

    // A region is ordinary memory.
    let mut region = pool.allocate(size, &Policy::Balanced)?;
    region.as_mut_slice().fill(1);
    let colors: Vec<_> = (0..4).map(|page| region.color(page)).collect();
    println!("region: {} bytes, first colors {colors:?}", region.len());

    // Has the kernel exchanged frames meanwhile?
    let drift = place::verify(&region, &mut oracle, 64, 1)?;
    println!("staleness: {:.1} %", 100.0 * drift.staleness());
    if drift.changed > 0 {
        println!("repaired: {:?}", pool.repair(&mut region, &mut oracle)?);
    }
    pool.give_back(region)?;

    // Bin hopping: pages take the next color when they are first touched.
    match pool.allocate(Bytes::kib(64), &Policy::Sequence) {
        Ok(mut region) => {
            let page = region.len() / region.pages();
            region.as_mut_slice()[5 * page] = 1;
            region.as_mut_slice()[2 * page] = 1;
            println!("touched 5, then 2: {:?}, {:?}", region.color(5), region.color(2));
            pool.give_back(region)?;
        }
        Err(error @ PlaceError::NeedsPrivilege { .. }) => println!("not here: {error}"),
        Err(error) => return Err(error.into()),
    }
    Ok(())
}
