// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tests of the lab: the command, the kernels it builds, the model beside its twins, and
//! each experiment in its quick form.
//!
//! One program, so that they run side by side: most machines that are booted keep one CPU
//! busy. Those of one file: `cargo test -p huepage-lab --test lab aging::`.

mod aging;
mod boot;
mod cases;
mod cli;
mod days;
mod exec;
mod fault_cost;
mod frame_order;
mod kernel;
mod ksm_nodes;
mod mixed;
mod model_check;
mod model_qemu;
mod model_stream;
mod page_color;
mod page_color_units;
mod region_header;
mod scale;
mod selftests;
mod sequential_io;
mod stress;
mod support;
mod two_guests;
mod working_set;
mod zero_pages;
mod zero_pages_boot;
mod zone_lock;
