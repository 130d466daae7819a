// SPDX-License-Identifier: MIT OR Apache-2.0
//! One file per workload.

mod chase;
mod fft;
mod matmul;
mod read;
mod repeat;

pub use chase::PointerChase;
pub use fft::Fft;
pub use matmul::Matmul;
pub use read::Read;
pub use repeat::Repeat;
