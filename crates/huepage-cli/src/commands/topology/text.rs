// SPDX-License-Identifier: MIT OR Apache-2.0
//! The topology as text of at most 80 columns, repeats collapsed.

use std::fmt::Write;

use huepage::{
    list,
    topology::{
        Cache, CacheEnd, CacheKind, Distance, Indexing, MemorySideCache, NumaNode, Origin,
        Topology, Verdict, WritePolicy, cache_name,
    },
    units::Bytes,
};

use super::Report;

const WIDTH: usize = 80;

/// The whole report.
pub fn render(report: &Report) -> String {
    let topology = &report.topology;
    let mut out = String::new();
    machine(&mut out, topology);
    caches(&mut out, topology);
    cpuid(&mut out, topology);
    nodes(&mut out, topology);
    side_caches(&mut out, topology);
    measured(&mut out, topology);
    choice(&mut out, report);
    for problem in &topology.problems {
        put(&mut out, "Not shown  ", problem);
    }
    out
}

fn machine(out: &mut String, topology: &Topology) {
    let Topology { architecture, model, page_size, cpus, .. } = topology;
    let model = model.as_ref().map(|model| format!("{model}, ")).unwrap_or_default();
    let cpus = format!("{} ({})", counted(cpus.len() as u64, "CPU"), indexes(cpus));
    put(out, "Machine    ", &format!("{model}{architecture}, {cpus}, pages of {page_size}"));
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

fn caches(out: &mut String, topology: &Topology) {
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

fn cpuid(out: &mut String, topology: &Topology) {
    let Some(check) = &topology.cpuid else { return };
    let about = format!("leaf {} on CPU {}", check.leaf, check.cpu);
    if check.agrees() {
        put(out, "CPUID      ", &format!("{about} says the same of {} caches", check.caches.len()));
        return;
    }
    put(out, "CPUID      ", &format!("{about} says otherwise:"));
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

fn nodes(out: &mut String, topology: &Topology) {
    if topology.nodes.is_empty() {
        out.push_str("\nNUMA       none: the kernel lists no nodes\n");
        return;
    }
    out.push_str("\nNUMA nodes\n");
    // Many nodes are mostly alike: neighbors with as much memory and as many
    // CPUs share a line.
    let many = topology.nodes.len() > 8;
    let alike =
        |a: &NumaNode, b: &NumaNode| many && a.memory == b.memory && a.cpus.len() == b.cpus.len();
    for group in topology.nodes.chunk_by(alike) {
        let ids: Vec<u32> = group.iter().map(|node| node.id).collect();
        let cpus: Vec<u32> = group.iter().flat_map(|node| node.cpus.clone()).collect();
        let each = if group.len() > 1 { " each" } else { "" };
        let memory = match group[0].memory {
            None => "memory not told".to_owned(),
            Some(Bytes(0)) => "no memory".to_owned(),
            Some(memory) => format!("{memory}{each}"),
        };
        let cpus = match group[0].cpus.len() {
            0 => "no CPUs".to_owned(),
            _ if group.len() == 1 => format!("CPUs {}", indexes(&cpus)),
            count => format!("{}{each}: {}", counted(count as u64, "CPU"), indexes(&cpus)),
        };
        put(out, &format!("  {:<5} ", indexes(&ids)), &format!("{memory:>10}  {cpus}"));
    }
    if topology.nodes.len() > 1 {
        distances(out, &topology.nodes);
    }
}

/// A table where it fits the width, else nodes with the same view share a line.
fn distances(out: &mut String, nodes: &[NumaNode]) {
    if 8 + 4 * nodes.len() <= WIDTH {
        let cells = |cells: Vec<u32>| {
            cells.iter().fold(String::new(), |row, cell| format!("{row}{cell:>4}"))
        };
        let _ = writeln!(out, "  to    {}", cells(nodes.iter().map(|node| node.id).collect()));
        for node in nodes.iter().filter(|node| !node.distances.is_empty()) {
            let row = node.distances.iter().map(|distance| distance.distance).collect();
            let _ = writeln!(out, "  {:<5} {}", node.id, cells(row));
        }
        return;
    }
    let mut views: Vec<(String, Vec<u32>)> = Vec::new();
    for node in nodes.iter().filter(|node| !node.distances.is_empty()) {
        let view = view(node);
        match views.iter_mut().find(|(known, _)| *known == view) {
            Some((_, ids)) => ids.push(node.id),
            None => views.push((view, vec![node.id])),
        }
    }
    for (view, ids) in views {
        put(out, &format!("  {:<5} ", indexes(&ids)), &view);
    }
}

/// A node's distances as text. The node itself is listed with its nearest
/// neighbors, so that nodes of one group have the same view.
fn view(node: &NumaNode) -> String {
    let own = node.distances.iter().find(|d| d.node == node.id).map(|d| d.distance);
    let mut values: Vec<u32> =
        node.distances.iter().filter(|d| d.node != node.id).map(|d| d.distance).collect();
    values.sort_unstable();
    values.dedup();
    let mut parts: Vec<String> = own.iter().map(|own| format!("{own} local")).collect();
    for (i, value) in values.into_iter().enumerate() {
        let near = |d: &&Distance| {
            if d.node == node.id { i == 0 } else { d.distance == value }
        };
        let ids: Vec<u32> = node.distances.iter().filter(near).map(|d| d.node).collect();
        parts.push(format!("{value} to {}", indexes(&ids)));
    }
    parts.join("; ")
}

fn side_caches(out: &mut String, topology: &Topology) {
    if topology.nodes.iter().all(|node| node.memory_side_caches.is_empty()) {
        return;
    }
    out.push_str("\nMemory-side caches\n");
    for node in &topology.nodes {
        for cache in &node.memory_side_caches {
            put(out, &format!("  {:<4} ", node.id), &side_cache(cache));
        }
    }
}

fn side_cache(cache: &MemorySideCache) -> String {
    let size = cache.size.map_or("size not told".to_owned(), |size| size.to_string());
    let indexing = match cache.indexing {
        Indexing::DirectMapped => "direct-mapped",
        Indexing::Indexed => "indexed",
        Indexing::Other => "indexing not told",
    };
    let policy = match cache.write_policy {
        WritePolicy::WriteBack => "write-back",
        WritePolicy::WriteThrough => "write-through",
        WritePolicy::Other => "write policy not told",
    };
    let line = cache.line.map(|line| format!(", line {line} B")).unwrap_or_default();
    let colors = cache.colors.map_or("colors not told".to_owned(), |n| counted(n, "color"));
    format!("level {} {size:>9} {indexing}, {policy}{line}, {colors}", cache.level)
}

fn measured(out: &mut String, topology: &Topology) {
    let Some(measured) = &topology.measured else { return };
    let curve = &measured.curve;
    let rounds = counted(u64::from(curve.rounds), "round");
    let _ = writeln!(out, "\nEnds of caches by timing, CPU {}, {rounds}", curve.cpu);
    let _ = writeln!(out, "        declared  measured");
    let ends = [(1, CacheKind::Data, &measured.l1), (2, CacheKind::Unified, &measured.l2)];
    for (level, kind, end) in ends {
        let geometry = topology
            .caches
            .iter()
            .find(|c| (c.level, c.kind) == (level, kind) && c.cpus.contains(&curve.cpu))
            .and_then(Cache::geometry);
        let declared = geometry.map(|geometry| geometry.size());
        let found = match end {
            Some(end) => found(end, declared),
            None => match curve.points.last() {
                Some(last) => format!("no end seen up to {}", last.bytes),
                None => "nothing".to_owned(),
            },
        };
        let declared = declared.map_or("-".to_owned(), |size| size.to_string());
        put(out, &format!("  {:<4} ", cache_name(level, kind)), &format!("{declared:>9}  {found}"));
    }
}

fn found(end: &CacheEnd, declared: Option<Bytes>) -> String {
    let verdict = match declared {
        Some(size) if end.fits(size) => "fits",
        Some(_) => "DIFFERS",
        None => "",
    };
    let range = format!("{} to {}", end.at_least, end.at_most);
    let (inside, outside) = (end.nanoseconds_inside, end.nanoseconds_outside);
    format!("{range:<21} {verdict:<8} {inside:.1} ns inside, {outside:.1} ns outside")
}

fn choice(out: &mut String, report: &Report) {
    let choice = &report.cache_to_color;
    let (Some(geometry), Some(colors)) = (choice.geometry, choice.colors) else {
        let reason = choice.reason.as_deref().unwrap_or_default();
        put(out, "\nTo color   ", &format!("nothing: {reason}"));
        if let Some(end) = report.topology.measured.as_ref().and_then(|m| m.l2.as_ref()) {
            let CacheEnd { at_least, at_most, estimate, .. } = end;
            let hint = format!("timing says {at_least} to {at_most}, about {estimate}");
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

fn counted(count: u64, thing: &str) -> String {
    format!("{count} {thing}{}", if count == 1 { "" } else { "s" })
}

/// A list in the syntax of numactl; `0-124:4` where it is one stride.
fn indexes(list: &[u32]) -> String {
    if let [first, second, .., last] = list {
        let stride = second - first;
        if stride > 1 && list.len() > 3 && list.windows(2).all(|pair| pair[1] - pair[0] == stride) {
            return format!("{first}-{last}:{stride}");
        }
    }
    list::format(list)
}

/// Appends `head` and `text`, broken before [`WIDTH`] and indented as `head`.
/// Breaks are at spaces, and after commas where a list alone is too long; a
/// no-break space is printed as a space.
fn put(out: &mut String, head: &str, text: &str) {
    let indent = head.trim_start_matches('\n').chars().count();
    out.push_str(head);
    let mut column = indent;
    for (i, word) in text.split(' ').enumerate() {
        let mut gap = usize::from(i > 0);
        let fits = |column: usize, gap: usize, piece: &str| {
            column + gap + piece.trim_end().chars().count() <= WIDTH
        };
        let pieces: Vec<&str> = match fits(indent, 0, word) {
            true => vec![word],
            false => word.split_inclusive([',', '/']).collect(),
        };
        for piece in pieces {
            if !fits(column, gap, piece) && column > indent {
                let kept = out.trim_end_matches(' ').len();
                out.truncate(kept);
                let _ = write!(out, "\n{:indent$}", "");
                (column, gap) = (indent, 0);
            }
            let _ = write!(out, "{:gap$}{}", "", piece.replace('\u{a0}', " "));
            column += gap + piece.chars().count();
            gap = 0;
        }
    }
    let kept = out.trim_end_matches(' ').len();
    out.truncate(kept);
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(head: &str, text: &str) -> Vec<String> {
        let mut out = String::new();
        put(&mut out, head, text);
        out.lines().map(str::to_owned).collect()
    }

    #[test]
    fn text_breaks_at_spaces_and_keeps_its_indent() {
        let found = lines("  L2   ", &"word ".repeat(30));
        assert_eq!(found.len(), 3);
        assert_eq!(found[0].chars().count(), 80 - 4);
        assert!(found[1].starts_with("       word") && found[2].starts_with("       word"));
    }

    #[test]
    fn a_list_too_long_for_a_line_breaks_after_commas() {
        let odd: Vec<u32> = (0..200).map(|i| 2 * i).collect();
        let found = lines("  0    ", &format!("CPUs {}", list::format(&odd)));
        assert!(found.iter().all(|line| line.chars().count() <= 80));
        let joined: String = found.iter().map(|line| line.trim()).collect();
        assert_eq!(joined.trim_start_matches("0    CPUs "), list::format(&odd));
    }

    #[test]
    fn one_stride_is_told_as_such() {
        for (list, text) in [
            (vec![0, 4, 8, 12], "0-12:4"),
            (vec![0, 4, 8], "0,4,8"),
            (vec![0, 1, 2, 3], "0-3"),
            (vec![0, 2, 4, 7], "0,2,4,7"),
            (vec![5], "5"),
            (vec![], ""),
        ] {
            assert_eq!(indexes(&list), text);
        }
    }

    #[test]
    fn one_thing_is_singular() {
        assert_eq!(
            (counted(1, "color"), counted(2, "color")),
            ("1 color".into(), "2 colors".into())
        );
    }
}
