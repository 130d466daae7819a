// SPDX-License-Identifier: MIT OR Apache-2.0
//! Cache-blocked matrix multiplication whose tile fills the L2.

use std::{cell::Cell, hint::black_box, ops::Range};

use huepage::units::Bytes;

use crate::bench::workload::{Slice, Unit, Workload, time};

/// C = A × B for square matrices of doubles, by the scheme of K. Goto and R. van de
/// Geijn ("Anatomy of High-Performance Matrix Multiplication", 2008): a block of A is
/// packed and stays in the L2 while all of B streams past it.
///
/// Both packed tiles and all three matrices are in the memory given.
pub struct Matmul {
    n: usize,
    block_rows: usize,
    visits: Cell<usize>,
}

/// Rows and columns of C that one micro-kernel keeps in registers.
const MR: usize = 6;
const NR: usize = 8;

/// Depth of a block: a sliver of B (DEPTH × NR doubles, 16 KiB) fits any L1.
const DEPTH: usize = 256;

/// Operations of one slice: most of a millisecond.
const OPERATIONS: f64 = 2e7;

/// Each part starts on a page of its own.
const PAGE_WORDS: usize = 4096 / size_of::<f64>();

impl Matmul {
    /// For `n` × `n` matrices on a machine with an L2 of `cache` bytes. The packed
    /// block of A takes 7/8 of it: the rest is for the data that streams past.
    pub fn new(n: usize, cache: Bytes) -> Self {
        let rows = cache.0 as usize / 8 * 7 / (DEPTH * size_of::<f64>());
        let block_rows = (rows / MR * MR).clamp(MR, n.next_multiple_of(MR));
        Matmul { n, block_rows, visits: Cell::default() }
    }

    /// The memory it needs.
    pub fn footprint(&self) -> Bytes {
        let words = 3 * self.matrix_words() + self.tile_a_words() + self.tile_b_words();
        Bytes((words * size_of::<f64>()) as u64)
    }

    fn matrix_words(&self) -> usize {
        (self.n * self.n).next_multiple_of(PAGE_WORDS)
    }

    fn tile_a_words(&self) -> usize {
        (self.block_rows * DEPTH).next_multiple_of(PAGE_WORDS)
    }

    fn tile_b_words(&self) -> usize {
        (self.n.next_multiple_of(NR) * DEPTH).next_multiple_of(PAGE_WORDS)
    }

    fn parts<'a>(&self, memory: &'a mut [u8]) -> Parts<'a> {
        let words: &mut [f64] = bytemuck::cast_slice_mut(memory);
        let (a, rest) = words.split_at_mut(self.matrix_words());
        let (b, rest) = rest.split_at_mut(self.matrix_words());
        let (c, rest) = rest.split_at_mut(self.matrix_words());
        let (tile_a, rest) = rest.split_at_mut(self.tile_a_words());
        let square = self.n * self.n;
        Parts {
            a: &mut a[..square],
            b: &mut b[..square],
            c: &mut c[..square],
            tile_a,
            tile_b: &mut rest[..self.tile_b_words()],
        }
    }

    /// The blocks of A, in the order in which the whole product takes them.
    fn blocks(&self) -> impl Iterator<Item = Block> + '_ {
        let n = self.n;
        (0..n).step_by(DEPTH).flat_map(move |k| {
            (0..n).step_by(self.block_rows).map(move |i| Block {
                i,
                rows: self.block_rows.min(n - i),
                k,
                depth: DEPTH.min(n - k),
            })
        })
    }

    /// Packs a block of A, and the rows of B that it meets.
    fn pack(&self, parts: &mut Parts<'_>, block: Block) {
        let Block { i, rows, k, depth } = block;
        pack_b(parts.b, self.n, k, depth, parts.tile_b);
        pack_a(parts.a, self.n, i, rows, k, depth, parts.tile_a);
    }

    /// Multiplies the packed block with some slivers of packed B, and adds to C.
    fn panel(&self, parts: &mut Parts<'_>, block: Block, slivers: Range<usize>) {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            #[target_feature(enable = "avx2,fma")]
            fn panel_fma(
                matmul: &Matmul,
                parts: &mut Parts<'_>,
                block: Block,
                slivers: Range<usize>,
            ) {
                matmul.panel_with(parts, block, slivers, |a, b, sum| a.mul_add(b, sum));
            }
            // SAFETY: this machine has AVX2 and FMA, as just checked.
            return unsafe { panel_fma(self, parts, block, slivers) };
        }
        self.panel_with(parts, block, slivers, |a, b, sum| a * b + sum);
    }

    #[inline(always)]
    fn panel_with(
        &self,
        parts: &mut Parts<'_>,
        block: Block,
        slivers: Range<usize>,
        fma: impl Fn(f64, f64, f64) -> f64 + Copy,
    ) {
        let (n, Block { i, rows, depth, .. }) = (self.n, block);
        let tile_b = parts.tile_b.chunks_exact(depth * NR).enumerate();
        for (j, sliver_b) in tile_b.skip(slivers.start).take(slivers.len()) {
            let j = j * NR;
            for (r, sliver_a) in (0..rows).step_by(MR).zip(parts.tile_a.chunks_exact(depth * MR)) {
                let sums = micro_kernel(sliver_a, sliver_b, fma);
                let (height, width) = (MR.min(rows - r), NR.min(n - j));
                add_to(&mut parts.c[(i + r) * n + j..], n, &sums, height, width);
            }
        }
    }
}

/// A block of A: `rows` rows from `i`, `depth` columns from `k`.
#[derive(Clone, Copy, Debug)]
struct Block {
    i: usize,
    rows: usize,
    k: usize,
    depth: usize,
}

struct Parts<'a> {
    a: &'a mut [f64],
    b: &'a mut [f64],
    c: &'a mut [f64],
    tile_a: &'a mut [f64],
    tile_b: &'a mut [f64],
}

/// Rows `i..i + rows`, columns `k..k + depth` of A as slivers of MR rows, each
/// column by column; missing rows are zero.
#[inline(always)]
fn pack_a(a: &[f64], n: usize, i: usize, rows: usize, k: usize, depth: usize, tile: &mut [f64]) {
    for (first, sliver) in (0..rows).step_by(MR).zip(tile.chunks_exact_mut(depth * MR)) {
        for (column, packed) in sliver.chunks_exact_mut(MR).enumerate() {
            for (row, word) in packed.iter_mut().enumerate() {
                let inside = first + row < rows;
                *word = if inside { a[(i + first + row) * n + k + column] } else { 0.0 };
            }
        }
    }
}

/// Rows `k..k + depth` of B as slivers of NR columns, each row by row; missing
/// columns are zero.
#[inline(always)]
fn pack_b(b: &[f64], n: usize, k: usize, depth: usize, tile: &mut [f64]) {
    for (j, sliver) in (0..n).step_by(NR).zip(tile.chunks_exact_mut(depth * NR)) {
        let width = NR.min(n - j);
        for (row, packed) in sliver.chunks_exact_mut(NR).enumerate() {
            let from = (k + row) * n + j;
            packed[..width].copy_from_slice(&b[from..from + width]);
            packed[width..].fill(0.0);
        }
    }
}

/// The MR × NR products of one sliver of A and one of B.
#[inline(always)]
fn micro_kernel(
    a: &[f64],
    b: &[f64],
    fma: impl Fn(f64, f64, f64) -> f64 + Copy,
) -> [[f64; NR]; MR] {
    let mut sums = [[0.0; NR]; MR];
    for (a, b) in a.as_chunks::<MR>().0.iter().zip(b.as_chunks::<NR>().0) {
        for (row, &a) in sums.iter_mut().zip(a) {
            for (sum, &b) in row.iter_mut().zip(b) {
                *sum = fma(a, b, *sum);
            }
        }
    }
    sums
}

#[inline(always)]
fn add_to(c: &mut [f64], n: usize, sums: &[[f64; NR]; MR], height: usize, width: usize) {
    for (row, sums) in sums.iter().take(height).enumerate() {
        for (c, sum) in c[row * n..][..width].iter_mut().zip(sums) {
            *c += sum;
        }
    }
}

impl Workload for Matmul {
    fn name(&self) -> &'static str {
        "matmul"
    }

    fn unit(&self) -> Unit {
        Unit::GflopPerSecond
    }

    fn prepare(&self, memory: &mut [u8]) {
        let mut parts = self.parts(memory);
        fill(&mut parts);
        parts.c.fill(0.0);
    }

    /// Another block of A in each visit; in a slice some slivers of B against it.
    /// Packing, a few percent of the whole product, is not in the figure.
    fn visit(&self, memory: &mut [u8], slices: usize, each: &mut dyn FnMut(Slice)) {
        let mut parts = self.parts(memory);
        // Blocks at the edges of A are smaller, and fit in any placement.
        let whole = self.blocks().filter(|block| {
            block.rows == self.block_rows.min(self.n) && block.depth == DEPTH.min(self.n)
        });
        let blocks: Vec<Block> = whole.collect();
        let visits = self.visits.replace(self.visits.get() + 1);
        let block = blocks[visits % blocks.len()];
        self.pack(&mut parts, block);
        self.panel(&mut parts, block, 0..1);
        let per_sliver = 2.0 * (block.rows * block.depth * NR) as f64;
        // Whole slivers only: the last may be narrower.
        let whole = (self.n / NR).max(1);
        let wanted = ((OPERATIONS / per_sliver).ceil() as usize).min(whole);
        let mut next = 1;
        for _ in 0..slices {
            let first = if next + wanted > whole { 0 } else { next };
            next = first + wanted;
            each(&mut || {
                let elapsed = time(|| self.panel(&mut parts, block, first..next));
                black_box(&parts.c);
                wanted as f64 * per_sliver / elapsed.as_secs_f64() / 1e9
            });
        }
    }

    /// The same with a block of so few rows that it stays in L1.
    fn ceiling(&self) -> Option<f64> {
        const ROWS: usize = 12;
        let small = Matmul { n: self.n.min(DEPTH), block_rows: ROWS, ..Matmul::new(1, Bytes(0)) };
        let mut memory = vec![0.0; small.footprint().0 as usize / size_of::<f64>()];
        let memory: &mut [u8] = bytemuck::cast_slice_mut(&mut memory);
        small.prepare(memory);
        let mut parts = small.parts(memory);
        let block = small.blocks().next()?;
        small.pack(&mut parts, block);
        // One sliver of B again and again: with the block 40 KiB, of which the
        // half that is read last is in any L1.
        let mut rates: Vec<f64> = (0..64)
            .map(|_| {
                let elapsed = time(|| (0..64).for_each(|_| small.panel(&mut parts, block, 0..1)));
                128.0 * (block.rows * block.depth * NR) as f64 / elapsed.as_secs_f64() / 1e9
            })
            .collect();
        rates.sort_by(f64::total_cmp);
        Some(rates[rates.len() / 2])
    }
}

/// Small whole numbers: their products and sums are exact in any order.
fn fill(parts: &mut Parts<'_>) {
    for (i, (a, b)) in parts.a.iter_mut().zip(parts.b.iter_mut()).enumerate() {
        *a = (i % 7) as f64 - 3.0;
        *b = (i % 11) as f64 - 5.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::workload::assert_figures;

    fn naive(a: &[f64], b: &[f64], n: usize) -> Vec<f64> {
        let cell = |i: usize, j: usize| (0..n).map(|k| a[i * n + k] * b[k * n + j]).sum();
        (0..n * n).map(|at| cell(at / n, at % n)).collect()
    }

    #[test]
    fn the_blocked_product_is_the_naive_product() {
        // Sizes around the register block, the depth and the row block; the
        // smallest cache gives blocks of a single sliver.
        for n in [1, 5, 6, 8, 13, 100, 256, 300] {
            for cache in [Bytes::kib(4), Bytes::kib(64), Bytes::mib(2)] {
                let matmul = Matmul::new(n, cache);
                // Left-over bytes of an earlier user must not matter.
                let mut memory = vec![f64::NAN; matmul.footprint().0 as usize / 8];
                let mut parts = matmul.parts(bytemuck::cast_slice_mut(&mut memory));
                fill(&mut parts);
                let plain = |a, b, sum| a * b + sum;
                for with_fma in [true, false] {
                    parts.c.fill(0.0);
                    for block in matmul.blocks() {
                        matmul.pack(&mut parts, block);
                        // In pieces, as slices do it.
                        let slivers = n.div_ceil(NR);
                        for slivers in [0..slivers / 2, slivers / 2..slivers] {
                            match with_fma {
                                true => matmul.panel(&mut parts, block, slivers),
                                false => matmul.panel_with(&mut parts, block, slivers, plain),
                            }
                        }
                    }
                    assert_eq!(parts.c, naive(parts.a, parts.b, n), "{n} {cache} {with_fma}");
                }
            }
        }
    }

    #[test]
    fn every_slice_of_every_visit_has_a_figure() {
        let matmul = Matmul::new(200, Bytes::kib(256));
        let mut memory = vec![f64::NAN; matmul.footprint().0 as usize / 8];
        let memory: &mut [u8] = bytemuck::cast_slice_mut(&mut memory);
        matmul.prepare(memory);
        for _ in 0..5 {
            assert_figures(&matmul, memory, 40);
        }
        assert!(matmul.ceiling().unwrap() > 0.0);
    }

    #[test]
    fn the_packed_block_fills_seven_eighths_of_the_cache() {
        for cache in [Bytes::kib(512), Bytes::mib(1), Bytes::mib(2)] {
            let matmul = Matmul::new(1000, cache);
            let tile = (matmul.block_rows * DEPTH * 8) as f64 / cache.0 as f64;
            assert!((0.85..=0.875).contains(&tile), "{cache}: {tile}");
        }
    }
}
