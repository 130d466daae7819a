// SPDX-License-Identifier: MIT OR Apache-2.0
//! Measurement in builds without it: every function returns an error.

use std::{convert::Infallible, time::Duration};

#[cfg(feature = "serde")]
use super::measurement::{Check, DiscoveryFacts};
use super::{
    Color, ColorCount, ColorError, ColorOracle, Evidence, MeasureOptions, Method, Pressure, Survey,
};
use crate::mapping::PageAddr;

/// Never exists in this build.
#[derive(Debug)]
pub struct MeasuredOracle(Infallible);

/// Reference pages of palettes do not exist either.
#[cfg(feature = "serde")]
pub(super) type Standard = MeasuredOracle;

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

    /// # Errors
    /// Never called.
    pub fn measured_ways(&mut self) -> Result<u32, ColorError> {
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
    pub fn pressure(&mut self, _: Duration) -> Result<Pressure, ColorError> {
        match self.0 {}
    }

    /// # Errors
    /// Never called.
    pub fn pressure_within(&mut self, _: Duration, _: f64) -> Result<Pressure, ColorError> {
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

#[cfg(feature = "serde")]
impl MeasuredOracle {
    pub(super) fn known(&self) -> DiscoveryFacts {
        match self.0 {}
    }

    pub(super) fn possible(_: &MeasureOptions) -> Result<(), ColorError> {
        Err(ColorError::NotAvailable(std::env::consts::ARCH))
    }

    pub(super) unsafe fn new(
        _: &[Vec<PageAddr>],
        _: &DiscoveryFacts,
        options: &MeasureOptions,
    ) -> Result<Self, ColorError> {
        Self::discover(options)
    }

    pub(super) fn measure_on(&mut self, _: u32) {
        match self.0 {}
    }

    pub(super) fn cpu(&self) -> u32 {
        match self.0 {}
    }

    pub(super) fn check(&mut self) -> Result<Check, ColorError> {
        match self.0 {}
    }

    pub(super) fn examine(&mut self) -> Result<Vec<Option<Color>>, ColorError> {
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
