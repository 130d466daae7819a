// SPDX-License-Identifier: MIT OR Apache-2.0
//! Processes to map, and the maps of them.

use std::{
    collections::BTreeMap,
    io::{BufRead, BufReader},
    path::PathBuf,
    process::{Child, Command, Stdio},
};

use huepage::{
    frames::Pagemap,
    map::{Area, MapError, MapOptions, ProcessMap},
    topology::{LiveMachine, Topology, allowed_cpus},
};

/// A program that ends with the value.
pub struct Running(pub Child);

impl Running {
    /// Starts a program that reads its input to the end, and waits until it is
    /// asleep: from then on its memory stays as it is.
    pub fn idle(command: &mut Command) -> Option<Self> {
        let spawned = command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn();
        let running = Running(spawned.ok()?);
        let blocked = || {
            let call = std::fs::read_to_string(format!("/proc/{}/syscall", running.pid()));
            // System call 0 on descriptor 0.
            call.is_ok_and(|call| call.starts_with("0 0x0 "))
        };
        while !blocked() {
            std::thread::yield_now();
        }
        Some(running)
    }

    pub fn pid(&self) -> u32 {
        self.0.id()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// `examples/known_placement`, with its ranges by name: address and pages.
pub fn known_placement() -> (Running, BTreeMap<String, (u64, u64)>) {
    let mut command = Command::new(example("known_placement"));
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the example is built");
    let mut ranges = BTreeMap::new();
    for line in BufReader::new(child.stdout.take().unwrap()).lines() {
        let line = line.unwrap();
        let words: Vec<&str> = line.split(' ').collect();
        match words[..] {
            [name, start, pages] => {
                ranges.insert(name.to_owned(), (start.parse().unwrap(), pages.parse().unwrap()));
            }
            _ => {
                assert_eq!(line, "ready");
                return (Running(child), ranges);
            }
        }
    }
    panic!("the program with known placement broke off after {ranges:?}");
}

/// The path of an example, which `cargo test` builds along with the tests.
pub fn example(name: &str) -> PathBuf {
    let mut path = std::env::current_exe().unwrap();
    path.pop();
    path.pop();
    path.extend(["examples", name]);
    assert!(path.exists(), "without its example this test needs: cargo build --examples");
    path
}

pub fn try_map(pid: u32, options: &MapOptions) -> Result<ProcessMap, MapError> {
    let machine = LiveMachine::open(*allowed_cpus().unwrap().last().unwrap()).unwrap();
    let topology = Topology::read(&machine).unwrap();
    ProcessMap::read(pid, &machine, &topology, options)
}

/// Maps a process, and checks that the map equals its own record.
pub fn map(pid: u32, options: &MapOptions) -> ProcessMap {
    let map = try_map(pid, options).unwrap();
    let read_back = ProcessMap::from_json(&map.to_json()).unwrap();
    assert!(same(&read_back, &map), "the record differs");
    map
}

/// Equal but for the last bit of figures that are no whole numbers.
fn same(a: &ProcessMap, b: &ProcessMap) -> bool {
    let value = |map: &ProcessMap| {
        let mut value = serde_json::to_value(map).unwrap();
        round(&mut value);
        value
    };
    value(a) == value(b)
}

fn round(value: &mut serde_json::Value) {
    use serde_json::Value;
    match value {
        Value::Array(all) => all.iter_mut().for_each(round),
        Value::Object(all) => all.values_mut().for_each(round),
        Value::Number(number) if number.is_f64() => {
            *value = Value::String(format!("{:.9e}", number.as_f64().unwrap()));
        }
        _ => {}
    }
}

/// The area that begins at an address.
pub fn area(map: &ProcessMap, start: u64) -> &Area {
    map.areas.iter().find(|area| area.start == start).expect("the range is an area of its own")
}

pub fn frames_visible() -> bool {
    Pagemap::open().unwrap().frame_numbers_visible().unwrap()
}

/// Whether this is root, which may read everything and become other users.
pub fn root() -> bool {
    rustix::process::geteuid().is_root()
}
