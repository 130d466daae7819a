// SPDX-License-Identifier: MIT OR Apache-2.0
//! `huepage run --backend heap`: another malloc, whose memory is placed before the
//! program gets it, also without privilege.

mod support;

use std::{
    fs,
    path::Path,
    process::{Command, Output},
    time::Duration,
};

use huepage::{
    color::{
        ColorOracle, MeasureOptions,
        palette::{Palette, PaletteOptions},
    },
    mapping::PageAddr,
    topology::{CacheGeometry, LiveMachine, Topology, allowed_cpus},
};
use serde_json::Value;
use support::{
    Unprivileged, alone, code,
    run::{LIBRARIES, compile, heap, libraries, report},
    stderr, stdout,
};

/// The report of a run that could place; `None`, with the reason printed, if no colors
/// can be found here.
fn placed(file: &Path, output: &Output) -> Option<Value> {
    if stderr(output).contains("not placed") {
        println!("skipped: {}", stderr(output));
        return None;
    }
    let report = report(file);
    if let Some(why) = report["stopped"].as_str() {
        println!("skipped: {why}");
        return None;
    }
    assert_eq!(report["way"], "heap");
    Some(report)
}

fn number(report: &Value, name: &str) -> u64 {
    report[name].as_u64().unwrap()
}

/// Whether the program allocated before the placer was ready, or ended before the
/// colors were found; prints which.
fn is_late(report: &Value) -> bool {
    let late = number(&report["unplaced"], "late") > 0 || report["state"] == "discovering";
    if late {
        println!("skipped: the machine is too busy to place in time: {report}");
    }
    late
}

/// The cache whose colors are found, if it is known.
fn geometry() -> Option<CacheGeometry> {
    let cpu = *allowed_cpus().ok()?.last()?;
    Topology::read(&LiveMachine::open(cpu).ok()?).ok()?.cache_to_color(cpu).ok()
}

/// Pages that a program has in one piece: what is larger than two caches is not placed.
fn pages() -> usize {
    geometry().map_or(448, |cache| (cache.size().0 as usize / 4096 * 7 / 4).min(448))
}

/// Of `pages()` and what the program has besides.
#[track_caller]
fn assert_placed(report: &Value) {
    if is_late(report) {
        return;
    }
    assert!(number(report, "pages_placed") as usize >= pages() - 8, "{report}");
    assert!(number(report, "pages_placed") <= number(report, "pages_seen"), "{report}");
    let (verified, right) = (number(report, "verified"), number(report, "verified_in_place"));
    assert!(verified > 0 && right * 10 >= verified * 9, "{report}");
    // 16 MiB and two per cent of the program's.
    assert!(number(report, "memory") < 17 << 20, "{report}");
}

#[test]
fn without_privilege_the_heap_is_placed_and_what_is_not_is_said() {
    let _alone = alone();
    let Some(user) = Unprivileged::new() else { return };
    let directory = &user.directory;
    for (_, name) in LIBRARIES {
        fs::copy(libraries().join(name), directory.path().join(name)).unwrap();
    }
    let program = compile("hold.c", directory.path(), &[]);
    let file = directory.path().join("report");
    // On a busy machine a program may end before the colors are found; a program that
    // runs longer gets placed.
    for seconds in ["1", "30"] {
        let mut command = user.command(&["run", "--must", "--report"]);
        command.arg(&file).arg("--").arg(&program).args([seconds, &pages().to_string()]);
        let output = command.env_remove("XDG_RUNTIME_DIR").output().unwrap();
        if code(&output) == Some(125) {
            return println!("skipped: {}", stderr(&output));
        }
        assert_eq!(code(&output), Some(0), "{}", stderr(&output));
        for said in ["malloc's memory alone", "CAP_SYS_PTRACE"] {
            assert!(stderr(&output).contains(said), "{}", stderr(&output));
        }
        let Some(report) = placed(&file, &output) else { return };
        if report["state"] != "discovering" {
            return assert_placed(&report);
        }
    }
    panic!("no colors within 30 s, and not a word why");
}

#[test]
fn pages_move_by_userfaultfd_or_without() {
    let _alone = alone();
    let directory = tempfile::tempdir().unwrap();
    let program = compile("hold.c", directory.path(), &[]);
    let file = directory.path().join("report");
    for remap in [false, true] {
        let mut command = heap(&["-v", "--report", file.to_str().unwrap(), "--"]);
        if remap {
            command.env("HUEPAGE_RUN_REMAP", "1");
        }
        let output =
            command.arg(&program).args(["0.3", &pages().to_string(), "fork"]).output().unwrap();
        assert_eq!(code(&output), Some(0), "{}", stderr(&output));
        let Some(report) = placed(&file, &output) else { return };
        assert_placed(&report);
        assert!(stderr(&output).contains("of malloc's in all"), "{}", stderr(&output));
    }
}

/// Set where this test binary is the program that is run.
const LOOK: &str = "HUEPAGE_TEST_LOOK";

fn open_palette() -> Option<Palette> {
    let cpu = *allowed_cpus().ok()?.last()?;
    Palette::open(&MeasureOptions::new(cpu, geometry()), &PaletteOptions::new()).ok()
}

/// The program that is run: allocates, classifies its pages by itself, and prints how
/// many have each color.
fn look() {
    let count = pages();
    // SAFETY: memory of this program, written before it is read.
    let memory = unsafe {
        let memory = libc::malloc(count * 4096).cast::<u8>();
        memory.write_bytes(1, count * 4096);
        memory
    };
    let mut palette = open_palette().unwrap();
    // The first and the last one are shared with other blocks.
    let first = PageAddr::containing(memory.wrapping_add(4096)).get();
    let page =
        |n: usize| PageAddr::containing(std::ptr::with_exposed_provenance::<u8>(first + n * 4096));
    let pages: Vec<PageAddr> = (0..count - 2).map(page).collect();
    // SAFETY: pages of the block above.
    let told = unsafe { palette.classify(&pages) }.unwrap();
    let mut counts = vec![0; palette.count().get() as usize];
    told.into_iter().flatten().for_each(|color| counts[color.index()] += 1);
    println!("counts {counts:?}");
}

/// What the program prints; `None` where it was not placed in time.
fn counts(options: &[&str]) -> Option<(Vec<usize>, Value)> {
    let test = std::env::current_exe().unwrap();
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("report");
    let mut command = heap(options);
    command.arg("--report").arg(&file);
    command.arg("--").arg(test).args(["--exact", "a_program_finds_its_pages_as_they_are_to_be"]);
    let output = command.args(["--nocapture"]).env(LOOK, "1").output().unwrap();
    assert_eq!(code(&output), Some(0), "{}", stderr(&output));
    let report = placed(&file, &output)?;
    if is_late(&report) {
        return None;
    }
    let text = stdout(&output);
    let line = text.lines().find_map(|line| line.split_once("counts [")).unwrap().1;
    let counts = line.trim_end_matches(']').split(", ").map(|n| n.parse().unwrap()).collect();
    Some((counts, report["unplaced"].clone()))
}

#[test]
fn a_program_finds_its_pages_as_they_are_to_be() {
    if std::env::var_os(LOOK).is_some() {
        return look();
    }
    let _alone = alone();
    let Some(palette) = open_palette() else {
        return println!("skipped: no colors can be found here");
    };
    let colors = palette.count().get() as usize;
    // A neighbor can spoil single answers, here and in the placer: at most one in
    // twenty pages has another color.
    let slack = pages() / 20;
    let Some((all, _)) = counts(&[]) else { return };
    let even = (pages() / colors) as isize;
    let off: isize = all.iter().map(|&n| (n as isize - even).abs()).sum();
    assert!(off as usize <= 2 * slack + colors, "{all:?}");
    if colors < 8 {
        return;
    }
    let options = ["--colors", "0-3", "--budget", "100%"];
    let Some((some, unplaced)) = counts(&options) else { return };
    let elsewhere: usize = some[4..].iter().sum();
    // An eighth of all frames can be used: some may be short, and the report says so.
    let said = number(&unplaced, "short") as usize;
    assert!(elsewhere <= slack + said, "{some:?} {unplaced}");
}

#[test]
fn nothing_is_lost_while_threads_allocate_and_children_are_forked() {
    let _alone = alone();
    let directory = tempfile::tempdir().unwrap();
    let program = compile("heap.c", directory.path(), &[]);
    // Without regard to CPU time, so that more is placed.
    for (options, remap) in
        [(&["--budget", "100%"][..], false), (&["--budget", "100%"], true), (&[], false)]
    {
        let mut command = heap(options);
        if remap {
            command.env("HUEPAGE_RUN_REMAP", "1");
        }
        // A program that hangs is killed, so that the tests go on.
        command.args(["--", "timeout", "-s", "KILL", "120"]).arg(&program).arg("1");
        let output = command.output().unwrap();
        assert_eq!(stdout(&output), "right\n", "{options:?}: {}", stderr(&output));
        assert_eq!(code(&output), Some(0), "{}", stderr(&output));
    }
}

#[test]
fn programs_in_other_languages_say_what_they_say_without() {
    let _alone = alone();
    let directory = tempfile::tempdir().unwrap();
    let source = directory.path().join("words.cc");
    fs::write(
        &source,
        "#include <iostream>\n#include <map>\n#include <string>\n#include <vector>\n\
         int main() {\n  std::map<std::string, std::vector<int>> m;\n\
         for (int i = 0; i < 60000; i++) m[std::to_string(i % 7919)].push_back(i);\n\
         long sum = 0;\n  for (auto &e : m) for (int i : e.second) sum += i * e.first.size();\n\
         std::cout << sum << std::endl;\n}\n",
    )
    .unwrap();
    let words = directory.path().join("words");
    let built = Command::new("c++").arg("-o").arg(&words).arg(&source).status();
    let mut programs = vec![vec![compile("own_malloc.c", directory.path(), &["-fno-builtin"])]];
    if built.is_ok_and(|status| status.success()) {
        programs.push(vec![words]);
    }
    let script = "d = {str(i): list(range(i % 50)) for i in range(30000)}\n\
                  print(sum(len(k) * sum(v) for k, v in d.items()))";
    for python in ["/usr/bin/python3", "/usr/local/bin/python3"] {
        if Path::new(python).exists() {
            programs.push(vec![python.into(), "-c".into(), script.into()]);
        }
    }
    for program in programs {
        let plain = Command::new(&program[0]).args(&program[1..]).output().unwrap();
        let output = heap(&["--"]).args(&program).output().unwrap();
        assert_eq!(code(&output), Some(0), "{}", stderr(&output));
        assert_eq!(stdout(&output), stdout(&plain), "{program:?}");
    }
}

#[test]
fn a_program_whose_memory_is_all_locked_gets_it_all_the_same() {
    let directory = tempfile::tempdir().unwrap();
    let source = directory.path().join("locked.c");
    fs::write(
        &source,
        "#include <stdlib.h>\n#include <string.h>\n#include <sys/mman.h>\nint main(void) {\n\
         if (mlockall(MCL_CURRENT | MCL_FUTURE)) return 77;\n\
         for (int i = 1; i < 40; i++) { char *p = calloc(i, 40000);\n\
         for (int j = 0; j < i * 40000; j++) if (p[j]) return 1;\n\
         memset(p, i, i * 40000); if (i % 3) free(p); }\nreturn 0;\n}\n",
    )
    .unwrap();
    let program = directory.path().join("locked");
    assert!(Command::new("cc").arg("-o").args([&program, &source]).status().unwrap().success());
    let output = heap(&["--"]).arg(&program).output().unwrap();
    if code(&output) == Some(77) {
        return println!("skipped: memory cannot be locked here");
    }
    assert_eq!(code(&output), Some(0), "{}", stderr(&output));
}

#[test]
fn a_limit_of_address_space_is_kept() {
    let directory = tempfile::tempdir().unwrap();
    let program = compile("hold.c", directory.path(), &[]);
    for limit in ["200000", "2000000"] {
        let script = format!("ulimit -v {limit}; exec {} 0.1 448", program.display());
        let output = heap(&["--", "sh", "-c", &script]).output().unwrap();
        assert_eq!(code(&output), Some(0), "{limit}: {}", stderr(&output));
    }
}

#[test]
fn a_program_killed_at_any_time_is_gone() {
    let _alone = alone();
    let directory = tempfile::tempdir().unwrap();
    let program = compile("heap.c", directory.path(), &[]);
    for round in 0..8 {
        let mut child = heap(&["--"]).arg(&program).arg("60").spawn().unwrap();
        std::thread::sleep(Duration::from_millis(20 + 41 * round));
        child.kill().unwrap();
        child.wait().unwrap();
    }
}

#[test]
fn a_program_sees_its_own_descriptors_only() {
    // No pipes: the shell may still be closing its ends while ls looks.
    let script = "ls /proc/$$/fd; x=$(seq 100000); ls /proc/$$/fd";
    let plain = Command::new("bash").args(["-c", script]).output().unwrap();
    let placed = heap(&["--", "bash", "-c", script]).output().unwrap();
    assert_eq!(stdout(&placed), stdout(&plain), "{}", stderr(&placed));
}
