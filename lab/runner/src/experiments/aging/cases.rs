// SPDX-License-Identifier: MIT OR Apache-2.0
//! The boots for the settings.

use anyhow::{Context, bail, ensure};
use serde_json::json;

use huepage::units::Bytes;

use super::{POLICIES, scope::Scope};
use crate::{
    arch::Arch,
    boot::{Content, Disk, Machine},
    dose::{DOSES, Dose},
    experiment::{Case, PAGE, arguments},
    kernel::Config,
    model::{Backing, MemorySideCache, Model},
    placement::Placement,
    settings::Point,
};

/// Memory for the kernel and leftovers, beside the arrays.
const KERNEL: u64 = 24 << 20;

/// How the arrays are first touched; the words of the guest.
const TOUCHES: [&str; 4] = ["ordered", "random", "threads", "processes"];

/// Policies that no other kernel has: `lab/kernel`.
const LAB_KERNEL: [&str; 2] = ["zonesort", "least-used"];

/// The boot of one point of the grid.
pub fn case(point: &Point, scope: &Scope) -> anyhow::Result<Case> {
    let fills = &scope.fills;
    let arch: Arch = point.parsed("arch")?;
    let policy = point.text("policy");
    ensure!(POLICIES.contains(&policy), "no policy '{policy}'; there are {}", POLICIES.join(", "));
    let control = policy == "random";
    let placement = policy.parse().unwrap_or(Placement::Stock);
    let touch = point.text("touch");
    ensure!(
        TOUCHES.contains(&touch),
        "arrays are not touched in the way '{touch}'; there are {}",
        TOUCHES.join(", ")
    );
    let names = DOSES.map(|dose| dose.name).join(", ");
    let intensity = point.text("intensity");
    let dose = Dose::find(intensity)
        .with_context(|| format!("no intensity '{intensity}'; there are {names}"))?;
    let flat = match point.text("form") {
        "memory-side" => false,
        "flat" => true,
        other => bail!("no form '{other}'; there are memory-side, flat"),
    };
    let cache: Bytes = point.parsed(if flat { "flat_cache" } else { "cache" })?;
    ensure!(
        cache.0 > 0 && cache.0.is_multiple_of(1 << 20),
        "a cache of {cache} is no whole number of MiB"
    );
    let caches = match (flat, control) {
        (true, _) => 2,
        (false, control) => point.parsed::<u64>("memory")? * (1 + u64::from(control)),
    };
    let memory = Bytes(cache.0 * caches);
    // Above, x86 has its memory in two ranges of addresses.
    ensure!(
        !flat || memory.0 <= 2 << 30,
        "the CXL form is one range of at most 2 GiB, not {memory}: set a cache of at most 1 GiB"
    );
    // The control picks its pages among more than it keeps.
    let spare = if control { 5 } else { 4 };
    let fits = |fill| needed(fill, cache) * spare / 4 <= memory.0;
    let fitting: Vec<f64> = fills.iter().copied().filter(|&fill| fits(fill)).collect();
    // The CXL form has no more than two caches of memory: larger fills are left out.
    ensure!(
        fitting.len() == fills.len() || flat && !fitting.is_empty(),
        "a machine of {memory} is too small for these fills of {cache} besides {} for the rest: \
         set smaller fills or a larger cache{}",
        Bytes(KERNEL),
        if flat { "" } else { " or memory" }
    );
    if let Some(fill) = fills.iter().find(|fill| !(**fill > 0.0 && fill.is_finite())) {
        bail!("a fill of {fill} is no size of arrays");
    }
    let sizes: Vec<String> =
        fitting.iter().map(|&fill| format!("{fill}:{}", array_pages(fill, cache))).collect();
    let seed: u64 = point.parsed("seed")?;
    let workers = if ["threads", "processes"].contains(&touch) { 2 } else { 1 };
    let mut machine = Machine::plain(workers, memory);
    match point.text("cached") {
        "memory" => {}
        "disk" => {
            let disk = Disk { content: Content::Zeros(Bytes(memory.0 * 2)), segments: 126 };
            machine.disks.push(disk);
        }
        other => bail!("files are cached from memory or disk, not from '{other}'"),
    }
    let mut arguments = arguments([
        ("policy", policy.to_owned()),
        ("touch", touch.to_owned()),
        ("cached", point.text("cached").to_owned()),
        ("sizes", sizes.join(",")),
        ("colors", (cache.0 / PAGE).to_string()),
        ("ages", if control { 0 } else { scope.ages }.to_string()),
        ("seed", seed.to_string()),
    ]);
    arguments.extend(dose.arguments());
    placement.apply(cache, 1, &mut machine, &mut arguments);
    if scope.reserved {
        keep_page_back(&mut machine, arch, seed);
    }
    let mut config = Config::Plain;
    if LAB_KERNEL.contains(&policy) {
        config = Config::Lab;
    }
    if policy == "least-used" {
        machine.kernel_options.push(format!("lab_buckets.buckets={}", cache.0 / PAGE));
    }
    let (hit, miss): (f64, f64) = (point.parsed("hit_gbs")?, point.parsed("miss_gbs")?);
    ensure!(hit >= miss && miss > 0.0, "hits at {hit} GB/s and misses at {miss} GB/s can't be");
    let mut settings = point.json();
    settings.insert("memory".into(), json!(memory.to_string()));
    if control {
        settings.insert("intensity".into(), json!("none"));
    }
    Ok(Case {
        arch,
        variant: placement.variant(),
        config,
        arguments,
        model: Some(model(arch, flat, cache, memory, (hit, miss))),
        regions: vec![1, 2, 3, 4],
        settings,
        ..Case::of("aging", machine)
    })
}

/// Keeps one page back, in the upper half of memory, at a place by the seed: it changes
/// which pages a fresh machine gives. Only the kernel of x86 has the option.
pub fn keep_page_back(machine: &mut Machine, arch: Arch, seed: u64) {
    if arch == Arch::X86_64 {
        // Neighboring seeds give distant pages.
        let pages = machine.memory.0 / 2 / PAGE;
        let page = pages + seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) % pages;
        machine.kernel_options.push(format!("memmap=4K${:#x}", page * PAGE));
    }
}

/// Pages of one of the three arrays that fill so much of the cache together.
fn array_pages(fill: f64, cache: Bytes) -> u64 {
    ((fill * cache.0 as f64 / 3.0 / PAGE as f64) as u64).max(1)
}

/// Memory for arrays of that fill, an eighth of them for tables (the control maps
/// each page by itself), and the rest.
fn needed(fill: f64, cache: Bytes) -> u64 {
    array_pages(fill, cache) * 3 * PAGE * 9 / 8 + KERNEL
}

/// The memory-side cache alone: STREAM reuses nothing that smaller caches could keep,
/// and touches every line once in a pass.
fn model(arch: Arch, flat: bool, cache: Bytes, memory: Bytes, gbs: (f64, f64)) -> Model {
    let start = match arch {
        Arch::X86_64 => 0,
        Arch::Arm64 => 1 << 30,
    };
    let picoseconds = |gbs: f64| (64.0 * 1000.0 / gbs).round() as u64;
    Model {
        memory_side: vec![MemorySideCache {
            size: cache,
            ways: 1,
            line: Bytes(64),
            backing: match flat {
                true => Backing::Range { start, end: start + memory.0 },
                false => Backing::All,
            },
            hit_picoseconds: picoseconds(gbs.0),
            miss_picoseconds: picoseconds(gbs.1),
            latency: 1,
        }],
        ..Model::uncached(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        experiments::{
            aging::EXPERIMENT,
            trial::{cases, refuses},
        },
        kernel::Variant,
    };

    fn argument<'a>(case: &'a Case, name: &str) -> &'a str {
        case.argument(name).unwrap()
    }

    #[test]
    fn a_boot_per_form_policy_and_intensity_and_one_control_per_form() {
        let cases = cases(&EXPERIMENT, &["seed=1", "cache=64M"]).unwrap();
        // All policies, five of them also in the CXL form; stock with two more
        // intensities; stock and coloring touched in three more ways.
        assert_eq!(cases.len(), 9 + 5 + 2 + 2 * 3);
        let controls: Vec<&Case> =
            cases.iter().filter(|case| case.settings["policy"] == "random").collect();
        assert_eq!(controls.len(), 2);
        for control in controls {
            assert_eq!(argument(control, "ages"), "0");
            assert_eq!(control.settings["intensity"], "none");
        }
        let shuffled = cases.iter().find(|case| case.settings["policy"] == "shuffle").unwrap();
        assert_eq!(shuffled.machine.kernel_options, ["page_alloc.shuffle=1"]);
        assert_eq!(shuffled.variant, Variant::Stock);
        let colored = cases.iter().find(|case| case.settings["policy"] == "on").unwrap();
        assert_eq!(colored.machine.kernel_options, ["page_color=65536K,ways=1"]);
        assert_eq!(colored.variant, Variant::Huepage);
        let bucket = cases.iter().find(|case| case.settings["policy"] == "least-used").unwrap();
        assert_eq!(bucket.machine.kernel_options, ["lab_buckets.buckets=16384"]);
        assert_eq!((bucket.variant, bucket.config), (Variant::Stock, Config::Lab));
    }

    #[test]
    fn every_seed_but_the_first_keeps_another_page_back() {
        let cases =
            cases(&EXPERIMENT, &["policy=stock,shuffle", "cache=64M", "form=memory-side"]).unwrap();
        let of = |policy: &str| -> Vec<String> {
            let cases = cases.iter().filter(|case| case.settings["policy"] == policy);
            let options = cases.flat_map(|case| case.machine.kernel_options.clone());
            options.filter(|option| option.starts_with("memmap=")).collect()
        };
        let stock = of("stock");
        assert_eq!(stock.len(), 9);
        for option in &stock {
            let address = option.strip_prefix("memmap=4K$0x").unwrap();
            let address = u64::from_str_radix(address, 16).unwrap();
            assert!((256 << 20..512 << 20).contains(&address) && address % PAGE == 0, "{option}");
        }
        let mut different = stock.clone();
        different.sort();
        different.dedup();
        assert_eq!(different.len(), 9);
        assert_eq!(of("shuffle"), stock);
    }

    #[test]
    fn arrays_fill_the_cache_in_thirds_and_the_cxl_form_leaves_out_what_does_not_fit() {
        let caches = ["cache=96M", "flat_cache=96M"];
        let rest = ["policy=stock", "intensity=heavy", "touch=ordered", "fill=1.0,2.0", "seed=1"];
        let set = [&caches[..], &rest[..]].concat();
        let cases = cases(&EXPERIMENT, &set).unwrap();
        assert_eq!(argument(&cases[0], "sizes"), "1:8192,2:16384");
        assert_eq!(argument(&cases[0], "colors"), "24576");
        assert_eq!(cases[0].machine.memory, Bytes(768 << 20));
        assert_eq!(argument(&cases[1], "sizes"), "1:8192");
        assert_eq!(cases[1].machine.memory, Bytes(192 << 20));
    }

    #[test]
    fn what_makes_no_sense_is_refused_with_the_reason() {
        refuses(
            &EXPERIMENT,
            &[
                ("policy=best", "there are stock, shuffle, thp, off, on, zonesort"),
                ("touch=twice", "there are ordered, random, threads, processes"),
                ("intensity=all", "there are light, medium, heavy"),
                ("form=round", "there are memory-side, flat"),
                ("arch=mips", "setting arch=mips: there are x86_64 and arm64"),
                ("flat_cache=2G", "at most 2 GiB"),
                ("cache=1000", "no whole number of MiB"),
                ("cached=tape", "memory or disk"),
                ("memory=1", "too small for these fills"),
                ("fill=0", "fill of 0"),
                ("miss_gbs=400", "can't be"),
            ],
        );
    }
}
