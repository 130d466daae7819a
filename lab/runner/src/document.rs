// SPDX-License-Identifier: MIT OR Apache-2.0
//! Results as a page of Markdown.

use crate::{experiment::Experiment, results::Results};

/// The page of one experiment.
pub fn of(experiment: &dyn Experiment, results: &Results) -> String {
    let kernel = &results.kernel;
    let mut page = format!(
        "<!-- SPDX-License-Identifier: MIT OR Apache-2.0 -->\n\
         # {}\n\n{}. Kind: {}. Kernel: Linux {} ({}; {}).\n\nCommand: `{}`\n",
        results.experiment,
        experiment.about(),
        results.kind,
        kernel.version,
        kernel.variant,
        kernel.arch,
        results.command,
    );
    if !results.failed.is_empty() {
        page += "\n## What failed\n\n";
        for failed in &results.failed {
            page += &format!("- {failed}\n");
        }
    }
    let source = experiment.against_source(results);
    for (heading, table) in std::iter::once(source).chain(experiment.tables(results)) {
        page += &format!("\n## {heading}\n\n{}", table.markdown());
    }
    page += &format!("\n## What this means\n\n{}\n", experiment.remarks().trim());
    page
}
