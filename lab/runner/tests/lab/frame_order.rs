// SPDX-License-Identifier: MIT OR Apache-2.0
//! Sequential readers in their quick form, on real kernels.

use huepage_lab::results::{Results, Row};

use crate::support::{self, quick};

fn run(set: &[&str]) -> Results {
    quick("frame-order", set)
}

fn number(row: &Row, name: &str) -> u64 {
    row.setting(name).parse().unwrap()
}

fn pick<'a>(results: &'a Results, like: &Row, age: &str, mode: &str) -> &'a Row {
    let same = |row: &&Row| {
        row.setting("arch") == like.setting("arch")
            && row.setting("readers") == like.setting("readers")
            && row.setting("age") == age
            && row.setting("mode") == mode
    };
    results.rows.iter().find(same).expect("every point has a row")
}

fn direct_bytes(row: &Row) -> u64 {
    number(row, "direct_bytes_per_reader") * number(row, "readers")
}

/// Requests into contiguous memory: 1 MiB is 16 segments of 64 KiB, thus 2 requests
/// of at most 14; one more wherever ext2 has put a block map between two blocks: after
/// the first 12 blocks, and after each 1024 from there.
fn requests_of_direct_reads(row: &Row) -> u64 {
    let bytes = number(row, "direct_bytes_per_reader");
    let maps = (0..).map(|map| (12 + 1024 * map) * 4096).take_while(|at| *at < bytes).count();
    number(row, "readers") * (2 * (bytes >> 20) + maps as u64)
}

#[test]
fn aged_memory_takes_more_segments_and_contiguous_memory_does_not() {
    let results = run(&[]);
    assert_eq!(results.rows.len(), 2 * 2 * 2 * 3, "architectures, readers, ages, modes");
    for row in &results.rows {
        let (requests, segments) =
            (support::number(row, "requests"), support::number(row, "segments"));
        let bytes = support::number(row, "bytes");
        assert!(
            support::number(row, "most_segments") <= 14.0 && requests * 14.0 >= segments,
            "{row:?}"
        );
        // A segment has at most 64 KiB and at least a page.
        assert!(segments * 65_536.0 >= bytes && segments * 4096.0 <= bytes, "{row:?}");
        let seconds = (requests * 100.0 + segments + bytes / 400.0) / 1e6;
        assert!((support::number(row, "modelled_seconds") / seconds - 1.0).abs() < 1e-9, "{row:?}");
        match row.setting("mode").as_str() {
            "cached" => {
                assert_eq!(support::number(row, "max_segments"), 14.0);
                assert_eq!(support::number(row, "read_ahead_kb"), 128.0);
                // Nothing is read twice but a few block maps that reclaim takes away.
                let asked = (number(row, "bytes_per_reader") * number(row, "readers")) as f64;
                assert!(bytes >= asked && bytes < asked * 1.02, "{row:?}");
                // 128 KiB at a time are 1 request at best, at worst 32 pages one by one,
                // and somewhat more where block maps lie between.
                let per_gib = support::number(row, "requests_per_gib");
                assert!((8192.0..8192.0 * 3.1).contains(&per_gib), "{row:?}");
            }
            "direct-huge" => {
                // Memory is short after the cached reads: block maps may have to be read
                // again, one or two blocks at a time.
                let maps = (bytes as u64 - direct_bytes(row)) / 4096;
                let more = requests as u64 - requests_of_direct_reads(row);
                assert!(maps <= 2 * number(row, "readers"), "{row:?}");
                assert!(more <= maps && maps <= 2 * more, "{row:?}");
            }
            _ => {}
        }
    }
    for fresh in results.rows.iter().filter(|row| row.setting("age") == "0") {
        let mode = fresh.setting("mode");
        let aged = pick(&results, fresh, "1", &mode);
        if mode == "direct-huge" {
            assert_eq!(own_segments(fresh), own_segments(aged), "{fresh:?} {aged:?}");
            continue;
        }
        let pages = |row: &Row, name: &str| support::number(row, name);
        assert!(
            pages(fresh, "pages_per_segment") > pages(aged, "pages_per_segment"),
            "{fresh:?} {aged:?}"
        );
        if mode == "cached" {
            // 16 pages, but for block maps and the ends of free blocks.
            assert!(pages(fresh, "pages_per_segment_first") > 14.0, "{fresh:?}");
            assert!(pages(aged, "pages_per_segment_first") < 7.0, "{aged:?}");
            // What reclaim frees comes back in another order, also without aging.
            let last = pages(fresh, "pages_per_segment_last");
            assert!(last < pages(fresh, "pages_per_segment_first") / 2.0, "{fresh:?}");
            assert!(support::number(fresh, "descending_share") > 0.01, "{fresh:?}");
        }
    }
}

/// Segments of a direct read into a huge page but for block maps, each of which is a
/// request of one segment.
fn own_segments(row: &Row) -> u64 {
    let maps = (support::number(row, "bytes") as u64 - direct_bytes(row)) / 4096;
    support::number(row, "segments") as u64 - maps
}

/// Reads complete when the host lets them, so that readers take turns differently, and
/// with them reclaim: what goes through the page cache is nearly the same. Into contiguous
/// memory it is the same but for block maps, which reclaim takes away or leaves.
#[test]
fn the_same_seed_gives_nearly_the_same_counts() {
    let results = run(&["readers=8", "age=1", "seed=1,1"]);
    assert_eq!(results.rows.len(), 2 * 2 * 3);
    for row in &results.rows {
        match row.setting("mode").as_str() {
            "direct-huge" => {
                let other = pick(&results, row, "1", "direct-huge");
                assert_eq!(own_segments(row), own_segments(other), "{row:?} {other:?}");
            }
            "cached" => assert!(support::number(row, "spread") < 0.20, "{row:?}"),
            _ => {}
        }
    }
}

/// The kernel with frames in reverse is another one, so this also shows that the order is
/// what merging comes from.
#[test]
#[ignore = "builds the kernel with the hooks of lab/kernel"]
fn reversed_frames_merge_with_nothing() {
    let results = run(&["arch=x86_64", "readers=1", "age=0", "policy=stock,reverse"]);
    let of = |policy: &str, name: &str| {
        let row = results.find(&[("policy", policy), ("mode", "cached")]);
        support::number(row.unwrap_or_else(|| panic!("no row of {policy}")), name)
    };
    assert!(of("stock", "pages_per_segment_first") > 14.0);
    assert!(of("reverse", "pages_per_segment_first") < 1.2);
    assert!(of("stock", "ascending_share") > 0.5 && of("stock", "descending_share") < 0.3);
    assert!(of("reverse", "ascending_share") < 0.3 && of("reverse", "descending_share") > 0.5);
    assert!(of("reverse", "requests") > 1.5 * of("stock", "requests"));
}

/// A limit that only the driver of lab/kernel has.
#[test]
#[ignore = "builds the kernel with the hooks of lab/kernel"]
fn one_segment_to_a_request() {
    let results = run(&["arch=x86_64", "readers=1", "age=0", "segments=1"]);
    for row in &results.rows {
        assert_eq!(support::number(row, "most_segments"), 1.0, "{row:?}");
        assert_eq!(support::number(row, "requests"), support::number(row, "segments"));
    }
}

#[test]
fn extents_need_no_block_maps() {
    let results = run(&["arch=arm64", "fs=ext4", "readers=8", "age=0"]);
    let row = results.rows.iter().find(|row| row.setting("mode") == "cached").unwrap();
    let asked = (number(row, "bytes_per_reader") * 8) as f64;
    // The root directory and an inode of each.
    let more = support::number(row, "bytes") - asked;
    assert!((0.0..=8.0 * 4.0 * 4096.0).contains(&more), "{more} bytes in {row:?}");
}
