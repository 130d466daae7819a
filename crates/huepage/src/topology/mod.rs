// SPDX-License-Identifier: MIT OR Apache-2.0
//! What this machine is: caches, nodes, memory-side caches.
//!
//! [`Topology::read`] describes a machine from a [`MachineSource`]: the running one
//! ([`LiveMachine`]) or a recorded one ([`RecordedMachine`]). Values that the system
//! declares are checked and not used if they cannot be true; [`Curve::measure`] finds
//! by timing where the caches end. [`Topology::cache_to_color`] picks the cache whose
//! colors placement uses.

mod cache;
mod cache_override;
mod choice;
mod cpuid;
mod curve;
mod geometry;
mod knee;
mod live;
mod machine;
mod node;
mod pin;
mod quiet;
#[cfg(feature = "serde")]
mod recorded_machine;
mod samples;
mod side_cache;
mod source;
mod virtualization;

pub use cache::{Cache, CacheFields, CacheKind, Verdict, cache_name};
pub use cache_override::{CacheOverride, ParseCacheError};
pub use choice::{Choice, ChoiceError, Origin};
pub use cpuid::{Comparison, CpuidLeaf, CrossCheck, Difference};
pub use curve::{Curve, CurvePlan, MeasureError, Point};
pub use geometry::{CacheGeometry, GeometryError};
pub use knee::{CacheEnd, Measured};
pub use live::LiveMachine;
pub use machine::{Topology, TopologyError};
pub use node::{Distance, NumaNode};
pub use pin::{PinError, Pinned, allowed_cpus};
pub use quiet::{QuietEnds, SizeVerdict};
#[cfg(feature = "serde")]
pub use recorded_machine::{RecordError, RecordedMachine};
pub use samples::Witnessed;
pub use side_cache::{AddressMode, Indexing, MemorySideCache, WritePolicy};
pub use source::MachineSource;
pub use virtualization::{HypervisorSign, Virtualization};
