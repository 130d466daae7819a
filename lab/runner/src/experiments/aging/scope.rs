// SPDX-License-Identifier: MIT OR Apache-2.0
//! Selects the points of the grid that are booted, and how much of each is measured:
//! not every combination of settings gives new information.

use crate::settings::{Point, Settings};

/// Policies for which arrays are also touched in other ways.
const TOUCHED: [&str; 2] = ["stock", "on"];
/// Policies that run with other seeds.
const SEEDS: [&str; 8] =
    ["stock", "shuffle", "off", "on", "zonesort", "compact", "least-used", "random"];
/// Policies that run with other caches.
const CACHES: [&str; 2] = ["stock", "shuffle"];
/// Policies that run in the CXL form.
const FLAT: [&str; 5] = ["stock", "shuffle", "on", "least-used", "random"];

/// How much of one point of the grid.
#[derive(Debug, PartialEq)]
pub struct Scope {
    pub fills: Vec<f64>,
    pub ages: u32,
    /// Whether a page is kept back at boot, at a place by the seed.
    pub reserved: bool,
}

/// `None` if the point is not booted. The first cache and seed have all fills and days;
/// other seeds one fill and one day, heavy, touched in order; other caches the same,
/// but fresh only.
pub fn of(settings: &Settings, point: &Point) -> anyhow::Result<Option<Scope>> {
    let first = |name: &str| point.text(name) == settings.values(name)[0];
    let last = settings.values("intensity").last().map(String::as_str);
    let last = Some(point.text("intensity")) == last;
    let policy = point.text("policy");
    let memory_side = point.text("form") == "memory-side";
    // A setting without effect takes its first value.
    let unused = if memory_side { "flat_cache" } else { "cache" };
    // The control owns its pages from the start: it does not age.
    let heaviest = if policy == "random" { first("intensity") } else { last };
    let plain = heaviest && first("touch");
    let ages: u32 = settings.only("ages")?;
    let fills = settings.parsed("fill")?;
    let chance = vec![settings.only("chance_fill")?];
    let reserved = !first("seed");
    if !first(unused) {
        return Ok(None);
    }
    let one = |policies: &[&str], ages: u32| {
        let looked_at = memory_side && plain && policies.contains(&policy);
        looked_at.then_some(Scope { fills: chance, ages, reserved })
    };
    if memory_side && !first("cache") {
        return Ok(one(&CACHES, 0));
    }
    if reserved {
        return Ok(one(&SEEDS, ages.min(1)));
    }
    let all = if memory_side {
        let closely = last && TOUCHED.contains(&policy) || policy == "stock" && first("touch");
        plain || closely
    } else {
        plain && FLAT.contains(&policy)
    };
    Ok(all.then_some(Scope { fills, ages, reserved }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{experiment::Scale, experiments::aging::EXPERIMENT};

    fn scope(values: &[&str]) -> Option<Scope> {
        let all = EXPERIMENT.settings(Scale::Full);
        let mut one = all.clone();
        for value in values {
            one.set(value).unwrap();
        }
        let names = ["form", "policy", "intensity", "touch", "cache", "flat_cache", "seed"];
        // The first point: settings that are not given have their first value.
        of(&all, &one.grid(&names)[0]).unwrap()
    }

    #[test]
    fn seeds_and_caches_but_the_first_have_one_fill() {
        let first = scope(&["intensity=heavy"]).unwrap();
        assert_eq!((first.fills.len(), first.ages, first.reserved), (6, 3, false));
        let chance = |ages, reserved| Scope { fills: vec![0.94], ages, reserved };
        assert_eq!(scope(&["intensity=heavy", "seed=2"]), Some(chance(1, true)));
        assert_eq!(scope(&["policy=random", "seed=2"]), Some(chance(1, true)));
        assert_eq!(scope(&["intensity=heavy", "cache=256M"]), Some(chance(0, false)));
        assert_eq!(scope(&["intensity=heavy", "cache=256M", "seed=2"]), Some(chance(0, true)));
        for nothing in [
            ["policy=stock", "intensity=light", "seed=2"],
            ["form=flat", "intensity=heavy", "seed=2"],
            ["form=flat", "intensity=heavy", "cache=256M"],
            ["policy=zonesort", "intensity=heavy", "cache=256M"],
            ["policy=zonesort", "intensity=light", "seed=1"],
            ["policy=on", "intensity=light", "seed=1"],
            ["policy=thp", "intensity=heavy", "seed=2"],
            ["form=flat", "intensity=heavy", "policy=off"],
            ["policy=shuffle", "intensity=heavy", "touch=threads"],
        ] {
            assert_eq!(scope(&nothing), None, "{nothing:?}");
        }
        assert!(scope(&["policy=stock", "intensity=light"]).is_some());
        assert!(scope(&["policy=on", "intensity=heavy", "touch=threads"]).is_some());
    }
}
