// SPDX-License-Identifier: MIT OR Apache-2.0
//! The kernel's own selftests: programs of `tools/testing/selftests`, those that
//! `lab/selftests.list` names, run in a booted kernel one after the other, and
//! compared between kernels.

mod compare;
mod hear;
mod list;
mod run;
mod shell;

pub use compare::{Lost, compare};
pub use hear::{Done, Subtest};
pub use list::{Entry, List, Test};
pub use run::{Boots, Run, run};
