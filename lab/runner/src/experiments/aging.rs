// SPDX-License-Identifier: MIT OR Apache-2.0
//! S1: STREAM behind a direct-mapped memory-side cache, fresh and after days of
//! other work.

mod cases;
mod chance;
mod check;
mod lines;
mod picture;
mod rows;
mod scope;
mod tables;
mod theory;

use anyhow::Context;

use crate::{
    boot::Report,
    experiment::{Case, Experiment, Found, Scale},
    kernel::Variant,
    results::{Plot, Results, Row, Table},
    settings::Settings,
};

const REMARKS: &str = "\
A line is in conflict when another line that the same kernel function touches has its set of the \
cache; in a pass that is repeated such a line misses every time. *fill* is what the three arrays \
take together: add and triad touch all of it, copy and scale two thirds. The modelled bandwidth \
counts each line once, at the stated rate of a hit or of a miss. The rate of a hit is what the \
source measured fresh; the rate of a miss is chosen so that random placement at fill 1 comes to \
what the source measured after days, so the two figures in GB/s are no prediction: the share of \
lines in conflict is. Beside it stands what follows from that share with rates that others \
published of this processor, 400 GB/s for its MCDRAM alone and 90 for its DDR: the source's own \
336 GB/s fresh is then between what stock and what colored pages should have.

The model has the memory-side cache and nothing before it. It leaves out that a miss also moves \
the evicted line, that prefetchers and many memory controllers overlap hits and misses, that TLBs \
cost more with small pages, and that a store may bypass caches. All of these change GB/s; none \
changes which lines share a set. The CXL form has the same rates so that forms compare; a real \
device has others. Fills that leave its machine, two caches large, no room for the kernel are \
left out. Above fill 1 even pages in sequence conflict: at fill 2 all of them do, random ones less.

A day is a dose of work in percent of the memory that is free in the morning: files come and go, \
pages are touched and freed in random order, children copy pages on write, some pages stay until \
the next day. Files are written to memory, because a disk answers when it likes and no two runs \
would be the same; `--set cached=disk` reads them from a disk. The machine is small, a few caches \
of memory, and nothing else runs on it: real days mix more.

A page's color is checked twice: the misses of the model and the frame numbers that the kernel \
shows agree within a hundredth in every row, and as much more as pages were moved meanwhile, or \
the row is not there. With huge pages the kernel goes on \
moving pages while they are measured, most of all where memory is nearly full: those rows are not \
checked, and the four kernel functions show both figures. The run fails too if the control, pages \
picked at random among nearly all frames, is further than three hundredths from theory: \
1 − e^(−fill) in the memory-side form, and in the CXL form, where a color has only two frames, \
what follows from counting them.

A fresh boot of a kernel that colors nothing is one draw, not a mean: which blocks are free hangs \
on a page that the firmware keeps here or there. So every seed but the first keeps a page of its \
own back at boot (on x86_64), and with a cache of 256 MiB, of 64 blocks of the largest order \
instead of 16, a page moves less. The run fails if the stock kernel and `off` are further apart, \
in the mean of all fills and functions, than 8 points fresh or 5 aged, which no policy that colors \
or shuffles passes.

Three baselines are what others do, before each job: `zonesort` sorts the lists of free blocks by \
address, as Slurm does on Knights Landing (what waits on the CPUs' own lists is given back first, \
which the module does not do); `compact` writes to `/proc/sys/vm/compact_memory`. `least-used` is \
the static policy of Johnny Cache (OSDI 2023): each page of user space, also of the page cache, \
goes to a bucket with the fewest such pages, whoever has them, from boot on. It is written anew \
after the paper's description, for the lab only; its dynamic part, which moves pages that \
conflict, is left out. `zonesort` and `least-used` are of `lab/kernel`.";

/// The experiment.
pub struct Aging;

const PAGE: u64 = 4096;

/// All but those of [`crate::placement::Placement`] are of this experiment only.
const POLICIES: [&str; 9] =
    ["stock", "shuffle", "thp", "off", "on", "zonesort", "compact", "least-used", "random"];

impl Experiment for Aging {
    fn name(&self) -> &'static str {
        "aging"
    }

    fn about(&self) -> &'static str {
        "STREAM behind a direct-mapped memory-side cache, fresh and aged (S1)"
    }

    fn settings(&self, scale: Scale) -> Settings {
        let full = scale == Scale::Full;
        let choose = |at_full, quick| if full { at_full } else { quick };
        Settings::new(&[
            ("arch", choose("x86_64", "x86_64,arm64")),
            // memory-side: a cache in front of all memory. flat: the CXL form, memory
            // twice the cache, so two frames to a color.
            ("form", "memory-side,flat"),
            // off and on take the kernel variant huepage.
            (
                "policy",
                choose(
                    "stock,shuffle,thp,off,on,zonesort,compact,least-used,random",
                    "stock,random",
                ),
            ),
            // Who touches the arrays first: one worker in order or at random, two threads
            // or two processes by turns. What is looked at of the grid: see scope.rs.
            ("touch", choose("ordered,random,threads,processes", "ordered")),
            ("intensity", choose("light,medium,heavy", "heavy")),
            ("fill", choose("0.5,0.94,1.0,1.25,1.5,2.0", "0.5,1.0")),
            ("ages", choose("3", "1")),
            ("cache", choose("64M,256M", "32M")),
            // Of the form flat. Larger, so that the kernel's own memory is a small part of
            // it, as on a real machine: with two frames to a color, a color of which the
            // kernel has one leaves no choice.
            ("flat_cache", choose("128M", "64M")),
            // In caches; of the form memory-side. The control takes twice as much.
            ("memory", "8"),
            // Where the files of the page cache are. A disk answers when it likes: no two
            // runs are the same.
            ("cached", "memory"),
            ("seed", choose("1,2,3,4,5,6,7,8,9,10", "1")),
            // What seeds and caches but the first have.
            ("chance_fill", choose("0.94", "0.5")),
            ("hit_gbs", "336"),
            ("miss_gbs", "85"),
        ])
    }

    fn cases(&self, settings: &Settings, variant: Variant) -> anyhow::Result<Vec<Case>> {
        let mut boots = Vec::new();
        let names = [
            "arch",
            "form",
            "policy",
            "intensity",
            "touch",
            "cache",
            "flat_cache",
            "memory",
            "cached",
            "seed",
            "hit_gbs",
            "miss_gbs",
        ];
        for point in settings.grid(&names) {
            if let Some(scope) = scope::of(settings, &point)? {
                boots.push(cases::case(&point, &scope, variant).context(point.to_string())?);
            }
        }
        Ok(boots)
    }

    fn rows(&self, case: &Case, report: &Report) -> anyhow::Result<Vec<Found>> {
        let found = rows::of(case, report)?;
        found.iter().try_for_each(|found| check::row(case, found))?;
        Ok(found)
    }

    fn finish(&self, rows: Vec<Row>) -> anyhow::Result<Vec<Row>> {
        check::off_is_stock(&rows)?;
        Ok(rows)
    }

    fn tables(&self, results: &Results) -> Vec<(String, Table)> {
        tables::all(results)
    }

    fn plot(&self, results: &Results) -> Plot {
        picture::plot(results)
    }

    fn against_source(&self, results: &Results) -> (String, Table) {
        tables::against_source(results)
    }

    fn remarks(&self) -> &'static str {
        REMARKS
    }
}
