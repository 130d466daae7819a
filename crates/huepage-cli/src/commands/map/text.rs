// SPDX-License-Identifier: MIT OR Apache-2.0
//! A map as text of at most 80 columns, repeats collapsed.

mod caches;
mod mappings;
mod pages;

pub use pages::kind_name;

use huepage::{
    map::{Change, ProcessMap, Trust},
    run::Way,
};

use huepage_present::{
    escape,
    number::{counted, indexes, size},
    paragraph::put,
};

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
    // Names are safe already; a record's other texts may not be.
    escape::lines(&out)
}

fn head(out: &mut String, map: &ProcessMap) {
    let (process, machine, pages) = (&map.process, &map.machine, &map.total.pages);
    let in_bytes = |pages: u64| size(huepage::units::Bytes(pages * machine.page_size.0));
    let name = escape::shorten(process.name.as_str(), 40);
    let title = format!(
        "{name}, PID {}, {}: {} present of {} reserved",
        process.pid,
        counted(u64::from(process.threads), "thread"),
        in_bytes(pages.present),
        in_bytes(pages.reserved),
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

/// Seconds since 1970 as a date and time, by the days of the Gregorian calendar.
fn time(seconds: u64) -> String {
    let (mut day, of_day) = (seconds / 86400, seconds % 86400);
    let leap =
        |year: u64| year.is_multiple_of(4) && !year.is_multiple_of(100) || year.is_multiple_of(400);
    // 400 years have as many days each time.
    let mut year = 1970 + day / 146_097 * 400;
    day %= 146_097;
    while day >= 365 + u64::from(leap(year)) {
        day -= 365 + u64::from(leap(year));
        year += 1;
    }
    let february = 28 + u64::from(leap(year));
    let mut month = 1;
    for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30] {
        if day < length {
            break;
        }
        day -= length;
        month += 1;
    }
    let (hour, minute, second) = (of_day / 3600, of_day / 60 % 60, of_day % 60);
    format!("{year}-{month:02}-{:02} {hour:02}:{minute:02}:{second:02} UTC", day + 1)
}

/// What is missing and what changed.
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
            "{} went or changed, {new} came and {} not shown",
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

/// Why colors by frame number are not those of a cache; nothing where they are.
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
        ] {
            assert_eq!(time(seconds), text);
        }
        // No year of a hostile record takes long.
        assert!(time(u64::MAX).ends_with(" UTC"));
    }
}
