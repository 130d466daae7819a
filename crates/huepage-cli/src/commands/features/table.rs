// SPDX-License-Identifier: MIT OR Apache-2.0
//! The features, each with the first kernel that has it.

use serde::Serialize;

use super::probe::{self, Here};

/// A feature, and whether it is here.
#[derive(Debug, Serialize)]
pub struct Row {
    pub feature: &'static str,
    /// The first kernel that has it, or what else it needs.
    pub needs: &'static str,
    #[serde(flatten)]
    pub here: Here,
    /// What huepage does with it.
    pub gives: &'static str,
}

/// All of them, tried.
pub fn rows() -> Vec<Row> {
    let row =
        |feature, needs, probe: fn() -> Here, gives| Row { feature, needs, here: probe(), gives };
    vec![
        row("measured-colors", "x86-64", probe::timing, "colors by timing, also in guests"),
        row(
            "frame-numbers",
            "2.6.25",
            probe::frame_numbers,
            "colors by frame number; map --by run",
        ),
        row("page-flags", "2.6.25", probe::page_flags, "kinds of pages in the map"),
        row("side-cache", "5.2", probe::side_cache, "memory-side caches in the topology"),
        row("pagemap-scan", "6.7", probe::pagemap_scan, "maps of large processes in less time"),
        row("uffdio-move", "6.8", probe::uffdio_move, "moving pages without new mappings"),
        row("live-placement", "6.8", probe::live_placement, "huepage run, of all memory"),
        row("mthp", "6.8", probe::mthp, "huge pages smaller than 2 MiB in the map"),
        row("kernel-coloring", "patches", probe::kernel_coloring, "run --backend kernel"),
        row("color-sets", "patches", probe::color_sets, "parts of the cache for cgroups"),
        row("zero-pages", "patches", probe::zero_pages, "zero pages of several colors"),
        row(
            "merge-distance",
            "patches",
            probe::merge_distance,
            "pages merged among near nodes; domains in merged",
        ),
    ]
}
