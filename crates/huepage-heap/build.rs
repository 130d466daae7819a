// SPDX-License-Identifier: MIT OR Apache-2.0
//! Has the calls of mprotect in mimalloc pass through this library: see `arena`.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-link-arg=-Wl,--wrap=mprotect");
}
