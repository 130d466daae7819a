// SPDX-License-Identifier: MIT OR Apache-2.0
//! The options that select the cache to color and the method, shared by subcommands.

use anyhow::{Context, bail};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use huepage::{
    color::{ColorOracle, ColorsBy, MeasureOptions, Oracle},
    mapping::page_size,
    topology::{CacheGeometry, CacheOverride, ChoiceError, LiveMachine, Topology, allowed_cpus},
    units::Bytes,
};

use crate::advice;

/// All texts that [`ColorsBy`] reads, for help and completions.
const COLORS_BY: [&str; 3] = ["auto", "frame-number", "measurement"];

/// Which cache, and how to find colors.
#[derive(Debug, clap::Args)]
pub struct CacheOptions {
    #[command(flatten)]
    pub which: WhichCache,

    /// How to find colors; auto measures them, and then uses frame numbers if
    /// they agree with the measurement
    #[arg(long, value_name = "HOW", default_value = "auto",
          value_parser = PossibleValuesParser::new(COLORS_BY).try_map(|how| how.parse::<ColorsBy>()))]
    pub colors_by: ColorsBy,
}

/// Which cache, and what chance depends on.
#[derive(Debug, clap::Args)]
pub struct WhichCache {
    /// The CPU whose cache is used [default: the last one available]
    #[arg(long, value_name = "N")]
    pub cpu: Option<u32>,

    /// Geometry of the cache, in place of the declared one, such as
    /// size=2M,ways=16
    #[arg(long, value_name = "size=S,ways=W[,line=L][,level=N]")]
    pub cache: Option<CacheOverride>,

    /// Seed of all random choices [default: random]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
}

/// A CPU and its cache.
#[derive(Clone, Copy, Debug)]
pub struct ResolvedCache {
    pub cpu: u32,
    /// `None` if nothing credible is declared.
    pub geometry: Option<CacheGeometry>,
    pub seed: Option<u64>,
}

impl WhichCache {
    /// Reads the machine, and takes the cache declared there unless one is given.
    ///
    /// # Errors
    /// If the machine cannot be read, or the CPU does not exist.
    pub fn resolve(&self) -> anyhow::Result<ResolvedCache> {
        let cpu = self.cpu.map_or_else(last_available_cpu, Ok)?;
        let geometry = match self.cache {
            Some(given) => Some(given.geometry()),
            None => declared(cpu)?,
        };
        Ok(ResolvedCache { cpu, geometry, seed: self.seed })
    }

    /// The CPU, for an error: with its declared cache if another geometry was given.
    pub fn of_cpu(&self, cpu: u32) -> String {
        let declared =
            || Topology::read(&LiveMachine::open(cpu).ok()?).ok()?.cache_to_color(cpu).ok();
        let unlike = self.cache.and_then(|given| {
            declared().filter(|&cache| cache != given.geometry()).map(|cache| (given, cache))
        });
        match unlike {
            Some((given, cache)) => {
                let (level, size, ways) = (cache.level(), cache.size(), cache.ways());
                format!(
                    "CPU {cpu}, which declares an L{level} of {size} and {ways} ways, taken as \
                     {given} by --cache"
                )
            }
            None => format!("CPU {cpu}"),
        }
    }
}

/// The CPU that is used by default.
///
/// # Errors
/// If the CPUs cannot be listed.
pub fn last_available_cpu() -> anyhow::Result<u32> {
    let cpus = allowed_cpus().context("cannot read the CPU affinity")?;
    cpus.last().copied().context("the CPU affinity is empty: start with taskset -c CPU")
}

/// If the geometry is missing or not credible, prints that and returns none: colors can
/// be counted without it. For other reasons the user has to decide.
fn declared(cpu: u32) -> anyhow::Result<Option<CacheGeometry>> {
    let topology = Topology::read(&LiveMachine::open(cpu)?)?;
    match topology.cache_to_color(cpu) {
        Ok(geometry) => Ok(Some(geometry)),
        Err(
            why @ (ChoiceError::NotListed(_)
            | ChoiceError::NotDeclared { .. }
            | ChoiceError::Rejected { .. }),
        ) => {
            eprintln!("huepage: {}; going on by measuring it", advice::with_option(&why));
            Ok(None)
        }
        Err(why) => Err(why.into()),
    }
}

impl ResolvedCache {
    /// The options for measuring this cache.
    pub fn measure_options(&self) -> MeasureOptions {
        let mut options = MeasureOptions::new(self.cpu, self.geometry);
        if let Some(seed) = self.seed {
            options.seed = seed;
        }
        options
    }

    /// The geometry declared or given; if there is none, the one that follows from
    /// measured colors and ways.
    ///
    /// # Errors
    /// If the cache cannot be measured either.
    pub fn geometry_or_measured(&self, oracle: &mut Oracle) -> anyhow::Result<CacheGeometry> {
        if let Some(geometry) = self.geometry {
            return Ok(geometry);
        }
        let ways = match oracle {
            Oracle::Measured(measured) => measured.measured_ways()?,
            Oracle::Palette(palette) => palette.ways(),
            _ => {
                bail!("the L2 is not declared here: give it with {}", advice::CACHE)
            }
        };
        const LINE: u32 = 64;
        let size = u64::from(oracle.count().get()) * u64::from(ways) * page_size().0;
        let geometry = CacheGeometry::from_size(2, Bytes(size), ways, LINE)?;
        eprintln!(
            "huepage: going on with the L2 as measured: {}, {} ways",
            geometry.size(),
            geometry.ways()
        );
        Ok(geometry)
    }
}

/// Whose cache, and which, as the first line of a text.
pub fn cache_of_cpu(cache: Option<&CacheGeometry>, cpu: u32) -> String {
    let Some(cache) = cache else {
        return format!("CPU {cpu}: cache geometry not declared");
    };
    let (level, size, line) = (cache.level(), cache.size(), cache.line());
    let (ways, sets) = (cache.ways(), cache.sets());
    format!("CPU {cpu}: L{level} of {size}, {ways} ways, {sets} sets of {line} B lines")
}
