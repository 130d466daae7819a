// SPDX-License-Identifier: MIT OR Apache-2.0
//! What an experiment is: data and the reading of its results. Each is one file in
//! `experiments/` with its remarks beside it; docs/lab.md tells how to add one.

use std::time::Duration;

use anyhow::Context;
use serde_json::{Map, Value};

use crate::{
    arch::Arch,
    boot::{Machine, Report},
    kernel::{Config, Variant},
    model::Model,
    results::{Page, Results, Row},
    settings::{Point, Settings},
};

/// Bytes of a page, on both architectures.
pub const PAGE: u64 = 4096;

/// How large an experiment is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// As the source did, as far as that is stated.
    Full,
    /// The same code paths within seconds, for tests.
    Quick,
}

/// One boot of the grid.
#[derive(Clone, Debug)]
pub struct Case {
    /// Of kernel and guest.
    pub arch: Arch,
    /// Which kernel.
    pub variant: Variant,
    /// How the kernel is configured.
    pub config: Config,
    /// The virtual machine.
    pub machine: Machine,
    /// The guest program, in `lab/guest`.
    pub guest: &'static str,
    /// Its arguments.
    pub arguments: Vec<(String, String)>,
    /// The modelled hierarchy, if accesses are counted.
    pub model: Option<Model>,
    /// Regions that must be seen.
    pub regions: Vec<u32>,
    /// What is set in this boot; every row of it gets these, and may add to them.
    pub settings: Map<String, Value>,
    /// Time limit, generous: machines are shared.
    pub limit: Duration,
}

impl Case {
    /// A boot of a guest program, of which nothing is set yet: of the stock kernel on x86_64,
    /// with nothing counted, for an hour at most.
    pub fn of(guest: &'static str, machine: Machine) -> Self {
        Case {
            arch: Arch::X86_64,
            variant: Variant::Stock,
            config: Config::Plain,
            machine,
            guest,
            arguments: Vec::new(),
            model: None,
            regions: Vec::new(),
            settings: Map::new(),
            limit: Duration::from_secs(3600),
        }
    }

    /// What was found in this boot, with what was set.
    pub fn row(&self, (more, metrics): Found) -> Row {
        let mut settings = self.settings.clone();
        settings.extend(more);
        Row { variant: self.variant.name().to_owned(), settings, metrics }
    }

    /// What the guest is told under a name.
    ///
    /// # Errors
    /// If it is not told.
    pub fn argument(&self, name: &str) -> anyhow::Result<&str> {
        let argument = self.arguments.iter().find(|(have, _)| have == name);
        argument.map(|(_, value)| value.as_str()).with_context(|| format!("no argument {name}"))
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
    /// What can be set.
    pub settings: &'static [Setting],
    /// The boots that settings amount to. A setting that makes no sense is an error that
    /// names it.
    pub cases: fn(&Settings, Variant) -> anyhow::Result<Vec<Case>>,
    /// The rows of one boot. An error says what is missing in the report, or which check
    /// does not hold.
    pub rows: fn(&Case, &Report) -> anyhow::Result<Vec<Found>>,
    /// Adds what is known only from several boots, and checks across them. After an error
    /// rows are what they were.
    pub finish: fn(&mut Vec<Row>) -> anyhow::Result<()>,
    /// What people get to see of results.
    pub page: fn(&Results) -> Page,
}

impl Experiment {
    /// What is run in this size.
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
/// That of the first point whose settings make no sense.
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
