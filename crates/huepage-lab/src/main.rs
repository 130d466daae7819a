// SPDX-License-Identifier: MIT OR Apache-2.0
//! The command `huepage-lab`: builds kernels, boots them under a modelled
//! memory hierarchy, runs experiments, writes tables.

use huepage_lab as _;

fn main() {}
