// SPDX-License-Identifier: MIT OR Apache-2.0
//! The cache that the working sets are measured against.

use std::{fs, path::Path};

use anyhow::Context;
use huepage::{topology::CacheGeometry, units::Bytes};

/// The level-2 cache of a CPU as the kernel declares it.
///
/// # Errors
/// If the kernel declares none, or one that cannot be true.
pub fn level_two(cpu: u32) -> anyhow::Result<CacheGeometry> {
    let dir = format!("/sys/devices/system/cpu/cpu{cpu}/cache");
    level_two_in(Path::new(&dir)).with_context(|| format!("no level-2 cache declared in {dir}"))
}

fn level_two_in(dir: &Path) -> anyhow::Result<CacheGeometry> {
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        let text = |name| fs::read_to_string(path.join(name)).map(|text| text.trim().to_owned());
        let number = |name| -> anyhow::Result<u32> { Ok(text(name)?.parse()?) };
        if text("level").is_ok_and(|level| level == "2") {
            let size: Bytes = text("size")?.parse()?;
            let ways = number("ways_of_associativity")?;
            let line = number("coherency_line_size")?;
            return Ok(CacheGeometry::declared(2, size, ways, line, number("number_of_sets")?)?);
        }
    }
    anyhow::bail!("no entry has level 2")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_declared_level_two_is_found_among_the_others() {
        let dir = tempfile::tempdir().unwrap();
        for (index, level, size) in [("index0", "1", "32K"), ("index2", "2", "1024K")] {
            let path = dir.path().join(index);
            fs::create_dir(&path).unwrap();
            for (name, text) in [
                ("level", level),
                ("size", size),
                ("ways_of_associativity", "16"),
                ("coherency_line_size", "64"),
                ("number_of_sets", "1024"),
            ] {
                fs::write(path.join(name), format!("{text}\n")).unwrap();
            }
        }
        let cache = level_two_in(dir.path()).unwrap();
        assert_eq!((cache.size(), cache.sets()), (Bytes::mib(1), 1024));
        fs::remove_dir_all(dir.path().join("index2")).unwrap();
        assert_eq!(level_two_in(dir.path()).unwrap_err().to_string(), "no entry has level 2");
    }
}
