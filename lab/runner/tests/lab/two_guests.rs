// SPDX-License-Identifier: MIT OR Apache-2.0
//! The quick form of `two-guests`: a guest's colors are what the host makes of them.

use crate::support::{number, quick, row};

#[test]
fn what_a_guest_colors_is_worth_what_the_host_keeps_of_its_order() {
    let results = quick("two-guests", &[]);
    // The stock host has no sets; each host has three ways of giving memory. And the control.
    assert_eq!(results.rows.len(), (1 + 2) * 3 * 3 + 3);
    let of = |host: &str, backing: &str, sets: &str, guest: &str, metric: &str| {
        let set = [("host", host), ("backing", backing), ("sets", sets), ("guest", guest)];
        number(row(&results, &set), metric)
    };
    for row in &results.rows {
        // By its own frame numbers a guest that colors has no conflicts, on any host.
        let colored = row.setting("guest") != "stock";
        let believed = number(row, "believed");
        assert_eq!(believed <= 0.01, colored, "{row:?}");
        // Both programs together have no fewer conflicts than one of them alone.
        assert!(number(row, "conflict_across") >= number(row, "conflict_within"), "{row:?}");
        if row.setting("sets") == "halves" {
            // Where no huge page of its half is left, a guest has small ones of it.
            assert_eq!(number(row, "shared_colors"), 0.0, "{row:?}");
        }
    }
    // Random frames of the host: what the guest does is for nothing.
    let (stock, on) = ("stock", "on");
    let within = |host, backing, guest| of(host, backing, "none", guest, "conflict_within");
    for guest in [stock, on] {
        assert!(within(stock, "at-random", guest) > 0.2, "{guest}");
    }
    // Where memory is in one piece, it is for all that it promises.
    assert!(of("reserved", "one piece", "none", on, "conflict_within") <= 0.01);
    let order = |host, backing| of(host, backing, "none", stock, "in_order");
    assert!(order(stock, "at-random") < 0.01);
    assert!(order(stock, "huge") > order(stock, "at-random"));
}
