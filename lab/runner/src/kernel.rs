// SPDX-License-Identifier: MIT OR Apache-2.0
//! Builds kernels: from Debian's source, our changes and a configuration to an image
//! that boots.
//!
//! [`ensure`] gives the image of a [`Request`] and builds it if any of its inputs
//! changed. Under the lab's directory (`target/lab`):
//!
//! - `source-<id>/`: the source, unpacked once, never written to;
//! - `tree-<id>/`: for the variant `huepage`, the same files (hard links) with the
//!   overlay copied in and the hooks applied;
//! - `objects/<name>-<id>/`: where `make O=` builds. It is named by source and
//!   compiler only, so that a change to one file compiles one file;
//! - `selftests/<arch>-<hash>/`: the kernel's `tools`, where selftests are built;
//! - `kernel/<name>-<hash>/`: a finished image with its `.config`, `System.map` and
//!   log, named by the hash of *all* inputs. It appears complete or not at all.

mod bisect;
mod build;
mod changes;
mod checkpatch;
mod comparison;
pub mod deb;
mod debian_config;
mod export;
pub mod flavour;
mod fragments;
mod hooks;
mod inputs;
mod install;
pub mod ktap;
mod kunit;
mod lock;
mod make;
mod request;
#[cfg(test)]
mod sample;
mod selftests;
mod series;
mod source;
mod symbols;
mod toolchain;
mod tree;

pub use bisect::bisect;
pub use build::{ensure, hash};
pub use changes::Changes;
pub use checkpatch::{Verdict, check};
pub use comparison::{Comparison, compare_unconfigured};
pub use export::export;
pub(crate) use inputs::Hasher;
pub use install::Image;
pub use kunit::run as run_kunit;
pub use request::{Config, Request, Variant};
pub use selftests::Selftests;
pub use source::{Archive, Source};
pub(crate) use symbols::Symbols;
