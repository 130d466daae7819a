// SPDX-License-Identifier: MIT OR Apache-2.0
//! The kernel's own selftests: programs of `tools/testing/selftests`, those that
//! `lab/selftests.list` names, run in a booted kernel one after the other, and
//! compared between kernels.

mod comparison;
mod console;
mod list;
mod run;
mod shell;

pub use comparison::{Lost, compare};
pub use console::{Done, Subtest};
pub use list::{Entry, List, Test};
pub use run::{Boots, Run, run};
