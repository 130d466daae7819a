// SPDX-License-Identifier: MIT OR Apache-2.0
//! `huepage colors` from a user's side: the real binary, its output, messages and exit
//! codes. Nothing here depends on how fast anything is; if the binary reports that
//! colors cannot be measured here, a test is skipped with that message.

mod support;

use std::{
    fs::{self, File},
    process::Output,
    time::{Duration, Instant},
};

use serde_json::Value;
use support::{
    Unprivileged, alone, assert_plain, assert_refused, assert_silent, code, huepage, integer, json,
    measured, no_colors_here, share, stderr, unread,
};

fn colors(arguments: &[&str]) -> Output {
    huepage(&["colors"]).args(arguments).output().unwrap()
}

fn report(output: &Output) -> Value {
    assert_silent(output);
    json(output)
}

#[test]
fn bad_values_are_told_with_exit_code_2_before_anything_is_measured() {
    let begin = Instant::now();
    for (arguments, message) in [
        (&["--cpu", "first"][..], "invalid value 'first' for '--cpu <N>'"),
        (&["--cpu", "-1"], "unexpected argument '-1'"),
        (&["--cpu", "4294967296"], "4294967296 is not in 0..=4294967295"),
        (&["--cache", "nonsense"], "'nonsense' is no KEY=VALUE: write for example size=2M,ways=16"),
        (&["--cache", ""], "is no KEY=VALUE"),
        (&["--cache", "size=2M"], "ways is missing: write at least size=SIZE,ways=N"),
        (&["--cache", "size=2M,ways=15"], "2184 sets × 15 ways × 64 B is not 2 MiB"),
        (&["--cache", "size=2M,ways=16,color=red"], "'color' is no property of a cache"),
        (&["--pages", "0"], "0 is not in 1..=16777216"),
        (&["--pages", "16777217"], "16777217 is not in 1..=16777216"),
        (&["--pages", "many"], "invalid digit found in string"),
        (&["--colors-by", "pfn"], "[possible values: auto, frame-number, measurement]"),
        (&["--colors-by"], "a value is required for '--colors-by <HOW>'"),
        (&["--seed", "x"], "invalid value 'x' for '--seed <N>'"),
        (&["--seed", "18446744073709551616"], "number too large to fit in target type"),
        (&["--json=yes"], "unexpected value 'yes' for '--json'"),
        (&["--purple"], "unexpected argument '--purple'"),
        (&["purple"], "unexpected argument 'purple'"),
    ] {
        assert_refused(&colors(arguments), 2, message);
    }
    assert!(begin.elapsed() < Duration::from_secs(30));
}

#[test]
fn a_cpu_that_is_not_there_is_told_with_those_that_are() {
    for arguments in [
        &["--cpu", "99999"][..],
        &["--cpu", "1023", "--colors-by", "frame-number"],
        &["--cpu", "99999", "--colors-by", "measurement", "--cache", "size=2M,ways=16"],
    ] {
        let message = " is not available to this process: choose one of ";
        assert_refused(&colors(arguments), 2, message);
    }
}

#[test]
fn a_cache_of_one_color_is_told() {
    for by in ["auto", "measurement", "frame-number"] {
        let output = colors(&["--cache", "size=32k,ways=8", "--colors-by", by]);
        assert_refused(&output, 1, "a cache of 32 KiB and 8 ways has one color");
    }
}

/// 24 GB, 70 GB and 34 GB would be touched, for an hour or more.
#[test]
fn a_cache_that_no_core_has_is_refused_before_memory_is_taken() {
    for (cache, is) in [
        ("size=2G,ways=16", "a cache of 2 GiB and 16 ways has 32768 colors"),
        ("size=64G,ways=1", "a cache of 64 GiB and 1 ways has 16777216 colors"),
        ("size=4G,ways=1024", "a cache of 4 GiB and 1024 ways has 1024 colors"),
        ("size=4M,ways=4", "a cache of 4 MiB and 4 ways has 256 colors"),
    ] {
        for by in ["auto", "measurement"] {
            let begin = Instant::now();
            let text = assert_refused(&colors(&["--cache", cache, "--colors-by", by]), 1, is);
            assert!(text.contains("at most 8 MiB and 128 colors; give the "), "{text}");
            assert!(text.ends_with(" or --colors-by frame-number\n"), "{text}");
            assert!(begin.elapsed() < Duration::from_secs(10), "{cache}: {:?}", begin.elapsed());
        }
    }
}

#[test]
fn more_pages_than_there_is_memory_are_refused_rather_than_tried() {
    let meminfo = fs::read_to_string("/proc/meminfo").unwrap();
    let total = meminfo.lines().next().unwrap().split_whitespace().nth(1).unwrap();
    if total.parse::<u64>().unwrap() >= 64 << 20 {
        return println!("skipped: this machine has memory for all pages that can be asked for");
    }
    let output = colors(&["--pages", "16777216", "--cache", "size=1M,ways=16"]);
    let text = assert_refused(&output, 1, "16777216 pages are 64 GiB, and ");
    assert!(text.ends_with("give fewer with --pages\n"), "{text}");
}

/// Checks that hold for every method.
fn assert_consistent(report: &Value) {
    assert_eq!(report["schema"], "huepage.colors/1");
    assert_eq!(report["kind"], "measured");
    let page_size = integer(&report["page_size"]);
    let colors = integer(&report["colors"]);
    if report["cache"] != Value::Null {
        let cache = |field: &str| integer(&report["cache"][field]);
        assert_eq!(cache("size"), cache("ways") * cache("line") * cache("sets"));
        assert!(cache("level") >= 1);
        let expected = cache("sets") * cache("line") / page_size;
        assert_eq!(integer(&report["expected_colors"]), expected);
        assert_eq!(colors, expected);
    } else {
        assert_eq!(report["expected_colors"], Value::Null);
    }
    let sizes: Vec<u64> = report["class_sizes"].as_array().unwrap().iter().map(integer).collect();
    assert_eq!(sizes.len() as u64, colors);
    let assigned = integer(&report["assigned"]);
    assert_eq!(sizes.iter().sum::<u64>(), assigned);
    assert!(assigned <= integer(&report["pages"]));
    for part in ["discover", "assign", "verify"] {
        assert!(report["seconds"][part].as_f64().unwrap() >= 0.0, "{part}");
    }
    let chance = share(&report["frame_number_agreement_by_chance"]);
    assert!((chance - 1.0 / colors as f64).abs() < 1e-12);
    let attempts = report["evidence"]["attempts"].as_array().unwrap();
    assert_eq!(integer(&report["attempts"]), attempts.len() as u64);
}

#[test]
fn json_by_measurement_is_complete_and_consistent() {
    let _alone = alone();
    let arguments = ["colors", "--colors-by", "measurement", "--pages", "3000", "--json"];
    let Some(output) = measured(&mut huepage(&arguments)) else { return };
    let report = report(&output);
    assert_consistent(&report);
    assert_eq!(report["method"], "measurement");
    assert_eq!(report["reason"], "measurement, as asked for");
    assert_eq!(report["pages"], 3000);
    share(&report["agreement"]);
    if report["frame_number_agreement"] != Value::Null {
        share(&report["frame_number_agreement"]);
    }
    let attempts = report["evidence"]["attempts"].as_array().unwrap();
    let (believed, others) = attempts.split_last().unwrap();
    assert_eq!(believed["distrust"], Value::Null);
    assert_eq!(believed["colors"][0], report["colors"]);
    assert_eq!(believed["colors"][1], report["colors"]);
    assert!(others.iter().all(|attempt| attempt["distrust"].is_string()));
    assert!(report["seconds"]["discover"].as_f64().unwrap() > 0.0);
}

#[test]
fn frame_numbers_of_few_pages_do_not_contradict_the_reason() {
    let _alone = alone();
    let arguments = ["colors", "--pages", "10", "--json"];
    let Some(output) = measured(&mut huepage(&arguments)) else { return };
    let report = report(&output);
    let reason = report["reason"].as_str().unwrap();
    if !reason.contains("agreement") {
        return println!("skipped: {reason}");
    }
    let percent = (100.0 * share(&report["frame_number_agreement"])).round();
    assert!(reason.contains(&format!("({percent} % agreement, ")), "{reason}: {percent}");
}

#[test]
fn a_geometry_that_cannot_be_measured_is_told_with_the_one_that_is_declared() {
    let topology = report(&huepage(&["topology", "--json"]).output().unwrap());
    if topology["cache_to_color"] == Value::Null {
        return println!("skipped: no cache to color is declared");
    }
    let output = colors(&["--cache", "size=2G,ways=16"]);
    let text = assert_refused(&output, 1, ", which declares an L");
    assert!(text.contains("taken as size=2048M,ways=16,line=64,level=2 by --cache"), "{text}");
}

#[test]
fn json_by_frame_number_is_complete_and_consistent() {
    let by = ["--colors-by", "frame-number", "--cache", "size=16M,ways=16"];
    let output = colors(&[&by[..], &["--pages", "4097", "--json"]].concat());
    if stderr(&output).contains("frame numbers are hidden") {
        return println!("skipped: {}", stderr(&output));
    }
    let report = report(&output);
    assert_consistent(&report);
    assert_eq!(report["method"], "frame-number");
    assert_eq!(report["pages"], 4097);
    assert_eq!(report["assigned"], 4097, "a frame number is never unsure");
    assert_eq!(report["agreement"], Value::Null);
    assert_eq!(report["frame_number_agreement"], Value::Null, "nothing was checked");
    assert_eq!(report["attempts"], 0);
    assert_eq!(report["cache"]["size"], 16 << 20);
}

#[test]
fn auto_says_which_method_it_took_and_why() {
    let _alone = alone();
    let arguments = ["colors", "--pages", "2048", "--json"];
    let Some(output) = measured(&mut huepage(&arguments)) else { return };
    let report = report(&output);
    assert_consistent(&report);
    let reason = report["reason"].as_str().unwrap();
    let method = report["method"].as_str().unwrap();
    let begins = if method == "measurement" { "measurement: " } else { "frame numbers" };
    assert!(reason.starts_with(begins), "{method}: {reason}");
}

#[test]
fn text_in_a_file_is_plain_and_has_every_color() {
    let _alone = alone();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("colors.txt");
    let mut command = huepage(&["colors", "--pages", "2048", "--seed", "7"]);
    let Some(output) = measured(command.stdout(File::create(&path).unwrap())) else { return };
    assert_silent(&output);
    let text = fs::read_to_string(&path).unwrap();
    assert_plain(&text);
    let figure = |label: &str| -> usize {
        let line = text.lines().find(|line| line.starts_with(label)).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    };
    let sizes: Vec<usize> = text
        .lines()
        .skip_while(|line| *line != "pages per color:")
        .skip(1)
        .flat_map(|line| line.split_whitespace().skip(1).map(|size| size.parse().unwrap()))
        .collect();
    assert_eq!(sizes.len(), figure("colors "), "{text}");
    assert_eq!(sizes.iter().sum::<usize>(), figure("pages "), "{text}");
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let _alone = alone();
    let output = unread(&mut huepage(&["colors", "--pages", "256"]));
    if no_colors_here(&output) {
        return;
    }
    assert_silent(&output);
}

/// Half and twice the colors: a map by either would be wrong, although every page of it
/// would look right.
#[test]
fn a_geometry_that_is_not_true_ends_with_the_evidence_and_without_a_map() {
    let _alone = alone();
    let arguments = ["colors", "--colors-by", "measurement", "--pages", "256", "--json"];
    let Some(output) = measured(&mut huepage(&arguments)) else { return };
    let report = report(&output);
    let Some(ways) = report["cache"]["ways"].as_u64() else {
        return println!("skipped: this machine declares no geometry to depart from");
    };
    let size = integer(&report["cache"]["size"]);
    let found = integer(&report["colors"]);
    for (size, expected, format) in
        [(2 * size, 2 * found, "--colors-by=auto"), (size / 2, found / 2, "--json")]
    {
        if expected < 2 {
            continue;
        }
        let given = format!("size={size},ways={ways}");
        let begin = Instant::now();
        let output = colors(&["--cache", &given, format]);
        let text = assert_refused(&output, 1, "no color map could be trusted:\n  attempt 1: ");
        assert!(text.contains(&format!(" colors of {expected}, contrast ")), "{text}");
        assert!(begin.elapsed() < Duration::from_secs(60), "{given}: {:?}", begin.elapsed());
    }
}

#[test]
fn without_privileges_colors_are_measured_and_frame_numbers_said_to_be_hidden() {
    let Some(user) = Unprivileged::new() else { return };
    let _alone = alone();
    let Some(output) = measured(&mut user.command(&["colors", "--pages", "2048", "--json"])) else {
        return;
    };
    let report = report(&output);
    assert_consistent(&report);
    assert_eq!(report["method"], "measurement");
    assert_eq!(report["frame_number_agreement"], Value::Null);
    let reason = report["reason"].as_str().unwrap();
    if report["cache"] != Value::Null {
        assert_eq!(reason, "measurement: frame numbers are hidden (needs CAP_SYS_ADMIN)");
    }
}

#[test]
fn without_privileges_frame_numbers_are_refused_with_the_privilege_they_need() {
    let Some(user) = Unprivileged::new() else { return };
    let arguments = ["colors", "--colors-by", "frame-number", "--cache", "size=16M,ways=16"];
    let output = user.command(&arguments).output().unwrap();
    let text = assert_refused(&output, 1, "frame numbers are hidden: needs CAP_SYS_ADMIN");
    assert!(text.contains("--colors-by measurement"), "{text}");
}

#[test]
fn without_privileges_balanced_memory_is_served() {
    let Some(user) = Unprivileged::new() else { return };
    let _alone = alone();
    let placed = ["bench", "repeat", "--placements", "default,balanced", "--allocations", "3"];
    let arguments = [&placed[..], &["--visits", "2", "--time-limit", "5", "--json"]].concat();
    let Some(output) = measured(&mut user.command(&arguments)) else { return };
    let report = report(&output);
    let rows = report["rows"].as_array().unwrap();
    let placements: Vec<&Value> = rows.iter().map(|row| &row["placement"]).collect();
    assert_eq!(placements, ["default", "balanced"]);
    assert_eq!(report["allocations"], 3);
    assert!(rows.iter().all(|row| row["whole"]["median"].as_f64().unwrap() > 0.0));
    // Placed pages are even, whatever the moment.
    assert!(rows[1]["imbalance"].as_f64().unwrap() < 0.02, "{}", rows[1]);
}

#[test]
fn without_privileges_bin_hopping_names_what_it_lacks() {
    let Some(user) = Unprivileged::new() else { return };
    if fs::read_to_string("/proc/sys/vm/unprivileged_userfaultfd").is_ok_and(|on| on != "0\n") {
        return println!("skipped: this machine lets everybody handle page faults");
    }
    let _alone = alone();
    let arguments = ["bench", "repeat", "--placements", "sequence", "--time-limit", "0"];
    let Some(output) = measured(&mut user.command(&arguments)) else { return };
    if code(&output) != Some(1) {
        return println!("skipped: /dev/userfaultfd is open to everybody here");
    }
    let text = assert_refused(&output, 1, "placement sequence cannot be served here");
    assert!(text.contains("choose from --placements "), "{text}");
    assert!(text.contains("CAP_SYS_PTRACE") || text.contains("kernel"), "{text}");
}
