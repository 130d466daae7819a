// SPDX-License-Identifier: MIT OR Apache-2.0
//! A part of the cache for a benchmark: `--cache-share 1/4` makes 512 KiB, the size of
//! an older machine, of 2 MiB, for all placements alike.

use std::{fmt, str::FromStr};

use anyhow::ensure;
use huepage::{mapping::page_size, topology::CacheGeometry, units::Bytes};

/// A fraction of the cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CacheShare {
    parts: u32,
    of: u32,
}

impl FromStr for CacheShare {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("'{text}' is no share of a cache: write for example 1/4");
        let (parts, of) = text.split_once('/').ok_or_else(wrong)?;
        let number = |text: &str| text.trim().parse::<u32>().map_err(|_| wrong());
        let share = CacheShare { parts: number(parts)?, of: number(of)? };
        if share.parts == 0 || share.parts > share.of { Err(wrong()) } else { Ok(share) }
    }
}

impl fmt::Display for CacheShare {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.parts, self.of)
    }
}

impl CacheShare {
    /// The cache that this fraction of the colors makes up.
    ///
    /// # Errors
    /// If that is no whole number of colors, or less than two.
    pub fn of(self, cache: CacheGeometry) -> anyhow::Result<CacheGeometry> {
        let all = cache.colors(page_size()).get();
        let colors = u64::from(all) * u64::from(self.parts);
        ensure!(
            colors.is_multiple_of(u64::from(self.of)) && colors / u64::from(self.of) >= 2,
            "{self} of a cache of {all} colors is no whole number of two or more of them: choose \
             a share such as 1/2"
        );
        let size = cache.size().0 / u64::from(self.of) * u64::from(self.parts);
        Ok(CacheGeometry::from_size(cache.level(), Bytes(size), cache.ways(), cache.line())?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quarter_of_a_new_cache_is_an_old_one() {
        let cache = CacheGeometry::from_size(2, Bytes::mib(2), 16, 64).unwrap();
        let old = "1/4".parse::<CacheShare>().unwrap().of(cache).unwrap();
        assert_eq!(
            (old.size(), old.ways(), old.colors(page_size()).get()),
            (Bytes::kib(512), 16, 8)
        );
        let error = "1/32".parse::<CacheShare>().unwrap().of(cache).unwrap_err().to_string();
        assert!(error.contains("1/32 of a cache of 32 colors"), "{error}");
        assert!("2/3".parse::<CacheShare>().unwrap().of(cache).is_err());
    }

    #[test]
    fn what_is_no_share_is_told() {
        for text in ["", "4", "0/4", "5/4", "1/0", "a/b", "-1/4"] {
            let error = text.parse::<CacheShare>().unwrap_err();
            assert_eq!(error, format!("'{text}' is no share of a cache: write for example 1/4"));
        }
        assert_eq!("3/8".parse::<CacheShare>().unwrap().to_string(), "3/8");
    }
}
