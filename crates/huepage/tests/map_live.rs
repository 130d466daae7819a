// SPDX-License-Identifier: MIT OR Apache-2.0
//! Maps of real processes against the kernel's counts and known placements.

#[path = "map/page_by_page.rs"]
mod page_by_page;
#[path = "map/processes.rs"]
mod processes;
#[path = "map/records.rs"]
mod records;
#[path = "map/trouble.rs"]
mod trouble;
#[path = "map/truth.rs"]
mod truth;
