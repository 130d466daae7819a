// SPDX-License-Identifier: MIT OR Apache-2.0
//! The options that say which cache to color and how, shared by subcommands.

use anyhow::Context;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use huepage::{
    color::{ColorsBy, MeasureOptions},
    topology::{CacheGeometry, CacheOverride, ChoiceError, LiveMachine, Topology, allowed_cpus},
};

/// All that [`ColorsBy`] reads, for help and completions.
const COLORS_BY: [&str; 3] = ["auto", "frame-number", "measurement"];

/// Which cache, and how to tell colors.
#[derive(Debug, clap::Args)]
pub struct CacheOptions {
    /// The CPU whose cache to color [default: the last one available]
    #[arg(long, value_name = "N")]
    pub cpu: Option<u32>,

    /// Geometry of the cache, instead of what the machine declares, such as
    /// size=2M,ways=16
    #[arg(long, value_name = "size=S,ways=W[,line=L][,level=N]")]
    pub cache: Option<CacheOverride>,

    /// How to tell colors; auto measures, and takes frame numbers where they
    /// predict what was measured
    #[arg(long, value_name = "HOW", default_value = "auto",
          value_parser = PossibleValuesParser::new(COLORS_BY).try_map(|how| how.parse::<ColorsBy>()))]
    pub colors_by: ColorsBy,

    /// Seed of all random choices [default: random]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
}

/// A CPU and its cache.
#[derive(Clone, Copy, Debug)]
pub struct ResolvedCache {
    pub cpu: u32,
    /// `None` where nothing believable is declared.
    pub geometry: Option<CacheGeometry>,
    pub seed: Option<u64>,
}

impl CacheOptions {
    /// Reads the machine, and takes the cache declared there unless one is given.
    ///
    /// # Errors
    /// If the machine cannot be read, or the CPU does not exist.
    pub fn resolve(&self) -> anyhow::Result<ResolvedCache> {
        let cpu = match self.cpu {
            Some(cpu) => cpu,
            None => *allowed_cpus()?.last().context("no CPU is available to this process")?,
        };
        let geometry = match self.cache {
            Some(given) => Some(given.geometry()),
            None => declared(cpu)?,
        };
        Ok(ResolvedCache { cpu, geometry, seed: self.seed })
    }
}

/// A geometry that is missing or cannot be believed is said to be so and left
/// out: colors can be counted without. Other reasons need the user's word.
fn declared(cpu: u32) -> anyhow::Result<Option<CacheGeometry>> {
    let topology = Topology::read(&LiveMachine::open(cpu)?)?;
    match topology.cache_to_color(cpu) {
        Ok(geometry) => Ok(Some(geometry)),
        Err(
            why @ (ChoiceError::NotListed(_)
            | ChoiceError::NotDeclared { .. }
            | ChoiceError::Rejected { .. }),
        ) => {
            eprintln!("huepage: {why}; going on by counting colors");
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
}
