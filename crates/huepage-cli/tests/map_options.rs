// SPDX-License-Identifier: MIT OR Apache-2.0
//! `huepage map`: wrong options and files, each with an error that says what to do
//! instead.

mod support;

use std::{fs, path::Path, process::Output};

use support::{assert_done, assert_refused, assert_unusable, code, huepage, stdout};

fn map(arguments: &[&str]) -> Output {
    huepage(&["map"]).args(arguments).output().unwrap()
}

fn record() -> String {
    concat!(env!("CARGO_MANIFEST_DIR"), "/tests/maps/sleep.json").to_owned()
}

#[test]
fn bad_options_are_told_with_exit_code_2() {
    for (arguments, message) in [
        (&[][..], "<PID|NAME|COMMAND|--input <FILE>>"),
        (&["--"], "required"),
        (&["1", "2"], "unexpected argument '2'"),
        (&["1", "--", "true"], "cannot be used with"),
        (&["1", "--input", "x"], "cannot be used with"),
        (&["-1"], "unexpected argument '-1'"),
        (&["1", "--by", "hue"], "[possible values: kind, node, color, run]"),
        (&["1", "-o", "map.pdf"], "use .svg, .png, .json or .txt, or - for the terminal"),
        (&["1", "-o"], "a value is required for '--output <FILE>'"),
        (&["1", "--watch"], "a value is required for '--watch <SECONDS>'"),
        (&["1", "--watch", "0"], "write a number of seconds from 0.1 to 86400"),
        (&["1", "--watch", "nan"], "write a number of seconds from 0.1 to 86400"),
        (&["1", "--watch", "-1"], "unexpected argument '-1'"),
        (&["1", "--watch", "1", "--json"], "cannot be used with '--json'"),
        (&["1", "--watch", "1", "-o", "x.svg"], "cannot be used with '--output <FILE>'"),
        (&["--watch", "1", "--", "true"], "cannot be used with"),
        (&["--watch", "1", "--input", "x"], "cannot be used with"),
        (&["1", "--after", "1"], "cannot be used with"),
        (&["--after", "1"], "<PID|NAME|COMMAND|--input <FILE>>"),
        (&["--input", "x", "--record", "y"], "cannot be used with '--record <FILE>'"),
        (&["1", "--cache", "2M"], "write for example size=2M,ways=16"),
        (&["1", "--json=yes"], "unexpected value 'yes' for '--json'"),
    ] {
        assert_refused(&map(arguments), 2, message);
    }
}

#[test]
fn watching_needs_a_terminal() {
    let output = map(&["--watch", "1", &std::process::id().to_string()]);
    let told = "huepage: --watch needs a terminal as standard output: leave it out";
    assert!(assert_refused(&output, 2, told).starts_with(told));
}

#[test]
fn an_input_that_cannot_be_used_is_told_with_exit_code_1() {
    let foreign = (r#"{"schema": "huepage.colors/1"}"#, "'huepage.colors/1'");
    let later = (r#"{"schema": "huepage.map/2\u001b"}"#, r"'huepage.map/2\u{1b}'");
    assert_unusable("map", Path::new(&record()), "map", &[foreign, later]);
}

fn read(path: &Path) -> Vec<u8> {
    fs::read(path).unwrap()
}

#[test]
fn each_suffix_gives_its_format_and_standard_output_stays_empty() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    let name = |name: &str| path(name).to_str().unwrap().to_owned();
    let (svg, png, json, txt) = (name("a.svg"), name("a.png"), name("a.json"), name("a.TXT"));
    let record = record();
    let files = ["--input", &record, "-o", &svg, "-o", &png, "-o", &json, "-o", &txt];
    let output = map(&files);
    assert_eq!((code(&output), stdout(&output)), (Some(0), String::new()), "{output:?}");
    assert!(read(&path("a.svg")).starts_with(b"<svg "));
    assert!(read(&path("a.png")).starts_with(b"\x89PNG"));
    assert!(read(&path("a.json")).starts_with(b"{\n  \"schema\": \"huepage.map/1\""));
    assert_eq!(read(&path("a.TXT")), map(&["--input", &record]).stdout);
    let both = map(&["--input", &record, "-o", &svg, "-f", "-o", "-"]);
    assert_eq!(both.stdout, read(&path("a.TXT")));
}

#[test]
fn files_are_overwritten_only_by_force() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("precious.svg");
    fs::write(&path, "precious").unwrap();
    let name = path.to_str().unwrap();
    for option in ["-o", "--record"] {
        let target: &[&str] = match option {
            "-o" => &["--input", &record()],
            _ => &["--", "true"],
        };
        let with = |force: &[&str]| map(&[&[option, name], force, target].concat());
        let message = format!("huepage: {name} exists: give -f to overwrite it\n");
        assert_eq!(assert_refused(&with(&[]), 1, &message), message);
        assert_eq!(read(&path), b"precious");
        assert_done(&with(&["-f"]));
        assert_ne!(read(&path), b"precious");
        fs::write(&path, "precious").unwrap();
    }
}

#[test]
fn a_directory_that_is_not_there_is_told_before_anything_runs() {
    for option in ["-o", "--record"] {
        let output = map(&[option, "/nonexistent/map.svg", "--", "sh", "-c", "echo ran"]);
        let told = "huepage: /nonexistent is no directory: make it first (mkdir -p)\n";
        assert_eq!(assert_refused(&output, 1, told), told);
    }
}
