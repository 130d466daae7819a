// SPDX-License-Identifier: MIT OR Apache-2.0
//! The question that every backend answers: which color is this page?

use std::fmt;

use super::{Color, ColorCount, ColorError};
use crate::mapping::PageAddr;

/// How colors are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
#[non_exhaustive]
pub enum Method {
    /// From the frame number that the kernel shows: right on bare metal only.
    FrameNumber,
    /// By timing which pages evict each other from the cache.
    Measurement,
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Method::FrameNumber => "frame-number",
            Method::Measurement => "measurement",
        })
    }
}

/// Finds the colors of pages of this process.
pub trait ColorOracle {
    /// How this oracle finds colors.
    fn method(&self) -> Method;

    /// How many colors it tells apart.
    fn count(&self) -> ColorCount;

    /// The color of each page, in the order given; `None` if it cannot be found (page
    /// not present, or votes that contradict each other).
    ///
    /// # Errors
    /// [`ColorError`] if no answer for any page could be trusted.
    ///
    /// # Safety
    /// Every page must be mapped and readable, and stay so during the call.
    /// Contents are only read; other threads may read and write them.
    unsafe fn classify(&mut self, pages: &[PageAddr]) -> Result<Vec<Option<Color>>, ColorError>;
}

/// Gives colors by a rule, so that tests know the result.
#[cfg(test)]
pub(crate) struct ByRule<F>(pub ColorCount, pub F);

#[cfg(test)]
impl<F: FnMut(PageAddr) -> Option<u32>> ColorOracle for ByRule<F> {
    fn method(&self) -> Method {
        Method::FrameNumber
    }

    fn count(&self) -> ColorCount {
        self.0
    }

    unsafe fn classify(&mut self, pages: &[PageAddr]) -> Result<Vec<Option<Color>>, ColorError> {
        Ok(pages.iter().map(|page| (self.1)(*page).map(Color)).collect())
    }
}
