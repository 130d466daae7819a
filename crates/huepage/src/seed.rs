// SPDX-License-Identifier: MIT OR Apache-2.0
//! Seeds from the kernel.
//!
//! The standard library's and fastrand's own ask for the identity of the thread, which
//! takes memory from the C library's heap: that of the program, where one is placed.

use rustix::rand::{GetRandomFlags, getrandom};

/// A number that was drawn at random.
pub fn seed() -> u64 {
    let mut bytes = [0; 8];
    // Fails for no one but who asks before the machine has collected randomness, or
    // without the right to ask; then the time has to do.
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
