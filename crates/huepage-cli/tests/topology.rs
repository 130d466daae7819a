// SPDX-License-Identifier: MIT OR Apache-2.0
//! `huepage topology` as a user meets it: the real binary, its output, its
//! messages and exit codes.

mod support;

use std::{
    fs,
    path::{Path, PathBuf},
    process::Output,
};

use assert_cmd::Command;
use serde_json::Value;
use support::{huepage, stderr, stdout, unread};

fn topology(arguments: &[&str]) -> Output {
    Command::cargo_bin("huepage").unwrap().arg("topology").args(arguments).output().unwrap()
}

fn code(output: &Output) -> i32 {
    output.status.code().unwrap()
}

fn machines() -> Vec<PathBuf> {
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/../huepage/tests/machines");
    let mut paths: Vec<PathBuf> =
        fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

fn machine(name: &str) -> String {
    let path = machines().into_iter().find(|path| path.file_stem().unwrap() == name).unwrap();
    path.to_str().unwrap().to_owned()
}

/// What each machine must look like is in `expected/topology/`; after a wanted
/// change, look at the difference and write it with `HUEPAGE_BLESS=1 cargo test`.
#[test]
fn every_recorded_machine_reads_as_expected_within_80_columns() {
    let expected = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/expected/topology");
    let machines = machines();
    assert!(machines.len() >= 6, "{machines:?}");
    for path in machines {
        let output = topology(&["--input", path.to_str().unwrap()]);
        let text = stdout(&output);
        let golden = expected.join(path.with_extension("txt").file_name().unwrap());
        if std::env::var_os("HUEPAGE_BLESS").is_some() {
            fs::write(&golden, &text).unwrap();
        }
        let wanted = fs::read_to_string(&golden)
            .unwrap_or_else(|error| panic!("{}: {error}", golden.display()));
        assert_eq!(text, wanted, "{}", path.display());
        for line in text.lines() {
            assert!(line.chars().count() <= 80, "{}: {line}", path.display());
            assert_eq!(line.trim_end(), line, "{}: trailing space", path.display());
        }
        // One of them has distances that cannot be read.
        let partial = path.file_stem().unwrap() == "hyper-v-guest-faked-geometry";
        assert_eq!(code(&output), if partial { 3 } else { 0 }, "{}", path.display());
        assert_eq!(stderr(&output), "");
    }
}

#[test]
fn json_carries_the_schema_the_caches_and_the_choice() {
    let output = topology(&["--json", "--cpu", "20", "--input", &machine("alder-lake-i9-12900k")]);
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["schema"], "huepage.topology/1");
    assert_eq!(json["page_size"], 4096);
    assert_eq!(json["caches"].as_array().unwrap().len(), 16 + 16 + 10 + 1);
    assert_eq!(json["caches"][42]["verdict"]["colors"], 640);
    assert_eq!(json["caches"][42]["cores"], 16);
    assert_eq!(json["measured"], Value::Null);
    assert_eq!(json["cache_to_color"]["cpu"], 20);
    assert_eq!(json["cache_to_color"]["origin"], "none");
    assert!(json["cache_to_color"]["reason"].as_str().unwrap().contains("shared by 4 cores"));
    assert_eq!(code(&output), 0);
}

#[test]
fn a_geometry_by_hand_replaces_the_declared_one() {
    let input = machine("qemu-virt-arm64-no-geometry");
    let output = topology(&["--json", "--input", &input, "--cache", "size=2560k,ways=16"]);
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["cache_to_color"]["origin"], "given");
    assert_eq!(json["cache_to_color"]["colors"], 40);
    assert_eq!(json["cache_to_color"]["geometry"]["sets"], 2560);
}

#[test]
fn a_recorded_curve_is_left_out_on_demand() {
    let input = machine("epyc-family-26-guest");
    let with = stdout(&topology(&["--input", &input]));
    let without = stdout(&topology(&["--input", &input, "--no-measure"]));
    assert!(with.contains("Ends of caches by timing"));
    assert!(!without.contains("Ends of caches by timing"));
}

#[test]
fn a_recorded_machine_can_come_through_a_pipe() {
    let path = machine("raspberry-pi-4");
    let piped = Command::cargo_bin("huepage")
        .unwrap()
        .args(["topology", "--input", "-"])
        .write_stdin(fs::read(&path).unwrap())
        .output()
        .unwrap();
    assert_eq!(stdout(&piped), stdout(&topology(&["--input", &path])));
    assert_eq!(code(&piped), 0);
}

#[test]
fn bad_values_are_told_with_exit_code_2() {
    for (arguments, message) in [
        (&["--cache", "2M"][..], "'2M' is no KEY=VALUE: write for example size=2M,ways=16"),
        (&["--cache", "size=2M,ways=15"], "2184 sets × 15 ways × 64 B is not 2 MiB"),
        (&["--cpu", "first"], "invalid value 'first' for '--cpu <N>'"),
        (&["--cpu", "-1"], "unexpected argument '-1'"),
        (&["--force"], "--record <FILE>"),
        (&["--record", "a", "--input", "b"], "cannot be used with '--input <FILE>'"),
        (&["--record"], "a value is required for '--record <FILE>'"),
        (&["--input"], "a value is required for '--input <FILE>'"),
        (&["--measure"], "unexpected argument '--measure'"),
        (&["--json=yes"], "unexpected value 'yes' for '--json'"),
        (&["extra"], "unexpected argument 'extra'"),
    ] {
        let output = topology(arguments);
        assert_eq!(code(&output), 2, "{arguments:?}");
        assert!(stderr(&output).contains(message), "{arguments:?}: {}", stderr(&output));
        assert_eq!(stdout(&output), "", "{arguments:?}");
    }
}

#[test]
fn an_input_that_cannot_be_used_is_told_with_exit_code_1() {
    let directory = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = directory.path().join(name);
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let missing = directory.path().join("missing.json").to_str().unwrap().to_owned();
    let good = fs::read_to_string(machine("raspberry-pi-4")).unwrap();
    let broken = file("broken.json", &good[..good.len() / 2]);
    let foreign = file("foreign.json", r#"{"schema": "huepage.bench/1"}"#);
    let empty = file("empty.json", "");
    let folder = directory.path().to_str().unwrap().to_owned();
    for (path, message) in [
        (&missing, "No such file"),
        (&broken, "not a recorded machine: EOF while parsing"),
        (&foreign, "the schema is 'huepage.bench/1', this program reads"),
        (&empty, "not a recorded machine: EOF"),
        (&folder, "Is a directory"),
    ] {
        let output = topology(&["--input", path]);
        assert_eq!(code(&output), 1, "{path}");
        assert!(stderr(&output).starts_with("huepage: cannot "), "{}", stderr(&output));
        assert!(stderr(&output).contains(message), "{}", stderr(&output));
        assert!(stderr(&output).contains(path.as_str()), "{}", stderr(&output));
        assert_eq!(stdout(&output), "");
    }
}

#[test]
fn a_cpu_that_does_not_exist_is_told_with_those_that_do() {
    let input = machine("raspberry-pi-4");
    let output = topology(&["--input", &input, "--cpu", "4"]);
    assert_eq!(code(&output), 2);
    assert_eq!(stderr(&output), "huepage: CPU 4 is not online: choose one of 0-3\n");
    let here = topology(&["--cpu", "999999"]);
    assert_eq!(code(&here), 2);
    assert!(
        stderr(&here)
            .starts_with("huepage: CPU 999999 is not available to this process: choose one of "),
        "{}",
        stderr(&here)
    );
}

/// The one test of the measurement on the machine at hand: nothing about its
/// values, as they are the machine's.
#[test]
fn this_machine_is_measured_recorded_and_read_back_the_same() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("here.json");
    let path = path.to_str().unwrap();
    let live = topology(&["--record", path]);
    assert!([0, 3].contains(&code(&live)), "{}", stderr(&live));
    assert!(stdout(&live).contains("Ends of caches by timing, CPU "), "{}", stdout(&live));
    let again = topology(&["--input", path]);
    // The memory of a guest comes and goes with its balloon.
    let without_memory = |text: String| -> Vec<String> {
        text.lines().filter(|line| !line.contains("iB  CPU")).map(str::to_owned).collect()
    };
    assert_eq!(without_memory(stdout(&again)), without_memory(stdout(&live)));

    let record: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    assert!(record["source"].as_str().unwrap().starts_with("recorded by huepage "));
    assert!(record["curve"]["points"].as_array().unwrap().len() > 30);
    let cpu = "/sys/devices/system/cpu/online";
    assert_eq!(record["files"][cpu], fs::read_to_string(cpu).unwrap());
}

#[test]
fn a_record_is_not_overwritten_unless_forced() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("here.json");
    fs::write(&path, "precious").unwrap();
    let name = path.to_str().unwrap();
    let refused = topology(&["--no-measure", "--record", name]);
    assert_eq!(code(&refused), 1);
    assert_eq!(stderr(&refused), format!("huepage: {name} exists: give -f to overwrite it\n"));
    assert_eq!(fs::read_to_string(&path).unwrap(), "precious");
    for force in ["-f", "--force"] {
        let forced = topology(&["--no-measure", "--record", name, force]);
        assert!([0, 3].contains(&code(&forced)), "{}", stderr(&forced));
        assert!(fs::read_to_string(&path).unwrap().contains("huepage.recorded-machine/1"));
    }
}

#[test]
fn a_record_that_cannot_be_written_is_told() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("no/such/folder.json");
    let output = topology(&["--no-measure", "--record", path.to_str().unwrap()]);
    assert_eq!(code(&output), 1);
    let folder = directory.path().join("no/such");
    assert_eq!(
        stderr(&output),
        format!("huepage: {} is no directory: make it first (mkdir -p)\n", folder.display())
    );
}

#[test]
fn a_record_on_standard_output_is_nothing_but_the_record() {
    let output = topology(&["--no-measure", "--record", "-"]);
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["schema"], "huepage.recorded-machine/1");
    assert_eq!(json["curve"], Value::Null);
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let input = machine("threadripper-3960x-nps4");
    let output = unread(&mut huepage(&["topology", "--json", "--input", &input]));
    assert_eq!((code(&output), stderr(&output)), (0, String::new()));
}
