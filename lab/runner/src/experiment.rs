// SPDX-License-Identifier: MIT OR Apache-2.0
//! What an experiment is: data and the reading of its results. Each is one file
//! in `experiments/`; docs/lab.md tells how to add one.

use std::time::Duration;

use serde_json::{Map, Value};

use crate::{
    arch::Arch,
    boot::{Machine, Report},
    kernel::{Config, Variant},
    model::Model,
    results::{Plot, Results, Row, Table},
    settings::Settings,
};

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

/// A row of one boot: settings beyond those of the case, and metrics.
pub type Found = (Map<String, Value>, Map<String, Value>);

/// An experiment.
pub trait Experiment: Sync {
    /// Its name on the command line and of its files.
    fn name(&self) -> &'static str;

    /// One line for `--help`.
    fn about(&self) -> &'static str;

    /// What can be set, with the values that are run.
    fn settings(&self, scale: Scale) -> Settings;

    /// The boots that the settings amount to.
    ///
    /// # Errors
    /// A setting that makes no sense, named.
    fn cases(&self, settings: &Settings, variant: Variant) -> anyhow::Result<Vec<Case>>;

    /// Settings beyond those of the case, and metrics, of each row of one boot.
    ///
    /// # Errors
    /// What is missing in the report, or a check that does not hold.
    fn rows(&self, case: &Case, report: &Report) -> anyhow::Result<Vec<Found>>;

    /// Rows that are known only from several boots, or checks across them.
    ///
    /// # Errors
    /// A check that does not hold.
    fn finish(&self, rows: Vec<Row>) -> anyhow::Result<Vec<Row>> {
        Ok(rows)
    }

    /// Tables with their headings, for people.
    fn tables(&self, results: &Results) -> Vec<(String, Table)>;

    /// The picture.
    fn plot(&self, results: &Results) -> Plot;

    /// What the source reports, beside what was found here: heading and table.
    fn against_source(&self, results: &Results) -> (String, Table);

    /// What the figures mean and what the model leaves out, a few sentences.
    fn remarks(&self) -> &'static str;
}

/// Pairs of names and values as JSON.
pub fn map<const N: usize>(pairs: [(&str, Value); N]) -> Map<String, Value> {
    pairs.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}
