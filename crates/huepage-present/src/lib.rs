// SPDX-License-Identifier: MIT OR Apache-2.0
//! How the commands of this repository show results.
//!
//! * [`number`]: figures, percentages, sizes and counts as text.
//! * [`paragraph`]: sentences and lists in lines of at most 80 columns.
//! * [`table`]: rows of cells below a head.
//! * [`svg`], [`axis`], [`chart`], [`oklch`]: pictures; [`png`] renders them.
//! * [`options`], [`man`]: reading the options of a command, and man pages about them.
//! * [`escape`]: names chosen by other programs, made safe to show.
//! * [`destination`], [`replace`], [`stdout`]: files and standard output.

pub mod axis;
pub mod chart;
pub mod destination;
pub mod escape;
pub mod man;
pub mod number;
pub mod oklch;
pub mod options;
pub mod paragraph;
pub mod png;
pub mod replace;
pub mod stdout;
pub mod svg;
pub mod table;
