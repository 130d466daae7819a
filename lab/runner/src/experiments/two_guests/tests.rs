// SPDX-License-Identifier: MIT OR Apache-2.0
use serde_json::{Value, json};

use super::*;
use crate::{experiments::trial, results::Row};

/// Boots of one seed, of small machines.
fn small() -> Vec<Case> {
    let set = ["seed=1", "cache=1M", "host_memory=32M", "guest_memory=4M"];
    trial::cases(&EXPERIMENT, &set).unwrap()
}

/// As the guests write numbers.
fn written(numbers: impl IntoIterator<Item = u64>, letters: u32) -> String {
    const ALL: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digits = |number: u64| {
        (0..letters).rev().map(move |digit| ALL[(number >> (6 * digit)) as usize & 63] as char)
    };
    numbers.into_iter().flat_map(digits).collect()
}

/// Rows of a boot with these results.
fn rows(case: &Case, results: Vec<Value>) -> Vec<Row> {
    trial::rows(&EXPERIMENT, case, &trial::report(results, Vec::new()))
}

#[test]
fn hosts_and_guests_are_booted_once_and_put_together_in_all_ways() {
    let cases = small();
    let names: Vec<&str> = cases.iter().map(|case| case.guest).collect();
    assert_eq!(names, [&["host-memory"; 2][..], &["guest-frames"; 6]].concat());
    let halves = &cases[6].machine.kernel_options;
    assert_eq!(halves[0], "page_color=512K,ways=1");
    // A cache of 256 colors, guests of 1,024 pages, programs of 120. The host keeps the
    // order of machine 0 and gives machine 1 the second half of the colors, in order.
    let mut all = Vec::new();
    let colors: [fn(u64) -> u64; 2] = [|page| page % 256, |page| 128 + page % 128];
    for (machine, color) in colors.into_iter().enumerate() {
        for from in [0, 512] {
            let colors = written((from..from + 512).map(color), 2);
            all.push(json!({"backing": "in-order", "sets": false, "machine": machine,
                            "colors": colors}));
        }
    }
    let mut said = rows(&cases[0], all);
    assert_eq!(said.len(), 2);
    // Frames in a row, or all of one color of the guest's.
    for case in &cases[2..] {
        let stock = case.settings["guest"] == "stock";
        let frames = (0..120).map(|page| if stock { page % 4 * 256 + page / 4 } else { page });
        said.extend(rows(case, vec![json!({"frames": written(frames, 4)})]));
    }
    let composed = compose::all(&said).unwrap();
    let metric = |row: &Row, name: &str| row.metric(name).unwrap();
    // And the control.
    assert_eq!(composed.len(), 3 + 3);
    for row in &composed[3..] {
        assert_eq!(row.setting("host"), "reserved");
        assert_eq!(metric(row, "conflict_within"), metric(row, "believed"), "{row:?}");
        assert_eq!(metric(row, "one_distance"), 1.0, "{row:?}");
        // Both begin with color 0.
        assert_eq!(metric(row, "shared_colors"), 1.0, "{row:?}");
    }
    let guests = [("stock", 1.0), ("on", 0.0), ("on, half", 0.0)];
    for (row, (guest, within)) in composed.iter().zip(guests) {
        let settings = ["host", "backing", "sets", "guest"].map(|name| row.setting(name));
        assert_eq!(settings, ["stock", "in-order", "none", guest]);
        assert_eq!(metric(row, "believed"), within, "{row:?}");
        assert_eq!(metric(row, "conflict_within"), within, "{row:?}");
        assert_eq!(metric(row, "shared_colors"), 0.0, "{row:?}");
        assert_eq!(metric(row, "conflict_across"), within, "{row:?}");
        // Machine 1 starts again from color 128 after each 128 frames.
        assert!(metric(row, "in_order") > 0.99, "{row:?}");
        // Of machine 1 every other 128 frames are at another distance.
        assert_eq!(metric(row, "one_distance"), 0.75, "{row:?}");
        assert!(!row.metrics.contains_key("colors"), "{row:?}");
    }
}

#[test]
fn colors_of_both_guests_that_meet_are_told() {
    let cases = small();
    let line = |machine| {
        json!({"backing": "in-order", "sets": false, "machine": machine,
               "colors": written((0..1024).map(|page| page % 256), 2)})
    };
    let mut said = rows(&cases[0], vec![line(0), line(1)]);
    for case in &cases[2..] {
        said.extend(rows(case, vec![json!({"frames": written(0..120, 4)})]));
    }
    let row = &compose::all(&said).unwrap()[1];
    assert_eq!(row.metric("conflict_within"), Some(0.0));
    assert_eq!(row.metric("conflict_across"), Some(1.0));
    assert_eq!(row.metric("shared_colors"), Some(1.0));
}

#[test]
fn what_is_missing_or_makes_no_sense_is_named() {
    let case = trial::cases(&EXPERIMENT, &[]).unwrap().pop().unwrap();
    let report = trial::report(vec![json!({"frames": "AAAB"})], Vec::new());
    let error = said::rows(&case, &report).unwrap_err().to_string();
    assert!(error.contains("frames of 1 of 962 pages"), "{error}");
    assert!(compose::all(&[]).unwrap_err().to_string().contains("no host"));
    trial::refuses(
        &EXPERIMENT,
        &[
            ("seed=0", "seed=0"),
            ("cache=3K", "1 to 16 MiB"),
            ("host_memory=128M", "one and a half times"),
            ("guest_memory=5M", "huge pages"),
            ("fill=5", "more than half"),
        ],
    );
}
