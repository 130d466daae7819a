// SPDX-License-Identifier: MIT OR Apache-2.0
//! Boots real kernels under a modelled memory hierarchy and measures where pages
//! land.

pub mod arch;
pub mod boot;
pub mod document;
pub mod experiment;
pub mod experiments;
pub mod guest;
pub mod initramfs;
pub mod kernel;
pub mod model;
pub mod progress;
pub mod results;
pub mod runner;
pub mod settings;
pub mod workspace;
