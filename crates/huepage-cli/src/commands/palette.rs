// SPDX-License-Identifier: MIT OR Apache-2.0
//! `huepage palette`: shows, makes, publishes and removes palettes.

mod report;
mod text;

use std::{path::PathBuf, process::ExitCode, time::Instant};

use anyhow::Context;
use clap::ArgGroup;
use huepage::color::{
    MeasureOptions,
    palette::{Audience, Palette, PaletteOptions},
};

use crate::commands::cache_options::WhichCache;
use report::{Action, PaletteReport};
pub use report::{Details, Entry};

/// Show, make or remove the palette by which programs find colors
///
/// A palette is shared memory with some pages of each color. The first program that
/// needs a palette makes it; the others compare their pages with those of the
/// palette. So they need not find the colors again, and color 5 means the same to
/// all of them. Without an option, shows which palettes exist and checks whether
/// their pages still have their colors.
#[derive(Debug, clap::Args)]
#[command(group = ArgGroup::new("action").args(["make", "publish", "remove"]))]
#[command(after_help = "Examples:
  huepage palette                 which palettes exist, and are they valid?
  huepage palette --make          find the colors anew, for your own programs
  sudo huepage palette --publish  for all users of this machine
  huepage palette --remove

Exit codes: 0 done, 1 failed, 2 usage")]
pub struct Options {
    /// Make your own palette anew, even if there is one
    #[arg(long)]
    make: bool,

    /// Make a palette for all users, who can only read it; needs root
    #[arg(long)]
    publish: bool,

    /// Remove your own palette, or the one for all users; programs that already use
    /// it keep it
    #[arg(long, value_name = "WHOSE", num_args = 0..=1, require_equals = true,
          default_missing_value = "own", value_enum)]
    remove: Option<Whose>,

    /// Directory of the palette for all users; programs look in the default only
    #[arg(long, value_name = "DIR", default_value = PaletteOptions::SHARED)]
    shared_dir: PathBuf,

    #[command(flatten)]
    cache: WhichCache,

    /// Print JSON (schema huepage.palette/1)
    #[arg(long)]
    json: bool,
}

/// Whose palette.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Whose {
    /// Your own palette
    Own,
    /// The palette for all users; needs root
    All,
}

/// Runs the command.
///
/// # Errors
/// If colors cannot be measured here, or a palette not made or removed.
pub fn run(options: Options) -> anyhow::Result<ExitCode> {
    let cache = options.cache.resolve()?;
    let measure = cache.measure_options();
    let mut places = PaletteOptions::new();
    places.shared = Some(options.shared_dir.clone());
    let begin = Instant::now();
    let action = act(&options, &measure, &places)?;
    let report = PaletteReport {
        schema: "huepage.palette/1",
        kind: "measured",
        cpu: cache.cpu,
        cache: cache.geometry,
        action,
        seconds: begin.elapsed().as_secs_f64(),
        palettes: Entry::look_in(&measure, &places)?,
    };
    super::print_report(&report, options.json, text::text)?;
    Ok(ExitCode::SUCCESS)
}

/// Does the action asked for, before palettes are shown.
fn act(
    options: &Options,
    measure: &MeasureOptions,
    places: &PaletteOptions,
) -> anyhow::Result<Action> {
    let make = |audience| Palette::make(measure, places, audience).context("no palette was made");
    if options.make {
        make(Audience::User)?;
        return Ok(Action::Made);
    }
    if options.publish {
        make(Audience::All)?;
        return Ok(Action::Published);
    }
    let audience = match options.remove {
        None => return Ok(Action::Shown),
        Some(Whose::Own) => Audience::User,
        Some(Whose::All) => Audience::All,
    };
    match Palette::remove(measure.geometry.as_ref(), places, audience)? {
        true => Ok(Action::Removed),
        false => Ok(Action::NothingToRemove),
    }
}
