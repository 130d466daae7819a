// SPDX-License-Identifier: MIT OR Apache-2.0
//! S4: where KSM's merged pages lie on several nodes, what that does to access
//! times, and what happens to them when things change under them.

mod layout;
mod moves;
mod read;
mod show;
mod times;

use std::time::Duration;

use anyhow::{bail, ensure};
use clap::ValueEnum;
use serde_json::{Map, Value};

use self::layout::Layout;
use crate::{
    boot::Report,
    experiment::{Case, Experiment, Found, Scale},
    kernel::{Config, Variant},
    results::{Plot, Results, Row, Table},
    settings::{Point, Settings},
};

/// The experiment `ksm-nodes`.
pub struct KsmNodes;

/// What a boot is about.
const MERGE: &str = "merge";
const SWITCH: &str = "switch";
const OFFLINE: &str = "offline";

impl Experiment for KsmNodes {
    fn name(&self) -> &'static str {
        "ksm-nodes"
    }

    fn about(&self) -> &'static str {
        "KSM on several nodes: access times, sharing, the knob switched, memory lost"
    }

    fn settings(&self, scale: Scale) -> Settings {
        let (nodes, node_mib, contents, unique) = match scale {
            // A worker reads its pages between two ticks of the kernel's clock: shares
            // and spreads do not depend on how many there are.
            Scale::Full => ("2,4,8", "128", "256", "512"),
            Scale::Quick => ("2", "128", "64", "128"),
        };
        Settings::new(&[
            ("arch", "x86_64,arm64"),
            ("config", "plain"),
            ("event", "merge,switch,offline"),
            ("nodes", nodes),
            ("merge_across_nodes", "1,0"),
            ("bind", "process,memory"),
            ("node_mib", node_mib),
            ("contents", contents),
            ("copies", "2"),
            ("unique", unique),
            ("latency", "100"),
            ("hop", "6"),
            ("seed", "1"),
        ])
    }

    fn cases(&self, settings: &Settings, variant: Variant) -> anyhow::Result<Vec<Case>> {
        let mut cases = Vec::new();
        for point in settings.grid(&["arch", "config", "event", "nodes"]) {
            let varied = match point.text("event") {
                MERGE | OFFLINE => settings.grid(&["merge_across_nodes"]),
                // One boot switches both ways.
                SWITCH => settings.grid(&["bind"]),
                other => bail!("event={other}: there are {MERGE}, {SWITCH} and {OFFLINE}"),
            };
            for varied in varied {
                cases.push(case(settings, variant, &point, &varied)?);
            }
        }
        Ok(cases)
    }

    fn rows(&self, case: &Case, report: &Report) -> anyhow::Result<Vec<Found>> {
        match case.settings["event"].as_str() {
            Some(MERGE) => read::merged(case, report),
            Some(SWITCH) => moves::switched(report),
            _ => moves::offlined(case, report),
        }
    }

    fn finish(&self, rows: Vec<Row>) -> anyhow::Result<Vec<Row>> {
        Ok(read::compare_with_fresh(rows))
    }

    fn tables(&self, results: &Results) -> Vec<(String, Table)> {
        show::tables(results)
    }

    fn plot(&self, results: &Results) -> Plot {
        show::plot(results)
    }

    fn against_source(&self, results: &Results) -> (String, Table) {
        show::against_source(results)
    }

    fn remarks(&self) -> &'static str {
        show::REMARKS
    }
}

fn case(
    settings: &Settings,
    variant: Variant,
    point: &Point,
    varied: &Point,
) -> anyhow::Result<Case> {
    let arch = point.parsed("arch")?;
    let config = match Config::from_str(point.text("config"), false) {
        Ok(config @ (Config::Plain | Config::Debug)) => config,
        _ => bail!("config={}: there are plain and debug", point.text("config")),
    };
    let layout = Layout::new(arch, point.parsed("nodes")?, settings.only("node_mib")?)?;
    let event = point.text("event");
    let mut fixed = point.json();
    fixed.extend(varied.json());

    let across = match fixed.get("merge_across_nodes") {
        None => "1".to_owned(),
        Some(value) => value.to_string(),
    };
    ensure!(["0", "1"].contains(&across.as_str()), "merge_across_nodes={across}: 0 or 1");
    let bind = fixed.get("bind").and_then(Value::as_str).unwrap_or("process").to_owned();
    ensure!(["process", "memory"].contains(&bind.as_str()), "bind={bind}: process or memory");
    let mut arguments: Vec<(String, String)> = layout.arguments();
    let mut pass = |key: &str, value: String| arguments.push((key.to_owned(), value));
    pass("across", across);
    pass("bind", bind);
    pass("event", event.to_owned());
    for key in ["contents", "copies", "unique", "seed"] {
        let number: u64 = settings.only(key)?;
        pass(key, number.to_string());
        fixed.insert(key.to_owned(), number.into());
    }
    layout.check_room(pages(&fixed), count(&fixed, "contents") * count(&fixed, "copies"))?;

    let merging = event == MERGE;
    let (latency, hop) = (settings.only("latency")?, settings.only("hop")?);
    Ok(Case {
        arch,
        variant,
        config,
        machine: layout.machine(hop, event == OFFLINE),
        guest: if merging { "ksm-nodes" } else { "ksm-moves" },
        arguments,
        model: merging.then(|| layout.model(latency, hop)),
        regions: if merging { vec![1, 2] } else { Vec::new() },
        settings: fixed,
        limit: Duration::from_secs(1800),
    })
}

/// Pages of one worker.
fn pages(settings: &Map<String, Value>) -> u64 {
    count(settings, "contents") * count(settings, "copies") + count(settings, "unique")
}

/// A count among the settings.
fn count(settings: &Map<String, Value>, name: &str) -> u64 {
    settings.get(name).and_then(Value::as_u64).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_grid_has_each_event_with_what_it_varies() {
        let settings = KsmNodes.settings(Scale::Full);
        let cases = KsmNodes.cases(&settings, Variant::Stock).unwrap();
        // Two architectures, three numbers of nodes, three events, two of each.
        assert_eq!(cases.len(), 2 * 3 * 3 * 2);
        let modelled = cases.iter().filter(|case| case.model.is_some());
        assert!(modelled.clone().all(|case| case.settings["event"] == MERGE));
        for case in modelled {
            case.model.as_ref().unwrap().check().unwrap();
        }
    }

    #[test]
    fn settings_that_make_no_sense_are_named() {
        for (wrong, said) in [
            ("arch=sparc", "arch=sparc"),
            ("event=nothing", "merge, switch and offline"),
            ("nodes=3", "nodes=3"),
            ("nodes=16", "nodes=16"),
            ("merge_across_nodes=2", "merge_across_nodes=2"),
            ("bind=cpu", "bind=cpu"),
            ("config=kunit", "plain and debug"),
            ("node_mib=100", "node_mib=100"),
            ("node_mib=1024", "2 GiB"),
            ("contents=100000", "node_mib"),
        ] {
            let mut settings = KsmNodes.settings(Scale::Full);
            settings.set(wrong).unwrap();
            let error = KsmNodes.cases(&settings, Variant::Stock).unwrap_err();
            assert!(format!("{error:#}").contains(said), "{wrong}: {error:#}");
        }
    }
}
