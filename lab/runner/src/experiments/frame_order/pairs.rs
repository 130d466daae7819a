// SPDX-License-Identifier: MIT OR Apache-2.0
//! Fresh and aged boots of the same point, side by side.

use huepage::units::Bytes;

use crate::results::{Boots, Results, Row, distinct};

/// Fresh and aged boots of the same point, of one number of readers.
pub(super) struct Pair<'a> {
    pub readers: f64,
    pub fresh: Boots<'a>,
    pub aged: Boots<'a>,
}

impl Pair<'_> {
    /// The share that aged memory loses of fresh memory's throughput.
    pub fn loss(&self) -> f64 {
        loss(&self.aged, &self.fresh)
    }

    /// The share that is lost if only requests take time.
    pub fn loss_by_requests(&self) -> f64 {
        1.0 - mean(&self.fresh, "requests_per_gib") / mean(&self.aged, "requests_per_gib")
    }
}

fn mean(boots: &Boots<'_>, name: &str) -> f64 {
    boots.mean(name).unwrap_or(f64::NAN)
}

/// The share of throughput that `those` lose compared with `others`.
pub(super) fn loss(those: &Boots<'_>, others: &Boots<'_>) -> f64 {
    1.0 - mean(those, "modelled_mbs") / mean(others, "modelled_mbs")
}

/// A machine with the time of its disks, and the policy for the order of frames.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Group {
    pub arch: String,
    pub fs: String,
    pub memory: String,
    pub read_ahead: String,
    pub segments: String,
    pub policy: String,
}

impl Group {
    fn of(row: &Row) -> Self {
        let [arch, fs, memory, read_ahead, segments, policy] =
            ["arch", "fs", "memory", "read_ahead", "segments", "policy"].map(|n| row.setting(n));
        Group { arch, fs, memory, read_ahead, segments, policy }
    }

    /// In the order of the results.
    pub fn all(results: &Results) -> Vec<Group> {
        distinct(results.rows.iter().map(Group::of))
    }

    pub fn name(&self) -> String {
        format!("{}, {}", self.machine(), self.policy)
    }

    /// The name without the policy.
    pub fn machine(&self) -> String {
        let size = |text: &str| text.parse::<Bytes>().map_or(text.to_owned(), |b| b.to_string());
        format!(
            "{}, {}, {}, {} read ahead, {} segments",
            self.arch,
            self.fs,
            size(&self.memory),
            size(&self.read_ahead),
            self.segments
        )
    }

    /// The same machine with another order of frames.
    pub fn with_policy(&self, policy: &str) -> Group {
        Group { policy: policy.into(), ..self.clone() }
    }

    /// Reads through the page cache, and those of another group with as many readers.
    pub fn beside<'a>(&self, other: &Group, results: &'a Results) -> Vec<(Pair<'a>, Pair<'a>)> {
        let mut others = other.pairs(results, "cached");
        let beside = |pair: Pair<'a>| {
            let at = others.iter().position(|other| other.readers == pair.readers)?;
            Some((pair, others.swap_remove(at)))
        };
        self.pairs(results, "cached").into_iter().filter_map(beside).collect()
    }

    /// One for each number of readers: boots without aging, and the boots aged most.
    pub fn pairs<'a>(&self, results: &'a Results, mode: &str) -> Vec<Pair<'a>> {
        let rows: Vec<&Row> = results
            .rows
            .iter()
            .filter(|row| Group::of(row) == *self && row.setting("mode") == mode)
            .collect();
        let number = |row: &Row, name: &str| row.setting(name).parse::<f64>().unwrap_or(f64::NAN);
        let mut readers: Vec<f64> = rows.iter().map(|row| number(row, "readers")).collect();
        readers.sort_by(f64::total_cmp);
        readers.dedup();
        let oldest = rows.iter().map(|row| number(row, "age")).fold(0.0, f64::max);
        let pair = |readers: f64| {
            let boots = |age: f64| {
                let those = rows
                    .iter()
                    .copied()
                    .filter(|row| number(row, "readers") == readers && number(row, "age") == age);
                Boots::of(those)
            };
            let (fresh, aged) = (boots(0.0), boots(oldest));
            let both = oldest > 0.0 && !fresh.is_empty() && !aged.is_empty();
            both.then_some(Pair { readers, fresh, aged })
        };
        readers.into_iter().filter_map(pair).collect()
    }
}
