// SPDX-License-Identifier: MIT OR Apache-2.0
//! The marks that guests in C make with lab/guest/region.h are the instructions
//! that the model looks for.

use std::{path::Path, process::Command};

const PROGRAM: &str =
    "#include \"region.h\"\nvoid f(void) { REGION_BEGIN(5); REGION_END(4095); }\n";

fn compile(compiler: &str, program: &str) -> (bool, Vec<u8>, String) {
    let folder = tempfile::tempdir().unwrap();
    let (source, object) = (folder.path().join("program.c"), folder.path().join("program.o"));
    std::fs::write(&source, program).unwrap();
    let output = Command::new(compiler)
        .args(["-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", "-c", "-I"])
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../lab/guest"))
        .arg("-o")
        .arg(&object)
        .arg(&source)
        .output()
        .expect("the compiler is installed: ./setup does it");
    let errors = String::from_utf8(output.stderr).unwrap();
    (output.status.success(), std::fs::read(&object).unwrap_or_default(), errors)
}

fn contains(object: &[u8], bytes: &[u8]) -> bool {
    object.windows(bytes.len()).any(|window| window == bytes)
}

#[test]
fn marks_on_x86_are_nopl_with_the_region_as_displacement() {
    let (compiled, object, errors) = compile("x86_64-linux-gnu-gcc", PROGRAM);
    assert!(compiled, "{errors}");
    let begin = [0x0f, 0x1f, 0x84, 0x00, 0x0a, 0x00, 0x50, 0x48];
    let end = [0x0f, 0x1f, 0x84, 0x00, 0xff, 0x1f, 0x50, 0x48];
    assert!(contains(&object, &[begin, end].concat()));
}

#[test]
fn marks_on_arm64_are_movz_of_the_region_to_the_zero_register() {
    let (compiled, object, errors) = compile("aarch64-linux-gnu-gcc", PROGRAM);
    assert!(compiled, "{errors}");
    let mark = |number: u32| (0xd280_0000 | (number << 5) | 31).to_le_bytes();
    assert!(contains(&object, &[mark(0x4000 | 10), mark(0x5fff)].concat()));
}

#[test]
fn a_region_beyond_4095_is_refused_by_the_compiler() {
    let (compiled, _, errors) = compile("cc", &PROGRAM.replace("4095", "4096"));
    assert!(!compiled && errors.contains("a region's id is 0 to 4095"), "{errors}");
}
