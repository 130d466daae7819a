// SPDX-License-Identifier: MIT OR Apache-2.0
//! Redirects the calls of mprotect in mimalloc to this library: see `arena`.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-link-arg=-Wl,--wrap=mprotect");
}
