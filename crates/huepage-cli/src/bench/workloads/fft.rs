// SPDX-License-Identifier: MIT OR Apache-2.0
//! Fast Fourier transform by a common library.

use std::{hint::black_box, sync::Arc};

use huepage::units::Bytes;
use num_complex::Complex64;
use rustfft::FftPlanner;

use crate::bench::workload::{Slice, Unit, Workload, time};

/// One forward transform in place. Data and scratch are in the memory given; the plan's
/// table of roots is not (the library owns it) and is the same for all placements.
pub struct Fft {
    name: &'static str,
    plan: Arc<dyn rustfft::Fft<f64>>,
}

impl Fft {
    /// 65,536 points: 1 MiB of data.
    pub fn points_64k() -> Self {
        Self::new("fft-64k", 1 << 16)
    }

    /// 1,048,576 points: 16 MiB of data.
    pub fn points_1m() -> Self {
        Self::new("fft-1m", 1 << 20)
    }

    /// The largest power of two of points whose data and scratch fit the cache, for
    /// caches that 64k points do not fit.
    pub fn fitting(cache: Bytes) -> Option<Self> {
        const NAMES: [(usize, &str); 7] = [
            (18, "fft-256k"),
            (17, "fft-128k"),
            (16, "fft-64k"),
            (15, "fft-32k"),
            (14, "fft-16k"),
            (13, "fft-8k"),
            (12, "fft-4k"),
        ];
        let all = NAMES.iter().map(|&(bits, name)| Self::new(name, 1 << bits));
        all.into_iter().find(|fft| fft.footprint() <= cache)
    }

    fn new(name: &'static str, points: usize) -> Self {
        Fft { name, plan: FftPlanner::new().plan_fft_forward(points) }
    }

    /// Transforms once; how long that takes.
    fn transform(&self, memory: &mut [u8]) -> f64 {
        let points: &mut [Complex64] = bytemuck::cast_slice_mut(memory);
        let (data, rest) = points.split_at_mut(self.plan.len());
        let scratch = &mut rest[..self.plan.get_inplace_scratch_len()];
        // Repeated transforms of the same data would overflow.
        fill(data);
        let elapsed = time(|| self.plan.process_with_scratch(data, scratch));
        black_box(data);
        elapsed.as_secs_f64()
    }

    /// Operations as usually counted: 5 N log2 N
    /// (M. Frigo and S. Johnson, "The Design and Implementation of FFTW3", 2005).
    fn operations(&self) -> f64 {
        let points = self.plan.len() as f64;
        5.0 * points * points.log2()
    }

    /// The memory it needs.
    pub fn footprint(&self) -> Bytes {
        let points = self.plan.len() + self.plan.get_inplace_scratch_len();
        Bytes((points * size_of::<Complex64>()) as u64)
    }
}

impl Workload for Fft {
    fn name(&self) -> &'static str {
        self.name
    }

    fn unit(&self) -> Unit {
        Unit::Milliseconds
    }

    fn visit(&self, memory: &mut [u8], slices: usize, each: &mut dyn FnMut(Slice)) {
        self.transform(memory);
        for _ in 0..slices {
            each(&mut || self.transform(memory) * 1e3);
        }
    }

    /// By the rate of a transform of 512 points: 16 KiB with its scratch.
    fn ceiling(&self) -> Option<f64> {
        const TRANSFORMS: usize = 64;
        let small = Fft::new("", 512);
        let mut memory = vec![Complex64::default(); small.footprint().0 as usize / 16];
        let memory: &mut [u8] = bytemuck::cast_slice_mut(&mut memory);
        let mut times: Vec<f64> = (0..TRANSFORMS).map(|_| small.transform(memory)).collect();
        times.sort_by(f64::total_cmp);
        Some(times[TRANSFORMS / 2] / small.operations() * self.operations() * 1e3)
    }
}

fn fill(data: &mut [Complex64]) {
    for (i, point) in data.iter_mut().enumerate() {
        *point = Complex64::new((i % 17) as f64, (i % 5) as f64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forward_and_inverse_give_the_signal_back() {
        let fft = Fft::points_64k();
        let n = fft.plan.len();
        let mut memory = vec![f64::NAN; fft.footprint().0 as usize / 8];
        fft.transform(bytemuck::cast_slice_mut(&mut memory));
        let data: &mut [Complex64] = &mut bytemuck::cast_slice_mut(&mut memory)[..n];
        FftPlanner::new().plan_fft_inverse(n).process(data);
        let mut signal = vec![Complex64::default(); n];
        fill(&mut signal);
        let worst = data.iter().zip(&signal).map(|(d, s)| (d / n as f64 - s).norm());
        assert!(worst.fold(0.0, f64::max) < 1e-9);
    }

    #[test]
    fn footprints_hold_data_and_scratch() {
        assert!(Fft::points_64k().footprint() >= Bytes::mib(1));
        assert!(Fft::points_1m().footprint() >= Bytes::mib(16));
    }

    #[test]
    fn the_fitting_transform_is_the_largest_that_fits() {
        for cache in [Bytes::kib(256), Bytes::mib(1), Bytes::mib(2)] {
            let fft = Fft::fitting(cache).unwrap();
            let doubled = Fft::new("twice", 2 * fft.plan.len());
            assert!(fft.footprint() <= cache && doubled.footprint() > cache, "{cache}");
        }
        assert!(Fft::fitting(Bytes::kib(4)).is_none());
    }
}
