// SPDX-License-Identifier: MIT OR Apache-2.0
//! S4: on which nodes KSM's merged pages are, the effect on access times, and what
//! happens to them when distances, memory or settings change.

mod layout;
mod moves;
mod page;
mod reach;
mod read;
mod times;

use std::time::Duration;

use anyhow::{bail, ensure};
use clap::ValueEnum;
use huepage::units::Bytes;
use serde_json::{Map, Value};

use self::{layout::Layout, reach::Reach};
use crate::{
    boot::{Content, Disk, Report},
    experiment::{Case, Experiment, Found},
    kernel::{Config, Variant},
    settings::{Point, Settings},
};

/// What a boot is about.
const MERGE: &str = "merge";
const SWITCH: &str = "switch";
const OFFLINE: &str = "offline";
/// Everything at once, for kernels that check themselves; only on request.
const STRESS: &str = "stress";
/// Instructions of ksmd for each page that it scans; only on request.
const COST: &str = "cost";
/// A scan that a switch stops midway, for the same kernels; only on request.
const STALE: &str = "stale";

/// The experiment.
pub static EXPERIMENT: Experiment = Experiment {
    name: "ksm-nodes",
    about: "KSM on several nodes, by distance: access times, sharing, switches, memory lost (S4)",
    remarks: include_str!("ksm_nodes.md"),
    settings: &[
        ("arch", "x86_64,arm64", "x86_64,arm64"),
        ("config", "plain", "plain"),
        ("event", "merge,switch,offline", "merge,switch,offline"),
        // Sockets and rings are for our kernel only, to show distances between the
        // extremes.
        ("topology", "hypercube,sockets,ring", "hypercube"),
        // Of a merge: "l3" puts three levels of caches before memory.
        ("caches", "none", "none"),
        // With caches: how many random reads of pages each worker makes, as a multiple
        // of its pages.
        ("rereads", "16", "16"),
        ("nodes", "2,4,8", "2"),
        // First for mainline's knob, then for ours: each distance of the topology, or
        // those named.
        ("merge_across_nodes", "1,0", "1,0"),
        ("merge_distance", "each", "each"),
        ("bind", "process,memory", "process,memory"),
        ("node_mib", "128", "128"),
        // A worker reads its pages between two ticks of the kernel's clock: shares and spreads
        // do not depend on how many there are.
        ("contents", "256", "64"),
        ("copies", "2", "2"),
        ("unique", "512", "128"),
        // Of a stress: at least so many seconds, and so many changes of a knob.
        ("seconds", "30", "30"),
        ("rounds", "60", "60"),
        ("latency", "100", "100"),
        ("hop", "6", "6"),
        ("seed", "1", "1"),
    ],
    cases,
    rows,
    finish: |rows| {
        read::compare_with_fresh(rows);
        Ok(())
    },
    page: page::page,
};

fn cases(settings: &Settings, variant: Variant) -> anyhow::Result<Vec<Case>> {
    let mut cases = Vec::new();
    for point in settings.grid(&["arch", "config", "topology", "event", "caches", "nodes", "seed"])
    {
        let layout = Layout::new(
            point.parsed("arch")?,
            point.parsed("topology")?,
            point.parsed("nodes")?,
            settings.only("node_mib")?,
        )?;
        let Some(layout) = layout else { continue };
        let distances = layout.different_distances(settings.only("hop")?);
        for reach in reach::of(settings, &point, &distances)? {
            cases.push(case(settings, variant, &point, &layout, &reach)?);
        }
    }
    ensure!(!cases.is_empty(), "nodes: sockets and rings have 4 or 8");
    Ok(cases)
}

fn rows(case: &Case, report: &Report) -> anyhow::Result<Vec<Found>> {
    match case.settings["event"].as_str() {
        Some(MERGE) => read::merged(case, report),
        Some(SWITCH) if case.settings.contains_key("merge_distance") => {
            moves::changed(case, report)
        }
        Some(SWITCH) => moves::switched(report),
        Some(OFFLINE) => moves::offlined(case, report),
        Some(COST) => moves::cost(report),
        Some(STRESS) => moves::survived(report, "stress", "verified"),
        _ => moves::survived(report, "stale", "pages"),
    }
}

fn case(
    settings: &Settings,
    variant: Variant,
    point: &Point,
    layout: &Layout,
    reach: &Reach,
) -> anyhow::Result<Case> {
    let config = match Config::from_str(point.text("config"), false) {
        Ok(config @ (Config::Plain | Config::Debug)) => config,
        _ => bail!("config={}: there are plain and debug", point.text("config")),
    };
    let event = point.text("event");
    let merging = event == MERGE;
    let caches = match point.text("caches") {
        "none" => false,
        "l3" if merging => true,
        "l3" => bail!("caches=l3: of event={MERGE} only"),
        other => bail!("caches={other}: there are none and l3"),
    };
    let mut fixed = point.json();
    // Older results have no such setting.
    fixed.retain(|name, _| caches || name != "caches");
    fixed.extend(reach.settings());
    let mut arguments: Vec<(String, String)> = layout.arguments();
    arguments.extend(reach.arguments());
    let mut pass = |key: &str, value: String| arguments.push((key.to_owned(), value));
    pass("event", event.to_owned());
    pass("seed", point.text("seed").to_owned());
    let of_event: &[&str] = match event {
        STRESS => &["seconds", "rounds"],
        STALE => &[],
        _ => &["contents", "copies", "unique"],
    };
    for key in of_event.iter().copied() {
        let number: u64 = settings.only(key)?;
        pass(key, number.to_string());
        fixed.insert(key.to_owned(), number.into());
    }
    layout.check_room(pages(&fixed), count(&fixed, "contents") * count(&fixed, "copies"))?;

    if caches {
        let rereads: u64 = settings.only("rereads")?;
        ensure!(rereads > 0, "rereads=0: 1 or more");
        fixed.insert("rereads".into(), rereads.into());
    }
    if merging {
        pass("turns", turns(&fixed).to_string());
    }
    let (latency, hop) = (settings.only("latency")?, settings.only("hop")?);
    let mut machine = layout.machine(hop, [OFFLINE, STRESS].contains(&event));
    if event == STRESS {
        machine.run_freely(config);
        machine.disks = vec![Disk { content: Content::Scratch(Bytes(64 << 20)), segments: 126 }];
    }
    Ok(Case {
        arch: layout.arch(),
        variant: if reach.is_distance() { Variant::Huepage } else { variant },
        config,
        machine,
        guest: match event {
            MERGE => "ksm-nodes",
            COST => "ksm-cost",
            STRESS => "ksm-stress",
            STALE => "ksm-stale",
            _ => "ksm-moves",
        },
        arguments,
        model: (merging || event == COST).then(|| layout.model(latency, hop, caches)),
        regions: match event {
            MERGE => vec![1, 2],
            COST => vec![1],
            _ => Vec::new(),
        },
        settings: fixed,
        limit: Duration::from_secs(1800),
    })
}

/// Pages of one worker.
fn pages(settings: &Map<String, Value>) -> u64 {
    count(settings, "contents") * count(settings, "copies") + count(settings, "unique")
}

/// Random page reads of one worker; none without caches, where it reads each page once.
fn turns(settings: &Map<String, Value>) -> u64 {
    pages(settings) * count(settings, "rereads")
}

/// A count among the settings.
fn count(settings: &Map<String, Value>, name: &str) -> u64 {
    settings.get(name).and_then(Value::as_u64).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiments::trial::{cases, refuses};

    #[test]
    fn the_grid_has_each_event_with_what_it_varies() {
        let cases = cases(&EXPERIMENT, &[]).unwrap();
        let of = |event: &str, topology: &str, variant: Variant| {
            let is = |case: &&Case| {
                case.settings["event"] == event
                    && case.settings["topology"] == topology
                    && case.variant == variant
            };
            cases.iter().filter(is).count()
        };
        // Two architectures, three numbers of nodes, two of each event.
        for event in [MERGE, SWITCH, OFFLINE] {
            assert_eq!(of(event, "hypercube", Variant::Stock), 2 * 3 * 2);
        }
        // Hypercubes of 2, 4 and 8 nodes have 2, 3 and 4 distances.
        assert_eq!(of(MERGE, "hypercube", Variant::Huepage), 2 * (2 + 3 + 4));
        assert_eq!(of(MERGE, "sockets", Variant::Huepage), 2 * (3 + 3));
        assert_eq!(of(MERGE, "sockets", Variant::Stock), 2 * 2 * 2);
        assert_eq!(of(MERGE, "ring", Variant::Huepage), 2 * (3 + 5));
        let modelled = cases.iter().filter(|case| case.model.is_some());
        assert!(modelled.clone().all(|case| case.settings["event"] == MERGE));
        for case in modelled {
            case.model.as_ref().unwrap().check().unwrap();
        }
    }

    #[test]
    fn caches_are_of_a_merge_that_reads_by_chance() {
        let set = ["event=merge", "topology=hypercube", "caches=none,l3", "seed=1,2", "nodes=4"];
        let cases = cases(&EXPERIMENT, &set).unwrap();
        let (with, without): (Vec<_>, Vec<_>) =
            cases.iter().partition(|case| case.settings.contains_key("caches"));
        assert_eq!(with.len(), without.len());
        let turns = |case: &Case| {
            let argument = case.arguments.iter().find(|(key, _)| key == "turns");
            argument.unwrap().1.parse::<u64>().unwrap()
        };
        for case in with {
            let model = case.model.as_ref().unwrap();
            model.check().unwrap();
            assert_eq!(model.levels.len(), 3);
            assert_eq!(turns(case), 16 * (256 * 2 + 512));
        }
        for case in without {
            assert!(case.model.as_ref().unwrap().levels.is_empty());
            assert_eq!(turns(case), 0);
        }
    }

    #[test]
    fn settings_that_make_no_sense_are_named() {
        refuses(
            &EXPERIMENT,
            &[
                ("arch=sparc", "arch=sparc"),
                ("event=nothing", "merge, switch, offline, cost, stress and stale"),
                ("topology=star", "hypercube, sockets and ring"),
                ("merge_distance=9", "merge_distance=9"),
                ("nodes=3", "nodes=3"),
                ("nodes=16", "nodes=16"),
                ("merge_across_nodes=2", "merge_across_nodes=2"),
                ("bind=cpu", "bind=cpu"),
                ("config=kunit", "plain and debug"),
                ("node_mib=100", "node_mib=100"),
                ("node_mib=1024", "2 GiB"),
                ("contents=100000", "node_mib"),
                ("caches=l4", "none and l3"),
                ("caches=l3", "event=merge only"),
            ],
        );
    }
}
