// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which cache is worth coloring for one CPU.

use super::{CacheGeometry, CacheKind, Topology, Verdict};
use crate::{
    list,
    units::{Bytes, ColorCount},
};

/// Why the cache of a CPU cannot be chosen automatically.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ChoiceError {
    /// The CPU is not online, or does not exist.
    #[error("CPU {cpu} is not online: choose one of {online}")]
    NoSuchCpu {
        /// The CPU asked for.
        cpu: u32,
        /// The CPUs online, as a list.
        online: String,
    },
    /// sysfs lists no L2 for the CPU.
    #[error("no L2 is declared for CPU {0}: give its geometry by hand")]
    NotListed(u32),
    /// The values of the L2 are incomplete.
    #[error("the L2 of CPU {cpu} is not declared in full ({missing} missing): give it by hand")]
    NotDeclared {
        /// The CPU asked for.
        cpu: u32,
        /// The values missing.
        missing: String,
    },
    /// The values of the L2 cannot be true.
    #[error("the declared L2 of CPU {cpu} cannot be true ({reason}): give it by hand")]
    Rejected {
        /// The CPU asked for.
        cpu: u32,
        /// Why.
        reason: String,
    },
    /// Other cores fill the L2 too.
    #[error(
        "the L2 of CPU {cpu} is shared by {cores} cores (CPUs {sharing}), which disturb each \
         other; to color it all the same, give its geometry by hand"
    )]
    Shared {
        /// The CPU asked for.
        cpu: u32,
        /// How many cores share it.
        cores: u32,
        /// Their CPUs, as a list.
        sharing: String,
        /// What to give to choose it.
        given: super::CacheOverride,
    },
    /// Pages as large as a way: every page covers every set.
    #[error(
        "the L2 of CPU {cpu} has one color with pages of {page_size}: all placements are alike"
    )]
    OneColor {
        /// The CPU asked for.
        cpu: u32,
        /// The size of a base page.
        page_size: Bytes,
    },
}

/// The cache chosen for one CPU, or why there is none, as data.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Choice {
    /// The CPU asked for.
    pub cpu: u32,
    /// `given` by hand, `declared` by the system, or `none`.
    pub origin: Origin,
    /// The cache.
    pub geometry: Option<CacheGeometry>,
    /// Its colors.
    pub colors: Option<ColorCount>,
    /// Why there is none.
    pub reason: Option<String>,
}

/// Where the geometry of the cache comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum Origin {
    /// The user.
    Given,
    /// The system.
    Declared,
    /// Neither: no geometry is known.
    None,
}

impl Topology {
    /// The cache worth coloring for `cpu`: the last one that is unified, private to the
    /// CPU's core and indexed by physical address alone. That is the L2.
    ///
    /// L1 caches are so small that the page offset alone selects the set. L3 caches are
    /// shared and cut into slices by an undocumented hash; in a virtual machine with
    /// one CPU they look private, but are not.
    ///
    /// # Errors
    /// [`ChoiceError`] says why there is none and what helps.
    pub fn cache_to_color(&self, cpu: u32) -> Result<CacheGeometry, ChoiceError> {
        if !self.cpus.contains(&cpu) {
            return Err(ChoiceError::NoSuchCpu { cpu, online: list::format(&self.cpus) });
        }
        let cache = self
            .caches
            .iter()
            .find(|c| c.level == 2 && c.kind == CacheKind::Unified && c.cpus.contains(&cpu))
            .ok_or(ChoiceError::NotListed(cpu))?;
        match &cache.verdict {
            Verdict::NotDeclared { missing } => {
                Err(ChoiceError::NotDeclared { cpu, missing: missing.join(", ") })
            }
            Verdict::Rejected { reason } => {
                Err(ChoiceError::Rejected { cpu, reason: reason.clone() })
            }
            Verdict::Accepted { geometry, colors } => {
                if cache.cores > 1 {
                    return Err(ChoiceError::Shared {
                        cpu,
                        cores: cache.cores,
                        sharing: list::format(&cache.cpus),
                        given: (*geometry).into(),
                    });
                }
                if colors.get() == 1 {
                    return Err(ChoiceError::OneColor { cpu, page_size: self.page_size });
                }
                Ok(*geometry)
            }
        }
    }

    /// [`Topology::cache_to_color`] as data; a geometry given by hand comes first.
    ///
    /// # Errors
    /// [`ChoiceError::NoSuchCpu`] only: any other reason is part of the data.
    pub fn choose(
        &self,
        cpu: u32,
        given: Option<super::CacheOverride>,
    ) -> Result<Choice, ChoiceError> {
        let (origin, result) = match (given, self.cache_to_color(cpu)) {
            (_, Err(error @ ChoiceError::NoSuchCpu { .. })) => return Err(error),
            (Some(given), _) => (Origin::Given, Ok(given.geometry())),
            (None, Ok(geometry)) => (Origin::Declared, Ok(geometry)),
            (None, Err(error)) => (Origin::None, Err(error)),
        };
        Ok(Choice {
            cpu,
            origin,
            geometry: result.as_ref().ok().copied(),
            colors: result.as_ref().ok().map(|geometry| geometry.colors(self.page_size)),
            reason: result.err().map(|error| error.to_string()),
        })
    }
}
