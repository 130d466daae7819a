// SPDX-License-Identifier: MIT OR Apache-2.0
//! Boots of a sweep one by one, as a scheduler would have them.

use std::{fs, path::Path};

use serde_json::Value;

use crate::support::command;

const GRID: [&str; 10] = [
    "frame-order",
    "--quick",
    "--set",
    "arch=x86_64",
    "--set",
    "readers=1",
    "--set",
    "age=0,1",
    "--set",
    "seed=7",
];

fn lab(command: &str, more: &[&str]) -> (Option<i32>, String, String) {
    command::lab(Path::new("."), &[&[command], &GRID[..], more].concat())
}

fn ids() -> Vec<String> {
    let (code, out, error) = lab("cases", &["--json"]);
    assert_eq!(code, Some(0), "{error}");
    let list: Vec<Value> = serde_json::from_str(&out).unwrap();
    assert_eq!(list[1]["settings"]["age"], 1);
    list.iter().map(|case| case["id"].as_str().unwrap().to_owned()).collect()
}

fn rows(json: &str) -> Value {
    serde_json::from_str::<Value>(json).unwrap()["rows"].take()
}

#[test]
fn boots_run_one_by_one_give_the_results_of_all() {
    let kept = tempfile::tempdir().unwrap();
    let results = tempfile::tempdir().unwrap();
    let keep = ["--keep", kept.path().to_str().unwrap()];
    let shown = [&keep[..], &["--json", "--output", results.path().to_str().unwrap()]].concat();
    let ids = ids();
    assert_eq!(ids.len(), 2);
    let boot = |id: &str| lab("run", &[&keep[..], &["--case", id]].concat());

    let (code, _, error) = lab("merge", &shown);
    assert_eq!(code, Some(1));
    assert!(error.contains("no boot of these settings is kept there"), "{error}");
    let (code, _, error) = boot("0123456789abcdef");
    assert_eq!(code, Some(1));
    assert!(error.contains("no case 0123456789abcdef"), "{error}");

    let (code, out, error) = boot(&ids[1]);
    assert_eq!((code, out.as_str()), (Some(0), ""), "{error}");
    let (code, part, error) = lab("merge", &shown);
    assert_eq!(code, Some(1));
    assert!(error.contains("age=0") && error.contains("it has not been run"), "{error}");

    // Again is no work: the file stays as it is. What a killed task left does not matter.
    let file = kept.path().join(format!("{}.json", ids[1]));
    let before = fs::metadata(&file).unwrap().modified().unwrap();
    fs::write(kept.path().join(".tmpkilled"), "{").unwrap();
    assert_eq!(boot(&ids[1]).0, Some(0));
    assert_eq!(fs::metadata(&file).unwrap().modified().unwrap(), before);

    assert_eq!(boot(&ids[0]).0, Some(0));
    let (code, whole, error) = lab("merge", &shown);
    assert_eq!(code, Some(0), "{error}");
    let whole = rows(&whole);
    assert_eq!(whole.as_array().unwrap().len(), 2 * 3, "ages, modes");
    assert_eq!(rows(&part).as_array().unwrap()[..], whole.as_array().unwrap()[3..]);
    // Nothing is left to boot.
    let (code, again, _) = lab("run", &[&shown[..], &["--resume"]].concat());
    assert_eq!((code, rows(&again)), (Some(0), whole));

    fs::write(&file, "{").unwrap();
    let (code, _, error) = lab("merge", &shown);
    assert_eq!(code, Some(1));
    assert!(error.contains("remove it, and the case is run again"), "{error}");
}
