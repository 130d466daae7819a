// SPDX-License-Identifier: MIT OR Apache-2.0
//! `aging` as tables.

use super::{
    chance,
    lines::{Group, about_one, at, fills, groups, last_age, lines, percent},
    picture,
    rows::KERNEL_FNS,
    theory,
};
use crate::results::{Page, Results, Row, Table, number, table_by};

pub fn page(results: &Results) -> Page {
    let fill = about_one(results);
    let tables = [
        (
            "Lines in conflict by fill, triad (%, modelled)".into(),
            by_fill(results, true, |row| percent(row, "conflict_share")),
        ),
        ("Bandwidth by fill, triad (GB/s, modelled)".into(), by_fill(results, false, gbs)),
        (
            "Lost by aging, triad (% of the same policy's bandwidth fresh, modelled)".into(),
            lost(results),
        ),
        (
            format!("Day after day at fill {fill}, triad: lines in conflict (%, modelled)"),
            by_day(results),
        ),
        (
            "Several boots: seeds, of which all but the first keep a page back at boot; lines in \
             conflict, triad (%, modelled)"
                .into(),
            chance::table(results),
        ),
        (format!("The four kernel functions at fill {fill} (%, modelled)"), by_kernel_fn(results)),
    ];
    Page { source: against_source(results), tables: tables.into(), plot: picture::plot(results) }
}

fn gbs(row: Option<&Row>) -> String {
    number(row.and_then(|row| row.metric("modelled_gbs")), 0)
}

/// A table by fill; `theory` adds the theory of random placement, if it is comparable.
fn by_fill(results: &Results, theory: bool, cell: impl Fn(Option<&Row>) -> String) -> Table {
    let (fills, mut table) = fills_and_head(results);
    for (group, age, state) in lines(results) {
        let row = |fill: &f64| at(results, &group, age, *fill, "triad");
        let cells = fills.iter().map(|fill| cell(row(fill)));
        table.wide_row([&group.head()[..], &[&state]].concat(), cells);
        if theory && group.policy == "random" {
            for (name, metric) in
                [("1 − e^(−fill)", "random_share"), ("these frames", "random_share_finite")]
            {
                let cells = fills.iter().map(|fill| percent(row(fill), metric));
                table.wide_row([&group.arch, &group.form, "theory", name], cells);
            }
        }
    }
    table
}

fn fills_and_head(results: &Results) -> (Vec<f64>, Table) {
    let fills = fills(results);
    let head = fills.iter().map(|fill| format!("fill {fill}"));
    let table = Table::wide(&["arch", "form", "policy", "state"], head);
    (fills, table)
}

fn lost(results: &Results) -> Table {
    let (fills, mut table) = fills_and_head(results);
    for (group, age, state) in lines(results).into_iter().filter(|(_, age, _)| *age > 0) {
        let cells = fills.iter().map(|fill| number(loss(results, &group, age, *fill), 1));
        table.wide_row([&group.head()[..], &[&state]].concat(), cells);
    }
    table
}

/// The bandwidth that the same policy loses compared with fresh, in percent.
fn loss(results: &Results, group: &Group, age: u64, fill: f64) -> Option<f64> {
    let gbs = |age| at(results, group, age, fill, "triad")?.metric("modelled_gbs");
    Some((1.0 - gbs(age)? / gbs(0)?) * 100.0)
}

fn by_day(results: &Results) -> Table {
    let last = last_age(results);
    let more = [
        "free in largest blocks, day 0".to_owned(),
        format!("free in largest blocks, day {last}"),
        format!("arrays in huge pages, day {last}"),
    ];
    let days = (0..=last).map(|day| format!("day {day}"));
    let mut table = Table::wide(&["arch", "form", "policy", "intensity"], days.chain(more));
    let fill = about_one(results);
    let all = groups(results);
    for group in all.iter().filter(|group| group.policy != "random") {
        let row = |day| at(results, group, day, fill, "triad");
        let conflict = (0..=last).map(|day| percent(row(day), "conflict_share"));
        let more = [
            percent(row(0), "free_in_largest"),
            percent(row(last), "free_in_largest"),
            percent(row(last), "huge_share"),
        ];
        let intensity = format!("{}{}", group.intensity, group.rest_among(&all));
        table.wide_row([&group.head()[..], &[&intensity]].concat(), conflict.chain(more));
    }
    table
}

/// Copy and scale touch two of the three arrays, so their theory differs.
fn by_kernel_fn(results: &Results) -> Table {
    let fill = about_one(results);
    let shown = |group: &Group| ["stock", "random"].contains(&group.policy.as_str());
    let lines: Vec<_> = lines(results).into_iter().filter(|(group, ..)| shown(group)).collect();
    let rows = lines.iter().flat_map(|(group, age, state)| {
        let row = move |kernel_fn| Some((state, at(results, group, *age, fill, kernel_fn)?));
        KERNEL_FNS.into_iter().filter_map(row)
    });
    let share = |row: &Row, metric| percent(Some(row), metric);
    table_by::<(&String, &Row)>(
        &[
            ("arch", &|(_, row)| row.setting("arch")),
            ("form", &|(_, row)| row.setting("form")),
            ("policy", &|(_, row)| row.setting("policy")),
            ("state", &|(state, _)| (*state).clone()),
            ("kernel function", &|(_, row)| row.setting("kernel_fn")),
            ("lines touched", &|(_, row)| number(row.metric("lines"), 0)),
            ("in conflict", &|(_, row)| share(row, "conflict_share")),
            ("by frame numbers", &|(_, row)| share(row, "by_frames")),
            ("1 − e^(−touched / cache)", &|(_, row)| share(row, "random_share")),
            ("random among these frames", &|(_, row)| share(row, "random_share_finite")),
        ],
        rows,
    )
}

/// Published bandwidth of reads on a Knights Landing, in GB/s, of MCDRAM as memory of
/// its own and of DDR; the source's figures are not part of it.
const PUBLISHED_HIT: f64 = 400.0;
const PUBLISHED_MISS: f64 = 90.0;

/// The source's figures beside the corresponding ones here.
fn against_source(results: &Results) -> (String, Table) {
    let mut table = Table::new([
        "",
        "source",
        "of the source",
        "here, triad (modelled)",
        "GB/s with published rates",
    ]);
    const MEASURED: &str = "measured, Knights Landing, 16 GiB MCDRAM";
    let fill = about_one(results);
    let last = last_age(results);
    let both = |row| format!("{} GB/s, {} % in conflict", gbs(row), percent(row, "conflict_share"));
    let predicted = |row: Option<&Row>| {
        let share = row.and_then(|row| row.metric("conflict_share"));
        number(share.map(|share| theory::gbs(share, PUBLISHED_HIT, PUBLISHED_MISS)), 0)
    };
    let shown = lines(results);
    for (group, age, state) in shown.iter().filter(|(group, ..)| group.form == "memory-side") {
        let row = at(results, group, *age, fill, "triad");
        let (source, kind) = match (group.policy.as_str(), *age) {
            ("random", _) => {
                // With the rates and the fill of the row.
                let rate = |name: &str| row?.settings.get(name)?.as_f64();
                let gbs = rate("hit_gbs")
                    .zip(rate("miss_gbs"))
                    .zip(row.and_then(|row| row.metric("random_share")));
                let gbs = gbs.map(|((hit, miss), share)| theory::gbs(share, hit, miss));
                let share = percent(row, "random_share");
                (format!("{} GB/s, {share} % in conflict", number(gbs, 0)), "theory")
            }
            ("stock", 0) => ("336 GB/s".into(), MEASURED),
            ("stock", age) if age == last => ("117 GB/s (−65 %) after days".into(), MEASURED),
            ("on", 0) => ("336 GB/s".into(), MEASURED),
            ("on", age) if age == last => {
                ("331 GB/s (−1.5 %) or better after days".into(), MEASURED)
            }
            _ => continue,
        };
        let what = format!("{}, {state}, fill {fill}, {}", group.policy, group.arch);
        table.row([what, source, kind.to_owned(), both(row), predicted(row)]);
    }
    for (group, age, state) in shown
        .iter()
        .filter(|(group, age, _)| group.form == "flat" && group.policy == "stock" && *age > 0)
    {
        let time =
            |age| Some(1.0 / at(results, group, age, fill, "triad")?.metric("modelled_gbs")?);
        let slower = time(*age).zip(time(0)).map(|(aged, fresh)| (aged / fresh - 1.0) * 100.0);
        table.row([
            format!("CXL form, {state}, fill {fill}, {}: time over fresh", group.arch),
            "up to +34 %".to_owned(),
            "published, outliers among programs on CXL flat memory, against DRAM alone: another \
             ratio"
                .to_owned(),
            format!("{} %", slower.map_or_else(|| "–".into(), |slower| format!("{slower:+.0}"))),
            "–".into(),
        ]);
    }
    ("Against the source".into(), table)
}
