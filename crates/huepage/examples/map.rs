// SPDX-License-Identifier: MIT OR Apache-2.0
//! Prints the map of a process as JSON: `cargo run --release --example map PID`.

use huepage::{
    map::{MapOptions, ProcessMap},
    topology::{LiveMachine, Topology, allowed_cpus},
};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let pid = std::env::args().nth(1).ok_or("usage: map PID")?.parse()?;
    let cpu = *allowed_cpus()?.last().ok_or("no CPU is allowed")?;
    let machine = LiveMachine::open(cpu)?;
    let topology = Topology::read(&machine)?;
    let map = ProcessMap::read(pid, &machine, &topology, &MapOptions::default())?;
    print!("{}", map.to_json());
    Ok(())
}
