// SPDX-License-Identifier: MIT OR Apache-2.0
//! Measurement where it is not available: every way in says so.

use std::{convert::Infallible, time::Duration};

use super::{
    Color, ColorCount, ColorError, ColorOracle, Evidence, MeasureOptions, Method, Pressure, Survey,
};
use crate::mapping::PageAddr;

#[cfg(feature = "serde")]
mod standard_unavailable;
#[cfg(feature = "serde")]
pub(super) use standard_unavailable::Standard;

/// Never exists in this build.
#[derive(Debug)]
pub struct MeasuredOracle(Infallible);

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

    /// What another process needs to use pages of these colors.
    #[cfg(feature = "serde")]
    pub(super) fn known(&self) -> super::measurement::DiscoveryFacts {
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
