// SPDX-License-Identifier: MIT OR Apache-2.0
//! Sizes, frame numbers and colors as types of their own, with the spelling users know.

use std::{fmt, num::NonZeroU32, str::FromStr};

/// A number of bytes. Reads `4096`, `512k`, `2M`, `16GiB`; prints binary units.
///
/// As in numactl and lstopo, `k`, `M`, `G`, `T` mean powers of 1024, with or
/// without `B` or `iB` behind them; case does not matter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(transparent))]
pub struct Bytes(pub u64);

impl Bytes {
    /// `n` KiB.
    pub const fn kib(n: u64) -> Self {
        Bytes(n << 10)
    }

    /// `n` MiB.
    pub const fn mib(n: u64) -> Self {
        Bytes(n << 20)
    }

    /// How many whole pages of `page_size` it takes to hold this many bytes.
    pub const fn pages(self, page_size: Bytes) -> usize {
        self.0.div_ceil(page_size.0) as usize
    }
}

/// Why a text is no size.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ParseBytesError {
    /// Not digits followed by a unit.
    #[error(
        "'{0}' is no size: write a whole number with an optional unit, such as 4096, 512k, 2M, 16GiB"
    )]
    Syntax(String),
    /// More than 2^64 - 1 bytes.
    #[error("'{0}' is too large: a size is at most 2^64 - 1 bytes")]
    Overflow(String),
}

impl FromStr for Bytes {
    type Err = ParseBytesError;

    fn from_str(text: &str) -> Result<Self, ParseBytesError> {
        let syntax = || ParseBytesError::Syntax(text.to_owned());
        let overflow = || ParseBytesError::Overflow(text.to_owned());
        let trimmed = text.trim();
        let unit_at = trimmed.find(|c: char| !c.is_ascii_digit()).unwrap_or(trimmed.len());
        let (digits, unit) = trimmed.split_at(unit_at);
        if digits.is_empty() {
            return Err(syntax());
        }
        let number: u64 = digits.parse().map_err(|_| overflow())?;
        let shift = match unit.trim_start().to_ascii_lowercase().as_str() {
            "" | "b" => 0,
            "k" | "kb" | "kib" => 10,
            "m" | "mb" | "mib" => 20,
            "g" | "gb" | "gib" => 30,
            "t" | "tb" | "tib" => 40,
            _ => return Err(syntax()),
        };
        number.checked_mul(1 << shift).map(Bytes).ok_or_else(overflow)
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [(&str, u32); 4] = [("TiB", 40), ("GiB", 30), ("MiB", 20), ("KiB", 10)];
        let text = match UNITS.iter().find(|(_, shift)| self.0 >> shift != 0) {
            None => format!("{} B", self.0),
            Some((unit, shift)) if self.0.is_multiple_of(1 << shift) => {
                format!("{} {unit}", self.0 >> shift)
            }
            Some((unit, shift)) => {
                let value = self.0 as f64 / (1u64 << shift) as f64;
                let short = format!("{value:.2}");
                format!("{} {unit}", short.trim_end_matches('0').trim_end_matches('.'))
            }
        };
        f.pad(&text)
    }
}

/// A physical page frame number as the kernel counts them. In a virtual machine it is
/// the guest's, and does not show the host's frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(transparent))]
pub struct Pfn(pub u64);

/// The color of a page: which group of cache sets its lines fall into.
///
/// Colors found by frame number are numbered as the cache numbers its sets.
/// Colors found by measurement are numbered in order of discovery; two runs
/// give the same classes under other names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(transparent))]
pub struct Color(pub u32);

impl Color {
    /// The color as an index into a table of [`ColorCount`] entries.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for Color {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// How many colors there are: at least one, not always a power of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(transparent))]
pub struct ColorCount(NonZeroU32);

impl ColorCount {
    /// `None` for zero.
    pub fn new(count: u32) -> Option<Self> {
        NonZeroU32::new(count).map(ColorCount)
    }

    /// The number.
    pub fn get(self) -> u32 {
        self.0.get()
    }

    /// All colors, ascending.
    pub fn iter(self) -> impl ExactSizeIterator<Item = Color> + Clone {
        (0..self.get()).map(Color)
    }
}

impl fmt::Display for ColorCount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_read_as_numactl_and_lstopo_write_them() {
        for (text, bytes) in [
            ("0", 0),
            ("4096", 4096),
            ("512k", 512 << 10),
            ("2M", 2 << 20),
            ("2MiB", 2 << 20),
            ("2 MB", 2 << 20),
            ("16GiB", 16 << 30),
            (" 1t ", 1 << 40),
        ] {
            assert_eq!(text.parse(), Ok(Bytes(bytes)), "{text}");
        }
    }

    #[test]
    fn what_is_no_size_is_named() {
        for text in ["", "M", "-1", "1.5M", "2X", "2Mi", "0x10"] {
            assert_eq!(text.parse::<Bytes>(), Err(ParseBytesError::Syntax(text.to_owned())));
        }
        for text in ["16777216T", "18446744073709551616"] {
            assert_eq!(text.parse::<Bytes>(), Err(ParseBytesError::Overflow(text.to_owned())));
        }
    }

    #[test]
    fn sizes_print_in_binary_units() {
        for (bytes, text) in [
            (0, "0 B"),
            (1023, "1023 B"),
            (1024, "1 KiB"),
            (1280 << 10, "1.25 MiB"),
            (2 << 20, "2 MiB"),
            ((1 << 30) + 1, "1 GiB"),
        ] {
            assert_eq!(Bytes(bytes).to_string(), text);
        }
    }

    proptest::proptest! {
        #[test]
        fn a_printed_whole_size_reads_back(n in 0u64..1023, shift in 0u32..5) {
            let bytes = Bytes(n << (10 * shift));
            proptest::prop_assert_eq!(bytes.to_string().parse(), Ok(bytes));
        }
    }
}
