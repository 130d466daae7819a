// SPDX-License-Identifier: MIT OR Apache-2.0
//! The settings for a program, in one variable of its environment.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::{color::Color, topology::CacheGeometry};

/// The variable that holds the configuration ([`Config::encode`]).
pub const CONFIG: &str = "HUEPAGE_RUN";

/// Which color a page gets, of those that may be used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// In every window of addresses as large as the part of the cache that may
    /// be used, all colors equally often.
    #[default]
    Balanced,
    /// Pages get the colors in turn, in the order in which they are found.
    Sequence,
}

/// How a program is to be placed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Config {
    /// The process that `huepage run` became; other processes are its descendants.
    pub first: u32,
    /// Whether programs that it executes, and children that it forks, are
    /// placed too.
    pub follow: bool,
    /// The cache to color.
    pub geometry: CacheGeometry,
    /// The directory of the user's own palette.
    pub palettes: PathBuf,
    /// Whether colors come from frame numbers, as opposed to measurement.
    pub by_frame_number: bool,
    /// Why this method is used, as a sentence for people.
    pub reason: String,
    /// Which color a page gets.
    pub order: Order,
    /// The colors that may be used; `None` for all.
    pub colors: Option<Vec<Color>>,
    /// Whether only memory of the C library's `brk` heap is placed.
    pub heap_only: bool,
    /// Whether huge pages are taken apart and placed too.
    #[serde(default)]
    pub split_huge: bool,
    /// CPU time that placing may take, as a share of the time that passes.
    pub budget: f64,
    /// Milliseconds that a program runs before the placer looks at it.
    pub delay: u32,
    /// Where the report goes.
    pub report: Option<PathBuf>,
    /// Whether a summary is printed when the program exits.
    pub verbose: bool,
    /// For tests: exchange all pages over and over.
    #[serde(default)]
    pub restless: bool,
    /// For tests: move pages as where there is no userfaultfd.
    #[serde(default)]
    pub remap: bool,
}

/// The first byte of the text where descendants are placed too.
pub const FOLLOW: u8 = b'+';

impl Config {
    /// The value of the variable: first whether descendants are placed too, readable
    /// without a parser, then JSON.
    pub fn encode(&self) -> String {
        let json = serde_json::to_string(self).expect("numbers and strings are JSON");
        format!("{}{json}", if self.follow { '+' } else { '-' })
    }

    /// Reads the text of [`Config::encode`]; `None` for anything else.
    pub fn decode(text: &[u8]) -> Option<Self> {
        serde_json::from_slice(text.strip_prefix(b"+").or(text.strip_prefix(b"-"))?).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Bytes;

    #[test]
    fn what_is_encoded_is_decoded() {
        let mut config = Config {
            first: 7,
            follow: true,
            geometry: CacheGeometry::from_size(2, Bytes::mib(2), 16, 64).unwrap(),
            palettes: "/run/user/7".into(),
            by_frame_number: false,
            reason: "a \"reason\"".into(),
            order: Order::Sequence,
            colors: Some(vec![Color(3)]),
            heap_only: false,
            split_huge: true,
            budget: 0.01,
            delay: 20,
            report: None,
            verbose: true,
            restless: false,
            remap: false,
        };
        assert_eq!(Config::decode(config.encode().as_bytes()), Some(config.clone()));
        assert_eq!(config.encode().as_bytes()[0], FOLLOW);
        config.follow = false;
        assert_ne!(config.encode().as_bytes()[0], FOLLOW);
        assert_eq!(Config::decode(config.encode().as_bytes()), Some(config));
        assert_eq!(Config::decode(b"+{}"), None);
        assert_eq!(Config::decode(b""), None);
    }
}
