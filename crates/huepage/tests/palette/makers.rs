// SPDX-License-Identifier: MIT OR Apache-2.0
//! Several makers at once, slow makers, and makers that were killed.

use std::{
    thread,
    time::{Duration, Instant},
};

use huepage::color::palette::{Audience, Palette, PaletteState};

use crate::{
    child::{Told, child},
    own, ready,
    record::{self, RecordFile},
};

#[test]
fn makers_at_once_make_one_palette() {
    let Some((_, directory)) = ready() else { return };
    let children: Vec<_> = (0..4).map(|_| child(directory.path()).spawn()).collect();
    let told: Vec<Told> = children.into_iter().map(|child| child.told()).collect();
    let made = told.iter().filter(|told| told.state == "made").count();
    assert_eq!(made, 1, "{told:?}");
    assert!(told.iter().all(|t| t.name == told[0].name && t.state != "private"), "{told:?}");
}

/// A process that stops waiting makes a palette of its own, and says why.
#[test]
fn a_maker_who_takes_too_long_is_not_waited_for() {
    let Some((measure, directory)) = ready() else { return };
    let slow = child(directory.path()).spawn();
    let mut options = own(directory.path());
    options.wait = Duration::ZERO;
    let lock = directory.path().join("huepage/lock");
    let begin = Instant::now();
    while !lock.exists() && begin.elapsed() < Duration::from_secs(20) {
        thread::sleep(Duration::from_millis(1));
    }
    slow.stop();
    let palette = Palette::open(&measure, &options).unwrap();
    let busy = palette.notes().join("\n");
    slow.go_on();
    // It may have been just about to take the lock, or nearly done.
    if palette.state() == &PaletteState::Private {
        assert!(busy.contains(&format!("PID {}", slow.pid())), "{busy}");
        assert_eq!(palette.audience(), None);
    } else {
        println!("not raced: {:?}", palette.state());
    }
    slow.told();
    assert_eq!(Palette::open(&measure, &options).unwrap().state(), &PaletteState::Found);
}

/// Whenever a process is killed while it makes a palette, what it leaves is believed only
/// if it is complete, blocks no other process, and takes no memory once another process
/// has made a palette.
#[test]
fn a_maker_killed_at_any_moment_leaves_nothing_half() {
    let Some((measure, directory)) = ready() else { return };
    let options = own(directory.path());
    let mut rng = fastrand::Rng::with_seed(7);
    let began = Instant::now();
    child(directory.path()).make().run();
    let whole = began.elapsed();
    let mut pids = Vec::new();
    let mut killed = 0;
    for round in 0..12 {
        if round % 3 == 0 {
            Palette::remove(measure.geometry.as_ref(), &options, Audience::User).unwrap();
        }
        let maker = child(directory.path()).make().spawn();
        pids.push(maker.pid());
        thread::sleep(whole.mul_f64(rng.f64() * 1.1));
        killed += u32::from(maker.kill());
        let begin = Instant::now();
        let palette = Palette::open(&measure, &options).unwrap();
        assert_ne!(palette.state(), &PaletteState::Private, "{:?}", palette.notes());
        assert!(begin.elapsed() < options.wait, "waited for the dead");
    }
    assert!(killed >= 3, "only {killed} were killed before they were done");
    // Makers that died between two steps leave segments; the next to make removes
    // them.
    let last = Palette::make(&measure, &options, Audience::User).unwrap();
    drop(last);
    let left = record::segments().into_iter().filter(|segment| pids.contains(&segment.creator));
    assert_eq!(left.count(), 0);
    Palette::remove(measure.geometry.as_ref(), &options, Audience::User).unwrap();
    let own = record::segments().into_iter().filter(|s| s.creator == std::process::id());
    assert_eq!(own.filter(|segment| segment.attached == 0).count(), 0);
}

/// Directories of logins are removed; their segments do not stay in memory.
#[test]
fn segments_whose_directory_is_gone_are_removed() {
    let Some((measure, directory)) = ready() else { return };
    let gone = tempfile::tempdir().unwrap();
    drop(Palette::open(&measure, &own(gone.path())).unwrap());
    let segment = RecordFile::of(gone.path()).segment();
    drop(gone);
    assert!(record::exists(segment));
    drop(Palette::open(&measure, &own(directory.path())).unwrap());
    assert!(!record::exists(segment));
}
