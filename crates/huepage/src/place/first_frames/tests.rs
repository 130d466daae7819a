// SPDX-License-Identifier: MIT OR Apache-2.0
use super::*;
use crate::{
    color::ByRule,
    frames::Pagemap,
    mapping::{Mapping, PageKind},
};

/// Gives colors in turns.
fn in_turns(count: ColorCount) -> impl ColorOracle {
    let mut turns = (0..count.get()).cycle();
    ByRule(count, move |_| turns.next())
}

fn fills(mechanism: Mechanism) {
    let count = ColorCount::new(4).unwrap();
    let mut ahead = match FirstFrames::new(count, Some(mechanism)) {
        Ok(ahead) => ahead,
        Err(why) => return println!("skipped: {why}"),
    };
    assert_eq!(ahead.draw(16, &mut in_turns(count)).unwrap(), 16);
    assert_eq!((ahead.held(), ahead.stock(Color(3))), (16, 4));
    let memory = Mapping::reserve(12, PageKind::Base).unwrap();
    let wish = |index: usize, color| Wish { page: memory.page(index), color: Color(color) };
    // Two parts with a hole between them, and one color more often than it is there.
    let wishes = [wish(0, 1), wish(1, 1), wish(2, 0), wish(5, 1), wish(6, 1), wish(7, 1)];
    // SAFETY: this test's own memory.
    let fates = unsafe { ahead.fill(&wishes) }.unwrap();
    assert_eq!(fates[..5], [Fate::Placed; 5]);
    assert_eq!(fates[5], Fate::Short);
    assert_eq!((ahead.held(), ahead.stock(Color(1))), (11, 0));
    let states = Pagemap::open().unwrap().read(memory.page(0), 12).unwrap();
    let present: Vec<usize> = (0..12).filter(|&index| states[index].present()).collect();
    assert_eq!(present, [0, 1, 2, 5, 6]);
    for page in memory.iter() {
        // SAFETY: as above.
        unsafe {
            assert!((0..4096).all(|at| page.as_ptr().add(at).read() == 0));
            page.as_ptr().write(7);
        }
    }
    ahead.release(Color(0), 9);
    assert_eq!(ahead.stock(Color(0)), 0);
}

#[test]
fn missing_pages_are_filled_with_zeroed_frames_by_userfaultfd() {
    fills(Mechanism::Userfaultfd);
}

#[test]
fn missing_pages_are_filled_with_zeroed_frames_by_mremap() {
    fills(Mechanism::Remap);
}

#[test]
fn pages_that_are_there_keep_their_frames_and_bytes() {
    let count = ColorCount::new(4).unwrap();
    let Ok(mut ahead) = FirstFrames::new(count, Some(Mechanism::Userfaultfd)) else {
        return println!("skipped: no UFFDIO_MOVE");
    };
    ahead.draw(8, &mut in_turns(count)).unwrap();
    let memory = Mapping::reserve(2, PageKind::Base).unwrap();
    // SAFETY: this test's own memory.
    unsafe {
        memory.page(1).as_ptr().write(9);
        let wishes = [0, 1].map(|index| Wish { page: memory.page(index), color: Color(2) });
        assert_eq!(ahead.fill(&wishes).unwrap(), [Fate::Placed, Fate::Busy]);
        assert_eq!(memory.page(1).as_ptr().read(), 9);
    }
    assert_eq!(ahead.stock(Color(2)), 1);
}
