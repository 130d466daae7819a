// SPDX-License-Identifier: MIT OR Apache-2.0
//! `huepage merged` on whatever machine this is; what it counts is tested in a guest
//! whose kernel merges (lab/runner/tests/lab/exec.rs).

mod support;

use support::{Unprivileged, assert_done, assert_refused, huepage, stderr, stdout};

#[test]
fn processes_that_are_not_there_are_named() {
    for (target, why) in [
        ("no-such-program", "no process is named 'no-such-program': give its PID"),
        ("4194999", "no process 4194999 here"),
    ] {
        assert_refused(&huepage(&["merged", target]).output().unwrap(), 2, why);
    }
}

#[test]
fn there_is_no_picture() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("merged.svg");
    let output = huepage(&["merged", "-o", file.to_str().unwrap()]).output().unwrap();
    assert_refused(&output, 2, "write .json or .txt");
    assert!(!file.exists());
}

#[test]
fn a_process_is_told_with_what_the_kernel_says() {
    let own = std::process::id().to_string();
    let output = huepage(&["merged", &own]).output().unwrap();
    let text = stdout(&output);
    assert_done(&output);
    assert!(text.contains(&own), "{text}");
    assert!(text.contains("The kernel, of all processes") || text.contains("no KSM"), "{text}");
}

#[test]
fn without_privileges_the_process_of_another_user_is_refused_as_by_map() {
    let Some(user) = Unprivileged::new() else { return };
    let own = std::process::id().to_string();
    let merged = user.command(&["merged", &own]).output().unwrap();
    let map = user.command(&["map", &own]).output().unwrap();
    assert_refused(&merged, 1, "CAP_SYS_PTRACE");
    assert_eq!(stderr(&merged), stderr(&map));
}
