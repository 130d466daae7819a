// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs a command that goes on after it was mapped: for servers, which do not end.

use std::{
    ffi::OsString,
    io::{IsTerminal, stderr},
    process::Child,
    time::{Duration, Instant},
};

use anyhow::{Context, bail};
use huepage::map::ProcessMap;

use super::{launch::to_standard_error, read::Reader};
use crate::signals::{LeftToCommand, ends_with_us};

/// How often to check whether the command has ended.
const STEP: Duration = Duration::from_millis(20);

/// A command that was mapped and runs on.
pub struct BackgroundCommand {
    child: Child,
    name: String,
}

/// Starts the command and maps it `after` that.
///
/// # Errors
/// If it cannot be run or mapped, or ends before.
pub fn map(
    reader: &Reader,
    command: &[OsString],
    after: Duration,
) -> anyhow::Result<(ProcessMap, BackgroundCommand)> {
    let (mut command, name) = to_standard_error(command)?;
    ends_with_us(&mut command);
    let child = command.spawn().with_context(|| format!("cannot run '{name}'"))?;
    let mut background = BackgroundCommand { child, name };
    let begin = Instant::now();
    while let Some(left) = after.checked_sub(begin.elapsed()) {
        if background.has_ended()? {
            bail!(
                "'{}' ended before {} s had passed: without --after it is mapped as it ends",
                background.name,
                after.as_secs_f64()
            );
        }
        std::thread::sleep(left.min(STEP));
    }
    match reader.read(background.child.id()) {
        Ok(map) => Ok((map, background)),
        Err(error) => {
            let _ = background.child.kill();
            let _ = background.child.wait();
            Err(error.into())
        }
    }
}

impl BackgroundCommand {
    fn has_ended(&mut self) -> anyhow::Result<bool> {
        Ok(self.child.try_wait().context("waiting for the command")?.is_some())
    }

    /// Waits until the command ends, by itself or by Ctrl-C.
    ///
    /// # Errors
    /// If it cannot be waited for.
    pub fn wait(mut self) -> anyhow::Result<()> {
        let _signals = LeftToCommand::begin();
        if !self.has_ended()? && stderr().is_terminal() {
            eprintln!("huepage: '{}' runs on, Ctrl-C ends it", self.name);
        }
        self.child.wait().context("waiting for the command")?;
        Ok(())
    }
}
