// SPDX-License-Identifier: MIT OR Apache-2.0
//! A cache geometry given by hand: `size=2M,ways=16`.

use std::{fmt, str::FromStr};

use super::{CacheGeometry, GeometryError};
use crate::units::{Bytes, ParseBytesError};

/// What `--cache size=2M,ways=16[,line=64][,level=2]` says.
///
/// Reads and prints the same text. `line` is 64 bytes and `level` 2 where they
/// are left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CacheOverride(CacheGeometry);

impl CacheOverride {
    /// The geometry given.
    pub fn geometry(self) -> CacheGeometry {
        self.0
    }
}

impl From<CacheGeometry> for CacheOverride {
    fn from(geometry: CacheGeometry) -> Self {
        CacheOverride(geometry)
    }
}

/// Why a text gives no cache geometry.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseCacheError {
    /// Not `key=value`.
    #[error("'{0}' is no KEY=VALUE: write for example size=2M,ways=16")]
    Syntax(String),
    /// A key that means nothing here.
    #[error("'{0}' is no property of a cache: known are size, ways, line, level")]
    Key(String),
    /// The same key twice.
    #[error("{0} is given twice: leave one out")]
    Twice(&'static str),
    /// Size or ways left out.
    #[error("{0} is missing: write at least size=SIZE,ways=N")]
    Missing(&'static str),
    /// A value that is no whole number, or out of bounds.
    #[error("{key}={value} is out of place: {key} is a whole number from {min} to {max}")]
    Number {
        /// The key.
        key: &'static str,
        /// Its value.
        value: String,
        /// The least valid value.
        min: u32,
        /// The largest valid value.
        max: u32,
    },
    /// A size that cannot be read.
    #[error("size: {0}")]
    Size(ParseBytesError),
    /// Values that cannot be true together.
    #[error("{0}: check the values with the processor's manual")]
    Geometry(GeometryError),
}

impl FromStr for CacheOverride {
    type Err = ParseCacheError;

    fn from_str(text: &str) -> Result<Self, ParseCacheError> {
        let (mut size, mut ways, mut line, mut level) = (None, None, None, None);
        for item in text.split(',') {
            let syntax = || ParseCacheError::Syntax(item.trim().to_owned());
            let (key, value) = item.split_once('=').ok_or_else(syntax)?;
            let value = value.trim();
            match key.trim() {
                "size" => {
                    put("size", &mut size, value.parse::<Bytes>().map_err(ParseCacheError::Size)?)?
                }
                "ways" => put("ways", &mut ways, number("ways", value, 1, 1024)?)?,
                "line" => put("line", &mut line, number("line", value, 16, 1024)?)?,
                "level" => put("level", &mut level, number("level", value, 1, 9)?)?,
                other => return Err(ParseCacheError::Key(other.to_owned())),
            }
        }
        let size = size.ok_or(ParseCacheError::Missing("size"))?;
        let ways = ways.ok_or(ParseCacheError::Missing("ways"))?;
        let level = level.unwrap_or(2) as u8;
        CacheGeometry::from_size(level, size, ways, line.unwrap_or(64))
            .map(CacheOverride)
            .map_err(ParseCacheError::Geometry)
    }
}

fn put<T>(key: &'static str, slot: &mut Option<T>, value: T) -> Result<(), ParseCacheError> {
    if slot.replace(value).is_some() { Err(ParseCacheError::Twice(key)) } else { Ok(()) }
}

fn number(key: &'static str, value: &str, min: u32, max: u32) -> Result<u32, ParseCacheError> {
    match value.parse() {
        Ok(number) if (min..=max).contains(&number) => Ok(number),
        _ => Err(ParseCacheError::Number { key, value: value.to_owned(), min, max }),
    }
}

impl fmt::Display for CacheOverride {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cache = self.0;
        // Exact, where the rounded `1.95 MiB` would not read back.
        let size = match cache.size().0 {
            size if size.is_multiple_of(1 << 20) => format!("{}M", size >> 20),
            size if size.is_multiple_of(1 << 10) => format!("{}k", size >> 10),
            size => size.to_string(),
        };
        write!(f, "size={size},ways={}", cache.ways())?;
        write!(f, ",line={},level={}", cache.line(), cache.level())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_geometry_reads_with_defaults_for_line_and_level() {
        for (text, level, size, ways, line, sets) in [
            ("size=2M,ways=16", 2, Bytes::mib(2), 16, 64, 2048),
            ("ways=20, size=1280k", 2, Bytes::kib(1280), 20, 64, 1024),
            ("size=10M,ways=20,line=128,level=3", 3, Bytes::mib(10), 20, 128, 4096),
        ] {
            let cache = text.parse::<CacheOverride>().unwrap().geometry();
            let found = (cache.level(), cache.size(), cache.ways(), cache.line(), cache.sets());
            assert_eq!(found, (level, size, ways, line, sets), "{text}");
        }
    }

    #[test]
    fn what_is_no_geometry_is_told_with_the_way_out() {
        for (text, message) in [
            ("", "'' is no KEY=VALUE: write for example size=2M,ways=16"),
            ("2M", "'2M' is no KEY=VALUE: write for example size=2M,ways=16"),
            ("size=2M", "ways is missing: write at least size=SIZE,ways=N"),
            ("ways=16", "size is missing: write at least size=SIZE,ways=N"),
            ("sets=4", "'sets' is no property of a cache: known are size, ways, line, level"),
            ("size=2M,size=1M,ways=1", "size is given twice: leave one out"),
            ("size=2M,ways=0", "ways=0 is out of place: ways is a whole number from 1 to 1024"),
            ("size=2M,ways=x", "ways=x is out of place: ways is a whole number from 1 to 1024"),
            (
                "size=2M,ways=16,level=0",
                "level=0 is out of place: level is a whole number from 1 to 9",
            ),
            (
                "size=2M,ways=16,line=48",
                "a line of 48 bytes is no power of two from 16 to 1024: check the values with \
                 the processor's manual",
            ),
            (
                "size=2M,ways=15",
                "2184 sets × 15 ways × 64 B is not 2 MiB: check the values with the \
                 processor's manual",
            ),
            (
                "size=big,ways=16",
                "size: 'big' is no size: write a whole number with an optional unit, such as \
                 4096, 512k, 2M, 16GiB",
            ),
        ] {
            assert_eq!(text.parse::<CacheOverride>().unwrap_err().to_string(), message, "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn a_printed_geometry_reads_back(
            sets in 2u32..100_000, ways in 1u32..64, line in 4u32..8, level in 1u8..5,
        ) {
            let line = 1 << line;
            let size = Bytes(u64::from(sets) * u64::from(ways) * u64::from(line));
            let given = CacheOverride(
                CacheGeometry::declared(level, size, ways, line, sets).unwrap(),
            );
            proptest::prop_assert_eq!(given.to_string().parse(), Ok(given));
        }
    }
}
