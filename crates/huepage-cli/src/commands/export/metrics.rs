// SPDX-License-Identifier: MIT OR Apache-2.0
//! What was seen as metrics. Units are Prometheus' base units, seconds and bytes; shares
//! are ratios from 0 to 1.

use huepage::{color::palette::Audience, list, merged::Domain, topology::CacheEnd};
use prometheus::{CounterVec, GaugeVec, Opts, Registry, TextEncoder, core::Collector};

use super::observe::Seen;
use crate::commands::{palette::Entry, pressure::PressureReport};

/// All metrics in the text format that node_exporter's textfile collector reads.
///
/// # Errors
/// If a name or label is none; tests see to it that there is no such.
pub fn text(seen: &Seen) -> anyhow::Result<String> {
    let metrics = Metrics(Registry::new());
    let version = env!("CARGO_PKG_VERSION");
    metrics.one("build_info", "The huepage that wrote this.", &["version"], &[version], 1.0)?;
    let success = metrics.gauge(
        "collector_success",
        "Whether this part could be seen; where not, its metrics are missing.",
        &["collector"],
    )?;
    for (name, why) in seen.parts() {
        success.with_label_values(&[name]).set(f64::from(u8::from(why.is_none())));
    }
    metrics.sizes(seen)?;
    if let Ok(pressure) = &seen.pressure {
        metrics.pressure(seen, pressure)?;
    }
    if let Ok(palettes) = &seen.palettes {
        metrics.palettes(palettes)?;
    }
    metrics.kernel(seen)?;
    Ok(TextEncoder::new().encode_to_string(&metrics.0.gather())?)
}

struct Metrics(Registry);

impl Metrics {
    fn register<C: Collector + Clone + 'static>(&self, metric: C) -> prometheus::Result<C> {
        self.0.register(Box::new(metric.clone()))?;
        Ok(metric)
    }

    fn gauge(&self, name: &str, help: &str, labels: &[&str]) -> prometheus::Result<GaugeVec> {
        self.register(GaugeVec::new(Opts::new(name, help).namespace("huepage"), labels)?)
    }

    fn counter(&self, name: &str, help: &str, labels: &[&str]) -> prometheus::Result<CounterVec> {
        self.register(CounterVec::new(Opts::new(name, help).namespace("huepage"), labels)?)
    }

    fn one(
        &self,
        name: &str,
        help: &str,
        labels: &[&str],
        values: &[&str],
        value: f64,
    ) -> prometheus::Result<()> {
        self.gauge(name, help, labels)?.with_label_values(values).set(value);
        Ok(())
    }

    fn sizes(&self, seen: &Seen) -> prometheus::Result<()> {
        let cpu = seen.cpu.to_string();
        if let Some(cache) = &seen.cache {
            let labels = [cpu.as_str(), &cache.level().to_string()].map(str::to_owned);
            let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
            let of = ["cpu", "level"];
            let help = "Size of the cache as the system declares it.";
            self.one("cache_size_bytes", help, &of, &labels, cache.size().0 as f64)?;
            let help = "Colors of the cache as the system declares it.";
            let colors =
                cache.size().0 as f64 / f64::from(cache.ways()) / rustix::param::page_size() as f64;
            self.one("cache_colors", help, &of, &labels, colors)?;
        }
        let Ok(measured) = &seen.measured else { return Ok(()) };
        let effective = self.gauge(
            "cache_effective_size_bytes",
            "Where timing says that the L2 ends: now, and in moments without a neighbor.",
            &["cpu", "level", "moment"],
        )?;
        let quiet = measured.quiet.and_then(|quiet| quiet.l2);
        let ends: [(&str, Option<CacheEnd>); 2] = [("any", measured.l2), ("quiet", quiet)];
        for (moment, end) in ends {
            if let Some(end) = end {
                let size = end.estimate.0 as f64;
                effective.with_label_values(&[cpu.as_str(), "2", moment]).set(size);
            }
        }
        Ok(())
    }

    fn pressure(&self, seen: &Seen, pressure: &PressureReport) -> prometheus::Result<()> {
        let cpu = seen.cpu.to_string();
        let cpu = cpu.as_str();
        let quiet = pressure.quiet_looks as f64 / pressure.looks.max(1) as f64;
        let help = "Looks in which others evicted no more than on a quiet machine.";
        self.one("cache_quiet_looks_ratio", help, &["cpu"], &[cpu], quiet)?;
        let help = "Share of the CPU that looking took.";
        self.one("pressure_cpu_ratio", help, &["cpu"], &[cpu], pressure.cpu_share)?;
        if let Some(evicted) = pressure.evicted {
            let gauge = self.gauge(
                "cache_evicted_ratio",
                "Lines of the L2 that others evicted within a look of 0.3 ms.",
                &["cpu", "statistic"],
            )?;
            for (statistic, value) in
                [("mean", evicted.mean), ("median", evicted.median), ("p95", evicted.p95)]
            {
                gauge.with_label_values(&[cpu, statistic]).set(value);
            }
        }
        let gauge = self.gauge(
            "cache_color_evicted_ratio",
            "Lines of one color of the L2 that others evicted, in the mean of the looks.",
            &["cpu", "color"],
        )?;
        for (color, share) in pressure.color_shares.iter().enumerate() {
            if let Some(share) = share {
                gauge.with_label_values(&[cpu, &color.to_string()]).set(*share);
            }
        }
        Ok(())
    }

    fn palettes(&self, palettes: &[Entry]) -> prometheus::Result<()> {
        let of = ["audience"];
        let usable = self.gauge(
            "palette_usable",
            "Whether the palette has pages that were found to have their colors.",
            &of,
        )?;
        let age = self.gauge("palette_age_seconds", "Since the palette was made.", &of)?;
        let agreement = self.gauge(
            "palette_agreement_ratio",
            "Pages to which both discoveries behind the palette gave the same color.",
            &of,
        )?;
        let replaced = self.gauge(
            "palette_replaced_pages",
            "Pages of the palette that the kernel had moved, and that were replaced.",
            &of,
        )?;
        for entry in palettes {
            let audience = [match entry.audience {
                Audience::All => "all",
                Audience::User => "user",
            }];
            let is_usable = matches!(entry.condition, "verified" | "worn");
            usable.with_label_values(&audience).set(f64::from(u8::from(is_usable)));
            let Some(palette) = &entry.palette else { continue };
            age.with_label_values(&audience).set(palette.age_seconds as f64);
            replaced.with_label_values(&audience).set(f64::from(palette.replaced));
            if let Some(last) = palette.evidence.attempts.last() {
                agreement.with_label_values(&audience).set(last.agreement);
            }
        }
        Ok(())
    }

    fn kernel(&self, seen: &Seen) -> prometheus::Result<()> {
        if let Some(coloring) = &seen.kernel.coloring {
            let help = "Whether the kernel places pages by color.";
            let enabled = f64::from(u8::from(coloring.enabled));
            self.one("kernel_coloring_enabled", help, &[], &[], enabled)?;
            let help = "Colors by which the kernel places pages of a node.";
            let colors = self.gauge("kernel_coloring_colors", help, &["node"])?;
            for (node, count) in &coloring.colors {
                colors.with_label_values(&[node]).set(*count as f64);
            }
            let pages = self.counter(
                "kernel_coloring_pages_total",
                "Pages that the kernel gave by color: the best, another one that was lacked, none.",
                &["choice"],
            )?;
            for (choice, count) in &coloring.pages {
                pages.with_label_values(&[choice]).inc_by(*count as f64);
            }
        }
        let help = "Huge pages that free memory holds without compaction.";
        let free = self.gauge("free_huge_pages", help, &["node", "zone"])?;
        for of in &seen.kernel.free_huge_pages {
            free.with_label_values(&[&of.node, &of.zone]).set(of.pages as f64);
        }
        let help = "Pages merged by KSM: shared are kept, sharing are those saved.";
        let merged = self.gauge("ksm_pages", help, &["kind"])?;
        for (&name, &count) in &seen.kernel.merged {
            let kind = name.strip_prefix("pages_").unwrap_or(name);
            merged.with_label_values(&[kind]).set(count as f64);
        }
        self.merge_domains(&seen.kernel.merge_domains)
    }

    fn merge_domains(&self, domains: &[Domain]) -> prometheus::Result<()> {
        let pages = self.gauge(
            "ksm_domain_pages",
            "Pages merged by KSM in a group of nodes: shared are kept, sharing are those saved.",
            &["nodes", "kind"],
        )?;
        let remote = self.gauge(
            "ksm_domain_remote_mappings",
            "Mappings of merged pages that are on another node than before they were merged.",
            &["nodes"],
        )?;
        for domain in domains {
            let nodes = list::format(&domain.nodes);
            pages.with_label_values(&[&*nodes, "shared"]).set(domain.pages_shared as f64);
            pages.with_label_values(&[&*nodes, "sharing"]).set(domain.pages_sharing as f64);
            remote.with_label_values(&[&*nodes]).set(domain.remote_mappings as f64);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use anyhow::anyhow;
    use huepage::merged;

    use super::{
        super::kernel::{Coloring, KernelState},
        *,
    };

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
