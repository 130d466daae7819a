// SPDX-License-Identifier: MIT OR Apache-2.0
//! `huepage map` of recorded maps: text, JSON and pictures.

mod support;

use std::{
    fs,
    path::{Path, PathBuf},
};

use resvg::usvg::{Options, Tree};
use serde_json::Value;
use support::{assert_done, assert_expected, code, files, huepage, json, stderr, stdout};
use unicode_width::UnicodeWidthStr;

fn maps() -> Vec<PathBuf> {
    files("tests/maps")
}

fn recorded(name: &str) -> String {
    format!("{}/tests/maps/{name}.json", env!("CARGO_MANIFEST_DIR"))
}

/// A made-up record with everything that a map can show: four kinds of memory, three
/// nodes with holes, all kinds of pages, a hostile name, shortfalls.
const ALL: &str = "numa-four-kinds-of-memory";

#[test]
fn every_recorded_map_reads_as_expected_within_80_columns() {
    let maps = maps();
    assert!(maps.len() >= 3, "{maps:?}");
    for path in maps {
        let record: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        for all in [false, true] {
            let arguments = ["map", "--input", path.to_str().unwrap(), "--all"];
            let output = huepage(&arguments[..if all { 4 } else { 3 }]).output().unwrap();
            let name = path.file_stem().unwrap().to_str().unwrap();
            let file = format!("map/{name}{}.txt", if all { "-all" } else { "" });
            assert_expected(&file, &stdout(&output));
            for line in stdout(&output).lines() {
                assert!(line.width() <= 80, "{name}: {line}");
                assert_eq!(line.trim_end(), line, "{name}: trailing space");
            }
            let partial = !record["shortfalls"].as_array().unwrap().is_empty();
            assert_eq!(code(&output), Some(if partial { 3 } else { 0 }), "{name}");
            assert_eq!(stderr(&output), "", "{name}");
        }
    }
}

#[test]
fn json_is_the_record_again() {
    for path in maps() {
        let json = json(&huepage(&["map", "--json", "--input"]).arg(&path).output().unwrap());
        let mut record: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        // Names are made safe when they are read.
        for (area, shown) in record["areas"]
            .as_array_mut()
            .unwrap()
            .iter_mut()
            .zip(json["areas"].as_array().unwrap())
        {
            if area["name"].as_str().unwrap().contains(char::is_control) {
                area["name"] = shown["name"].clone();
            }
        }
        assert_eq!(json, record, "{}", path.display());
    }
}

#[test]
fn nothing_a_terminal_acts_on_leaves_a_record() {
    let record = fs::read_to_string(recorded(ALL)).unwrap();
    // Not only in names: any user can write a record.
    let hostile = record
        .replace("Intel(R) Xeon(R)", r"\u001b]0;x\u0007\u202e")
        .replace(r#""needs":"CAP"#, r#""needs":"\u009b2J"#)
        .replace(r#""name":"L3""#, r#""name":"\u001b[2J</text>""#)
        .replace("6.12.41", r"6\r\n");
    assert_ne!(hostile, record);
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("hostile.json");
    fs::write(&path, hostile).unwrap();
    let path = path.to_str().unwrap();
    let svg = directory.path().join("map.svg");
    for arguments in
        [&["--json"][..], &["--all"], &[], &["-o", svg.to_str().unwrap(), "--by", "node"]]
    {
        let output = huepage(&["map", "--input", path]).args(arguments).output().unwrap();
        let shown =
            stdout(&output) + &stderr(&output) + &fs::read_to_string(&svg).unwrap_or_default();
        assert!(!shown.is_empty());
        let raw: Vec<char> =
            shown.chars().filter(|&c| c != '\n' && (c.is_control() || c == '\u{202e}')).collect();
        assert_eq!(raw, [], "{arguments:?}: {shown:?}");
    }
    let drawn = fs::read_to_string(&svg).unwrap();
    Tree::from_str(&drawn, &Options::default()).unwrap();
}

/// The SVG of a recorded map.
fn picture(record: &str, by: &str) -> String {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("map.svg");
    let arguments = ["map", "--input", record, "--by", by, "-o", path.to_str().unwrap()];
    let output = huepage(&arguments).output().unwrap();
    assert_done(&output);
    fs::read_to_string(path).unwrap()
}

#[test]
fn pictures_are_svg_of_1200_pixels_with_a_row_for_each_mapping() {
    for by in ["kind", "node", "color", "run"] {
        let svg = picture(&recorded(ALL), by);
        let tree = Tree::from_str(&svg, &Options::default()).unwrap();
        assert_eq!(tree.size().width(), 1200.0);
        assert_eq!(svg.matches("<title>").count(), 22, "{by}");
        for part in
            ["[anon:balanced buffer]", "column-store, PID 4242", ">320 (62%)<", ">random 50<"]
        {
            assert!(svg.contains(part), "{by}: {part}");
        }
        assert!(svg.contains("/tmp/\\u{1b}]0;owned"), "{by}");
        assert!(!svg.contains("<b>"), "{by}");
    }
}

#[test]
fn a_legend_names_what_is_there_and_nothing_else() {
    for (by, present, absent) in [
        ("kind", &["kind of page:", ">swapped 0.8%<", ">hugetlb 6.7%<"][..], &["unknown"][..]),
        ("node", &["NUMA node:", ">node 0 ", ">node 2 ", ">node 8 "], &["node 1 "]),
        (
            "color",
            &["color of the frame:", ">31<", "buffer &lt;a&gt; (reported by the program)"],
            &[">32<"],
        ),
        ("run", &[">4 KiB ", ">64 KiB+ ", ">2 MiB+ "], &["128 KiB+"]),
    ] {
        let svg = picture(&recorded(ALL), by);
        for part in present {
            assert!(svg.contains(part), "{by}: {part}");
        }
        for part in absent {
            assert!(!svg.contains(part), "{by}: {part}");
        }
    }
}

/// A map of `count` mappings: the areas of a recorded one, again and again.
fn of_mappings(count: usize, directory: &Path) -> String {
    let record = fs::read_to_string(recorded(ALL)).unwrap();
    let mut map: Value = serde_json::from_str(&record).unwrap();
    let areas = map["areas"].as_array().unwrap().clone();
    let mut many = Vec::new();
    for i in 0..count {
        let mut area = areas[i % areas.len()].clone();
        let length = area["end"].as_u64().unwrap() - area["start"].as_u64().unwrap();
        let start = 0x1000_0000_0000 + ((i as u64) << 36);
        area["start"] = start.into();
        area["end"] = (start + length).into();
        many.push(area);
    }
    let reserved = many.iter().map(|area| area["placement"]["pages"]["reserved"].as_u64().unwrap());
    let total = &mut map["total"]["pages"]["reserved"];
    *total = reserved.sum::<u64>().max(total.as_u64().unwrap()).into();
    map["areas"] = many.into();
    map["registered"] = Value::Array(Vec::new());
    let path = directory.join(format!("{count}.json"));
    fs::write(&path, map.to_string()).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn one_mapping_is_a_picture_and_of_two_thousand_the_small_ones_are_one_row() {
    let directory = tempfile::tempdir().unwrap();
    for (count, rows, folded) in [
        (1, 1, None),
        (24, 24, None),
        (26, 23, Some("3 smaller")),
        (2000, 39, Some("1961 smaller")),
    ] {
        let record = of_mappings(count, directory.path());
        let svg = picture(&record, "color");
        assert_eq!(svg.matches("<title>").count(), rows, "{count}");
        assert!(svg.contains(&format!(">{count} mapping")), "{count}");
        match folded {
            Some(name) => assert!(svg.contains(&format!("{name} mappings")), "{count}"),
            None => assert!(!svg.contains("smaller mapping"), "{count}"),
        }
        let tree = Tree::from_str(&svg, &Options::default()).unwrap();
        assert!(tree.size().height() < 1800.0, "{count}: {:?}", tree.size());
        assert!(svg.len() < 3_000_000, "{count}: {} bytes", svg.len());
        let text = huepage(&["map", "--input", &record]).output().unwrap();
        assert!(stdout(&text).lines().count() < 80, "{count}");
    }
}

#[test]
fn a_png_has_the_size_of_its_svg_and_the_ink_of_its_legend() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("map.png");
    let record = recorded(ALL);
    let output =
        huepage(&["map", "--input", &record, "-o", path.to_str().unwrap()]).output().unwrap();
    assert_eq!(code(&output), Some(3), "{output:?}");
    let pixmap = resvg::tiny_skia::Pixmap::load_png(&path).unwrap();
    let tree = Tree::from_str(&picture(&record, "kind"), &Options::default()).unwrap();
    let size = tree.size().to_int_size();
    assert_eq!((pixmap.width(), pixmap.height()), (size.width(), size.height()));
    // Anonymous memory, pages of zeros, swap: each more than its swatch.
    for (r, g, b) in [(0x00, 0x72, 0xb2), (0xf0, 0xe4, 0x42), (0xd5, 0x5e, 0x00)] {
        let ink = pixmap.pixels().iter().filter(|p| (p.red(), p.green(), p.blue()) == (r, g, b));
        assert!(ink.count() > 200, "{r:x}{g:x}{b:x}");
    }
}
