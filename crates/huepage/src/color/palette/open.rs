// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which palette to use, and what to do about one that cannot be used.

use std::time::Instant;

use super::{
    Palette, PaletteState,
    error::PaletteError,
    frames::Frames,
    identity::MachineIdentity,
    inspection::{Condition, Inspection},
    lock::Lock,
    look::{LOOKS, look},
    make::{self, Made},
    options::{Audience, PaletteOptions},
    place::{self, Place},
    record::Record,
    segment::Segment,
};
use crate::{
    color::{ColorError, MeasureOptions, measure::Standard, measurement::Check},
    topology::CacheGeometry,
};

/// A palette that was there.
enum Found {
    Nothing,
    Good(Box<Palette>),
    /// Some of its pages have moved.
    Worn(Box<Record>, Frames),
    Bad(PaletteError),
}

impl Palette {
    /// Opens the palette for the cache of `measure.cpu`: the administrator's, if it
    /// verifies; otherwise the user's own, which is repaired or made if necessary.
    ///
    /// Starts no thread, handles no signal, and leaves the affinity of the calling
    /// thread as it was. At most [`PaletteOptions::wait`] goes by waiting for others;
    /// making one takes as long as [`MeasuredOracle::discover`], within the same
    /// limits of `measure`.
    ///
    /// # Errors
    /// As [`MeasuredOracle::discover`]; [`ColorError::Palette`] with
    /// [`PaletteError::Missing`] if there is none and making one is not allowed. If the
    /// palette merely cannot be shared, that is no error: see [`Palette::notes`].
    ///
    /// [`MeasuredOracle::discover`]: crate::color::MeasuredOracle::discover
    pub fn open(measure: &MeasureOptions, options: &PaletteOptions) -> Result<Self, ColorError> {
        Standard::possible(measure)?;
        let deadline = Instant::now() + options.wait;
        let mut notes = Vec::new();
        match shared(measure, options, deadline, &mut notes) {
            Ok(Some(palette)) => return Ok(Palette { notes, ..palette }),
            Ok(None) => {}
            Err(ColorError::Palette(why)) => notes.push(why.to_string()),
            Err(error) => return Err(error),
        }
        match own(measure, options, deadline, &mut notes) {
            Ok(palette) => Ok(Palette { notes, ..palette }),
            Err(ColorError::Palette(error)) if options.make => {
                notes.push(error.to_string());
                let made = make::discover(measure, None)?;
                Ok(Palette { notes, ..palette(made, PaletteState::Private, None) })
            }
            Err(error) => Err(error),
        }
    }

    /// Makes a palette anew, whatever is there, for the user or for all.
    ///
    /// # Errors
    /// As [`Palette::open`], and [`ColorError::Palette`] with the reason if it cannot
    /// be shared.
    pub fn make(
        measure: &MeasureOptions,
        options: &PaletteOptions,
        audience: Audience,
    ) -> Result<Self, ColorError> {
        Standard::possible(measure)?;
        check_right(audience)?;
        let place = Place::open(audience, options, true)?.ok_or(PaletteError::Missing)?;
        let lock = place.lock(Instant::now() + options.wait)?;
        let mut notes = Vec::new();
        let palette = make_in(measure, &place, &lock, &mut notes)?;
        match palette.state {
            PaletteState::Private => Err(PaletteError::NotMade(notes.join("; ")).into()),
            _ => Ok(palette),
        }
    }

    /// Removes the palette for a geometry; whether there was one. Programs that
    /// have it open keep it.
    ///
    /// # Errors
    /// What keeps it from being removed.
    pub fn remove(
        geometry: Option<&CacheGeometry>,
        options: &PaletteOptions,
        audience: Audience,
    ) -> Result<bool, PaletteError> {
        check_right(audience)?;
        let Some(place) = Place::open(audience, options, false)? else { return Ok(false) };
        let lock = place.lock(Instant::now() + options.wait)?;
        let removed = place.remove(geometry, &lock)?;
        place.remove_orphans(&lock);
        Ok(removed)
    }

    /// Whether there is a palette for a geometry, the administrator's or the user's
    /// own, whose record is of this boot of this machine. Its pages are not checked.
    pub fn is_there(geometry: &CacheGeometry, options: &PaletteOptions) -> bool {
        [Audience::All, Audience::User].into_iter().any(|audience| {
            let place = Place::open(audience, options, false).ok().flatten();
            let record = place.and_then(|place| place.read(Some(geometry)).ok().flatten());
            record.is_some_and(|record| {
                MachineIdentity::read().difference(&record.machine).is_none()
                    && record.geometry.as_ref() == Some(geometry)
            })
        })
    }

    /// The palette for an audience, and whether it is valid now. Nothing is made or
    /// changed.
    ///
    /// # Errors
    /// Where palettes cannot be used at all: [`ColorError::NotAvailable`],
    /// [`ColorError::NoTimeStamp`], [`ColorError::Pin`].
    pub fn inspect(
        measure: &MeasureOptions,
        options: &PaletteOptions,
        audience: Audience,
    ) -> Result<Inspection, ColorError> {
        let nothing = |path, condition| Inspection { audience, path, condition, palette: None };
        let geometry = measure.geometry.as_ref();
        let place = match Place::open(audience, options, false) {
            Ok(Some(place)) => place,
            Ok(None) => return Ok(nothing(place::directory(audience, options), Condition::Absent)),
            Err(why) => {
                let condition = Condition::Unusable(why.to_string());
                return Ok(nothing(place::directory(audience, options), condition));
            }
        };
        let path = place.record_path(geometry);
        let record = match place.read(geometry) {
            Ok(Some(record)) => record,
            Ok(None) => return Ok(nothing(Some(path), Condition::Absent)),
            Err(why) => return Ok(nothing(Some(path), Condition::Unusable(why.to_string()))),
        };
        let condition = match look_in(&place, measure)? {
            Found::Good(_) => Condition::Verified,
            Found::Worn(..) => Condition::Worn,
            Found::Nothing => Condition::Absent,
            Found::Bad(why) => Condition::Unusable(why.to_string()),
        };
        let palette = Some(record.summary(place.owner()));
        Ok(Inspection { audience, path: Some(path), condition, palette })
    }
}

/// The administrator's palette; `None` where there is none. Only the administrator can
/// replace pages that have moved; other users go on without these pages.
fn shared(
    measure: &MeasureOptions,
    options: &PaletteOptions,
    deadline: Instant,
    notes: &mut Vec<String>,
) -> Result<Option<Palette>, ColorError> {
    let Some(place) = Place::open(Audience::All, options, false)? else { return Ok(None) };
    match look_in(&place, measure)? {
        Found::Good(palette) => Ok(Some(*palette)),
        Found::Nothing => Ok(None),
        Found::Worn(record, frames) => {
            if options.make && rustix::process::geteuid().is_root() {
                let lock = place.lock(deadline)?;
                return repaired(measure, &place, &lock, notes)?
                    .map(Some)
                    .map_err(ColorError::from);
            }
            let kept = make::kept(measure, &record, &frames)?;
            let made = Made { record: kept.record, frames, standard: kept.standard };
            Ok(Some(palette(made, PaletteState::Found, Some(Audience::All))))
        }
        Found::Bad(why) => Err(why.into()),
    }
}

/// The user's own palette; [`ColorError::Palette`] with the reason if it cannot be
/// shared.
fn own(
    measure: &MeasureOptions,
    options: &PaletteOptions,
    deadline: Instant,
    notes: &mut Vec<String>,
) -> Result<Palette, ColorError> {
    let Some(place) = Place::open(Audience::User, options, options.make)? else {
        return Err(PaletteError::Missing.into());
    };
    if let Found::Good(palette) = look_in(&place, measure)? {
        return Ok(*palette);
    }
    if !options.make {
        return Err(PaletteError::Missing.into());
    }
    let lock = place.lock(deadline)?;
    match repaired(measure, &place, &lock, notes)? {
        Ok(palette) => return Ok(palette),
        Err(PaletteError::Missing) => {}
        Err(why) => notes.push(why.to_string()),
    }
    make_in(measure, &place, &lock, notes)
}

/// Looks at the palette again once the lock is held: another process may have made or
/// repaired it meanwhile.
fn repaired(
    measure: &MeasureOptions,
    place: &Place,
    lock: &Lock,
    notes: &mut Vec<String>,
) -> Result<Result<Palette, PaletteError>, ColorError> {
    Ok(match look_in(place, measure)? {
        Found::Good(palette) => Ok(*palette),
        Found::Worn(record, frames) => match make::repair(measure, place, &record, &frames) {
            Ok(made) => Ok(publish(made, PaletteState::Repaired, place, lock, notes)),
            Err(ColorError::Palette(why)) => Err(why),
            Err(error) => return Err(error),
        },
        Found::Bad(why) => Err(why),
        Found::Nothing => Err(PaletteError::Missing),
    })
}

fn check_right(audience: Audience) -> Result<(), PaletteError> {
    let may = audience == Audience::User || rustix::process::geteuid().is_root();
    if may { Ok(()) } else { Err(PaletteError::NotRoot) }
}

fn make_in(
    measure: &MeasureOptions,
    place: &Place,
    lock: &Lock,
    notes: &mut Vec<String>,
) -> Result<Palette, ColorError> {
    place.remove_orphans(lock);
    let made = make::discover(measure, Some(place))?;
    Ok(publish(made, PaletteState::Made, place, lock, notes))
}

/// Puts a palette where other processes find it. If that fails, only this process uses
/// it.
fn publish(
    made: Made,
    state: PaletteState,
    place: &Place,
    lock: &Lock,
    notes: &mut Vec<String>,
) -> Palette {
    let written = place.write(&made.record, lock);
    // The segment of the old palette, or of the new one where no record names it.
    place.remove_orphans(lock);
    match written {
        Ok(()) => palette(made, state, Some(place.audience())),
        Err(why) => {
            notes.push(why.to_string());
            palette(made, PaletteState::Private, None)
        }
    }
}

fn palette(made: Made, state: PaletteState, audience: Option<Audience>) -> Palette {
    let Made { record, frames, standard } = made;
    Palette { record, state, audience, notes: Vec::new(), standard, _frames: frames }
}

fn look_in(place: &Place, measure: &MeasureOptions) -> Result<Found, ColorError> {
    let record = match place.read(measure.geometry.as_ref()) {
        Ok(Some(record)) => record,
        Ok(None) => return Ok(Found::Nothing),
        Err(error) => return Ok(Found::Bad(error)),
    };
    let path = place.record_path(measure.geometry.as_ref());
    let stale = |what: String| Ok(Found::Bad(PaletteError::Stale { path: path.clone(), what }));
    if let Some(what) = MachineIdentity::read().difference(&record.machine) {
        return stale(format!("it was made {what}"));
    }
    if record.geometry != measure.geometry {
        return stale("it is of another cache".to_owned());
    }
    let (owner, mode) = (place.owner(), place.audience().segment_mode());
    let pages = record.segment_pages as usize;
    let segment = match Segment::attach(record.segment, pages, owner, mode) {
        Ok(segment) => segment,
        Err(error) => return stale(format!("its shared pages are not there: {error}")),
    };
    let frames = Frames::Shared(segment);
    // SAFETY: pages of a segment that is attached, with as many pages as said.
    let kept = |index: &u32| unsafe { frames.is_stamped(*index, record.stamp) };
    if !record.pages.iter().flatten().all(kept) {
        return Ok(Found::Worn(Box::new(record), frames));
    }
    let sets = frames.addresses(&record.pages);
    // SAFETY: the pages are those of `frames`, which outlives the standard here, or
    // goes into one value with it.
    let mut standard = unsafe { Standard::new(&sets, &record.known, measure) }?;
    match look(&mut standard, LOOKS, |found| matches!(found, Check::Holds | Check::Moved(_)))? {
        Check::Holds => {
            let made = Made { record, frames, standard };
            let palette = palette(made, PaletteState::Found, Some(place.audience()));
            Ok(Found::Good(Box::new(palette)))
        }
        Check::Moved(_) => Ok(Found::Worn(Box::new(record), frames)),
        Check::Stale | Check::Unclear => {
            stale("its pages do not evict each other as they should".to_owned())
        }
    }
}
