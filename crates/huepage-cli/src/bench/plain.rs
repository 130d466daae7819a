// SPDX-License-Identifier: MIT OR Apache-2.0
//! Memory whose frames the kernel chooses, which needs no colors.

use std::{fs, path::Path};

use anyhow::{Context, bail};
use huepage::{
    mapping::{Mapping, PageKind, page_size},
    units::Bytes,
};

use super::{Placement, Workbench, stir};

/// Serves `default`, `stirred` and, where the kernel grants huge pages, `thp`.
pub struct Plain {
    huge_pages: bool,
    seed: u64,
}

/// Where Linux says whether programs may ask for huge pages.
const THP_SWITCH: &str = "/sys/kernel/mm/transparent_hugepage/enabled";

impl Plain {
    /// Checks whether this kernel grants transparent huge pages.
    pub fn probe(seed: u64) -> Self {
        Self::with_switch(Path::new(THP_SWITCH), seed)
    }

    fn with_switch(switch: &Path, seed: u64) -> Self {
        let huge_pages = fs::read_to_string(switch).is_ok_and(|modes| !modes.contains("[never]"));
        Plain { huge_pages, seed }
    }
}

/// A mapping of which the first `len` bytes were asked for.
pub struct PlainBuffer {
    mapping: Mapping,
    len: usize,
}

impl PlainBuffer {
    /// Its pages, in order.
    pub fn mapping(&self) -> &Mapping {
        &self.mapping
    }
}

impl AsMut<[u8]> for PlainBuffer {
    fn as_mut(&mut self) -> &mut [u8] {
        // SAFETY: `len` bytes lie within the mapping (checked when allocated),
        // which is populated, owned by this value and borrowed mutably here.
        unsafe { std::slice::from_raw_parts_mut(self.mapping.as_ptr(), self.len) }
    }
}

impl Workbench for Plain {
    type Buffer = PlainBuffer;

    fn describe(&self) -> String {
        "kernel's own allocation, colors unknown".to_owned()
    }

    fn offers(&self) -> Vec<Placement> {
        let thp = self.huge_pages.then_some(Placement::Thp);
        [Placement::Default, Placement::Stirred].into_iter().chain(thp).collect()
    }

    fn allocate(
        &mut self,
        placement: Placement,
        bytes: Bytes,
        count: usize,
    ) -> anyhow::Result<Vec<PlainBuffer>> {
        let len = bytes.0 as usize;
        let populated = |whole: Bytes, kind| -> anyhow::Result<Vec<Mapping>> {
            let pages = whole.pages(page_size());
            let all = (0..count).map(|_| Mapping::populated(pages, kind));
            all.collect::<Result<_, _>>().with_context(|| format!("mapping {whole}"))
        };
        let mappings = match placement {
            Placement::Default => {
                populated(Bytes(bytes.0.next_multiple_of(page_size().0)), PageKind::Base)?
            }
            Placement::Stirred => stir::mappings(bytes.pages(page_size()), count, self.seed)?,
            // The kernel gives a huge page only if all of it is mapped.
            Placement::Thp if self.huge_pages => {
                populated(Bytes(bytes.0.next_multiple_of(Bytes::mib(2).0)), PageKind::Huge)?
            }
            Placement::Thp => bail!(
                "transparent huge pages are off: write madvise into {THP_SWITCH}, or leave thp out"
            ),
            colored => bail!("placement {colored} needs the colors of the cache"),
        };
        Ok(mappings.into_iter().map(|mapping| PlainBuffer { mapping, len }).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_writable_over_the_length_asked_for() {
        let mut plain = Plain::probe(1);
        for placement in plain.offers() {
            let buffers = plain.allocate(placement, Bytes(10_000), 2).unwrap();
            assert_eq!(buffers.len(), 2);
            for mut buffer in buffers {
                buffer.as_mut().fill(7);
                assert_eq!(buffer.as_mut().len(), 10_000, "{placement}");
                assert_eq!(buffer.as_mut().as_ptr().addr() % page_size().0 as usize, 0);
            }
        }
    }

    #[test]
    fn colored_placements_are_refused_by_name() {
        let mut plain = Plain::probe(1);
        let error = plain.allocate(Placement::Balanced, Bytes(4096), 1).err().unwrap();
        assert_eq!(error.to_string(), "placement balanced needs the colors of the cache");
    }

    #[test]
    fn huge_pages_are_offered_only_where_the_kernel_grants_them() {
        let dir = tempfile::tempdir().unwrap();
        let switch = dir.path().join("enabled");
        for (text, offered) in [
            ("always [madvise] never\n", true),
            ("[always] madvise never\n", true),
            ("always madvise [never]\n", false),
        ] {
            fs::write(&switch, text).unwrap();
            let mut plain = Plain::with_switch(&switch, 1);
            assert_eq!(plain.offers().contains(&Placement::Thp), offered, "{text}");
            let served = plain.allocate(Placement::Thp, Bytes(4096), 1).is_ok();
            assert_eq!(served, offered, "{text}");
        }
        let absent = Plain::with_switch(&dir.path().join("absent"), 1);
        assert_eq!(absent.offers(), [Placement::Default, Placement::Stirred]);
    }
}
