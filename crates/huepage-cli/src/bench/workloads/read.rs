// SPDX-License-Identifier: MIT OR Apache-2.0
//! Sequential read: bandwidth.

use std::hint::black_box;

use huepage::units::Bytes;

use crate::bench::workload::{Slice, Unit, Workload, time};

/// Sums the first bytes of an allocation up, front to back, again and again.
pub struct Read {
    /// How many bytes.
    pub bytes: Bytes,
}

/// Bytes read in one slice, rounded up to whole passes: enough that the time for
/// reading the clock is negligible, less than a millisecond from any L2.
const VOLUME: usize = 16 << 20;
/// Passes before the first slice.
const WARM: usize = 2;

impl Workload for Read {
    fn name(&self) -> &'static str {
        "read"
    }

    fn unit(&self) -> Unit {
        Unit::GbPerSecond
    }

    fn visit(&self, memory: &mut [u8], slices: usize, each: &mut dyn FnMut(Slice)) {
        let bytes = self.bytes.0 as usize;
        let words: &[u64] = bytemuck::cast_slice(&memory[..bytes]);
        let passes = VOLUME.div_ceil(bytes);
        read(words, WARM);
        for _ in 0..slices {
            each(&mut || {
                let elapsed = time(|| read(words, passes));
                (passes * bytes) as f64 / elapsed.as_secs_f64() / 1e9
            });
        }
    }
}

/// Reads all words `passes` times.
pub fn read(words: &[u64], passes: usize) {
    for _ in 0..passes {
        // Without the black boxes the compiler would merge the passes into one, or
        // none.
        black_box(sum(black_box(words)));
    }
}

/// The sum of all words, with the widest loads this machine has.
fn sum(words: &[u64]) -> u64 {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        #[target_feature(enable = "avx2")]
        fn sum_avx2(words: &[u64]) -> u64 {
            sum_lanes(words)
        }
        // SAFETY: this machine has AVX2, as just checked.
        return unsafe { sum_avx2(words) };
    }
    sum_lanes(words)
}

/// Many independent sums, which the compiler keeps in vector registers.
#[inline(always)]
fn sum_lanes(words: &[u64]) -> u64 {
    const LANES: usize = 32;
    let mut lanes = [0u64; LANES];
    let (chunks, rest) = words.as_chunks::<LANES>();
    for chunk in chunks {
        for (lane, word) in lanes.iter_mut().zip(chunk) {
            *lane = lane.wrapping_add(*word);
        }
    }
    lanes.iter().chain(rest).fold(0, |sum, word| sum.wrapping_add(*word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::workload::assert_figures;

    #[test]
    fn every_word_is_read() {
        for len in [0usize, 1, 31, 32, 33, 1000] {
            let words: Vec<u64> = (0..len as u64).map(|i| i * i + (i << 60)).collect();
            let naive = words.iter().fold(0u64, |sum, w| sum.wrapping_add(*w));
            assert_eq!(sum(&words), naive, "{len}");
            assert_eq!(sum_lanes(&words), naive, "{len}");
        }
    }

    #[test]
    fn the_figure_is_a_positive_number() {
        let mut words = vec![7u64; 4096];
        let read = Read { bytes: Bytes::kib(16) };
        assert_figures(&read, bytemuck::cast_slice_mut(&mut words), 2);
    }
}
