// SPDX-License-Identifier: MIT OR Apache-2.0
//! The quick form of `scale`: a cache of one way and one of two.

use crate::support::{number, quick};

#[test]
#[ignore = "boots for minutes"]
fn pages_fit_a_cache_of_two_ways_as_one_of_one() {
    let results = quick("scale", &["policy=on"]);
    assert_eq!(results.rows.len(), 2 * 2);
    for row in &results.rows {
        let share = number(row, "conflict_share");
        assert!(share <= 0.01, "{row:?}");
        // A fault takes hundreds of instructions at least, and clears a page.
        assert!(number(row, "touch_instructions") > 500.0, "{row:?}");
    }
}
