// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where palettes are looked for, and what may be done about a missing one.

use std::{env, path::PathBuf, time::Duration};

/// For whom a palette is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Audience {
    /// For the user who made it.
    User,
    /// For all users: made by the administrator.
    All,
}

/// Where to look for a palette, and how long to wait for one.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PaletteOptions {
    /// Where the administrator's palette is; `None`: it is not looked at.
    pub shared: Option<PathBuf>,
    /// The directory in which the user's own has its directory.
    pub own: PathBuf,
    /// Whether to make one where there is none that is good.
    pub make: bool,
    /// How long to wait for another process that makes one. Then this process
    /// makes one for itself.
    pub wait: Duration,
}

impl PaletteOptions {
    /// Where the administrator's palette is.
    pub const SHARED: &'static str = "/run/huepage";

    /// The default places: `/run/huepage` for the administrator's palette. For the
    /// user's own `$XDG_RUNTIME_DIR`, else the directory that it usually names,
    /// `/run/user/UID` (so that a program started by cron finds the palette of a
    /// login), else `/dev/shm`. At most ten seconds for another maker.
    pub fn new() -> Self {
        let usual = || {
            let path = PathBuf::from(format!("/run/user/{}", rustix::process::geteuid()));
            path.is_dir().then_some(path)
        };
        let own = env::var_os("XDG_RUNTIME_DIR")
            .map(PathBuf::from)
            .filter(|path| path.is_absolute() && path.is_dir())
            .or_else(usual)
            .unwrap_or_else(|| PathBuf::from("/dev/shm"));
        Self::with_own(own)
    }

    /// As [`PaletteOptions::new`], with the directory of the user's own palette given.
    /// The environment, which other threads may be changing, is not read.
    pub fn with_own(own: PathBuf) -> Self {
        PaletteOptions {
            shared: Some(PathBuf::from(Self::SHARED)),
            own,
            make: true,
            wait: Duration::from_secs(10),
        }
    }
}

impl Default for PaletteOptions {
    fn default() -> Self {
        Self::new()
    }
}
