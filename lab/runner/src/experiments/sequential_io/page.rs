// SPDX-License-Identifier: MIT OR Apache-2.0
//! `sequential-io` as tables and picture.

use huepage::units::Bytes;

use crate::results::{
    Axis, Boots, Page, Panel, Plot, Results, Row, Series, Table, cell, distinct, number, percent,
    thousands,
};

pub(super) fn page(results: &Results) -> Page {
    Page {
        source: against_source(results),
        tables: machines(results).into_iter().map(|machine| table(results, machine)).collect(),
        plot: plot(results),
    }
}

/// What is looked at one at a time, and the architecture.
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

/// The share of throughput that the first have less than the others.
fn loss(those: &Boots<'_>, others: &Boots<'_>) -> Option<f64> {
    Some(1.0 - those.mean("mbs")? / others.mean("mbs")?)
}

fn table(results: &Results, machine: String) -> (String, Table) {
    let mut table = Table::new([
        "readers",
        "policy",
        "MB/s",
        "lost against stock",
        "stalls",
        "waiting for memory",
        "old waits",
        "direct: MB/s",
        "lost against stock",
    ]);
    for readers in results.values("readers") {
        let of = |policy: &str, mode: &str| boots(results, &machine, policy, &readers, mode);
        for policy in results.values("policy") {
            let (cached, direct) = (of(&policy, "cached"), of(&policy, "direct"));
            if cached.is_empty() {
                continue;
            }
            let lost = |those: &Boots<'_>, mode: &str| {
                let stock = (policy != "stock").then(|| of("stock", mode));
                cell(stock.and_then(|stock| loss(those, &stock)), percent)
            };
            table.row([
                readers.clone(),
                policy.clone(),
                cached.text("mbs", |mbs| number(Some(mbs), 1)),
                lost(&cached, "cached"),
                cached.text("stalls", thousands),
                cached.text("stalled_share", percent),
                cached.text("waits", thousands),
                direct.text("mbs", |mbs| number(Some(mbs), 1)),
                lost(&direct, "direct"),
            ]);
        }
    }
    (machine, table)
}

fn against_source(results: &Results) -> (String, Table) {
    let heading = "Against the source (2009): throughput that ascending frames lost against \
                   reversed ones";
    let mut table = Table::new([
        "machine",
        "readers",
        "source",
        "here, as 6.12 is",
        "here, with the old wait",
        "lost by the old wait",
        "lost by waiting each time",
    ]);
    for machine in machines(results) {
        for readers in results.values("readers") {
            let of = |policy: &str| boots(results, &machine, policy, &readers, "cached");
            let lost = |those: &str, others: &str| cell(loss(&of(those), &of(others)), percent);
            if of("stock").is_empty() {
                continue;
            }
            table.row([
                machine.clone(),
                readers.clone(),
                if readers == "16" { "76 %" } else { "about 40 % (mean of 1 to 64)" }.to_owned(),
                lost("stock", "reverse"),
                lost("wait", "wait-reverse"),
                lost("wait", "stock"),
                lost("wait-each", "stock"),
            ]);
        }
    }
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
    let panel = |heading: &str, mode: &str, metric: &str| Panel {
        heading: heading.into(),
        x_label: "readers".into(),
        x: Axis::Doublings,
        top: results
            .with(&[("mode", mode)])
            .filter_map(|row| row.metric(metric))
            .fold(0.0, f64::max),
        series: results
            .values("policy")
            .into_iter()
            .map(|policy| line(&policy, mode, metric))
            .collect(),
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
