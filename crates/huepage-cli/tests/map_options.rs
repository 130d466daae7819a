// SPDX-License-Identifier: MIT OR Apache-2.0
//! `huepage map`: wrong options and files, each told with what to do instead.

mod support;

use std::{fs, path::Path, process::Output};

use support::{assert_refused, code, huepage, stderr, stdout};

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
        let output = map(arguments);
        assert_refused(&output, 2, message);
    }
}

#[test]
fn watching_needs_a_terminal() {
    let output = map(&["--watch", "1", &std::process::id().to_string()]);
    assert_eq!((code(&output), stdout(&output)), (Some(2), String::new()));
    assert!(
        stderr(&output).starts_with("huepage: --watch redraws in a terminal, and standard output"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn an_input_that_cannot_be_used_is_told_with_exit_code_1() {
    let directory = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = directory.path().join(name);
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let good = fs::read_to_string(record()).unwrap();
    let missing = directory.path().join("missing.json").to_str().unwrap().to_owned();
    for (path, message) in [
        (missing, "No such file"),
        (file("half.json", &good[..good.len() / 2]), "not a recorded map: EOF while parsing"),
        (file("foreign.json", r#"{"schema": "huepage.colors/1"}"#), "'huepage.colors/1'"),
        (file("later.json", r#"{"schema": "huepage.map/2\u001b"}"#), r"'huepage.map/2\u{1b}'"),
        (file("empty.json", ""), "not a recorded map"),
        (directory.path().to_str().unwrap().to_owned(), "Is a directory"),
    ] {
        let output = map(&["--input", &path]);
        assert_eq!((code(&output), stdout(&output)), (Some(1), String::new()), "{path}");
        assert!(stderr(&output).starts_with("huepage: cannot "), "{}", stderr(&output));
        assert!(stderr(&output).contains(message), "{}", stderr(&output));
        assert!(stderr(&output).contains(&path), "{}", stderr(&output));
    }
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
        let refused = with(&[]);
        assert_eq!((code(&refused), stdout(&refused)), (Some(1), String::new()));
        assert_eq!(stderr(&refused), format!("huepage: {name} exists: give -f to overwrite it\n"));
        assert_eq!(read(&path), b"precious");
        assert!(matches!(code(&with(&["-f"])), Some(0 | 3)));
        assert_ne!(read(&path), b"precious");
        fs::write(&path, "precious").unwrap();
    }
}

#[test]
fn a_directory_that_is_not_there_is_told_before_anything_runs() {
    for option in ["-o", "--record"] {
        let output = map(&[option, "/nonexistent/map.svg", "--", "sh", "-c", "echo ran"]);
        assert_eq!(code(&output), Some(1));
        assert_eq!(
            stderr(&output),
            "huepage: /nonexistent is no directory: make it first (mkdir -p)\n"
        );
    }
}
