// SPDX-License-Identifier: MIT OR Apache-2.0
//! The observations as metrics. Units are Prometheus' base units, seconds and bytes;
//! shares are ratios from 0 to 1.

use std::fmt::Debug;

use huepage::{color::palette::Audience, list};
use prometheus::{CounterVec, GaugeVec, Opts, Registry, TextEncoder};

use super::{kernel::KernelState, observe::Seen};
use crate::commands::{
    palette::{Details, Entry},
    pressure::PressureReport,
};

/// All metrics in the text format that node_exporter's textfile collector reads.
///
/// # Errors
/// If a name or label is invalid; tests check that none is.
pub fn text(seen: &Seen) -> anyhow::Result<String> {
    let metrics = Metrics(Registry::new());
    let version = [([env!("CARGO_PKG_VERSION")], 1.0)];
    metrics.gauges("build_info", "The huepage that wrote this.", ["version"], version)?;
    metrics.gauges(
        "collector_success",
        "Whether this part could be measured; if not, its metrics are missing.",
        ["collector"],
        seen.parts().map(|(name, why)| ([name], truth(why.is_none()))),
    )?;
    metrics.sizes(seen)?;
    if let Ok(pressure) = &seen.pressure {
        metrics.pressure(&seen.cpu.to_string(), pressure)?;
    }
    if let Ok(palettes) = &seen.palettes {
        metrics.palettes(palettes)?;
    }
    metrics.kernel(&seen.kernel)?;
    Ok(TextEncoder::new().encode_to_string(&metrics.0.gather())?)
}

fn truth(it_is: bool) -> f64 {
    f64::from(u8::from(it_is))
}

struct Metrics(Registry);

impl Metrics {
    /// A gauge, and its values by those of its labels.
    fn gauges<const N: usize>(
        &self,
        name: &str,
        help: &str,
        labels: [&str; N],
        values: impl IntoIterator<Item = ([impl AsRef<str> + Debug; N], f64)>,
    ) -> prometheus::Result<()> {
        let gauge = GaugeVec::new(Opts::new(name, help).namespace("huepage"), &labels)?;
        self.0.register(Box::new(gauge.clone()))?;
        for (of, value) in values {
            gauge.with_label_values(&of).set(value);
        }
        Ok(())
    }

    fn sizes(&self, seen: &Seen) -> prometheus::Result<()> {
        let cpu = seen.cpu.to_string();
        if let Some(cache) = &seen.cache {
            let of = [cpu.clone(), cache.level().to_string()];
            let size = cache.size().0 as f64;
            let help = "Size of the cache as the system declares it.";
            self.gauges("cache_size_bytes", help, ["cpu", "level"], [(of.clone(), size)])?;
            let colors = size / f64::from(cache.ways()) / rustix::param::page_size() as f64;
            let help = "Colors of the cache as the system declares it.";
            self.gauges("cache_colors", help, ["cpu", "level"], [(of, colors)])?;
        }
        let Ok(measured) = &seen.measured else { return Ok(()) };
        let quiet = measured.quiet.and_then(|quiet| quiet.l2);
        let ends = [("any", measured.l2), ("quiet", quiet)];
        self.gauges(
            "cache_effective_size_bytes",
            "Size of the L2 by timing: at any time, and in moments without a neighbor.",
            ["cpu", "level", "moment"],
            ends.into_iter().filter_map(|(moment, end)| {
                Some(([cpu.as_str(), "2", moment], end?.estimate.0 as f64))
            }),
        )
    }

    fn pressure(&self, cpu: &str, pressure: &PressureReport) -> prometheus::Result<()> {
        let quiet = pressure.quiet_looks as f64 / pressure.looks.max(1) as f64;
        let help = "Share of looks in which others evicted no more than on a quiet machine.";
        self.gauges("cache_quiet_looks_ratio", help, ["cpu"], [([cpu], quiet)])?;
        let help = "Share of the CPU's time that the looks took.";
        self.gauges("pressure_cpu_ratio", help, ["cpu"], [([cpu], pressure.cpu_share)])?;
        let statistics = pressure.evicted.into_iter().flat_map(|evicted| {
            [("mean", evicted.mean), ("median", evicted.median), ("p95", evicted.p95)]
        });
        self.gauges(
            "cache_evicted_ratio",
            "Share of lines of the L2 that others evicted within 0.3 ms.",
            ["cpu", "statistic"],
            statistics.map(|(statistic, value)| ([cpu, statistic], value)),
        )?;
        let colors = pressure.color_shares.iter().enumerate();
        self.gauges(
            "cache_color_evicted_ratio",
            "Share of lines of a color of the L2 that others evicted, mean of the looks.",
            ["cpu", "color"],
            colors.filter_map(|(color, share)| {
                Some(([cpu.to_owned(), color.to_string()], (*share)?))
            }),
        )
    }

    fn palettes(&self, palettes: &[Entry]) -> prometheus::Result<()> {
        let audience = |entry: &Entry| match entry.audience {
            Audience::All => ["all"],
            Audience::User => ["user"],
        };
        self.gauges(
            "palette_usable",
            "Whether the palette exists and its pages were found to have their colors.",
            ["audience"],
            palettes.iter().map(|entry| {
                (audience(entry), truth(matches!(entry.condition, "verified" | "worn")))
            }),
        )?;
        let of_each = |name, help, figure: fn(&Details) -> Option<f64>| {
            let found = palettes
                .iter()
                .filter_map(|entry| Some((audience(entry), figure(entry.palette.as_ref()?)?)));
            self.gauges(name, help, ["audience"], found)
        };
        of_each("palette_age_seconds", "Time since the palette was made.", |palette| {
            Some(palette.age_seconds as f64)
        })?;
        of_each(
            "palette_agreement_ratio",
            "Share of pages to which both discoveries of the palette gave the same color.",
            |palette| Some(palette.evidence.attempts.last()?.agreement),
        )?;
        of_each(
            "palette_replaced_pages",
            "Pages of the palette that were replaced because the kernel had moved them.",
            |palette| Some(f64::from(palette.replaced)),
        )
    }

    fn kernel(&self, kernel: &KernelState) -> prometheus::Result<()> {
        if let Some(coloring) = &kernel.coloring {
            let enabled = [([""; 0], truth(coloring.enabled))];
            let help = "Whether the kernel places pages by color.";
            self.gauges("kernel_coloring_enabled", help, [], enabled)?;
            let colors = coloring.colors.iter().map(|(node, &count)| ([node], count as f64));
            let help = "Colors by which the kernel places pages of a node.";
            self.gauges("kernel_coloring_colors", help, ["node"], colors)?;
            let name = "kernel_coloring_pages_total";
            let help =
                "Pages of the best color, of another one; none: times that no page was found.";
            let opts = Opts::new(name, help).namespace("huepage");
            let pages = CounterVec::new(opts, &["choice"])?;
            self.0.register(Box::new(pages.clone()))?;
            for (choice, &count) in &coloring.pages {
                pages.with_label_values(&[choice]).inc_by(count as f64);
            }
        }
        let free = kernel.free_huge_pages.iter().map(|of| ([&of.node, &of.zone], of.pages as f64));
        let help = "Huge pages that free memory has without compaction.";
        self.gauges("free_huge_pages", help, ["node", "zone"], free)?;
        let merged = kernel
            .merged
            .iter()
            .map(|(&name, &count)| ([name.strip_prefix("pages_").unwrap_or(name)], count as f64));
        let help = "Pages merged by KSM: shared are kept, sharing are saved.";
        self.gauges("ksm_pages", help, ["kind"], merged)?;
        let domains = || kernel.merge_domains.iter().map(|of| (list::format(&of.nodes), of));
        self.gauges(
            "ksm_domain_pages",
            "Pages merged by KSM in a group of nodes: shared are kept, sharing are saved.",
            ["nodes", "kind"],
            domains().flat_map(|(nodes, of)| {
                [("shared", of.pages_shared), ("sharing", of.pages_sharing)]
                    .map(|(kind, count)| ([nodes.clone(), kind.to_owned()], count as f64))
            }),
        )?;
        self.gauges(
            "ksm_domain_remote_mappings",
            "Mappings of merged pages that are on another node than before they were merged.",
            ["nodes"],
            domains().map(|(nodes, of)| ([nodes], of.remote_mappings as f64)),
        )
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use anyhow::anyhow;
    use huepage::merged;

    use super::{super::kernel::Coloring, *};

    #[test]
    fn what_cannot_be_seen_is_missing_and_said_to_be() {
        let coloring = Coloring {
            enabled: true,
            colors: BTreeMap::from([("0".to_owned(), 1024)]),
            pages: BTreeMap::from([("best".to_owned(), 100)]),
        };
        let seen = Seen {
            cpu: 3,
            cache: None,
            pressure: Err(anyhow!("noise")),
            measured: Err(anyhow!("no time stamp counter")),
            palettes: Ok(Vec::new()),
            kernel: KernelState {
                coloring: Some(coloring),
                merge_domains: merged::domains(
                    "nodes 0-1,4 shared 5 sharing 6 saved 24576 remote 2",
                ),
                ..KernelState::default()
            },
        };
        let text = text(&seen).unwrap();
        for line in [
            "huepage_collector_success{collector=\"pressure\"} 0\n",
            "huepage_collector_success{collector=\"palette\"} 1\n",
            "# TYPE huepage_kernel_coloring_pages_total counter\n",
            "huepage_kernel_coloring_pages_total{choice=\"best\"} 100\n",
            "huepage_kernel_coloring_colors{node=\"0\"} 1024\n",
            "huepage_ksm_domain_pages{kind=\"sharing\",nodes=\"0-1,4\"} 6\n",
            "huepage_ksm_domain_remote_mappings{nodes=\"0-1,4\"} 2\n",
        ] {
            assert!(text.contains(line), "{line}{text}");
        }
        assert!(!text.contains("evicted") && !text.contains("effective"), "{text}");
        assert_eq!(seen.missing(), ["pressure: noise", "size: no time stamp counter"]);
    }
}
