// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs lab/model/tests/bare_*.S in QEMU under a model.

use std::{
    path::{Path, PathBuf},
    process::{Command, Output},
};

use huepage_lab::{
    arch::Arch,
    model::{Model, Record, plugin},
};

fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../lab/model/tests").join(name)
}

/// Where the guest is.
pub fn assemble(arch: Arch, defines: &[String], folder: &Path) -> PathBuf {
    let guest = folder.join("guest.elf");
    let (compiler, start, own, file) = match arch {
        Arch::X86_64 => ("gcc", "0x100000", &["-m32"][..], "bare_x86.S"),
        Arch::Arm64 => ("aarch64-linux-gnu-gcc", "0x40080000", &[][..], "bare_arm64.S"),
    };
    let status = Command::new(compiler)
        .args(own)
        .args(defines)
        .args(["-nostdlib", "-static", "-no-pie"])
        .arg(format!("-Wl,-n,-Ttext={start},--build-id=none"))
        .arg("-o")
        .arg(&guest)
        .arg(source(file))
        .status()
        .expect("the compiler is installed: ./setup does it");
    assert!(status.success());
    guest
}

/// Options are the plugin's, behind its file.
pub fn qemu(arch: Arch, guest: &Path, options: &str, more: &[&str]) -> Output {
    let (program, own): (_, &[&str]) = match arch {
        Arch::X86_64 => (
            "qemu-system-x86_64",
            &["-machine", "q35", "-device", "isa-debug-exit,iobase=0x501,iosize=1"],
        ),
        Arch::Arm64 => ("qemu-system-aarch64", &["-machine", "virt", "-cpu", "cortex-a72"]),
    };
    let plugin = plugin::build(Path::new(env!("CARGO_TARGET_TMPDIR"))).unwrap();
    let mut command = Command::new("timeout");
    command.args(["120", program]).args(own);
    command.args(["-nodefaults", "-display", "none", "-m", "256M", "-smp", "2"]);
    if !more.contains(&"-accel") {
        command.args(["-accel", "tcg,thread=single"]);
    }
    command.arg("-kernel").arg(guest);
    command.arg("-plugin").arg(format!("{},{options}", plugin.display())).args(more);
    command.output().expect("QEMU is installed: ./setup does it")
}

/// Runs the guest; the records, and the errors that the plugin reported.
pub fn run(arch: Arch, defines: &[String], model: &Model, more: &[&str]) -> (Vec<Record>, String) {
    model.check().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let guest = assemble(arch, defines, folder.path());
    let out = folder.path().join("records, all.jsonl");
    let output = qemu(arch, &guest, &model.plugin_options(&out), more);
    let code = output.status.code();
    let powered_off = code == Some(if arch == Arch::X86_64 { 1 } else { 0 });
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(powered_off, "exit code {code:?}: {errors}");
    let text = std::fs::read_to_string(&out).unwrap();
    let (reported, records): (Vec<&str>, Vec<&str>) =
        text.lines().partition(|line| line.starts_with("{\"error\""));
    // The guests make mistakes on purpose, and those are what is reported.
    if defines.iter().all(|d| !d.contains("BENCHMARK")) {
        let unread = plugin::read_records(&out).unwrap_err().to_string();
        assert_eq!(unread, "the model reported: region 1 ends without having begun");
    }
    let records = records.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    (records, reported.join("\n"))
}
