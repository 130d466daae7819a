// SPDX-License-Identifier: MIT OR Apache-2.0
//! `huepage pressure` from a user's side: the real binary, its lines, messages and exit
//! codes. Other programs decide what is evicted here, so tests only check that figures
//! are possible; if the binary reports that colors cannot be measured here, a test is
//! skipped with that message.

mod support;

use std::{
    fs,
    io::{BufRead, BufReader, Lines},
    process::{Child, ChildStdout, Output, Stdio},
    time::Instant,
};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use support::{
    Unprivileged, alone, assert_plain, assert_refused, code, huepage, integer, json, measured,
    no_colors_here, share, stderr, stdout, unread,
};

fn pressure(arguments: &[&str]) -> Output {
    huepage(&["pressure"]).args(arguments).output().unwrap()
}

/// Succeeded, with nothing on standard error except that it took longer.
#[track_caller]
fn assert_done(output: &Output) {
    let text = stderr(output);
    assert_eq!(code(output), Some(0), "{text}");
    let patient =
        "huepage: other programs disturb the search for colors; it goes on for up to 30 s\n";
    assert!(text.is_empty() || text == patient, "{text}");
}

#[test]
fn bad_values_are_told_with_exit_code_2_before_anything_is_measured() {
    for (arguments, message) in [
        (&["--watch"][..], "a value is required for '--watch <SECONDS>'"),
        (&["--watch", "0"], "write a number of seconds from 0.1 to 86400"),
        (&["--watch", "1", "--count", "0"], "0 is not in 1.."),
        (&["--count", "3"], "--watch <SECONDS>"),
        (&["--cpu", "first"], "invalid value 'first' for '--cpu <N>'"),
        (&["--cpu", "99999"], " is not available to this process: choose one of "),
        (&["--cache", "size=2M"], "ways is missing: write at least size=SIZE,ways=N"),
        (&["--colors-by", "frame-number"], "unexpected argument '--colors-by'"),
        (&["-o", "x.pdf"], "use .svg, .png, .json or .txt"),
        (&["extra"], "unexpected argument 'extra'"),
    ] {
        assert_refused(&pressure(arguments), 2, message);
    }
}

#[test]
fn what_cannot_be_watched_or_written_is_told_with_exit_code_1() {
    let directory = tempfile::tempdir().unwrap();
    let taken = directory.path().join("taken.svg");
    fs::write(&taken, "precious").unwrap();
    let taken = taken.to_str().unwrap();
    for (arguments, message) in [
        (&["-o", taken][..], "exists: give -f to overwrite it"),
        (&["-o", "/nonexistent/a.svg"], "/nonexistent is no directory"),
        (&["--cache", "size=32k,ways=8"], "a cache of 32 KiB and 8 ways has one color"),
    ] {
        assert_refused(&pressure(arguments), 1, message);
    }
    assert_eq!(fs::read_to_string(taken).unwrap(), "precious");
}

/// Checks that hold whatever other programs do.
fn assert_consistent(report: &Value) {
    assert_eq!(report["schema"], "huepage.pressure/1");
    assert_eq!(report["kind"], "measured");
    let colors = integer(&report["colors"]) as usize;
    let looks = |of: &Value| {
        let looks = integer(&of["looks"]);
        assert!(integer(&of["quiet_looks"]) <= looks && integer(&of["interrupted_looks"]) <= looks);
        let shares = of["color_shares"].as_array().unwrap();
        assert_eq!(shares.len(), colors);
        assert!(shares.iter().filter(|share| !share.is_null()).all(|value| share(value) >= 0.0));
        looks
    };
    let all = looks(report);
    if !report["evicted"].is_null() {
        let [mean, median, p95] =
            ["mean", "median", "p95"].map(|part| share(&report["evicted"][part]));
        assert!(median <= p95 && (mean > 0.0 || p95 == 0.0), "{}", report["evicted"]);
        // Left alone for the planned time, or longer.
        assert!(report["wait"].as_f64().unwrap() >= 0.000_3);
    }
    if !report["steal"].is_null() {
        share(&report["steal"]);
    }
    let series = report["series"].as_array().unwrap();
    match report["covers"].as_str() {
        Some("interval") => assert!(series.is_empty()),
        Some("run") => assert_eq!(series.iter().map(looks).sum::<u64>(), all),
        other => panic!("{other:?}"),
    }
}

#[test]
fn json_is_complete_and_consistent_and_the_same_run_is_a_picture() {
    let _alone = alone();
    let directory = tempfile::tempdir().unwrap();
    let [svg, text] = ["run.svg", "run.txt"].map(|name| directory.path().join(name));
    let [svg_name, text_name] = [&svg, &text].map(|path| path.to_str().unwrap());
    let arguments = ["pressure", "--json", "-o", svg_name, "-o", text_name];
    let Some(output) = measured(&mut huepage(&arguments)) else { return };
    assert_done(&output);
    let report = json(&output);
    assert_consistent(&report);
    assert_eq!(report["covers"], "run");
    assert!(integer(&report["looks"]) > 0);
    let text = fs::read_to_string(text).unwrap();
    assert_plain(&text);
    let looks = format!("\nlooks      {} in ", report["looks"]);
    assert!(text.contains(&looks), "{looks}: {text}");
    let table = text.split_once("per color:\n").unwrap().1;
    assert_eq!(table.matches(['%', '-']).count() as u64, {
        // Each row of eight begins with its range.
        integer(&report["colors"]) + table.lines().count() as u64
    });
    let svg = fs::read_to_string(svg).unwrap();
    assert!(svg.starts_with("<svg") && svg.contains(&format!(">{} looks in ", report["looks"])));
}

/// The lines that a watch prints as they come, the first of which has come; `None` where
/// there are no colors here.
fn watch(arguments: &[&str]) -> Option<(Child, String, Lines<BufReader<ChildStdout>>)> {
    let mut command = huepage(&["pressure", "--watch"]);
    command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let Some(first) = lines.next() else {
        let output = child.wait_with_output().unwrap();
        assert!(no_colors_here(&output), "{}", stderr(&output));
        return None;
    };
    Some((child, first.unwrap(), lines))
}

/// Time that the main thread has run, in seconds, as the kernel counts it.
fn ran(child: &Child) -> Option<f64> {
    let path = format!("/proc/{}/schedstat", child.id());
    let text = fs::read_to_string(path).ok()?;
    Some(text.split(' ').next()?.parse::<f64>().unwrap() * 1e-9)
}

/// From the first line to the last, so without discovery. A ratio, since the program
/// keeps to its share however slow the machine is.
#[test]
fn it_takes_less_than_two_percent_of_the_cpu_while_it_watches() {
    let _alone = alone();
    let arguments = ["0.5", "--count", "7", "--json"];
    let Some((mut child, first, mut lines)) = watch(&arguments) else { return };
    let before = (Instant::now(), ran(&child));
    let mut reports = vec![first];
    reports.extend(lines.by_ref().take(5).map(Result::unwrap));
    let after = (Instant::now(), ran(&child));
    reports.extend(lines.map(Result::unwrap));
    assert!(child.wait().unwrap().success());
    let reports: Vec<Value> =
        reports.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    reports.iter().for_each(assert_consistent);
    let (run, intervals) = reports.split_last().unwrap();
    assert_eq!((intervals.len(), run["covers"].as_str()), (7, Some("run")));
    assert!(intervals.iter().all(|interval| interval["covers"] == "interval"));
    let looks = |report: &Value| integer(&report["looks"]);
    assert!(intervals.iter().map(looks).sum::<u64>() <= looks(run));
    assert!(share(&run["cpu_share"]) < 0.02, "{run}");
    let Some((before_ran, after_ran)) = before.1.zip(after.1) else {
        return println!("skipped: this kernel does not tell how long a thread ran");
    };
    let share = (after_ran - before_ran) / (after.0 - before.0).as_secs_f64();
    assert!(share < 0.02, "{share}");
}

#[test]
fn lines_in_a_pipe_are_plain_have_one_heading_and_end_with_the_summary() {
    let _alone = alone();
    let arguments = ["pressure", "--watch", "0.1", "--count", "25"];
    let Some(output) = measured(&mut huepage(&arguments)) else { return };
    assert_done(&output);
    let text = stdout(&output);
    assert_plain(&text);
    let (lines, summary) = text.split_once("\n\n").unwrap();
    assert_eq!(text.matches("most (color)").count(), 1);
    assert_eq!(lines.lines().count(), 1 + 25, "{text}");
    let seconds: Vec<f64> = lines
        .lines()
        .skip(1)
        .map(|line| line.split_whitespace().next().unwrap().parse().unwrap())
        .collect();
    assert!(seconds.is_sorted(), "{text}");
    assert!(summary.starts_with("CPU ") && summary.contains("\nown cost "), "{summary}");
}

#[test]
fn a_signal_ends_it_with_the_summary() {
    let _alone = alone();
    for signal in [Signal::INT, Signal::TERM] {
        // The heading comes with the first line, which comes while it watches.
        let Some((mut child, _, lines)) = watch(&["0.2"]) else { return };
        kill_process(Pid::from_child(&child), signal).unwrap();
        let rest: Vec<String> = lines.map(Result::unwrap).collect();
        assert_eq!(child.wait().unwrap().code(), Some(0), "{signal:?}");
        assert!(rest.iter().any(|line| line.starts_with("own cost ")), "{rest:?}");
    }
}

#[test]
fn it_ends_when_nobody_reads_it_any_more() {
    let _alone = alone();
    for arguments in [&["pressure", "--watch", "0.1"][..], &["pressure"]] {
        let output = unread(&mut huepage(arguments));
        if no_colors_here(&output) {
            return;
        }
        assert_done(&output);
    }
}

#[test]
fn it_needs_no_privilege() {
    let Some(user) = Unprivileged::new() else { return };
    let _alone = alone();
    let arguments = ["pressure", "--watch", "0.3", "--count", "1", "--json"];
    let Some(output) = measured(&mut user.command(&arguments)) else { return };
    assert_done(&output);
    stdout(&output)
        .lines()
        .for_each(|line| assert_consistent(&serde_json::from_str(line).unwrap()));
}
