// SPDX-License-Identifier: MIT OR Apache-2.0
//! `sequential-io` as tables and picture.

use huepage::units::Bytes;

use crate::results::{
    Axis, Boots, Page, Panel, Plot, Results, Row, Series, Table, cell, distinct, number, percent,
    table_by, thousands,
};

pub(super) fn page(results: &Results) -> Page {
    Page {
        source: against_source(results),
        tables: machines(results).into_iter().map(|machine| table(results, machine)).collect(),
        plot: plot(results),
    }
}

/// The settings that vary one at a time, and the architecture.
fn machine(row: &Row) -> String {
    let size = |name: &str| {
        let text = row.setting(name);
        text.parse::<Bytes>().map_or(text, |bytes| bytes.to_string())
    };
    format!(
        "{}, {}, {}, {} read ahead, {} segments of {}",
        row.setting("arch"),
        row.setting("fs"),
        size("memory"),
        size("read_ahead"),
        row.setting("segments"),
        size("segment_size")
    )
}

fn machines(results: &Results) -> Vec<String> {
    distinct(results.rows.iter().map(machine))
}

fn boots<'a>(results: &'a Results, on: &str, policy: &str, readers: &str, mode: &str) -> Boots<'a> {
    let those = [("policy", policy), ("readers", readers), ("mode", mode)];
    Boots::of(results.with(&those).filter(|row| machine(row) == on))
}

/// The share of throughput that `those` have less than `others`.
fn loss(those: &Boots<'_>, others: &Boots<'_>) -> Option<f64> {
    Some(1.0 - those.mean("mbs")? / others.mean("mbs")?)
}

/// Two settings that select a row of a table.
type Point<'a> = (&'a str, &'a str);

fn table(results: &Results, machine: String) -> (String, Table) {
    let of = |(readers, policy): &Point, mode| boots(results, &machine, policy, readers, mode);
    let lost = |point: &Point, mode| {
        let stock = (point.1 != "stock").then(|| of(&(point.0, "stock"), mode));
        cell(stock.and_then(|stock| loss(&of(point, mode), &stock)), percent)
    };
    let rate = |point: &Point, mode| of(point, mode).text("mbs", |mbs| number(Some(mbs), 1));
    let (readers, policies) = (results.values("readers"), results.values("policy"));
    let points = readers.iter().flat_map(|readers| policies.iter().map(|p| (&**readers, &**p)));
    let table = table_by::<Point>(
        &[
            ("readers", &|(readers, _)| (*readers).to_owned()),
            ("policy", &|(_, policy)| (*policy).to_owned()),
            ("MB/s", &|point| rate(point, "cached")),
            ("lost against stock", &|point| lost(point, "cached")),
            ("stalls", &|point| of(point, "cached").text("stalls", thousands)),
            ("waiting for memory", &|point| of(point, "cached").text("stalled_share", percent)),
            ("old waits", &|point| of(point, "cached").text("waits", thousands)),
            ("direct: MB/s", &|point| rate(point, "direct")),
            ("lost against stock", &|point| lost(point, "direct")),
        ],
        points.filter(|point| !of(point, "cached").is_empty()),
    );
    (machine.clone(), table)
}

fn against_source(results: &Results) -> (String, Table) {
    let heading = "Against the source (2009): throughput that ascending frames lost against \
                   reversed ones";
    let of = |(machine, readers): &Point, policy: &str| {
        boots(results, machine, policy, readers, "cached")
    };
    let lost = |point: &Point, those: &str, others: &str| {
        cell(loss(&of(point, those), &of(point, others)), percent)
    };
    let (machines, readers) = (machines(results), results.values("readers"));
    let points = machines.iter().flat_map(|machine| readers.iter().map(|r| (&**machine, &**r)));
    let table = table_by::<Point>(
        &[
            ("machine", &|(machine, _)| (*machine).to_owned()),
            ("readers", &|(_, readers)| (*readers).to_owned()),
            ("source", &|(_, readers)| match *readers {
                "16" => "76 %".into(),
                _ => "about 40 % (mean of 1 to 64)".into(),
            }),
            ("here, as 6.12 is", &|point| lost(point, "stock", "reverse")),
            ("here, with the old wait", &|point| lost(point, "wait", "wait-reverse")),
            ("lost by the old wait", &|point| lost(point, "wait", "stock")),
            ("lost by waiting each time", &|point| lost(point, "wait-each", "stock")),
        ],
        points.filter(|point| !of(point, "stock").is_empty()),
    );
    (heading.into(), table)
}

/// Of the first machine.
fn plot(results: &Results) -> Plot {
    let machine = machines(results).into_iter().next().unwrap_or_default();
    let line = |policy: &str, mode: &str, metric: &str| {
        let point = |readers: &String| {
            let boots = boots(results, &machine, policy, readers, mode);
            Some((readers.parse().ok()?, boots.mean(metric)?))
        };
        Series::new(policy, results.values("readers").iter().filter_map(point).collect())
    };
    let policies = results.values("policy");
    let panel = |heading: &str, mode: &str, metric: &str| {
        let rows = results.with([("mode", mode)]);
        let top = rows.filter_map(|row| row.metric(metric)).fold(0.0, f64::max);
        let series = policies.iter().map(|policy| line(policy, mode, metric)).collect();
        Panel::new(heading, "readers", Axis::Doublings, series).up_to(top)
    };
    Plot {
        title: "Sequential reads under memory pressure".into(),
        caption: format!("Linux {}, {machine}; modelled: the guest's time", results.kernel.version),
        panels: vec![
            panel("through the page cache (MB/s)", "cached", "mbs"),
            panel("past it (MB/s)", "direct", "mbs"),
            panel("entries into direct reclaim", "cached", "stalls"),
        ],
    }
}
