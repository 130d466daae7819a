// SPDX-License-Identifier: MIT OR Apache-2.0
//! Results as a page of Markdown.

use crate::{
    experiment::Experiment,
    results::{Page, Results},
};

/// The page of one experiment.
pub fn of(experiment: &Experiment, results: &Results, page: &Page) -> String {
    let kernel = &results.kernel;
    let mut text = format!(
        "<!-- SPDX-License-Identifier: MIT OR Apache-2.0 -->\n\
         # {}\n\n{}. Kind: {}. Kernel: Linux {} ({}; {}).\n\nCommand: `{}`\n",
        results.experiment,
        experiment.about,
        results.kind,
        kernel.version,
        kernel.variant,
        kernel.arch,
        results.command,
    );
    text += &failures("##", results);
    text += &tables("##", page);
    text + &format!("\n## What this means\n\n{}\n", experiment.remarks())
}

/// Boots without rows and checks that do not hold, below a heading; nothing if there are none.
pub fn failures(level: &str, results: &Results) -> String {
    let all: String = results.failed.iter().map(|failed| format!("- {failed}\n")).collect();
    if all.is_empty() { all } else { format!("\n{level} What failed\n\n{all}") }
}

/// All tables of a page, each below its heading.
pub fn tables(level: &str, page: &Page) -> String {
    let all = std::iter::once(&page.source).chain(&page.tables);
    all.map(|(heading, table)| format!("\n{level} {heading}\n\n{}", table.markdown())).collect()
}
