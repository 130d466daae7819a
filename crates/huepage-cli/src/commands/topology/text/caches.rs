// SPDX-License-Identifier: MIT OR Apache-2.0
//! Caches as text: as sysfs declares them, and where CPUID differs.

use huepage::{
    topology::{Cache, Topology, Verdict, cache_name},
    units::Bytes,
};
use huepage_present::{
    number::{counted, indexes},
    paragraph::put,
};

/// Every kind of cache on a line, with how many there are.
pub fn caches(out: &mut String, topology: &Topology) {
    out.push_str("\nCaches as declared\n");
    let mut rest: Vec<&Cache> = topology.caches.iter().collect();
    while let Some(first) = rest.first().copied() {
        let alike = |c: &&Cache| {
            (c.level, c.kind, c.cores, c.cpus.len(), &c.verdict)
                == (first.level, first.kind, first.cores, first.cpus.len(), &first.verdict)
        };
        let (group, others): (Vec<&Cache>, _) = rest.into_iter().partition(alike);
        rest = others;
        let mut cpus: Vec<u32> = group.iter().flat_map(|cache| cache.cpus.clone()).collect();
        cpus.sort_unstable();
        cpus.dedup();
        let shared = match (first.cores, group.len()) {
            (1, _) => String::new(),
            (cores, 1) => format!(", {cores} cores"),
            (cores, _) => format!(", {cores} cores each"),
        };
        let count = format!("× {}{shared} (CPUs\u{a0}{})", group.len(), indexes(&cpus));
        put(out, &format!("  {:<4} ", first.name()), &format!("{} {count}", described(first)));
    }
    if !topology.cpus_without_caches.is_empty() {
        let cpus = indexes(&topology.cpus_without_caches);
        put(out, "  none ", &format!("the system declares no caches of CPUs {cpus}"));
    }
}

fn described(cache: &Cache) -> String {
    match &cache.verdict {
        Verdict::Accepted { geometry, colors } => {
            let size = geometry.size().to_string();
            let ways = format!("{}-way", geometry.ways());
            let sets = format!("{} sets", geometry.sets());
            let colors = counted(u64::from(colors.get()), "color");
            format!("{size:>8} {ways:>6} {sets:>10} {colors:>11} ")
        }
        Verdict::Rejected { reason } => format!("rejected: {reason} "),
        Verdict::NotDeclared { missing } => {
            let size = cache.declared.size.map(|size| format!("{size}, ")).unwrap_or_default();
            format!("{size}not declared: {} ", missing.join(", "))
        }
    }
}

/// Whether CPUID agrees.
pub fn cpuid(out: &mut String, topology: &Topology) {
    let Some(check) = &topology.cpuid else { return };
    let about = format!("leaf {} on CPU {}", check.leaf, check.cpu);
    if check.agrees() {
        put(
            out,
            "CPUID      ",
            &format!("{about} declares the same for {} caches", check.caches.len()),
        );
        return;
    }
    put(out, "CPUID      ", &format!("{about} declares other values:"));
    for cache in &check.caches {
        for difference in &cache.differences {
            let value = |value: Option<u64>| match value {
                None => "nothing".to_owned(),
                Some(bytes) if difference.field == "size" => Bytes(bytes).to_string(),
                Some(value) => value.to_string(),
            };
            let name = cache_name(cache.level, cache.kind);
            let field = difference.field;
            let (sysfs, cpuid) = (value(difference.sysfs), value(difference.cpuid));
            put(out, "           ", &format!("{name} {field}: {sysfs} in sysfs, {cpuid} in CPUID"));
        }
    }
}
