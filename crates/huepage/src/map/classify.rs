// SPDX-License-Identifier: MIT OR Apache-2.0
//! The kind of a page by its entry of the page table.

use super::{Kind, gather::Sources, tally::Page};
use crate::{
    frames::{FrameFlags, PageState},
    proc::{AreaLine, VmFlags},
    units::Bytes,
};

/// The page whose address is `number` page sizes.
pub(super) fn classify(
    number: u64,
    state: PageState,
    flags: Option<FrameFlags>,
    line: &AreaLine,
    sources: &Sources,
) -> Page {
    let base = sources.page_size;
    let kind = kind(state, line, base, flags.filter(|_| state.pfn().is_some()));
    let own = !matches!(kind, Kind::Zero | Kind::Special | Kind::Swapped);
    let frame = state.pfn().filter(|_| own);
    let in_huge = flags.and_then(FrameFlags::huge_pages);
    let huge = match line.page_size {
        Some(size) if kind == Kind::Hugetlb && size > base => Some(size),
        _ => in_huge.map(|pages| Bytes(u64::from(pages) * base.0)),
    };
    Page {
        at: number - line.start / base.0,
        kind,
        huge: huge.filter(|_| own),
        huge_mapped: own && state.scanned_huge(),
        shared: own && !state.exclusive(),
        frame,
        node: match frame {
            Some(frame) => sources.nodes.node_of(frame),
            None => sources.nodes.only().filter(|_| own),
        },
    }
}

/// What is behind a page, by the flags of its frame where they are seen.
fn kind(state: PageState, line: &AreaLine, base: Bytes, flags: Option<FrameFlags>) -> Kind {
    if state.swapped() {
        return Kind::Swapped;
    }
    match flags {
        Some(flags) if flags.zero() => Kind::Zero,
        Some(flags) if flags.hugetlb() => Kind::Hugetlb,
        Some(flags) if flags.no_page() || !flags.mapped() => Kind::Special,
        Some(flags) if flags.ksm() => Kind::Ksm,
        Some(flags) if flags.anonymous() => Kind::Anonymous,
        Some(flags) if flags.swap_backed() => Kind::SharedMemory,
        Some(_) => Kind::File,
        None if state.scanned_zero() => Kind::Zero,
        None if line.page_size.is_some_and(|size| size > base) => Kind::Hugetlb,
        None if line.flags.any(VmFlags::FRAMES_ONLY) => Kind::Special,
        None if state.file_or_shared() => Kind::File,
        None => Kind::Anonymous,
    }
}
