// SPDX-License-Identifier: MIT OR Apache-2.0
//! `huepage run`: the program behaves as without it, and its memory is placed.

mod support;

use std::{
    fs,
    io::Write,
    os::unix::process::ExitStatusExt,
    process::{Command, Output, Stdio},
    time::{Duration, Instant},
};

use assert_cmd::cargo::cargo_bin;
use serde_json::Value;
use support::{
    Unprivileged, assert_refused, code, huepage, json,
    run::{can_place, compile, libraries, placing, report, run},
    stderr, stdout,
};

#[test]
fn exit_codes_signals_and_streams_are_the_programs_own() {
    let output = run(&["--", "sh", "-c", "cat; echo out; echo err >&2; exit 7"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .and_then(|mut child| {
            child.stdin.take().unwrap().write_all(b"in\n")?;
            child.wait_with_output()
        })
        .unwrap();
    assert_eq!((code(&output), stdout(&output)), (Some(7), "in\nout\n".into()));
    assert!(stderr(&output).ends_with("err\n"));
    let killed = run(&["--", "sh", "-c", "kill -TERM $$"]).status().unwrap();
    assert_eq!(killed.signal(), Some(15));
}

#[test]
fn the_program_takes_the_place_of_the_command() {
    let mut command = run(&["--", "sh", "-c", "echo $$ $PPID $0", "name"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let pid = child.id();
    let output = child.wait_with_output().unwrap();
    assert_eq!(stdout(&output), format!("{pid} {} name\n", std::process::id()));
}

#[test]
fn what_cannot_be_executed_has_the_codes_of_env() {
    for (program, expected) in [("/absent/program", 127), ("absent-program", 127), ("/etc", 126)] {
        let output = run(&["--", program]).output().unwrap();
        assert_eq!(code(&output), Some(expected), "{program}: {}", stderr(&output));
        assert!(stderr(&output).contains(program), "{}", stderr(&output));
    }
    let output = run(&["--budget", "0%", "--", "true"]).output().unwrap();
    assert_eq!(code(&output), Some(2), "{}", stderr(&output));
}

#[test]
fn a_mistyped_option_is_not_the_program_but_the_programs_options_are_its_own() {
    let output = run(&["--budgt", "5", "--", "true"]).output().unwrap();
    assert_eq!(code(&output), Some(2), "{}", stderr(&output));
    assert!(stderr(&output).contains("'--budget'"), "{}", stderr(&output));
    let output = run(&["sh", "-c", "echo $0", "--budgt"]).output().unwrap();
    assert_eq!(stdout(&output), "--budgt\n");
}

#[test]
fn a_part_that_cannot_be_had_and_a_report_that_cannot_be_written_are_told_before_it_runs() {
    let run = |options: &[&str]| run(options).args(["--", "echo", "ran"]).output().unwrap();
    for list in ["abc", "3-1", ""] {
        assert_refused(&run(&["--colors", list]), 2, "--colors <LIST>");
    }
    assert_refused(&run(&["--colors", "9999999"]), 125, "9999999");
    let heap = ["--backend", "heap", "--must", "--split-huge"];
    assert_refused(&run(&heap), 125, "malloc places, so there is no effect of --split-huge");
    for (file, why) in [
        ("/nonexistent/report.json", "/nonexistent is no directory: make it first (mkdir -p)"),
        ("/tmp", "/tmp is a directory"),
        ("/dev/null", "/dev/null is no regular file: name one"),
        ("/dev/stdout", "/dev/stdout is no regular file: name one"),
        ("-", "standard output belongs to the program"),
    ] {
        assert_refused(&run(&["--report", file]), 125, why);
    }
}

#[test]
fn what_did_not_come_about_is_told_at_the_end() {
    let Some(_alone) = placing() else { return };
    let directory = tempfile::tempdir().unwrap();
    let program = compile("hold.c", directory.path(), &[]);
    let stderr_of = |options: &[&str]| {
        let mut command = run(options);
        let output = command.arg("--").arg(&program).args(["0.2", "1"]).output().unwrap();
        assert_eq!(code(&output), Some(0), "{}", stderr(&output));
        stderr(&output)
    };
    let said = stderr_of(&["-v"]);
    assert!(said.contains("nothing placed in "), "{said}");
    assert!(said.contains("placing begins at"), "{said}");

    // The directory is removed before the report is written.
    let gone = directory.path().join("gone");
    fs::create_dir(&gone).unwrap();
    let report = gone.join("report.json");
    let mut command = run(&["--report", report.to_str().unwrap(), "--"]);
    command.args(["sh", "-c", "rmdir $1; exec $2 0.2 1", "sh"]).arg(&gone).arg(&program);
    let said = stderr(&command.env("HUEPAGE_RUN_DELAY", "100").output().unwrap());
    assert!(said.contains("no report: writing"), "{said}");
    assert!(said.contains("No such file or directory"), "{said}");
}

/// The thread in the program must not keep privileges that the program gives up: when a
/// program changes its user, the C library ends it if its threads get different
/// results.
#[test]
fn a_program_that_gives_up_privileges_ends_as_without_it() {
    let Some(_alone) = placing() else { return };
    if !rustix::process::geteuid().is_root() {
        return println!("skipped: only root has any to give up");
    }
    let script = "import ctypes, os, time
libc = ctypes.CDLL(None, use_errno=True)
memory = bytearray(os.urandom(4 << 20))
before = bytes(memory)
time.sleep(0.3)
print(libc.prctl(8, 1, 0, 0, 0), len(os.listdir('/proc/self/task')))
os.setgroups([])
os.setresgid(65534, 65534, 65534)
os.setresuid(65534, 65534, 65534)
print(os.getresuid(), os.getresgid(), memory == before)";
    let said = "0 1\n(65534, 65534, 65534) (65534, 65534, 65534) True\n";
    for backend in ["measure", "heap"] {
        let mut command = run(&["-v", "--backend", backend, "--budget", "100%", "--"]);
        let command = command.env("HUEPAGE_RUN_DELAY", "0").args(["python3", "-c", script]);
        let output = command.output().unwrap();
        assert_eq!(stdout(&output), said, "{backend}: {}", stderr(&output));
        assert_eq!(code(&output), Some(0), "{backend}");
    }
    // By a wrapper, as containers start their servers.
    let setpriv = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "id", "-u"];
    let mut command = run(&["--"]);
    let output = command.env("HUEPAGE_RUN_DELAY", "0").args(setpriv).output().unwrap();
    assert_eq!((code(&output), stdout(&output)), (Some(0), "65534\n".into()));
}

#[test]
fn a_static_program_runs_as_it_is_and_says_so_or_must_not() {
    let directory = tempfile::tempdir().unwrap();
    let source = directory.path().join("three.c");
    fs::write(&source, "int main(void) { return 3; }\n").unwrap();
    let program = directory.path().join("three");
    let built = Command::new("cc").args(["-static", "-o"]).arg(&program).arg(&source).status();
    if !built.is_ok_and(|status| status.success()) {
        return println!("skipped: no static C library here");
    }
    let output = run(&["--"]).arg(&program).output().unwrap();
    assert_eq!(code(&output), Some(3));
    assert!(stderr(&output).contains("linked statically"), "{}", stderr(&output));
    let output = run(&["--must", "--"]).arg(&program).output().unwrap();
    assert_eq!(code(&output), Some(125));
}

/// The loader would take the part after the space for another library.
#[test]
fn a_library_whose_path_the_loader_would_split_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let [folder, library] = ["my tools", "my tools/library.so"].map(|n| directory.path().join(n));
    fs::create_dir(folder).unwrap();
    fs::copy(libraries().join("libhuepage_preload.so"), &library).unwrap();
    let mut command = run(&["--must", "--", "true"]);
    let output = command.env("HUEPAGE_PRELOAD", &library).output().unwrap();
    assert_refused(&output, 125, "LD_PRELOAD cannot name a path with a space or a colon");
}

#[test]
fn a_missing_library_is_named_with_where_it_was_looked_for() {
    let mut command = run(&["--must", "--", "true"]);
    let output = command.env("HUEPAGE_PRELOAD", "/absent/library.so").output().unwrap();
    assert_refused(&output, 125, "/absent/library.so");
}

#[test]
fn without_privilege_it_says_what_is_missing_and_runs_the_program() {
    let Some(user) = Unprivileged::new() else { return };
    fs::write(user.directory.path().join("libhuepage_preload.so"), "").unwrap();
    for (must, expected) in [(&["--must"][..], 125), (&[], 5)] {
        let arguments = [&["run"], must, &["--", "sh", "-c", "exit 5"]].concat();
        let output = user.command(&arguments).output().unwrap();
        assert_eq!(code(&output), Some(expected), "{}", stderr(&output));
        // The library for placing without the privilege is missing too.
        for missing in ["CAP_SYS_PTRACE", "libhuepage_heap.so"] {
            assert!(stderr(&output).contains(missing), "{}", stderr(&output));
        }
    }
}

#[test]
fn a_program_sees_its_own_descriptors_and_children_only() {
    if !can_place() {
        return;
    }
    // No pipes: the shell may still be closing its ends while ls looks.
    let script = "ls /proc/self/fd; sleep 0.3; ls /proc/$$/fd; wait; echo done";
    let plain = Command::new("sh").args(["-c", script]).output().unwrap();
    let mut command = run(&["--", "sh", "-c", script]);
    let placed = command.env("HUEPAGE_RUN_DELAY", "0").output().unwrap();
    assert_eq!(stdout(&placed), stdout(&plain));
}

#[test]
fn a_program_that_closes_its_output_is_heard_to_do_so() {
    if !can_place() {
        return;
    }
    let script = "sleep 0.2; exec >&- 2>&-; sleep 30";
    let mut command = run(&["--", "sh", "-c", script]);
    command.env("HUEPAGE_RUN_DELAY", "0").stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let begin = Instant::now();
    let mut text = String::new();
    std::io::Read::read_to_string(&mut child.stdout.take().unwrap(), &mut text).unwrap();
    assert!(begin.elapsed() < Duration::from_secs(20), "the placer holds the stream open");
    child.kill().unwrap();
    child.wait().unwrap();
}

/// Waits until a condition holds, for a minute at most.
fn wait_for(mut has_come: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !has_come() && begin.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// A program of the folder `programs` run to its end, and its report.
fn reported(program: &str, options: &[&str], arguments: &[&str]) -> (Output, Value) {
    let directory = tempfile::tempdir().unwrap();
    let program = compile(program, directory.path(), &[]);
    let file = directory.path().join("report");
    let mut command = run(options);
    command.arg("--report").arg(&file).arg("--").arg(program).args(arguments);
    let output = command.output().unwrap();
    let report = if file.exists() { report(&file) } else { Value::Null };
    (output, report)
}

#[test]
fn memory_is_placed_while_the_program_runs_and_the_report_says_so() {
    let Some(_alone) = placing() else { return };
    // By default the budget pays for the start after two of the three seconds.
    let (output, report) = reported("hold.c", &["-v", "--budget", "100%"], &["3", "448"]);
    assert_eq!(code(&output), Some(0), "{}", stderr(&output));
    assert_eq!(report["schema"], "huepage.run/1");
    if let Some(why) = report["stopped"].as_str() {
        return println!("skipped: {why}");
    }
    assert_eq!(report["state"], "ended");
    let number = |name: &str| report[name].as_u64().unwrap();
    // All of it is plain memory; some pages may be busy.
    assert!(number("pages_placed") >= 400, "{report}");
    assert!(number("pages_placed") <= number("pages_seen"), "{report}");
    assert!(number("moves") >= number("pages_placed"), "{report}");
    assert!(number("old_frames_told") > 300, "{report}");
    assert!(number("imbalance_after") < number("imbalance_before"), "{report}");
    // 16 MiB and two per cent of the program's.
    assert!(number("memory") < 17 << 20, "{report}");
    assert!(stderr(&output).contains("pages placed"), "{}", stderr(&output));
}

#[test]
fn huge_pages_are_counted_or_taken_apart_and_placed() {
    let Some(_alone) = placing() else { return };
    let options = ["--budget", "100%", "--split-huge"];
    for split in [false, true] {
        let (output, report) = reported("huge.c", &options[..2 + usize::from(split)], &["4"]);
        if code(&output) == Some(77) {
            return println!("skipped: the kernel gives no huge pages");
        }
        assert_eq!(code(&output), Some(0), "{}", stderr(&output));
        if let Some(why) = report["stopped"].as_str() {
            return println!("skipped: {why}");
        }
        let huge = report["left_alone"]["huge"].as_u64().unwrap();
        let placed = report["pages_placed"].as_u64().unwrap();
        if split {
            assert_eq!(huge, 0, "{report}");
            assert!(placed >= 1000, "{report}");
        } else {
            assert!(huge == 1024 && placed < 500, "{report}");
        }
    }
}

#[test]
fn a_program_that_ends_before_the_start_is_paid_for_is_left_alone() {
    let Some(_alone) = placing() else { return };
    // An hour at this share.
    let (output, report) = reported("hold.c", &["--budget", "0.0005%"], &["1", "448"]);
    assert_eq!(code(&output), Some(0), "{}", stderr(&output));
    assert_eq!((report["moves"].as_u64(), report["colors"].as_u64()), (Some(0), None), "{report}");
    assert!(report["pages_seen"].as_u64() >= Some(448), "{report}");
}

#[test]
fn a_map_of_the_program_says_who_places_it() {
    if !can_place() {
        return;
    }
    for (options, way, told) in [
        (&["--"][..], "live", "frames are exchanged"),
        (&["--backend", "heap", "--"], "heap", "libhuepage_heap.so"),
    ] {
        let mut command = run(options);
        // One process: the program that the shell becomes has read nothing yet.
        command.args(["sh", "-c", "read line"]).stdin(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let pid = child.id().to_string();
        // It becomes the program when colors and library are found.
        let mut text = String::new();
        wait_for(|| {
            text = stdout(&huepage(&["map", &pid]).output().unwrap());
            text.contains("Placed by")
        });
        assert!(text.contains(told), "{text}");
        let map = json(&huepage(&["map", "--json", &pid]).output().unwrap());
        assert_eq!(map["placed_by"], way);
        drop(child.stdin.take());
        child.wait().unwrap();
    }
}

#[test]
fn children_are_placed_too_unless_they_are_not_to_be() {
    let Some(_alone) = placing() else { return };
    let directory = tempfile::tempdir().unwrap();
    let program = compile("hold.c", directory.path(), &[]);
    let reports = |follow: &str, name: &str| {
        let file = directory.path().join(name);
        // The shell forks, the program forks once more: three processes.
        let script = format!("{} 1 100 fork & wait; true", program.display());
        let options = [follow, "--budget", "100%", "--report", file.to_str().unwrap(), "--"];
        let mut command = run(&options);
        let output = command.args(["sh", "-c", &script]).output().unwrap();
        assert_eq!(code(&output), Some(0), "{}", stderr(&output));
        let names = fs::read_dir(directory.path()).unwrap().map(|e| e.unwrap().file_name());
        let mine = names.filter(|entry| entry.to_str().unwrap().starts_with(name));
        mine.map(|entry| report(&directory.path().join(entry))).collect::<Vec<_>>()
    };
    let placed = |reports: &[Value]| {
        reports.iter().filter(|report| report["pages_placed"].as_u64() > Some(90)).count()
    };
    let followed = reports("--follow-forks", "followed");
    assert_eq!(placed(&followed), 2, "{followed:?}");
    let left = reports("--no-follow-forks", "left");
    assert_eq!((left.len(), placed(&left)), (1, 0), "{left:?}");
}

/// However its threads end: the placer's thread does not keep the process alive.
#[test]
fn a_process_ends_with_the_last_thread_of_the_program() {
    if !can_place() {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let program = compile("last.c", directory.path(), &[]);
    let file = directory.path().join("report");
    for (arguments, expected) in [(&[][..], (Some(0), "last\nbye\n")), (&["7"], (Some(7), ""))] {
        for delay in ["0", "20", "1000"] {
            let mut command = Command::new("timeout");
            command.args(["-s", "KILL", "60"]).arg(cargo_bin("huepage"));
            command.args(["run", "--report"]).arg(&file).arg("--").arg(&program).args(arguments);
            command.envs(run(&[]).get_envs().filter_map(|(name, value)| Some((name, value?))));
            let output = command.env("HUEPAGE_RUN_DELAY", delay).output().unwrap();
            assert_eq!(
                (code(&output), &*stdout(&output)),
                expected,
                "{delay}: {}",
                stderr(&output)
            );
        }
    }
}

#[test]
fn a_killed_program_leaves_its_last_report() {
    let Some(_alone) = placing() else { return };
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("report");
    let mut child =
        run(&["--report", file.to_str().unwrap(), "--", "sleep", "60"]).spawn().unwrap();
    wait_for(|| file.exists());
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(report(&file)["pid"], child.id());
}

#[test]
fn parts_of_the_cache_are_disjoint_and_listed_while_their_programs_run() {
    let Some(_alone) = placing() else { return };
    let directory = tempfile::tempdir().unwrap();
    let with = |options: &[&str]| {
        let mut command = run(options);
        command.env("XDG_RUNTIME_DIR", directory.path());
        command
    };
    let mut first = with(&["--share", "1/2", "--", "sleep", "60"]).spawn().unwrap();
    let list = || stdout(&with(&["--list"]).output().unwrap());
    wait_for(|| list().contains("sleep"));
    assert!(list().contains(&first.id().to_string()), "{}", list());
    let mut second = with(&["--share", "3/4", "--", "true"]);
    assert_refused(&second.output().unwrap(), 125, "are free");
    first.kill().unwrap();
    first.wait().unwrap();
    assert_eq!(list().lines().count(), 1, "{}", list());
    assert!(second.status().unwrap().success());
}
