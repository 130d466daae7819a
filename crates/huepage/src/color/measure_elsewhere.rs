// SPDX-License-Identifier: MIT OR Apache-2.0
//! Measurement where it is not available: every way in says so.

use std::{convert::Infallible, time::Duration};

use super::{
    Color, ColorCount, ColorError, ColorOracle, Evidence, MeasureOptions, Method, Pressure, Survey,
    palette::Known,
};
use crate::mapping::PageAddr;

/// Never exists on this architecture.
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
    pub(super) fn known(&self) -> Known {
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

/// The most ways of an L1 data cache in the field.
pub(super) const L1_WAYS: usize = 12;

/// What a look at reference pages finds, where there can be one.
#[allow(dead_code)]
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Check {
    Holds,
    Moved(usize),
    Stale,
    Unclear,
}

/// Never exists on this architecture.
#[derive(Debug)]
pub(super) struct Standard(Infallible);

impl Standard {
    pub fn possible(_: &MeasureOptions) -> Result<(), ColorError> {
        Err(ColorError::NotAvailable(std::env::consts::ARCH))
    }

    pub unsafe fn new(
        _: &[Vec<PageAddr>],
        _: &Known,
        _: ColorCount,
        _: &MeasureOptions,
    ) -> Result<Self, ColorError> {
        Err(ColorError::NotAvailable(std::env::consts::ARCH))
    }

    pub fn measure_on(&mut self, _: u32) {
        match self.0 {}
    }

    pub fn cpu(&self) -> u32 {
        match self.0 {}
    }

    pub fn check(&mut self) -> Result<Check, ColorError> {
        match self.0 {}
    }

    pub fn examine(&mut self) -> Result<Vec<Option<Color>>, ColorError> {
        match self.0 {}
    }

    pub unsafe fn classify(&mut self, _: &[PageAddr]) -> Result<Vec<Option<Color>>, ColorError> {
        match self.0 {}
    }

    pub fn pressure(&mut self, _: Duration) -> Result<Pressure, ColorError> {
        match self.0 {}
    }
}
