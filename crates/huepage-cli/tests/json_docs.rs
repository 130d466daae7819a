// SPDX-License-Identifier: MIT OR Apache-2.0
//! Compares the output of the real binary with the schemas in docs/schemas: every field
//! that it prints is described, with a type that fits, and every field described is
//! printed. The schemas are made from docs/json.md.

mod support;

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use serde_json::{Value, json};
use support::{
    alone, code, files, huepage, json, measured,
    run::{placing, report, run},
    schema::{Formats, closed, fields, present},
    stdout,
};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// Where the schema of a format is kept: `huepage.map/1` in map-1.json.
fn schema_path(name: &str) -> PathBuf {
    let file = name.strip_prefix("huepage.").unwrap().replace('/', "-");
    Path::new(ROOT).join(format!("docs/schemas/{file}.json"))
}

fn read(path: impl AsRef<Path>) -> Value {
    let path = path.as_ref();
    let text = fs::read_to_string(path).unwrap_or_else(|why| panic!("{}: {why}", path.display()));
    serde_json::from_str(&text).unwrap()
}

/// Asserts that documents are of a schema, as exactly as this version prints them.
fn assert_valid(schema: &Value, documents: &[Value]) {
    let validator = jsonschema::validator_for(&closed(schema)).unwrap();
    for document in documents {
        let errors: Vec<String> = validator
            .iter_errors(document)
            .map(|error| format!("{}: {error:.300}", error.instance_path()))
            .collect();
        assert!(errors.is_empty(), "{}: {errors:#?}", schema["title"]);
    }
}

/// Asserts that documents are of a schema, and that together they have every field of it.
fn check_all(name: &str, documents: &[Value]) {
    let schema = read(schema_path(name));
    assert_valid(&schema, documents);
    let seen: BTreeSet<String> =
        documents.iter().flat_map(|document| present(&schema, document, "")).collect();
    let all = fields(&schema, "");
    let never: Vec<&String> = all.difference(&seen).collect();
    assert!(never.is_empty(), "{name} describes fields that are never printed: {never:?}");
}

#[test]
fn schemas_are_as_the_documentation_has_them() {
    let document = fs::read_to_string(Path::new(ROOT).join("docs/json.md")).unwrap();
    let schemas = Formats::of(&document).schemas();
    for (name, schema) in &schemas {
        jsonschema::meta::validate(schema).unwrap();
        let path = schema_path(name);
        let text = serde_json::to_string_pretty(schema).unwrap() + "\n";
        if std::env::var_os("HUEPAGE_BLESS").is_some() {
            fs::write(&path, &text).unwrap();
        }
        let kept = fs::read_to_string(&path).unwrap_or_default();
        assert!(kept == text, "{} is not what docs/json.md describes", path.display());
    }
    let kept = fs::read_dir(Path::new(ROOT).join("docs/schemas")).unwrap();
    assert_eq!(kept.count(), schemas.len(), "docs/schemas has a file for no format");
}

fn machines() -> Vec<PathBuf> {
    files("../huepage/tests/machines")
}

fn printed(arguments: &[&str]) -> Value {
    json(&huepage(arguments).output().unwrap())
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
    let mut reports: Vec<Value> = machines().into_iter().map(read).collect();
    reports.push(printed(&["topology", "--no-measure", "--record", "-"]));
    check_all("huepage.recorded-machine/1", &reports);
}

/// On a kernel with all features `why` would be missing, but no stock kernel has all.
#[test]
fn every_field_of_features_is_documented() {
    check_all("huepage.features/1", &[printed(&["features", "--json"])]);
}

/// `coloring` is there only on a patched kernel.
#[test]
fn every_field_of_a_bug_report_is_documented() {
    let _alone = alone();
    let mut report = printed(&["bugreport", "-o", "-"]);
    let schema = read(schema_path("huepage.bugreport/1"));
    assert_valid(&schema, std::slice::from_ref(&report));
    report["kernel_state"]["coloring"] =
        json!({"enabled": true, "colors": {"0": 32}, "pages": {"best": 5}});
    assert_valid(&schema, &[report]);
}

#[test]
fn every_field_of_a_map_is_documented() {
    let mut reports: Vec<Value> = files("tests/maps")
        .iter()
        .map(|path| printed(&["map", "--json", "--input", path.to_str().unwrap()]))
        .collect();
    reports.push(printed(&["map", "--json", "--", "true"]));
    check_all("huepage.map/1", &reports);
}

/// One was recorded in a guest with merge domains, after `tests/programs/merge.c`.
#[test]
fn every_field_of_merged_pages_is_documented() {
    let recorded = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/merged/domains.json");
    check_all("huepage.merged/1", &[read(recorded), printed(&["merged", "--json"])]);
}

/// A run on a machine as it is may lack quiet moments; those in results/ did not.
#[test]
fn every_field_of_a_benchmark_is_documented() {
    let _alone = alone();
    let kept = ["bench-working-set.json", "matmul.json"];
    let kept = kept.map(|name| read(format!("{ROOT}/results/{name}")));
    let arguments = ["bench", "repeat", "--visits", "2", "--time-limit", "0", "--json"];
    let mut command = huepage(&arguments);
    let rest = ["--placements", "default", "--cache", "size=256k,ways=8"];
    let output = command.args(rest).output().unwrap();
    assert_eq!(code(&output), Some(3), "done in part: one round of two");
    check_all("huepage.bench/2", &[&kept[..], &[json(&output)]].concat());
}

/// Reports with figures are kept in results/, since six quiet runs of each arm are not
/// possible on every machine.
#[test]
fn every_field_of_a_comparison_of_programs_is_documented() {
    let _alone = alone();
    let kept = ["true.json", "chase.json"];
    let kept = kept.map(|name| read(format!("{ROOT}/results/bench-exec/{name}")));
    let arguments = ["bench", "exec", "--runs", "2", "--time-limit", "0", "--json", "--", "true"];
    let output = huepage(&arguments).output().unwrap();
    let mut reports = kept.to_vec();
    if code(&output) == Some(3) {
        reports.push(json(&output));
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
    check_all("huepage.bench-samples/1", &lines.collect::<Vec<_>>());
}

#[test]
fn every_field_of_colors_is_documented() {
    let _alone = alone();
    let arguments = ["colors", "--pages", "512", "--json", "--colors-by", "measurement"];
    let Some(output) = measured(&mut huepage(&arguments)) else { return };
    let report = json(&output);
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
        measured(command.env("XDG_RUNTIME_DIR", home.path()))
    };
    let Some(made) = run("--make") else { return };
    let reports = [json(&made), json(&run("--remove").unwrap())];
    if reports[0]["cache"] == Value::Null {
        return println!("skipped: this machine declares no cache to show");
    }
    check_all("huepage.palette/1", &reports);
}

#[test]
fn every_field_of_pressure_is_documented() {
    let _alone = alone();
    let arguments = ["pressure", "--watch", "0.5", "--count", "1", "--json"];
    let Some(output) = measured(&mut huepage(&arguments)) else { return };
    let reports: Vec<Value> =
        stdout(&output).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    if reports[0]["cache"] == Value::Null {
        return println!("skipped: this machine declares no cache to show");
    }
    check_all("huepage.pressure/1", &reports);
}

#[test]
fn every_field_of_a_run_is_documented() {
    let Some(_alone) = placing() else { return };
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("report");
    let status = run(&["--report", path.to_str().unwrap(), "--", "sleep", "1"]).status().unwrap();
    assert!(status.success());
    check_all("huepage.run/1", &[report(&path)]);
}

/// Of the lab, whose command is another one: its results that are kept.
#[test]
fn every_field_of_the_results_of_experiments_is_documented() {
    let results = Path::new(ROOT).join("results");
    let mut folders = vec![results.clone(), results.join("page-color")];
    folders.push(folders[1].join("arm64"));
    let paths = folders.iter().flat_map(|folder| fs::read_dir(folder).unwrap());
    let documents: Vec<Value> = paths
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .map(read)
        .filter(|document| document["schema"] == "huepage.lab/1")
        .collect();
    assert!(documents.len() > 9, "{}", documents.len());
    check_all("huepage.lab/1", &documents);
}

#[test]
fn a_wrong_type_and_a_field_without_words_are_found() {
    let table = "\n## `huepage.x/1`\n\nPrinted.\n\n| field | type | meaning |\n|---|---|---|\n\
                 | `schema` | string | |\n\
                 | `a` | integer or null | |\n\
                 | `o` | object, optional | |\n\
                 | `o.l` | list of 2 numbers or nulls | |\n\
                 | `p` | as `o`, or null, optional | |\n";
    let schema = &Formats::of(table).schemas()["huepage.x/1"];
    let found = |mut document: Value| {
        document["schema"] = json!("huepage.x/1");
        std::panic::catch_unwind(|| assert_valid(schema, &[document])).is_err()
    };
    assert!(!found(json!({"a": 1})) && !found(json!({"a": null, "p": null})));
    assert!(!found(json!({"a": 1, "o": {"l": [1, null]}, "p": {"l": [0.5, -1]}})));
    assert!(found(json!({"a": 1.5})) && found(json!({"a": "1"})) && found(json!({"a": [1]})));
    assert!(found(json!({"a": -1})), "integers are counts");
    assert!(found(json!({})), "a field is missing");
    assert!(found(json!({"a": 1, "b": 1})) && found(json!({"a": {"b": 1}})));
    assert!(found(json!({"a": 1, "o": {"l": [1]}})) && found(json!({"a": 1, "o": null})));
    assert!(found(json!({"a": 1, "p": {"l": [0.5, 1], "m": 1}})));
}
