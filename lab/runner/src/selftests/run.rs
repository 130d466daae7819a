// SPDX-License-Identifier: MIT OR Apache-2.0
//! Boots a kernel with the tests in its initial file system; again after a crash, and
//! for tests that failed among the others.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
    time::Duration,
};

use anyhow::{Context, bail, ensure};
use huepage::units::Bytes;
use serde::Serialize;

use super::{
    console::{Console, Done},
    list::{Entry, List, Test},
    shell,
};
use crate::{
    boot::{Machine, Node, boot_with},
    experiment::arguments,
    guest, initramfs,
    kernel::{self, Config, Request, Selftests, Variant, ktap::Outcome},
    progress::Progress,
    workspace::Workspace,
};

/// How often a test that failed among the others is tried by itself: some depend on the
/// state that earlier tests left, some on timing.
const TRIES_ALONE: u32 = 3;

/// A kernel, and whether it colors pages from the beginning.
#[derive(Clone, Debug)]
pub struct Boots {
    /// The kernel.
    pub request: Request,
    /// The value of `page_color=` at boot.
    pub coloring: Option<String>,
}

/// The results of the tests on one kernel.
#[derive(Clone, Debug, Serialize)]
pub struct Run {
    /// Its version.
    pub kernel: String,
    /// With or without our changes.
    pub variant: Variant,
    /// Its configuration.
    pub config: Config,
    /// The value of `page_color=` at boot.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub coloring: Option<String>,
    /// Each test, in the order of the list.
    pub tests: Vec<Done>,
    /// The kernel's reports about its own faults while no test ran.
    pub reports: Vec<String>,
    /// Scripts that were left out, since there is no shell for the architecture.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
}

/// Runs the tests of a list. `heard` is called with each line of the console.
///
/// # Errors
/// If a kernel or a test does not build, or the guest cannot run tests at all. A test
/// that fails, or crashes the kernel, is no error.
pub fn run(
    workspace: &Workspace,
    boots: &Boots,
    list: &List,
    progress: &Progress,
    heard: &mut dyn FnMut(&str),
) -> anyhow::Result<Run> {
    let request = &boots.request;
    let scripts = shell::runs(request.arch);
    let (tests, left_out): (Vec<&Test>, Vec<&Test>) =
        list.tests().partition(|test| scripts || !test.is_script());
    ensure!(!tests.is_empty(), "all of it are scripts, which need a shell for {}", request.arch);
    let files = files(workspace, request, list, &tests, progress)?;
    let image = kernel::ensure(request, progress)?;
    let init = guest::program(workspace, request.arch, "selftests")?;
    let scratch = tempfile::tempdir().context("make a temporary directory")?;
    let packed = scratch.path().join("initramfs");
    fs::write(&packed, initramfs::archive_with(&init, &files)).context("write a file system")?;

    let names: Vec<String> = tests.iter().map(|test| test.name()).collect();
    let mut run = Run {
        kernel: image.version.clone(),
        variant: request.variant,
        config: request.config,
        coloring: boots.coloring.clone(),
        tests: Vec::new(),
        reports: Vec::new(),
        left_out: left_out.iter().map(|test| test.name()).collect(),
    };
    let series = Series { boots, kernel: &image.path, initramfs: &packed, names: &names };
    let seconds = |from: usize| tests[from..].iter().map(|test| test.seconds).sum::<u64>();
    while run.tests.len() < tests.len() {
        let from = run.tests.len();
        progress.stage(&format!("{request}: {} selftests", tests.len() - from));
        let (mut done, mut between) =
            series.boot((from, tests.len() - 1), seconds(from), progress, heard)?;
        run.tests.append(&mut done);
        run.reports.append(&mut between);
    }
    for (number, test) in tests.iter().enumerate() {
        // A report of the kernel counts even if another try passes.
        let done = &mut run.tests[number];
        if done.outcome != Outcome::Failed || !done.reports.is_empty() {
            continue;
        }
        for number_of_try in 1..=TRIES_ALONE {
            progress.stage(&format!("{request}: again by itself: {}", test.name()));
            let (again, mut between) =
                series.boot((number, number), test.seconds, progress, heard)?;
            run.reports.append(&mut between);
            let again = again.into_iter().next().context("one test gives one result")?;
            let passed = again.outcome == Outcome::Passed;
            if passed || !again.reports.is_empty() {
                *done = Done { alone: passed.then_some(number_of_try), ..again };
                break;
            }
        }
    }
    Ok(run)
}

/// A kernel and the tests that it runs.
struct Series<'a> {
    boots: &'a Boots,
    kernel: &'a Path,
    initramfs: &'a Path,
    names: &'a [String],
}

impl Series<'_> {
    /// One boot: tests from a number to another, until the kernel crashes. Returns
    /// their results, and the kernel's reports in between.
    fn boot(
        &self,
        (from, to): (usize, usize),
        seconds: u64,
        progress: &Progress,
        heard: &mut dyn FnMut(&str),
    ) -> anyhow::Result<(Vec<Done>, Vec<String>)> {
        let mut console = Console::new(self.names);
        let mut wrong = Ok(());
        let over = boot_with(
            &machine(self.boots),
            self.boots.request.arch,
            (self.kernel, self.initramfs),
            &arguments([("from", from), ("to", to)]),
            Duration::from_secs(600 + 2 * seconds),
            &mut |line| {
                heard(line);
                let read = console.line(line);
                progress.step(|| format!("{}: {}", self.boots.request, console.name()));
                wrong = std::mem::replace(&mut wrong, Ok(())).and(read);
            },
        )?;
        wrong?;
        if let Some(reason) = console.failed {
            bail!("the guest failed: {reason}");
        }
        let crashed = !over && console.crashed();
        ensure!(over || crashed, "the machine stopped between tests: {:?}", console.between);
        ensure!(!console.done.is_empty(), "the guest ran no test");
        Ok((console.done, console.between))
    }
}

/// Two nodes, for some tests of KSM and migration, and room for huge pages. Tests of
/// migration need three processors.
fn machine(boots: &Boots) -> Machine {
    let memory = Bytes::mib(1024);
    let mut machine = Machine::plain(4, Bytes(2 * memory.0));
    machine.nodes = [(0, 1), (2, 3)].map(|cpus| Node { memory, cpus: Some(cpus) }).into();
    // Some tests wait for the kernel in a loop: with counted time they would keep a CPU
    // for long.
    machine.run_freely(boots.request.config);
    let options = ["transparent_hugepage=madvise", "printk.devkmsg=on", "log_buf_len=4M"];
    machine.kernel_options.extend(options.map(str::to_owned));
    if boots.request.variant == Variant::Huepage {
        machine.kernel_options.push("zero_pages=8".into());
    }
    if let Some(setting) = &boots.coloring {
        machine.kernel_options.push(format!("page_color={setting}"));
    }
    machine
}

/// The files beside `/init`: the tests, the list, and for scripts a shell.
fn files(
    workspace: &Workspace,
    request: &Request,
    list: &List,
    tests: &[&Test],
    progress: &Progress,
) -> anyhow::Result<BTreeMap<String, Vec<u8>>> {
    let mut files = BTreeMap::new();
    if tests.iter().any(|test| test.is_script()) {
        files.append(&mut shell::files()?);
    }
    let selftests = Selftests::prepare(workspace, request.arch, progress)?;
    let (scripts, programs): (Vec<&Test>, Vec<&Test>) =
        tests.iter().partition(|test| test.is_script());
    let paths: BTreeSet<String> = programs.iter().map(|test| test.path()).collect();
    let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
    let built = selftests.build(&paths, progress)?;
    let scripts = scripts.iter().map(|test| (test.path(), selftests.source(&test.path())));
    let all = paths.iter().map(|&path| path.to_owned()).zip(built).chain(scripts);
    for (path, file) in all {
        let bytes = fs::read(&file).with_context(|| format!("read {}", file.display()))?;
        files.insert(format!("selftests/{path}"), bytes);
    }
    files.insert("selftests/list".into(), written(list, tests).into_bytes());
    Ok(files)
}

/// The list as the guest reads it.
fn written(list: &List, tests: &[&Test]) -> String {
    let mut text = String::new();
    for entry in list.entries() {
        match entry {
            Entry::Write(path, value) => text += &format!("write {path} {value}\n"),
            Entry::Test(test) => {
                let Some(number) = tests.iter().position(|&other| other == test) else { continue };
                let folder = format!("/selftests/{}", test.folder);
                text += &format!("test {number} {} {folder}", test.seconds);
                text += if test.is_script() { " /bin/bash" } else { "" };
                text += &format!(" ./{}", test.program);
                text += &test.arguments.iter().map(|word| format!(" {word}")).collect::<String>();
                text += "\n";
            }
        }
    }
    text
}
