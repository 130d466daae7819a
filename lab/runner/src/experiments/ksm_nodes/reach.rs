// SPDX-License-Identifier: MIT OR Apache-2.0
//! How far pages may be merged: everywhere or within nodes, as mainline has it, or
//! up to a distance.

use anyhow::{bail, ensure};
use serde_json::{Map, Value};

use super::{COST, MERGE, OFFLINE, STALE, STRESS, SWITCH};
use crate::{
    experiment::{arguments, map},
    settings::{Point, Settings},
};

/// The settings given to the kernel of a boot.
pub(super) enum Reach {
    /// Mainline's knob, and how workers bind their memory to a node.
    Nodes { across: u32, bind: String },
    /// Ours, and the distance that a switch goes to and comes back from.
    Distance { distance: u32, to: Option<u32> },
}

impl Reach {
    pub fn is_distance(&self) -> bool {
        matches!(self, Reach::Distance { .. })
    }

    /// The settings in rows.
    pub fn settings(&self) -> Map<String, Value> {
        match self {
            Reach::Nodes { across, bind } => {
                map([("merge_across_nodes", (*across).into()), ("bind", bind.as_str().into())])
            }
            Reach::Distance { distance, to: None } => map([("merge_distance", (*distance).into())]),
            Reach::Distance { distance, to: Some(to) } => {
                map([("merge_distance", (*distance).into()), ("to", (*to).into())])
            }
        }
    }

    /// The arguments of the guest.
    pub fn arguments(&self) -> Vec<(String, String)> {
        let (across, bind, distance, to) = match self {
            Reach::Nodes { across, bind } => (*across, bind.as_str(), None, None),
            Reach::Distance { distance, to } => (1, "process", Some(*distance), *to),
        };
        let text = |number: Option<u32>| number.map_or("none".to_owned(), |n| n.to_string());
        arguments([
            ("across", across.to_string()),
            ("bind", bind.to_owned()),
            ("distance", text(distance)),
            ("to", text(to)),
        ])
    }
}

/// The settings to run at a point of the grid, on a machine with these distances, the
/// local one first.
pub(super) fn of(
    settings: &Settings,
    point: &Point,
    distances: &[u32],
) -> anyhow::Result<Vec<Reach>> {
    let asked = asked(settings, distances)?;
    let up_to = |&distance: &u32| Reach::Distance { distance, to: None };
    let hypercube = point.text("topology") == "hypercube";
    let mut all = Vec::new();
    match point.text("event") {
        MERGE | COST => {
            all.extend(nodes(settings, true, false)?);
            all.extend(asked.iter().map(up_to));
        }
        OFFLINE => {
            if hypercube {
                all.extend(nodes(settings, true, false)?);
            }
            // All but the largest: with one domain it is the same as mainline's.
            all.extend(asked.iter().take((asked.len() - 1).max(1)).map(up_to));
        }
        // One boot switches both ways.
        SWITCH => {
            if hypercube {
                all.extend(nodes(settings, false, true)?);
            }
            let pairs = asked.windows(2).map(|pair| (pair[1], pair[0]));
            let ends = (asked.len() > 2).then(|| (asked[asked.len() - 1], asked[0]));
            let ways = pairs.chain(ends);
            all.extend(ways.map(|(distance, to)| Reach::Distance { distance, to: Some(to) }));
        }
        STRESS | STALE => {
            all.extend(nodes(settings, false, false)?);
            all.push(up_to(&asked[0]));
        }
        other => {
            bail!(
                "event={other}: there are {MERGE}, {SWITCH}, {OFFLINE}, {COST}, {STRESS} and {STALE}"
            )
        }
    }
    Ok(all)
}

fn asked(settings: &Settings, distances: &[u32]) -> anyhow::Result<Vec<u32>> {
    let points = settings.grid(&["merge_distance"]);
    if points.len() == 1 && points[0].text("merge_distance") == "each" {
        return Ok(distances.to_vec());
    }
    let mut asked = Vec::new();
    for point in points {
        let distance = point.parsed("merge_distance")?;
        ensure!(
            (10..=255).contains(&distance),
            "merge_distance={distance}: a number from 10 to 255, or each"
        );
        asked.push(distance);
    }
    Ok(asked)
}

/// Mainline's knob; settings that are not varied have their first value.
fn nodes(settings: &Settings, vary_across: bool, vary_bind: bool) -> anyhow::Result<Vec<Reach>> {
    let mut all = Vec::new();
    for point in settings.grid(&["merge_across_nodes", "bind"]) {
        let (across, bind) = (point.text("merge_across_nodes"), point.text("bind"));
        ensure!(["0", "1"].contains(&across), "merge_across_nodes={across}: 0 or 1");
        ensure!(["process", "memory"].contains(&bind), "bind={bind}: process or memory");
        all.push((point.parsed("merge_across_nodes")?, bind.to_owned()));
    }
    let first = all[0].clone();
    all.retain(|(across, bind)| {
        (vary_across || *across == first.0) && (vary_bind || *bind == first.1)
    });
    Ok(all.into_iter().map(|(across, bind)| Reach::Nodes { across, bind }).collect())
}
