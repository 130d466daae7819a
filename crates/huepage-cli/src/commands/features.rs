// SPDX-License-Identifier: MIT OR Apache-2.0
//! `huepage features`: which features need which kernel, and which work here.

use std::{fs, path::Path, process::ExitCode};

use huepage::{
    color::CAN_MEASURE,
    frames::{PageFlags, Pagemap, Populated},
    place::Mechanism,
};
use serde::Serialize;

use huepage_present::paragraph::wrap;

use super::run::backend;

/// Show which features need which kernel, and which work here
///
/// Each feature is tried on this machine with the rights of this user, whatever the
/// version of the kernel is.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  huepage features
  sudo huepage features --json

Exit codes: 0 done, even if features are missing; 1 failed, 2 usage")]
pub struct Options {
    /// Print JSON (schema huepage.features/1)
    #[arg(long)]
    json: bool,
}

/// What `--json` prints.
#[derive(Debug, Serialize)]
pub struct FeaturesReport {
    schema: &'static str,
    /// The running one.
    kernel: String,
    features: Vec<Row>,
}

/// Whether a feature works here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "here", content = "why", rename_all = "kebab-case")]
pub enum Here {
    Yes,
    /// What is missing, and what would give it.
    No(String),
}

/// A feature, and whether it works here.
#[derive(Debug, Serialize)]
struct Row {
    feature: &'static str,
    /// The first kernel that has it, or what else it needs.
    needs: &'static str,
    #[serde(flatten)]
    here: Here,
    /// What huepage does with it.
    gives: &'static str,
}

/// All features, tried.
fn rows() -> Vec<Row> {
    let row = |feature, needs, here, gives| Row { feature, needs, here, gives };
    let page_flags = here(
        PageFlags::open().map_err(|why| format!("/proc/kpageflags: {why}; needs CAP_SYS_ADMIN")),
    );
    let mut found = [Populated::default()];
    let scanned = Pagemap::open().and_then(|pagemap| pagemap.scan(0..0, &mut found));
    let no_sizes = "no sizes in /sys/kernel/mm/transparent_hugepage";
    let mthp = entry("/sys/kernel/mm/transparent_hugepage", "hugepages-", "enabled", no_sizes);
    let no_side_cache = "none is described by the firmware (HMAT)";
    let side_cache = entry("/sys/devices/system/node", "node", "memory_side_cache", no_side_cache);
    let color_sets = path("/proc/self/page_colors", "page_color");
    let zero_pages = path("/sys/kernel/mm/zero_pages", "zero_pages");
    let merge_distance = path("/sys/kernel/mm/ksm/merge_distance", "KSM");
    vec![
        row("measured-colors", "x86-64", timing(), "colors by timing, also in guests"),
        row(
            "frame-numbers",
            "2.6.25",
            frame_numbers(),
            "map --by run; on bare metal colors by frame number",
        ),
        row("page-flags", "2.6.25", page_flags, "kinds of pages in the map"),
        row("side-cache", "5.2", side_cache, "memory-side caches in the topology"),
        row("pagemap-scan", "6.7", here(scanned), "maps of large processes in less time"),
        row(
            "uffdio-move",
            "6.8",
            here(Mechanism::userfaultfd()),
            "moving pages without new mappings",
        ),
        row("live-placement", "6.8", here(backend::may_place()), "huepage run, of all memory"),
        row("mthp", "6.8", mthp, "huge pages smaller than 2 MiB in the map"),
        row("kernel-coloring", "patches", here(backend::kernel_colors()), "run --backend kernel"),
        row("color-sets", "patches", color_sets, "parts of the cache for cgroups"),
        row("zero-pages", "patches", zero_pages, "zero pages of several colors"),
        row(
            "merge-distance",
            "patches",
            merge_distance,
            "pages merged among near nodes; domains in merged",
        ),
    ]
}

/// Works here if it could be used.
fn here<T, E: std::fmt::Display>(result: Result<T, E>) -> Here {
    match result {
        Ok(_) => Here::Yes,
        Err(why) => Here::No(format!("{why:#}")),
    }
}

/// A file that a kernel with some patches has.
fn path(path: &str, patches: &str) -> Here {
    match Path::new(path).exists() {
        true => Here::Yes,
        false => Here::No(format!("needs a kernel with the {patches} patches")),
    }
}

/// An entry of a directory whose name begins so, and that has `inside`.
fn entry(directory: &str, prefix: &str, inside: &str, otherwise: &str) -> Here {
    let mut entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let found = entries.any(|entry| {
        let name = entry.file_name();
        name.to_string_lossy().starts_with(prefix) && entry.path().join(inside).exists()
    });
    if found { Here::Yes } else { Here::No(otherwise.to_owned()) }
}

fn timing() -> Here {
    if CAN_MEASURE {
        Here::Yes
    } else {
        Here::No("timing is for x86-64; frame numbers: --colors-by frame-number".to_owned())
    }
}

fn frame_numbers() -> Here {
    match Pagemap::open().and_then(|pagemap| pagemap.frame_numbers_visible()) {
        Ok(true) => Here::Yes,
        Ok(false) => Here::No("hidden: needs CAP_SYS_ADMIN".to_owned()),
        Err(why) => Here::No(why.to_string()),
    }
}

impl FeaturesReport {
    /// Of this machine and user.
    pub fn here() -> Self {
        let kernel = rustix::system::uname().release().to_string_lossy().into_owned();
        FeaturesReport { schema: "huepage.features/1", kernel, features: rows() }
    }
}

/// Runs the command.
///
/// # Errors
/// If standard output cannot be written.
pub fn run(options: &Options) -> anyhow::Result<ExitCode> {
    super::print_report(&FeaturesReport::here(), options.json, text)?;
    Ok(ExitCode::SUCCESS)
}

fn text(report: &FeaturesReport) -> String {
    let mut text = format!("{:<18} {:<10} here: Linux {}\n", "feature", "needs", report.kernel);
    for Row { feature, needs, here, .. } in &report.features {
        let found = match here {
            Here::Yes => "yes".to_owned(),
            Here::No(why) => format!("no: {why}"),
        };
        // Broken as if it stood alone, since breaking joins blanks.
        let indent = " ".repeat(30);
        let found = wrap(&format!("{indent}{found}"), &indent);
        text += &format!("{feature:<18} {needs:<10} {}", found.trim_start());
    }
    text
}
