// SPDX-License-Identifier: MIT OR Apache-2.0
//! The shape of one cache, and how many page colors follow from it.

use crate::units::{Bytes, ColorCount};

/// Size, ways, line and sets of a cache, of which each is checked against the
/// others: `size = sets × ways × line`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct CacheGeometry {
    level: u8,
    size: Bytes,
    ways: u32,
    line: u32,
    sets: u32,
}

/// Why a declared geometry cannot be that of a real cache.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GeometryError {
    /// A value of zero: some hypervisors hide values this way.
    #[error("{0} is zero")]
    Zero(&'static str),
    /// The line of every cache in the field is a power of two from 16 to 1024 bytes.
    #[error("a line of {0} bytes is no power of two from 16 to 1024")]
    Line(u32),
    /// Size, ways, line and sets contradict each other.
    #[error("{sets} sets × {ways} ways × {line} B is not {size}")]
    Contradiction {
        /// Declared size.
        size: Bytes,
        /// Declared ways.
        ways: u32,
        /// Declared line in bytes.
        line: u32,
        /// Declared sets.
        sets: u32,
    },
    /// 1 set × 1 way: a placeholder of some hypervisors.
    #[error("1 set of {0} way(s) is a placeholder, not a cache")]
    Placeholder(u32),
}

impl CacheGeometry {
    /// A geometry from all five declared values.
    ///
    /// # Errors
    /// [`GeometryError`] says which values cannot be true together.
    pub fn declared(
        level: u8,
        size: Bytes,
        ways: u32,
        line: u32,
        sets: u32,
    ) -> Result<Self, GeometryError> {
        // First: a placeholder of 64 bytes reads `0K` in sysfs, and the error "size is
        // zero" would hide that it is a placeholder.
        if sets == 1 && ways == 1 {
            return Err(GeometryError::Placeholder(ways));
        }
        let fields = [
            ("size", size.0),
            ("ways", u64::from(ways)),
            ("line", u64::from(line)),
            ("sets", u64::from(sets)),
        ];
        if let Some((name, _)) = fields.iter().find(|(_, value)| *value == 0) {
            return Err(GeometryError::Zero(name));
        }
        if !line.is_power_of_two() || !(16..=1024).contains(&line) {
            return Err(GeometryError::Line(line));
        }
        if u128::from(size.0) != u128::from(sets) * u128::from(ways) * u128::from(line) {
            return Err(GeometryError::Contradiction { size, ways, line, sets });
        }
        Ok(CacheGeometry { level, size, ways, line, sets })
    }

    /// A geometry from size, ways and line; the sets follow.
    ///
    /// # Errors
    /// As [`CacheGeometry::declared`].
    pub fn from_size(level: u8, size: Bytes, ways: u32, line: u32) -> Result<Self, GeometryError> {
        let one_set = u64::from(ways) * u64::from(line);
        let sets = size.0.checked_div(one_set).unwrap_or(0);
        Self::declared(level, size, ways, line, u32::try_from(sets).unwrap_or(u32::MAX))
    }

    /// Level: 1, 2, 3, …
    pub fn level(&self) -> u8 {
        self.level
    }

    /// Capacity.
    pub fn size(&self) -> Bytes {
        self.size
    }

    /// Associativity.
    pub fn ways(&self) -> u32 {
        self.ways
    }

    /// Line length in bytes.
    pub fn line(&self) -> u32 {
        self.line
    }

    /// Number of sets.
    pub fn sets(&self) -> u32 {
        self.sets
    }

    /// Number of page colors: sets × line / page size, at least one. A way
    /// smaller than a page, or not a whole number of pages, gives whole colors
    /// only: the count is rounded down.
    pub fn colors(&self, page_size: Bytes) -> ColorCount {
        let way = u64::from(self.sets) * u64::from(self.line);
        let count = (way / page_size.0).clamp(1, u64::from(u32::MAX)) as u32;
        ColorCount::new(count).expect("clamped to at least one")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: Bytes = Bytes(4096);

    #[test]
    fn colors_follow_from_sets_and_line() {
        for (size, ways, colors) in [
            (Bytes::kib(32), 8, 1),
            (Bytes::kib(256), 8, 8),
            (Bytes::kib(1024), 16, 16),
            (Bytes::kib(1280), 20, 16),
            (Bytes::mib(2), 16, 32),
            (Bytes::kib(2560), 16, 40),
        ] {
            let cache = CacheGeometry::from_size(2, size, ways, 64).unwrap();
            assert_eq!(cache.colors(PAGE).get(), colors, "{size} {ways}");
        }
    }

    #[test]
    fn geometry_that_cannot_be_true_is_rejected_by_name() {
        let declared = |size, ways, line, sets| {
            CacheGeometry::declared(2, Bytes(size), ways, line, sets).unwrap_err().to_string()
        };
        assert_eq!(declared(0, 16, 64, 2048), "size is zero");
        assert_eq!(declared(2 << 20, 0, 64, 2048), "ways is zero");
        assert_eq!(declared(2 << 20, 16, 64, 0), "sets is zero");
        assert_eq!(declared(64, 1, 64, 1), "1 set of 1 way(s) is a placeholder, not a cache");
        assert_eq!(declared(0, 1, 64, 1), "1 set of 1 way(s) is a placeholder, not a cache");
        assert_eq!(
            declared(2 << 20, 16, 48, 2048),
            "a line of 48 bytes is no power of two from 16 to 1024"
        );
        assert_eq!(declared(2 << 20, 16, 64, 1024), "1024 sets × 16 ways × 64 B is not 2 MiB");
    }
}
