// SPDX-License-Identifier: MIT OR Apache-2.0
//! The record of a palette as a file; its contents are checked when it is read.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use super::{identity::MachineIdentity, inspection::PaletteSummary, segment::SegmentId};
use crate::{
    color::{ColorCount, Evidence, measurement::DiscoveryFacts},
    topology::CacheGeometry,
};

/// First word of a file that holds a record; the number changes with its form.
const MAGIC: &str = "huepage-palette/1";
/// The longest record read: that of 128 colors takes a tenth.
pub(super) const LONGEST: u64 = 1 << 20;
/// More pages than any palette has, discarded ones included.
const MOST_PAGES: u32 = 1 << 20;
/// More pages of one color than any palette has.
const MOST_OF_A_COLOR: usize = 1 << 10;
/// As many as are measured.
const MOST_COLORS: u32 = 128;
const MOST_WAYS: u32 = 1 << 11;
const LINES: u8 = 64;

/// A palette as written down.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Record {
    /// Identifies the numbering of its colors: two palettes of one name give the same
    /// frames the same color numbers. A repair keeps it.
    pub name: String,
    pub machine: MachineIdentity,
    pub geometry: Option<CacheGeometry>,
    pub colors: ColorCount,
    pub known: DiscoveryFacts,
    pub segment: SegmentId,
    pub segment_pages: u32,
    /// What each of its pages holds, together with its index.
    pub stamp: u64,
    /// Pages of each color, by their index in the segment.
    pub pages: Vec<Vec<u32>>,
    pub evidence: Evidence,
    /// Seconds since 1970.
    pub made: u64,
    pub repaired: Option<u64>,
    /// Pages replaced since it was made.
    pub replaced: u32,
}

/// Why a file is no record.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum RecordError {
    #[error("it is not a palette, or one of another version")]
    NotOne,
    #[error("it is damaged: its checksum does not fit")]
    Checksum,
    #[error("it describes no palette: {0}")]
    Senseless(String),
}

impl Record {
    /// A line with a checksum, and JSON.
    pub fn to_bytes(&self) -> Vec<u8> {
        let json = serde_json::to_vec(self).expect("plain data is JSON");
        let mut bytes = format!("{MAGIC} {:016x}\n", checksum(&json)).into_bytes();
        bytes.extend(json);
        bytes
    }

    /// Reads what [`Record::to_bytes`] wrote.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, RecordError> {
        let end = bytes.iter().position(|&b| b == b'\n').ok_or(RecordError::NotOne)?;
        let head = str::from_utf8(&bytes[..end]).map_err(|_| RecordError::NotOne)?;
        let sum = head.strip_prefix(MAGIC).and_then(|rest| rest.strip_prefix(' '));
        let json = &bytes[end + 1..];
        if sum.ok_or(RecordError::NotOne)? != format!("{:016x}", checksum(json)) {
            return Err(RecordError::Checksum);
        }
        let record: Record = serde_json::from_slice(json)
            .map_err(|error| RecordError::Senseless(error.to_string()))?;
        record.check().map_err(RecordError::Senseless)?;
        Ok(record)
    }

    /// Pages of all colors.
    pub fn len(&self) -> usize {
        self.pages.iter().map(Vec::len).sum()
    }

    /// The part of it that users of the library may read.
    pub fn summary(&self, owner: u32) -> PaletteSummary {
        PaletteSummary {
            owner,
            name: self.name.clone(),
            machine: self.machine.clone(),
            colors: self.colors,
            ways: self.known.ways,
            pages: self.pages.iter().map(Vec::len).collect(),
            made: self.made,
            repaired: self.repaired,
            replaced: self.replaced,
            evidence: self.evidence.clone(),
        }
    }

    /// Checks that all figures computed from it stay within bounds, and that no page
    /// has two colors.
    fn check(&self) -> Result<(), String> {
        let (colors, pages) = (self.colors.get(), self.segment_pages);
        if !(2..=MOST_COLORS).contains(&colors) || self.pages.len() != colors as usize {
            return Err(format!("{colors} colors, {} sets", self.pages.len()));
        }
        if !(1..=MOST_WAYS).contains(&self.known.ways) {
            return Err(format!("{} ways", self.known.ways));
        }
        if self.known.masks.iter().chain(&self.known.lines).any(|&line| line >= LINES) {
            return Err("lines beyond a page".into());
        }
        if !(1..=MOST_PAGES).contains(&pages) {
            return Err(format!("a segment of {pages} pages"));
        }
        let mut seen = HashSet::new();
        for set in &self.pages {
            if !(4..=MOST_OF_A_COLOR).contains(&set.len()) {
                return Err(format!("a color of {} pages", set.len()));
            }
            if let Some(page) = set.iter().find(|&&page| page >= pages || !seen.insert(page)) {
                return Err(format!("page {page} of {pages}, or twice"));
            }
        }
        Ok(())
    }
}

/// FNV-1a of 64 bits: finds damage. Owner and mode of the file prevent forgery.
fn checksum(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xCBF2_9CE4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3)
    })
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::{topology::CacheGeometry, units::Bytes};

    pub fn record() -> Record {
        Record {
            name: "00000000000000000000000000000001".into(),
            machine: MachineIdentity::read(),
            geometry: Some(CacheGeometry::from_size(2, Bytes::kib(256), 8, 64).unwrap()),
            colors: ColorCount::new(8).unwrap(),
            known: DiscoveryFacts { ways: 8, masks: vec![0], lines: vec![3, 4] },
            segment: serde_json::from_str("-1").unwrap(),
            segment_pages: 100,
            stamp: 5,
            pages: (0..8).map(|color| (0..10).map(|i| color * 10 + i).collect()).collect(),
            evidence: Evidence::default(),
            made: 1,
            repaired: None,
            replaced: 0,
        }
    }

    #[test]
    fn a_record_reads_as_it_was_written() {
        assert_eq!(Record::from_bytes(&record().to_bytes()), Ok(record()));
    }

    #[test]
    fn every_flipped_bit_is_noticed() {
        let bytes = record().to_bytes();
        for bit in 0..8 * bytes.len() {
            let mut bytes = bytes.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert!(Record::from_bytes(&bytes).is_err(), "bit {bit}");
        }
    }

    #[test]
    fn every_truncation_is_noticed() {
        let bytes = record().to_bytes();
        for len in 0..bytes.len() {
            assert!(Record::from_bytes(&bytes[..len]).is_err(), "{len}");
        }
    }

    #[test]
    fn what_cannot_be_is_refused_though_its_checksum_fits() {
        let change: [fn(&mut Record); 9] = [
            |r| r.pages[3][2] = 100,
            |r| r.pages[3][2] = r.pages[4][2],
            |r| r.pages[7].truncate(3),
            |r| drop(r.pages.pop()),
            |r| r.known.ways = 0,
            |r| r.known.masks = vec![64],
            |r| r.known.lines = vec![255],
            |r| r.segment_pages = u32::MAX,
            |r| r.colors = ColorCount::new(1).unwrap(),
        ];
        for (i, change) in change.into_iter().enumerate() {
            let mut record = record();
            change(&mut record);
            let read = Record::from_bytes(&record.to_bytes());
            assert!(matches!(read, Err(RecordError::Senseless(_))), "{i}: {read:?}");
        }
    }
}
