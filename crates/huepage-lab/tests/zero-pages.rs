// SPDX-License-Identifier: MIT OR Apache-2.0
//! x
use huepage_lab::{experiment::Scale, experiments, kernel::Variant, runner, workspace::Workspace};
#[test]
fn a() {
    let workspace = Workspace::find().unwrap();
    let experiment = experiments::find("zero-pages").unwrap();
    let settings = experiment.settings(Scale::Quick);
    let results = runner::run(&workspace, experiment, &settings, Variant::Stock, 1, "x".into()).unwrap();
    println!("{}", serde_json::to_string(&results.rows).unwrap());
}
