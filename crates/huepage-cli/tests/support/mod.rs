// SPDX-License-Identifier: MIT OR Apache-2.0
//! Code that tests of the real binary share.

// Each test binary uses its own part of this.
#![allow(dead_code)]

pub mod cgroup;
pub mod run;
pub mod schema;
pub mod swap;

use std::{
    fs,
    io::ErrorKind,
    os::unix::{
        fs::{MetadataExt, PermissionsExt, symlink},
        process::CommandExt,
    },
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
    sync::{Mutex, MutexGuard, PoisonError},
};

use assert_cmd::cargo::cargo_bin;
use serde_json::Value;

/// The binary under test.
pub fn huepage(arguments: &[&str]) -> Command {
    let mut command = Command::new(cargo_bin("huepage"));
    command.args(arguments);
    command
}

/// Runs a command whose standard output is closed.
pub fn unread(command: &mut Command) -> Output {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    command.stdout(writer).stderr(Stdio::piped()).spawn().unwrap().wait_with_output().unwrap()
}

pub fn code(output: &Output) -> Option<i32> {
    output.status.code()
}

pub fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

pub fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// The document on standard output.
#[track_caller]
pub fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"))
}

/// Asserts that the command succeeded, and printed nothing on standard error.
#[track_caller]
pub fn assert_silent(output: &Output) {
    assert_eq!((code(output), stderr(output)), (Some(0), String::new()));
}

/// Asserts that it succeeded, or in part: not every kernel and user may see everything.
#[track_caller]
pub fn assert_done(output: &Output) {
    assert!(matches!(code(output), Some(0 | 3)), "{output:?}");
}

/// The files of a directory, named from this package on, in order.
pub fn files(directory: &str) -> Vec<PathBuf> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join(directory);
    let mut paths: Vec<PathBuf> =
        fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

/// Asserts that a text is that of a file below `tests/expected`. After a wanted change, look
/// at the difference and write it with `HUEPAGE_BLESS=1 cargo test`.
#[track_caller]
pub fn assert_expected(file: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/expected").join(file);
    if std::env::var_os("HUEPAGE_BLESS").is_some() {
        fs::write(&path, text).unwrap();
    }
    let wanted = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    assert_eq!(text, wanted, "{}", path.display());
}

/// Asserts that a command reports which recorded files it cannot use, and why: `good`
/// is one that it can use, `more` is its message about others.
pub fn assert_unusable(command: &str, good: &Path, record: &str, more: &[(&str, &str)]) {
    let directory = tempfile::tempdir().unwrap();
    let good = fs::read_to_string(good).unwrap();
    let incomplete = format!("not a recorded {record}: EOF while parsing");
    let broken = [(&good[..good.len() / 2], &incomplete[..]), ("", &incomplete[..])];
    let written = broken.iter().chain(more).enumerate().map(|(number, (text, message))| {
        let path = directory.path().join(format!("{number}.json"));
        fs::write(&path, text).unwrap();
        (path, *message)
    });
    let missing = (directory.path().join("missing.json"), "No such file");
    let folder = (directory.path().to_owned(), "Is a directory");
    for (path, message) in written.chain([missing, folder]) {
        let output = huepage(&[command, "--input"]).arg(&path).output().unwrap();
        let text = assert_refused(&output, 1, message);
        assert!(text.starts_with("huepage: cannot "), "{text}");
        assert!(text.contains(path.to_str().unwrap()), "{text}");
    }
}

/// Asserts that a command ended with an exit code and a message, and printed nothing;
/// returns all of its standard error.
#[track_caller]
pub fn assert_refused(output: &Output, exit: i32, message: impl AsRef<str>) -> String {
    let text = stderr(output);
    assert_eq!((code(output), stdout(output)), (Some(exit), String::new()), "{text}");
    assert!(text.contains(message.as_ref()), "{text}");
    text
}

/// The output of a command that needs colors; `None`, with its message printed as the
/// reason to skip a test, if it reports that there are none to measure here.
pub fn measured(command: &mut Command) -> Option<Output> {
    Some(command.output().unwrap()).filter(|output| !no_colors_here(output))
}

/// Held by tests that measure, since two at a time on one CPU would disturb each other.
pub fn alone() -> MutexGuard<'static, ()> {
    static MEASURING: Mutex<()> = Mutex::new(());
    MEASURING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether the binary reports that there are no colors to measure here; prints its
/// message, as the reason to skip a test.
pub fn no_colors_here(output: &Output) -> bool {
    let text = stderr(output);
    let reasons = [
        "no color map could be trusted",
        "measuring colors is not available",
        "measuring colors needs",
        "working sets are measured against the size of the L2, which is not declared",
        "shared by",
        "has one color",
    ];
    let skip = code(output) == Some(1) && reasons.iter().any(|reason| text.contains(reason));
    if skip {
        println!("skipped: {text}");
    }
    skip
}

/// No escape codes, no progress, no line beyond 80 columns.
#[track_caller]
pub fn assert_plain(text: &str) {
    assert!(!text.contains(['\x1b', '\r']), "{text:?}");
    for line in text.lines() {
        assert!(line.chars().count() <= 80, "{line}");
        assert_eq!(line.trim_end(), line, "trailing space");
    }
}

/// A process that does nothing, for as long as this value lives.
pub struct Idle(pub Child);

impl Idle {
    /// Under a name of its own.
    pub fn named(name: &str) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join(name);
        // No copy: it can't be run while another test's child still has it open.
        symlink("/bin/sleep", &path).unwrap();
        let child = Command::new(&path).arg0(name).arg("600").spawn().unwrap();
        Idle(child)
    }

    pub fn pid(&self) -> String {
        self.0.id().to_string()
    }
}

impl Drop for Idle {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Runs commands as a user without any privilege.
pub struct Unprivileged {
    /// A directory that this user can enter and write to, as build directories often are
    /// not. It holds the binary.
    pub directory: tempfile::TempDir,
}

impl Unprivileged {
    const NOBODY: u32 = 65534;

    /// `None`, with the reason printed, where the tests cannot become another
    /// user.
    pub fn new() -> Option<Self> {
        if fs::metadata("/proc/self").unwrap().uid() != 0 {
            println!("skipped: only root can become another user");
            return None;
        }
        let directory = tempfile::tempdir_in("/var/tmp").unwrap();
        fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o777)).unwrap();
        let user = Unprivileged { directory };
        fs::copy(cargo_bin("huepage"), user.binary()).unwrap();
        // Busy while a child of another test still has it open for writing.
        let run = || loop {
            match user.command(&["--version"]).output() {
                Err(error) if error.kind() == ErrorKind::ExecutableFileBusy => {}
                other => break other,
            }
        };
        match run() {
            Ok(output) if output.status.success() => Some(user),
            other => {
                println!("skipped: cannot run the binary as another user: {other:?}");
                None
            }
        }
    }

    fn binary(&self) -> PathBuf {
        self.directory.path().join("huepage")
    }

    /// The binary under test, without root's capabilities and groups: the
    /// standard library drops the latter when the user changes.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(self.binary());
        command.args(arguments).uid(Self::NOBODY).gid(Self::NOBODY);
        command
    }
}

/// A whole number of a report.
pub fn integer(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("no whole number: {value}"))
}

/// A share of a report, from 0 to 1.
pub fn share(value: &Value) -> f64 {
    let share = value.as_f64().unwrap_or_else(|| panic!("no number: {value}"));
    assert!((0.0..=1.0).contains(&share), "{share}");
    share
}
