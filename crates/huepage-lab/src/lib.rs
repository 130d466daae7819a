// SPDX-License-Identifier: MIT OR Apache-2.0
//! The lab: builds kernels, boots them under a modelled memory hierarchy, runs
//! experiments, writes tables.

pub mod arch;
pub mod kernel;
pub mod model;
pub mod output;
pub mod progress;
pub mod workspace;
