// SPDX-License-Identifier: MIT OR Apache-2.0
//! Programs of `tools/testing/selftests`, built statically, with the new ones of our
//! overlay. They are the same for every kernel of an architecture, since kernels are
//! compared by them.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, bail};

use super::{
    changes::Changes,
    inputs::Hasher,
    lock::{self, Lock},
    make::{self, Make},
    source::{Archive, Source},
    toolchain::Toolchain,
    tree,
};
use crate::{arch::Arch, progress::Progress, workspace::Workspace};

/// The libraries that programs are linked with, by Debian's names.
const LIBRARIES: &str = "libcap-dev, libnuma-dev, liburing-dev";

/// Headers of the kernel itself that programs share with it.
const SHARED: [&str; 2] = ["include/vdso/time64.h", "mm/gup_test.h"];

/// The directory where selftests are built, locked for this program.
pub struct Selftests {
    arch: Arch,
    toolchain: Toolchain,
    directory: PathBuf,
    _lock: Lock,
}

impl Selftests {
    /// Prepares the sources: `tools` of the kernel's tree and its exported headers.
    ///
    /// # Errors
    /// If the source or a compiler is missing, or a hook does not apply.
    pub fn prepare(workspace: &Workspace, arch: Arch, progress: &Progress) -> anyhow::Result<Self> {
        let archive = Archive::find()?;
        let toolchain = Toolchain::find(arch)?;
        let mut hasher = Hasher::new();
        hasher.add("source", &archive.id);
        hasher.add("compiler", &toolchain.version);
        let name = format!("{arch}-{}", hasher.finish());
        let lock =
            lock::take(&workspace.lab().join("locks"), &format!("selftests-{name}"), progress)?;
        let source = archive.unpack(workspace, progress)?;
        let directory = workspace.lab().join("selftests").join(name);
        let selftests = Selftests { arch, toolchain, directory, _lock: lock };
        selftests.stage(&source, &Changes::read(&workspace.kernel())?)?;
        selftests.headers(&source, progress)?;
        Ok(selftests)
    }

    /// A file of a test as it is in the tree: `memory-hotplug/mem-on-off-test.sh`.
    pub fn source(&self, test: &str) -> PathBuf {
        self.directory.join("tree/tools/testing/selftests").join(test)
    }

    /// Makes programs, by directory and name, such as `mm/cow`, and gives their paths
    /// in the same order.
    ///
    /// # Errors
    /// If one cannot be built, with what the compiler says.
    pub fn build(&self, programs: &[&str], progress: &Progress) -> anyhow::Result<Vec<PathBuf>> {
        let mut folders: Vec<&str> = programs.iter().map(|program| folder(program)).collect();
        folders.sort_unstable();
        folders.dedup();
        for name in folders {
            let built = self.directory.join("built").join(name);
            fs::create_dir_all(&built).with_context(|| format!("make {}", built.display()))?;
            let of_folder = programs.iter().filter(|program| folder(program) == name);
            let goals: Vec<PathBuf> = of_folder.map(|program| self.built(program)).collect();
            progress.stage(&format!("{}: building {} selftests of {name}", self.arch, goals.len()));
            self.make(name, &built, &goals)?;
        }
        Ok(programs.iter().map(|program| self.built(program)).collect())
    }

    fn built(&self, program: &str) -> PathBuf {
        self.directory.join("built").join(program)
    }

    /// Copies the directories, since some Makefiles write into theirs. Files are not
    /// written to, so they may be hard links.
    fn stage(&self, source: &Source, changes: &Changes) -> anyhow::Result<()> {
        let tree = self.directory.join("tree");
        fs::create_dir_all(&tree).with_context(|| format!("make {}", tree.display()))?;
        if !tree.join("tools").exists() {
            tree::link(&source.directory.join("tools"), &tree.join("tools"))?;
        }
        let wanted = tree::wanted(&source.directory, changes)?;
        for (path, bytes) in wanted.iter().filter(|(path, _)| path.starts_with("tools/")) {
            tree::write(&tree.join(path), bytes)?;
        }
        for header in SHARED {
            let bytes = fs::read(source.directory.join(header));
            tree::write(&tree.join(header), &bytes.with_context(|| header.to_owned())?)?;
        }
        Ok(())
    }

    fn headers(&self, source: &Source, progress: &Progress) -> anyhow::Result<()> {
        let objects = self.directory.join("headers");
        if objects.join("usr/include/linux/mman.h").exists() {
            return Ok(());
        }
        progress.stage(&format!("{}: exporting the kernel's headers", self.arch));
        fs::create_dir_all(&objects).with_context(|| format!("make {}", objects.display()))?;
        let make = Make {
            tree: &source.directory,
            objects: &objects,
            arch: self.arch.name(),
            toolchain: &self.toolchain,
        };
        make.begin()?;
        make.run(&["headers"], |_, _| {})
    }

    fn make(&self, folder: &str, output: &Path, goals: &[PathBuf]) -> anyhow::Result<()> {
        let headers = self.directory.join("headers/usr/include");
        let made = make::make()
            .arg("-C")
            .arg(self.source(folder))
            .arg(format!("ARCH={}", self.arch))
            .arg(format!("CROSS_COMPILE={}", self.toolchain.prefix))
            .arg(format!("OUTPUT={}", output.display()))
            .arg(format!("KHDR_INCLUDES=-isystem {}", headers.display()))
            // Some rules use one variable, some the other. khugepaged.c of 6.12.117
            // uses the exit code and does not include its header.
            .args(["USERLDFLAGS=-static -s", "EXTRA_CFLAGS=-static -DKSFT_SKIP=4"])
            .args(goals)
            .output()
            .context("make is missing: run ./setup lab")?;
        if !made.status.success() {
            let said = String::from_utf8_lossy(&made.stderr).into_owned();
            let wrong = said.lines().filter(|line| line.contains("rror")).take(10);
            let wrong: Vec<String> = wrong.map(|line| format!("  {line}")).collect();
            bail!(
                "selftests of {folder} do not build for {} (they need {LIBRARIES}; run ./setup \
                 lab):\n{}",
                self.arch,
                wrong.join("\n")
            );
        }
        Ok(())
    }
}

fn folder(program: &str) -> &str {
    program.rsplit_once('/').map_or("", |(folder, _)| folder)
}
