// SPDX-License-Identifier: MIT OR Apache-2.0
//! Groups of rows with the same settings, for tables and pictures.

use crate::results::{Results, Row, distinct, number};

/// Settings that are mostly not lists.
const REST: [&str; 5] = ["touch", "flat_cache", "cached", "hit_gbs", "miss_gbs"];

/// Rows of the first cache and seed, which have all fills and days; the others are in
/// `chance`.
fn usual(results: &Results) -> impl Iterator<Item = &Row> {
    let first = |name: &str| results.rows.first().map(|row| row.setting(name));
    let (cache, seed) = (first("cache"), first("seed"));
    results
        .rows
        .iter()
        .filter(move |row| Some(row.setting("cache")) == cache && Some(row.setting("seed")) == seed)
}

/// Rows that belong to one line of a table: all but fill and kernel function.
#[derive(Clone, PartialEq, Eq)]
pub struct Group {
    pub arch: String,
    pub form: String,
    pub policy: String,
    pub intensity: String,
    /// The other settings, in case they were lists.
    rest: [String; REST.len()],
}

impl Group {
    fn of(row: &Row) -> Self {
        let [arch, form, policy, intensity] =
            ["arch", "form", "policy", "intensity"].map(|name| row.setting(name));
        Group { arch, form, policy, intensity, rest: REST.map(|name| row.setting(name)) }
    }

    /// The settings before the state, as cells.
    pub fn head(&self) -> [&str; 3] {
        [&self.arch, &self.form, &self.policy]
    }

    /// The other settings that are not the same in all groups: `, seed 2`.
    pub fn rest_among(&self, groups: &[Group]) -> String {
        let varied = |n: &usize| groups.iter().any(|group| group.rest[*n] != self.rest[*n]);
        let varied = (0..REST.len()).filter(varied);
        varied.map(|n| format!(", {} {}", REST[n], self.rest[n])).collect()
    }
}

pub fn groups(results: &Results) -> Vec<Group> {
    distinct(usual(results).map(Group::of))
}

pub fn age(row: &Row) -> u64 {
    row.setting("age").parse().unwrap_or(0)
}

pub fn fill(row: &Row) -> f64 {
    row.setting("fill").parse().unwrap_or(0.0)
}

pub fn fills(results: &Results) -> Vec<f64> {
    let mut fills: Vec<f64> = results.rows.iter().map(fill).collect();
    fills.sort_by(f64::total_cmp);
    fills.dedup();
    fills
}

pub fn last_age(results: &Results) -> u64 {
    results.rows.iter().map(age).max().unwrap_or(0)
}

/// The row of a group at a point.
pub fn at<'a>(
    results: &'a Results,
    group: &Group,
    age_: u64,
    fill_: f64,
    kernel_fn: &str,
) -> Option<&'a Row> {
    usual(results).find(|row| {
        age(row) == age_
            && fill(row) == fill_
            && row.setting("kernel_fn") == kernel_fn
            && Group::of(row) == *group
    })
}

pub fn percent(row: Option<&Row>, metric: &str) -> String {
    number(row.and_then(|row| row.metric(metric)).map(|share| share * 100.0), 1)
}

/// Groups with the ages that are shown: fresh once per policy, then the last.
pub fn lines(results: &Results) -> Vec<(Group, u64, String)> {
    let last = last_age(results);
    let all = groups(results);
    let mut lines: Vec<(Group, u64, String)> = Vec::new();
    for group in all.clone() {
        let rest = group.rest_among(&all);
        let same = |other: &Group| {
            (&other.arch, &other.form, &other.policy, &other.rest)
                == (&group.arch, &group.form, &group.policy, &group.rest)
        };
        if group.policy == "random" {
            lines.push((group, 0, format!("control{rest}")));
            continue;
        }
        if !lines.iter().any(|(other, ..)| same(other)) {
            lines.push((group.clone(), 0, format!("fresh{rest}")));
        }
        if last > 0 {
            let state = format!("day {last}, {}{rest}", group.intensity);
            lines.push((group, last, state));
        }
    }
    lines
}

/// The fill nearest to 1, for which the source has figures.
pub fn about_one(results: &Results) -> f64 {
    let nearest = |a: &f64, b: &f64| (a - 1.0).abs().total_cmp(&(b - 1.0).abs());
    fills(results).into_iter().min_by(nearest).unwrap_or(1.0)
}
