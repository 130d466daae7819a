// SPDX-License-Identifier: MIT OR Apache-2.0
//! The state of an existing palette, read without using it.

use std::path::PathBuf;

use serde::Serialize;

use super::{identity::MachineIdentity, options::Audience};
use crate::color::{ColorCount, Evidence};

/// A palette, or where it would be.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Inspection {
    /// For whom.
    pub audience: Audience,
    /// Its record, or the directory where it would be; `None` where none is looked
    /// for.
    pub path: Option<PathBuf>,
    /// Whether it can be used.
    pub condition: Condition,
    /// What its record says, if that can be read.
    pub palette: Option<PaletteSummary>,
}

/// Whether a palette can be used now.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Condition {
    /// Its pages were looked at just now and have their colors.
    Verified,
    /// Some of its pages have moved; opening it replaces them.
    Worn,
    /// There is none.
    Absent,
    /// It is not used, and why.
    Unusable(String),
}

/// What a record says.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PaletteSummary {
    /// The user who owns it.
    pub owner: u32,
    /// Names the meaning of its colors: see [`Palette::name`](super::Palette::name).
    pub name: String,
    /// What it was made on.
    pub machine: MachineIdentity,
    /// Its colors.
    pub colors: ColorCount,
    /// Associativity of the cache, declared, or measured where none was.
    pub ways: u32,
    /// Pages of each color.
    pub pages: Vec<usize>,
    /// When it was made, in seconds since 1970.
    pub made: u64,
    /// When pages were last replaced, in seconds since 1970.
    pub repaired: Option<u64>,
    /// Pages that had moved and were replaced since it was made.
    pub replaced: u32,
    /// What was seen when its colors were discovered.
    pub evidence: Evidence,
}
