// SPDX-License-Identifier: MIT OR Apache-2.0
//! `/proc/PID/numa_maps`: how many pages of an area are on which node.

use std::{
    collections::HashMap,
    io::{self, BufRead},
};

/// Reads `numa_maps`: of every area, by its start, how many of its pages are on
/// which node, in units of the area's own page size.
///
/// # Errors
/// What `read` reports.
pub fn numa_maps(mut from: impl BufRead) -> io::Result<HashMap<u64, Vec<(u32, u64)>>> {
    let mut areas = HashMap::new();
    let mut line = Vec::new();
    while from.read_until(b'\n', &mut line)? > 0 {
        let mut words = line
            .trim_ascii()
            .split(|b| *b == b' ')
            .filter_map(|word| std::str::from_utf8(word).ok());
        if let Some(start) = words.next().and_then(|w| u64::from_str_radix(w, 16).ok()) {
            let node = |word: &str| {
                let (node, pages) = word.strip_prefix('N')?.split_once('=')?;
                Some((node.parse().ok()?, pages.parse().ok()?))
            };
            areas.insert(start, words.filter_map(node).collect());
        }
        line.clear();
    }
    Ok(areas)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numa_maps_tell_pages_by_node() {
        let text = b"7f0 default file=/a\\040b N0=x mapped=2 N0=2 N17=5 kernelpagesize_kB=4\n\
            8f0 interleave:0-1 anon=1\n";
        let areas = numa_maps(&text[..]).unwrap();
        assert_eq!(areas[&0x7f0], [(0, 2), (17, 5)]);
        assert_eq!(areas[&0x8f0], []);
    }
}
