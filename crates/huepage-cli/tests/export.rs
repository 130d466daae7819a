// SPDX-License-Identifier: MIT OR Apache-2.0
//! `huepage export`, `features` and `bugreport` from the side of their callers.

mod support;

use std::fs;

use serde_json::Value;
use support::{
    Unprivileged, alone, assert_done, assert_refused, assert_silent, code, huepage, json, stderr,
    stdout,
};

/// Without a time stamp counter, or beside a busy neighbor, a part is missing, and a
/// message says so.
fn done(output: &std::process::Output) {
    let all = code(output) == Some(0) && stderr(output).is_empty();
    let part = code(output) == Some(3) && !stderr(output).is_empty();
    assert!(all || part, "{output:?}");
}

#[test]
fn metrics_take_the_place_of_older_ones_whole_and_readable_by_all() {
    let _alone = alone();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("huepage.prom");
    fs::write(&path, "old").unwrap();
    let file = path.to_str().unwrap();
    done(&huepage(&["export", "--look", "0.3", "--openmetrics", file]).output().unwrap());
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.contains("huepage_build_info{version="), "{text}");
    for line in text.lines() {
        let name = line.trim_start_matches("# HELP ").trim_start_matches("# TYPE ");
        assert!(name.starts_with("huepage_"), "{line}");
    }
    // Each metric has one HELP and one TYPE before its samples.
    for sample in text.lines().filter(|line| !line.starts_with('#')) {
        let name = sample.split(['{', ' ']).next().unwrap();
        assert_eq!(text.matches(&format!("# HELP {name} ")).count(), 1, "{name}");
        assert_eq!(text.matches(&format!("# TYPE {name} ")).count(), 1, "{name}");
    }
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
}

#[test]
fn features_for_kubernetes_expire() {
    let _alone = alone();
    let output = huepage(&["export", "--node-features", "-"]).output().unwrap();
    done(&output);
    let text = stdout(&output);
    assert!(text.starts_with("# +expiry-time=20"), "{text}");
    let labels: Vec<&str> = text.lines().skip(1).collect();
    assert!(labels.iter().any(|label| label.starts_with("huepage.io/kernel-coloring=")), "{text}");
    for label in labels {
        let (name, value) = label.split_once('=').unwrap();
        assert!(name.starts_with("huepage.io/"), "{label}");
        let word = |c: char| c.is_ascii_alphanumeric() || "-._".contains(c);
        assert!(value.len() < 64 && value.chars().all(word), "{label}");
    }
}

#[test]
fn who_wants_nothing_exported_is_told_what_there_is() {
    let output = huepage(&["export"]).output().unwrap();
    assert_refused(&output, 2, "--openmetrics");
    // Before it measures.
    for (file, why) in
        [("/nonexistent/x", "/nonexistent is no directory"), ("/", "/ is a directory")]
    {
        let words = ["export", "--look", "3600", "--openmetrics", file];
        assert_refused(&huepage(&words).output().unwrap(), 1, why);
    }
}

/// The kernel is asked whether a feature works: without root, frame numbers do not.
#[test]
fn features_that_are_not_here_say_why() {
    let output = huepage(&["features", "--json"]).output().unwrap();
    assert_silent(&output);
    let report = json(&output);
    let features = report["features"].as_array().unwrap();
    assert!(features.len() > 8);
    for feature in features {
        assert_eq!(feature["here"] == "no", feature["why"].is_string(), "{feature}");
    }
    let Some(user) = Unprivileged::new() else { return };
    let output = user.command(&["features", "--json"]).output().unwrap();
    assert_silent(&output);
    let report = json(&output);
    let mut features = report["features"].as_array().unwrap().iter();
    let frames = features.find(|feature| feature["feature"] == "frame-numbers");
    assert_eq!(frames.unwrap()["why"], "hidden: needs CAP_SYS_ADMIN");
}

#[test]
fn the_table_of_the_readme_is_the_one_of_the_command() {
    let report = json(&huepage(&["features", "--json"]).output().unwrap());
    let told: Vec<String> = report["features"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| {
            let text = |field: &str| row[field].as_str().unwrap().to_owned();
            format!("| {} | {} | {} |", text("feature"), text("needs"), text("gives"))
        })
        .collect();
    let readme = concat!(env!("CARGO_MANIFEST_DIR"), "/../../README.md");
    let readme = fs::read_to_string(readme).unwrap();
    let (_, table) = readme.split_once("| feature | Linux | gives |\n|---|---|---|\n").unwrap();
    let table: Vec<&str> = table.lines().take_while(|line| line.starts_with('|')).collect();
    assert_eq!(table, told);
}

#[test]
fn features_fit_a_terminal() {
    let text = stdout(&huepage(&["features"]).output().unwrap());
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    assert!(text.contains("kernel-coloring"), "{text}");
}

#[test]
fn a_report_of_a_bug_has_the_machine_to_be_read_back_and_no_name_of_it() {
    let _alone = alone();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("report.json");
    let file = path.to_str().unwrap();
    let output = huepage(&["bugreport", "-o", file]).output().unwrap();
    assert_done(&output);
    assert!(stderr(&output).contains("read it before you send it"), "{}", stderr(&output));
    let text = fs::read_to_string(&path).unwrap();
    let report: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(report["schema"], "huepage.bugreport/1");
    let machine = directory.path().join("machine.json");
    fs::write(&machine, report["machine"].to_string()).unwrap();
    let read = |path| {
        let shown = huepage(&["topology", "--input"]).arg(path).output().unwrap();
        assert_done(&shown);
        stdout(&shown)
    };
    assert_eq!(read(&path), read(&machine));
    let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
    for secret in [host.trim(), boot.trim()] {
        assert!(secret.len() < 4 || !text.contains(secret), "{secret}");
    }
    let again = huepage(&["bugreport", "-o", file]).output().unwrap();
    assert_refused(&again, 1, "give -f to overwrite it");
}
