// SPDX-License-Identifier: MIT OR Apache-2.0
//! `huepage demo` from a user's side: what it prints, what it writes, and its errors.

mod support;

use std::{fs, path::Path, process::Output};

use serde_json::Value;
use support::{
    assert_plain, assert_refused, assert_silent, code, huepage, no_colors_here, stderr, stdout,
};

const FILES: [&str; 6] = [
    "working-set.svg",
    "working-set.png",
    "working-set.json",
    "repeat.svg",
    "repeat.png",
    "repeat.json",
];

fn demo(out: &Path, arguments: &[&str]) -> Output {
    huepage(&["demo", "--out"]).arg(out).args(arguments).output().unwrap()
}

/// The directory holds an earlier demo's files, which are to be replaced, and
/// one that is not its own.
#[test]
fn a_demo_prints_every_section_and_replaces_its_own_six_files() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    for name in FILES.iter().chain(&["notes.txt"]) {
        fs::write(path(name), "old").unwrap();
    }
    let output = demo(directory.path(), &["--allocations", "6", "--time-limit", "1"]);
    if no_colors_here(&output) {
        return;
    }
    if stderr(&output).contains("fonts-dejavu-core") {
        return println!("skipped: {}", stderr(&output));
    }
    assert_silent(&output);
    let text = stdout(&output);
    assert_plain(&text);
    let sections: Vec<&str> = text.lines().filter(|line| line.starts_with("== ")).collect();
    assert_eq!(
        sections,
        ["== topology ==", "== colors ==", "== working set ==", "== repeat ==", "== verdict =="]
    );
    let (_, verdict) = text.split_once("== verdict ==\n").unwrap();
    assert!(verdict.starts_with("The L2 of this machine has "), "{verdict}");
    for name in FILES {
        assert!(verdict.contains(name), "{name}: {verdict}");
    }

    for (name, benches) in [("working-set", &["chase", "read"][..]), ("repeat", &["repeat"])] {
        let json = fs::read(path(&format!("{name}.json"))).unwrap();
        let report: Value = serde_json::from_slice(&json).unwrap();
        assert_eq!(report["schema"], "huepage.bench/2");
        assert_eq!(report["allocations"], 6);
        // One round of visits is made however slow the machine.
        assert!(report["visits"].as_u64().unwrap() >= 1);
        let rows = report["rows"].as_array().unwrap();
        for bench in benches {
            assert!(rows.iter().any(|row| row["bench"] == *bench), "{name}: {bench}");
        }
        for placement in ["balanced", "default", "random"] {
            assert!(rows.iter().any(|row| row["placement"] == placement), "{name}: {placement}");
        }
        assert!(fs::read(path(&format!("{name}.png"))).unwrap().starts_with(b"\x89PNG\r\n\x1a\n"));
        let svg = fs::read_to_string(path(&format!("{name}.svg"))).unwrap();
        assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"), "{name}");
    }
    assert_eq!(fs::read_to_string(path("notes.txt")).unwrap(), "old");
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), FILES.len() + 1);
}

#[test]
fn what_cannot_be_a_directory_is_told_before_anything_is_measured() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("file");
    fs::write(&file, "precious").unwrap();
    for (out, message) in [
        (file.clone(), "is no directory: choose another with --out"),
        (file.join("below"), "cannot make the directory "),
    ] {
        let output = demo(&out, &["--allocations", "6", "--time-limit", "1"]);
        let text = assert_refused(&output, 1, message);
        assert!(text.contains(out.to_str().unwrap()), "{text}");
    }
    assert_eq!(fs::read_to_string(&file).unwrap(), "precious");
}

#[test]
fn bad_values_are_told_with_exit_code_2_and_leave_nothing_behind() {
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("out");
    for (arguments, message) in [
        (&["--allocations", "5"][..], "5 is not in 6..=10000"),
        (&["--allocations", "some"], "invalid digit"),
        (&["--cpu", "99999"], "CPU 99999 is not available to this process: choose one of "),
        (&["--cache", "big"], "'big' is no KEY=VALUE"),
        (&["--colors-by", "pfn"], "[possible values: auto, frame-number, measurement]"),
        (&["--seed", "x"], "invalid value 'x' for '--seed <N>'"),
        (&["--json"], "unexpected argument '--json'"),
    ] {
        assert_refused(&demo(&out, arguments), 2, message);
        assert!(!out.exists(), "{arguments:?}");
    }
}

#[test]
fn a_directory_whose_name_is_no_text_is_a_directory() {
    use std::os::unix::ffi::OsStrExt;

    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join(std::ffi::OsStr::from_bytes(b"\xff\xfe"));
    let output = demo(&out, &["--allocations", "6", "--cache", "size=32k,ways=8"]);
    assert_eq!(code(&output), Some(1), "{output:?}");
    let text = stderr(&output);
    assert!(text.contains("a cache of 32 KiB and 8 ways has one color"), "{text}");
    assert!(!text.contains("panicked"), "{text}");
}

#[test]
fn a_cache_without_colors_is_told_and_nothing_is_written() {
    let directory = tempfile::tempdir().unwrap();
    let output = demo(directory.path(), &["--allocations", "6", "--cache", "size=32k,ways=8"]);
    assert_eq!(code(&output), Some(1), "{}", stderr(&output));
    assert!(stderr(&output).contains("a cache of 32 KiB and 8 ways has one color"));
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
}
