// SPDX-License-Identifier: MIT OR Apache-2.0
//! `huepage.h` against the library that is built, by the C compiler and as a
//! program of C meets it.

use std::{
    collections::BTreeSet,
    ffi::OsStr,
    mem::offset_of,
    path::{Path, PathBuf},
    process::{Command, Output},
    sync::OnceLock,
};

#[path = "../src/abi.rs"]
mod abi;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// Where `libhuepage.so` is. Tests do not link it, so cargo builds it only when
/// asked.
fn library() -> &'static Path {
    static LIBRARY: OnceLock<PathBuf> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["build", "--locked", "--package", "huepage-c", "--message-format", "json"]);
        if !cfg!(debug_assertions) {
            cargo.arg("--release");
        }
        let output = cargo.current_dir(ROOT).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let mut built = output.stdout.split(|byte| *byte == b'\n').filter_map(|line| {
            let message: serde_json::Value = serde_json::from_slice(line).ok()?;
            let files = message["filenames"].as_array()?.clone();
            files
                .iter()
                .filter_map(|file| file.as_str().map(PathBuf::from))
                .find(|file| file.file_name() == Some(OsStr::new("libhuepage.so")))
        });
        built.next_back().expect("cargo says where the library is")
    })
}

/// Compiles a file of C as a strict compiler would, and runs it.
fn run(source: &str) -> Output {
    let directory = tempfile::tempdir().unwrap();
    let program = directory.path().join("program");
    let at = library().parent().unwrap();
    let compiled = Command::new("cc")
        .args(["-std=c11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-O1"])
        .arg("-I")
        .arg(format!("{ROOT}/include"))
        .arg(format!("{ROOT}/{source}"))
        .arg("-L")
        .arg(at)
        .arg("-lhuepage")
        .arg(format!("-Wl,-rpath,{}", at.display()))
        .arg("-o")
        .arg(&program)
        .output()
        .unwrap();
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    Command::new(program).output().unwrap()
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

/// The header without its comments.
fn header() -> String {
    let header = std::fs::read_to_string(format!("{ROOT}/include/huepage.h")).unwrap();
    let mut code = String::new();
    let mut rest = header.as_str();
    while let Some((before, comment)) = rest.split_once("/*") {
        code += before;
        rest = comment.split_once("*/").expect("comments end").1;
    }
    code + rest
}

fn declared() -> BTreeSet<String> {
    let header = header();
    let word = |text: &str| {
        let name = text.rsplit(|c: char| !c.is_alphanumeric() && c != '_').next();
        name.filter(|name| name.starts_with("huepage_")).map(str::to_owned)
    };
    let heads: Vec<&str> = header.split('(').collect();
    heads[..heads.len() - 1].iter().filter_map(|head| word(head)).collect()
}

#[test]
fn what_the_header_declares_is_exported_and_nothing_else() {
    let output = Command::new("nm").args(["-D", "--defined-only"]).arg(library()).output().unwrap();
    let exported: BTreeSet<String> = text(&output.stdout)
        .lines()
        .filter_map(|line| line.split_ascii_whitespace().nth(2).map(str::to_owned))
        .filter(|name| !name.starts_with('_') && name != "rust_eh_personality")
        .collect();
    assert_eq!(exported, declared());
    assert!(declared().len() >= 12, "{:?}", declared());
}

#[test]
fn codes_are_those_of_the_header() {
    let header = header();
    let mut names = BTreeSet::new();
    for (name, code) in abi::CODES {
        assert!(header.contains(&format!("{name} = {}", code as i32)), "{name}");
        names.insert(name);
    }
    let more = header.split_ascii_whitespace().filter(|word| word.starts_with("HUEPAGE_E_"));
    assert!(more.into_iter().all(|name| names.contains(name)));
}

#[test]
fn every_call_does_what_the_header_says() {
    let output = run("tests/calls.c");
    let (told, why) = (text(&output.stdout), text(&output.stderr));
    let options = [
        size_of::<abi::Options>(),
        offset_of!(abi::Options, cpu),
        offset_of!(abi::Options, colors_by),
        offset_of!(abi::Options, policy),
        offset_of!(abi::Options, reserved),
        offset_of!(abi::Options, pool),
    ];
    let report = [
        size_of::<abi::RepairReport>(),
        offset_of!(abi::RepairReport, placed),
        offset_of!(abi::RepairReport, short_of),
        offset_of!(abi::RepairReport, other),
    ];
    let line = |name: &str, numbers: &[usize]| {
        let numbers: Vec<String> = numbers.iter().map(ToString::to_string).collect();
        format!("{name} {}\n", numbers.join(" "))
    };
    assert_eq!(told, line("options", &options) + &line("report", &report), "{why}");
    match output.status.code() {
        Some(77) => eprintln!("skipped in part: {why}"),
        code => assert_eq!(code, Some(0), "{why}"),
    }
}

#[test]
fn the_example_runs() {
    let output = run("examples/place.c");
    let (told, why) = (text(&output.stdout), text(&output.stderr));
    let unable = [abi::Code::Unsupported, abi::Code::Untrusted].map(|code| code as i32);
    match output.status.code() {
        Some(code) if unable.contains(&code) => {
            assert!(why.starts_with("place: "), "{why}");
            eprintln!("skipped: {why}");
        }
        code => {
            assert_eq!(code, Some(0), "{why}");
            assert!(told.starts_with("sum: 5000050000\n"), "{told}");
            assert!(told.contains(" pages, of"), "{told}");
            assert!(told.contains("reverified: "), "{told}");
        }
    }
}
