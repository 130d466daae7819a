// SPDX-License-Identifier: MIT OR Apache-2.0
use super::*;
use crate::experiments::trial::{cases, refuses};

#[test]
fn memory_and_colors_grow_with_the_cache() {
    let cases = cases(&EXPERIMENT, &["seed=1"]).unwrap();
    assert_eq!(cases.len(), 4 * 2 * 2);
    let argument = |case: &Case, name: &str| case.argument(name).unwrap().parse::<u64>().unwrap();
    for case in &cases {
        let colors = argument(case, "colors") * argument(case, "ways");
        assert_eq!(case.machine.memory.0, 3 * 4096 * colors);
        assert_eq!(argument(case, "pages"), (0.94 * colors as f64) as u64);
    }
    let most = cases.iter().map(|case| argument(case, "colors")).max();
    assert_eq!(most, Some(1 << 20));
}

#[test]
fn settings_that_make_no_sense_are_named() {
    refuses(
        &EXPERIMENT,
        &[
            ("ways=3", "each of 3 ways"),
            ("memory=0", "too small"),
            ("memory=1,2", "takes one value"),
            ("seed=0", "seed=0"),
        ],
    );
}
