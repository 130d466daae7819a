// SPDX-License-Identifier: MIT OR Apache-2.0
//! Measurement where it is not available: every way in says so.

use std::{convert::Infallible, time::Duration};

use super::{Color, ColorCount, ColorError, ColorOracle, Evidence, Method};
use crate::{mapping::PageAddr, topology::CacheGeometry};

/// How to measure.
#[derive(Clone, Debug)]
pub struct MeasureOptions {
    /// The CPU whose cache to measure.
    pub cpu: u32,
    /// The cache's declared geometry.
    pub geometry: Option<CacheGeometry>,
    /// Seed of every random choice.
    pub seed: u64,
    /// Attempts before giving up.
    pub attempts: u32,
    /// Time after which no further attempt begins.
    pub time_limit: Duration,
}

impl MeasureOptions {
    /// Options that no one will look at.
    pub fn new(cpu: u32, geometry: Option<CacheGeometry>) -> Self {
        MeasureOptions { cpu, geometry, seed: 0, attempts: 0, time_limit: Duration::ZERO }
    }
}

/// Never exists on this architecture.
#[derive(Debug)]
pub struct MeasuredOracle(Infallible);

/// What a survey would have found out about some pages.
#[derive(Clone, Debug, PartialEq)]
pub struct Survey {
    /// The color of each page.
    pub colors: Vec<Option<Color>>,
    /// Share of pages that two runs color alike.
    pub agreement: f64,
    /// Time for telling the colors.
    pub assign: Duration,
    /// Time for comparing.
    pub verify: Duration,
}

impl MeasuredOracle {
    /// # Errors
    /// Always [`ColorError::NotAvailable`].
    pub fn discover(_: &MeasureOptions) -> Result<Self, ColorError> {
        Err(ColorError::NotAvailable(std::env::consts::ARCH))
    }

    /// What the attempts saw.
    pub fn evidence(&self) -> &Evidence {
        match self.0 {}
    }

    /// Time for finding the colors.
    pub fn discover_time(&self) -> Duration {
        match self.0 {}
    }

    /// Time for the second run and for comparing both.
    pub fn verify_time(&self) -> Duration {
        match self.0 {}
    }

    /// # Errors
    /// Never called.
    ///
    /// # Safety
    /// As [`ColorOracle::classify`].
    pub unsafe fn survey(&mut self, _: &[PageAddr]) -> Result<Survey, ColorError> {
        match self.0 {}
    }
}

impl ColorOracle for MeasuredOracle {
    fn method(&self) -> Method {
        match self.0 {}
    }

    fn count(&self) -> ColorCount {
        match self.0 {}
    }

    unsafe fn classify(&mut self, _: &[PageAddr]) -> Result<Vec<Option<Color>>, ColorError> {
        match self.0 {}
    }
}
