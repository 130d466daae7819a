// SPDX-License-Identifier: MIT OR Apache-2.0
//! Detects a neighbor in the cache while the curve is measured.

use std::time::{Duration, Instant};

use huepage::{
    color::{MeasureOptions, MeasuredOracle, Pressure},
    topology::CacheGeometry,
};

/// After this time discovery is given up: the curve is more important.
const PATIENCE: Duration = Duration::from_millis(800);

/// Measures what others evict, if the colors of the cache can be measured.
pub struct Witness(Option<MeasuredOracle>);

impl Witness {
    /// Finds the colors of the cache as declared or, if that fails, without a declared
    /// geometry.
    pub fn new(cpu: u32, geometry: Option<CacheGeometry>) -> Self {
        let begin = Instant::now();
        let discover = |geometry| {
            let mut options = MeasureOptions::new(cpu, geometry);
            options.time_limit = PATIENCE.saturating_sub(begin.elapsed());
            MeasuredOracle::discover(&options).ok()
        };
        let as_it_is =
            || (geometry.is_some() && begin.elapsed() < PATIENCE).then(|| discover(None));
        Witness(discover(geometry).or_else(|| as_it_is().flatten()))
    }

    /// Whether no neighbor is seen at the moment; `None` if that cannot be measured.
    pub fn is_quiet(&mut self) -> Option<bool> {
        Some(self.0.as_mut()?.pressure(Pressure::WAIT).ok()?.is_quiet())
    }
}
