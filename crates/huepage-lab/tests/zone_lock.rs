// SPDX-License-Identifier: MIT OR Apache-2.0
//! How often zone->lock is taken, by the kernel's own count.

mod support;

use support::{number, quick};

#[test]
#[ignore = "builds two kernels of its own"]
fn batches_are_taken_at_once_and_coloring_does_not_hold_the_lock_for_each_page() {
    let results = quick("zone-lock", &[]);
    let of = |policy: &str, work: &str, metric: &str| {
        let row = results.find(&[("policy", policy), ("work", work)]);
        number(row.unwrap_or_else(|| panic!("no {work}, {policy}")), metric)
    };
    for policy in ["stock", "on"] {
        // A batch has up to 63 pages.
        for work in ["fill, 4 KiB", "free, 4 KiB", "write files"] {
            let acquired = of(policy, work, "acquired_per_page");
            assert!((1.0 / 80.0..1.0 / 4.0).contains(&acquired), "{policy}: {work} {acquired}");
        }
        // Pages come from, and go to, those kept beside the CPU.
        let small = of(policy, "small loops", "acquired_per_page");
        assert!(small < 0.005, "{policy}: small loops {small}");
        assert!(of(policy, "fill, 4 KiB", "held_per_page") > 1.0, "{policy}");
    }
}
