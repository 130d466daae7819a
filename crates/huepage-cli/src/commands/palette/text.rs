// SPDX-License-Identifier: MIT OR Apache-2.0
//! The report for people.

use std::fmt::Write;

use huepage::color::palette::Audience;

use huepage_present::{escape::printable, number::counted, paragraph::wrap};

use super::report::{Action, Details, Entry, PaletteReport};
use crate::commands::cache_options::cache_of_cpu;

/// Below the names of what is told.
const INDENT: &str = "             ";

/// The report as text of 80 columns.
pub fn text(report: &PaletteReport) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "{}", cache_of_cpu(report.cache.as_ref(), report.cpu));
    match report.action {
        Action::Shown => {}
        Action::Made | Action::Published => {
            let _ = writeln!(out, "made anew in {:.3} s", report.seconds);
        }
        Action::Removed => out.push_str("removed; programs that use it keep it\n"),
        Action::NothingToRemove => out.push_str("there was no palette to remove\n"),
    }
    report.palettes.iter().for_each(|entry| of_entry(&mut out, entry));
    out
}

fn of_entry(out: &mut String, entry: &Entry) {
    let whose = match entry.audience {
        Audience::All => "for all",
        Audience::User => "your own",
    };
    let path = printable(entry.path.as_deref().unwrap_or("no place"));
    let state = match entry.condition {
        "verified" => format!("verified now, in {:.1} ms", 1000.0 * entry.seconds),
        "worn" => {
            "some pages have moved; the next program that may write to it replaces them".to_owned()
        }
        "absent" => format!("none in {path}"),
        _ => "not used".to_owned(),
    };
    row(out, whose, &state);
    if let Some(problem) = &entry.problem {
        line(out, "why", &printable(problem));
    }
    if let Some(palette) = &entry.palette {
        line(out, "place", &path);
        details(out, palette);
    }
}

fn details(out: &mut String, of: &Details) {
    line(out, "owner", &format!("user {}", of.owner));
    line(out, "name", &printable(&of.name));
    let least = of.pages_per_color.iter().min().unwrap_or(&0);
    let most = of.pages_per_color.iter().max().unwrap_or(&0);
    let each = if least == most { format!("{most}") } else { format!("{least} to {most}") };
    line(out, "colors", &format!("{}, in a cache of {} ways", of.colors, of.ways));
    line(out, "pages", &format!("{}, {each} of each color, {} shared", of.pages, of.bytes));
    line(out, "made", &format!("{} ago", age(of.age_seconds)));
    if of.repaired.is_some() {
        line(out, "repaired", &format!("{} pages had moved and were replaced", of.replaced));
    }
    if let Some(last) = of.evidence.attempts.last() {
        let attempts = counted(of.evidence.attempts.len() as u64, "attempt");
        // It is wrapped for messages of several lines.
        let last = last.to_string();
        let last: Vec<&str> = last.split_whitespace().collect();
        line(out, "evidence", &format!("{attempts}, {}", last.join(" ")));
    }
    let machine = &of.machine;
    line(out, "made on", &printable(&format!("Linux {}, {}", machine.kernel, machine.cpu)));
}

fn line(out: &mut String, name: &str, what: &str) {
    row(out, &format!("  {name}"), what);
}

/// A head, and beside it what may take several lines.
fn row(out: &mut String, head: &str, what: &str) {
    let text = wrap(&format!("{INDENT}{what}"), INDENT);
    let _ = write!(out, "{head:<width$}{}", &text[INDENT.len()..], width = INDENT.len());
}

/// The age in the largest unit that fits.
fn age(seconds: u64) -> String {
    let (number, unit) = match seconds {
        0..60 => (seconds, "s"),
        60..3600 => (seconds / 60, "min"),
        3600..86_400 => (seconds / 3600, "h"),
        _ => (seconds / 86_400, "days"),
    };
    format!("{number} {unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_are_told_in_the_largest_unit() {
        let ages = [0, 59, 60, 3599, 3600, 86_399, 86_400, 864_000].map(age);
        assert_eq!(ages, ["0 s", "59 s", "1 min", "59 min", "1 h", "23 h", "1 days", "10 days"]);
    }
}
