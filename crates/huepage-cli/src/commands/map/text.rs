// SPDX-License-Identifier: MIT OR Apache-2.0
//! A map as text of at most 80 columns, repeats collapsed.

mod caches;
mod mappings;
mod pages;

pub use pages::kind_name;

use std::time::{Duration, UNIX_EPOCH};

use huepage::{
    map::{Change, ProcessMap, Trust},
    run::Way,
};

use huepage_present::{
    escape,
    number::{counted, indexes},
    paragraph::put,
};

use super::in_bytes;

/// The whole map; `all` lists every mapping.
pub fn render(map: &ProcessMap, all: bool) -> String {
    let mut out = String::new();
    head(&mut out, map);
    pages::kinds(&mut out, map);
    pages::places(&mut out, map);
    caches::caches(&mut out, map);
    caches::registered(&mut out, map);
    mappings::mappings(&mut out, map, all);
    end(&mut out, map);
    // Names are safe already; other texts of a record may not be.
    escape::lines(&out)
}

fn head(out: &mut String, map: &ProcessMap) {
    let (process, machine, pages) = (&map.process, &map.machine, &map.total.pages);
    let name = escape::shorten(process.name.as_str(), 40);
    let title = format!(
        "{name}, PID {}, {}: {} present of {} reserved",
        process.pid,
        counted(u64::from(process.threads), "thread"),
        in_bytes(map, pages.present),
        in_bytes(map, pages.reserved),
    );
    put(out, "", &title);
    let command: Vec<&str> = process.command.iter().map(|word| word.as_str()).collect();
    // A program that renames itself leaves empty arguments behind.
    let command = command.join(" ");
    if !command.trim().is_empty() {
        put(out, "Command    ", &escape::shorten(command.trim(), 69));
    }
    if let [_, inner @ ..] = &process.pid_in_namespaces[..]
        && !inner.is_empty()
    {
        let inner: Vec<String> = inner.iter().map(u32::to_string).collect();
        put(out, "Container  ", &format!("its own PID is {}", inner.join(", then ")));
    }
    let model = machine.model.as_ref().map(|model| format!("{model}, ")).unwrap_or_default();
    let nodes = match &machine.nodes[..] {
        [] => String::new(),
        [one] => format!(", node {one}"),
        many => format!(", nodes {}", indexes(many)),
    };
    let page = machine.page_size;
    let text = format!("{model}Linux {}, pages of {page}{nodes}", machine.kernel);
    put(out, "Machine    ", &text);
    if let Some(way) = map.placed_by {
        let how = match way {
            Way::Live => "frames are exchanged below its pages",
            Way::Heap => "malloc's memory is placed before the program gets it",
        };
        put(out, "Placed by  ", &format!("huepage run: {how} ({})", way.library()));
    }
    put(out, "Taken      ", &format!("{} by {}", time(map.taken), map.made_by));
}

/// Seconds since 1970 as a date and time.
fn time(seconds: u64) -> String {
    const END_OF_9999: u64 = 253_402_300_799;
    // A hostile record may hold any number.
    let time = UNIX_EPOCH + Duration::from_secs(seconds.min(END_OF_9999));
    humantime::format_rfc3339_seconds(time).to_string().replace('T', " ").replace('Z', " UTC")
}

/// Prints what is missing and what changed.
fn end(out: &mut String, map: &ProcessMap) {
    let mut heading = "\n";
    for change in &map.changes {
        put(out, &format!("{heading}Meanwhile  "), &change_text(change));
        heading = "";
    }
    for shortfall in &map.shortfalls {
        put(out, &format!("{heading}Not shown  "), &shortfall_text(shortfall));
        heading = "";
    }
}

/// What the process did, in a sentence.
pub fn change_text(change: &Change) -> String {
    match change {
        Change::Exited => "the process ended; what was read before is shown".to_owned(),
        Change::Executed => {
            "the process became another program; mappings of both may be shown".to_owned()
        }
        Change::Remapped { gone, new } => format!(
            "{} removed or changed, {new} added, which {} not shown",
            counted(*gone, "mapping"),
            if *new == 1 { "is" } else { "are" }
        ),
    }
}

/// A shortfall in a sentence: part, reason, and the capability that would help.
pub fn shortfall_text(shortfall: &huepage::map::Shortfall) -> String {
    use huepage::map::What;
    let what = match shortfall.what {
        What::FrameNumbers => "frame numbers",
        What::PageFlags => "flags of frames",
        What::Categories => "zero and huge pages",
        What::KernelCounts => "the kernel's own counts",
        What::Nodes => "nodes",
        What::Caches => "caches",
        What::Registered => "registered memory",
        What::Areas => "some mappings",
    };
    if let What::Caches = shortfall.what {
        return format!("{what}: {}: {}", shortfall.why, crate::advice::CACHE);
    }
    match &shortfall.needs {
        Some(needs) if !shortfall.why.contains(needs.as_str()) => {
            format!("{what}: {} (needs {needs})", shortfall.why)
        }
        _ => format!("{what}: {}", shortfall.why),
    }
}

/// Why colors by frame number are not those of a cache; `None` if they are.
pub fn doubt(map: &ProcessMap, trust: Trust) -> Option<String> {
    match trust {
        Trust::Plain => None,
        Trust::Hashed => Some("a hash cuts this cache into slices".to_owned()),
        Trust::VirtualMachine => Some(format!(
            "frame numbers are the guest's own{}, not the host's",
            map.machine.hypervisor.as_ref().map(|name| format!(" ({name})")).unwrap_or_default()
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_are_dates_as_the_calendar_has_them() {
        for (seconds, text) in [
            (0, "1970-01-01 00:00:00 UTC"),
            (951_782_399, "2000-02-28 23:59:59 UTC"),
            (951_782_400, "2000-02-29 00:00:00 UTC"),
            (1_798_761_599, "2026-12-31 23:59:59 UTC"),
            (4_107_542_400, "2100-03-01 00:00:00 UTC"),
            (u64::MAX, "9999-12-31 23:59:59 UTC"),
        ] {
            assert_eq!(time(seconds), text);
        }
    }
}
