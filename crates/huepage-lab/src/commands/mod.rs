// SPDX-License-Identifier: MIT OR Apache-2.0
//! One file per subcommand.

pub mod exec;
pub mod kernel;
pub mod report;
pub mod run;
