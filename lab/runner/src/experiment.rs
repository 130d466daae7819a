// SPDX-License-Identifier: MIT OR Apache-2.0
//! Describes an experiment by data and by functions that read its results. Each is one
//! file in `experiments/` with its remarks beside it; docs/lab.md says how to add one.

use serde_json::{Map, Value};

pub use crate::boot::Case;
use crate::{
    boot::Report,
    kernel::Variant,
    results::{Page, Results, Row},
    settings::{Point, Settings},
};

/// Bytes of a page, on both architectures.
pub const PAGE: u64 = 4096;

/// How large an experiment is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// As in the source, as far as that is stated there.
    Full,
    /// The same code paths within seconds, for tests.
    Quick,
}

impl Case {
    /// A row of this boot, with its settings.
    pub fn row(&self, (more, metrics): Found) -> Row {
        let mut settings = self.settings.clone();
        settings.extend(more);
        Row { variant: self.variant.name().to_owned(), settings, metrics }
    }
}

/// A row of one boot: settings beyond those of the case, and metrics.
pub type Found = (Map<String, Value>, Map<String, Value>);

/// A setting: its name, and its values in full and in quick size, with commas between.
pub type Setting = (&'static str, &'static str, &'static str);

/// An experiment: data, and the functions that read its results.
pub struct Experiment {
    /// Its name on the command line and of its files.
    pub name: &'static str,
    /// One line for `--help`.
    pub about: &'static str,
    /// What the figures mean and what the model leaves out: Markdown, after a line with the
    /// licence.
    pub remarks: &'static str,
    /// The settings.
    pub settings: &'static [Setting],
    /// The boots for these settings. A setting that makes no sense is an error that
    /// names it.
    pub cases: fn(&Settings, Variant) -> anyhow::Result<Vec<Case>>,
    /// The rows of one boot. An error says what is missing in the report, or which
    /// check failed.
    pub rows: fn(&Case, &Report) -> anyhow::Result<Vec<Found>>,
    /// Adds figures that need several boots, and checks across them. An error changes
    /// no row.
    pub finish: fn(&mut Vec<Row>) -> anyhow::Result<()>,
    /// The presentation of the results.
    pub page: fn(&Results) -> Page,
}

impl Experiment {
    /// The settings for this size.
    pub fn settings(&self, scale: Scale) -> Settings {
        let values = |&(name, full, quick): &Setting| match scale {
            Scale::Full => (name, full),
            Scale::Quick => (name, quick),
        };
        Settings::new(self.settings.iter().map(values))
    }

    /// The remarks without their first line.
    pub fn remarks(&self) -> &'static str {
        self.remarks.split_once('\n').map_or("", |(_, remarks)| remarks.trim())
    }
}

/// Pairs of names and values as arguments of a guest.
pub fn arguments<'a, V: ToString>(
    pairs: impl IntoIterator<Item = (&'a str, V)>,
) -> Vec<(String, String)> {
    pairs.into_iter().map(|(name, value)| (name.to_owned(), value.to_string())).collect()
}

/// A boot for each point of the grid of these settings.
///
/// # Errors
/// The error of the first point whose settings make no sense.
pub fn case_of_each(
    settings: &Settings,
    names: &[&str],
    case: fn(&Settings, &Point) -> anyhow::Result<Case>,
) -> anyhow::Result<Vec<Case>> {
    settings.grid(names).iter().map(|point| case(settings, point)).collect()
}

/// Pairs of names and values as JSON.
pub fn map<const N: usize>(pairs: [(&str, Value); N]) -> Map<String, Value> {
    pairs.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}
