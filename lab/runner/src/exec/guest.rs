// SPDX-License-Identifier: MIT OR Apache-2.0
//! The boot that runs the program.

use std::{
    ffi::OsStr,
    fs::{self, Permissions},
    os::unix::{ffi::OsStrExt, fs::PermissionsExt},
    path::{Path, PathBuf},
};

use anyhow::{Context, ensure};
use serde::Deserialize;

use super::{Age, DAYS, Job, Outcome, Way, mappings, outcome};
use crate::{
    boot::{Case, Machine, boot, escaped, note},
    experiment,
    kernel::{self, Config, Request},
    model::Model,
    progress::Progress,
    workspace::Workspace,
};

/// The guest's last line.
#[derive(Deserialize)]
struct Said {
    exit: i32,
    signal: i32,
}

/// Builds the kernel if needed, boots it, and runs the program in it.
///
/// # Errors
/// A kernel that does not build, a boot that fails, a program that cannot be executed.
pub fn run(
    workspace: &Workspace,
    job: &Job,
    way: Way,
    progress: &Progress,
) -> anyhow::Result<Outcome> {
    let request =
        Request { arch: job.arch, variant: way.policy.variant(), config: Config::Programs };
    let image = kernel::ensure(&request, progress)?;
    let shared = Shared::new(job)?;
    let cache = outcome::colored_cache(&job.model)?;
    let model = Model { frames: true, ..job.model.clone() };
    let mut machine = Machine::plain(job.cpus, job.memory);
    machine.qemu_options = shared.options(&job.root);
    let mut arguments = arguments(job, way.age);
    way.policy.apply(cache.size, cache.ways, &mut machine, &mut arguments);
    machine.kernel_options.extend(job.kernel_options.iter().cloned());
    let case =
        Case { arguments, model: Some(model), limit: job.limit, ..Case::of("exec", machine) };
    let name = format!("{}, {}", way.policy.name(), way.age.name());
    progress.stage(&format!("{name}: booting"));
    let report = boot(workspace, &case.on(&request), &image.path, &mut |line| {
        if let Some(note) = note(line) {
            progress.step(|| format!("{name}: {note}"));
        }
    })?;
    let said = report.results.last().context("the guest printed no result")?;
    let said: Said =
        serde_json::from_value(said.clone()).context("the result that the guest printed")?;
    let errors = shared.read("stderr")?;
    ensure!(
        !report.records.is_empty(),
        "the program was not executed below {}: {}",
        job.root.display(),
        String::from_utf8_lossy(&errors).trim()
    );
    let processes = mappings::read(&fs::read_to_string(shared.path("mappings"))?)?;
    Outcome::new(
        way,
        &job.model,
        (image.version, (said.exit, said.signal)),
        &report,
        &processes,
        (shared.read("stdout")?, errors),
    )
}

fn arguments(job: &Job, age: Age) -> Vec<(String, String)> {
    let (days, dose) = match age {
        Age::Fresh => (0, Vec::new()),
        Age::Days(dose) => (DAYS, dose.arguments()),
    };
    let own = [("seed", job.seed.to_string()), ("days", days.to_string())];
    [experiment::arguments(own), dose].concat()
}

/// A folder that this machine and the guest both write to.
struct Shared(tempfile::TempDir);

impl Shared {
    fn new(job: &Job) -> anyhow::Result<Self> {
        // The environment may hold secrets.
        let mut folder = tempfile::Builder::new();
        let folder = folder.permissions(Permissions::from_mode(0o700)).tempdir();
        let shared = Shared(folder.context("make a temporary directory")?);
        let ended = |words: &mut dyn Iterator<Item = &OsStr>| -> Vec<u8> {
            words.flat_map(|word| [word.as_bytes(), b"\0"].concat()).collect()
        };
        let environment: Vec<_> = job
            .environment
            .iter()
            .map(|(name, value)| [name.as_os_str(), value].join(OsStr::new("=")))
            .collect();
        shared.write("arguments", &ended(&mut job.program.iter().map(AsRef::as_ref)))?;
        shared.write("environment", &ended(&mut environment.iter().map(AsRef::as_ref)))?;
        shared.write("directory", job.directory.as_os_str().as_bytes())?;
        Ok(shared)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, bytes: &[u8]) -> anyhow::Result<()> {
        let path = self.path(name);
        fs::write(&path, bytes).with_context(|| format!("write {}", path.display()))
    }

    fn read(&self, name: &str) -> anyhow::Result<Vec<u8>> {
        let path = self.path(name);
        fs::read(&path).with_context(|| format!("read {}", path.display()))
    }

    /// Both folders as devices of QEMU.
    fn options(&self, root: &Path) -> Vec<String> {
        let device = |id: &str, path: &Path, more: &str| {
            let path = escaped(path);
            vec![
                "-fsdev".to_owned(),
                format!("local,id={id},path={path},security_model=none,multidevs=remap{more}"),
                "-device".to_owned(),
                format!("virtio-9p-pci,fsdev={id},mount_tag={id}"),
            ]
        };
        [device("host", root, ",readonly=on"), device("job", self.0.path(), "")].concat()
    }
}
