// SPDX-License-Identifier: MIT OR Apache-2.0
//! The output of `huepage palette`, as data.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

use huepage::{
    color::{
        Evidence, MeasureOptions,
        palette::{Audience, Condition, MachineIdentity, Palette, PaletteOptions, PaletteSummary},
    },
    mapping::page_size,
    topology::CacheGeometry,
    units::Bytes,
};
use serde::Serialize;

use crate::commands::cache_options::ResolvedCache;

/// What `--json` prints (schema huepage.palette/1).
#[derive(Debug, Serialize)]
pub struct PaletteReport {
    pub schema: &'static str,
    pub kind: &'static str,
    pub cpu: u32,
    pub cache: Option<CacheGeometry>,
    pub action: Action,
    /// Time for the action.
    pub seconds: f64,
    pub palettes: Vec<Entry>,
}

/// What was done before looking.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Action {
    Shown,
    Made,
    Published,
    Removed,
    NothingToRemove,
}

/// A palette, or the place where one could be.
#[derive(Debug, Serialize)]
pub struct Entry {
    pub audience: Audience,
    pub path: Option<String>,
    pub condition: &'static str,
    pub problem: Option<String>,
    /// Time for looking at it.
    pub seconds: f64,
    pub palette: Option<Details>,
}

/// The contents of the record of a palette.
#[derive(Debug, Serialize)]
pub struct Details {
    pub owner: u32,
    pub name: String,
    pub made: u64,
    pub age_seconds: u64,
    pub repaired: Option<u64>,
    pub replaced: u32,
    pub colors: u32,
    pub ways: u32,
    pub pages: usize,
    pub pages_per_color: Vec<usize>,
    pub bytes: Bytes,
    pub machine: MachineIdentity,
    pub evidence: Evidence,
}

impl Entry {
    /// Checks the palettes that programs look for.
    ///
    /// # Errors
    /// If colors cannot be measured here.
    pub fn look_at_all(cache: &ResolvedCache) -> anyhow::Result<Vec<Self>> {
        Entry::look_in(&cache.measure_options(), &PaletteOptions::new())
    }

    /// Checks the palette for all users and then the user's own.
    ///
    /// # Errors
    /// If colors cannot be measured here.
    pub fn look_in(measure: &MeasureOptions, places: &PaletteOptions) -> anyhow::Result<Vec<Self>> {
        let audiences = [Audience::All, Audience::User].into_iter();
        audiences.map(|audience| Entry::look(measure, places, audience)).collect()
    }

    fn look(
        measure: &MeasureOptions,
        places: &PaletteOptions,
        audience: Audience,
    ) -> anyhow::Result<Self> {
        let begin = Instant::now();
        let found = Palette::inspect(measure, places, audience)?;
        let seconds = begin.elapsed().as_secs_f64();
        let (condition, problem) = match found.condition {
            Condition::Verified => ("verified", None),
            Condition::Worn => ("worn", None),
            Condition::Absent => ("absent", None),
            Condition::Unusable(why) => ("unusable", Some(why)),
            _ => ("unknown", None),
        };
        Ok(Entry {
            audience,
            path: found.path.map(|path| path.to_string_lossy().into_owned()),
            condition,
            problem,
            seconds,
            palette: found.palette.map(Details::from),
        })
    }
}

impl From<PaletteSummary> for Details {
    fn from(of: PaletteSummary) -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        let pages: usize = of.pages.iter().sum();
        Details {
            owner: of.owner,
            name: of.name,
            made: of.made,
            age_seconds: now.saturating_sub(of.made),
            repaired: of.repaired,
            replaced: of.replaced,
            colors: of.colors.get(),
            ways: of.ways,
            pages,
            pages_per_color: of.pages,
            bytes: Bytes(pages as u64 * page_size().0),
            machine: of.machine,
            evidence: of.evidence,
        }
    }
}
