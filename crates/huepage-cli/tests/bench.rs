// SPDX-License-Identifier: MIT OR Apache-2.0
//! `huepage bench` as a user meets it: the real binary, its files, messages and
//! exit codes. No test looks at how fast anything was.

use std::{fs, path::Path};

use assert_cmd::Command;

fn bench(arguments: &[&str]) -> Command {
    let mut command = Command::cargo_bin("huepage").unwrap();
    command.arg("bench").args(arguments);
    command
}

/// Working sets are relative to a cache that some virtual machines hide.
fn machine_declares_a_cache() -> bool {
    let declared = Path::new("/sys/devices/system/cpu/cpu0/cache/index2/size").exists();
    if !declared {
        eprintln!("skipped: this machine declares no level-2 cache");
    }
    declared
}

fn stderr_of(command: &mut Command, code: i32) -> String {
    let assert = command.assert().code(code);
    String::from_utf8(assert.get_output().stderr.clone()).unwrap()
}

fn json_of(command: &mut Command, code: i32) -> serde_json::Value {
    let assert = command.assert().code(code);
    serde_json::from_slice(&assert.get_output().stdout).unwrap()
}

#[test]
fn usage_errors_exit_with_2_and_say_what_is_valid() {
    for (arguments, message) in [
        (
            vec!["repeat", "--placements", "purple"],
            "possible values: default, stirred, thp, random",
        ),
        (vec!["repeat", "--allocations", "0"], "0 is not in 1..=10000"),
        (vec!["repeat", "--visits", "1"], "1 is not in 2..=100000"),
        (vec!["repeat", "--cache-share", "5/4"], "'5/4' is no share of a cache: write"),
        (vec!["repeat", "-o", "a.pdf"], "use .svg, .png, .json or .txt"),
        (vec!["repeat", "--time-limit", "soon"], "invalid digit"),
        (vec!["repeat", "--cpu", "99999"], "CPU 99999 is not available to this process"),
        (vec!["nothing"], "unrecognized subcommand"),
        (vec![], "working-set"),
    ] {
        let stderr = stderr_of(&mut bench(&arguments), 2);
        assert!(stderr.contains(message), "{arguments:?}: {stderr}");
    }
}

#[test]
fn an_argument_that_is_no_text_is_a_usage_error_and_no_panic() {
    use std::{ffi::OsStr, os::unix::ffi::OsStrExt};

    for option in ["--output", "--cache"] {
        let mut command = bench(&["repeat", option]);
        let stderr = stderr_of(command.arg(OsStr::from_bytes(b"\xff.svg")), 2);
        assert!(stderr.contains("invalid UTF-8"), "{option}: {stderr}");
        assert!(!stderr.contains("panicked"), "{option}: {stderr}");
    }
}

/// One round of visits, whatever the machine is busy with; then time is up.
const ONCE: [&str; 4] = ["--visits", "2", "--time-limit", "0"];

#[test]
fn json_holds_a_row_for_every_workload_and_size() {
    if !machine_declares_a_cache() {
        return;
    }
    let arguments = ["working-set", "--allocations", "2", "--placements", "default", "--json"];
    let report = json_of(bench(&arguments).args(ONCE), 3);
    assert_eq!(
        (&report["schema"], &report["kind"]),
        (&"huepage.bench/2".into(), &"measured".into())
    );
    assert!(report["command"].as_str().unwrap().contains(&arguments.join(" ")));
    assert_eq!((&report["allocations"], &report["visits"]), (&2.into(), &1.into()));
    assert_eq!(report["verdict"]["kind"], "cannot-tell");
    // Nothing tells colors here, so nothing is known of pages that moved.
    assert!(report["rows"][0]["moved"].is_null());
    let rows = report["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 2 * 12);
    for row in rows {
        assert_eq!(row["placement"], "default");
        let each = row["each"].as_array().unwrap();
        assert_eq!(each.len(), 2);
        let positive = |value: &serde_json::Value| value.as_f64().unwrap() > 0.0;
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
    let run = || {
        let mut command = bench(&["repeat", "--allocations", "3", "--placements", "default"]);
        command.args(ONCE).args(["--samples-file".as_ref(), path.as_os_str()]);
        command
    };
    run().assert().code(3);
    let text = fs::read_to_string(&path).unwrap();
    let lines: Vec<serde_json::Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines[0]["schema"], "huepage.bench-samples/1");
    assert_eq!(lines.len(), 1 + 3 * 2, "two slices for each visit");
    for line in &lines[1..] {
        assert_eq!((&line["bench"], &line["block"]), (&"repeat".into(), &0.into()));
        assert!(line["elapsed"].as_u64().unwrap() > 0 && line["quiet"].is_boolean(), "{line}");
        // The whole program, told in milliseconds, takes as long as its slice.
        let ratio = line["figure"].as_f64().unwrap() * 1e6 / line["elapsed"].as_f64().unwrap();
        assert!((0.5..=1.0).contains(&ratio), "{line}");
    }
    let stderr = stderr_of(&mut run(), 1);
    assert!(stderr.contains("exists: give -f to overwrite it"), "{stderr}");
    let nowhere = ["repeat", "--placements", "default", "--samples-file", "/nowhere/at/all"];
    let stderr = stderr_of(&mut bench(&nowhere), 1);
    assert!(stderr.contains("/nowhere/at"), "{stderr}");
}

#[test]
fn a_share_of_the_cache_needs_a_pool_and_whole_colors() {
    let arguments = ["repeat", "--placements", "default", "--cache-share", "1/4"];
    let stderr = stderr_of(&mut bench(&arguments), 1);
    assert!(stderr.contains("--cache-share needs placements from a pool"), "{stderr}");
}

#[test]
fn what_is_written_to_files_has_no_progress_and_no_escape_codes() {
    if !machine_declares_a_cache() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let text = dir.path().join("a.txt");
    let mut command = bench(&["repeat", "--allocations", "2", "--placements", "default"]);
    let assert = command.args(ONCE).arg("-o").arg(&text).assert().code(3);
    assert_eq!(assert.get_output().stdout, b"");
    let stderr = String::from_utf8(assert.get_output().stderr.clone()).unwrap();
    assert!(stderr.starts_with("huepage: done in part: 1 of 2 visits"), "{stderr}");
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
    bench(&["repeat", "--allocations", "2", "--placements", "default"])
        .args(ONCE)
        .args(["-o".as_ref(), path("a.svg").as_os_str(), "-o".as_ref(), path("a.json").as_os_str()])
        .args(["-o", "-"])
        .assert()
        .code(3);
    assert!(fs::read_to_string(path("a.svg")).unwrap().contains("<svg"));
    let json = fs::read(path("a.json")).unwrap();
    let report: serde_json::Value = serde_json::from_slice(&json).unwrap();
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
    let run = || {
        let mut command = bench(&["repeat", "--allocations", "1", "--placements", "default"]);
        command.args(ONCE).arg("-o").arg(&path);
        command
    };
    let stderr = stderr_of(&mut run(), 1);
    assert!(stderr.contains("exists: give -f to overwrite it"), "{stderr}");
    assert_eq!(fs::read_to_string(&path).unwrap(), "precious");
    run().arg("-f").assert().code(3);
    assert!(fs::read_to_string(&path).unwrap().contains("repeat"));
}

#[test]
fn out_of_time_the_visits_made_are_reported_and_the_exit_code_is_3() {
    if !machine_declares_a_cache() {
        return;
    }
    let arguments = [
        "repeat",
        "--allocations",
        "2",
        "--visits",
        "9",
        "--time-limit",
        "0",
        "--placements",
        "default",
    ];
    let report = json_of(bench(&arguments).arg("--json"), 3);
    assert_eq!(report["visits"], 1);
    let mut command = bench(&arguments);
    let stderr = stderr_of(&mut command, 3);
    assert!(stderr.contains("1 of 9 visits") && stderr.contains("--time-limit"), "{stderr}");
}

#[test]
fn what_memory_cannot_hold_is_refused_before_it_is_touched() {
    if !machine_declares_a_cache() {
        return;
    }
    for placements in ["default", "thp,stirred"] {
        let arguments = ["fft", "--allocations", "10000", "--placements", placements];
        let stderr = stderr_of(&mut bench(&arguments), 1);
        assert!(stderr.contains("are available: give fewer with --allocations"), "{stderr}");
    }
}
