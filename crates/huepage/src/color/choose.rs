// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which oracle to believe on this machine, and why.

use std::{str::FromStr, time::Duration};

#[cfg(feature = "serde")]
use super::palette::Palette;
use super::{
    Color, ColorCount, ColorError, ColorOracle, FrameNumberOracle, MeasureOptions, MeasuredOracle,
    Method, Pressure, agreement::pair_agreement,
};
use crate::{
    mapping::{Mapping, PageAddr, PageKind},
    topology::{CacheGeometry, LiveMachine, Virtualization},
    with_causes,
};

/// How the colors of pages are to be found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ColorsBy {
    /// Measure, check frame numbers against the measurement, and use them if they
    /// agree.
    #[default]
    Auto,
    /// By frame number, unchecked.
    FrameNumber,
    /// By measurement.
    Measurement,
}

/// Not one of the three words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is no way to find colors: choose auto, frame-number or measurement")]
pub struct ParseColorsByError(String);

impl FromStr for ColorsBy {
    type Err = ParseColorsByError;

    fn from_str(text: &str) -> Result<Self, ParseColorsByError> {
        match text {
            "auto" => Ok(ColorsBy::Auto),
            "frame-number" => Ok(ColorsBy::FrameNumber),
            "measurement" => Ok(ColorsBy::Measurement),
            _ => Err(ParseColorsByError(text.to_owned())),
        }
    }
}

/// How well frame numbers predict which pages conflict.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FrameNumberCheck {
    /// Of all pairs of pages that were measured to have one color, the share
    /// whose frame numbers say so too.
    pub agreement: f64,
    /// The same share for unrelated colors: one over their number.
    pub by_chance: f64,
}

impl FrameNumberCheck {
    /// Agreement from which frame numbers are believed: measurement itself is
    /// wrong on fewer pages than this leaves.
    const TRUE: f64 = 0.95;

    /// Pages that are looked at.
    pub const PAGES: usize = 2048;

    /// Whether frame numbers can be used for coloring.
    pub fn holds(&self) -> bool {
        self.agreement >= Self::TRUE
    }
}

/// Where colors come from.
#[derive(Debug)]
#[non_exhaustive]
pub enum Oracle {
    /// By frame number.
    FrameNumber(FrameNumberOracle),
    /// By measurement, with colors discovered now.
    Measured(Box<MeasuredOracle>),
    /// By measurement, with the colors that all programs of a palette share.
    #[cfg(feature = "serde")]
    Palette(Box<Palette>),
}

impl Oracle {
    /// Lines that others evict within `wait`, as by [`MeasuredOracle::pressure`];
    /// `None` if colors come from frame numbers, which cannot show evictions.
    ///
    /// # Errors
    /// [`ColorError::Pin`] if the thread may not run on the oracle's CPU.
    pub fn pressure(&mut self, wait: Duration) -> Result<Option<Pressure>, ColorError> {
        match self {
            Oracle::FrameNumber(_) => Ok(None),
            Oracle::Measured(oracle) => oracle.pressure(wait).map(Some),
            #[cfg(feature = "serde")]
            Oracle::Palette(palette) => palette.pressure(wait).map(Some),
        }
    }

    fn inner(&self) -> &dyn ColorOracle {
        match self {
            Oracle::FrameNumber(oracle) => oracle,
            Oracle::Measured(oracle) => &**oracle,
            #[cfg(feature = "serde")]
            Oracle::Palette(palette) => &**palette,
        }
    }

    /// By measurement: a palette's, or discovered now.
    fn measured(options: &MeasureOptions) -> Result<Self, ColorError> {
        #[cfg(feature = "serde")]
        if let Some(palette) = &options.palette {
            return Ok(Oracle::Palette(Box::new(Palette::open(options, palette)?)));
        }
        Ok(Oracle::Measured(Box::new(MeasuredOracle::discover(options)?)))
    }
}

impl ColorOracle for Oracle {
    fn method(&self) -> Method {
        self.inner().method()
    }

    fn count(&self) -> ColorCount {
        self.inner().count()
    }

    unsafe fn classify(&mut self, pages: &[PageAddr]) -> Result<Vec<Option<Color>>, ColorError> {
        // SAFETY: the same contract, handed on.
        unsafe {
            match self {
                Oracle::FrameNumber(oracle) => oracle.classify(pages),
                Oracle::Measured(oracle) => oracle.classify(pages),
                #[cfg(feature = "serde")]
                Oracle::Palette(palette) => palette.classify(pages),
            }
        }
    }
}

/// An oracle, and why it was taken.
#[derive(Debug)]
#[non_exhaustive]
pub struct Chosen {
    /// The oracle.
    pub oracle: Oracle,
    /// How well frame numbers predict the measured colors; `None` if they were not
    /// checked.
    pub check: Option<FrameNumberCheck>,
    /// The reason, as a sentence for people.
    pub reason: String,
    /// The measurement that frame numbers were checked against and found right. By
    /// [`Oracle::pressure`] it still shows what others evict, which frame numbers
    /// cannot. Its colors are the same under other numbers. `None` if the oracle itself
    /// is measured or nothing was measured.
    pub witness: Option<Box<Oracle>>,
}

/// Chooses how to find the colors of the cache of `cpu`.
///
/// A measurement uses the palette that [`MeasureOptions::palette`] names, or discovers
/// the colors if that is `None`.
///
/// [`ColorsBy::Auto`] measures, and uses frame numbers only if they predict what was
/// measured, since they are quicker and color each page. It does not use them in a
/// virtual machine, where they may be right for the pages that were checked and wrong
/// for others. If measuring is not available, it uses visible frame numbers unchecked,
/// and the reason says so. If frame numbers are used, the measurement is kept as
/// [`Chosen::witness`]; a caller that does not look at the cache can drop it to free
/// its memory. A measurement that cannot be trusted is an error: unchecked frame
/// numbers do not take its place.
///
/// # Errors
/// Errors of the way chosen: see [`MeasuredOracle::discover`] and
/// [`FrameNumberOracle::new`].
pub fn choose(by: ColorsBy, options: &MeasureOptions) -> Result<Chosen, ColorError> {
    match by {
        ColorsBy::FrameNumber => {
            let frames = by_frame_number(options.geometry.as_ref())?;
            let reason = if is_virtual(options) {
                "frame numbers, as asked for; in this virtual machine they are meaningless"
            } else {
                "frame numbers, unchecked, as asked for"
            };
            Ok(unchecked(Oracle::FrameNumber(frames), reason))
        }
        ColorsBy::Measurement => {
            Ok(unchecked(Oracle::measured(options)?, "measurement, as asked for"))
        }
        ColorsBy::Auto => auto(options),
    }
}

/// In a virtual machine frame numbers are the guest's own. They predict conflicts only
/// in memory that the host backs with huge pages.
fn is_virtual(options: &MeasureOptions) -> bool {
    LiveMachine::open(options.cpu).is_ok_and(|machine| Virtualization::read(&machine).detected)
}

fn unchecked(oracle: Oracle, reason: impl Into<String>) -> Chosen {
    Chosen { oracle, check: None, reason: reason.into(), witness: None }
}

fn by_frame_number(geometry: Option<&CacheGeometry>) -> Result<FrameNumberOracle, ColorError> {
    FrameNumberOracle::new(geometry.ok_or(ColorError::NoGeometry)?)
}

fn auto(options: &MeasureOptions) -> Result<Chosen, ColorError> {
    let mut measured = match Oracle::measured(options) {
        Ok(measured) => measured,
        Err(unavailable @ (ColorError::NotAvailable(_) | ColorError::NoTimeStamp)) => {
            let frames = by_frame_number(options.geometry.as_ref()).map_err(|_| unavailable)?;
            let reason = format!(
                "frame numbers, unchecked: measuring is not available on this {}",
                if is_virtual(options) {
                    "virtual machine; they are meaningless"
                } else {
                    "machine"
                }
            );
            return Ok(unchecked(Oracle::FrameNumber(frames), reason));
        }
        Err(error) => return Err(error),
    };
    let mut frames = match FrameNumberOracle::with_colors(measured.count()) {
        Ok(frames) => frames,
        Err(why) => {
            let reason = match why {
                ColorError::FrameNumbersHidden => {
                    "measurement: frame numbers are hidden (needs CAP_SYS_ADMIN)".into()
                }
                other => {
                    format!("measurement: no frame numbers to check: {}", with_causes(&other))
                }
            };
            return Ok(unchecked(measured, reason));
        }
    };
    let check = check(&mut frames, &mut measured)?;
    let percent = |share: f64| (100.0 * share).round();
    let figures = format!(
        "{} % agreement, {} % expected by chance",
        percent(check.agreement),
        percent(check.by_chance)
    );
    if check.holds() && !is_virtual(options) {
        let reason = format!("frame numbers: they predict conflicts on this machine ({figures})");
        let oracle = Oracle::FrameNumber(frames);
        return Ok(Chosen {
            oracle,
            check: Some(check),
            reason,
            witness: Some(Box::new(measured)),
        });
    }
    let why = if check.holds() {
        "a virtual machine's frame numbers say nothing of pages that were not looked at"
    } else {
        "frame numbers do not predict conflicts on this machine"
    };
    let reason = format!("measurement: {why} ({figures})");
    Ok(Chosen { oracle: measured, check: Some(check), reason, witness: None })
}

fn check(
    frames: &mut FrameNumberOracle,
    measured: &mut Oracle,
) -> Result<FrameNumberCheck, ColorError> {
    let mapping = Mapping::populated(FrameNumberCheck::PAGES, PageKind::Base)
        .map_err(|source| ColorError::System { action: "allocate pages", source })?;
    let pages: Vec<PageAddr> = mapping.iter().collect();
    // SAFETY: the pages belong to `mapping`, which outlives both calls.
    let (a, b) = unsafe { (measured.classify(&pages)?, frames.classify(&pages)?) };
    Ok(FrameNumberCheck {
        agreement: pair_agreement(&a, &b),
        by_chance: 1.0 / f64::from(frames.count().get()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ways_to_tell_colors_read_as_the_command_line_writes_them() {
        assert_eq!("auto".parse(), Ok(ColorsBy::Auto));
        assert_eq!("frame-number".parse(), Ok(ColorsBy::FrameNumber));
        assert_eq!("measurement".parse(), Ok(ColorsBy::Measurement));
        let error = "pfn".parse::<ColorsBy>().unwrap_err().to_string();
        assert!(error.contains("'pfn'") && error.contains("measurement"), "{error}");
    }
}
