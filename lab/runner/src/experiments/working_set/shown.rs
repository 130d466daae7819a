// SPDX-License-Identifier: MIT OR Apache-2.0
//! `working-set` as tables and words.

use super::{CACHE_PAGES, PLACEMENTS, associative, theory};
use crate::results::{Results, Row, Table, thousands};

/// What the figures mean.
pub(super) const REMARKS: &str = "\
Counts are exact, of real kernels under a modelled L1 (32 KiB, 8 ways) and a physically indexed \
L2 of 2 MiB, direct-mapped, 16-way or fully associative (`full`), with LRU and lines of 64 bytes. `fresh` and `aged` are \
the kernel's own choice of frames, after boot and after pages were faulted in and freed in random \
order, one in sixteen kept. `contiguous` (huge pages) and `random` (pages drawn from a large pool) \
are controls. Every repeat takes memory that was not measured before; the first repeats of \
`fresh` use up what boot left in small blocks, and so differ from the later ones more than chance \
would have it: see the deviation and the worst repeat.

A read touches one word of every line in order, after two passes that fill the caches. Its \
modelled bandwidth is in percent of the peak, which is that of hits only; a miss costs as much as \
`miss_cost` hits. That figure is chosen, not measured: with it, random pages in a direct-mapped \
cache give 80 % of the peak at an eighth of L2. The source's 80 % is another one: a share of the \
theoretical maximum of its machine, which colored pages had over the whole L2 and uncolored ones \
up to an eighth of it; beyond, uncolored pages had 30 to 50 %, so 0.38 to 0.63 of colored ones. \
That ratio, from a quarter of L2 on, is what is compared. `lines_in_conflict` in the JSON is what the frame numbers alone predict, and the misses \
are that plus what the timer ticks of the kernel push out (`other_accesses`).

Matrix product and Fourier transform count L2 misses of real programs; their modelled cycles are \
one for an instruction and the full latency of each access (4, 15, 100), so the gains overstate those of a core that \
overlaps misses. The matrix is smaller than the source's (a matrix of that size is several times this L2) and \
only some rows of the product are computed, as every row reads the whole second matrix again. The transform of a million points \
with its table is many times larger than L2, and its strides are powers of two: elements that \
are used together fall into the same set in contiguous frames, and random frames scatter them. \
Where the sign is a minus, contiguous frames were the worse choice; that contradicts the source's \
gain at this size, measured with another library and another order of work.

With a policy other than `stock`, `fresh` and `aged` are the choice of a kernel that colors pages for \
this L2; so are the pools from which random frames are drawn. A fully associative cache is the best \
that any placement could reach, except that LRU does badly where a loop is larger than the cache: \
there placement can do better, and where the loop is exactly as large, a single access of the \
kernel makes the whole of it miss, in the fully associative cache as in a set.

Left out: prefetchers, which hide much of a sequential read's misses on current cores; TLBs, so \
huge pages gain by placement only; page walks, instruction fetches, write-backs, memory \
controllers; and hashed set indexes, as last-level caches of current CPUs have them.";

/// Placements that are the kernel's own choice.
pub(super) const OWN: [&str; 2] = ["fresh", "aged"];
const MACHINE: [&str; 3] = ["arch", "L2 ways", "policy"];

/// What boots differ in.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Machine {
    pub arch: String,
    pub l2_ways: String,
    /// Empty in results from before there were policies.
    pub policy: String,
}

impl Machine {
    fn head(&self) -> [String; 3] {
        [self.arch.clone(), self.l2_ways.clone(), self.policy.clone()]
    }
}

/// Every one that was run.
pub(super) fn machines(results: &Results) -> Vec<Machine> {
    let mut machines = Vec::new();
    for row in &results.rows {
        let machine = Machine {
            arch: row.setting("arch"),
            l2_ways: row.setting("l2_ways"),
            policy: row.setting("policy"),
        };
        if !machines.contains(&machine) {
            machines.push(machine);
        }
    }
    machines
}

/// One row of a machine.
pub(super) fn find<'a>(
    results: &'a Results,
    machine: &Machine,
    work: &str,
    placement: &str,
    size: &str,
) -> Option<&'a Row> {
    let size_name = if work == "read" { "eighths" } else { "size" };
    let settings = [
        ("arch", machine.arch.as_str()),
        ("l2_ways", &machine.l2_ways),
        ("policy", &machine.policy),
        ("work", work),
        ("placement", placement),
        (size_name, size),
    ];
    results.find(&settings)
}

/// Programs: kind and size, in the order of rows.
pub(super) fn programs(results: &Results) -> Vec<(String, String)> {
    let mut programs = Vec::new();
    for row in results.rows.iter().filter(|row| row.setting("work") != "read") {
        let program = (row.setting("work"), row.setting("size"));
        if !programs.contains(&program) {
            programs.push(program);
        }
    }
    programs
}

/// Modelled time beyond that with contiguous frames, in percent.
pub(super) fn beyond_contiguous(
    results: &Results,
    machine: &Machine,
    program: &(String, String),
    placement: &str,
) -> Option<f64> {
    let cycles = |placement| {
        find(results, machine, &program.0, placement, &program.1)?.metric("modelled_cycles")
    };
    Some(100.0 * (cycles(placement)? / cycles("contiguous")? - 1.0))
}

/// What random pages do, by theory: the share of misses at a size.
pub(super) fn random_theory(machine: &Machine, eighths: &str) -> Option<f64> {
    let (ways, eighths): (u64, u64) = (machine.l2_ways.parse().ok()?, eighths.parse().ok()?);
    Some(theory::random_miss_share(CACHE_PAGES * eighths / 8, CACHE_PAGES / ways, ways))
}

/// The cost of a miss that the rows were run with.
pub(super) fn miss_cost(results: &Results) -> f64 {
    results.values("miss_cost").first().and_then(|cost| cost.parse().ok()).unwrap_or(1.0)
}

fn percent(value: Option<f64>) -> String {
    value.map_or("–".into(), |value| format!("{:.1} %", 100.0 * value))
}

/// The mean over repeats and the standard deviation, in percent.
fn spread(row: Option<&Row>, name: &str) -> String {
    let both =
        row.and_then(|row| Some((row.metric(name)?, row.metric(&format!("{name}_deviation"))?)));
    both.map_or("–".into(), |(mean, deviation)| {
        format!("{:.1} % ± {:.1}", 100.0 * mean, 100.0 * deviation)
    })
}

pub(super) fn tables(results: &Results) -> Vec<(String, Table)> {
    let theory = ["random, theory".to_owned()];
    let head = MACHINE.map(str::to_owned).into_iter().chain(["working set, of L2".to_owned()]);
    let means = head.clone().chain(PLACEMENTS.map(str::to_owned)).chain(theory);
    let worst = OWN.iter().map(|placement| format!("{placement}, worst"));
    let mut bandwidth = Table::new(means.clone().chain(worst));
    let mut misses = Table::new(means);
    for machine in &machines(results) {
        for eighths in results.values("eighths") {
            let row = |placement: &&str| find(results, machine, "read", placement, &eighths);
            let theory = random_theory(machine, &eighths);
            let size = format!("{eighths}/8");
            let first = machine.head().into_iter().chain([size]);
            let means = PLACEMENTS.iter().map(|p| spread(row(p), "modelled_peak_share"));
            let peak = percent(theory.map(|share| theory::peak_share(share, miss_cost(results))));
            let worst = OWN
                .iter()
                .map(|p| percent(row(p).and_then(|row| row.metric("modelled_peak_share_worst"))));
            bandwidth.row(first.clone().chain(means).chain([peak]).chain(worst));
            let means = PLACEMENTS.iter().map(|p| spread(row(p), "l2_miss_share"));
            misses.row(first.chain(means).chain([percent(theory)]));
        }
    }
    let head = ["work", "size", "placement", "repeats", "L2 misses", "deviation", "of L2 accesses"];
    let cycles = ["modelled cycles", "beyond contiguous"];
    let mut work = Table::new(MACHINE.into_iter().chain(head).chain(cycles));
    for machine in &machines(results) {
        for program in &programs(results) {
            for placement in PLACEMENTS {
                let Some(row) = find(results, machine, &program.0, placement, &program.1) else {
                    continue;
                };
                let count = |name: &str| row.metric(name).map_or("–".into(), thousands);
                let beyond = beyond_contiguous(results, machine, program, placement);
                let cells = [
                    program.0.clone(),
                    program.1.parse().map_or(program.1.clone(), thousands),
                    placement.into(),
                    count("repeats"),
                    count("l2_misses"),
                    count("l2_misses_deviation"),
                    percent(row.metric("l2_miss_share")),
                    count("modelled_cycles"),
                    beyond.map_or("–".into(), |beyond| format!("{beyond:+.1} %")),
                ];
                work.row(machine.head().into_iter().chain(cells));
            }
        }
    }
    let mut tables = vec![
        ("Reads: modelled bandwidth in percent of the peak (mean ± deviation)".into(), bandwidth),
        ("Reads: share of lines that miss L2 (mean ± deviation)".into(), misses),
        ("Programs (matrix: cycles of one row of the product)".into(), work),
    ];
    tables.extend(associative::table(results));
    tables
}

/// Against contiguous frames, which are colored by construction.
fn of_colored(results: &Results, machine: &Machine, placement: &str, eighths: &str) -> String {
    let share = |placement: &str| {
        find(results, machine, "read", placement, eighths)?.metric("modelled_peak_share")
    };
    let ratio = share(placement).zip(share("contiguous")).map(|(this, colored)| this / colored);
    ratio.map_or("–".into(), |ratio| format!("{ratio:.2}"))
}

pub(super) fn against_source(results: &Results) -> (String, Table) {
    let head = ["figure", "arch", "L2 ways", "policy", "source, measured: uncolored", "colored"];
    let ours = PLACEMENTS.map(|placement| format!("{placement}, modelled"));
    let mut table = Table::new(head.map(str::to_owned).into_iter().chain(ours));
    let machines = machines(results);
    let mut add = |figure: &str, source: [&str; 2], ours: &dyn Fn(&Machine, &str) -> String| {
        for machine in &machines {
            // The source's machine for the headline was an Alpha with a
            // direct-mapped L2.
            let source = if machine.l2_ways == "1" { source } else { ["–", "–"] };
            let first = [figure.to_owned()].into_iter().chain(machine.head());
            let first = first.chain(source.map(str::to_owned));
            table.row(first.chain(PLACEMENTS.map(|p| ours(machine, p))));
        }
    };
    for eighths in ["1", "2", "4", "8"] {
        let source = if eighths == "1" { "1.00" } else { "0.38 to 0.63" };
        let figure = format!("bandwidth at {eighths}/8 of L2, of colored");
        add(&figure, [source, "1.00"], &|machine, p| of_colored(results, machine, p, eighths));
    }
    for program in &programs(results) {
        let (figure, source) = match (program.0.as_str(), program.1.as_str()) {
            ("matrix", n) => {
                (format!("matrix {n}×{n}, time beyond colored"), "10 % (1000×1000, 512 kB L2)")
            }
            (_, "65536") => ("FFT of 64k points, time beyond colored".into(), "30 %"),
            (_, "1048576") => ("FFT of 1M points, time beyond colored".into(), "20 %"),
            (_, n) => (format!("FFT of {n} points, time beyond colored"), "–"),
        };
        add(&figure, [source, "0 %"], &|machine, p| {
            beyond_contiguous(results, machine, program, p)
                .map_or("–".into(), |beyond| format!("{beyond:+.1} %"))
        });
    }
    let heading = "Against the source (2003: Alpha with a direct-mapped L2 of 2 MB, Athlon)";
    (heading.into(), table)
}
