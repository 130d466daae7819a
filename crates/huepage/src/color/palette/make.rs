// SPDX-License-Identifier: MIT OR Apache-2.0
//! Making palettes, by discovery or from an older palette.

use std::{
    thread,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use super::{
    error::PaletteError,
    frames::Frames,
    identity::MachineIdentity,
    look,
    place::Place,
    record::Record,
    segment::{Segment, SegmentId},
    stock::{self, Stock},
};
use crate::{
    color::{
        Color, ColorError, ColorOracle, MeasureOptions, MeasuredOracle,
        measure::Standard,
        measurement::{DiscoveryFacts, L1_WAYS},
    },
    mapping::{Mapping, PageAddr, PageKind},
};

/// Pages of each color: seven quarters of the ways of the cache (of those of L1, if it
/// has more). At least six quarters are read to evict a line, and the rest is checked
/// meanwhile. On an L2 of 16 ways 28, 32 and 40 pages classified 8,192 others in the same
/// time, 24 took 1.5 to 2.2 times as long, and no color was wrong.
pub(super) fn pages_per_color(ways: u32) -> usize {
    (7 * (ways as usize).max(L1_WAYS)).div_ceil(4)
}

/// Of these, at least so many must be good.
pub(super) fn least_per_color(ways: u32) -> usize {
    3 * pages_per_color(ways) / 4
}

/// A palette that no other process uses yet.
#[derive(Debug)]
pub(super) struct Made {
    pub record: Record,
    pub frames: Frames,
    pub standard: Standard,
}

/// Makes one by discovery, to be shared at a place, or for this process alone.
pub(super) fn discover(
    options: &MeasureOptions,
    place: Option<&Place>,
) -> Result<Made, ColorError> {
    let mut oracle = MeasuredOracle::discover(options)?;
    let mut known = oracle.known();
    if options.geometry.is_none() {
        // The assumed ways may be too few to fill the sets of the cache.
        known.ways = known.ways.max(oracle.measured_ways()?);
    }
    let record = Record {
        name: format!("{:016x}{:016x}", crate::seed(), crate::seed()),
        machine: MachineIdentity::read(),
        geometry: options.geometry,
        colors: oracle.count(),
        known,
        segment: SegmentId::NONE,
        segment_pages: 0,
        stamp: 0,
        pages: Vec::new(),
        evidence: oracle.evidence().clone(),
        made: now(),
        repaired: None,
        replaced: 0,
    };
    // SAFETY: `stock` gives pages that it holds during the call.
    make(options, place, record, |pages| unsafe { oracle.classify(pages) })
}

/// Makes one with the color numbers of `record`, classified by those of its pages that
/// still have their colors.
pub(super) fn repair(
    options: &MeasureOptions,
    place: &Place,
    record: &Record,
    frames: &Frames,
) -> Result<Made, ColorError> {
    let mut good = kept(options, record, frames)?;
    let replaced = (record.len() - good.record.len()) as u32;
    let replaced = record.replaced.saturating_add(replaced);
    let record = Record { repaired: Some(now()), replaced, ..record.clone() };
    // SAFETY: `stock` gives pages that it holds during the call.
    make(options, Some(place), record, |pages| unsafe { good.standard.classify(pages) })
}

/// A palette without those of its pages that have moved.
pub(super) struct Kept {
    pub record: Record,
    pub standard: Standard,
}

/// Leaves out the pages that have moved.
pub(super) fn kept(
    options: &MeasureOptions,
    record: &Record,
    frames: &Frames,
) -> Result<Kept, ColorError> {
    let standard = |sets: &[Vec<u32>]| {
        // SAFETY: the pages are those of `frames`, which outlives the standard: the
        // caller keeps both.
        unsafe { Standard::new(&frames.addresses(sets), &record.known, options) }
    };
    let least = least_per_color(record.known.ways);
    let mut all = standard(&record.pages)?;
    let pages = proven(&record.pages, least, || all.examine(), thread::sleep)?;
    let kept = Record { pages, ..record.clone() };
    if !are_enough(&kept.pages, least) {
        let why = format!(
            "{} of {} pages kept their colors: too few to repair it",
            kept.len(),
            record.len()
        );
        return Err(PaletteError::NotMade(why).into());
    }
    Ok(Kept { standard: standard(&kept.pages)?, record: kept })
}

/// Makes one of new pages; what `record` says of pages is filled in.
fn make(
    options: &MeasureOptions,
    place: Option<&Place>,
    mut record: Record,
    tell: impl FnMut(&[PageAddr]) -> Result<Vec<Option<Color>>, ColorError>,
) -> Result<Made, ColorError> {
    let ways = record.known.ways;
    let (wanted, least) = (pages_per_color(ways), least_per_color(ways));
    let make = |pages| match place {
        Some(place) => Segment::create(pages, place.mark())
            .map(Frames::Shared)
            .map_err(PaletteError::system("make a segment of shared memory"))
            .map_err(ColorError::from),
        None => Mapping::populated(pages, PageKind::Base)
            .map(Frames::Private)
            .map_err(|source| ColorError::System { action: "allocate pages", source }),
    };
    let missing = || PaletteError::NotMade("the kernel's free memory lacks some colors".into());
    let mut stock = stock::draw(record.colors, wanted, least, make, tell)?.ok_or_else(missing)?;
    let mut standard = proven_standard(&mut stock, &record.known, least, options)?;
    record.stamp = crate::seed().max(1);
    // SAFETY: the pages are writable, and nobody else knows of them.
    unsafe { stock.stamp(record.stamp) };
    if !look::holds(&mut standard, look::LOOKS_WHEN_MADE)? {
        discard(&stock);
        let why = "its pages did not keep their colors when looked at";
        return Err(PaletteError::NotMade(why.into()).into());
    }
    record.segment = stock.frames.segment().map_or(SegmentId::NONE, Segment::id);
    if let (Some(segment), Some(place)) = (stock.frames.segment(), place) {
        segment
            .set_mode(place.audience().segment_mode())
            .map_err(PaletteError::system("protect a segment of shared memory"))?;
    }
    (record.segment_pages, record.pages) = (stock.pages, stock.sets);
    Ok(Made { record, frames: stock.frames, standard })
}

/// Keeps those pages of a stock whose color the other pages confirm, at lines that no
/// run has read.
fn proven_standard(
    stock: &mut Stock,
    known: &DiscoveryFacts,
    least: usize,
    options: &MeasureOptions,
) -> Result<Standard, ColorError> {
    let standard = |stock: &Stock| {
        // SAFETY: the pages stay mapped as long as the stock's frames, which
        // outlive the standard: `make` puts both into one value.
        unsafe { Standard::new(&stock.frames.addresses(&stock.sets), known, options) }
    };
    let mut first = standard(stock)?;
    stock.sets = proven(&stock.sets, least, || first.examine(), thread::sleep)?;
    if !are_enough(&stock.sets, least) {
        discard(stock);
        let why = "two looks at its pages told different colors";
        return Err(PaletteError::NotMade(why.into()).into());
    }
    stock.give_back_others();
    standard(stock)
}

/// Of each set, the pages whose color `examine` confirms, in the order of the sets.
/// While some sets have fewer than `least`, pages that showed no color are checked
/// again, as often as those of a palette just made: a busy neighbor can cause that. A
/// page that showed another color has moved, and is not checked again.
fn proven<T: Copy>(
    sets: &[Vec<T>],
    least: usize,
    mut examine: impl FnMut() -> Result<Vec<Option<Color>>, ColorError>,
    mut sleep: impl FnMut(Duration),
) -> Result<Vec<Vec<T>>, ColorError> {
    let mut told = examine()?;
    let mut proven = of_their_color(sets, &told);
    for pause in look::pauses(look::LOOKS_WHEN_MADE) {
        if are_enough(&proven, least) || told.iter().all(Option::is_some) {
            break;
        }
        sleep(pause);
        for (told, again) in told.iter_mut().zip(examine()?) {
            *told = told.or(again);
        }
        proven = of_their_color(sets, &told);
    }
    Ok(proven)
}

fn are_enough<T>(sets: &[Vec<T>], least: usize) -> bool {
    sets.iter().all(|set| set.len() >= least)
}

/// Of each set, the pages that showed its color; `told` is in the same order.
fn of_their_color<T: Copy>(sets: &[Vec<T>], told: &[Option<Color>]) -> Vec<Vec<T>> {
    let mut told = told.iter();
    let colors = (0..).map(Color);
    let keep = |(color, set): (Color, &Vec<T>)| {
        let told: Vec<bool> = told.by_ref().take(set.len()).map(|&t| t == Some(color)).collect();
        set.iter().zip(told).filter_map(|(&page, keep)| keep.then_some(page)).collect()
    };
    colors.zip(sets).map(keep).collect()
}

/// Gives the memory of a stock back that cannot be used.
fn discard(stock: &Stock) {
    if let Some(segment) = stock.frames.segment() {
        let _ = segment.id().remove();
    }
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SETS: [[u32; 3]; 2] = [[10, 11, 12], [20, 21, 22]];

    /// The pages confirmed by a row of checks, each given as one digit for each page, a
    /// dash for no color; and how many checks it took.
    fn proven_by(looks: &[&str], least: usize) -> (Vec<Vec<u32>>, usize) {
        let sets: Vec<Vec<u32>> = SETS.iter().map(|set| set.to_vec()).collect();
        let (mut taken, mut waited) = (0, Duration::ZERO);
        let examine = || {
            let look = looks[taken];
            taken += 1;
            Ok(look.chars().map(|c| c.to_digit(10).map(Color)).collect())
        };
        let proven = proven(&sets, least, examine, |pause| waited += pause).unwrap();
        assert!(waited.is_zero() == (taken == 1), "each further look waits");
        (proven, taken)
    }

    #[test]
    fn one_look_is_enough_where_enough_pages_are_told() {
        assert_eq!(proven_by(&["0-01-1"], 2), (vec![vec![10, 12], vec![20, 22]], 1));
    }

    #[test]
    fn pages_told_no_color_are_looked_at_again() {
        let looks = ["0--11-", "-0----", "--0--1"];
        assert_eq!(proven_by(&looks, 2), (vec![vec![10, 11], vec![20, 21]], 2));
        assert_eq!(proven_by(&looks, 3), (SETS.map(|set| set.to_vec()).to_vec(), 3));
    }

    #[test]
    fn a_page_once_told_another_color_is_none_of_the_set() {
        assert_eq!(proven_by(&["01-111", "000111"], 3), (vec![vec![10, 12], vec![20, 21, 22]], 2));
    }

    #[test]
    fn pages_that_never_tell_are_given_up() {
        let looks = ["--0111"; look::LOOKS_WHEN_MADE as usize];
        assert_eq!(proven_by(&looks, 2), (vec![vec![12], vec![20, 21, 22]], looks.len()));
    }
}
