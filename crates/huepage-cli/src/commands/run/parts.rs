// SPDX-License-Identifier: MIT OR Apache-2.0
//! Parts of the cache: their syntax, and which program uses which part.

use huepage_present::{
    escape, stdout,
    table::{Align, Table},
};
use std::{ffi::OsStr, process::ExitCode};

use anyhow::Context;
use huepage::{
    color::{Color, ColorCount, palette::PaletteOptions},
    list,
    run::{Holder, Shares},
};

/// Reads `1%`, `0.5%` or `0.01`.
///
/// # Errors
/// Why the text is no share, as a sentence.
pub fn share(text: &str) -> Result<f64, String> {
    let (number, unit) = match text.strip_suffix('%') {
        Some(number) => (number, 100.0),
        None => (text, 1.0),
    };
    let share: f64 =
        number.trim().parse().map_err(|_| "not a share: write 1% or 0.01".to_owned())?;
    match share / unit {
        // 1 without a unit is mostly meant as 1%.
        share if share >= 1.0 && unit == 1.0 => Err(format!("write {number}% for per cent")),
        share if share > 0.0 && share <= 1.0 => Ok(share),
        _ => Err("a share is above 0 and at most 100%".to_owned()),
    }
}

/// Reads `1/4` or `25%`.
///
/// # Errors
/// Why the text is no part, as a sentence.
pub fn part(text: &str) -> Result<f64, String> {
    let Some((part, whole)) = text.split_once('/') else { return share(text) };
    let number = |text: &str| text.trim().parse::<u32>().ok().filter(|n| *n > 0);
    match (number(part), number(whole)) {
        (Some(part), Some(whole)) if part <= whole => Ok(f64::from(part) / f64::from(whole)),
        _ => Err("not a part of the cache: write 1/4 or 25%".to_owned()),
    }
}

/// No cache has more colors.
const MOST: u32 = 1 << 24;

/// Reads `0-7,16`; whether the cache has these colors is checked later.
///
/// # Errors
/// Why the text is no list, as a sentence.
pub fn listed(text: &str) -> Result<String, String> {
    list::parse(text, MOST).map(|_| text.to_owned()).map_err(|error| error.to_string())
}

/// The colors that the program is to use: those listed, or of the colors that no
/// program has as many as the part takes; `None` for all. Records that the program has
/// them.
///
/// # Errors
/// If the list is invalid, or too few colors are free.
pub fn colors(
    listed: Option<&str>,
    part: Option<f64>,
    count: ColorCount,
    program: &OsStr,
) -> anyhow::Result<Option<Vec<Color>>> {
    let program = program.to_string_lossy();
    let shares = || Shares::open(&PaletteOptions::new());
    if let Some(text) = listed {
        let mut numbers =
            list::parse(text, count.get()).with_context(|| format!("--colors {text}"))?;
        numbers.sort_unstable();
        numbers.dedup();
        let colors: Vec<Color> = numbers.into_iter().map(Color).collect();
        // The record only informs others: if it cannot be written, the program still
        // runs.
        if let Err(error) = shares().and_then(|shares| shares.note(colors.clone(), &program)) {
            super::say(&format!("huepage run --list will not show this program: {error}"));
        }
        return Ok(Some(colors));
    }
    let Some(part) = part else { return Ok(None) };
    let wanted = wanted(part, count);
    Ok(Some(shares()?.take(wanted, count, &program)?))
}

/// At least one color, since an empty set would mean all colors.
fn wanted(part: f64, count: ColorCount) -> usize {
    ((part * f64::from(count.get())).round() as usize).clamp(1, count.get() as usize)
}

/// Prints which program uses which colors.
///
/// # Errors
/// If the list cannot be read.
pub fn list() -> anyhow::Result<ExitCode> {
    let holders = Shares::open(&PaletteOptions::new())?.list()?;
    stdout::print(table(&holders))?;
    Ok(ExitCode::SUCCESS)
}

fn table(holders: &[Holder]) -> String {
    let align = [Align::Right, Align::Left, Align::Left];
    let mut table = Table::new(["PID", "COLORS", "PROGRAM"]).aligned(align);
    for holder in holders {
        let numbers: Vec<u32> = holder.colors.iter().map(|color| color.0).collect();
        let program = escape::printable(&holder.program);
        table.row([holder.pid.to_string(), list::format(&numbers), program]);
    }
    table.render()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_and_parts_read_as_people_write_them() {
        for (text, share_of) in [("1%", 0.01), ("0.5%", 0.005), ("0.25", 0.25), ("100%", 1.0)] {
            assert_eq!(share(text), Ok(share_of), "{text}");
        }
        assert_eq!(part("1/4"), Ok(0.25));
        assert_eq!(part("25%"), Ok(0.25));
        for text in ["0%", "101%", "x", "-1", ""] {
            assert!(share(text).is_err(), "{text}");
        }
        for (text, percent) in [("1", "1%"), ("50", "50%"), ("1.0", "1.0%")] {
            assert_eq!(share(text), Err(format!("write {percent} for per cent")));
        }
        for text in ["5/4", "0/4", "1/0", "1/", "/"] {
            assert!(part(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_part_is_a_whole_number_of_colors_and_never_none() {
        let count = ColorCount::new(32).unwrap();
        assert_eq!(wanted(0.25, count), 8);
        assert_eq!(wanted(0.001, count), 1);
        assert_eq!(wanted(1.0, count), 32);
    }

    #[test]
    fn the_list_names_who_has_what() {
        let colors = [0, 1, 2, 8].map(Color).to_vec();
        let holder = Holder { pid: 7, began: 1, program: "a\x1b".into(), colors };
        let text = table(&[holder]);
        assert_eq!(text.lines().count(), 2);
        assert!(text.contains("  7  0-2,8"), "{text}");
        assert!(!text.contains('\x1b'), "{text:?}");
    }
}
