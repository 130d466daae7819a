// SPDX-License-Identifier: MIT OR Apache-2.0
//! What `huepage run` exchanges with the library that it loads into programs.
//!
//! The library reads its [`Config`] from the environment and writes a [`RunReport`] to
//! a file. [`Shares`] lists which program uses which colors.

mod config;
mod report;
mod shares;

pub use config::{CONFIG, Config, FOLLOW, Order};
pub use report::{LeftAlone, RunReport, State, Unplaced, Way};
pub use shares::{Holder, ShareError, Shares};
