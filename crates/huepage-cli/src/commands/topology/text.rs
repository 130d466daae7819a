// SPDX-License-Identifier: MIT OR Apache-2.0
//! The topology as text of at most 80 columns, repeats collapsed.

mod caches;
mod measured;
mod nodes;

use huepage::topology::{CacheEnd, Origin, Topology};

use huepage_present::{
    escape::printable,
    number::{counted, indexes},
    paragraph::put,
};

use super::TopologyReport;
use crate::advice;

/// The whole report.
pub fn render(report: &TopologyReport) -> String {
    let topology = &report.topology;
    let mut out = String::new();
    machine(&mut out, topology);
    caches::caches(&mut out, topology);
    caches::cpuid(&mut out, topology);
    nodes::nodes(&mut out, topology);
    nodes::side_caches(&mut out, topology);
    measured::measured(&mut out, topology);
    choice(&mut out, report);
    for problem in &topology.problems {
        put(&mut out, "Not shown  ", &printable(problem));
    }
    out
}

fn machine(out: &mut String, topology: &Topology) {
    let Topology { architecture, model, page_size, cpus, .. } = topology;
    let model = model.as_ref().map(|model| format!("{model}, ")).unwrap_or_default();
    let cpus = format!("{} ({})", counted(cpus.len() as u64, "CPU"), indexes(cpus));
    put(
        out,
        "Machine    ",
        &format!("{model}{}, {cpus}, pages of {page_size}", printable(architecture)),
    );
    let vm = &topology.virtualization;
    if !vm.detected {
        put(out, "VM         ", "no sign of a hypervisor");
        return;
    }
    let name = vm.hypervisor.as_deref().unwrap_or("of an unknown hypervisor");
    let evidence: Vec<String> =
        vm.evidence.iter().map(|sign| format!("{}: {}", sign.source, sign.value)).collect();
    put(out, "VM         ", &format!("{name} ({})", evidence.join("; ")));
    put(out, "           ", "frame numbers are the guest's own: colors must be measured");
}

fn choice(out: &mut String, report: &TopologyReport) {
    let choice = &report.cache_to_color;
    let (Some(geometry), Some(colors)) = (choice.geometry, choice.colors) else {
        let reason = match report.topology.cache_to_color(choice.cpu) {
            Err(error) => advice::with_option(&error),
            Ok(_) => choice.reason.clone().unwrap_or_default(),
        };
        put(out, "\nTo color   ", &format!("nothing: {reason}"));
        let measured = report.topology.measured.as_ref();
        if let Some(end) = measured.and_then(|m| m.quiet.and_then(|quiet| quiet.l2).or(m.l2)) {
            let CacheEnd { at_least, at_most, estimate, .. } = end;
            let hint = format!("by timing it has {at_least} to {at_most}, about {estimate}");
            put(out, "           ", &hint);
        }
        return;
    };
    let origin = match choice.origin {
        Origin::Given => "as given",
        _ => "as declared",
    };
    let text = format!(
        "L{} of CPU {}, {origin}: {} {}-way {} sets, {}",
        geometry.level(),
        choice.cpu,
        geometry.size(),
        geometry.ways(),
        geometry.sets(),
        counted(u64::from(colors.get()), "color"),
    );
    put(out, "\nTo color   ", &text);
}
