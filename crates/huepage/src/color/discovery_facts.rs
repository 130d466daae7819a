// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a discovery hands on to processes that did not discover.

/// What discovery knows of a cache, and another process needs.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(super) struct DiscoveryFacts {
    /// Associativity, declared or assumed.
    pub ways: u32,
    /// XOR masks between lines that can meet in one set.
    pub masks: Vec<u8>,
    /// Lines that discovery read.
    pub lines: Vec<u8>,
}
