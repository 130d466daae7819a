// SPDX-License-Identifier: MIT OR Apache-2.0
//! One cache, from what lab/model/cache.h says.

use huepage_lab::model::Replacement;

pub struct Cache {
    line: u64,
    sets: Vec<Set>,
    replacement: Replacement,
    random: u64,
}

#[derive(Clone)]
struct Set {
    ways: Vec<Option<u64>>,
    /// Ways from the least to the most recently used.
    order: Vec<usize>,
    /// By way, for QLRU.
    ages: Vec<u8>,
    /// By node, the first of which is 1: whether it sends right.
    tree: Vec<bool>,
}

impl Cache {
    pub fn new(size: u64, ways: u32, line: u64, replacement: Replacement, seed: u64) -> Self {
        let set = Set {
            ways: vec![None; ways as usize],
            order: Vec::new(),
            ages: vec![0; ways as usize],
            tree: vec![false; ways as usize],
        };
        let sets = vec![set; (size / (u64::from(ways) * line)) as usize];
        Cache { line, sets, replacement, random: seed }
    }

    /// Whether the line of the address was there; it is afterward.
    pub fn touch(&mut self, address: u64) -> bool {
        let line = address / self.line;
        let set = (line % self.sets.len() as u64) as usize;
        let found = self.sets[set].ways.iter().position(|way| *way == Some(line));
        let empty = self.sets[set].ways.iter().position(Option::is_none);
        let way = found.or(empty).unwrap_or_else(|| self.victim(set));
        let set = &mut self.sets[set];
        set.ways[way] = Some(line);
        set.order.retain(|other| *other != way);
        set.order.push(way);
        set.ages[way] = u8::from(found.is_none());
        let mut node = set.ways.len() + way;
        while node > 1 && self.replacement == Replacement::TreePlru {
            let came_from_left = node.is_multiple_of(2);
            node /= 2;
            set.tree[node] = came_from_left;
        }
        found.is_some()
    }

    fn victim(&mut self, set: usize) -> usize {
        let set = &mut self.sets[set];
        let ways = set.ways.len();
        match self.replacement {
            Replacement::Lru => set.order[0],
            Replacement::Qlru => loop {
                if let Some(oldest) = set.ages.iter().position(|age| *age == 3) {
                    break oldest;
                }
                set.ages.iter_mut().for_each(|age| *age += 1);
            },
            Replacement::TreePlru => {
                let mut node = 1;
                while node < ways {
                    node = 2 * node + usize::from(set.tree[node]);
                }
                node - ways
            }
            Replacement::Random => {
                self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
                let mut x = self.random;
                x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
                x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
                x ^= x >> 31;
                (((x >> 32) * ways as u64) >> 32) as usize
            }
        }
    }

    /// Of the page that the set of the address lies in.
    pub fn color(&self, address: u64) -> u64 {
        address / self.line % self.sets.len() as u64 * self.line / 4096
    }
}
