// SPDX-License-Identifier: MIT OR Apache-2.0
//! Finds rows by their settings.

use super::{Results, Row};

impl Results {
    /// Rows with all of these settings, in order.
    pub fn with<'r, 's>(
        &'r self,
        settings: impl AsRef<[(&'s str, &'s str)]>,
    ) -> impl Iterator<Item = &'r Row> {
        let all = move |row: &&Row| {
            settings.as_ref().iter().all(|(name, value)| row.setting(name) == *value)
        };
        self.rows.iter().filter(all)
    }

    /// The first row with all of these settings.
    pub fn find(&self, settings: &[(&str, &str)]) -> Option<&Row> {
        self.with(settings).next()
    }

    /// The values of a setting, each once, in the order of rows.
    pub fn values(&self, name: &str) -> Vec<String> {
        let rows = self.rows.iter().filter(|row| row.settings.contains_key(name));
        distinct(rows.map(|row| row.setting(name)))
    }

    /// The first value of a setting; empty if there is none.
    pub fn first(&self, name: &str) -> String {
        self.values(name).into_iter().next().unwrap_or_default()
    }
}

/// Each item once, in order.
pub fn distinct<T: PartialEq>(items: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut seen = Vec::new();
    for item in items {
        if !seen.contains(&item) {
            seen.push(item);
        }
    }
    seen
}
