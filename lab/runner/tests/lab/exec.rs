// SPDX-License-Identifier: MIT OR Apache-2.0
//! `huepage-lab exec`: a program with known accesses, and what a user reads when
//! something is wrong.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::support::command;

fn exec(folder: &Path, words: &[&str]) -> (Option<i32>, String, String) {
    command::lab(folder, &[&["exec"], words].concat())
}

/// `tests/programs/NAME.c`, dynamically linked, as programs of distributions are.
fn program(name: &str) -> PathBuf {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs").join(name);
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let status = std::process::Command::new("cc")
        .args(["-O1", "-Wall", "-Wextra", "-Werror", "-o"])
        .arg(&program)
        .arg(source.with_extension("c"))
        .status()
        .expect("a C compiler is installed: ./setup does it");
    assert!(status.success());
    program
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("{value} is no number"))
}

#[test]
fn what_a_program_does_is_counted_by_cache_and_by_mapping() {
    let folder = tempfile::tempdir().unwrap();
    let touch = program("touch");
    let file = folder.path().join("outcome.json");
    let output = file.to_str().unwrap();
    // Not the stock kernel: one to build for all tests here.
    let words = ["--policy", "off", "-o", output, "--", touch.to_str().unwrap(), "two words"];
    let (code, out, error) = exec(folder.path(), &words);
    // It ends with code 3.
    assert_eq!(code, Some(1), "{error}");
    assert!(out.contains("2 words, the last is 'two words', sum 0\n"), "{out}{error}");
    assert!(error.contains("wrote\n"), "{error}");
    assert!(!folder.path().join("left-behind").exists(), "it wrote to this machine");

    let told: Value = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    assert_eq!(told["schema"], "huepage.lab.exec/1");
    assert_eq!(told["kind"], "modelled");
    let run = &told["runs"][0];
    assert_eq!(run["ended"]["code"], 3);
    assert_eq!((&run["policy"], &run["age"]), (&"off".into(), &"fresh".into()));
    let mappings = run["mappings"].as_array().unwrap();
    // Each access and each miss belongs to a frame, and each frame to one entry.
    let sum = |of: &dyn Fn(&Value) -> u64| mappings.iter().map(of).sum::<u64>();
    assert_eq!(sum(&|of| number(&of["accesses"])), number(&run["accesses"]));
    for (cache, counts) in run["caches"].as_array().unwrap().iter().enumerate() {
        assert_eq!(sum(&|of| number(&of["misses"][cache])), number(&counts["misses"]));
        assert!(number(&counts["hits"]) > 0);
    }
    // 1024 pages of 64 lines, twice, and a page of the child's own: all are cleared
    // first, so L1 misses each line at least twice.
    let lines = 1024 * 64;
    let written = mappings
        .iter()
        .find(|of| number(&of["pages"]) >= 1024 && of["name"].as_str().unwrap().starts_with("anon"))
        .unwrap_or_else(|| panic!("{run:#}"));
    assert!((1024..1030).contains(&number(&written["pages"])), "{written}");
    assert!(number(&written["misses"][0]) >= 2 * lines, "{written}");
    // Twice the L2: the second pass finds next to nothing.
    assert!((2 * lines..7 * lines / 2).contains(&number(&written["misses"][1])), "{written}");
    let zero = mappings.iter().find(|of| of["name"] == "zero pages").unwrap();
    // Of the parent and of the child.
    assert_eq!((number(&zero["pages"]), number(&zero["mapped"])), (1, 128), "{zero}");
    assert!(number(&run["colors"]["pages"]) > 1024);
    assert_eq!(number(&run["colors"]["colors"]), 32);
}

#[test]
fn a_program_that_is_not_there_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let (code, out, error) = exec(folder.path(), &["--policy", "off", "--", "no-such-program"]);
    assert_eq!((code, out.as_str()), (Some(1), ""));
    assert!(error.contains("no-such-program: No such file or directory"), "{error}");
}

#[test]
fn wrong_options_are_named_before_anything_is_built() {
    let folder = tempfile::tempdir().unwrap();
    let model = folder.path().join("model.json");
    std::fs::write(&model, "{}").unwrap();
    for (words, code, why) in [
        (&["--policy", "best", "--", "true"][..], 2, "there are stock, shuffle, off, on"),
        (&["--age", "old", "--", "true"], 2, "there are fresh, light, medium, heavy"),
        (&["--memory", "much", "--", "true"], 2, "'much'"),
        (&[], 2, "PROGRAM"),
        (&["--arch", "arm64", "--", "true"], 2, "--root"),
        (&["--model", "model.json", "--", "true"], 2, "--print-model"),
        (&["--root", "/nowhere", "--", "true"], 2, "/nowhere is no folder"),
    ] {
        let (found, out, error) = exec(folder.path(), words);
        assert_eq!((found, out.as_str()), (Some(code), ""), "{words:?}: {error}");
        assert!(error.contains(why), "{words:?}: {error}");
    }
}

#[test]
fn a_printed_model_can_be_read_back() {
    let folder = tempfile::tempdir().unwrap();
    let (code, model, _) = exec(folder.path(), &["--print-model"]);
    assert_eq!(code, Some(0));
    std::fs::write(folder.path().join("model.json"), &model).unwrap();
    let again = exec(folder.path(), &["--model", "model.json", "--print-model"]).1;
    assert_eq!(again, model);
}

/// The command for users, as the tests of this workspace build it: for the package alone,
/// all would be compiled once more with other features.
fn huepage() -> PathBuf {
    let status = std::process::Command::new(env!("CARGO"))
        .args(["test", "--quiet", "--locked", "--workspace", "--no-run", "--test", "run"])
        .arg("--target-dir")
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target"))
        .status()
        .unwrap();
    assert!(status.success());
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/debug/huepage");
    file.canonicalize().unwrap()
}

/// `huepage run` on a kernel with page coloring: it is chosen, it gives a program
/// its part, and it is not taken for one that places while it is off.
#[test]
fn the_kernel_places_what_huepage_run_starts() {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("script.sh");
    let run = format!("{} run -v --must", huepage().display());
    let lines = [
        format!("{run} --share 1/4 -- cat /proc/self/page_colors"),
        format!("{run} --backend kernel --colors 3,8-9 -- cat /proc/self/page_colors"),
        format!("{run} --report /tmp/report -- true; echo report: $?"),
        "echo 0 > /sys/kernel/mm/page_color/enabled".to_owned(),
        format!("{run} --backend kernel -- true; echo off: $?"),
    ];
    std::fs::write(&script, lines.join("\n")).unwrap();
    let words = ["--policy", "on", "--", "sh", script.to_str().unwrap()];
    let (code, out, error) = exec(folder.path(), &words);
    assert_eq!(code, Some(0), "{out}{error}");
    for said in ["0-7\n", "3,8-9\n", "report: 125\n", "off: 125\n"] {
        assert!(out.contains(said), "{said}: {out}{error}");
    }
    assert!(error.contains("placed by the kernel, which knows colors"), "{error}");
    assert!(error.contains("no effect of --report"), "{error}");
    assert!(error.contains("off: echo 1 > /sys/kernel/mm/page_color/enabled"), "{error}");
}

/// `huepage merged` tells what KSM counts, and which pages these are.
#[test]
fn merged_pages_are_told_as_the_kernel_counts_them() {
    let folder = tempfile::tempdir().unwrap();
    let merge = program("merge");
    let command = format!("{0} merged --json; {0} merged merge", huepage().display());
    let words = ["--policy", "on", "--", merge.to_str().unwrap(), &command];
    let (code, out, error) = exec(folder.path(), &words);
    assert_eq!(code, Some(0), "{out}{error}");
    let start = out.find('{').unwrap();
    let mut values = serde_json::Deserializer::from_str(&out[start..]).into_iter::<Value>();
    let told = values.next().unwrap().unwrap();
    assert_eq!(told["schema"], "huepage.merged/1");
    let pages = &told["pages"];
    assert_eq!((number(&pages["mappings"]), number(&pages["frames"])), (128, 8));
    assert_eq!(number(&pages["saved"]), 120 * 4096);
    assert_eq!(pages["reads"], serde_json::json!([{ "from": 0, "on": 0, "mappings": 128 }]));
    let processes = told["processes"].as_array().unwrap();
    assert_eq!(processes.len(), 2);
    for process in processes {
        assert_eq!((number(&process["mappings"]), number(&process["frames"])), (64, 8));
        assert_eq!(number(&process["remote"]), 0);
    }
    let domain = &told["ksm"]["domains"][0];
    assert_eq!((number(&domain["pages_shared"]), number(&domain["pages_sharing"])), (8, 120));
    assert!(out.contains("128 pages in 8 frames: 480 KiB saved"), "{out}");
    assert!(out.contains("Merged up to a distance of 10 between nodes"), "{out}");
}
