// SPDX-License-Identifier: MIT OR Apache-2.0
//! Sequential readers under memory pressure in their quick form, on real kernels.

use huepage_lab::results::Results;

use crate::support::{number, quick, row};

fn of(results: &Results, policy: &str, mode: &str, name: &str) -> f64 {
    number(row(results, &[("policy", policy), ("mode", mode)]), name)
}

#[test]
#[ignore = "builds the kernel with the hooks of lab/kernel"]
fn readers_wait_for_memory_and_the_old_wait_is_seen() {
    let results = quick("sequential-io", &["readers=4"]);
    assert_eq!(results.rows.len(), 2 * 2, "policies, modes");
    let of = |policy: &str, mode: &str, name: &str| of(&results, policy, mode, name);
    // Without the page cache none is expected, but beside other load a boot had counted one.
    for policy in ["stock", "wait-each"] {
        let (cached, direct) = (of(policy, "cached", "stalls"), of(policy, "direct", "stalls"));
        assert!(cached >= 20.0 && direct <= cached / 20.0, "{policy}: {cached}, {direct}");
    }
    assert_eq!(of("stock", "cached", "waits"), 0.0);
    let waits = of("wait-each", "cached", "waits");
    assert!(waits > 0.0);
    // 20 ms, in the kernel's clock of 10 ms; or 100 ms.
    let waited = of("wait-each", "cached", "waited_seconds") / waits;
    assert!((0.01..=0.12).contains(&waited), "{waited} s a time");
    assert!(of("wait-each", "cached", "mbs") < 0.99 * of("stock", "cached", "mbs"));
}

/// A disk of 20 MB/s, 0.1 ms for a request: the guest's clock says so, however fast the
/// host is. A host that is slower than that makes it less.
#[test]
#[ignore = "builds the kernel with the hooks of lab/kernel"]
fn a_disk_takes_its_time() {
    let results = quick("sequential-io", &["readers=1", "policy=stock", "total=32M"]);
    // 64 KiB take 3.3 ms, and 0.1 ms for the request.
    let direct = of(&results, "stock", "direct", "mbs");
    assert!((10.0..=65.536 / 3.3768).contains(&direct), "{direct} MB/s");
    let faster =
        quick("sequential-io", &["readers=1", "policy=stock", "total=32M", "disk_mbs=200"]);
    assert!(of(&faster, "stock", "direct", "mbs") > 1.5 * direct);
}

/// Pages that a CPU has ready for files are missing where memory is scarce: readers have
/// to reclaim pages themselves if it takes many of them at once.
#[test]
#[ignore = "builds the kernel with the hooks of lab/kernel"]
fn readers_reclaim_no_more_with_coloring() {
    let results = quick("sequential-io", &["readers=4", "policy=stock,on"]);
    let stalls = |policy: &str| of(&results, policy, "cached", "stalls");
    // Boots differ: stock had 150 and 197. With lists as large as they may be, coloring had
    // 318, and in 256 MiB three and a half times as many as stock.
    assert!(stalls("stock") >= 20.0, "{}", stalls("stock"));
    assert!(stalls("on") <= 1.3 * stalls("stock"), "{} of {}", stalls("on"), stalls("stock"));
}
