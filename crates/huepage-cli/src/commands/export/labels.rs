// SPDX-License-Identifier: MIT OR Apache-2.0
//! Labels for Node Feature Discovery: one `name=value` a line, and when they expire.

use std::{
    collections::BTreeMap,
    fmt::Write,
    time::{Duration, SystemTime},
};

use huepage::{
    color::{self, ColorOracle, ColorsBy, Oracle},
    topology::{AddressMode, Indexing, LiveMachine, MemorySideCache, Topology},
};

use super::kernel::KernelState;
use crate::commands::cache_options::ResolvedCache;

/// The labels of the domain `huepage.io/`; also the reason for each missing one.
pub fn labels(
    cache: &ResolvedCache,
) -> anyhow::Result<(BTreeMap<&'static str, String>, Option<String>)> {
    let topology = Topology::read(&LiveMachine::open(cache.cpu)?)?;
    let side_caches = topology.nodes.iter().flat_map(|node| &node.memory_side_caches);
    let mut labels = side_cache(side_caches.max_by_key(|cache| cache.size));
    let kernel = match KernelState::read().coloring {
        None => "none",
        Some(coloring) if coloring.enabled => "on",
        Some(_) => "off",
    };
    labels.insert("kernel-coloring", kernel.to_owned());
    let mut missing = None;
    match color::choose(ColorsBy::Auto, &cache.measure_options()) {
        Ok(chosen) => {
            labels.insert("l2-colors", chosen.oracle.count().get().to_string());
            match chosen.check {
                Some(_) => {
                    let told_by_them = matches!(chosen.oracle, Oracle::FrameNumber(_));
                    labels.insert("frame-numbers", told_by_them.to_string());
                }
                None => missing = Some(format!("frame-numbers: {}", chosen.reason)),
            }
        }
        Err(error) => missing = Some(format!("l2-colors: {}", huepage::with_causes(&error))),
    }
    Ok((labels, missing))
}

fn side_cache(largest: Option<&MemorySideCache>) -> BTreeMap<&'static str, String> {
    let Some(cache) = largest else {
        return BTreeMap::from([("memory-side-cache", "false".to_owned())]);
    };
    let mut labels = BTreeMap::from([("memory-side-cache", "true".to_owned())]);
    if let Some(size) = cache.size {
        labels.insert("memory-side-cache.mib", (size.0 >> 20).to_string());
    }
    let indexing = match cache.indexing {
        Indexing::DirectMapped => Some("direct-mapped"),
        Indexing::Indexed => Some("complex"),
        _ => None,
    };
    let mode = match cache.address_mode {
        Some(AddressMode::ExtendedLinear) => Some("extended-linear"),
        _ => None,
    };
    for (name, value) in
        [("memory-side-cache.indexing", indexing), ("memory-side-cache.address-mode", mode)]
    {
        labels.extend(value.map(|value| (name, value.to_owned())));
    }
    labels
}

/// The file, whose labels expire after `valid`.
pub fn text(labels: &BTreeMap<&'static str, String>, valid: Duration) -> String {
    let until = humantime::format_rfc3339_seconds(SystemTime::now() + valid);
    let mut text = format!("# +expiry-time={until}\n");
    for (name, value) in labels {
        let _ = writeln!(text, "huepage.io/{name}={value}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_is_a_name_and_a_value_that_kubernetes_takes() {
        let text = text(&side_cache(None), Duration::from_secs(60));
        let mut lines = text.lines();
        assert!(lines.next().unwrap().starts_with("# +expiry-time=20"));
        assert_eq!(lines.collect::<Vec<_>>(), ["huepage.io/memory-side-cache=false"]);
    }
}
