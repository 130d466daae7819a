// SPDX-License-Identifier: MIT OR Apache-2.0
//! `two-guests` as tables and picture.

use super::Guest;
use crate::results::{
    Axis, Boots, Page, Panel, Plot, Results, Row, Series, Table, distinct, percent,
};

/// The settings in which boots differ, apart from their seed.
const NAMES: [&str; 4] = ["host", "backing", "sets", "guest"];

/// Host, how its guests' memory came, its sets, and the policy of both guests; boots of
/// a point differ only in their seed.
type Point = [String; 4];

/// The points of the results.
fn points(results: &Results) -> Vec<Point> {
    distinct(results.rows.iter().map(|row| NAMES.map(|name| row.setting(name))))
}

fn boots<'a>(results: &'a Results, point: &Point) -> Boots<'a> {
    let here = |row: &&Row| NAMES.iter().zip(point).all(|(name, have)| row.setting(name) == *have);
    Boots::of(results.rows.iter().filter(here))
}

pub fn page(results: &Results) -> Page {
    let tables = vec![
        (
            "Pages of the programs in conflict (mean of seeds, least and most)".into(),
            conflicts(results),
        ),
        ("What the host makes of the order of a guest's frames".into(), order(results)),
    ];
    Page { source: best(results), tables, plot: plot(results) }
}

fn conflicts(results: &Results) -> Table {
    let columns = [
        ("believed", "believed, within"),
        ("conflict_within", "within a guest"),
        ("conflict_across", "across both"),
        ("shared_colors", "colors that the other has"),
    ];
    let head = columns.map(|(_, name)| name);
    let mut table = Table::wide(&["host", "memory", "sets", "guests"], head);
    for point in points(results) {
        let boots = boots(results, &point);
        table.wide_row(&point, columns.map(|(metric, _)| boots.text(metric, percent)));
    }
    table
}

fn order(results: &Results) -> Table {
    let mut table = Table::new([
        "host",
        "memory",
        "sets",
        "next frame has the next color",
        "color and frame at one distance",
    ]);
    let stock = Guest::Stock.name();
    for point in points(results).iter().filter(|point| point[3] == stock) {
        let boots = boots(results, point);
        let cells = ["in_order", "one_distance"].map(|metric| boots.text(metric, percent));
        table.wide_row(&point[..3], cells);
    }
    table
}

/// Memstrata (OSDI 2024) gives each machine pages of its own colors from the host:
/// slowdown of outliers from 34 % to below 6 %, which cannot be compared with these
/// counts.
fn best(results: &Results) -> (String, Table) {
    let mut table = Table::new(["memory", "best of host and guests", "within", "across"]);
    for backing in results.values("backing") {
        let of = points(results).into_iter().filter(|point| point[1] == backing);
        let across = |point: &Point| boots(results, point).mean("conflict_across");
        let best = of.min_by(|one, other| {
            let key = |point| across(point).unwrap_or(f64::INFINITY);
            key(one).total_cmp(&key(other))
        });
        let Some(best) = best else { continue };
        let boots = boots(results, &best);
        let [host, _, sets, guest] = &best;
        table.row([
            backing,
            format!("host {host}, sets {sets}; guests {guest}"),
            boots.text("conflict_within", percent),
            boots.text("conflict_across", percent),
        ]);
    }
    ("The least conflicts across both guests, by how their memory came".into(), table)
}

/// Conflicts by the guests' policy, a panel for each way in which their memory came.
fn plot(results: &Results) -> Plot {
    let hosts =
        distinct(points(results).into_iter().map(|[host, memory, sets, _]| [host, memory, sets]));
    let guests = Guest::ALL.map(|guest| guest.name().to_owned());
    let line = |metric: &str, [host, backing, sets]: &[String; 3]| {
        let point = |(x, guest): (usize, &String)| {
            let point = [host, backing, sets, guest].map(String::clone);
            Some((x as f64, boots(results, &point).mean(metric)? * 100.0))
        };
        let points = guests.iter().enumerate().filter_map(point).collect();
        Series::new(format!("host {host}, sets {sets}"), points)
    };
    let panel = |(metric, heading): (&str, &str), backing: &String| {
        let hosts = hosts.iter().filter(|host| host[1] == *backing);
        let lines = hosts.map(|host| line(metric, host)).collect();
        let heading = format!("memory {backing}: {heading} (%)");
        Panel::new(heading, "guests", Axis::Names(guests.to_vec()), lines).up_to(100.0)
    };
    let backings = results.values("backing");
    let metrics = [("conflict_within", "within a guest"), ("conflict_across", "across both")];
    let panels = metrics.into_iter().flat_map(|m| backings.iter().map(move |b| (m, b)));
    Plot {
        title: "Two guests under one host: pages in conflict".into(),
        caption: format!(
            "Linux {}, cache of {}, each program {} of it; mean of {} seeds",
            results.kernel.version,
            results.values("cache").join(", "),
            results.values("fill").join(", "),
            results.values("seed").len(),
        ),
        panels: panels.map(|(metric, backing)| panel(metric, backing)).collect(),
    }
}
