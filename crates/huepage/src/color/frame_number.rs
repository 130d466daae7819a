// SPDX-License-Identifier: MIT OR Apache-2.0
//! Colors from frame numbers: color = frame number mod number of colors.
//!
//! True where the kernel's frame numbers are those of the memory bus and the
//! cache is plainly indexed; in a virtual machine neither can be known.

use super::{Color, ColorCount, ColorError, ColorOracle, Method};
use crate::{frames::Pagemap, mapping::PageAddr, mapping::page_size, topology::CacheGeometry};

/// Tells colors from the frame numbers in `/proc/self/pagemap`.
#[derive(Debug)]
pub struct FrameNumberOracle {
    count: ColorCount,
    pagemap: Pagemap,
}

impl FrameNumberOracle {
    /// An oracle for a cache of the given geometry.
    ///
    /// # Errors
    /// [`ColorError::FrameNumbersHidden`] without `CAP_SYS_ADMIN` in the initial
    /// user namespace (Linux: Documentation/admin-guide/mm/pagemap.rst);
    /// [`ColorError::OneColor`] where all pages are alike;
    /// [`ColorError::System`] if the pagemap cannot be read.
    pub fn new(geometry: &CacheGeometry) -> Result<Self, ColorError> {
        let count = geometry.colors(page_size());
        if count.get() == 1 {
            return Err(ColorError::OneColor { size: geometry.size(), ways: geometry.ways() });
        }
        Self::with_colors(count)
    }

    /// An oracle for `count` colors, given or measured.
    ///
    /// # Errors
    /// As [`FrameNumberOracle::new`] but for `OneColor`.
    pub fn with_colors(count: ColorCount) -> Result<Self, ColorError> {
        let system = |source| ColorError::System { action: "read /proc/self/pagemap", source };
        let pagemap = Pagemap::open().map_err(system)?;
        if !pagemap.frame_numbers_visible().map_err(system)? {
            return Err(ColorError::FrameNumbersHidden);
        }
        Ok(FrameNumberOracle { count, pagemap })
    }
}

impl ColorOracle for FrameNumberOracle {
    fn method(&self) -> Method {
        Method::FrameNumber
    }

    fn count(&self) -> ColorCount {
        self.count
    }

    /// Reads the pagemap once per run of adjacent pages.
    unsafe fn classify(&mut self, pages: &[PageAddr]) -> Result<Vec<Option<Color>>, ColorError> {
        let step = page_size().0 as usize;
        let mut colors = Vec::with_capacity(pages.len());
        for run in pages.chunk_by(|a, b| a.get() + step == b.get()) {
            let states = self
                .pagemap
                .read(run[0], run.len())
                .map_err(|source| ColorError::System { action: "read the pagemap", source })?;
            colors.extend(states.iter().map(|state| {
                state.pfn().map(|pfn| Color((pfn.0 % u64::from(self.count.get())) as u32))
            }));
        }
        Ok(colors)
    }
}
