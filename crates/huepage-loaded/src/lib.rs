// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the libraries have in common that `huepage run` has programs load: one
//! thread in a program that knows nothing of it.
//!
//! ```text
//! start   from the loader to the thread; forks; the end
//! heap    memory of the library itself
//! oracle  who tells the colors of frames
//! table   which page has which color, which one is to get which
//! tally   what the report says
//! thread  its pauses, its time, its descriptors
//! numbered  directories of threads and descriptors
//! ```

pub mod heap;
pub mod numbered;
pub mod oracle;
pub mod start;
pub mod table;
pub mod tally;
pub mod thread;
