// SPDX-License-Identifier: MIT OR Apache-2.0
//! Debian's own configuration of a kernel, from its package.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, bail};

use super::{flavour::Flavour, source::Archive};
use crate::{progress::Progress, workspace::files};

const PACKAGE: &str = "linux-config-6.12";

/// The text of a flavour's configuration: from the directory that
/// `HUEPAGE_LINUX_CONFIG` names, otherwise from Debian's archive, in the version of the
/// source.
///
/// # Errors
/// If it is not available; the error says how to get it.
pub fn read(archive: &Archive, flavour: Flavour, progress: &Progress) -> anyhow::Result<String> {
    let name = format!("config.{}_none_{}.xz", flavour.debian_arch(), flavour.name());
    let given = env::var_os("HUEPAGE_LINUX_CONFIG").map(PathBuf::from);
    if let Some(directory) = given {
        return unpack(&directory.join(name));
    }
    progress.stage(&format!("getting {PACKAGE} for {}", flavour.debian_arch()));
    let scratch = tempfile::tempdir().context("make a temporary directory")?;
    download(archive, flavour, scratch.path()).with_context(|| {
        format!(
            "{PACKAGE} is not to be had; unpack it elsewhere (dpkg-deb -x), and name its \
             usr/src/{PACKAGE} in HUEPAGE_LINUX_CONFIG"
        )
    })?;
    unpack(&scratch.path().join("unpacked/usr/src").join(PACKAGE).join(name))
}

/// Fetches the package with apt's sources and keys, into lists of its own: it works
/// without root, and for an architecture that this machine does not have.
fn download(archive: &Archive, flavour: Flavour, scratch: &Path) -> anyhow::Result<()> {
    let apt = |command: &str, arguments: &[&str]| {
        for folder in ["lists/partial", "cache/archives/partial"] {
            fs::create_dir_all(scratch.join(folder))?;
        }
        let mut apt = Command::new("apt-get");
        apt.current_dir(scratch).args(["--quiet=2", "-o"]);
        apt.arg(format!("APT::Architecture={}", flavour.debian_arch()));
        apt.args(["-o", &format!("APT::Architectures::={}", flavour.debian_arch())]);
        for (option, folder) in [("Dir::State::Lists", "lists"), ("Dir::Cache", "cache")] {
            apt.args(["-o", &format!("{option}={}", scratch.join(folder).display())]);
        }
        // As root, apt would otherwise switch to a user who may not write here.
        apt.args(["-o", "APT::Sandbox::User=root", command]).args(arguments);
        succeed(apt)
    };
    apt("update", &[])?;
    let wanted = match &archive.package {
        Some(version) => format!("{PACKAGE}={version}"),
        None => PACKAGE.to_owned(),
    };
    apt("download", &[&wanted])?;
    let packages = files(scratch, &["deb"])?;
    let file = packages.first().context("apt-get download left no file")?;
    let mut unpack = Command::new("dpkg-deb");
    unpack.arg("--extract").arg(file).arg(scratch.join("unpacked"));
    succeed(unpack)
}

fn unpack(path: &Path) -> anyhow::Result<String> {
    fs::metadata(path).with_context(|| path.display().to_string())?;
    let output = Command::new("xz").args(["--decompress", "--stdout"]).arg(path).output();
    let output = output.context("xz is missing: run ./setup lab")?;
    if !output.status.success() {
        bail!("xz could not unpack {}: {}", path.display(), said(&output.stderr));
    }
    String::from_utf8(output.stdout).with_context(|| format!("{}: not UTF-8", path.display()))
}

fn succeed(mut command: Command) -> anyhow::Result<()> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.output().with_context(|| format!("{name} is missing"))?;
    if !output.status.success() {
        bail!("{name} failed ({}): {}", output.status, said(&output.stderr));
    }
    Ok(())
}

fn said(stderr: &[u8]) -> String {
    String::from_utf8_lossy(stderr).trim().to_owned()
}
