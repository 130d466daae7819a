// SPDX-License-Identifier: MIT OR Apache-2.0
//! Finding rows by what was set.

use super::{Results, Row};

impl Results {
    /// Rows with all of these settings, in order.
    pub fn with(&self, settings: &[(&str, &str)]) -> impl Iterator<Item = &Row> {
        self.rows
            .iter()
            .filter(|row| settings.iter().all(|(name, value)| row.setting(name) == *value))
    }

    /// The first row with all of these settings.
    pub fn find(&self, settings: &[(&str, &str)]) -> Option<&Row> {
        self.with(settings).next()
    }

    /// The values of a setting, each once, in the order of rows.
    pub fn values(&self, name: &str) -> Vec<String> {
        let mut values: Vec<String> = Vec::new();
        for row in self.rows.iter().filter(|row| row.settings.contains_key(name)) {
            let value = row.setting(name);
            if !values.contains(&value) {
                values.push(value);
            }
        }
        values
    }
}
