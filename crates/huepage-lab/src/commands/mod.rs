// SPDX-License-Identifier: MIT OR Apache-2.0
//! The subcommands, one to a file.

pub mod report;
pub mod run;
