// SPDX-License-Identifier: MIT OR Apache-2.0
//! One file per subcommand.

pub mod cases;
pub mod exec;
mod grid;
pub mod kernel;
pub mod man;
pub mod merge;
pub mod report;
pub mod run;
