// SPDX-License-Identifier: MIT OR Apache-2.0
//! Processes that end, that execute others, that may not be looked at.

use std::{
    io::{BufRead, BufReader, Write},
    os::unix::process::CommandExt,
    process::{Command, Stdio},
};

use huepage::map::{Change, MapError, MapOptions, ProcessMap, What};

use crate::processes::{Running, example, known_placement, map, root, try_map};

/// The number of `nobody`.
const NOBODY: u32 = 65534;

#[test]
fn a_process_that_changes_all_the_time_is_shown_with_what_it_did() {
    // A shell whose child programs come and go, and one that maps and unmaps.
    let script = "while :; do exec_me=$(printf %5000s); done";
    let spawned = Command::new("sh").args(["-c", script]).stdout(Stdio::null()).spawn().unwrap();
    let running = Running(spawned);
    for _ in 0..20 {
        let map = try_map(running.pid(), &MapOptions::default()).unwrap();
        assert!(!map.areas.is_empty());
        assert!(ProcessMap::from_json(&map.to_json()).is_ok());
        assert!(!map.changes.contains(&Change::Exited), "{:?}", map.changes);
    }
}

#[test]
fn a_process_that_ends_gives_a_map_or_a_reason() {
    let (mut whole, mut broken, mut none) = (0, 0, 0);
    for delay in 0..60 {
        let mut child = Command::new("true").stdout(Stdio::null()).spawn().unwrap();
        std::thread::sleep(std::time::Duration::from_micros(delay * 20));
        match try_map(child.id(), &MapOptions::default()) {
            Ok(map) if map.changes.is_empty() => whole += 1,
            Ok(_) => broken += 1,
            Err(MapError::NoProcess { .. } | MapError::Zombie { .. }) => none += 1,
            Err(error) => panic!("{error}"),
        }
        child.wait().unwrap();
    }
    assert_eq!(whole + broken + none, 60);
}

#[test]
fn a_process_that_ended_before_it_was_read_is_named() {
    let mut child = Command::new("true").spawn().unwrap();
    let pid = child.id();
    child.wait().unwrap();
    let error = try_map(pid, &MapOptions::default()).unwrap_err();
    assert!(matches!(error, MapError::NoProcess { .. }), "{error}");
    assert!(error.to_string().contains(&pid.to_string()));
}

/// The library as another user sees it: by the example that prints a map.
fn map_as_nobody(pid: u32) -> (String, String, bool) {
    let mut command = Command::new(example("map"));
    let output = command.arg(pid.to_string()).uid(NOBODY).gid(NOBODY).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (text(output.stdout), text(output.stderr), output.status.success())
}

/// The shared pages of the areas with anonymous pages only. Files are shared also
/// with the very program that makes a map, while it runs.
fn shared_in_private_memory(map: &ProcessMap) -> Vec<u64> {
    let pages = map.areas.iter().map(|area| &area.placement.pages);
    pages.filter(|p| p.anonymous + p.ksm == p.present).map(|p| p.shared).collect()
}

#[test]
fn without_privilege_the_rest_is_shown_and_the_capability_named() {
    if !root() {
        return eprintln!("only root can become someone else");
    }
    let running = Running::idle(Command::new("cat").uid(NOBODY).gid(NOBODY)).unwrap();
    let (json, error, done) = map_as_nobody(running.pid());
    if !done && error.contains("ermission denied") {
        return eprintln!("nobody may not run programs here: {error}");
    }
    assert!(done, "{error}");
    let hidden = ProcessMap::from_json(&json).unwrap();
    let seen = map(running.pid(), &MapOptions::default());
    let short: Vec<_> = hidden.shortfalls.iter().map(|short| short.what).collect();
    assert_eq!(short, [What::FrameNumbers, What::PageFlags]);
    assert!(hidden.shortfalls.iter().all(|s| s.needs.as_deref() == Some("CAP_SYS_ADMIN")));
    assert_eq!((hidden.total.pages.frames, &hidden.total.runs), (None, &None));
    assert!(hidden.total.balances.is_empty() && hidden.cell_cache.is_none());
    let (few, all) = (&hidden.total.pages, &seen.total.pages);
    assert_eq!((few.present, few.zero, few.swapped), (all.present, all.zero, all.swapped));
    assert_eq!(few.anonymous, all.anonymous + all.ksm);
    assert_eq!(shared_in_private_memory(&hidden), shared_in_private_memory(&seen));
    assert_eq!((few.huge_mapped, few.special), (all.huge_mapped, all.special));
    assert_eq!(hidden.total.nodes, seen.total.nodes);
    assert_eq!(hidden.kernel.unwrap().rss, seen.kernel.unwrap().rss);
}

#[test]
fn another_users_process_is_refused_by_name_of_the_capability() {
    if !root() {
        return eprintln!("only root can become someone else");
    }
    let running = Running::idle(&mut Command::new("cat")).unwrap();
    let (_, error, done) = map_as_nobody(running.pid());
    if error.contains("ermission denied") {
        return eprintln!("nobody may not run programs here: {error}");
    }
    let needs = "CAP_DAC_READ_SEARCH,CAP_SYS_PTRACE";
    assert!(!done && error.contains(needs), "{error}");
}

#[test]
fn a_stopped_process_can_be_mapped() {
    let running = Running::idle(&mut Command::new("cat")).unwrap();
    let pid = rustix::process::Pid::from_raw(running.pid() as i32).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::STOP).unwrap();
    let stopped = map(running.pid(), &MapOptions::default());
    rustix::process::kill_process(pid, rustix::process::Signal::CONT).unwrap();
    assert!(stopped.total.pages.present > 0 && stopped.changes.is_empty());
}

#[test]
fn a_name_full_of_escapes_and_broken_bytes_is_safe_in_the_map() {
    use std::os::unix::ffi::OsStrExt;
    let directory = tempfile::tempdir().unwrap();
    let name = std::ffi::OsStr::from_bytes(b"\x1b[2J\xff\xe2\x80\xaeevil\nname");
    let path = directory.path().join(name);
    let mut file = std::fs::File::create_new(&path).unwrap();
    file.write_all(&[1; 4096]).unwrap();
    let file = std::fs::File::open(&path).unwrap();
    // SAFETY: a new mapping of a file that nobody changes.
    let mapped = unsafe {
        rustix::mm::mmap(
            std::ptr::null_mut(),
            4096,
            rustix::mm::ProtFlags::READ,
            rustix::mm::MapFlags::PRIVATE,
            &file,
            0,
        )
    };
    let start = mapped.unwrap().addr() as u64;
    let json = try_map(std::process::id(), &MapOptions::default()).unwrap().to_json();
    let map = ProcessMap::from_json(&json).unwrap();
    let area = map.areas.iter().find(|area| area.start == start).unwrap();
    let shown = area.name.as_str();
    assert!(shown.ends_with("\\u{1b}[2J\\xff\\u{202e}evil\\012name"), "{shown}");
    assert!(!json.trim_end().chars().any(char::is_control));
}

#[test]
fn a_process_in_a_namespace_of_its_own_has_all_its_numbers_and_tells_its_colors() {
    if !root() {
        return eprintln!("only root can make a PID namespace");
    }
    let mut command = Command::new("unshare");
    command.args(["--pid", "--fork", "--kill-child"]).arg(example("known_placement"));
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let Ok(mut unshare) = command.spawn() else { return eprintln!("unshare is not installed") };
    let mut lines = BufReader::new(unshare.stdout.take().unwrap()).lines();
    while lines.next().expect("it gets ready").unwrap() != "ready" {}
    let children = format!("/proc/{0}/task/{0}/children", unshare.id());
    let inside = std::fs::read_to_string(children).unwrap().trim().parse().unwrap();
    let _running = Running(unshare);
    let map = map(inside, &MapOptions::default());
    assert_eq!(map.process.pid_in_namespaces, [inside, 1]);
    assert_eq!(map.registered.len(), 1, "{:?}", map.shortfalls);
}

#[test]
fn a_child_does_not_tell_the_colors_of_its_parent() {
    let (running, ranges) = known_placement();
    // The memfd handed on to another program, as after a fork.
    let link = |entry: &std::path::Path| {
        std::fs::read_link(entry)
            .is_ok_and(|link| link.to_string_lossy().contains("huepage-colors"))
    };
    let descriptors = std::fs::read_dir(format!("/proc/{}/fd", running.pid())).unwrap();
    let told = descriptors.map(|entry| entry.unwrap().path()).find(|path| link(path)).unwrap();
    let _inherited = std::fs::File::open(told).unwrap();
    let map = map(std::process::id(), &MapOptions::default());
    assert!(map.registered.iter().all(|range| range.start != ranges["registered"].0));
    assert!(map.shortfalls.iter().all(|short| short.what != What::Registered));
}
