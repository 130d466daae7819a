// SPDX-License-Identifier: MIT OR Apache-2.0
//! Seeds from the kernel.
//!
//! The seeds of the standard library and of fastrand use the identity of the thread,
//! which allocates from the C library's heap: that of the program, in a program that is
//! placed.

use rustix::rand::{GetRandomFlags, getrandom};

/// A number that was drawn at random.
pub fn seed() -> u64 {
    let mut bytes = [0; 8];
    // Fails only before the machine has collected randomness, or where a filter
    // forbids the call; then the time is the seed.
    match getrandom(&mut bytes, GetRandomFlags::empty()) {
        Ok(8) => u64::from_ne_bytes(bytes),
        _ => {
            let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
            (now.tv_sec as u64) << 32 ^ now.tv_nsec as u64
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_seeds_differ() {
        assert_ne!(seed(), seed());
    }
}
