// SPDX-License-Identifier: MIT OR Apache-2.0
//! Trying each feature, by what huepage itself uses of it.

use std::{fs, path::Path};

use serde::Serialize;

use huepage::{
    color::CAN_MEASURE,
    frames::{PageFlags, Pagemap, Populated},
    place::Mechanism,
};

use crate::commands::run::backend;

/// Whether a feature is here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "here", content = "why", rename_all = "kebab-case")]
pub enum Here {
    Yes,
    /// What is missing, and what would give it.
    No(String),
}

fn here<T, E: std::fmt::Display>(result: Result<T, E>) -> Here {
    match result {
        Ok(_) => Here::Yes,
        Err(why) => Here::No(format!("{why:#}")),
    }
}

fn path(path: &str, otherwise: &str) -> Here {
    if Path::new(path).exists() { Here::Yes } else { Here::No(otherwise.to_owned()) }
}

/// An entry of a directory whose name begins so, and that has `inside`.
fn entry(directory: &str, prefix: &str, inside: &str, otherwise: &str) -> Here {
    let mut entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let found = entries.any(|entry| {
        let name = entry.file_name();
        name.to_string_lossy().starts_with(prefix) && entry.path().join(inside).exists()
    });
    if found { Here::Yes } else { Here::No(otherwise.to_owned()) }
}

pub fn timing() -> Here {
    if CAN_MEASURE {
        Here::Yes
    } else {
        Here::No("timing is for x86-64; frame numbers: --colors-by frame-number".to_owned())
    }
}

pub fn frame_numbers() -> Here {
    match Pagemap::open().and_then(|pagemap| pagemap.frame_numbers_visible()) {
        Ok(true) => Here::Yes,
        Ok(false) => Here::No("hidden: needs CAP_SYS_ADMIN".to_owned()),
        Err(why) => Here::No(why.to_string()),
    }
}

pub fn page_flags() -> Here {
    here(PageFlags::open().map_err(|why| format!("/proc/kpageflags: {why}; needs CAP_SYS_ADMIN")))
}

pub fn pagemap_scan() -> Here {
    let mut found = [Populated::default()];
    here(Pagemap::open().and_then(|pagemap| pagemap.scan(0..0, &mut found)))
}

pub fn uffdio_move() -> Here {
    here(Mechanism::userfaultfd())
}

pub fn live_placement() -> Here {
    here(backend::may_place())
}

pub fn mthp() -> Here {
    let otherwise = "no sizes in /sys/kernel/mm/transparent_hugepage";
    entry("/sys/kernel/mm/transparent_hugepage", "hugepages-", "enabled", otherwise)
}

pub fn side_cache() -> Here {
    let otherwise = "none is described by the firmware (HMAT)";
    entry("/sys/devices/system/node", "node", "memory_side_cache", otherwise)
}

pub fn kernel_coloring() -> Here {
    here(backend::kernel_colors())
}

pub fn color_sets() -> Here {
    path("/proc/self/page_colors", "needs a kernel with the page_color patches")
}

pub fn zero_pages() -> Here {
    path("/sys/kernel/mm/zero_pages", "needs a kernel with the zero_pages patches")
}

pub fn merge_distance() -> Here {
    path("/sys/kernel/mm/ksm/merge_distance", "needs a kernel with the KSM patches")
}
