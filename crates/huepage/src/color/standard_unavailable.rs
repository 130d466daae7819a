// SPDX-License-Identifier: MIT OR Apache-2.0
//! What palettes are looked at with, where measurement is not available.

use std::{convert::Infallible, time::Duration};

use crate::{
    color::{
        Color, ColorError, MeasureOptions, Pressure,
        measurement::{Check, DiscoveryFacts},
    },
    mapping::PageAddr,
};

/// Never exists in this build.
#[derive(Debug)]
pub(in crate::color) struct Standard(Infallible);

impl Standard {
    pub fn possible(_: &MeasureOptions) -> Result<(), ColorError> {
        Err(ColorError::NotAvailable(std::env::consts::ARCH))
    }

    pub unsafe fn new(
        _: &[Vec<PageAddr>],
        _: &DiscoveryFacts,
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
