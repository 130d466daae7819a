// SPDX-License-Identifier: MIT OR Apache-2.0
//! Theory: conflicts of lines at random places in a direct-mapped cache, and its
//! bandwidth by hits and misses.

/// The share of lines in conflict with another one when `fill` times the lines
/// of the cache lie at random in endless memory: 1 − e^(−fill).
pub fn random_share(fill: f64) -> f64 {
    1.0 - (-fill).exp()
}

/// The same for `wanted` pages out of a finite pool, of which each is taken at
/// most once. `having[k]` colors have k frames in the pool.
pub fn random_share_of(having: &[u64], wanted: u64) -> f64 {
    let pool: u64 = having.iter().zip(0..).map(|(colors, frames)| colors * frames).sum();
    if pool < 2 || wanted == 0 {
        return 0.0;
    }
    let (pool, wanted) = (pool as f64, wanted as f64);
    let mut conflict = 0.0;
    for (frames, colors) in having.iter().enumerate().skip(1) {
        // The probability that none of the color's other frames is among the pages
        // taken.
        let alone: f64 = (0..frames - 1)
            .map(|taken| taken as f64)
            .map(|taken| ((pool - wanted - taken) / (pool - 1.0 - taken)).max(0.0))
            .product();
        conflict += (*colors * frames as u64) as f64 / pool * (1.0 - alone);
    }
    conflict
}

/// GB/s when this share of lines misses; `hit` and `miss` in GB/s.
pub fn gbs(misses: f64, hit: f64, miss: f64) -> f64 {
    1.0 / ((1.0 - misses) / hit + misses / miss)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cache_filled_once_at_random_has_two_thirds_in_conflict() {
        assert!((random_share(1.0) - 0.632_120).abs() < 1e-6);
        // Endless memory: very many frames per color.
        let mut having = vec![0; 1001];
        having[1000] = 64;
        assert!((random_share_of(&having, 64) - 0.632_120).abs() < 0.006);
    }

    #[test]
    fn two_frames_to_a_color_conflict_as_often_as_the_other_is_taken() {
        // 8 colors of 2 frames: the other frame is one of 15, of which 7 are taken.
        assert!((random_share_of(&[0, 0, 8], 8) - 7.0 / 15.0).abs() < 1e-12);
        // All frames taken: only the colors with one frame are free of conflict.
        assert!((random_share_of(&[0, 4, 6], 16) - 12.0 / 16.0).abs() < 1e-12);
        assert_eq!(random_share_of(&[0, 8], 8), 0.0);
        assert_eq!(random_share_of(&[], 8), 0.0);
    }

    #[test]
    fn every_placement_of_a_small_pool_agrees() {
        // Colors of 1, 2 and 3 frames; all ways to take 3 of the 6 pages.
        let colors = [0, 1, 1, 2, 2, 2];
        let (mut lines, mut conflicts) = (0, 0);
        for taken in 0_u32..64 {
            let pages: Vec<usize> = (0..6).filter(|page| taken >> page & 1 == 1).collect();
            if pages.len() != 3 {
                continue;
            }
            for &page in &pages {
                lines += 1;
                let meets = |&&other: &&usize| other != page && colors[other] == colors[page];
                conflicts += u32::from(pages.iter().find(meets).is_some());
            }
        }
        let share = f64::from(conflicts) / f64::from(lines);
        assert!((random_share_of(&[0, 1, 1, 1], 3) - share).abs() < 1e-12);
    }

    #[test]
    fn bandwidth_lies_between_all_hits_and_all_misses() {
        assert!((gbs(0.0, 336.0, 85.0) - 336.0).abs() < 1e-9);
        assert!((gbs(1.0, 336.0, 85.0) - 85.0).abs() < 1e-9);
        // The source measured 117 GB/s after days; 85 GB/s for misses explains it.
        assert!((gbs(random_share(1.0), 336.0, 85.0) - 117.0).abs() < 1.0);
    }
}
