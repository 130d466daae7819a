// SPDX-License-Identifier: MIT OR Apache-2.0
//! How memory ages: the effect of a day of other programs' work (`lab/guest/age.h`).

use crate::experiment::arguments;

/// A day's work; percentages are of the memory that is free in the morning. At its peak a day
/// uses `pages`, half of `files` and three times `forked`, which together must be well below
/// 100 %.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dose {
    /// As settings and options spell it.
    pub name: &'static str,
    pages: u32,
    rounds: u32,
    keep: u32,
    forked: u32,
    files: u32,
}

/// All of them.
pub const DOSES: [Dose; 3] = [
    Dose { name: "light", pages: 25, rounds: 1, keep: 64, forked: 5, files: 10 },
    Dose { name: "medium", pages: 45, rounds: 1, keep: 32, forked: 8, files: 15 },
    Dose { name: "heavy", pages: 65, rounds: 2, keep: 16, forked: 4, files: 15 },
];

impl Dose {
    /// The one of this name.
    pub fn find(name: &str) -> Option<Self> {
        DOSES.into_iter().find(|dose| dose.name == name)
    }

    /// As arguments of a guest.
    pub fn arguments(&self) -> Vec<(String, String)> {
        let Dose { pages, rounds, keep, forked, files, name: _ } = *self;
        arguments([
            ("pages", pages),
            ("rounds", rounds),
            ("keep", keep),
            ("forked", forked),
            ("files", files),
        ])
    }
}
