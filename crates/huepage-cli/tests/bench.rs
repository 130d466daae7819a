// SPDX-License-Identifier: MIT OR Apache-2.0
//! `huepage bench` from a user's side: the real binary, its files, messages and exit
//! codes. No test depends on how fast anything was.

mod support;

use std::{
    ffi::OsStr,
    fs,
    os::unix::ffi::OsStrExt,
    path::Path,
    process::{Command, Output},
};

use serde_json::Value;
use support::{assert_refused, code, huepage, json, stderr};

fn bench(arguments: &[&str]) -> Command {
    huepage(&[&["bench"], arguments].concat())
}

/// One round of visits, whatever the machine is busy with; then time is up.
fn once(workload: &str, allocations: &str) -> Command {
    let rest = ["--placements", "default", "--visits", "2", "--time-limit", "0"];
    bench(&[&[workload, "--allocations", allocations], &rest[..]].concat())
}

/// Runs a command that has no time for all visits.
#[track_caller]
fn in_part(command: &mut Command) -> Output {
    let output = command.output().unwrap();
    assert_eq!(code(&output), Some(3), "{output:?}");
    output
}

/// Working sets are relative to a cache, which some virtual machines do not declare.
fn machine_declares_a_cache() -> bool {
    let declared = Path::new("/sys/devices/system/cpu/cpu0/cache/index2/size").exists();
    if !declared {
        eprintln!("skipped: this machine declares no level-2 cache");
    }
    declared
}

#[test]
fn usage_errors_exit_with_2_and_say_what_is_valid() {
    for (arguments, message) in [
        (
            &["repeat", "--placements", "purple"][..],
            "possible values: default, stirred, thp, random",
        ),
        (&["repeat", "--allocations", "0"], "0 is not in 1..=10000"),
        (&["repeat", "--visits", "1"], "1 is not in 2..=100000"),
        (&["repeat", "--cache-share", "5/4"], "'5/4' is no share of a cache: write"),
        (&["repeat", "-o", "a.pdf"], "use .svg, .png, .json or .txt"),
        (&["repeat", "--time-limit", "soon"], "invalid digit"),
        (&["repeat", "--cpu", "99999"], "CPU 99999 is not available to this process"),
        (&["nothing"], "unrecognized subcommand"),
        (&[], "working-set"),
    ] {
        assert_refused(&bench(arguments).output().unwrap(), 2, message);
    }
}

#[test]
fn an_argument_that_is_no_text_is_a_usage_error_and_no_panic() {
    let with = |option, bytes: &[u8]| {
        bench(&["repeat", option]).arg(OsStr::from_bytes(bytes)).output().unwrap()
    };
    let text = assert_refused(&with("--cache", b"\xff.svg"), 2, "invalid UTF-8");
    assert!(!text.contains("panicked"), "{text}");
    // A file name may be any bytes.
    assert_refused(&with("--output", b"\xff.pdf"), 2, "use .svg, .png, .json or .txt");
    assert_refused(
        &with("--output", b"/nonexistent/\xff.svg"),
        1,
        "is no directory: make it first",
    );
}

#[test]
fn json_holds_a_row_for_every_workload_and_size() {
    if !machine_declares_a_cache() {
        return;
    }
    let mut command = once("working-set", "2");
    let report = json(&in_part(command.arg("--json")));
    assert_eq!(
        (&report["schema"], &report["kind"]),
        (&"huepage.bench/2".into(), &"measured".into())
    );
    let words: Vec<&str> = command.get_args().map(|word| word.to_str().unwrap()).collect();
    assert!(report["command"].as_str().unwrap().contains(&words.join(" ")));
    assert_eq!((&report["allocations"], &report["visits"]), (&2.into(), &1.into()));
    assert_eq!(report["verdict"]["kind"], "cannot-tell");
    // No colors are known here, so it is not known whether pages moved.
    assert!(report["rows"][0]["moved"].is_null());
    let rows = report["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 2 * 12);
    for row in rows {
        assert_eq!(row["placement"], "default");
        let each = row["each"].as_array().unwrap();
        assert_eq!(each.len(), 2);
        let positive = |value: &Value| value.as_f64().unwrap() > 0.0;
        assert!(each.iter().all(|dot| positive(&dot["p5"]) && positive(&dot["p95"])), "{row}");
        assert!(positive(&row["whole"]["median"]), "{row}");
    }
    let cache = report["cache"]["size"].as_u64().unwrap();
    assert_eq!(rows[14]["bytes"].as_u64().unwrap(), cache, "the eighth size is the cache's");
}

#[test]
fn the_samples_file_holds_every_slice_with_its_moment() {
    if !machine_declares_a_cache() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("samples.jsonl");
    let mut command = once("repeat", "3");
    in_part(command.arg("--samples-file").arg(&path));
    let text = fs::read_to_string(&path).unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines[0]["schema"], "huepage.bench-samples/1");
    assert_eq!(lines.len(), 1 + 3 * 2, "two slices for each visit");
    for line in &lines[1..] {
        assert_eq!((&line["bench"], &line["block"]), (&"repeat".into(), &0.into()));
        assert!(line["elapsed"].as_u64().unwrap() > 0 && line["quiet"].is_boolean(), "{line}");
        // The whole program, told in milliseconds, takes as long as its slice.
        let ratio = line["figure"].as_f64().unwrap() * 1e6 / line["elapsed"].as_f64().unwrap();
        assert!((0.5..=1.0).contains(&ratio), "{line}");
    }
    assert_refused(&command.output().unwrap(), 1, "exists: give -f to overwrite it");
    let nowhere = ["repeat", "--placements", "default", "--samples-file", "/nowhere/at/all"];
    assert_refused(&bench(&nowhere).output().unwrap(), 1, "/nowhere/at");
}

#[test]
fn a_share_of_the_cache_needs_a_pool_and_whole_colors() {
    let arguments = ["repeat", "--placements", "default", "--cache-share", "1/4"];
    let message = "--cache-share needs placements from a pool";
    assert_refused(&bench(&arguments).output().unwrap(), 1, message);
}

#[test]
fn what_is_written_to_files_has_no_progress_and_no_escape_codes() {
    if !machine_declares_a_cache() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let text = dir.path().join("a.txt");
    let output = in_part(once("repeat", "2").arg("-o").arg(&text));
    assert_eq!(output.stdout, b"");
    let stderr = stderr(&output);
    assert!(stderr.starts_with("huepage: done in part: 1 of 2 visits"), "{stderr}");
    assert!(stderr.contains("--time-limit"), "{stderr}");
    assert_eq!(stderr.lines().count(), 1, "{stderr}");
    let text = fs::read_to_string(text).unwrap();
    assert!(text.contains("repeat") && text.contains("default"), "{text}");
    assert!(!text.contains(['\x1b', '\r']), "{text:?}");
}

#[test]
fn one_run_can_be_written_in_several_formats() {
    if !machine_declares_a_cache() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let path = |name| dir.path().join(name);
    let mut command = once("repeat", "2");
    for output in [path("a.svg"), path("a.json"), "-".into()] {
        command.arg("-o").arg(output);
    }
    in_part(&mut command);
    assert!(fs::read_to_string(path("a.svg")).unwrap().contains("<svg"));
    let report: Value = serde_json::from_slice(&fs::read(path("a.json")).unwrap()).unwrap();
    assert_eq!(report["rows"][0]["bench"], "repeat");
}

#[test]
fn a_file_is_overwritten_only_by_force() {
    if !machine_declares_a_cache() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.txt");
    fs::write(&path, "precious").unwrap();
    let mut command = once("repeat", "1");
    let refused = command.arg("-o").arg(&path).output().unwrap();
    assert_refused(&refused, 1, "exists: give -f to overwrite it");
    assert_eq!(fs::read_to_string(&path).unwrap(), "precious");
    in_part(command.arg("-f"));
    assert!(fs::read_to_string(&path).unwrap().contains("repeat"));
}

#[test]
fn what_memory_cannot_hold_is_refused_before_it_is_touched() {
    if !machine_declares_a_cache() {
        return;
    }
    for placements in ["default", "thp,stirred"] {
        let arguments = ["fft", "--allocations", "10000", "--placements", placements];
        let message = "are available: give fewer with --allocations";
        assert_refused(&bench(&arguments).output().unwrap(), 1, message);
    }
}
