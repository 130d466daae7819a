// SPDX-License-Identifier: MIT OR Apache-2.0
//! A cache as reports show it.

use huepage::{topology::CacheGeometry, units::Bytes};
use serde::Serialize;

/// What reports say of a cache.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct CacheJson {
    pub level: u8,
    pub size: Bytes,
    pub ways: u32,
    pub line: u32,
    pub sets: u32,
}

impl CacheJson {
    /// Whose cache, and which, as the first line of a text.
    pub fn of_cpu(cache: Option<&Self>, cpu: u32) -> String {
        let Some(CacheJson { level, size, ways, line, sets }) = cache else {
            return format!("CPU {cpu}: cache geometry not declared");
        };
        format!("CPU {cpu}: L{level} of {size}, {ways} ways, {sets} sets of {line} B lines")
    }
}

impl From<CacheGeometry> for CacheJson {
    fn from(cache: CacheGeometry) -> Self {
        CacheJson {
            level: cache.level(),
            size: cache.size(),
            ways: cache.ways(),
            line: cache.line(),
            sets: cache.sets(),
        }
    }
}
