// SPDX-License-Identifier: MIT OR Apache-2.0
//! Finding rows by what was set.

use super::{Results, Row};

impl Results {
    /// Rows with all of these settings, in order.
    pub fn with<'a>(&'a self, settings: &'a [(&str, &str)]) -> impl Iterator<Item = &'a Row> {
        self.rows
            .iter()
            .filter(|row| settings.iter().all(|(name, value)| row.setting(name) == *value))
    }

    /// The first row with all of these settings.
    pub fn find(&self, settings: &[(&str, &str)]) -> Option<&Row> {
        self.rows
            .iter()
            .find(|row| settings.iter().all(|(name, value)| row.setting(name) == *value))
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
