// SPDX-License-Identifier: MIT OR Apache-2.0
//! docs/json.md against what the real binary prints: every field it prints is
//! documented, with a type that fits, and every field documented is printed.

mod support;

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::PathBuf,
};

use serde_json::Value;
use support::{
    alone, code, huepage, no_colors_here,
    run::{can_place, report, run},
    stdout,
};

/// Path of each documented field of a schema to its type.
fn documented(schema: &str) -> BTreeMap<String, String> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/json.md");
    let text = fs::read_to_string(path).unwrap();
    let heading = format!("## `{schema}`\n");
    let (_, section) = text.split_once(&heading).unwrap_or_else(|| panic!("no {heading}"));
    let section = section.split("\n## ").next().unwrap();
    section
        .lines()
        .filter_map(|line| {
            let mut cells = line.strip_prefix("| `")?.split(" | ");
            let path = cells.next()?.strip_suffix('`').unwrap();
            Some((path.to_owned(), cells.next().unwrap().to_owned()))
        })
        .collect()
}

/// Whether a value is of a documented type, such as `integer, bytes, or null`.
fn fits(value: &Value, of: &str) -> bool {
    let entries = |list: &[Value], of: &str| list.iter().all(|entry| fits(entry, of));
    match value {
        Value::Null => of.ends_with("or null"),
        Value::Bool(_) => of.starts_with("boolean"),
        Value::String(_) => of.starts_with("string"),
        Value::Object(_) => of.starts_with("object"),
        Value::Number(number) if number.is_u64() => {
            of.starts_with("integer") || of.starts_with("number")
        }
        Value::Number(_) => of.starts_with("number"),
        Value::Array(list) => match of.strip_prefix("list of ") {
            Some("objects") => entries(list, "object"),
            Some("strings") => entries(list, "string"),
            Some("integers") => entries(list, "integer"),
            Some("numbers") => entries(list, "number"),
            Some("numbers or nulls") => entries(list, "number or null"),
            Some("2 integers") => list.len() == 2 && entries(list, "integer"),
            Some("4 integers") => list.len() == 4 && entries(list, "integer"),
            _ => false,
        },
    }
}

/// Checks all fields of `value` and notes them as seen.
fn check(
    value: &Value,
    path: &str,
    documented: &BTreeMap<String, String>,
    seen: &mut BTreeSet<String>,
) {
    match value {
        Value::Object(fields) => {
            for (name, field) in fields {
                let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                let of = documented.get(&path).unwrap_or_else(|| panic!("{path} is undocumented"));
                assert!(fits(field, of), "{path} is documented as {of}: {field}");
                seen.insert(path.clone());
                // Its names are paths on the machine recorded.
                if path != "files" {
                    check(field, &path, documented, seen);
                }
            }
        }
        Value::Array(list) => {
            list.iter().for_each(|entry| check(entry, &format!("{path}[]"), documented, seen));
        }
        _ => {}
    }
}

/// Checks reports of one schema, which together show every field of it.
fn check_all(schema: &str, reports: &[Value]) {
    let documented = documented(schema);
    let mut seen = BTreeSet::new();
    for report in reports {
        assert_eq!(report["schema"], schema);
        check(report, "", &documented, &mut seen);
    }
    let never: Vec<&String> = documented.keys().filter(|path| !seen.contains(*path)).collect();
    assert!(never.is_empty(), "{schema} documents fields that are never printed: {never:?}");
}

fn machines() -> Vec<PathBuf> {
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/../huepage/tests/machines");
    fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect()
}

fn printed(arguments: &[&str]) -> Value {
    let output = huepage(arguments).output().unwrap();
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{arguments:?}: {error}: {output:?}"))
}

#[test]
fn every_field_of_a_topology_is_documented() {
    let mut reports: Vec<Value> = machines()
        .iter()
        .map(|path| printed(&["topology", "--json", "--input", path.to_str().unwrap()]))
        .collect();
    reports.push(printed(&["topology", "--json", "--no-measure"]));
    check_all("huepage.topology/1", &reports);
}

#[test]
fn every_field_of_a_recorded_machine_is_documented() {
    let read = |path: PathBuf| serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
    let mut reports: Vec<Value> = machines().into_iter().map(read).collect();
    reports.push(printed(&["topology", "--no-measure", "--record", "-"]));
    check_all("huepage.recorded-machine/1", &reports);
}

/// A kernel that had all of them would leave `why` unseen: no such kernel is stock.
#[test]
fn every_field_of_features_is_documented() {
    check_all("huepage.features/1", &[printed(&["features", "--json"])]);
}

#[test]
fn every_field_of_a_map_is_documented() {
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/maps");
    let paths = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let mut reports: Vec<Value> =
        paths.map(|path| printed(&["map", "--json", "--input", path.to_str().unwrap()])).collect();
    reports.push(printed(&["map", "--json", "--", "true"]));
    check_all("huepage.map/1", &reports);
}

/// One was recorded in a guest with merge domains, after `tests/programs/merge.c`.
#[test]
fn every_field_of_merged_pages_is_documented() {
    let recorded = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/merged/domains.json");
    let recorded = serde_json::from_str(&fs::read_to_string(recorded).unwrap()).unwrap();
    check_all("huepage.merged/1", &[recorded, printed(&["merged", "--json"])]);
}

/// A run on a machine as it is may lack quiet moments; those in results/ did not.
#[test]
fn every_field_of_a_benchmark_is_documented() {
    let _alone = alone();
    let kept = concat!(env!("CARGO_MANIFEST_DIR"), "/../../results");
    let kept = ["bench-working-set.json", "matmul.json"].map(|name| {
        let text = fs::read_to_string(format!("{kept}/{name}")).unwrap();
        serde_json::from_str(&text).unwrap()
    });
    let arguments = ["bench", "repeat", "--visits", "2", "--time-limit", "0", "--json"];
    let mut command = huepage(&arguments);
    let rest = ["--placements", "default", "--cache", "size=256k,ways=8"];
    let output = command.args(rest).output().unwrap();
    assert_eq!(code(&output), Some(3), "done in part: one round of two");
    let here = serde_json::from_str(&stdout(&output)).unwrap();
    check_all("huepage.bench/2", &[&kept[..], &[here]].concat());
}

/// Of these, some have figures, kept in results/, since six quiet runs of each arm
/// are not to be had on every machine.
#[test]
fn every_field_of_a_comparison_of_programs_is_documented() {
    let _alone = alone();
    let kept = concat!(env!("CARGO_MANIFEST_DIR"), "/../../results/bench-exec");
    let kept = ["true.json", "chase.json"].map(|name| -> Value {
        serde_json::from_str(&fs::read_to_string(format!("{kept}/{name}")).unwrap()).unwrap()
    });
    let arguments = ["bench", "exec", "--runs", "2", "--time-limit", "0", "--json", "--", "true"];
    let output = huepage(&arguments).output().unwrap();
    let mut reports = kept.to_vec();
    if code(&output) == Some(3) {
        reports.push(serde_json::from_str(&stdout(&output)).unwrap());
    } else {
        println!("without a run here, where nothing can be placed: {output:?}");
    }
    check_all("huepage.bench-exec/1", &reports);
}

#[test]
fn every_field_of_a_slice_is_documented() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("samples");
    let arguments = ["bench", "repeat", "--visits", "2", "--time-limit", "0", "--samples-file"];
    let mut command = huepage(&arguments);
    let rest = ["--placements", "default", "--cache", "size=256k,ways=8"];
    assert_eq!(code(&command.arg(&path).args(rest).output().unwrap()), Some(3));
    let text = fs::read_to_string(path).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    // Each line is a part of what the schema says of a file.
    let merged = lines.fold(Value::Object(Default::default()), |mut all, line| {
        all.as_object_mut().unwrap().extend(line.as_object().unwrap().clone());
        all
    });
    check_all("huepage.bench-samples/1", &[merged]);
}

#[test]
fn every_field_of_colors_is_documented() {
    let _alone = alone();
    let arguments = ["colors", "--pages", "512", "--json", "--colors-by", "measurement"];
    let output = huepage(&arguments).output().unwrap();
    if no_colors_here(&output) {
        return;
    }
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    if report["cache"] == Value::Null {
        return println!("skipped: this machine declares no cache to show");
    }
    check_all("huepage.colors/1", &[report]);
}

#[test]
fn every_field_of_a_palette_is_documented() {
    let _alone = alone();
    let home = tempfile::tempdir().unwrap();
    let run = |argument: &str| {
        let mut command = huepage(&["palette", "--json", argument]);
        command.env("XDG_RUNTIME_DIR", home.path()).output().unwrap()
    };
    let output = run("--make");
    if no_colors_here(&output) {
        return;
    }
    let reports: Vec<Value> = [output, run("--remove")]
        .iter()
        .map(|output| serde_json::from_slice(&output.stdout).unwrap())
        .collect();
    if reports[0]["cache"] == Value::Null {
        return println!("skipped: this machine declares no cache to show");
    }
    check_all("huepage.palette/1", &reports);
}

#[test]
fn every_field_of_pressure_is_documented() {
    let _alone = alone();
    let output =
        huepage(&["pressure", "--watch", "0.5", "--count", "1", "--json"]).output().unwrap();
    if no_colors_here(&output) {
        return;
    }
    let reports: Vec<Value> =
        stdout(&output).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    if reports[0]["cache"] == Value::Null {
        return println!("skipped: this machine declares no cache to show");
    }
    check_all("huepage.pressure/1", &reports);
}

#[test]
fn every_field_of_a_run_is_documented() {
    let _alone = alone();
    if !can_place() {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("report");
    let status = run(&["--report", path.to_str().unwrap(), "--", "sleep", "1"]).status().unwrap();
    assert!(status.success());
    check_all("huepage.run/1", &[report(&path)]);
}

#[test]
fn a_wrong_type_or_a_field_without_words_is_found() {
    let fields = BTreeMap::from([("a".to_owned(), "integer or null".to_owned())]);
    let found = |json: &str| {
        let value: Value = serde_json::from_str(json).unwrap();
        std::panic::catch_unwind(|| check(&value, "", &fields, &mut BTreeSet::new())).is_err()
    };
    assert!(!found(r#"{"a": 1}"#) && !found(r#"{"a": null}"#));
    assert!(found(r#"{"a": 1.5}"#) && found(r#"{"a": "1"}"#) && found(r#"{"a": [1]}"#));
    assert!(found(r#"{"b": 1}"#) && found(r#"{"a": {"b": 1}}"#));
}
