// SPDX-License-Identifier: MIT OR Apache-2.0
//! Memory as the kernel deals it out: what needs no colors.

use std::{collections::VecDeque, fs, path::Path};

use anyhow::{Context, bail};
use huepage::{
    mapping::{Mapping, PageKind, page_size},
    units::Bytes,
};

use super::{Buffer, Placement, Workbench};

/// Serves `default` and, where the kernel grants huge pages, `thp`.
pub struct Plain {
    huge_pages: bool,
    /// The kernel hands out the pages it got back last. Memory of past samples
    /// is therefore kept for a while, or every "fresh" allocation would land on
    /// the same frames and show no spread.
    kept: VecDeque<Mapping>,
    kept_bytes: u64,
}

/// How much memory of past samples is kept from the kernel.
const KEPT: Bytes = Bytes::mib(256);

/// Where Linux says whether programs may ask for huge pages.
const THP_SWITCH: &str = "/sys/kernel/mm/transparent_hugepage/enabled";

impl Plain {
    /// Looks whether this kernel grants transparent huge pages.
    pub fn probe() -> Self {
        Self::with_switch(Path::new(THP_SWITCH))
    }

    fn with_switch(switch: &Path) -> Self {
        let huge_pages = fs::read_to_string(switch).is_ok_and(|modes| !modes.contains("[never]"));
        Plain { huge_pages, kept: VecDeque::new(), kept_bytes: 0 }
    }
}

/// A mapping of which the first `len` bytes were asked for.
pub struct PlainBuffer {
    mapping: Mapping,
    len: usize,
}

impl Buffer for PlainBuffer {
    fn bytes_mut(&mut self) -> &mut [u8] {
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
        std::iter::once(Placement::Default).chain(thp).collect()
    }

    fn allocate(&mut self, placement: Placement, bytes: Bytes) -> anyhow::Result<PlainBuffer> {
        // The kernel gives a huge page only where all of it is mapped.
        let (kind, granule) = match placement {
            Placement::Default => (PageKind::Base, page_size()),
            Placement::Thp if self.huge_pages => (PageKind::Huge, Bytes::mib(2)),
            Placement::Thp => bail!(
                "transparent huge pages are off: write madvise into {THP_SWITCH}, or leave thp out"
            ),
            colored => bail!("placement {colored} needs the colors of the cache"),
        };
        let whole = Bytes(bytes.0.next_multiple_of(granule.0));
        let mapping = Mapping::populated(whole.pages(page_size()), kind)
            .with_context(|| format!("mapping {whole} for a sample"))?;
        Ok(PlainBuffer { mapping, len: bytes.0 as usize })
    }

    fn give_back(&mut self, buffer: PlainBuffer) -> anyhow::Result<()> {
        self.kept_bytes += buffer.mapping.len() as u64;
        self.kept.push_back(buffer.mapping);
        while self.kept_bytes > KEPT.0 {
            let Some(oldest) = self.kept.pop_front() else { break };
            self.kept_bytes -= oldest.len() as u64;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_writable_over_the_length_asked_for() {
        let mut plain = Plain::probe();
        for placement in plain.offers() {
            let mut buffer = plain.allocate(placement, Bytes(10_000)).unwrap();
            buffer.bytes_mut().fill(7);
            assert_eq!(buffer.bytes_mut().len(), 10_000, "{placement}");
            assert_eq!(buffer.bytes_mut().as_ptr().addr() % page_size().0 as usize, 0);
        }
    }

    #[test]
    fn colored_placements_are_refused_by_name() {
        let mut plain = Plain::probe();
        let error = plain.allocate(Placement::Balanced, Bytes(4096)).err().unwrap();
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
            let mut plain = Plain::with_switch(&switch);
            assert_eq!(plain.offers().contains(&Placement::Thp), offered, "{text}");
            assert_eq!(plain.allocate(Placement::Thp, Bytes(4096)).is_ok(), offered, "{text}");
        }
        let absent = Plain::with_switch(&dir.path().join("absent"));
        assert_eq!(absent.offers(), [Placement::Default]);
    }

    #[test]
    fn memory_of_past_samples_is_kept_up_to_a_limit() {
        let mut plain = Plain::probe();
        for _ in 0..40 {
            let buffer = plain.allocate(Placement::Default, Bytes::mib(8)).unwrap();
            plain.give_back(buffer).unwrap();
        }
        assert_eq!((plain.kept.len(), plain.kept_bytes), (32, KEPT.0));
    }
}
