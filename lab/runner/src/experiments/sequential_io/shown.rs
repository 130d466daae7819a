// SPDX-License-Identifier: MIT OR Apache-2.0
//! `sequential-io` as tables, picture and words.

use huepage::units::Bytes;

use crate::results::{Axis, Boots, Panel, Plot, Results, Row, Series, Table, percent, thousands};

pub(super) const REMARKS: &str = "\
What the report of December 2009 was about. On an s390 system with 256 MB, FCP disks and ext2, \
one process and one file of 2 GB for each disk, sequential reads lost up to 76 % (16 processes; \
about 40 % on average over 1 to 64) between two kernels, and the commit that had restored \
*ascending* frames was found by bisection. 64 MB more memory or direct reads cured it. That \
controller merges nothing (its segments are single pages), so the order of frames was worth \
nothing to it; the time went into direct reclaim, which waited for disks to be less busy \
(`congestion_wait`), where reads keep none of them busy that way. Mends of that waiting took back \
about four fifths.

Linux 6.12 has no such wait. `wait` brings it back, where Linux 2.6.31 had it (`lab/kernel`): \
after direct reclaim that freed pages of which none is left for the task, 20 ms, also for \
read-ahead, which gives up there today; and after a round of reclaim at a low priority, 100 ms. \
`wait-each` waits 20 ms after every direct reclaim that freed pages, as if there were never one \
left: it shows how much of such waits this experiment can see, which is little where the \
processor is what limits the readers: others run meanwhile. `reverse` gives the frames of a \
refill in reverse, as before the commit of 2009.

Throughput is in the guest's time, in which an instruction takes 8 ns and each disk the \
stated time for a request, a segment and a byte, one request after another (`lab/kernel`); the \
processor is one of 125 million instructions per second, so that with many readers it is what \
limits them. Files are shorter than the source's, and all readers together read the stated total \
through the page cache, then past it (`direct`, the control). `stalls` are entries into direct \
reclaim; `waiting for memory` is the share of the time in which at least one reader waited for \
memory, by the kernel's pressure stall information. No cache is modelled. Boots differ as the \
host lets reads complete: shown is the mean of all boots and, in parentheses, the least and the \
most.";

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
    let mut machines: Vec<String> = Vec::new();
    for machine in results.rows.iter().map(machine) {
        if !machines.contains(&machine) {
            machines.push(machine);
        }
    }
    machines
}

fn boots<'a>(results: &'a Results, on: &str, policy: &str, readers: &str, mode: &str) -> Boots<'a> {
    let those = [("policy", policy), ("readers", readers), ("mode", mode)];
    Boots::of(results.with(&those).filter(|row| machine(row) == on))
}

/// The share of throughput that the first have less than the others.
fn loss(those: &Boots<'_>, others: &Boots<'_>) -> Option<f64> {
    Some(1.0 - those.mean("mbs")? / others.mean("mbs")?)
}

pub(super) fn tables(results: &Results) -> Vec<(String, Table)> {
    machines(results).into_iter().map(|machine| table(results, machine)).collect()
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
                stock.and_then(|stock| loss(those, &stock)).map_or("–".into(), percent)
            };
            table.row([
                readers.clone(),
                policy.clone(),
                cached.text("mbs", |mbs| format!("{mbs:.1}")),
                lost(&cached, "cached"),
                cached.text("stalls", thousands),
                cached.text("stalled_share", percent),
                cached.text("waits", thousands),
                direct.text("mbs", |mbs| format!("{mbs:.1}")),
                lost(&direct, "direct"),
            ]);
        }
    }
    (machine, table)
}

pub(super) fn against_source(results: &Results) -> (String, Table) {
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
            let lost = |those: &str, others: &str| {
                loss(&of(those), &of(others)).map_or("–".into(), percent)
            };
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
pub(super) fn plot(results: &Results) -> Plot {
    let machine = machines(results).into_iter().next().unwrap_or_default();
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
            .map(|policy| Series {
                points: results
                    .values("readers")
                    .iter()
                    .filter_map(|readers| {
                        let boots = boots(results, &machine, &policy, readers, mode);
                        Some((readers.parse().ok()?, boots.mean(metric)?))
                    })
                    .collect(),
                name: policy,
                reference: false,
            })
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
