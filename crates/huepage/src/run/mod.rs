// SPDX-License-Identifier: MIT OR Apache-2.0
//! What `huepage run` and the library that it has programs load say to each
//! other: the [`Config`] in the environment, the [`RunReport`] in a file; and which
//! program has which colors ([`Shares`]).

mod config;
mod report;
mod shares;

pub use config::{CONFIG, Config, FOLLOW, Order};
pub use report::{LeftAlone, RunReport, State, Unplaced, Way};
pub use shares::{Holder, ShareError, Shares};
