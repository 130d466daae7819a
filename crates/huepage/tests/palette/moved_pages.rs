// SPDX-License-Identifier: MIT OR Apache-2.0
//! Pages whose frames the kernel exchanged.

use huepage::color::{
    ColorOracle,
    palette::{Palette, PaletteState},
};

use crate::{child, is_root, own, ready, record::RecordFile, same, tried};

/// Pages that moved to other frames, as by compaction and swapping: the content stays,
/// the frame is another.
#[test]
fn pages_that_moved_are_noticed_and_replaced_under_the_same_names() {
    let Some((measure, directory)) = ready() else { return };
    if !is_root() {
        return println!("skipped: only root can write to a palette's pages");
    }
    let options = own(directory.path());
    let (file, pages) = child::shared_pages(1024);
    let record = || RecordFile::of(directory.path());
    let mut states = Vec::new();
    // Some of the pages that moved are checked by chance, at the latest after opening
    // the palette several times; a busy neighbor can make all look stale before, and
    // then the palette is made anew.
    let repaired = (0..4).find_map(|_| {
        let mut first = Palette::open(&measure, &options).unwrap();
        // SAFETY: the pages are mapped to the end of the test.
        let classify = || unsafe { first.classify(&pages) }.unwrap();
        let before =
            tried(classify, |told| told.iter().flatten().count() > pages.len() * 995 / 1000);
        drop(first);
        // Every twentieth, or more of the few that a small cache has.
        let kept = record().pages().len();
        let moved = record().move_pages((kept / 21).min(20));
        assert!(moved > 20, "{moved}");
        let noticed = (0..20).find_map(|_| {
            let palette = Palette::open(&measure, &options).unwrap();
            states.push(palette.state().clone());
            (palette.state() != &PaletteState::Found).then_some(palette)
        });
        let palette = noticed.unwrap_or_else(|| panic!("{states:?}"));
        (palette.state() == &PaletteState::Repaired).then_some((palette, before, moved))
    });
    let (mut repaired, before, moved) = repaired.unwrap_or_else(|| panic!("{states:?}"));
    assert!(repaired.summary().replaced as usize > moved / 2, "{:?}", repaired.summary());
    // SAFETY: as above.
    let compare = || same(&before, &unsafe { repaired.classify(&pages) }.unwrap());
    let same = tried(compare, |same| *same > 0.99);
    assert!(same > 0.99, "{same}");
    drop(file);

    // Holes are noticed whatever is looked at.
    let name = repaired.name().to_owned();
    drop(repaired);
    assert!(record().punch((record().pages().len() / 6).min(100)) > 5);
    let again = Palette::open(&measure, &options).unwrap();
    assert_eq!((again.state(), again.name()), (&PaletteState::Repaired, name.as_str()));
    drop(again);

    // All of them: no page is left by which the color numbers could be kept.
    record().move_pages(1);
    let anew = Palette::open(&measure, &options).unwrap();
    assert_eq!(anew.state(), &PaletteState::Made);
    assert_ne!(anew.name(), name);
}
