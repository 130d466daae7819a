// SPDX-License-Identifier: MIT OR Apache-2.0
//! Names the options of this command that do what error messages of the library advise.
//! The library does not know them, since other programs use it too.

use std::error::Error;

use huepage::{
    color::{ColorError, Distrust, palette::PaletteError},
    map::MapRecordError,
    place::PlaceError,
    run::ShareError,
    topology::{ChoiceError, RecordError, TopologyError},
};

/// To give a geometry by hand.
pub const CACHE: &str = "--cache size=SIZE,ways=N";

/// The text to append to the message of an error; `None` if no option helps.
pub fn option(error: &(dyn Error + 'static)) -> Option<String> {
    let text = if let Some(error) = error.downcast_ref::<ColorError>() {
        color(error)?.to_owned()
    } else if let Some(PlaceError::Color(error)) = error.downcast_ref() {
        color(error)?.to_owned()
    } else if let Some(error) = error.downcast_ref::<ChoiceError>() {
        choice(error)?
    } else if let Some(ShareError::Taken { .. }) = error.downcast_ref() {
        "see them with huepage run --list".to_owned()
    } else if let Some(TopologyError::NoCpus) = error.downcast_ref() {
        "--input FILE".to_owned()
    } else if let Some(RecordError::Json(_)) = error.downcast_ref() {
        "write one with: huepage topology --record FILE".to_owned()
    } else if let Some(MapRecordError::Json(_)) = error.downcast_ref() {
        "write one with: huepage map PID --record FILE".to_owned()
    } else {
        return None;
    };
    Some(text)
}

fn color(error: &ColorError) -> Option<&'static str> {
    let wrong_count = |distrust: &Option<Distrust>| *distrust == Some(Distrust::ColorCount);
    match error {
        ColorError::FrameNumbersHidden => Some("--colors-by measurement"),
        ColorError::NoGeometry => Some("--cache size=SIZE,ways=N, or --colors-by measurement"),
        ColorError::NotAvailable(_) | ColorError::NoTimeStamp | ColorError::NoMemory { .. } => {
            Some("--colors-by frame-number")
        }
        ColorError::TooLarge { .. } => {
            Some("--cache size=SIZE,ways=N, or --colors-by frame-number")
        }
        ColorError::Palette(PaletteError::Missing) => Some("huepage palette --make"),
        ColorError::Palette(PaletteError::Untrusted { .. }) => {
            Some("XDG_RUNTIME_DIR=DIRECTORY, or --shared-dir for the palette of all users")
        }
        ColorError::NotTrusted(seen)
            if seen.attempts.iter().any(|attempt| wrong_count(&attempt.distrust)) =>
        {
            Some(CACHE)
        }
        _ => None,
    }
}

fn choice(error: &ChoiceError) -> Option<String> {
    match error {
        ChoiceError::NotListed(_)
        | ChoiceError::NotDeclared { .. }
        | ChoiceError::Rejected { .. } => Some(CACHE.to_owned()),
        ChoiceError::Shared { given, .. } => Some(format!("--cache {given}")),
        _ => None,
    }
}

/// The message of an error with the option that helps.
pub fn with_option(error: &(dyn Error + 'static)) -> String {
    match option(error) {
        Some(option) => format!("{error}: {option}"),
        None => error.to_string(),
    }
}
