// SPDX-License-Identifier: MIT OR Apache-2.0
//! The lab: builds kernels, boots them under a modelled memory hierarchy, runs
//! experiments, writes tables.

pub mod arch;
pub mod boot;
pub mod cases;
pub mod document;
pub mod dose;
pub mod exec;
pub mod experiment;
pub mod experiments;
pub mod guest;
pub mod initramfs;
pub mod kernel;
pub mod model;
pub mod placement;
pub mod progress;
pub mod results;
pub mod runner;
pub mod selftests;
pub mod settings;
pub mod stress;
pub mod workspace;
