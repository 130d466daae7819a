// SPDX-License-Identifier: MIT OR Apache-2.0
//! The calls of `huepage.h`, where they are documented.
//!
//! Every call that can fail returns a [`Code`] and keeps a message for its thread.
//! None lets a panic through.

mod abi;
mod calls;
mod failure;
mod handle;
