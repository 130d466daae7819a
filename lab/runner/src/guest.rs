// SPDX-License-Identifier: MIT OR Apache-2.0
//! Guest programs: static C, one file each in `lab/guest`, packed as the only
//! program of an initial file system.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, bail};

use crate::{arch::Arch, initramfs, workspace::Workspace};

/// Compiles `lab/guest/NAME.c` unless that has been done, and returns the
/// initial file system with it.
///
/// # Errors
/// No such program, no compiler, or the compiler's own message.
pub fn initramfs(workspace: &Workspace, arch: Arch, name: &str) -> anyhow::Result<PathBuf> {
    let (sources, _) = sources(workspace, name)?;
    let folder = workspace.lab().join("guest").join(arch.name());
    fs::create_dir_all(&folder).with_context(|| format!("make {}", folder.display()))?;
    let packed = folder.join(format!("{name}.cpio"));
    if up_to_date(&packed, &sources)? {
        return Ok(packed);
    }
    // Several runs may build at the same time: each has its own file, renamed when
    // complete.
    let unique = format!("{name}.{}.{:?}", std::process::id(), std::thread::current().id());
    let archive = initramfs::archive(&program(workspace, arch, name)?);
    let whole = folder.join(format!("{unique}.cpio"));
    fs::write(&whole, archive).with_context(|| format!("write {}", whole.display()))?;
    fs::rename(&whole, &packed).with_context(|| format!("write {}", packed.display()))?;
    Ok(packed)
}

/// The program itself, to be packed with other files.
pub fn program(workspace: &Workspace, arch: Arch, name: &str) -> anyhow::Result<Vec<u8>> {
    let (sources, source) = sources(workspace, name)?;
    let scratch = tempfile::tempdir().context("make a temporary directory")?;
    let program = scratch.path().join(name);
    compile(arch, &source, &sources.join("lab.c"), &program)?;
    fs::read(&program).context("read the guest program")
}

/// `lab/guest`, and `NAME.c` in it.
fn sources(workspace: &Workspace, name: &str) -> anyhow::Result<(PathBuf, PathBuf)> {
    let sources = workspace.root().join("lab/guest");
    let source = sources.join(format!("{name}.c"));
    if !source.is_file() {
        bail!("no guest program {}", source.display());
    }
    Ok((sources, source))
}

/// Whether it is newer than every source.
fn up_to_date(packed: &Path, sources: &Path) -> anyhow::Result<bool> {
    let Ok(made) = fs::metadata(packed).and_then(|meta| meta.modified()) else { return Ok(false) };
    for file in fs::read_dir(sources).context("list lab/guest")? {
        let file = file.context("list lab/guest")?;
        let changed = file.metadata().and_then(|meta| meta.modified());
        if changed.context("list lab/guest")? >= made {
            return Ok(false);
        }
    }
    Ok(true)
}

fn compile(arch: Arch, source: &Path, shared: &Path, program: &Path) -> anyhow::Result<()> {
    let compiler = compiler(arch);
    let output = Command::new(&compiler)
        .args(["-std=gnu11", "-Wall", "-Wextra", "-Werror", "-O2", "-static", "-pthread", "-o"])
        .arg(program)
        .args([source, shared])
        .arg("-lm")
        .output()
        .with_context(|| format!("run {compiler} (missing? ./setup lab installs it)"))?;
    if !output.status.success() {
        bail!(
            "{compiler} refuses {}:\n{}",
            source.display(),
            String::from_utf8_lossy(&output.stderr)
        );
    }
    Ok(())
}

fn compiler(arch: Arch) -> String {
    if arch.is_native() { "cc".into() } else { arch.toolchain_prefix().to_owned() + "gcc" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_is_not_there_is_named() {
        let workspace = Workspace::find().unwrap();
        let error = initramfs(&workspace, Arch::X86_64, "nothing").unwrap_err().to_string();
        assert!(error.contains("lab/guest/nothing.c"), "{error}");
    }
}
