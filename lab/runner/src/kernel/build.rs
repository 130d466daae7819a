// SPDX-License-Identifier: MIT OR Apache-2.0
//! Builds the image for a request.

use std::{
    env, fs,
    path::{Path, PathBuf},
    time::Instant,
};

use anyhow::{Context, bail, ensure};

use super::{
    changes::Changes,
    fragments::{Settings, Unmet},
    hooks,
    inputs::Inputs,
    install::{self, Image},
    lock::{self, Lock},
    make::Make,
    request::{Config, Request, Variant},
    source::{Archive, Source},
    tree,
};
use crate::{arch::Arch, progress::Progress, workspace::Workspace};

/// The image of a kernel, built if any of its inputs changed. Programs that request the
/// same image take turns.
///
/// # Errors
/// If the source or a compiler is missing, a hook does not apply, Kconfig does not
/// take an option of a fragment, or the build fails.
pub fn ensure(request: &Request, progress: &Progress) -> anyhow::Result<Image> {
    let workspace = Workspace::find()?;
    let changes = changes_of(&workspace, request)?;
    ensure_with(&workspace, request, changes, Options::MustExist, progress)
}

/// The hash of all inputs of an image, which is part of its name; nothing is built.
pub fn hash(workspace: &Workspace, request: &Request) -> anyhow::Result<String> {
    let changes = changes_of(workspace, request)?;
    let archive = Archive::find()?;
    Ok(Inputs::read(workspace, request, &archive, changes, &request.fragments())?.hash())
}

/// The changes of a kernel to Debian's.
fn changes_of(workspace: &Workspace, request: &Request) -> anyhow::Result<Changes> {
    let ours = match request.variant {
        Variant::Stock => Changes::default(),
        Variant::Huepage => Changes::read(&workspace.kernel())?,
    };
    Ok(match request.config {
        // Changes that experiments compare with.
        Config::Lab => ours.and(Changes::read(&workspace.root().join("lab/kernel"))?),
        _ => ours,
    })
}

/// How to treat options of our own that the kernel does not know.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Options {
    /// Refuse to build.
    MustExist,
    /// Their patch comes later in the series.
    MayComeLater,
}

/// As [`ensure`], with these changes.
pub(super) fn ensure_with(
    workspace: &Workspace,
    request: &Request,
    changes: Changes,
    options: Options,
    progress: &Progress,
) -> anyhow::Result<Image> {
    check(request)?;
    if request.variant == Variant::Huepage && changes.is_empty() {
        progress.note(
            "kernel/ has neither overlay nor hooks yet: the variant huepage is the stock kernel",
        );
        let stock = Request { variant: Variant::Stock, ..*request };
        return ensure_with(workspace, &stock, changes, options, progress);
    }
    let archive = Archive::find()?;
    let inputs = Inputs::read(workspace, request, &archive, changes, &request.fragments())?;
    let hash = inputs.hash();
    let directory = workspace.lab().join("kernel").join(format!("{request}-{hash}"));
    if let Some(image) = install::finished(&directory)? {
        return Ok(image);
    }

    let name = format!("{request}-{}", inputs.objects());
    let _lock = lock::take(&workspace.lab().join("locks"), &name, progress)?;
    if let Some(image) = install::finished(&directory)? {
        return Ok(image);
    }
    let begin = Instant::now();
    build(workspace, &archive, &inputs, &name, options, progress, |make, version| {
        refuse_warnings(make, &inputs.changes)?;
        let image = Image { path: request.image().1.into(), version: version.to_owned(), hash };
        let image = install::finish(&directory, make.objects, image)?;
        progress.note(&format!("{request}: Linux {version}, built in {}", took(begin)));
        Ok(image)
    })
}

/// The tree to build in; locked during the build, since all kernels with our changes
/// are built from one tree. Those for the lab have trees of their own: files that are
/// added and removed again would be compiled anew.
fn tree_of(
    workspace: &Workspace,
    inputs: &Inputs,
    source: &Source,
    progress: &Progress,
) -> anyhow::Result<(PathBuf, Option<Lock>)> {
    let Inputs { request, source: id, changes, .. } = inputs;
    if changes.is_empty() {
        return Ok((source.directory.clone(), None));
    }
    let name = match request.config {
        Config::Lab => format!("tree-{}-lab-{id}", request.variant.name()),
        _ => format!("tree-{id}"),
    };
    let (tree, lock) = tree::apply(workspace, &name, source, changes, progress)?;
    Ok((tree, Some(lock)))
}

/// The linked kernel, `vmlinux`, of a variant with none of our options: it shows what
/// our changes do to the stock kernel if they are not configured. Copied to `to`.
pub(super) fn unconfigured(
    workspace: &Workspace,
    request: &Request,
    to: &Path,
    progress: &Progress,
) -> anyhow::Result<()> {
    let changes = changes_of(workspace, request)?;
    let archive = Archive::find()?;
    // Stock kernels do not know our options.
    let fragments = Request { variant: Variant::Stock, ..*request }.fragments();
    let inputs = Inputs::read(workspace, request, &archive, changes, &fragments)?;
    let name = match request.variant {
        Variant::Stock => format!("{request}-{}", inputs.objects()),
        Variant::Huepage => format!("{request}-unconfigured-{}", inputs.objects()),
    };
    let _lock = lock::take(&workspace.lab().join("locks"), &name, progress)?;
    build(workspace, &archive, &inputs, &name, Options::MustExist, progress, |make, _| {
        let from = make.objects.join("vmlinux");
        fs::copy(&from, to)
            .with_context(|| format!("copy {} to {}", from.display(), to.display()))?;
        Ok(())
    })
}

/// User-mode Linux runs on the machine that builds it, and in 6.12 exists for x86 only.
/// Memory tags exist on arm64 only.
fn check(request: &Request) -> anyhow::Result<()> {
    if request.config == Config::Kunit
        && (request.arch != Arch::X86_64 || env::consts::ARCH != "x86_64")
    {
        bail!(
            "kunit is User-mode Linux, which Linux 6.12 has for x86_64 on x86_64 only; this is {} \
             on {}",
            request.arch,
            env::consts::ARCH
        );
    }
    if request.config == Config::Mte && request.arch != Arch::Arm64 {
        bail!("mte is arm64's Memory Tagging Extension; this is {}", request.arch);
    }
    Ok(())
}

/// Builds in the objects of this name, which the caller has locked. `take` gets the
/// result, and the kernel's version, while the tree is locked.
fn build<T>(
    workspace: &Workspace,
    archive: &Archive,
    inputs: &Inputs,
    name: &str,
    options: Options,
    progress: &Progress,
    take: impl FnOnce(&Make, &str) -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    let Inputs { request, settings, toolchain, .. } = inputs;
    let source = archive.unpack(workspace, progress)?;
    let (tree, _tree_lock) = tree_of(workspace, inputs, &source, progress)?;
    let objects = workspace.lab().join("objects").join(name);
    let make = Make { tree: &tree, objects: &objects, arch: request.kbuild_arch(), toolchain };
    fs::create_dir_all(make.objects).with_context(|| format!("make {}", make.objects.display()))?;
    let wanted = make.objects.join("fragments.config");
    fs::write(&wanted, settings.allconfig())
        .with_context(|| format!("write {}", wanted.display()))?;
    make.begin()?;
    progress.stage(&format!("{request}: configuring"));
    make.run(&["allnoconfig", &format!("KCONFIG_ALLCONFIG={}", wanted.display())], |_, _| {})?;
    check_config(settings, &make.objects.join(".config"), options)?;
    progress.stage(&format!("{request}: compiling"));
    make.run(&[request.image().0], |objects, file| {
        progress.step(|| format!("{request}: {objects} compiled, {file}"));
    })?;
    take(&make, &source.version)
}

/// Warnings of the compiler about files that we add or change are mistakes of ours; the
/// kernel's own warnings depend on the version of the compiler. These files are
/// compiled again the next time, with the same warnings.
fn refuse_warnings(make: &Make, changes: &Changes) -> anyhow::Result<()> {
    let mut files: Vec<String> = changes.overlay().map(|(name, _)| name.to_owned()).collect();
    for hook in changes.hooks() {
        files.extend(hooks::files(hook)?);
    }
    let mut ours = Vec::new();
    for line in make.warnings()? {
        let Some(file) = files.iter().find(|file| line.contains(&format!("{file}:"))) else {
            continue;
        };
        let _ = fs::remove_file(make.objects.join(file).with_extension("o"));
        ours.push(line);
    }
    ensure!(ours.is_empty(), "the compiler warns of our changes:\n  {}", ours.join("\n  "));
    Ok(())
}

/// Kconfig silently drops options that it does not know or that lack a dependency.
pub(super) fn check_config(
    settings: &Settings,
    path: &Path,
    options: Options,
) -> anyhow::Result<()> {
    let text = fs::read_to_string(path).with_context(|| format!("read {}", path.display()))?;
    let mut unmet = settings.unmet(&text);
    if options == Options::MayComeLater {
        unmet.retain(|unmet| !unmet.is_ours());
    }
    if unmet.is_empty() {
        return Ok(());
    }
    let lines: Vec<String> = unmet.iter().map(Unmet::to_string).collect();
    bail!("lab/configs does not fit this kernel:\n  {}", lines.join("\n  "))
}

fn took(begin: Instant) -> String {
    let seconds = begin.elapsed().as_secs();
    format!("{} min {} s", seconds / 60, seconds % 60)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::toolchain::Toolchain;

    #[test]
    fn warnings_of_our_files_are_refused_until_they_are_gone() {
        let top = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = top.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("overlay/mm/ours.c", "");
        write("hooks/0001-a.patch", "+++ b/mm/ksm.c\n");
        let changes = Changes::read(top.path()).unwrap();
        let toolchain = Toolchain { prefix: "", version: "gcc 1".into(), ccache: false };
        let objects = top.path();
        let make = Make { tree: objects, objects, arch: "x", toolchain: &toolchain };
        let refused = |log: &str| {
            write("build.log", log);
            refuse_warnings(&make, &changes).err().map(|error| error.to_string())
        };
        assert_eq!(refused("/tree/mm/theirs.c:1:2: warning: odd\n"), None);
        assert_eq!(refused("/tree/mm/ours.c:1:2: note: odd\n"), None);
        write("mm/ours.o", "");
        let message = refused("/tree/mm/ours.c:1:2: warning: odd\n").unwrap();
        assert!(message.ends_with("of our changes:\n  /tree/mm/ours.c:1:2: warning: odd"));
        assert!(!objects.join("mm/ours.o").exists());
        assert!(refused("mm/ksm.c:1:2: warning: odd\n").is_some());
    }
}
