// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a user gets to read, above all when something is wrong.

use std::{fs, path::Path};

use huepage_lab::{
    experiments,
    results::{Failed, Results, Row, SCHEMA},
};

use crate::support::command;

fn lab(words: &[&str]) -> (Option<i32>, String, String) {
    command::lab(Path::new("."), words)
}

#[test]
fn help_lists_every_experiment() {
    let (code, help, _) = lab(&["run", "--help"]);
    assert_eq!(code, Some(0));
    // Long lines are wrapped.
    let flat = help.split_whitespace().collect::<Vec<_>>().join(" ");
    for experiment in experiments::ALL {
        let line = format!("{} {}", experiment.name, experiment.about);
        assert!(flat.contains(&line), "{help}");
    }
    assert!(help.lines().all(|line| line.chars().count() <= 80), "{help}");
}

#[test]
fn an_unknown_experiment_is_a_usage_error_with_the_names() {
    let (code, _, error) = lab(&["run", "againg"]);
    assert_eq!(code, Some(2));
    for experiment in experiments::ALL {
        assert!(error.contains(experiment.name), "{error}");
    }
}

#[test]
fn settings_are_listed_and_a_wrong_one_is_named() {
    for experiment in experiments::ALL {
        let (code, settings, _) = lab(&["run", experiment.name, "--settings"]);
        assert_eq!(code, Some(0));
        assert!(settings.lines().all(|line| line.contains('=')), "{settings}");
        let (code, out, error) = lab(&["run", experiment.name, "--set", "nonsense=1"]);
        assert_eq!((code, out.as_str()), (Some(2), ""));
        assert!(error.contains("no setting 'nonsense' here; there are "), "{error}");
    }
}

#[test]
fn the_standard_grid_has_boots_of_each_experiment() {
    let list = concat!(env!("CARGO_MANIFEST_DIR"), "/../standard/list");
    let list = fs::read_to_string(list).unwrap();
    let lines = list.lines().filter(|line| !line.starts_with('#'));
    let lines: Vec<Vec<&str>> = lines.map(|line| line.split(' ').collect()).collect();
    let names: Vec<&str> = lines.iter().map(|words| words[0]).collect();
    let all: Vec<&str> = experiments::ALL.iter().map(|e| e.name).collect();
    assert_eq!(names, all);
    for words in &lines {
        let sets: Vec<String> = words[1..].iter().map(|set| format!("--set={set}")).collect();
        let sets: Vec<&str> = sets.iter().map(String::as_str).collect();
        let (code, boots, error) = lab(&[&["cases", words[0]], &sets[..]].concat());
        assert!(code == Some(0) && !boots.is_empty(), "{words:?}: {error}");
    }
}

#[test]
fn selftests_refuse_what_does_not_fit_together() {
    for (words, why) in [
        (&["--variant", "stock", "--coloring"][..], "has no page coloring"),
        (&["--config", "kunit"], "kernel kunit"),
        (&["--compare", "--variant", "stock"], "cannot be used with"),
    ] {
        let (code, out, error) = lab(&[&["kernel", "selftests"], words].concat());
        assert_eq!((code, out.as_str()), (Some(2), ""), "{error}");
        assert!(error.contains(why), "{error}");
    }
}

#[test]
fn a_report_without_results_says_what_to_run() {
    let empty = tempfile::tempdir().unwrap();
    let folder = empty.path().to_str().unwrap();
    let (code, out, error) = lab(&["report", "--input", folder]);
    assert_eq!((code, out.as_str()), (Some(1), ""));
    assert!(error.contains("no results in") && error.contains("huepage-lab run"), "{error}");
    fs::write(
        empty.path().join("aging.json"),
        r#"{"schema": "huepage.lab/1", "experiment": "aging", "kind": "modelled", "command": "",
            "kernel": {"version": "", "variant": "", "arch": ""}, "model": null, "rows": []}"#,
    )
    .unwrap();
    let (code, out, error) = lab(&["report", "--input", folder]);
    assert_eq!((code, out.as_str()), (Some(1), ""));
    assert!(error.contains("has no rows") && error.contains("run aging"), "{error}");
}

#[test]
fn pages_and_pictures_of_results_are_what_their_figures_say() {
    let results = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../results");
    let again = tempfile::tempdir().unwrap();
    let mut names = Vec::new();
    for experiment in experiments::ALL {
        let name = format!("{}.json", experiment.name);
        if fs::copy(results.join(&name), again.path().join(&name)).is_ok() {
            names.push(experiment.name);
        }
    }
    let folder = again.path().to_str().unwrap();
    let page = again.path().join("page.md");
    lab(&["report", "--redraw", "--input", folder, "--output", page.to_str().unwrap()]);
    assert!(!names.is_empty() && page.exists());
    for file in names.iter().flat_map(|name| [format!("{name}.md"), format!("{name}.svg")]) {
        let same = fs::read(results.join(&file)).ok() == fs::read(again.path().join(&file)).ok();
        assert!(same, "results/{file} is not of results/*.json: huepage-lab report --redraw");
    }
}

#[test]
fn the_format_is_documented() {
    let docs = include_str!("../../../../docs/json.md");
    let results = Results {
        rows: vec![Row::default()],
        failed: vec![Failed::default()],
        ..Results::default()
    };
    let json = serde_json::to_value(&results).unwrap();
    let objects = [
        ("", &json),
        ("kernel.", &json["kernel"]),
        ("rows[].", &json["rows"][0]),
        ("failed[].", &json["failed"][0]),
    ];
    for (path, object) in objects {
        for key in object.as_object().unwrap().keys() {
            assert!(docs.contains(&format!("| `{path}{key}` |")), "{path}{key} in docs/json.md");
        }
    }
    assert!(docs.contains(SCHEMA));
}
