// SPDX-License-Identifier: MIT OR Apache-2.0
//! A modelled machine to discover on: any geometry, replacement, index, noise;
//! the same seed gives the same samples. What discovery finds can be compared
//! with the truth, which no virtual machine shows.

use std::time::Duration;

use super::{
    calibrate::Gauge,
    lines::Masks,
    prober::{HELD_READS, LINES_PER_PAGE, PageId, Pattern, Prober, Sample},
    shape::Shape,
    tester::Tester,
};

/// Which line a full set gives up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Replacement {
    Lru,
    /// Tree pseudo-LRU; associativity rounded up to a power of two in the tree.
    TreePlru,
    Random,
    /// Two-bit ages as in Intel's caches: a new line enters at age 1, a hit
    /// makes it 0, the first line of age 3 goes; if there is none, all age.
    Qlru,
}

/// What to model.
#[derive(Clone, Debug)]
pub(super) struct CacheModel {
    pub size: usize,
    pub ways: usize,
    pub replacement: Replacement,
    /// Index bits within a page that are mixed with a hash of the frame.
    pub mixed_lines: u8,
    /// Whether the set of a line is a hash of its whole address, so that pages
    /// have no colors.
    pub index_by_hash: bool,
    /// Whether a line that misses brings its neighbor in a pair of lines along.
    pub pair_prefetch: bool,
    /// Ticks of one line from L1, from the cache, from beyond.
    pub latency: (u32, u32, u32),
    /// Standard deviation of a sample, in ticks.
    pub jitter: f64,
    /// The counter's step.
    pub step: u32,
    /// One sample in so many is an interrupt; 0 for none.
    pub interrupts: u32,
    /// One batch in so many meets a neighbor that empties the cache; 0 for none.
    pub intrusions: u32,
    /// Lines that a neighbor on the same core reads while lines are held; a tenth
    /// of them where they are timed at once.
    pub neighbor_reads: u32,
    /// The neighbor rests once in so many times that lines are held; 0: never.
    pub neighbor_rests: u32,
    /// The neighbor reads only the first so many colors; `None`: all.
    pub neighbor_colors: Option<u32>,
    /// Frames are drawn from so many; their order is random.
    pub frames: u64,
}

impl CacheModel {
    pub fn new(size: usize, ways: usize) -> Self {
        CacheModel {
            size,
            ways,
            replacement: Replacement::Lru,
            mixed_lines: 0,
            pair_prefetch: false,
            index_by_hash: false,
            latency: (5, 20, 70),
            jitter: 4.0,
            step: 2,
            interrupts: 2000,
            intrusions: 0,
            neighbor_reads: 0,
            neighbor_rests: 0,
            neighbor_colors: None,
            frames: 1 << 22,
        }
    }

    pub fn sets(&self) -> usize {
        self.size / self.ways / 64
    }

    pub fn colors(&self) -> u32 {
        (self.sets() / usize::from(LINES_PER_PAGE)) as u32
    }
}

/// A set-associative cache of line numbers.
#[derive(Clone, Debug)]
struct Cache {
    ways: usize,
    replacement: Replacement,
    /// `sets × ways` lines; 0 is empty.
    lines: Vec<u64>,
    /// Per line: last use (LRU) or age (QLRU).
    state: Vec<u32>,
    /// Per set: bits of the tree (PLRU).
    tree: Vec<u64>,
    clock: u32,
}

impl Cache {
    fn new(sets: usize, ways: usize, replacement: Replacement) -> Self {
        Cache {
            ways,
            replacement,
            lines: vec![0; sets * ways],
            state: vec![0; sets * ways],
            tree: vec![0; sets],
            clock: 0,
        }
    }

    /// Reads `line` (never 0) in `set`; whether it was there.
    fn read(&mut self, set: usize, line: u64, rng: &mut fastrand::Rng) -> bool {
        let range = set * self.ways..(set + 1) * self.ways;
        self.clock += 1;
        let present = self.lines[range.clone()].iter().position(|&l| l == line);
        let way = present.unwrap_or_else(|| self.victim(set, rng));
        let at = range.start + way;
        self.lines[at] = line;
        self.state[at] = match self.replacement {
            Replacement::Qlru => u32::from(present.is_none()),
            _ => self.clock,
        };
        self.point_away(set, way);
        present.is_some()
    }

    fn victim(&mut self, set: usize, rng: &mut fastrand::Rng) -> usize {
        let range = set * self.ways..(set + 1) * self.ways;
        if let Some(empty) = self.lines[range.clone()].iter().position(|&l| l == 0) {
            return empty;
        }
        let state = &mut self.state[range];
        match self.replacement {
            Replacement::Lru => (0..state.len()).min_by_key(|&way| state[way]).unwrap_or(0),
            Replacement::Random => rng.usize(0..state.len()),
            Replacement::Qlru => loop {
                if let Some(way) = state.iter().position(|&age| age >= 3) {
                    break way;
                }
                state.iter_mut().for_each(|age| *age += 1);
            },
            Replacement::TreePlru => {
                let leaves = self.ways.next_power_of_two();
                let (mut node, mut way) = (1, 0);
                while node < leaves {
                    let right = self.tree[set] >> node & 1;
                    node = 2 * node + right as usize;
                    way = node;
                }
                (way - leaves).min(self.ways - 1)
            }
        }
    }

    /// Turns the tree's pointers on the way to `way` to the other side.
    fn point_away(&mut self, set: usize, way: usize) {
        let mut node = self.ways.next_power_of_two() + way;
        while node > 1 {
            let parent = node / 2;
            self.tree[set] &= !(1 << parent);
            self.tree[set] |= u64::from(node.is_multiple_of(2)) << parent;
            node = parent;
        }
    }
}

/// Pages on a modelled machine.
#[derive(Clone, Debug)]
pub(super) struct Simulated {
    pub machine: CacheModel,
    frames: Vec<u64>,
    l1: Cache,
    cache: Cache,
    rng: fastrand::Rng,
}

impl Simulated {
    /// `pages` pages on distinct random frames.
    pub fn new(machine: CacheModel, pages: usize, seed: u64) -> Self {
        let mut rng = fastrand::Rng::with_seed(seed);
        let mut frames = std::collections::BTreeSet::new();
        while frames.len() < pages {
            frames.insert(rng.u64(1..machine.frames));
        }
        let mut frames: Vec<u64> = frames.into_iter().collect();
        rng.shuffle(&mut frames);
        let cache = Cache::new(machine.sets(), machine.ways, machine.replacement);
        Simulated { frames, l1: Cache::new(64, 12, Replacement::Lru), cache, machine, rng }
    }

    /// A machine with `pages` pages, a set of the first `per_color` pages of each true
    /// color, and the pages in no set.
    pub fn sorted(
        machine: CacheModel,
        pages: usize,
        per_color: usize,
        seed: u64,
    ) -> (Self, Vec<Vec<PageId>>, Vec<PageId>) {
        let prober = Simulated::new(machine, pages, seed);
        let mut sets = vec![Vec::new(); prober.machine.colors() as usize];
        let mut others = Vec::new();
        for page in (0..pages as u32).map(PageId) {
            let set: &mut Vec<PageId> = &mut sets[prober.color(page) as usize];
            if set.len() < per_color { set.push(page) } else { others.push(page) }
        }
        (prober, sets, others)
    }

    /// Asks this machine, plainly indexed, at three lines of its pages.
    pub fn tester(self, shape: Shape, seed: u64) -> Tester<Self> {
        let pages: Vec<PageId> = (0..self.frames.len() as u32).map(PageId).collect();
        let (gauge, masks) = (Gauge::new(&pages, shape), Masks::generated_by([]));
        Tester::new(self, gauge, &masks, &[3, 17, 40], fastrand::Rng::with_seed(seed))
    }

    /// The true color.
    pub fn color(&self, page: PageId) -> u32 {
        (self.frames[page.index()] % u64::from(self.machine.colors())) as u32
    }

    /// Reads a line; its latency.
    fn read(&mut self, page: PageId, line: u8) -> u32 {
        let (l1, near, far) = self.machine.latency;
        let address = self.address(page, line);
        if self.l1.read(usize::from(line), address, &mut self.rng) {
            return l1;
        }
        if self.read_cache(page, line) {
            return near;
        }
        if self.machine.pair_prefetch {
            self.read_cache(page, line ^ 1);
        }
        far
    }

    fn address(&self, page: PageId, line: u8) -> u64 {
        self.frames[page.index()] * u64::from(LINES_PER_PAGE) + u64::from(line)
    }

    /// Whether the line was in the cache.
    fn read_cache(&mut self, page: PageId, line: u8) -> bool {
        let address = self.address(page, line);
        let frame = self.frames[page.index()];
        // A hash of the whole frame number (a multiplication by 2^64/φ).
        let hash = (frame.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 58) as u8;
        let line = line ^ (hash & self.machine.mixed_lines);
        if self.machine.index_by_hash {
            let hash = address.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
            let set = hash as usize % self.machine.sets();
            return self.cache.read(set, address, &mut self.rng);
        }
        let set = self.color(page) as usize * usize::from(LINES_PER_PAGE) + usize::from(line);
        self.cache.read(set, address, &mut self.rng)
    }

    /// Reads the target lines of each target `times` times.
    fn cache_targets(&mut self, targets: &[PageId], pattern: &Pattern, times: u32) {
        for _ in 0..times {
            for &target in targets {
                for line in pattern.target.iter() {
                    self.read(target, line);
                }
            }
        }
    }

    /// Times the target lines of each target.
    fn time<'a>(
        &mut self,
        targets: impl IntoIterator<Item = &'a PageId>,
        pattern: &Pattern,
        out: &mut Vec<Sample>,
    ) {
        for &target in targets {
            let draw = self.rng.u32(0..u64::BITS);
            self.read(target, pattern.warm.draw(draw));
            let mut ticks = 40.0;
            for line in pattern.target.iter() {
                ticks += f64::from(self.read(target, line));
            }
            ticks += self.normal() * self.machine.jitter;
            let step = self.machine.step;
            let phase = self.rng.u32(0..step);
            let counted = (ticks.max(0.0) as u32 + phase) / step * step;
            let interrupted = self.one_in(self.machine.interrupts);
            out.push((!interrupted).then_some(counted));
        }
    }

    /// Another thread of the same core reads a line of a color that it uses.
    fn read_as_neighbor(&mut self) {
        let colors = u64::from(self.machine.neighbor_colors.unwrap_or(self.machine.colors()));
        let color = self.rng.u64(0..colors);
        let line = self.rng.u64(0..u64::from(LINES_PER_PAGE));
        let set = (color * u64::from(LINES_PER_PAGE) + line) as usize;
        // Above all frames of ours.
        let address = (self.machine.frames + self.rng.u64(1..1 << 40)) * u64::from(LINES_PER_PAGE);
        self.cache.read(set, address + line, &mut self.rng);
    }

    /// A draw from a normal distribution of mean 0 and deviation 1: the sum of
    /// twelve even ones (Irwin-Hall).
    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.rng.f64()).sum::<f64>() - 6.0
    }

    fn one_in(&mut self, odds: u32) -> bool {
        odds > 0 && self.rng.u32(0..odds) == 0
    }
}

impl Prober for Simulated {
    fn probe(
        &mut self,
        targets: &[PageId],
        set: &[PageId],
        pattern: &Pattern,
        passes: u32,
        out: &mut Vec<Sample>,
    ) {
        out.clear();
        self.cache_targets(targets, pattern, 2);
        for _ in 0..passes {
            for &line in &pattern.set {
                for &page in set {
                    self.read(page, line);
                }
            }
        }
        if self.one_in(self.machine.intrusions) {
            self.cache.lines.fill(0);
            self.l1.lines.fill(0);
        }
        self.time(targets, pattern, out);
    }

    fn hold(
        &mut self,
        targets: &[PageId],
        pattern: &Pattern,
        wait: Duration,
        out: &mut Vec<Sample>,
    ) -> Duration {
        out.clear();
        self.cache_targets(targets, pattern, HELD_READS);
        let part = if wait.is_zero() { 10 } else { 1 };
        if !self.one_in(self.machine.neighbor_rests) {
            for _ in 0..self.machine.neighbor_reads / part {
                self.read_as_neighbor();
            }
        }
        self.time(targets.iter().rev(), pattern, out);
        out.reverse();
        wait
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a set holds after reads, told by an independent naive LRU list.
    #[test]
    fn the_lru_cache_agrees_with_a_list() {
        let mut rng = fastrand::Rng::with_seed(3);
        let mut cache = Cache::new(4, 3, Replacement::Lru);
        let mut lists: Vec<Vec<u64>> = vec![Vec::new(); 4];
        for _ in 0..10_000 {
            let line = rng.u64(1..40);
            let set = (line % 4) as usize;
            let list = &mut lists[set];
            let expected = list.iter().position(|&l| l == line);
            if let Some(at) = expected {
                list.remove(at);
            }
            list.insert(0, line);
            list.truncate(3);
            assert_eq!(cache.read(set, line, &mut rng), expected.is_some());
        }
    }

    #[test]
    fn every_replacement_keeps_a_set_that_fits_and_loses_one_that_does_not() {
        for replacement in
            [Replacement::Lru, Replacement::TreePlru, Replacement::Random, Replacement::Qlru]
        {
            let mut rng = fastrand::Rng::with_seed(4);
            let mut cache = Cache::new(1, 8, replacement);
            let mut misses = |lines: u64| {
                let mut count = 0;
                for round in 0..200 {
                    for line in 1..=lines {
                        count += u32::from(!cache.read(0, line, &mut rng) && round > 100);
                    }
                }
                count
            };
            assert_eq!(misses(8), 0, "{replacement:?}");
            assert!(misses(16) > 400, "{replacement:?}");
        }
    }
}
