// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs QEMU and reads its console.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::{BufRead, BufReader, Read},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::mpsc::{Receiver, RecvTimeoutError, channel},
    time::{Duration, Instant},
};

use anyhow::Context;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tempfile::TempDir;

use super::{BootError, Case, Content, Machine, Request, console::Console, disks, requests};
use crate::{
    arch::Arch,
    guest,
    kernel::Symbols,
    model::{FrameCounts, Record, Records, plugin},
    workspace::Workspace,
};

/// The results of a boot.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// The guest program's results in order.
    pub results: Vec<Value>,
    /// The model's records in order.
    pub records: Vec<Record>,
    /// The model's counts for each page frame, if requested.
    pub frames: Vec<FrameCounts>,
    /// The instructions that each function of the kernel executed, for each region that
    /// ended, in order, if requested.
    pub functions: Vec<BTreeMap<String, u64>>,
    /// What was read from the disks, in order.
    pub requests: Vec<Request>,
    /// The guest program's messages for people.
    pub notes: Vec<String>,
}

impl Report {
    /// The guest program's results, each in the type that an experiment expects of its
    /// guest.
    pub fn said<T: DeserializeOwned>(&self) -> impl Iterator<Item = anyhow::Result<T>> {
        let read = |said| T::deserialize(said).with_context(|| format!("the guest said {said}"));
        self.results.iter().map(read)
    }
}

/// Boots this kernel, waits for the end, and collects. `heard` is called with each line
/// of the console.
///
/// # Errors
/// [`BootError`]
pub fn boot(
    workspace: &Workspace,
    case: &Case,
    kernel: &Path,
    heard: &mut dyn FnMut(&str),
) -> Result<Report, BootError> {
    let initramfs = guest::initramfs(workspace, case.arch, case.guest)?;
    let mut options = case.machine.options(case.arch, kernel, &initramfs, &case.arguments);
    let scratch = scratch(workspace)?;
    let records = scratch.path().join("records.jsonl");
    if let Some(model) = &case.model {
        model.check().map_err(anyhow::Error::from)?;
        let plugin = plugin::build(&workspace.lab().join("model"))?;
        let text = format!("{},{}", plugin.display(), model.plugin_options(&records));
        options.extend(["-plugin".into(), text]);
    }
    let trace = scratch.path().join("trace");
    let disks = &case.machine.disks;
    if !disks.is_empty() {
        options.extend(disks::options(disks, &|number, content| match content {
            Content::FileSystem(system) => system.image(workspace),
            content => disk_file(scratch.path().join(format!("disk{number}")), content),
        })?);
        options.extend(requests::options(&trace));
    }
    let program = Machine::program(case.arch);
    let console = listen(program, &options, case.limit, heard)?;
    if let Some(error) = console.error() {
        return Err(error);
    }
    let found = match &case.model {
        Some(_) => plugin::read_records(&records)?,
        None => Records::default(),
    };
    let functions = match found.addresses.is_empty() {
        true => Vec::new(),
        false => {
            let symbols = Symbols::read(&kernel.with_file_name("System.map"))?;
            found.addresses.iter().map(|executed| symbols.by_function(executed)).collect()
        }
    };
    let requests = match disks.is_empty() {
        true => Vec::new(),
        false => requests::read(&trace)?,
    };
    let missing: Vec<u32> = case
        .regions
        .iter()
        .copied()
        .filter(|region| !found.regions.iter().any(|record| record.region == *region))
        .collect();
    if !missing.is_empty() {
        return Err(BootError::NoRegion { regions: missing, console: console.shown() });
    }
    Ok(Report {
        results: console.results,
        records: found.regions,
        frames: found.frames,
        functions,
        requests,
        notes: console.notes,
    })
}

/// Boots with an initial file system of the caller, who reads the console too: `heard`
/// is called with each line. Returns whether the guest program reported its end; if
/// not, the machine stopped, as after a crash.
///
/// # Errors
/// QEMU itself fails, or the guest does not end within `limit`.
pub fn boot_with(
    machine: &Machine,
    arch: Arch,
    (kernel, initramfs): (&Path, &Path),
    arguments: &[(String, String)],
    limit: Duration,
    heard: &mut dyn FnMut(&str),
) -> Result<bool, BootError> {
    let options = machine.options(arch, kernel, initramfs, arguments);
    Ok(listen(Machine::program(arch), &options, limit, heard)?.over())
}

/// A folder for the files that QEMU writes, removed in the end.
fn scratch(workspace: &Workspace) -> anyhow::Result<TempDir> {
    let folder = workspace.lab().join("records");
    let what = || format!("make {}", folder.display());
    fs::create_dir_all(&folder).with_context(what)?;
    tempfile::tempdir_in(&folder).with_context(what)
}

/// The file of a disk, which is made if the guest writes to it.
fn disk_file(path: PathBuf, content: &Content) -> anyhow::Result<PathBuf> {
    if let Content::Scratch(size) = content {
        let made = File::create(&path).and_then(|file| file.set_len(size.0));
        made.with_context(|| format!("make {}", path.display()))?;
    }
    Ok(path)
}

/// Ends QEMU when dropped.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn listen(
    program: &'static str,
    options: &[String],
    limit: Duration,
    heard: &mut dyn FnMut(&str),
) -> Result<Console, BootError> {
    let child = Command::new(program)
        .args(options)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .with_context(|| format!("run {program} (missing? ./setup lab installs it)"))?;
    let mut running = Running(child);
    let lines = lines(running.0.stdout.take().expect("stdout is piped"));
    let mut errors = running.0.stderr.take().expect("stderr is piped");
    let errors = std::thread::spawn(move || {
        let mut text = Vec::new();
        let _ = errors.read_to_end(&mut text);
        String::from_utf8_lossy(&text).trim().to_owned()
    });

    let mut console = Console::default();
    let start = Instant::now();
    let mut last = start;
    loop {
        match lines.recv_timeout(limit.saturating_sub(start.elapsed())) {
            Ok(line) => {
                last = Instant::now();
                heard(&line);
                console.line(&line);
            }
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) if console.over() => break,
            Err(RecvTimeoutError::Timeout) => {
                let (silent, console) = (last.elapsed(), console.shown());
                return Err(BootError::Hung { silent, limit, console });
            }
        }
    }
    let status = running.0.wait().context("wait for QEMU")?;
    let said = errors.join().unwrap_or_default();
    if !status.success() && !console.over() {
        // If a signal killed it, it prints nothing itself.
        let message = format!("{status}\n{said}").trim_end().to_owned();
        return Err(BootError::Qemu { program, message });
    }
    Ok(console)
}

/// Lines as they come, read by a thread, since QEMU may print nothing for a long time.
fn lines(output: impl Read + Send + 'static) -> Receiver<String> {
    let (send, receive) = channel();
    std::thread::spawn(move || {
        let mut output = BufReader::new(output);
        let mut line = Vec::new();
        while matches!(output.read_until(b'\n', &mut line), Ok(read) if read > 0) {
            if send.send(String::from_utf8_lossy(&line).into_owned()).is_err() {
                break;
            }
            line.clear();
        }
    });
    receive
}
