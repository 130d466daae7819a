// SPDX-License-Identifier: MIT OR Apache-2.0
//! Code that tests of `huepage run` share.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::{MutexGuard, OnceLock},
};

use assert_cmd::cargo::cargo_bin;
use serde_json::Value;

use super::{alone, huepage};

/// The libraries that programs load, by the variable that names each.
pub const LIBRARIES: [(&str, &str); 2] =
    [("HUEPAGE_PRELOAD", "libhuepage_preload.so"), ("HUEPAGE_HEAP", "libhuepage_heap.so")];

/// `huepage run`, with the libraries built for it.
pub fn run(options: &[&str]) -> Command {
    let mut command = with_libraries(huepage(&["run"]));
    command.args(options);
    command
}

/// A command that finds the libraries where it runs programs placed.
pub fn with_libraries(mut command: Command) -> Command {
    command.envs(LIBRARIES.map(|(variable, name)| (variable, libraries().join(name))));
    command
}

/// Malloc's memory alone, placed ahead.
pub fn heap(options: &[&str]) -> Command {
    let mut command = run(&["--backend", "heap"]);
    command.args(options);
    command
}

/// Exchanges all pages over and over, whatever their colors: the worst that placing may
/// do to a program.
pub fn restless(options: &[&str]) -> Command {
    let mut command = run(&["--budget", "100%"]);
    command.args(options).env("HUEPAGE_RUN_RESTLESS", "1").env("HUEPAGE_RUN_DELAY", "0");
    command
}

/// The directory of the libraries. No crate depends on them, so cargo does not build
/// them for tests.
pub fn libraries() -> &'static Path {
    static LIBRARIES: OnceLock<PathBuf> = OnceLock::new();
    LIBRARIES.get_or_init(|| {
        let command = cargo_bin("huepage");
        let profile = command.parent().unwrap();
        let mut build = Command::new(env!("CARGO"));
        build.args(["build", "--quiet", "--locked"]);
        build.args(["--package", "huepage-preload", "--package", "huepage-heap"]);
        build.arg("--target-dir").arg(profile.parent().unwrap());
        if profile.file_name().is_some_and(|name| name == "release") {
            build.arg("--release");
        }
        let status = build.current_dir(env!("CARGO_MANIFEST_DIR")).status().unwrap();
        assert!(status.success(), "the libraries cannot be built");
        profile.to_owned()
    })
}

/// Compiles a program of `tests/programs`.
pub fn compile(name: &str, directory: &Path, options: &[&str]) -> PathBuf {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs").join(name);
    let program = directory.join(name).with_extension("");
    let status = Command::new("cc")
        .args(["-O1", "-Wall", "-Werror", "-pthread"])
        .args(options)
        .arg("-o")
        .arg(&program)
        .arg(source)
        .status()
        .unwrap();
    assert!(status.success(), "{name} cannot be compiled");
    program
}

/// Whether programs can be placed here; prints the reason if not, as the reason to skip
/// a test.
pub fn can_place() -> bool {
    let output = run(&["--must", "true"]).output().unwrap();
    let placed = output.status.success();
    if !placed {
        println!("skipped: {}", String::from_utf8_lossy(&output.stderr));
    }
    placed
}

/// Held by tests that need to be alone with placed programs; `None`, with the reason
/// printed, if none can be placed.
pub fn placing() -> Option<MutexGuard<'static, ()>> {
    let alone = alone();
    can_place().then_some(alone)
}

/// The report that a run left.
pub fn report(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}
