// SPDX-License-Identifier: MIT OR Apache-2.0
//! `huepage bench exec` from a user's side: the real binary, programs that succeed and
//! that fail. No test depends on how fast anything was.

mod support;

use std::{
    fs,
    io::{BufRead, BufReader, Lines},
    os::unix::process::CommandExt,
    path::PathBuf,
    process::{Child, ChildStderr, Command, Output, Stdio},
    time::Duration,
};

use assert_cmd::cargo::cargo_bin;
use rustix::process::{Pid, Signal, kill_process_group};
use support::{
    alone, assert_plain, assert_refused, code, huepage, json,
    run::{placing, with_libraries},
    stderr, stdout,
};

/// One round, whatever the machine is busy with; then time is up.
fn once(arguments: &[&str]) -> Output {
    let mut command = with_libraries(huepage(&["bench", "exec", "--time-limit", "0"]));
    command.args(arguments).output().unwrap()
}

#[test]
fn usage_errors_exit_with_2_and_say_what_is_valid() {
    for (arguments, message) in [
        (&["--runs", "0", "true"][..], "0 is not in 1..=100000"),
        (&["--warm", "-1", "true"], "-1 is not in 0..=1000"),
        (&["-o", "a.pdf", "true"], "use .svg, .png, .json or .txt"),
        (&["--cpu", "99999", "true"], "CPU 99999"),
        (&["--rusn", "5", "true"], "'--runs'"),
        (&["--run-option=--bogus", "true"], "--run-option: unexpected argument '--bogus'"),
        (&["--run-option=--share=9", "true"], "--run-option: invalid value '9'"),
        (&["--cpu", "0", "--all-cpus", "true"], "cannot be used with"),
        (&[], "<PROGRAM>"),
    ] {
        assert_refused(&once(arguments), 2, message);
    }
}

#[test]
fn what_cannot_be_run_or_written_is_told_before_anything_is_measured() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("a.json");
    fs::write(&file, "precious").unwrap();
    let file = file.to_str().unwrap();
    for (arguments, message) in [
        (&["--", "/nonexistent/program"][..], "cannot run '/nonexistent/program': No such file"),
        (&["-o", file, "--", "true"], "exists: give -f to overwrite it"),
        (&["--input", "/nonexistent/input", "--", "true"], "--input /nonexistent/input: No such"),
        (&["--setup", "exit 7", "--", "true"], "--setup 'exit 7' ended with exit code 7"),
        (&["--prepare", "exit 8", "--", "true"], "--prepare 'exit 8' ended with exit code 8"),
    ] {
        assert_refused(&once(arguments), 1, message);
    }
    assert_eq!(fs::read_to_string(file).unwrap(), "precious");
}

#[test]
fn a_program_that_fails_is_an_error_with_its_last_words() {
    let output = once(&["--", "sh", "-c", "echo some words >&2; exit 3"]);
    let text = assert_refused(&output, 1, "warm-up run 1, default: 'sh' ended with exit code 3");
    assert!(text.contains("--ignore-failure") && text.contains("some words"), "{text}");
}

#[test]
fn failures_are_counted_where_they_are_ignored() {
    let Some(_alone) = placing() else { return };
    let output = once(&["--ignore-failure", "--runs", "2", "--json", "--", "sh", "-c", "exit 3"]);
    assert_eq!(code(&output), Some(3), "{output:?}");
    let report = json(&output);
    for arm in report["arms"].as_array().unwrap() {
        assert_eq!((&arm["runs"], &arm["failures"]), (&1.into(), &1.into()));
    }
    assert!(report["runs"].as_array().unwrap().iter().all(|run| run["succeeded"] == false));
}

#[test]
fn a_comparison_with_what_cannot_be_placed_is_refused() {
    let output = huepage(&["bench", "exec", "--time-limit", "0", "--ignore-failure", "--", "true"])
        .env("HUEPAGE_PRELOAD", "/nonexistent/library")
        .output()
        .unwrap();
    let text = assert_refused(&output, 1, "placed: 'huepage run --must' ended with exit code 125");
    assert!(text.contains("/nonexistent/library"), "its reason is told: {text}");
}

#[test]
fn a_program_that_does_nothing_is_run_by_all_arms() {
    let Some(_alone) = placing() else { return };
    let output = once(&["--runs", "2", "--json", "--warm", "2", "--", "true"]);
    assert_eq!(code(&output), Some(3), "one round of two: {output:?}");
    let report = json(&output);
    assert_eq!(report["schema"], "huepage.bench-exec/1");
    assert_eq!((&report["rounds"], &report["warm"]), (&1.into(), &2.into()));
    assert_eq!(report["verdict"]["kind"], "cannot-tell");
    let mut arms: Vec<&str> =
        report["runs"].as_array().unwrap().iter().map(|run| run["arm"].as_str().unwrap()).collect();
    arms.sort();
    assert_eq!(arms, ["control", "default", "placed"]);
    for run in report["runs"].as_array().unwrap() {
        assert!(run["elapsed"].as_f64().unwrap() > 0.0 && run["succeeded"] == true, "{run}");
    }
    let end = stderr(&output);
    assert!(end.contains("done in part: 1 of 2 runs") && end.contains("--time-limit"), "{end}");
}

/// A program that takes memory for long enough to be placed.
const BUSY: [&str; 3] = [
    "sh",
    "-c",
    "s=x; while [ ${#s} -lt 1000000 ]; do s=$s$s; done; sleep 1.5; [ ${#s} -ge 1000000 ]",
];

#[test]
fn the_report_shows_that_the_placed_arm_was_placed() {
    let Some(_alone) = placing() else { return };
    // Colors come from frame numbers, so that the test does not depend on other
    // programs on this machine.
    let options = ["--run-option=--backend=frame-number", "--run-option=--budget=100%"];
    let arguments = ["--runs", "1", "--no-control", "--json", options[0], options[1], "--"];
    let output = once(&[&arguments[..], &BUSY].concat());
    if stderr(&output).contains("frame number") {
        return println!("skipped: {}", stderr(&output));
    }
    assert_eq!(code(&output), Some(0), "{output:?}");
    let report = json(&output);
    assert_eq!(report["arms"].as_array().unwrap().len(), 2, "no control");
    let placing = &report["placing"];
    assert!(placing["pages_placed"].as_u64().unwrap() > 100, "{placing}");
    assert!(report["placed_by"].as_array().unwrap().iter().any(|word| word == "--must"));
}

#[test]
fn the_text_fits_and_the_program_is_silent_unless_asked() {
    let Some(_alone) = placing() else { return };
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| -> PathBuf { directory.path().join(name) };
    let (text, picture) = (path("a.txt"), path("a.svg"));
    let run = |more: &[&str]| {
        let files = ["-f", "-o", text.to_str().unwrap(), "-o", picture.to_str().unwrap()];
        once(&[&files[..], more, &["--runs", "1", "--", "echo", "hello"]].concat())
    };
    let output = run(&[]);
    assert_eq!((code(&output), stdout(&output)), (Some(0), String::new()), "{output:?}");
    let written = fs::read_to_string(&text).unwrap();
    assert_plain(&written);
    let flat = written.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat.contains("'echo hello'") && flat.contains("Cannot tell here"), "{written}");
    assert!(fs::read_to_string(&picture).unwrap().contains("<svg"));
    // Three warm-up runs, and three that count; standard output is for figures.
    let shown = run(&["--show-output"]);
    assert_eq!((stdout(&shown), stderr(&shown).matches("hello\n").count()), (String::new(), 6));
}

/// While a program runs, which stays until it is ended; its PID, and the rest of
/// standard error.
fn during_a_run() -> (Child, Pid, Lines<BufReader<ChildStderr>>) {
    let script = "echo $$; exec sleep 600";
    // Where tests run in the background, the signal is ignored from the start.
    let mut huepage = Command::new("env")
        .arg("--default-signal=INT")
        .arg(cargo_bin("huepage"))
        .args(["bench", "exec", "--show-output", "--", "sh", "-c", script])
        .process_group(0)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(huepage.stderr.take().unwrap()).lines();
    let pid = lines.find_map(|line| line.unwrap().parse().ok());
    (huepage, Pid::from_raw(pid.expect("the PID of the program")).unwrap(), lines)
}

#[test]
fn the_program_ends_with_who_runs_it() {
    let _alone = alone();
    let (mut huepage, program, _said) = during_a_run();
    huepage.kill().unwrap();
    huepage.wait().unwrap();
    // The process that inherits it may let it stay as a zombie.
    let stat = format!("/proc/{}/stat", program.as_raw_pid());
    while fs::read_to_string(&stat).is_ok_and(|stat| !stat.contains(") Z ")) {
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// As a terminal sends it: to both.
#[test]
fn an_interrupt_before_the_first_round_is_over_ends_it_as_a_shell_expects() {
    let _alone = alone();
    let (mut huepage, _, _said) = during_a_run();
    kill_process_group(Pid::from_child(&huepage), Signal::INT).unwrap();
    assert_eq!(huepage.wait().unwrap().code(), Some(130));
}

#[test]
fn setup_comes_once_and_prepare_before_each_run() {
    let Some(_alone) = placing() else { return };
    let directory = tempfile::tempdir().unwrap();
    let log = directory.path().join("log");
    let note = |word: &str| format!("echo {word} >> {}", log.display());
    let (setup, prepare) = (note("setup"), note("prepare"));
    let arguments =
        ["--setup", &setup, "--prepare", &prepare, "--runs", "1", "--no-control", "--", "true"];
    assert_eq!(code(&once(&arguments)), Some(0));
    let lines = fs::read_to_string(log).unwrap();
    assert_eq!(lines, format!("setup\n{}", "prepare\n".repeat(4)));
    // The binary under test places programs, wherever it was called from.
    assert!(cargo_bin("huepage").is_absolute());
}
