// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reference pages on the machine itself, as palettes use them.

use std::time::Duration;

use super::{
    hardware::Hardware,
    oracle::{has_rdtscp, shape},
    prober::PageId,
    reference::Reference,
};
use crate::{
    color::{
        Color, ColorError, MeasureOptions, Pressure,
        measurement::{Check, DiscoveryFacts},
    },
    mapping::PageAddr,
    topology::Pinned,
};

/// Pages of known color, and the CPU to measure on.
#[derive(Debug)]
pub(in crate::color) struct Standard {
    reference: Reference<Hardware>,
    cpu: u32,
    /// How many pages it has of its own.
    own: usize,
}

impl Standard {
    /// Whether reference pages can be used at all for a cache of this geometry.
    ///
    /// # Errors
    /// As [`MeasuredOracle::discover`](super::MeasuredOracle::discover), but for
    /// what is only known by measuring.
    pub fn possible(options: &MeasureOptions) -> Result<(), ColorError> {
        shape(options.geometry.as_ref())?;
        if has_rdtscp() { Ok(()) } else { Err(ColorError::NoTimeStamp) }
    }

    /// Takes the pages of each color.
    ///
    /// # Errors
    /// [`ColorError::Pin`] if the thread may not run on the CPU.
    ///
    /// # Safety
    /// The pages must be mapped and readable as long as this value lives.
    pub unsafe fn new(
        pages: &[Vec<PageAddr>],
        known: &DiscoveryFacts,
        options: &MeasureOptions,
    ) -> Result<Self, ColorError> {
        let _pinned = Pinned::to(options.cpu)?;
        let mut ids = (0..).map(PageId);
        let sets = pages.iter().map(|set| ids.by_ref().take(set.len()).collect()).collect();
        let flat: Vec<PageAddr> = pages.iter().flatten().copied().collect();
        let own = flat.len();
        // SAFETY: the caller's contract.
        let prober = unsafe { Hardware::new(flat) };
        let rng = fastrand::Rng::with_seed(options.seed);
        let reference = Reference::new(prober, sets, known, rng);
        Ok(Standard { reference, cpu: options.cpu, own })
    }

    /// Measures on this CPU from now on, which must have the same cache.
    pub fn measure_on(&mut self, cpu: u32) {
        self.cpu = cpu;
    }

    /// The CPU measured on.
    pub fn cpu(&self) -> u32 {
        self.cpu
    }

    /// See [`Reference::check`].
    ///
    /// # Errors
    /// [`ColorError::Pin`].
    pub fn check(&mut self) -> Result<Check, ColorError> {
        let _pinned = Pinned::to(self.cpu)?;
        Ok(self.reference.check())
    }

    /// The color of each of its own pages by the other ones, in the order given.
    ///
    /// # Errors
    /// [`ColorError::Pin`].
    pub fn examine(&mut self) -> Result<Vec<Option<Color>>, ColorError> {
        let _pinned = Pinned::to(self.cpu)?;
        Ok(self.reference.examine().into_iter().map(|(_, told)| told).collect())
    }

    /// See [`ColorOracle::classify`](crate::color::ColorOracle::classify).
    ///
    /// # Errors
    /// [`ColorError::Pin`].
    ///
    /// # Safety
    /// The pages must be mapped and readable during the call.
    pub unsafe fn classify(
        &mut self,
        pages: &[PageAddr],
    ) -> Result<Vec<Option<Color>>, ColorError> {
        let _pinned = Pinned::to(self.cpu)?;
        let ids: Vec<PageId> =
            (self.own as u32..(self.own + pages.len()) as u32).map(PageId).collect();
        // SAFETY: the caller's contract; they are taken out again below.
        unsafe { self.reference.tester.prober.extend(pages) };
        let told = self.reference.assign(&ids);
        self.reference.tester.prober.truncate(self.own);
        Ok(told)
    }

    /// See [`MeasuredOracle::pressure`](super::MeasuredOracle::pressure).
    ///
    /// # Errors
    /// [`ColorError::Pin`].
    pub fn pressure(&mut self, wait: Duration) -> Result<Pressure, ColorError> {
        let _pinned = Pinned::to(self.cpu)?;
        Ok(self.reference.pressure(wait))
    }
}
