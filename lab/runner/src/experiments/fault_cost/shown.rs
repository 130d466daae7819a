// SPDX-License-Identifier: MIT OR Apache-2.0
//! `fault-cost` as tables, picture and words.

use super::WORKS;
use crate::results::{Axis, Panel, Plot, Results, Row, Series, Table};

pub(super) const REMARKS: &str = "\
Instructions are counted exactly, by the emulator, over thousands of pages at a time, user and \
kernel together; the program's own share is a handful for a page. Timer interrupts are in them, \
as many in every kernel but for one more or less. The same kernel with the same seed gives the \
same counts but for an interrupt of a disk; rounds differ as the free lists do. Only `read a disk` \
depends on when the host answers: compare its rounds first.

A page is cleared and copied by one x86 string instruction, which an emulator executes piece by \
piece: those are not counted at all on x86_64, so that a share is not made smaller by them. On \
arm64 clearing a page is a loop, which is counted. Counts say nothing of time: no cache misses, \
no branches, no locks that are waited for.

`off` is the kernel with page coloring compiled in and not turned on.";

fn row<'a>(results: &'a Results, arch: &str, policy: &str, work: &str) -> Option<&'a Row> {
    results.find(&[("arch", arch), ("policy", policy), ("work", work)])
}

fn beyond(row: Option<&Row>) -> Option<f64> {
    Some(100.0 * row?.metric("beyond_stock")?)
}

pub(super) fn tables(results: &Results) -> Vec<(String, Table)> {
    let policies = results.values("policy");
    let head = ["arch", "work"].map(str::to_owned).into_iter();
    let mut counts = Table::new(head.clone().chain(policies.clone()));
    let colored = || policies.iter().filter(|policy| *policy != "stock");
    let mut more = Table::new(head.chain(colored().cloned()));
    for arch in results.values("arch") {
        for (work, _) in WORKS {
            let of = |policy: &String| row(results, &arch, policy, work);
            let first = [arch.clone(), work.to_owned()];
            let count = |policy| {
                let row = of(policy)?;
                let number = |name| row.metric(name);
                let (mean, least, most) =
                    (number("instructions_per_page")?, number("least")?, number("most")?);
                Some(format!("{mean:.1} ({least:.1}–{most:.1})"))
            };
            let cells = policies.iter().map(|policy| count(policy).unwrap_or_else(|| "–".into()));
            counts.row(first.clone().into_iter().chain(cells));
            let cells = colored().map(|policy| {
                beyond(of(policy)).map_or("–".into(), |beyond| format!("{beyond:+.2} %"))
            });
            more.row(first.into_iter().chain(cells));
        }
    }
    let mut tables =
        vec![("Instructions per page: mean of rounds (least–most)".to_owned(), counts)];
    if colored().next().is_some() {
        tables.push(("Beyond the stock kernel".to_owned(), more));
    }
    tables
}

pub(super) fn plot(results: &Results) -> Plot {
    let policies = results.values("policy");
    let panel = |arch: &String| Panel {
        heading: format!("{arch}: instructions per page"),
        x_label: "work".into(),
        x: Axis::Names(WORKS.iter().map(|(work, _)| (*work).to_owned()).collect()),
        top: 0.0,
        series: policies
            .iter()
            .map(|policy| Series {
                name: policy.clone(),
                points: WORKS
                    .iter()
                    .enumerate()
                    .filter_map(|(x, (work, _))| {
                        let row = row(results, arch, policy, work)?;
                        Some((x as f64, row.metric("instructions_per_page")?))
                    })
                    .collect(),
                reference: false,
            })
            .collect(),
    };
    Plot {
        title: "fault-cost: instructions of the kernel per page".into(),
        caption: format!("Linux {} ({})", results.kernel.version, results.kernel.variant),
        panels: results.values("arch").iter().map(panel).collect(),
    }
}

/// The sources give no count; what is wanted of ours is beside what it is.
pub(super) fn against_source(results: &Results) -> (String, Table) {
    let mut table = Table::new(["kernel", "arch", "source", "wanted at most", "work", "here"]);
    for arch in results.values("arch") {
        for (policy, source, wanted) in
            [("off", "almost free when off; no change in lmbench", 0.1), ("on", "–", 5.0)]
        {
            for (work, _) in WORKS {
                let Some(beyond) = beyond(row(results, &arch, policy, work)) else { continue };
                table.row([
                    policy.to_owned(),
                    arch.clone(),
                    source.to_owned(),
                    format!("+{wanted} %"),
                    work.to_owned(),
                    format!(
                        "{beyond:+.2} %{}",
                        if beyond > wanted { ", more than wanted" } else { "" }
                    ),
                ]);
            }
        }
    }
    ("Against the sources, and what is wanted (beyond stock)".into(), table)
}
