// SPDX-License-Identifier: MIT OR Apache-2.0
//! `huepage topology` from a user's side: the real binary, its output, its messages and
//! exit codes.

mod support;

use std::{fs, process::Output};

use serde_json::Value;
use support::{
    assert_done, assert_expected, assert_plain, assert_refused, assert_silent, assert_unusable,
    code, files, huepage, json, stderr, stdout, unread,
};

fn topology(arguments: &[&str]) -> Output {
    huepage(&["topology"]).args(arguments).output().unwrap()
}

fn machine(name: &str) -> String {
    format!("{}/../huepage/tests/machines/{name}.json", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn every_recorded_machine_reads_as_expected_within_80_columns() {
    let machines = files("../huepage/tests/machines");
    assert!(machines.len() >= 6, "{machines:?}");
    for path in machines {
        let output = topology(&["--input", path.to_str().unwrap()]);
        let name = path.file_stem().unwrap().to_str().unwrap();
        assert_expected(&format!("topology/{name}.txt"), &stdout(&output));
        assert_plain(&stdout(&output));
        // One of them has distances that cannot be read.
        let partial = name == "hyper-v-guest-faked-geometry";
        assert_eq!(code(&output), Some(if partial { 3 } else { 0 }), "{name}");
        assert_eq!(stderr(&output), "");
    }
}

#[test]
fn json_carries_the_schema_the_caches_and_the_choice() {
    let output = topology(&["--json", "--cpu", "20", "--input", &machine("alder-lake-i9-12900k")]);
    let json = json(&output);
    assert_eq!(json["schema"], "huepage.topology/1");
    assert_eq!(json["page_size"], 4096);
    assert_eq!(json["caches"].as_array().unwrap().len(), 16 + 16 + 10 + 1);
    assert_eq!(json["caches"][42]["verdict"]["colors"], 640);
    assert_eq!(json["caches"][42]["cores"], 16);
    assert_eq!(json["measured"], Value::Null);
    assert_eq!(json["cache_to_color"]["cpu"], 20);
    assert_eq!(json["cache_to_color"]["origin"], "none");
    assert!(json["cache_to_color"]["reason"].as_str().unwrap().contains("shared by 4 cores"));
    assert_eq!(code(&output), Some(0));
}

#[test]
fn a_geometry_by_hand_replaces_the_declared_one() {
    let input = machine("qemu-virt-arm64-no-geometry");
    let output = topology(&["--json", "--input", &input, "--cache", "size=2560k,ways=16"]);
    let json = json(&output);
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
    let mut piped = huepage(&["topology", "--input", "-"]);
    let piped = piped.stdin(fs::File::open(&path).unwrap()).output().unwrap();
    assert_eq!(stdout(&piped), stdout(&topology(&["--input", &path])));
    assert_eq!(code(&piped), Some(0));
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
        assert_refused(&topology(arguments), 2, message);
    }
}

#[test]
fn an_input_that_cannot_be_used_is_told_with_exit_code_1() {
    let foreign =
        (r#"{"schema": "huepage.bench/1"}"#, "the schema is 'huepage.bench/1', this program reads");
    assert_unusable("topology", machine("raspberry-pi-4").as_ref(), "machine", &[foreign]);
}

#[test]
fn a_cpu_that_does_not_exist_is_told_with_those_that_do() {
    let input = machine("raspberry-pi-4");
    let output = topology(&["--input", &input, "--cpu", "4"]);
    let told = "huepage: CPU 4 is not online: choose one of 0-3\n";
    assert_eq!(assert_refused(&output, 2, told), told);
    let told = "huepage: CPU 999999 is not available to this process: choose one of ";
    assert!(assert_refused(&topology(&["--cpu", "999999"]), 2, told).starts_with(told));
}

/// The only test of the measurement on the machine at hand: it checks no values, since
/// these depend on the machine.
#[test]
fn this_machine_is_measured_recorded_and_read_back_the_same() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("here.json");
    let path = path.to_str().unwrap();
    let live = topology(&["--record", path]);
    assert_done(&live);
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
    let told = format!("huepage: {name} exists: give -f to overwrite it\n");
    assert_eq!(assert_refused(&refused, 1, &told), told);
    assert_eq!(fs::read_to_string(&path).unwrap(), "precious");
    for force in ["-f", "--force"] {
        let forced = topology(&["--no-measure", "--record", name, force]);
        assert_done(&forced);
        assert!(fs::read_to_string(&path).unwrap().contains("huepage.recorded-machine/1"));
    }
}

#[test]
fn a_record_that_cannot_be_written_is_told() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("no/such/folder.json");
    let output = topology(&["--no-measure", "--record", path.to_str().unwrap()]);
    let folder = directory.path().join("no/such");
    let told = format!("huepage: {} is no directory: make it first (mkdir -p)\n", folder.display());
    assert_eq!(assert_refused(&output, 1, &told), told);
}

#[test]
fn a_record_on_standard_output_is_nothing_but_the_record() {
    let output = topology(&["--no-measure", "--record", "-"]);
    let json = json(&output);
    assert_eq!(json["schema"], "huepage.recorded-machine/1");
    assert_eq!(json["curve"], Value::Null);
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let input = machine("threadripper-3960x-nps4");
    let output = unread(&mut huepage(&["topology", "--json", "--input", &input]));
    assert_silent(&output);
}
