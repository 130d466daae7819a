// SPDX-License-Identifier: MIT OR Apache-2.0
//! What tests share: of experiments, here; of the rest, a file each.

pub mod bare_machine;
pub mod booted;
pub mod command;
pub mod twin;

use huepage_lab::{
    document,
    experiment::Scale,
    experiments,
    kernel::Variant,
    results::{Results, Row},
    runner::Run,
    workspace::Workspace,
};

/// Runs the quick form of an experiment with some settings replaced. One boot at
/// a time: tests of several files may run at once.
pub fn quick(name: &str, set: &[&str]) -> Results {
    let results = quick_whatever_failed(name, set);
    assert_eq!(results.failed, [], "boots failed");
    results
}

/// The same, where boots or checks across boots may fail.
pub fn quick_whatever_failed(name: &str, set: &[&str]) -> Results {
    let experiment = experiments::find(name).unwrap();
    let mut settings = experiment.settings(Scale::Quick);
    set.iter().for_each(|assignment| settings.set(assignment).unwrap());
    let workspace = Workspace::find().unwrap();
    let run = Run { workspace: &workspace, experiment, jobs: 1, kept: None };
    let cases = (experiment.cases)(&settings, Variant::Stock).unwrap();
    let results = run
        .kept(&cases)
        .and_then(|tried| run.boot(&cases, tried))
        .and_then(|tried| run.results(&cases, tried, "test".into()));
    results.unwrap_or_else(|error| panic!("{error:#}"))
}

/// What people get to see of results: the page, and the picture.
pub fn shown(results: &Results) -> (String, String) {
    let experiment = experiments::find(&results.experiment).unwrap();
    let page = (experiment.page)(results);
    (document::of(experiment, results, &page), page.plot.svg().unwrap())
}

/// The first row with these settings.
pub fn row<'a>(results: &'a Results, settings: &[(&str, &str)]) -> &'a Row {
    results.find(settings).unwrap_or_else(|| panic!("no row {settings:?}"))
}

/// The row with these settings, of which there is one.
pub fn only_row<'a>(results: &'a Results, settings: &[(&str, &str)]) -> &'a Row {
    let rows: Vec<&Row> = results.with(settings).collect();
    assert_eq!(rows.len(), 1, "{settings:?}");
    rows[0]
}

/// A metric that the row must have.
pub fn number(row: &Row, name: &str) -> f64 {
    row.metric(name).unwrap_or_else(|| panic!("no {name} in {row:?}"))
}
