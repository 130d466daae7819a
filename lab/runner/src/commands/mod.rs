// SPDX-License-Identifier: MIT OR Apache-2.0
//! One file per subcommand.

use thiserror::Error;

pub mod cases;
pub mod exec;
mod grid;
pub mod kernel;
pub mod man;
pub mod merge;
pub mod report;
pub mod run;

/// Options or settings that make no sense: exit code 2.
#[derive(Debug, Error)]
#[error("{0:#}")]
pub struct Usage(pub anyhow::Error);
