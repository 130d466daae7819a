// SPDX-License-Identifier: MIT OR Apache-2.0
//! `huepage-lab` as a user calls it.

use std::path::Path;

use assert_cmd::Command;

/// The exit code, and what was printed to standard output and to standard error.
pub fn lab(folder: &Path, words: &[&str]) -> (Option<i32>, String, String) {
    let mut command = Command::cargo_bin("huepage-lab").unwrap();
    let output = command.current_dir(folder).args(words).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}
