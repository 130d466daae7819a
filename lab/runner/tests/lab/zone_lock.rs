// SPDX-License-Identifier: MIT OR Apache-2.0
//! How often zone->lock is taken, by the kernel's own count.

use crate::support::{number, quick, row};

#[test]
#[ignore = "builds two kernels of its own"]
fn pages_are_taken_many_at_once_and_coloring_holds_the_lock_for_less() {
    // More than the lists of CPUs hold.
    let results = quick("zone-lock", &["pages=65536"]);
    let of = |policy: &str, work: &str, metric: &str| {
        number(row(&results, &[("policy", policy), ("work", work)]), metric)
    };
    for policy in ["stock", "on"] {
        for work in ["fill, 4 KiB", "free, 4 KiB", "write files"] {
            let acquired = of(policy, work, "acquired_per_page");
            assert!((0.0002..0.02).contains(&acquired), "{policy}: {work} {acquired}");
        }
        // Pages come from, and go to, those kept beside the CPU.
        let small = of(policy, "small loops", "acquired_per_page");
        assert!(small < 0.002, "{policy}: small loops {small}");
    }
    let held = |policy| of(policy, "fill, 4 KiB", "held_per_page");
    assert!(held("on") < held("stock") / 2.0, "{} and {}", held("on"), held("stock"));
}
