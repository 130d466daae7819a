// SPDX-License-Identifier: MIT OR Apache-2.0
//! The model once more, as plainly as can be, from what lab/model/cache.h and
//! hierarchy.h say: lists instead of arrays, nothing precomputed.

mod cache;

use std::collections::BTreeMap;

use huepage_lab::model::{
    Backing, FrameCounts, LevelCounts, MemorySideCache, Model, Outside, PageTimes, Record, Records,
    Replacement, Scope,
};

use cache::Cache;

/// What happens to a model.
#[derive(Clone, Debug)]
pub enum Step {
    Access { cpu: u32, address: u64, size: u64 },
    Instructions { cpu: u32, count: u64 },
    Begin(u32),
    End(u32),
}

struct Counts {
    record: Record,
    /// By page, what each access took.
    times: BTreeMap<u64, Vec<u64>>,
}

struct Twin<'a> {
    model: &'a Model,
    /// By CPU, or once, then by level.
    levels: Vec<Vec<Cache>>,
    memory_side: Vec<Cache>,
    counts: Vec<Counts>,
    /// By frame: accesses, then misses in each cache.
    frames: BTreeMap<u64, Vec<u64>>,
    region: Option<u32>,
}

/// The records of a run on so many CPUs; regions must be paired.
pub fn records(model: &Model, cpus: u32, steps: &[Step]) -> Records {
    let mut twin = Twin::new(model, cpus);
    let mut records = Records::default();
    let mut sequence = 0;
    for step in steps {
        match *step {
            Step::Access { cpu, address, size } => twin.access(cpu as usize, address, size),
            Step::Instructions { cpu, count } => {
                twin.counts[cpu as usize].record.instructions += count;
            }
            Step::Begin(region) => {
                twin.region = Some(region);
                twin.counts = (0..cpus).map(|cpu| no_counts(model, cpu)).collect();
            }
            Step::End(region) => {
                twin.region = None;
                for counts in &twin.counts {
                    if counts.record.instructions > 0 {
                        records.regions.push(finished(model, counts, region, sequence));
                    }
                }
                sequence += 1;
            }
        }
    }
    records.frames = twin.frames.into_iter().map(of_frame).collect();
    records
}

fn of_frame((frame, counts): (u64, Vec<u64>)) -> FrameCounts {
    FrameCounts { frame, accesses: counts[0], misses: counts[1..].to_vec() }
}

impl<'a> Twin<'a> {
    fn new(model: &'a Model, cpus: u32) -> Self {
        let seed = |i: usize, cpu: u32| {
            model.seed.wrapping_add((i as u64) << 32).wrapping_add(u64::from(cpu))
        };
        let level = |i: usize, cpu| {
            let level = &model.levels[i];
            Cache::new(level.size.0, level.ways, level.line.0, level.replacement, seed(i, cpu))
        };
        let side = |(i, side): (usize, &MemorySideCache)| {
            let seed = seed(model.levels.len() + i, 0);
            Cache::new(side.size.0, side.ways, side.line.0, Replacement::Lru, seed)
        };
        Twin {
            model,
            levels: (0..model.levels.len())
                .map(|i| match model.levels[i].scope {
                    Scope::Private => (0..cpus).map(|cpu| level(i, cpu)).collect(),
                    Scope::Shared => vec![level(i, 0)],
                })
                .collect(),
            memory_side: model.memory_side.iter().enumerate().map(side).collect(),
            counts: (0..cpus).map(|cpu| no_counts(model, cpu)).collect(),
            frames: BTreeMap::new(),
            region: None,
        }
    }

    /// Column 0 is accesses; others are misses.
    fn count_frame(&mut self, address: u64, column: usize) {
        if self.region.is_some() && self.model.frames {
            let caches = self.model.levels.len() + usize::from(!self.model.memory_side.is_empty());
            let counts = self.frames.entry(address / 4096).or_insert_with(|| vec![0; 1 + caches]);
            counts[column] += 1;
        }
    }

    fn access(&mut self, cpu: usize, address: u64, size: u64) {
        if self.region.is_none() && self.model.outside == Outside::Skip {
            return;
        }
        let line = match (self.model.levels.first(), &self.model.memory_side[..]) {
            (Some(level), _) => level.line.0,
            (None, []) => 64,
            (None, sides) => sides.iter().map(|side| side.line.0).min().unwrap(),
        };
        let mut cycles = 0;
        let mut part = address;
        while part < address + size {
            cycles += self.touch(cpu, part);
            part = (part / line + 1) * line;
        }
        let counts = &mut self.counts[cpu];
        counts.record.accesses += 1;
        counts.record.cycles += cycles;
        counts.times.entry(address / 4096).or_default().push(cycles);
        self.count_frame(address, 0);
    }

    /// What the line at the address costs.
    fn touch(&mut self, cpu: usize, address: u64) -> u64 {
        let model = self.model;
        let mut color = None;
        for (i, level) in model.levels.iter().enumerate() {
            let of_cpu = if level.scope == Scope::Private { cpu } else { 0 };
            let cache = &mut self.levels[i][of_cpu];
            let found = cache.touch(address);
            color = Some(cache.color(address));
            let counts = &mut self.counts[cpu].record.levels[i];
            if found {
                counts.hits += 1;
                return level.latency.into();
            }
            counts.misses += 1;
            self.count_frame(address, 1 + i);
        }
        let contains = |memory: &[(u64, u64)]| memory.iter().any(|m| (m.0..m.1).contains(&address));
        let node = if model.nodes.is_empty() {
            Some(0)
        } else {
            model.nodes.iter().position(|node| contains(&node.memory))
        };
        let is_behind = |side: &MemorySideCache| match side.backing {
            Backing::All => true,
            Backing::Node(of) => node == Some(of as usize),
            Backing::Range { start, end } => (start..end).contains(&address),
        };
        if !model.memory_side.is_empty() {
            color = None;
        }
        if let Some(i) = model.memory_side.iter().position(is_behind) {
            let found = self.memory_side[i].touch(address);
            color = Some(self.memory_side[i].color(address));
            let counts = &mut self.counts[cpu].record.memory_side[i];
            if found {
                counts.hits += 1;
                return model.memory_side[i].latency.into();
            }
            counts.misses += 1;
            self.count_frame(address, 1 + model.levels.len());
        }
        let counts = &mut self.counts[cpu].record;
        if let (Some(colors), Some(color)) = (&mut counts.color_conflicts, color) {
            colors[color as usize] += 1;
        }
        let distance = match node {
            Some(node) => {
                counts.nodes[node] += 1;
                let from = model.nodes.iter().position(|n| n.cpus.contains(&(cpu as u32)));
                let from = from.unwrap_or(0);
                match model.distances.get(from) {
                    Some(row) => row[node],
                    None if from == node => 10,
                    None => 20,
                }
            }
            None => {
                counts.elsewhere += 1;
                10
            }
        };
        u64::from(model.memory_latency) * u64::from(distance) / 10
    }
}

fn colors(model: &Model) -> usize {
    let colors = |size: u64, ways: u32| (size / u64::from(ways)).div_ceil(4096) as usize;
    let sides = model.memory_side.iter().map(|side| colors(side.size.0, side.ways)).max();
    sides.or(model.levels.last().map(|level| colors(level.size.0, level.ways))).unwrap_or(0)
}

fn no_counts(model: &Model, cpu: u32) -> Counts {
    let record = Record {
        cpu,
        levels: vec![LevelCounts::default(); model.levels.len()],
        memory_side: vec![LevelCounts::default(); model.memory_side.len()],
        nodes: vec![0; model.nodes.len().max(1)],
        color_conflicts: model.color_conflicts.then(|| vec![0; colors(model)]),
        ..Record::default()
    };
    Counts { record, times: BTreeMap::new() }
}

fn finished(model: &Model, counts: &Counts, region: u32, sequence: u32) -> Record {
    let mut record = counts.record.clone();
    record.region = region;
    record.sequence = sequence;
    record.cycles += record.instructions;
    record.page_times = model.page_times.then(|| {
        let pages: Vec<f64> = counts.times.values().map(|times| mean(&floats(times))).collect();
        let all = floats(&counts.times.values().flatten().copied().collect::<Vec<_>>());
        PageTimes {
            pages: pages.len() as u64,
            mean: mean(&pages),
            deviation: deviation(&pages),
            access_mean: mean(&all),
            access_deviation: deviation(&all),
        }
    });
    record
}

fn floats(numbers: &[u64]) -> Vec<f64> {
    numbers.iter().map(|n| *n as f64).collect()
}

fn mean(values: &[f64]) -> f64 {
    if values.is_empty() { 0.0 } else { values.iter().sum::<f64>() / values.len() as f64 }
}

fn deviation(values: &[f64]) -> f64 {
    let mean_value = mean(values);
    mean(&values.iter().map(|v| (v - mean_value).powi(2)).collect::<Vec<_>>()).sqrt()
}
