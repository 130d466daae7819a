// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the unit tests of experiments share: boots and reports without a machine.

use serde_json::Value;

use crate::{
    boot::Report,
    experiment::{Case, Experiment, Scale},
    kernel::Variant,
    model::Record,
    results::Row,
};

/// The boots in full size, with these settings replaced.
pub fn cases(experiment: &Experiment, set: &[&str]) -> anyhow::Result<Vec<Case>> {
    let mut settings = experiment.settings(Scale::Full);
    set.iter().try_for_each(|assignment| settings.set(assignment))?;
    (experiment.cases)(&settings, Variant::Stock)
}

/// The first boot in quick size.
pub fn first(experiment: &Experiment) -> Case {
    (experiment.cases)(&experiment.settings(Scale::Quick), Variant::Stock).unwrap().remove(0)
}

/// Asserts that each setting is refused with these words.
pub fn refuses(experiment: &Experiment, wrong: &[(&str, &str)]) {
    for (set, said) in wrong {
        let error = format!("{:#}", cases(experiment, &[set]).unwrap_err());
        assert!(error.contains(said), "{set}: {error}");
    }
}

/// A report with these results of the guest and records of the model.
pub fn report(results: Vec<Value>, records: Vec<Record>) -> Report {
    Report { results, records, ..Report::default() }
}

/// The rows of a boot with this report.
pub fn rows(experiment: &Experiment, case: &Case, report: &Report) -> Vec<Row> {
    let found = (experiment.rows)(case, report).unwrap();
    found.into_iter().map(|found| case.row(found)).collect()
}

/// A row of the stock kernel, from two objects.
pub fn row(settings: &Value, metrics: &Value) -> Row {
    let map = |value: &Value| value.as_object().unwrap().clone();
    Row { variant: "stock".into(), settings: map(settings), metrics: map(metrics) }
}
