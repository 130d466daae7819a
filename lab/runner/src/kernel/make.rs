// SPDX-License-Identifier: MIT OR Apache-2.0
//! Running the kernel's `make`, out of its tree.

use std::{
    env,
    fs::{self, File, OpenOptions},
    io::{BufRead, BufReader, Write},
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread,
};

use anyhow::{Context, bail};

use super::toolchain::Toolchain;

/// Lines of the log in the message about a failed build.
const LINES: usize = 20;

const FOREIGN: [&str; 17] = [
    "MAKEFLAGS",
    "MFLAGS",
    "MAKELEVEL",
    "ARCH",
    "SUBARCH",
    "CROSS_COMPILE",
    "CC",
    "LD",
    "HOSTCC",
    "CFLAGS",
    "LDFLAGS",
    "KCFLAGS",
    "LLVM",
    "LOCALVERSION",
    "O",
    "V",
    "W",
];

/// Calls a compiler behind ccache, but not for assembler: ccache does not look at what
/// `.incbin` names, so it would put the compressed kernel of an earlier build, if that has the
/// same size, into a new one.
const BEHIND_CCACHE: &str = r#"#!/bin/sh
case " $* " in
*' -D__ASSEMBLY__ '*) exec "$@" ;;
esac
exec ccache "$@"
"#;

/// A tree, and the directory where it is built.
pub struct Make<'a> {
    pub tree: &'a Path,
    pub objects: &'a Path,
    /// As kbuild calls it.
    pub arch: &'a str,
    pub toolchain: &'a Toolchain,
}

impl Make<'_> {
    /// Begins a new log.
    pub fn begin(&self) -> anyhow::Result<()> {
        let log = self.log();
        File::create(&log).with_context(|| format!("write {}", log.display()))?;
        if self.toolchain.ccache {
            let path = self.behind_ccache();
            fs::write(&path, BEHIND_CCACHE)
                .and_then(|()| fs::set_permissions(&path, PermissionsExt::from_mode(0o755)))
                .with_context(|| format!("write {}", path.display()))?;
        }
        Ok(())
    }

    /// Makes `goals`; `step` is called with the number and the name of each compiled
    /// file.
    ///
    /// # Errors
    /// If it fails, with the lines of the log that give the reason.
    pub fn run(&self, goals: &[&str], mut step: impl FnMut(u64, &str)) -> anyhow::Result<()> {
        let log = self.log();
        let mut file = OpenOptions::new()
            .append(true)
            .open(&log)
            .with_context(|| format!("write {}", log.display()))?;
        let (reader, writer) = std::io::pipe().context("pipe")?;
        let mut command = self.command(goals);
        command.stdin(Stdio::null()).stdout(writer.try_clone().context("pipe")?).stderr(writer);
        let mut child = command.spawn().context("make is missing: run ./setup lab")?;
        // It holds the writing end of the pipe, without which the output does not end.
        drop(command);
        let mut compiled = 0;
        for line in BufReader::new(reader).split(b'\n') {
            let mut line = line.context("output of make")?;
            line.push(b'\n');
            file.write_all(&line).with_context(|| format!("write {}", log.display()))?;
            if let Some(object) = compiled_file(&String::from_utf8_lossy(&line)) {
                compiled += 1;
                step(compiled, object);
            }
        }
        let status = child.wait().context("wait for make")?;
        if !status.success() {
            bail!(
                "make {} failed ({status}):\n{}\nall of it: {}",
                goals.join(" "),
                why(&log)?,
                log.display()
            );
        }
        Ok(())
    }

    /// The lines of the log that contain warnings.
    pub fn warnings(&self) -> anyhow::Result<Vec<String>> {
        let log = self.log();
        let text = fs::read(&log).with_context(|| format!("read {}", log.display()))?;
        Ok(warnings(&String::from_utf8_lossy(&text)))
    }

    fn command(&self, goals: &[&str]) -> Command {
        let mut command = make();
        command.arg("-C").arg(self.tree);
        command.arg(format!("O={}", self.objects.display()));
        command.arg(format!("ARCH={}", self.arch));
        command.arg(format!("CROSS_COMPILE={}", self.toolchain.prefix));
        if self.toolchain.ccache {
            let behind = self.behind_ccache();
            command.arg(format!("CC={} {}gcc", behind.display(), self.toolchain.prefix));
            // Otherwise ccache preprocesses each file that it does not know once more
            // than gcc does: 27 % more of the compiler's time.
            command.env("CCACHE_DEPEND", "1");
        }
        command.args(goals);
        // The same inputs give the same image, wherever and whenever it is built.
        command.env("KBUILD_BUILD_TIMESTAMP", "Thu Jan  1 00:00:00 UTC 1970");
        command.env("KBUILD_BUILD_USER", "huepage").env("KBUILD_BUILD_HOST", "lab");
        command.env("KBUILD_BUILD_VERSION", "1");
        command
    }

    fn behind_ccache(&self) -> PathBuf {
        self.objects.join("behind-ccache")
    }

    /// The file with the output of `make`.
    fn log(&self) -> PathBuf {
        self.objects.join("build.log")
    }
}

/// `make`, with all processors, and without the options of an outer make or the user's
/// settings for other kernels.
pub fn make() -> Command {
    let foreign = |name: &str| {
        ["KBUILD_", "KCONFIG_", "INSTALL_"].iter().any(|prefix| name.starts_with(prefix))
            || FOREIGN.contains(&name)
    };
    let jobs = thread::available_parallelism().map_or(1, usize::from);
    let mut command = Command::new("make");
    command.arg(format!("-j{jobs}")).env("LC_ALL", "C");
    for (name, _) in env::vars_os() {
        if name.to_str().is_some_and(foreign) {
            command.env_remove(name);
        }
    }
    command
}

/// The file of a line such as `  CC      mm/page_alloc.o`.
fn compiled_file(line: &str) -> Option<&str> {
    let (what, file) = line.strip_prefix("  ")?.trim_end().split_once(' ')?;
    ["CC", "AS", "HOSTCC"].contains(&what).then(|| file.trim_start_matches(['[', 'M', ']', ' ']))
}

fn warnings(log: &str) -> Vec<String> {
    let warns = |line: &&str| line.to_ascii_lowercase().contains("warning:");
    log.lines().filter(warns).map(str::to_owned).collect()
}

/// The lines of the log that give the reason, since other jobs go on after a failure:
/// from the compiler's first error on, otherwise around the failed target; without
/// either, the end.
fn why(log: &Path) -> anyhow::Result<String> {
    let text = fs::read(log).with_context(|| format!("read {}", log.display()))?;
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<&str> = text.lines().filter(|line| compiled_file(line).is_none()).collect();
    let find = |part: &str| lines.iter().position(|line| line.contains(part));
    let first = find("error:")
        .or_else(|| Some(find("*** [")?.saturating_sub(LINES / 2)))
        .unwrap_or(lines.len().saturating_sub(LINES));
    let shown = lines[first..].iter().take(LINES);
    Ok(shown.map(|line| format!("  {line}")).collect::<Vec<_>>().join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arch::Arch;

    fn toolchain() -> Toolchain {
        Toolchain { prefix: "", version: "gcc 1".into(), ccache: false }
    }

    #[test]
    fn compiled_files_are_told_from_other_lines() {
        assert_eq!(compiled_file("  CC      mm/ksm.o\n"), Some("mm/ksm.o"));
        assert_eq!(compiled_file("  HOSTCC  scripts/mod/modpost.o"), Some("scripts/mod/modpost.o"));
        assert_eq!(compiled_file("  AR      mm/built-in.a"), None);
        assert_eq!(compiled_file("mm/ksm.c:1:2: error: x"), None);
    }

    #[test]
    fn warnings_are_those_of_compiler_and_make() {
        let log = "  CC      lib/warning.o\nmm/a.c:1:2: warning: unused [-Wunused]\n\
                   Makefile:3: WARNING: odd\n";
        assert_eq!(
            warnings(log),
            ["mm/a.c:1:2: warning: unused [-Wunused]", "Makefile:3: WARNING: odd"]
        );
    }

    #[test]
    fn steps_are_counted_and_a_failure_shows_the_log_without_them() {
        let top = tempfile::tempdir().unwrap();
        let makefile = "good:\n\t@echo '  CC      a.o'\n\t@echo '  CC      b.o'\n\
                        bad:\n\t@echo '  CC      a.o'\n\t@echo 'a.c:1: error: no' >&2\n\t@false\n";
        fs::write(top.path().join("Makefile"), makefile).unwrap();
        let toolchain = toolchain();
        let make = Make { tree: top.path(), objects: top.path(), arch: "x", toolchain: &toolchain };
        make.begin().unwrap();
        let mut seen = Vec::new();
        make.run(&["good"], |count, file| seen.push((count, file.to_owned()))).unwrap();
        assert_eq!(seen, [(1, "a.o".to_owned()), (2, "b.o".to_owned())]);

        let error = make.run(&["bad"], |_, _| {}).unwrap_err().to_string();
        assert!(error.contains("a.c:1: error: no"), "{error}");
        assert!(!error.contains("CC      a.o"), "{error}");
        assert!(error.contains(&format!("all of it: {}", make.log().display())), "{error}");
    }

    #[test]
    fn what_assembler_includes_is_never_that_of_an_earlier_build() {
        let native = if Arch::Arm64.is_native() { Arch::Arm64 } else { Arch::X86_64 };
        let toolchain = Toolchain::find(native).unwrap();
        if !toolchain.ccache {
            return println!("skipped: ccache is missing");
        }
        let top = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(top.path().join(name), text).unwrap();
        // As kbuild calls it.
        let how = "-Wp,-MMD,$(O)/.a.o.d -D__ASSEMBLY__ -c -o $(O)/a.o $(O)/a.S";
        write("Makefile", &format!("a.o: a.S\n\t$(CC) {how}\n"));
        let make = Make { tree: top.path(), objects: top.path(), arch: "x", toolchain: &toolchain };
        write("a.S", &format!(".incbin \"{}/included\"\n", top.path().display()));
        for text in ["of an earlier build", "of the later build."] {
            write("included", text);
            let _ = fs::remove_file(top.path().join("a.o"));
            make.begin().unwrap();
            make.run(&["a.o"], |_, _| {}).unwrap();
            let object = fs::read(top.path().join("a.o")).unwrap();
            assert!(object.windows(text.len()).any(|part| part == text.as_bytes()), "{text}");
        }
    }
}
