// SPDX-License-Identifier: MIT OR Apache-2.0
//! Colors by measurement: which pages evict each other.
//!
//! From the bottom up: [`timing`] reads and times lines; [`prober`] is the basic
//! experiment; [`calibrate`] tells hits from misses; [`lines`] finds which lines can
//! meet; [`tester`] asks yes-or-no questions; [`signature`] tells all colors apart at
//! once; [`discover`] and [`repair`] make one clean set per color; [`fresh`] draws
//! other frames for each attempt; [`assign`] colors pages by the thousand, asking about
//! the colors that [`code`] selects; [`shape`] computes how many pages each step takes;
//! [`discovery_run`] puts these together; [`run_pair`] does it twice and compares;
//! [`canary`] shows what others evict; [`reference`] uses sets that an earlier
//! discovery left, [`standard`] does so on the machine; [`limits`] refuses what would
//! take too much; [`oracle`] is the interface for users of the library.

mod assign;
mod calibrate;
mod canary;
mod code;
mod discover;
mod discovery_run;
mod fresh;
mod hardware;
mod limits;
mod lines;
mod oracle;
mod prober;
#[cfg(feature = "serde")]
mod reference;
mod repair;
mod run_pair;
mod shape;
mod signature;
#[cfg(test)]
mod simulated;
#[cfg(feature = "serde")]
mod standard;
mod tester;
mod timing;
mod ways;

pub use oracle::MeasuredOracle;
#[cfg(feature = "serde")]
pub(super) use standard::Standard;
