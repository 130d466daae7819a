// SPDX-License-Identifier: MIT OR Apache-2.0
//! Counts of the pages of a program that were placed, and of those that were not.

use serde::{Deserialize, Serialize};

use crate::{color::Method, units::Bytes};

/// What the placer is doing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// The program has just begun.
    #[default]
    Waiting,
    /// Colors are being found.
    Discovering,
    /// Pages are placed as they come.
    Placing,
    /// Nothing is placed any more; the report says why.
    Stopped,
    /// The program has ended.
    Ended,
}

/// Pages that are not placed, by reason, as seen last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftAlone {
    /// In huge pages.
    pub huge: u64,
    /// Shared with a child, or deduplicated, or the page of zeros.
    pub shared: u64,
    /// In swap.
    pub swapped: u64,
    /// Held in place when they were to be exchanged: pinned, locked, or just
    /// being discarded.
    pub busy: u64,
    /// In mappings that the kernel does not let exchange: locked in memory, or
    /// registered with the program's own userfaultfd.
    pub refused: u64,
    /// Used by the kernel when a thread ends, or by locks that it knows of.
    pub kernel_data: u64,
}

/// How pages are placed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Way {
    /// Frames of pages that the program uses are exchanged.
    #[default]
    Live,
    /// Memory of malloc gets its frames before the program gets it.
    Heap,
}

impl Way {
    /// The file of the library that places this way, without its folder.
    pub fn library(self) -> &'static str {
        match self {
            Way::Live => "libhuepage_preload.so",
            Way::Heap => "libhuepage_heap.so",
        }
    }

    /// The way of placing of the library in a file of this path, if it is such a
    /// library.
    #[cfg(feature = "map")]
    pub(crate) fn of_library(path: &[u8]) -> Option<Self> {
        let name = path.rsplit(|byte| *byte == b'/').next()?;
        [Way::Live, Way::Heap].into_iter().find(|way| way.library().as_bytes() == name)
    }
}

/// Pages that malloc gave to the program unplaced, in frames that the kernel chose, in
/// all, by reason ([`Way::Heap`]).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unplaced {
    /// Given before the program had enough memory to be worth placing.
    pub early: u64,
    /// Asked for in pieces larger than twice the cache.
    pub large: u64,
    /// The placer was not ready, or had stopped.
    pub late: u64,
    /// The placer had used up its CPU time.
    pub over_budget: u64,
    /// Too many placed pages had not been touched by then.
    pub untouched: u64,
    /// There was no frame of the color in stock.
    pub short: u64,
    /// The kernel refused, for instance since the memory is locked.
    pub refused: u64,
}

/// The report of one process (schema huepage.run/1).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunReport {
    /// `huepage.run/1`.
    pub schema: String,
    /// `measured`.
    pub kind: String,
    /// The process.
    pub pid: u32,
    /// The command line's first word, as the process was called.
    pub program: String,
    /// What the placer is doing.
    pub state: State,
    /// How pages are placed.
    #[serde(default)]
    pub way: Way,
    /// Why nothing is placed any more.
    pub stopped: Option<String>,
    /// How colors are found; `None` before any was.
    pub method: Option<Method>,
    /// Why this method is used, as a sentence for people.
    pub reason: String,
    /// How many colors there are.
    pub colors: Option<u32>,
    /// The colors that are used, as a list.
    pub used: Option<String>,
    /// Pages that could be placed, as seen last.
    pub pages_seen: u64,
    /// Of these, pages that are placed.
    pub pages_placed: u64,
    /// Pages that are left alone.
    pub left_alone: LeftAlone,
    /// What malloc gave unplaced.
    #[serde(default)]
    pub unplaced: Unplaced,
    /// Pages that were placed and looked at again.
    pub verified: u64,
    /// Of these, pages that had the color noted.
    pub verified_in_place: u64,
    /// Old frames of the program that were classified after their first exchange.
    pub old_frames_told: u64,
    /// Of these, how many the cache could not hold although it had room for them.
    pub imbalance_before: u64,
    /// The same of the frames that they have now.
    pub imbalance_after: u64,
    /// Pages that got another frame.
    pub moves: u64,
    /// Frames taken from the kernel and classified.
    pub frames_drawn: u64,
    /// Pages placed that had another color, or frame, when they were looked at
    /// again.
    pub drifted: u64,
    /// CPU time of the placer.
    pub cpu_seconds: f64,
    /// CPU time of these that it took to find the colors.
    pub discovery_seconds: f64,
    /// Since the program began.
    pub elapsed_seconds: f64,
    /// Memory of the placer.
    pub memory: Bytes,
}
