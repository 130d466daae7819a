// SPDX-License-Identifier: MIT OR Apache-2.0
//! Running a kernel's unit tests: User-mode Linux is a program like any other.

use std::{
    fs::File,
    path::Path,
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, bail};

use super::ktap::{self, Test};

/// Lines of console in the message about a run without results.
const LINES: usize = 20;

/// Boots `linux` and returns the suites that it ran; with `filter`, those that match it
/// (a glob of `suite` or `suite.test`).
///
/// # Errors
/// If it cannot be run, takes longer than `limit`, crashes, or runs no suite.
pub fn run(linux: &Path, filter: Option<&str>, limit: Duration) -> anyhow::Result<Vec<Test>> {
    let scratch = tempfile::tempdir().context("make a temporary directory")?;
    let console = scratch.path().join("console");
    let mut command = Command::new(linux);
    command.args(["mem=256M", "console=tty", "kunit_shutdown=halt"]);
    if let Some(filter) = filter {
        if filter.contains(char::is_whitespace) {
            bail!("--filter `{filter}`: a glob of suites has no spaces");
        }
        command.arg(format!("kunit.filter_glob={filter}"));
    }
    let output = File::create(&console).context("write the console's output")?;
    command.stdin(Stdio::null()).stdout(output.try_clone()?).stderr(output);
    let mut child = command.spawn().with_context(|| format!("run {}", linux.display()))?;
    let begin = Instant::now();
    let ended = loop {
        if child.try_wait().context("wait for the kernel")?.is_some() {
            break true;
        }
        if begin.elapsed() > limit {
            child.kill().and_then(|()| child.wait()).context("end the kernel")?;
            break false;
        }
        thread::sleep(Duration::from_millis(20));
    };
    let text = std::fs::read(&console).context("read the console's output")?;
    let text = String::from_utf8_lossy(&text);
    if !ended {
        bail!("no end after {} s; the console says:\n{}", limit.as_secs(), last_lines(&text));
    }
    let suites =
        ktap::parse(&text).with_context(|| format!("the console says:\n{}", last_lines(&text)))?;
    match (suites.is_empty(), filter) {
        (false, _) => Ok(suites),
        (true, Some(filter)) => bail!("no suite matches --filter '{filter}'"),
        (true, None) => bail!("the kernel has no suites: lab/configs/kunit.config selects them"),
    }
}

fn last_lines(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let last = &lines[lines.len().saturating_sub(LINES)..];
    last.iter().map(|line| format!("  {line}")).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::PermissionsExt};

    use super::*;

    /// A "kernel" that prints its options and then `text`.
    fn kernel(directory: &Path, script: &str) -> std::path::PathBuf {
        let path = directory.join("linux");
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    #[test]
    fn suites_come_back_and_the_filter_goes_in() {
        let top = tempfile::tempdir().unwrap();
        let script =
            r#"for last; do :; done; printf 'KTAP version 1\n1..1\nok 1 %s\n' "${last##*=}""#;
        let suites = run(&kernel(top.path(), script), Some("list*"), Duration::from_secs(60));
        let names: Vec<String> = suites.unwrap().into_iter().map(|suite| suite.name).collect();
        assert_eq!(names, ["list*"]);
    }

    #[test]
    fn a_crash_and_a_hang_show_the_console() {
        let top = tempfile::tempdir().unwrap();
        let crash = kernel(top.path(), "echo KTAP version 1; echo 1..2; echo Kernel panic");
        let error = format!("{:#}", run(&crash, None, Duration::from_secs(60)).unwrap_err());
        assert!(error.contains("Kernel panic") && error.contains("0 of 2 results"), "{error}");
        let hang = kernel(top.path(), "echo last words; exec sleep 60");
        let error = format!("{:#}", run(&hang, None, Duration::from_millis(500)).unwrap_err());
        assert!(error.contains("no end after") && error.contains("last words"), "{error}");
    }
}
