// SPDX-License-Identifier: MIT OR Apache-2.0
//! Fresh and aged boots of the same point, side by side.

use huepage::units::Bytes;

use crate::results::{Results, Row};

/// Fresh and aged boots of the same point, one per number of readers.
pub(super) struct Pair<'a> {
    pub readers: f64,
    pub fresh: &'a Row,
    pub aged: &'a Row,
}

impl Pair<'_> {
    /// The share that aged memory loses of fresh memory's throughput.
    pub fn loss(&self) -> f64 {
        1.0 - self.aged.metric("modelled_mbs").unwrap_or(f64::NAN)
            / self.fresh.metric("modelled_mbs").unwrap_or(f64::NAN)
    }

    /// The share that is lost where requests are all that takes time.
    pub fn loss_by_requests(&self) -> f64 {
        1.0 - self.fresh.metric("requests_per_gib").unwrap_or(f64::NAN)
            / self.aged.metric("requests_per_gib").unwrap_or(f64::NAN)
    }
}

/// Architecture, file system, memory, policy: of each there is a table.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Group {
    pub arch: String,
    pub fs: String,
    pub memory: String,
    /// Empty in results from before there were policies.
    pub policy: String,
}

impl Group {
    fn of(row: &Row) -> Self {
        Group {
            arch: row.setting("arch"),
            fs: row.setting("fs"),
            memory: row.setting("memory"),
            policy: row.setting("policy"),
        }
    }

    /// In the order of the results.
    pub fn all(results: &Results) -> Vec<Group> {
        let mut groups: Vec<Group> = Vec::new();
        for group in results.rows.iter().map(Group::of) {
            if !groups.contains(&group) {
                groups.push(group);
            }
        }
        groups
    }

    pub fn name(&self) -> String {
        match self.policy.as_str() {
            "" | "stock" => self.machine(),
            policy => format!("{}, {policy}", self.machine()),
        }
    }

    /// The name without the policy.
    pub fn machine(&self) -> String {
        let memory = self.memory.parse::<Bytes>().map_or(self.memory.clone(), |m| m.to_string());
        format!("{}, {memory}, {}", self.fs, self.arch)
    }

    /// The stock kernel's group, if this is another's.
    pub fn stock(&self) -> Option<Group> {
        let colored = !["", "stock"].contains(&self.policy.as_str());
        colored.then(|| Group { policy: "stock".into(), ..self.clone() })
    }

    /// Of the first boot where a point has several; the oldest against the youngest.
    pub fn pairs<'a>(&self, results: &'a Results, mode: &str) -> Vec<Pair<'a>> {
        let rows: Vec<&Row> = results
            .rows
            .iter()
            .filter(|row| Group::of(row) == *self && row.setting("mode") == mode)
            .filter(|row| row.setting("repeat") == "1")
            .collect();
        let number = |row: &Row, name: &str| row.setting(name).parse::<f64>().unwrap_or(f64::NAN);
        let mut readers: Vec<f64> = rows.iter().map(|row| number(row, "readers")).collect();
        readers.sort_by(f64::total_cmp);
        readers.dedup();
        let pair = |readers: f64| {
            let same = rows.iter().copied().filter(|row| number(row, "readers") == readers);
            let by_age = |a: &&Row, b: &&Row| number(a, "age").total_cmp(&number(b, "age"));
            let fresh = same.clone().min_by(by_age).filter(|row| number(row, "age") == 0.0)?;
            let aged = same.max_by(by_age).filter(|row| number(row, "age") > 0.0)?;
            Some(Pair { readers, fresh, aged })
        };
        readers.into_iter().filter_map(pair).collect()
    }
}
