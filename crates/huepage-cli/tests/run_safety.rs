// SPDX-License-Identifier: MIT OR Apache-2.0
//! No data is lost: programs that check all their memory, whose pages are exchanged
//! over and over meanwhile. One at a time: each uses all CPUs.

mod support;

use std::{path::Path, process::Command, sync::OnceLock, time::Duration};

use support::{
    cgroup::Cgroup,
    code,
    run::{can_place, compile, heap, placing, report, restless, run},
    stderr,
    swap::SwapFile,
};

fn directory() -> &'static Path {
    static DIRECTORY: OnceLock<tempfile::TempDir> = OnceLock::new();
    DIRECTORY.get_or_init(|| tempfile::tempdir().unwrap()).path()
}

/// Runs a part of a program, and sees that pages were exchanged under it.
#[track_caller]
fn check(program: &str, seconds: &str, part: &str) {
    check_with(program, seconds, part, &[], None);
}

/// As [`check`], with further options, and in a cgroup.
#[track_caller]
fn check_with(program: &str, seconds: &str, part: &str, options: &[&str], cgroup: Option<&Cgroup>) {
    let Some(_alone) = placing() else { return };
    let binary = compile(program, directory(), &[]);
    let file = directory().join(format!("report-{part}"));
    let mut command = restless(&["--report", file.to_str().unwrap()]);
    command.args(options).arg("--");
    if let Some(cgroup) = cgroup {
        cgroup.hold(&mut command);
    }
    // A program that hangs is killed, so that the tests go on.
    let output = command
        .args(["timeout", "-s", "KILL", "120"])
        .arg(binary)
        .args([seconds, part])
        .output()
        .unwrap();
    if code(&output) == Some(77) {
        return println!("{}", stderr(&output));
    }
    assert_eq!(code(&output), Some(0), "{part}: {}", stderr(&output));
    // Of the program, which `timeout` forks and executes.
    let moves: u64 = std::fs::read_dir(directory())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| {
            let name = path.file_name().unwrap().to_str().unwrap();
            name.starts_with(&format!("report-{part}")) && !name.ends_with("partial")
        })
        .map(|path| report(&path)["moves"].as_u64().unwrap())
        .sum();
    assert!(moves > 50, "{part}: {moves} moves");
}

macro_rules! checks {
    ($($name:ident: $program:literal $part:literal;)*) => {
        $(
            #[test]
            fn $name() {
                check($program, "2", $part);
            }
        )*
    };
}

checks! {
    threads_count_on_while_pages_are_exchanged: "storm.c" "count";
    memory_is_unmapped_and_mapped_again: "storm.c" "unmap";
    memory_is_moved: "storm.c" "moves";
    what_is_discarded_stays_discarded: "storm.c" "discard";
    children_find_what_their_parents_had: "storm.c" "forks";
    threads_end_and_are_joined: "storm.c" "threads";
    mutexes_that_inherit_priorities_are_contended_for: "storm.c" "pi";
    owners_of_robust_mutexes_die: "storm.c" "robust";
    the_heap_is_used_by_threads: "storm.c" "heap";
    memory_is_locked: "kinds.c" "locked";
    all_memory_is_locked: "kinds.c" "all-locked";
    memory_is_advised_in_all_kinds: "kinds.c" "advised";
    files_are_read_and_written_past_the_cache: "kinds.c" "direct";
    pages_wait_in_a_pipe: "kinds.c" "spliced";
    another_process_writes_by_ptrace: "kinds.c" "traced";
    the_program_has_a_userfaultfd_of_its_own: "kinds.c" "own-userfaultfd";
    buffers_are_registered_with_io_uring: "kinds.c" "ring";
    huge_pages_come_and_go: "kinds.c" "huge";
    memory_is_protected: "kinds.c" "protect";
    programs_are_executed: "kinds.c" "executes";
    a_thousand_threads_come_and_go: "kinds.c" "many-threads";
    data_is_taken_up_to_its_limit: "kinds.c" "data-limit";
    addresses_are_taken_up_to_their_limit: "kinds.c" "address-limit";
}

#[test]
fn huge_pages_are_taken_apart_as_they_come() {
    check_with("kinds.c", "3", "huge", &["--split-huge"], None);
}

/// A program of one thread may have a heap that is not thread-safe.
#[test]
fn the_heap_of_the_program_is_the_programs() {
    let Some(_alone) = placing() else { return };
    let binary = compile("own_malloc.c", directory(), &[]);
    // With a palette to be made; as ordinary programs are; and as above.
    for mut command in [run(&["--budget", "100%", "--"]), run(&["--"]), restless(&["--"])] {
        let runtime = tempfile::tempdir().unwrap();
        let output = command.env("XDG_RUNTIME_DIR", runtime.path()).arg(&binary).output().unwrap();
        assert_eq!(code(&output), Some(0), "{command:?}: {}", stderr(&output));
    }
}

/// From the first moment on, since the start of the thread is over in a few hundred
/// microseconds.
#[test]
fn numbers_of_descriptors_are_the_programs() {
    let Some(_alone) = placing() else { return };
    let binary = compile("kinds.c", directory(), &[]);
    let ways: [fn() -> Command; 2] = [|| restless(&["--"]), || heap(&["--"])];
    for command in ways {
        for _ in 0..50 {
            let output = command().arg(&binary).args(["0.02", "descriptors"]).output().unwrap();
            assert_eq!(code(&output), Some(0), "{}", stderr(&output));
        }
    }
}

#[test]
fn pages_go_to_a_swap_file_and_come_back() {
    match SwapFile::new() {
        Ok(_file) => check("kinds.c", "3", "paged-out"),
        Err(why) => println!("skipped: no swap file: {why}"),
    }
}

/// Pages of a file take all that a cgroup may have, again and again.
#[test]
fn memory_is_short_in_a_cgroup() {
    match Cgroup::new(40 << 20) {
        Ok(cgroup) => {
            check_with("kinds.c", "3", "memory-limit", &[], Some(&cgroup));
            assert!(!can_place() || cgroup.was_at_its_limit());
        }
        Err(why) => println!("skipped: no cgroup with a limit of memory: {why}"),
    }
}

/// The kernel has to tell another process that waits for a robust mutex when its owner
/// has died, whenever that is killed.
#[test]
fn a_process_that_is_killed_leaves_its_locks_to_others() {
    let Some(_alone) = placing() else { return };
    let binary = compile("heir.c", directory(), &[]);
    let output = restless(&["--"])
        .args(["timeout", "-s", "KILL", "120"])
        .arg(binary)
        .arg("100")
        .output()
        .unwrap();
    assert_eq!(code(&output), Some(0), "{}", stderr(&output));
}

#[test]
fn a_program_killed_at_any_time_is_gone() {
    let Some(_alone) = placing() else { return };
    let binary = compile("storm.c", directory(), &[]);
    for round in 0..12 {
        let mut child = restless(&["--"]).arg(&binary).arg("60").spawn().unwrap();
        std::thread::sleep(Duration::from_millis(60 + 37 * round));
        child.kill().unwrap();
        // No process is left that waits for a page that has been taken out.
        child.wait().unwrap();
    }
}
