// SPDX-License-Identifier: MIT OR Apache-2.0
//! Settings for opening colored memory.

use super::{ColoredError, Huepage};
use crate::{
    color::{ColorOracle, ColorsBy, MeasureOptions, choose},
    place::Policy,
    topology::{CacheGeometry, ChoiceError, LiveMachine, Topology, allowed_cpus},
    units::Bytes,
};

/// How [`Huepage`] is to be opened. Every part has a default.
#[derive(Default)]
#[must_use = "nothing is opened yet"]
pub struct Builder {
    cpu: Option<u32>,
    cache: Option<CacheGeometry>,
    colors_by: ColorsBy,
    oracle: Option<Box<dyn ColorOracle + Send>>,
    policy: Option<Policy>,
    pool: Option<Bytes>,
}

impl std::fmt::Debug for Builder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Builder")
            .field("cpu", &self.cpu)
            .field("cache", &self.cache)
            .field("colors_by", &self.colors_by)
            .field("oracle", &self.oracle.as_ref().map(|oracle| oracle.method()))
            .field("policy", &self.policy)
            .field("pool", &self.pool)
            .finish()
    }
}

impl Builder {
    /// The CPU whose cache is colored; by default the last one that the process may
    /// use. Threads that use the memory should run there, or on a CPU with the same
    /// kind of cache.
    pub fn cpu(mut self, cpu: u32) -> Self {
        self.cpu = Some(cpu);
        self
    }

    /// The geometry of the cache, instead of the declared one.
    pub fn cache(mut self, geometry: CacheGeometry) -> Self {
        self.cache = Some(geometry);
        self
    }

    /// How colors are found; by default [`ColorsBy::Auto`].
    pub fn colors_by(mut self, by: ColorsBy) -> Self {
        self.colors_by = by;
        self
    }

    /// An oracle that finds colors, instead of choosing one: CPU, cache and
    /// [`Builder::colors_by`] then have no effect.
    pub fn oracle(mut self, oracle: impl ColorOracle + Send + 'static) -> Self {
        self.oracle = Some(Box::new(oracle));
        self
    }

    /// How memory is placed; by default [`Policy::Balanced`].
    pub fn policy(mut self, policy: Policy) -> Self {
        self.policy = Some(policy);
        self
    }

    /// For how much memory pages are drawn when it is opened. By default pages are
    /// drawn when memory is requested; when these are used up, more are drawn in any
    /// case.
    pub fn pool(mut self, size: Bytes) -> Self {
        self.pool = Some(size);
        self
    }

    /// Finds the colors, and draws the pool.
    ///
    /// # Errors
    /// [`ColoredError`] says what is missing.
    pub fn open(self) -> Result<Huepage, ColoredError> {
        let (oracle, reason) = match self.oracle {
            Some(oracle) => (oracle, "as the program tells them".to_owned()),
            None => {
                let options = measure_options(self.cpu, self.cache)?;
                let chosen = choose(self.colors_by, &options)?;
                (Box::new(chosen.oracle) as Box<dyn ColorOracle + Send>, chosen.reason)
            }
        };
        let huepage = Huepage::new(oracle, reason, self.policy.unwrap_or(Policy::Balanced))?;
        if let Some(size) = self.pool {
            huepage.draw(size)?;
        }
        Ok(huepage)
    }
}

fn measure_options(
    cpu: Option<u32>,
    cache: Option<CacheGeometry>,
) -> Result<MeasureOptions, ColoredError> {
    let cpu = match cpu {
        Some(cpu) => cpu,
        None => allowed_cpus().map_err(ColoredError::Cpus)?.last().copied().unwrap_or(0),
    };
    let geometry = match cache {
        Some(geometry) => Some(geometry),
        None => match Topology::read(&LiveMachine::open(cpu)?)?.cache_to_color(cpu) {
            Ok(geometry) => Some(geometry),
            // Without a geometry colors can still be counted.
            Err(
                ChoiceError::NotListed(_)
                | ChoiceError::NotDeclared { .. }
                | ChoiceError::Rejected { .. },
            ) => None,
            Err(error) => return Err(error.into()),
        },
    };
    Ok(MeasureOptions::new(cpu, geometry))
}
