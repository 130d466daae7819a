// SPDX-License-Identifier: MIT OR Apache-2.0
//! One file per subcommand.

pub mod bench;
pub mod bugreport;
pub mod cache_options;
pub mod colors;
pub mod completions;
pub mod demo;
pub mod export;
pub mod features;
pub mod man;
pub mod map;
pub mod merged;
pub mod palette;
pub mod pressure;
mod recording;
pub mod run;
pub mod topology;
