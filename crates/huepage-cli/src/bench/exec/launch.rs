// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs the program once, in stirred memory, and looks at the cache before and after.

use std::{
    ffi::{OsStr, OsString},
    fs::File,
    io::{self, Read, Seek, stderr},
    os::unix::process::ExitStatusExt,
    path::{Path, PathBuf},
    process::{Command, ExitStatus, Stdio},
    time::Duration,
};

use anyhow::{Context, bail};
use huepage::{
    color::{Pressure, palette::Palette},
    units::Bytes,
};

use huepage_present::escape;

use super::{Arm, Cost, PlacerSum, runner::Launch, watch::Watch};
use crate::{
    bench::{
        moment::Moment,
        stir::{self, Stirred},
    },
    exit_text::exit_text,
    signals::ends_with_us,
};

/// What is run, and how.
pub struct Program {
    /// The program and its arguments.
    pub command: Vec<OsString>,
    /// The command that starts placed runs: `huepage run` and its options.
    pub placed_by: Vec<OsString>,
    /// Its standard input; empty if `None`.
    pub input: Option<PathBuf>,
    /// Whether the output of the program is shown.
    pub show_output: bool,
    /// Whether a run that fails counts like the others.
    pub ignore_failure: bool,
    /// A command for a shell, before each run.
    pub prepare: Option<OsString>,
    /// The CPUs that it runs on.
    pub cpus: Vec<u32>,
}

/// Runs a [`Program`] on this machine.
pub struct Launcher {
    program: Program,
    watch: Watch,
    /// Looks at the cache.
    palette: Option<Palette>,
    /// Its standard error in the last run.
    said: File,
    /// The most memory that a warm-up run had.
    memory: Bytes,
    rng: fastrand::Rng,
    /// The report of the last placed run that was asked for one.
    pub placing: Option<PlacerSum>,
}

/// Exit code of `huepage run` for its own failures.
const NOT_PLACED: i32 = 125;
/// Memory that is assumed for a program without a warm-up run.
const UNKNOWN: Bytes = Bytes::mib(64);
/// The memory that is stirred, as a multiple of the program's: if only a fifth to a
/// third is given back, few free pages have a free neighbor to merge with.
const TIMES: u64 = 4;

impl Launcher {
    /// # Errors
    /// If there is no file for standard error of programs.
    pub fn new(program: Program, palette: Option<Palette>, seed: u64) -> anyhow::Result<Self> {
        let flags = rustix::fs::MemfdFlags::CLOEXEC;
        let said = rustix::fs::memfd_create("stderr", flags).context("memory for messages")?;
        Ok(Launcher {
            watch: Watch::of(&program.cpus),
            program,
            palette,
            said: said.into(),
            memory: Bytes(0),
            rng: fastrand::Rng::with_seed(seed),
            placing: None,
        })
    }

    /// The most memory that a run had, or is assumed to have, and how much memory is
    /// stirred for it.
    pub fn memory(&self) -> (Bytes, Bytes) {
        let memory = if self.memory == Bytes(0) { UNKNOWN } else { self.memory };
        (memory, Bytes(memory.0.saturating_mul(TIMES)).min(stir::most()))
    }

    /// Stirs memory. At least half of it stays allocated, so that it lies between the
    /// pages that a program gets.
    fn stir(&mut self) -> anyhow::Result<Stirred> {
        let (memory, stirred) = self.memory();
        Stirred::new(stirred, memory.min(Bytes(stirred.0 * 2 / 5)), self.rng.u64(..))
    }

    fn look(&mut self) -> anyhow::Result<Option<Pressure>> {
        let look = |palette: &mut Palette| palette.pressure(Pressure::WAIT);
        Ok(self.palette.as_mut().map(look).transpose()?)
    }

    fn command(&self, arm: Arm, report: Option<&Path>) -> anyhow::Result<Command> {
        let words = match arm {
            Arm::Default | Arm::Control => self.program.command.clone(),
            Arm::Placed => {
                let mut words = self.program.placed_by.clone();
                if let Some(path) = report {
                    words.extend([OsString::from("--report"), path.into()]);
                }
                words.push("--".into());
                words.extend(self.program.command.iter().cloned());
                words
            }
        };
        let (program, arguments) = words.split_first().context("no program after --")?;
        let mut command = Command::new(program);
        command.args(arguments).stdin(match &self.program.input {
            Some(path) => Stdio::from(
                File::open(path).with_context(|| format!("--input {}", path.display()))?,
            ),
            None => Stdio::null(),
        });
        if self.program.show_output {
            command.stdout(stderr());
        } else {
            self.said.set_len(0)?;
            (&self.said).rewind()?;
            command.stdout(Stdio::null()).stderr(self.said.try_clone()?);
        }
        ends_with_us(&mut command);
        Ok(command)
    }

    /// The last lines that the program printed on standard error.
    fn last_words(&self) -> String {
        const LINES: usize = 8;
        let mut text = Vec::new();
        let read = (&self.said).rewind().and_then(|()| (&self.said).read_to_end(&mut text));
        if self.program.show_output || read.is_err() {
            return String::new();
        }
        let text = String::from_utf8_lossy(&text);
        let lines: Vec<&str> = text.lines().collect();
        let last = lines.iter().skip(lines.len().saturating_sub(LINES));
        last.map(|line| format!("\n  {}", escape::printable(line))).collect()
    }

    /// # Errors
    /// The error for a run that ended with `status`; none if the run counts.
    fn judge(&self, arm: Arm, status: ExitStatus) -> anyhow::Result<()> {
        let not_placed = arm == Arm::Placed && status.code() == Some(NOT_PLACED);
        if status.success() || self.program.ignore_failure && !not_placed {
            return Ok(());
        }
        let name = escape::printable(&self.program.command[0].to_string_lossy());
        let words = self.last_words();
        if not_placed {
            bail!(
                "'huepage run --must' ended with exit code {NOT_PLACED}: '{name}' cannot be placed \
                 here{words}"
            );
        }
        let by = if arm == Arm::Placed { " when run by 'huepage run'" } else { "" };
        bail!(
            "'{name}' {}{by}; --ignore-failure measures it nevertheless, --show-output shows what \
             it prints{words}",
            exit_text(status)
        );
    }
}

impl Launch for Launcher {
    fn launch(&mut self, arm: Arm, recorded: bool) -> anyhow::Result<(Cost, Moment)> {
        if let Some(prepare) = &self.program.prepare {
            shell("--prepare", prepare, self.program.show_output)?;
        }
        let directory = match arm {
            // A report is written while the program runs and waited for at its end, so
            // only runs that do not count have one.
            Arm::Placed if !recorded => {
                Some(tempfile::tempdir().context("a directory for the report of huepage run")?)
            }
            _ => None,
        };
        let report = directory.as_ref().map(|directory| directory.path().join("report.json"));
        let mut command = self.command(arm, report.as_deref())?;
        // The memory of a program is measured in runs before any stirring: a child
        // begins as a copy of this process, and the kernel counts that copy as memory
        // of the child.
        let stirred = recorded.then(|| self.stir()).transpose()?;
        let before = self.look()?;
        let begun = self.watch.begin();
        let (status, usage) = run(&mut command)
            .with_context(|| format!("cannot run '{}'", command.get_program().display()))?;
        let user = duration(usage.ru_utime);
        let system = duration(usage.ru_stime);
        let moment = self.watch.end(begun, user + system);
        let after = self.look()?;
        drop(stirred);
        self.judge(arm, status)?;
        if let Some(path) = report {
            self.placing = PlacerSum::read(&path);
        }
        let looks = || before.iter().chain(&after);
        let moment = Moment {
            evicted: looks().filter_map(|look| look.share()).reduce(f64::max),
            cache_quiet: looks().map(Pressure::is_quiet).reduce(|a, b| a && b),
            ..moment
        };
        if !recorded {
            // In KiB, of the largest of its processes (getrusage(2)).
            self.memory = self.memory.max(Bytes::kib(usage.ru_maxrss as u64));
        }
        let cost = Cost {
            elapsed: moment.elapsed as f64 / 1e9,
            user: user.as_secs_f64(),
            system: system.as_secs_f64(),
            succeeded: status.success(),
        };
        Ok((cost, moment))
    }
}

/// Runs a command to its end; returns its status, and its resource usage.
fn run(command: &mut Command) -> io::Result<(ExitStatus, libc::rusage)> {
    let pid = command.spawn()?.id() as libc::pid_t;
    // SAFETY: all fields of the structure are integers, for which zero is valid.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    let mut status = 0;
    loop {
        // SAFETY: both pointers are to structures of the types asked for. The child is
        // waited for only here, and its handle is not kept.
        if unsafe { libc::wait4(pid, &mut status, 0, &mut usage) } == pid {
            return Ok((ExitStatus::from_raw(status), usage));
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}

fn duration(time: libc::timeval) -> Duration {
    Duration::new(time.tv_sec as u64, time.tv_usec as u32 * 1000)
}

/// Runs a line for a shell, such as that of --setup.
///
/// # Errors
/// If it fails, named as its option.
pub fn shell(option: &str, line: &OsStr, show_output: bool) -> anyhow::Result<()> {
    let mut command = Command::new("sh");
    command.arg("-c").arg(line).stdin(Stdio::null());
    if show_output {
        command.stdout(stderr());
    } else {
        command.stdout(Stdio::null());
    }
    ends_with_us(&mut command);
    let status = command.status().with_context(|| format!("{option}: cannot run sh"))?;
    if !status.success() {
        bail!("{option} '{}' {}", escape::printable(&line.to_string_lossy()), exit_text(status));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn launcher(line: &str, change: impl FnOnce(&mut Program)) -> Launcher {
        let mut program = Program {
            command: ["sh", "-c", line].map(OsString::from).into(),
            // Replaces huepage run: the words after -- are the command.
            placed_by: ["sh", "-c", "shift; PLACED=1 exec \"$@\"", "run"]
                .map(OsString::from)
                .into(),
            input: None,
            show_output: false,
            ignore_failure: false,
            prepare: None,
            cpus: huepage::topology::allowed_cpus().unwrap(),
        };
        change(&mut program);
        Launcher::new(program, None, 1).unwrap()
    }

    #[test]
    fn a_run_costs_what_the_kernel_says_of_it() {
        let mut launcher = launcher("sleep 0.2", |_| ());
        let (cost, moment) = launcher.launch(Arm::Default, true).unwrap();
        assert!(cost.elapsed >= 0.2 && cost.elapsed >= cost.user + cost.system - 0.02, "{cost:?}");
        assert!(cost.succeeded, "{cost:?}");
        assert_eq!((moment.cache_quiet, moment.switches), (None, 0));
        let (busy, _) =
            super::tests::launcher("i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done", |_| ())
                .launch(Arm::Default, true)
                .unwrap();
        assert!(busy.user > cost.user, "{busy:?} {cost:?}");
    }

    #[test]
    fn arms_differ_in_who_starts_the_program() {
        let mut launcher = launcher("[ \"$PLACED\" = 1 ]", |_| ());
        assert!(launcher.launch(Arm::Placed, true).unwrap().0.succeeded);
        for arm in [Arm::Default, Arm::Control] {
            let error = launcher.launch(arm, true).unwrap_err().to_string();
            assert!(error.starts_with("'sh' ended with exit code 1; --ignore-failure"), "{error}");
        }
    }

    #[test]
    fn a_failure_is_told_with_the_last_words_or_ignored_as_asked() {
        let line = "echo nothing; echo wrong\\\\ argument >&2; kill -TERM $$";
        let error = launcher(line, |_| ()).launch(Arm::Placed, true).unwrap_err().to_string();
        assert!(
            error.starts_with("'sh' was ended by signal 15 when run by 'huepage run'"),
            "{error}"
        );
        assert!(error.contains("\n  wrong") && !error.contains("nothing"), "{error}");
        let mut ignoring = launcher(line, |program| program.ignore_failure = true);
        assert!(!ignoring.launch(Arm::Placed, true).unwrap().0.succeeded);
    }

    /// Otherwise a comparison of default with default would be called one with placed.
    #[test]
    fn what_cannot_be_placed_is_an_error_though_failures_are_ignored() {
        let mut launcher = launcher("exit 125", |program| program.ignore_failure = true);
        assert!(launcher.launch(Arm::Default, true).is_ok());
        let error = launcher.launch(Arm::Placed, true).unwrap_err().to_string();
        assert!(error.contains("cannot be placed here"), "{error}");
    }

    #[test]
    fn each_run_has_its_input_and_is_prepared() {
        let directory = tempfile::tempdir().unwrap();
        let (input, count) = (directory.path().join("in"), directory.path().join("count"));
        std::fs::write(&input, "7\n").unwrap();
        let mut launcher = launcher("read n && [ $n = 7 ]", |program| {
            program.input = Some(input.clone());
            program.prepare = Some(format!("echo x >> {}", count.display()).into());
        });
        for arm in Arm::ALL {
            launcher.launch(arm, true).unwrap();
        }
        assert_eq!(std::fs::read_to_string(&count).unwrap().lines().count(), 3);
        let error = shell("--setup", OsStr::new("exit 9"), false).unwrap_err().to_string();
        assert_eq!(error, "--setup 'exit 9' ended with exit code 9");
    }

    #[test]
    fn as_much_is_stirred_as_a_program_takes_and_some_more() {
        let mut launcher = launcher("true", |_| ());
        let limited = |wanted: Bytes| wanted.min(stir::most());
        assert_eq!(launcher.memory(), (UNKNOWN, limited(Bytes::mib(256))));
        launcher.launch(Arm::Default, false).unwrap();
        let (memory, stirred) = launcher.memory();
        assert!(memory > Bytes::kib(500) && memory < Bytes::mib(1000), "{memory}");
        assert_eq!(stirred, limited(Bytes(TIMES * memory.0)));
        // Stirred memory does not count as the program's; otherwise it would grow with
        // each run.
        for _ in 0..3 {
            launcher.launch(Arm::Default, true).unwrap();
        }
        assert_eq!(launcher.memory(), (memory, stirred));
        launcher.memory = Bytes(1 << 50);
        assert!(launcher.memory().1 <= stir::most(), "never more than there is room for");
    }
}
