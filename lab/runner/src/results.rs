// SPDX-License-Identifier: MIT OR Apache-2.0
//! Writes results: JSON for programs, a table and a picture for people.

mod boots;
mod plot;
mod query;
mod table;

use std::{fs, path::Path};

use anyhow::{Context, bail};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::workspace::remove;

pub use boots::{Boots, Figures, rounded};
pub use huepage_present::table::Table;
pub use plot::{Axis, Panel, Plot, Series};
pub use query::distinct;
pub use table::{
    Column, cell, change, number, percent, percent_within, table_by, table_of, thousands,
};

/// The version of the format; see docs/lab.md.
pub const SCHEMA: &str = "huepage.lab/1";

/// The results of one experiment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Results {
    /// [`SCHEMA`].
    pub schema: String,
    /// Its name.
    pub experiment: String,
    /// `modelled`: counts are exact counts of real kernels, times are derived
    /// from the model's latencies.
    pub kind: String,
    /// The command that printed this.
    pub command: String,
    /// The kernels that ran.
    pub kernel: Kernel,
    /// The modelled hierarchy; by name if the experiment has several.
    pub model: Value,
    /// One per point of the grid.
    pub rows: Vec<Row>,
    /// Boots that gave no rows, and checks across boots that failed; left out if there
    /// are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<Failed>,
}

/// The presentation of results.
pub struct Page {
    /// The source's figures beside the corresponding ones here: heading and table.
    pub source: (String, Table),
    /// Further tables with their headings.
    pub tables: Vec<(String, Table)>,
    /// The picture.
    pub plot: Plot,
}

/// A boot that gave no rows, or a check that failed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Failed {
    /// The settings of the boot; empty for a check across boots.
    pub settings: Map<String, Value>,
    /// Why, in a line.
    pub reason: String,
}

/// The kernel that ran. Rows that ran another variant or architecture say so.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kernel {
    /// Kernel version with the version of Debian's package.
    pub version: String,
    /// `stock`, `huepage`; several with commas.
    pub variant: String,
    /// `x86_64`, `arm64`; several with commas.
    pub arch: String,
}

/// One point of the grid.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The kernel's variant.
    pub variant: String,
    /// The settings.
    pub settings: Map<String, Value>,
    /// The results.
    pub metrics: Map<String, Value>,
}

impl std::fmt::Display for Failed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.settings.is_empty() {
            true => f.write_str(&self.reason),
            false => write!(f, "{}: {}", words(&self.settings), self.reason),
        }
    }
}

impl Row {
    /// A number among the metrics.
    pub fn metric(&self, name: &str) -> Option<f64> {
        self.metrics.get(name).and_then(Value::as_f64)
    }

    /// A setting as text.
    pub fn setting(&self, name: &str) -> String {
        match self.settings.get(name) {
            None => String::new(),
            Some(Value::String(text)) => text.clone(),
            Some(value) => value.to_string(),
        }
    }
}

impl Results {
    /// Results with these rows, for tests.
    #[cfg(test)]
    pub(crate) fn of(experiment: &str, rows: Vec<Row>) -> Self {
        let kernel =
            Kernel { version: "6.12".into(), variant: "stock".into(), arch: "x86_64".into() };
        Results {
            schema: SCHEMA.into(),
            experiment: experiment.into(),
            kind: "modelled".into(),
            kernel,
            rows,
            ..Results::default()
        }
    }

    /// Writes `EXPERIMENT.json`, `.md` and, if there is a picture, `.svg` into a
    /// folder.
    pub fn write(&self, folder: &Path, table: &str, picture: Option<&str>) -> anyhow::Result<()> {
        fs::create_dir_all(folder).with_context(|| format!("make {}", folder.display()))?;
        let json = serde_json::to_string_pretty(self).context("results as JSON")? + "\n";
        self.write_file(folder, "json", &json)?;
        self.write_shown(folder, table, picture)
    }

    /// Writes `EXPERIMENT.md` and, if there is a picture, `.svg`; otherwise removes an
    /// old one.
    pub fn write_shown(
        &self,
        folder: &Path,
        table: &str,
        picture: Option<&str>,
    ) -> anyhow::Result<()> {
        self.write_file(folder, "md", table)?;
        match picture {
            Some(picture) => self.write_file(folder, "svg", picture),
            // A picture of earlier results would seem to belong to these.
            None => remove(&folder.join(format!("{}.svg", self.experiment))),
        }
    }

    fn write_file(&self, folder: &Path, suffix: &str, text: &str) -> anyhow::Result<()> {
        let path = folder.join(format!("{}.{suffix}", self.experiment));
        fs::write(&path, text).with_context(|| format!("write {}", path.display()))
    }

    /// Reads what [`Results::write`] wrote.
    ///
    /// # Errors
    /// If there is no such file, or it is not JSON of this schema.
    pub fn read(path: &Path) -> anyhow::Result<Self> {
        let text = fs::read_to_string(path).with_context(|| format!("read {}", path.display()))?;
        let results: Results =
            serde_json::from_str(&text).with_context(|| format!("read {}", path.display()))?;
        if results.schema != SCHEMA {
            bail!("{}: schema {}, not {SCHEMA}", path.display(), results.schema);
        }
        Ok(results)
    }
}

/// Settings in a line, as `--set` takes each.
pub fn words(settings: &Map<String, Value>) -> String {
    let words = settings.iter().map(|(name, value)| match value {
        Value::String(text) => format!("{name}={text}"),
        value => format!("{name}={value}"),
    });
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read_back_and_another_schema_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let row = Row {
            variant: "stock".into(),
            settings: [("fill".to_owned(), 0.94.into())].into_iter().collect(),
            metrics: [("conflict_share".to_owned(), 0.1.into())].into_iter().collect(),
        };
        let mut results = Results::of("aging", vec![row]);
        results.write(folder.path(), "table\n", Some("<svg/>")).unwrap();
        let path = folder.path().join("aging.json");
        assert_eq!(Results::read(&path).unwrap(), results);
        assert_eq!(results.rows[0].metric("conflict_share"), Some(0.1));
        assert_eq!(results.rows[0].setting("fill"), "0.94");
        results.schema = "huepage.lab/9".into();
        assert!(folder.path().join("aging.svg").exists());
        results.write(folder.path(), "", None).unwrap();
        assert!(!folder.path().join("aging.svg").exists(), "it is not of these results");
        assert!(Results::read(&path).unwrap_err().to_string().contains("huepage.lab/9"));
    }
}
