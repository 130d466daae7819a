// SPDX-License-Identifier: MIT OR Apache-2.0
//! A set of frames that costs little for frames that lie together.

use std::collections::HashMap;

use crate::units::Pfn;

/// Words per leaf: 4096 frames, 16 MiB of memory with pages of 4 KiB.
const WORDS: usize = 64;

/// A bit per frame, in leaves that exist once a frame falls there: at most
/// 32 KiB per GiB of the machine.
#[derive(Debug, Default)]
pub(super) struct FrameSet {
    leaves: HashMap<u64, Box<[u64; WORDS]>>,
}

impl FrameSet {
    /// Adds a frame; false where it was there before.
    pub fn insert(&mut self, frame: Pfn) -> bool {
        let bits = (WORDS * 64) as u64;
        let leaf = self.leaves.entry(frame.0 / bits).or_insert_with(|| Box::new([0; WORDS]));
        let at = (frame.0 % bits) as usize;
        let bit = 1 << (at % 64);
        let word = &mut leaf[at / 64];
        let fresh = *word & bit == 0;
        *word |= bit;
        fresh
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    proptest::proptest! {
        #[test]
        fn it_answers_as_a_set_does(
            frames in proptest::collection::vec(
                proptest::prelude::prop_oneof![0u64..20, 4090u64..4100, proptest::prelude::any::<u64>()],
                0..200,
            ),
        ) {
            let (mut set, mut twin) = (FrameSet::default(), BTreeSet::new());
            for frame in frames {
                proptest::prop_assert_eq!(set.insert(Pfn(frame)), twin.insert(frame));
            }
        }
    }
}
