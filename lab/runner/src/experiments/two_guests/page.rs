// SPDX-License-Identifier: MIT OR Apache-2.0
//! `two-guests` as tables.

use super::{
    Guest, picture,
    points::{Point, boots, points},
};
use crate::results::{Page, Results, Table, percent};

pub fn page(results: &Results) -> Page {
    let tables = vec![
        (
            "Pages of the programs in conflict (mean of seeds, least and most)".into(),
            conflicts(results),
        ),
        ("What the host makes of the order of a guest's frames".into(), order(results)),
    ];
    Page { source: best(results), tables, plot: picture::plot(results) }
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

/// Memstrata (OSDI 2024) gives each machine pages of its own colors from the host: slowdown
/// of outliers from 34 % to below 6 %, which these counts are not.
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
