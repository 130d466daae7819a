// SPDX-License-Identifier: MIT OR Apache-2.0
//! The classes of pages by which cells of a picture are colored.

use huepage::map::{Cell, Kind, ProcessMap};

use super::text::kind_name;

/// What the cells of a picture show.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum By {
    /// The kind of memory: anonymous, of a file, …
    Kind,
    /// The NUMA node of its frame
    Node,
    /// The color of its frame in the cache (by frame number)
    Color,
    /// The length of the run of adjacent frames that the page is in
    Run,
}

/// A class of pages, and how many there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Its place among all classes of this way of coloring.
    pub class: usize,
    /// Pages.
    pub pages: u64,
}

/// The number of run lengths that are distinguished: runs of 2^12 pages (16 MiB) and
/// longer look alike.
const LONGEST: u32 = 12;

/// The class of pages for which this way of coloring has no information.
pub const UNKNOWN: usize = usize::MAX;

impl By {
    /// The pages of a cell by class, in the order in which they are stacked.
    pub fn parts(self, cell: &Cell, map: &ProcessMap) -> Vec<Part> {
        let part = |class, pages| Part { class, pages };
        let mut parts: Vec<Part> = match self {
            By::Kind => {
                cell.kinds.iter().map(|count| part(count.kind.index(), count.pages)).collect()
            }
            By::Node => {
                let node = |node: u32| map.machine.nodes.iter().position(|&other| other == node);
                let count = |count: &huepage::map::NodeCount| {
                    part(node(count.node).unwrap_or(UNKNOWN), count.pages)
                };
                cell.nodes.iter().map(count).collect()
            }
            By::Color => {
                let counts = cell.colors.iter().enumerate();
                counts.map(|(color, &pages)| part(color, pages.into())).collect()
            }
            By::Run => {
                let class = |from: u64| from.max(1).ilog2().min(LONGEST) as usize;
                cell.runs.iter().map(|run| part(class(run.from), run.pages)).collect()
            }
        };
        parts.retain(|part| part.pages > 0);
        let known: u64 = parts.iter().map(|part| part.pages).sum();
        if known < cell.pages {
            parts.push(part(UNKNOWN, cell.pages - known));
        }
        parts
    }

    /// How many classes there are.
    pub fn classes(self, map: &ProcessMap) -> usize {
        match self {
            By::Kind => Kind::ALL.len(),
            By::Node => map.machine.nodes.len(),
            By::Color => {
                let bands = map.areas.iter().flat_map(|area| &area.cells.cells);
                bands.map(|cell| cell.colors.len()).max().unwrap_or(0)
            }
            By::Run => LONGEST as usize + 1,
        }
    }

    /// The name of a class.
    pub fn label(self, class: usize, map: &ProcessMap) -> String {
        if class == UNKNOWN {
            return match self {
                By::Kind => "unknown",
                By::Node => "of no node",
                By::Color => "of no color",
                By::Run => "in no run",
            }
            .to_owned();
        }
        match self {
            By::Kind => kind_name(Kind::ALL[class]).to_owned(),
            By::Node => format!("node {}", map.machine.nodes[class]),
            By::Color => format!("color {class}"),
            By::Run => {
                let bytes = huepage::units::Bytes(map.machine.page_size.0 << class);
                format!("{bytes}{}", if class > 0 { "+" } else { "" })
            }
        }
    }

    /// The heading of the legend.
    pub fn heading(self) -> &'static str {
        match self {
            By::Kind => "kind of page",
            By::Node => "NUMA node",
            By::Color => "color of the frame",
            By::Run => "length of the run of adjacent frames",
        }
    }

    /// Whether a map has information about it.
    pub fn is_known(self, map: &ProcessMap) -> bool {
        let mut cells = map.areas.iter().flat_map(|area| &area.cells.cells);
        match self {
            By::Kind => true,
            By::Node => cells.any(|cell| !cell.nodes.is_empty()),
            By::Color => cells.any(|cell| !cell.colors.is_empty()),
            By::Run => cells.any(|cell| !cell.runs.is_empty()),
        }
    }
}
