// SPDX-License-Identifier: MIT OR Apache-2.0
//! Processes that end or execute another program between the reading of areas and of
//! pages.

use std::{
    fs::File,
    io::Write,
    process::{Child, Command, Stdio},
};

use super::*;
use crate::{
    mapping::page_size,
    proc,
    topology::{LiveMachine, Topology, allowed_cpus},
};

/// A program that waits for a line and then does what `script` says.
fn waiting(script: &str) -> Child {
    let mut command = Command::new("sh");
    let script = format!("read line; {script}");
    let child = command.args(["-c", &script]).stdin(Stdio::piped()).stdout(Stdio::null());
    let child = child.spawn().unwrap();
    let executed = || std::fs::read(format!("/proc/{}/cmdline", child.id())).unwrap();
    while !executed().starts_with(b"sh\0-c") {
        std::thread::yield_now();
    }
    child
}

fn lines(pid: u32) -> Vec<AreaLine> {
    let file = File::open(format!("/proc/{pid}/smaps")).unwrap();
    proc::areas(file).unwrap()
}

/// What is gathered of a program that acts between the reading of its areas and of its
/// pages.
fn gathered(mut child: Child, scan: bool, act: impl FnOnce(&mut Child)) -> (usize, Gathered) {
    let machine = LiveMachine::open(allowed_cpus().unwrap()[0]).unwrap();
    let nodes = FrameNodes::read(&machine, &Topology::read(&machine).unwrap());
    let pagemap = Pagemap::of_process(child.id()).unwrap();
    let lines = lines(child.id());
    act(&mut child);
    let sources = Sources {
        pagemap: &pagemap,
        scan,
        flags: None,
        nodes: &nodes,
        page_size: page_size(),
        cells_per_area: 8,
        cells_in_all: 100,
    };
    let scope = Scope { caches: &[], cell_cache: None, frames: false, huge_mapped: scan };
    let gathered = gather(&sources, scope, &lines).unwrap();
    drop(child.stdin.take());
    child.wait().unwrap();
    (lines.len(), gathered)
}

#[test]
fn a_program_that_stays_is_read_to_the_end() {
    for scan in [true, false] {
        let (areas, gathered) = gathered(waiting("exit"), scan, |_| {});
        assert_eq!((gathered.areas.len(), gathered.gone), (areas, false));
        assert!(gathered.total.pages.present > 10);
    }
}

#[test]
fn an_address_space_that_went_away_by_exit_or_exec_is_noticed() {
    for (script, scan) in [("exit", true), ("exit", false), ("exec cat", true)] {
        let (_, gathered) = gathered(waiting(script), scan, |child| {
            let stat = format!("/proc/{}/stat", child.id());
            child.stdin.as_mut().unwrap().write_all(b"go\n").unwrap();
            // Until it is a zombie, or has executed another program.
            let still = || std::fs::read_to_string(&stat).unwrap();
            while still().contains("(sh)") && !still().contains(") Z ") {
                std::thread::yield_now();
            }
        });
        assert!(gathered.gone, "{script}");
        assert_eq!((gathered.areas.len(), gathered.total.pages.present), (1, 0), "{script}");
    }
}
