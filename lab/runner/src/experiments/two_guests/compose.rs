// SPDX-License-Identifier: MIT OR Apache-2.0
//! Combines guests with hosts: a frame of a guest has the color of the host's frame
//! behind it.

use anyhow::{Context, ensure};
use serde_json::{Map, Value, json};

use super::{
    Guest, MACHINES, letters,
    said::{COLOR_LETTERS, FRAME_LETTERS},
};
use crate::{
    experiment::{PAGE, map},
    results::{Figures, Row, rounded},
};

/// A row for each host, each way in which its guests' memory came, and each policy of
/// both guests; hosts and guests whose boots failed are left out. One more is for a
/// host that keeps memory for its guests in one piece from boot on, which needs no
/// kernel.
///
/// # Errors
/// Lists that cannot be read.
pub fn all(rows: &[Row]) -> anyhow::Result<Vec<Row>> {
    let mut composed = Vec::new();
    let mut reserved: Vec<Host> = Vec::new();
    let hosts = rows.iter().filter(|row| row.settings.contains_key("host"));
    for first in hosts.filter(|row| row.setting("machine") == "0") {
        let host: Option<Vec<&Row>> = (0..MACHINES)
            .map(|machine| rows.iter().find(|row| is_of(row, first, machine)))
            .collect();
        let Some(host) = host else { continue };
        let host = Host::of(&host)?;
        composed.extend(guests_on(&host, rows)?);
        let one_piece = host.in_one_piece();
        if !reserved.iter().any(|have| have.settings == one_piece.settings) {
            reserved.push(one_piece);
        }
    }
    for host in &reserved {
        composed.extend(guests_on(host, rows)?);
    }
    ensure!(!composed.is_empty(), "no host has both of its guests");
    Ok(composed)
}

/// What is behind the frames of each guest.
struct Host {
    settings: Map<String, Value>,
    variant: String,
    /// Colors of the host, by machine and its frame.
    memories: Vec<Vec<u64>>,
    colors: usize,
}

impl Host {
    fn of(rows: &[&Row]) -> anyhow::Result<Self> {
        let cache: huepage::units::Bytes =
            rows[0].setting("cache").parse().map_err(|error| anyhow::anyhow!("cache: {error}"))?;
        let mut settings = rows[0].settings.clone();
        settings.remove("machine");
        let memories = rows.iter().map(|row| list(row, "colors", COLOR_LETTERS));
        Ok(Host {
            settings,
            variant: rows[0].variant.clone(),
            memories: memories.collect::<anyhow::Result<_>>()?,
            colors: (cache.0 / PAGE) as usize,
        })
    }

    /// The same machine, but with the guests' memory contiguous, one guest's after the
    /// other's.
    fn in_one_piece(&self) -> Self {
        let mut settings = self.settings.clone();
        for (name, value) in [("host", "reserved"), ("backing", "one piece"), ("sets", "none")] {
            settings.insert(name.into(), json!(value));
        }
        let mut next = 0..;
        let piece = |memory: &Vec<u64>| {
            next.by_ref().take(memory.len()).map(|frame| frame % self.colors as u64).collect()
        };
        let memories = self.memories.iter().map(piece).collect();
        Host { settings, variant: "stock".into(), memories, colors: self.colors }
    }

    /// The colors that one machine may have.
    fn colors_of_one(&self) -> usize {
        let halves = self.settings.get("sets").and_then(Value::as_str) == Some("halves");
        self.colors / if halves { MACHINES as usize } else { 1 }
    }
}

/// A row for each policy of both guests.
fn guests_on(host: &Host, rows: &[Row]) -> anyhow::Result<Vec<Row>> {
    let mut composed = Vec::new();
    for guest in Guest::ALL {
        let on = |machine: u64| {
            rows.iter().find(|row| {
                row.setting("guest") == guest.name()
                    && row.setting("machine") == machine.to_string()
                    && ["arch", "seed"]
                        .iter()
                        .all(|n| row.settings.get(*n) == host.settings.get(*n))
            })
        };
        let guests: Option<Vec<&Row>> = (0..MACHINES).map(on).collect();
        if let Some(guests) = guests {
            composed.push(one(host, &guests, guest)?);
        }
    }
    Ok(composed)
}

/// Whether a row is of the same host as another one, for that machine.
fn is_of(row: &Row, other: &Row, machine: u64) -> bool {
    let same = ["arch", "seed", "host", "backing", "sets"];
    row.settings.contains_key("host")
        && same.iter().all(|name| row.setting(name) == other.setting(name))
        && row.setting("machine") == machine.to_string()
}

fn list(row: &Row, name: &str, each: usize) -> anyhow::Result<Vec<u64>> {
    let text = row.metrics.get(name).and_then(Value::as_str);
    letters::read(text.with_context(|| format!("a row has no {name}"))?, each)
}

fn one(host: &Host, guests: &[&Row], guest: Guest) -> anyhow::Result<Row> {
    let colors = host.colors;
    let cache = huepage::units::Bytes(colors as u64 * PAGE);
    let believed = (guest.cache(cache).0 / PAGE) as usize;
    let (mut programs, mut own) = (Vec::new(), Vec::new());
    for (memory, guest) in host.memories.iter().zip(guests) {
        let frames = list(guest, "frames", FRAME_LETTERS)?;
        let behind = frames.iter().map(|frame| {
            let color = memory.get(usize::try_from(*frame).unwrap_or(usize::MAX));
            color.copied().with_context(|| format!("a guest has no frame {frame}"))
        });
        programs.push(behind.collect::<anyhow::Result<Vec<u64>>>()?);
        own.push(share_in_conflict(&[&frames], believed));
    }
    let mean = |values: Vec<f64>| Figures::of(values).map(|figures| figures.mean);
    let within = programs.iter().map(|program| share_in_conflict(&[program], colors)).collect();
    let together: Vec<&[u64]> = programs.iter().map(Vec::as_slice).collect();
    let of_memory = |share: fn(&[u64], usize) -> f64, colors: usize| {
        host.memories.iter().map(|memory| share(memory, colors)).collect::<Vec<f64>>()
    };
    let mut settings = host.settings.clone();
    settings.insert("guest".into(), json!(guest.name()));
    let metrics: Map<String, Value> = map([
        ("believed", json!(mean(own).map(rounded))),
        ("conflict_within", json!(mean(within).map(rounded))),
        ("conflict_across", json!(rounded(share_in_conflict(&together, colors)))),
        ("shared_colors", json!(rounded(shared(&together, colors)))),
        ("in_order", json!(mean(of_memory(in_order, colors)).map(rounded))),
        ("one_distance", json!(mean(of_memory(one_distance, host.colors_of_one())).map(rounded))),
    ]);
    Ok(Row { variant: host.variant.clone(), settings, metrics })
}

fn by_color(pages: &[u64], colors: usize) -> Vec<u32> {
    let mut counts = vec![0; colors];
    pages.iter().for_each(|page| counts[*page as usize % colors] += 1);
    counts
}

/// Of the pages of all programs together, the share whose color another page has.
fn share_in_conflict(programs: &[&[u64]], colors: usize) -> f64 {
    let counts = by_color(&programs.concat(), colors);
    let all: u32 = counts.iter().sum();
    f64::from(counts.iter().filter(|count| **count > 1).sum::<u32>()) / f64::from(all.max(1))
}

/// Of the pages of both programs, the share whose color the other program has too.
fn shared(programs: &[&[u64]], colors: usize) -> f64 {
    let counts: Vec<Vec<u32>> = programs.iter().map(|pages| by_color(pages, colors)).collect();
    let all: u32 = counts.iter().flatten().sum();
    let met = (0..colors).filter(|color| counts.iter().filter(|have| have[*color] > 0).count() > 1);
    let pages: u32 = met.map(|color| counts.iter().map(|have| have[color]).sum::<u32>()).sum();
    f64::from(pages) / f64::from(all.max(1))
}

/// Of a guest's frames, the share whose next frame has the next color.
fn in_order(memory: &[u64], colors: usize) -> f64 {
    let next = |pair: &&[u64]| (pair[0] + 1) % colors as u64 == pair[1];
    memory.windows(2).filter(next).count() as f64 / (memory.len().max(2) - 1) as f64
}

/// Of a guest's frames, the share whose color differs from their number by the most
/// common difference: if it is all of them, colors of the guest are colors of the host.
fn one_distance(memory: &[u64], colors: usize) -> f64 {
    let mut counts = vec![0_u32; colors];
    for (frame, color) in memory.iter().enumerate() {
        counts[(*color as usize % colors + colors - frame % colors) % colors] += 1;
    }
    f64::from(counts.into_iter().max().unwrap_or(0)) / memory.len().max(1) as f64
}
