// SPDX-License-Identifier: MIT OR Apache-2.0
//! `huepage map` of running processes, from a user's side: finding them, running them,
//! permissions, and errors.

mod support;

use std::{
    fs,
    io::{BufRead, BufReader},
    os::unix::process::CommandExt,
    process::{Command, Output, Stdio},
};

use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, kill_process, kill_process_group, waitid,
};
use serde_json::Value;
use support::{
    Idle, Unprivileged, assert_done, assert_plain, assert_refused, code, huepage, json, stderr,
    stdout, unread,
};

fn map(arguments: &[&str]) -> Output {
    huepage(&["map"]).args(arguments).output().unwrap()
}

#[test]
fn a_process_is_found_by_number_and_by_name() {
    let idle = Idle::named("hp-idle-1");
    for target in [idle.pid().as_str(), "hp-idle-1"] {
        let output = map(&[target]);
        assert_done(&output);
        assert_plain(&stdout(&output));
        let title = format!("hp-idle-1, PID {}, 1 thread: ", idle.pid());
        assert!(stdout(&output).starts_with(&title), "{}", stdout(&output));
        assert!(stdout(&output).contains("[stack]"), "{}", stdout(&output));
    }
}

#[test]
fn several_of_a_name_are_listed_and_none_is_mapped() {
    let pair = [Idle::named("hp-idle-2"), Idle::named("hp-idle-2")];
    let output = map(&["hp-idle-2"]);
    assert_eq!((code(&output), stdout(&output)), (Some(2), String::new()));
    let text = stderr(&output);
    assert!(text.starts_with("huepage: 2 processes are named 'hp-idle-2': give one"), "{text}");
    for idle in &pair {
        assert!(text.contains(&format!(" {}  hp-idle-2 600\n", idle.pid())), "{text}");
    }
}

#[test]
fn what_is_no_process_is_told_with_exit_code_2() {
    for (target, message) in [
        ("4294967295", "no process 4294967295 here"),
        ("99999999999999999999", "no process 99999999999999999999 here"),
        ("0", "no process 0 here"),
        ("no-such-name", "no process is named 'no-such-name'"),
        ("\x1b[31m", "no process is named '\\u{1b}[31m'"),
        ("", "no process is named ''"),
    ] {
        assert_refused(&map(&[target]), 2, message);
    }
}

#[test]
fn a_thread_of_the_kernel_is_told() {
    let kthreadd = fs::read_to_string("/proc/2/comm").unwrap_or_default();
    if kthreadd != "kthreadd\n" {
        return println!("skipped: threads of the kernel are not visible here");
    }
    assert_refused(&map(&["2"]), 1, "2 (kthreadd) is a thread of the kernel");
}

#[test]
fn a_process_that_has_ended_is_told() {
    let mut child = Command::new("true").spawn().unwrap();
    // Ended, but not waited for: waitid leaves it there.
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    waitid(WaitId::Pid(Pid::from_child(&child)), options).unwrap();
    assert_refused(&map(&[&child.id().to_string()]), 1, "has ended");
    child.wait().unwrap();
}

#[test]
fn a_command_is_mapped_as_it_ends_and_prints_to_standard_error() {
    let output = map(&["--json", "--", "sh", "-c", "echo from the command; exit 5"]);
    assert_done(&output);
    let json = json(&output);
    assert_eq!(json["schema"], "huepage.map/1");
    assert_eq!(json["process"]["command"][2], "echo from the command; exit 5");
    assert!(json["total"]["pages"]["present"].as_u64().unwrap() > 10);
    assert!(stderr(&output).starts_with("from the command\n"), "{}", stderr(&output));
    assert!(stderr(&output).contains("'sh' ended with exit code 5"), "{}", stderr(&output));
}

#[test]
fn a_command_can_be_mapped_while_it_runs() {
    let output = map(&["--after", "0.3", "--", "sleep", "0.6"]);
    assert_done(&output);
    assert!(stdout(&output).starts_with("sleep, PID "), "{}", stdout(&output));
    let early = map(&["--after", "60", "--", "true"]);
    assert_refused(&early, 1, "'true' ended before 60 s had passed");
}

#[test]
fn the_map_of_a_command_comes_before_its_end() {
    let arguments = ["map", "--after", "0.2", "--", "sleep", "600"];
    let mut huepage = huepage(&arguments).stdout(Stdio::piped()).spawn().unwrap();
    let mut title = String::new();
    let mut text = BufReader::new(huepage.stdout.take().unwrap());
    text.read_line(&mut title).unwrap();
    let pid = title.strip_prefix("sleep, PID ").unwrap().split(',').next().unwrap();
    let pid = Pid::from_raw(pid.parse().unwrap()).unwrap();
    assert_eq!(huepage.try_wait().unwrap(), None);
    kill_process(pid, Signal::TERM).unwrap();
    std::io::copy(&mut text, &mut std::io::sink()).unwrap();
    assert!(matches!(huepage.wait().unwrap().code(), Some(0 | 3)));
}

/// As a terminal sends it: to the command and to huepage.
#[test]
fn an_interrupt_ends_the_command_and_its_map_is_shown() {
    let script = "echo started; exec sleep 600";
    // Where tests run in the background, the signal is ignored from the start.
    let mut huepage = Command::new("env")
        .arg("--default-signal=INT")
        .arg(huepage(&[]).get_program())
        .args(["map", "--", "sh", "-c", script])
        .process_group(0)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    let mut errors = BufReader::new(huepage.stderr.take().unwrap());
    errors.read_line(&mut line).unwrap();
    assert_eq!(line, "started\n");
    kill_process_group(Pid::from_child(&huepage), Signal::INT).unwrap();
    let output = huepage.wait_with_output().unwrap();
    assert_done(&output);
    assert!(stdout(&output).contains(" present of "), "{}", stdout(&output));
    errors.read_line(&mut line).unwrap();
    assert!(line.ends_with("'sh' was ended by signal 2; its map is of that moment\n"), "{line}");
}

#[test]
fn a_command_that_cannot_be_run_is_told() {
    for after in [&[][..], &["--after", "1"]] {
        let output = map(&[after, &["--", "/nonexistent/command"]].concat());
        assert_eq!((code(&output), stdout(&output)), (Some(1), String::new()));
        assert_eq!(
            stderr(&output),
            "huepage: cannot run '/nonexistent/command': No such file or directory (os error 2)\n"
        );
    }
}

#[test]
fn a_recorded_map_reads_back_as_it_was_shown() {
    let idle = Idle::named("hp-idle-3");
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("map.json");
    let path = path.to_str().unwrap();
    let live = map(&[&idle.pid(), "--record", path]);
    assert_done(&live);
    let again = map(&["--input", path]);
    assert_eq!((code(&again), stdout(&again)), (code(&live), stdout(&live)));
    let shown = map(&["--input", path, "--json"]);
    let record: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    assert_eq!(json(&shown), record);
    let piped =
        huepage(&["map", "--input", "-"]).stdin(fs::File::open(path).unwrap()).output().unwrap();
    assert_eq!(stdout(&piped), stdout(&live));
}

#[test]
fn a_record_on_standard_output_is_nothing_but_the_record() {
    let idle = Idle::named("hp-idle-4");
    let output = map(&[&idle.pid(), "--record", "-"]);
    assert_done(&output);
    let json = json(&output);
    assert_eq!(json["process"]["name"], "hp-idle-4");
}

#[test]
fn names_that_drive_a_terminal_are_spelled_out_in_every_form() {
    let name = "hp\x1b[31m\u{202e}x";
    let idle = Idle::named(name);
    let directory = tempfile::tempdir().unwrap();
    let svg = directory.path().join("map.svg");
    let pid = idle.pid();
    let outputs = [map(&[&pid]), map(&[&pid, "--all"]), map(&[&pid, "--json"])];
    let drawn = map(&[&pid, "-o", svg.to_str().unwrap()]);
    let mut texts: Vec<String> = outputs.iter().map(stdout).collect();
    texts.push(fs::read_to_string(svg).unwrap());
    assert_done(&drawn);
    for text in texts {
        assert!(text.contains("hp\\u{1b}[31m") || text.contains("hp\\\\u{1b}[31m"), "{text}");
        assert!(!text.contains(['\x1b', '\u{202e}', '\u{9b}']), "{text}");
    }
}

#[test]
fn without_privilege_ones_own_processes_are_shown_in_part_and_it_says_which() {
    let Some(user) = Unprivileged::new() else { return };
    let output = user.command(&["map", "--", "true"]).output().unwrap();
    assert_eq!(code(&output), Some(3), "{output:?}");
    assert_plain(&stdout(&output));
    assert!(stdout(&output).contains("Not shown  frame numbers"), "{}", stdout(&output));
    assert!(stdout(&output).contains("CAP_SYS_ADMIN"), "{}", stdout(&output));
    let output = user.command(&["map", "--json", "--", "true"]).output().unwrap();
    assert_eq!(code(&output), Some(3));
    json(&output);
    assert!(stderr(&output).contains("not shown: frame numbers"), "{}", stderr(&output));
    assert!(stderr(&output).contains("CAP_SYS_ADMIN"), "{}", stderr(&output));
}

#[test]
fn without_privilege_processes_of_others_are_refused_with_the_capability() {
    let Some(user) = Unprivileged::new() else { return };
    let idle = Idle::named("hp-idle-5");
    let output = user.command(&["map", &idle.pid()]).output().unwrap();
    assert_refused(&output, 1, "CAP_DAC_READ_SEARCH");
}

#[test]
fn a_picture_without_what_it_shows_falls_back_and_says_so() {
    let Some(user) = Unprivileged::new() else { return };
    let directory = tempfile::tempdir().unwrap();
    fs::set_permissions(directory.path(), std::os::unix::fs::PermissionsExt::from_mode(0o777))
        .unwrap();
    let path = directory.path().join("map.svg");
    let arguments = ["map", "--by", "color", "-o", path.to_str().unwrap(), "--", "true"];
    let output = user.command(&arguments).output().unwrap();
    assert_eq!((code(&output), stdout(&output)), (Some(3), String::new()));
    let told = "the color of the frame is unknown here, so the picture shows kinds";
    assert!(stderr(&output).contains(told), "{}", stderr(&output));
    assert!(fs::read_to_string(path).unwrap().contains("kind of page"));
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let idle = Idle::named("hp-idle-6");
    let output = unread(&mut huepage(&["map", &idle.pid(), "--all"]));
    assert_done(&output);
    assert_eq!(stderr(&output), "");
}
