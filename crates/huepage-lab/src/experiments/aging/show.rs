// SPDX-License-Identifier: MIT OR Apache-2.0
//! The tables and the picture.

use super::{POLICIES, rows::KERNEL_FNS, theory};
use crate::results::{Axis, Panel, Plot, Results, Row, Series, Table};

pub const REMARKS: &str = "\
A line is in conflict when another line that the same kernel function touches has its set of the \
cache; in a pass that is repeated such a line misses every time. *fill* is what the three arrays \
take together: add and triad touch all of it, copy and scale two thirds. The modelled bandwidth \
counts each line once, at the stated rate of a hit or of a miss. The rate of a hit is what the \
source measured fresh; the rate of a miss is chosen so that random placement at fill 1 comes to \
what the source measured after days, so the two figures in GB/s are no prediction: the share of \
lines in conflict is.

The model has the memory-side cache and nothing before it. It leaves out that a miss also moves \
the evicted line, that prefetchers and many memory controllers overlap hits and misses, that TLBs \
cost more with small pages, and that a store may bypass caches. All of these change GB/s; none \
changes which lines share a set. The CXL form has the same rates so that forms compare; a real \
device has others. Fills that leave its machine, two caches large, no room for the kernel are \
left out.

A page's color is checked twice: the misses of the model and the frame numbers that the kernel \
shows agree within a hundredth in every row, or the run fails. It fails too if the control, pages \
picked at random among nearly all frames, is further than three hundredths from theory: \
1 − e^(−fill) in the memory-side form, and in the CXL form, where a color has only two frames, \
what follows from counting them.";

/// Rows that belong to one line of a table: all but fill and kernel function.
#[derive(Clone, PartialEq, Eq)]
struct Group {
    arch: String,
    form: String,
    policy: String,
    intensity: String,
}

impl Group {
    fn of(row: &Row) -> Self {
        Group {
            arch: row.setting("arch"),
            form: row.setting("form"),
            policy: row.setting("policy"),
            intensity: row.setting("intensity"),
        }
    }
}

fn groups(results: &Results) -> Vec<Group> {
    let mut groups = Vec::new();
    for row in &results.rows {
        let group = Group::of(row);
        if !groups.contains(&group) {
            groups.push(group);
        }
    }
    groups
}

fn age(row: &Row) -> u64 {
    row.setting("age").parse().unwrap_or(0)
}

fn fill(row: &Row) -> f64 {
    row.setting("fill").parse().unwrap_or(0.0)
}

fn fills(results: &Results) -> Vec<f64> {
    let mut fills: Vec<f64> = results.rows.iter().map(fill).collect();
    fills.sort_by(f64::total_cmp);
    fills.dedup();
    fills
}

fn last_age(results: &Results) -> u64 {
    results.rows.iter().map(age).max().unwrap_or(0)
}

/// The row of a group at a point.
fn at<'a>(
    results: &'a Results,
    group: &Group,
    age_: u64,
    fill_: f64,
    kernel_fn: &str,
) -> Option<&'a Row> {
    results.rows.iter().find(|row| {
        age(row) == age_
            && fill(row) == fill_
            && row.setting("kernel_fn") == kernel_fn
            && Group::of(row) == *group
    })
}

fn percent(row: Option<&Row>, metric: &str) -> String {
    number(row.and_then(|row| row.metric(metric)).map(|share| share * 100.0), 1)
}

fn number(value: Option<f64>, digits: usize) -> String {
    value.map_or_else(|| "–".into(), |value| format!("{value:.digits$}"))
}

/// Groups with the ages worth a line: fresh once per policy, then the last.
fn lines(results: &Results) -> Vec<(Group, u64, String)> {
    let last = last_age(results);
    let mut lines: Vec<(Group, u64, String)> = Vec::new();
    for group in groups(results) {
        let same = |other: &Group| {
            (&other.arch, &other.form, &other.policy) == (&group.arch, &group.form, &group.policy)
        };
        if group.policy == "random" {
            lines.push((group, 0, "control".into()));
            continue;
        }
        if !lines.iter().any(|(other, ..)| same(other)) {
            lines.push((group.clone(), 0, "fresh".into()));
        }
        if last > 0 {
            let state = format!("day {last}, {}", group.intensity);
            lines.push((group, last, state));
        }
    }
    lines
}

pub fn tables(results: &Results) -> Vec<(String, Table)> {
    let conflict = by_fill(results, true, |row| percent(row, "conflict_share"));
    let bandwidth = by_fill(results, false, |row| gbs(row));
    let fill = about_one(results);
    vec![
        ("Lines in conflict by fill, triad (%, modelled)".into(), conflict),
        ("Bandwidth by fill, triad (GB/s, modelled)".into(), bandwidth),
        (
            format!("Day after day at fill {fill}, triad: lines in conflict (%, modelled)"),
            by_day(results),
        ),
        (format!("The four kernel functions at fill {fill} (%, modelled)"), by_kernel_fn(results)),
    ]
}

fn gbs(row: Option<&Row>) -> String {
    number(row.and_then(|row| row.metric("modelled_gbs")), 0)
}

/// With what theory says of random placement, where that is comparable.
fn by_fill(results: &Results, theory: bool, cell: impl Fn(Option<&Row>) -> String) -> Table {
    let fills = fills(results);
    let head = ["arch", "form", "policy", "state"].map(str::to_owned);
    let mut table =
        Table::new(head.into_iter().chain(fills.iter().map(|fill| format!("fill {fill}"))));
    for (group, age, state) in lines(results) {
        let row = |fill: &f64| at(results, &group, age, *fill, "triad");
        let cells = fills.iter().map(|fill| cell(row(fill)));
        let head = [&group.arch, &group.form, &group.policy, &state].map(Clone::clone);
        table.row(head.into_iter().chain(cells));
        if theory && group.policy == "random" {
            for (name, metric) in
                [("1 − e^(−fill)", "random_share"), ("these frames", "random_share_finite")]
            {
                let cells = fills.iter().map(|fill| percent(row(fill), metric));
                let head = [&group.arch, &group.form].map(Clone::clone);
                let head = head.into_iter().chain(["theory".to_owned(), name.to_owned()]);
                table.row(head.chain(cells));
            }
        }
    }
    table
}

/// The fill nearest to 1, of which the source speaks.
fn about_one(results: &Results) -> f64 {
    let nearest = |a: &f64, b: &f64| (a - 1.0).abs().total_cmp(&(b - 1.0).abs());
    fills(results).into_iter().min_by(nearest).unwrap_or(1.0)
}

fn by_day(results: &Results) -> Table {
    let last = last_age(results);
    let head = ["arch", "form", "policy", "intensity"].map(str::to_owned);
    let more = [
        "free in largest blocks, day 0".to_owned(),
        format!("free in largest blocks, day {last}"),
        format!("arrays in huge pages, day {last}"),
    ];
    let days = (0..=last).map(|day| format!("day {day}"));
    let mut table = Table::new(head.into_iter().chain(days).chain(more));
    let fill = about_one(results);
    for group in groups(results).into_iter().filter(|group| group.policy != "random") {
        let row = |day| at(results, &group, day, fill, "triad");
        let conflict = (0..=last).map(|day| percent(row(day), "conflict_share"));
        let more = [
            percent(row(0), "free_in_largest"),
            percent(row(last), "free_in_largest"),
            percent(row(last), "huge_share"),
        ];
        let head = [&group.arch, &group.form, &group.policy, &group.intensity].map(Clone::clone);
        table.row(head.into_iter().chain(conflict).chain(more));
    }
    table
}

/// Copy and scale touch two of the three arrays, so theory is another one.
fn by_kernel_fn(results: &Results) -> Table {
    let mut table = Table::new([
        "arch",
        "form",
        "policy",
        "state",
        "kernel function",
        "lines touched",
        "in conflict",
        "by frame numbers",
        "1 − e^(−touched / cache)",
        "random among these frames",
    ]);
    let fill = about_one(results);
    for (group, age, state) in lines(results) {
        if !["stock", "random"].contains(&group.policy.as_str()) {
            continue;
        }
        for kernel_fn in KERNEL_FNS {
            let Some(row) = at(results, &group, age, fill, kernel_fn) else { continue };
            table.row([
                group.arch.clone(),
                group.form.clone(),
                group.policy.clone(),
                state.clone(),
                kernel_fn.to_owned(),
                number(row.metric("lines"), 0),
                percent(Some(row), "conflict_share"),
                percent(Some(row), "by_frames"),
                percent(Some(row), "random_share"),
                percent(Some(row), "random_share_finite"),
            ]);
        }
    }
    table
}

pub fn plot(results: &Results) -> Plot {
    let arch = groups(results).first().map(|group| group.arch.clone()).unwrap_or_default();
    let mut panels = Vec::new();
    for form in ["memory-side", "flat"] {
        for policy in POLICIES.into_iter().filter(|policy| *policy != "random") {
            let here = |group: &Group| group.arch == arch && group.form == form;
            let mut series: Vec<Series> = lines(results)
                .into_iter()
                .filter(|(group, ..)| here(group) && group.policy == policy)
                .map(|(group, age, state)| curve(results, &group, age, state))
                .collect();
            if series.is_empty() {
                continue;
            }
            let control =
                groups(results).into_iter().find(|group| here(group) && group.policy == "random");
            if let Some(group) = control {
                let name = "random pages (the control)".to_owned();
                series.push(curve(results, &group, 0, name));
            }
            series.push(theory_curve(results, form));
            panels.push(Panel {
                heading: format!("{form}, {policy}: lines in conflict, triad (%)"),
                x_label: "arrays / cache".into(),
                x: Axis::Linear,
                series,
            });
        }
    }
    Plot {
        title: "STREAM behind a direct-mapped cache, fresh and aged".into(),
        caption: format!(
            "modelled; Linux {}, {arch}; dashed: random in theory",
            results.kernel.version
        ),
        panels,
    }
}

fn curve(results: &Results, group: &Group, age: u64, name: String) -> Series {
    let point = |fill: &f64| {
        let row = at(results, group, age, *fill, "triad")?;
        Some((*fill, row.metric("conflict_share")? * 100.0))
    };
    Series { name, points: fills(results).iter().filter_map(point).collect(), reference: false }
}

/// Without rounding of the fill, in steps fine enough for a curve.
fn theory_curve(results: &Results, form: &str) -> Series {
    let rows = || results.rows.iter().filter(|row| row.setting("form") == form);
    let (low, high) = rows()
        .map(fill)
        .fold((f64::INFINITY, 0.0_f64), |(low, high), fill| (low.min(fill), high.max(fill)));
    // Two frames to a color: the other one is taken as often as memory is full.
    let share = |fill: f64| match form {
        "flat" => fill / 2.0,
        _ => theory::random_share(fill),
    };
    let points = (0..=40)
        .map(|step| low + (high - low) * f64::from(step) / 40.0)
        .map(|fill| (fill, share(fill) * 100.0))
        .collect();
    let name = match form {
        "flat" => "fill / 2 (two frames to a color)",
        _ => "1 − e^(−fill)",
    };
    Series { name: name.into(), points, reference: true }
}

pub fn against_source(results: &Results) -> (String, Table) {
    let mut table = Table::new(["", "source", "of the source", "here, triad (modelled)"]);
    const MEASURED: &str = "measured, Knights Landing, 16 GiB MCDRAM";
    let fill = about_one(results);
    let last = last_age(results);
    let both = |row| format!("{} GB/s, {} % in conflict", gbs(row), percent(row, "conflict_share"));
    let shown = lines(results);
    for (group, age, state) in shown.iter().filter(|(group, ..)| group.form == "memory-side") {
        let row = at(results, group, *age, fill, "triad");
        let (source, kind) = match (group.policy.as_str(), *age) {
            ("random", _) => {
                // As the row has it: with its rates, for its fill.
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
            _ => continue,
        };
        let what = format!("{}, {state}, fill {fill}, {}", group.policy, group.arch);
        table.row([what, source, kind.to_owned(), both(row)]);
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
            "published, outliers among programs on CXL flat memory".to_owned(),
            format!("{} %", slower.map_or_else(|| "–".into(), |slower| format!("{slower:+.0}"))),
        ]);
    }
    ("Against the source".into(), table)
}
