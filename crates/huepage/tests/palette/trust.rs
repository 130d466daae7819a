// SPDX-License-Identifier: MIT OR Apache-2.0
//! What other users can put in the place of a palette, and what they cannot.

use std::{
    fs::{self, File},
    os::unix::fs::{PermissionsExt, symlink},
};

use huepage::{
    color::{
        ColorOracle,
        palette::{Audience, Palette, PaletteState},
    },
    mapping::{Mapping, PageKind},
};

use crate::{
    child::{self, child, options},
    is_root, own, ready,
    record::{RecordFile, Rewritten},
    tried,
};

/// Each program then has its own palette, with a note that says why.
#[test]
fn what_others_could_have_put_there_is_refused() {
    let Some((measure, directory)) = ready() else { return };
    let options = own(directory.path());
    let place = directory.path().join("huepage");
    let refused = |what: &str| {
        let mut palette = Palette::open(&measure, &options).unwrap();
        assert_eq!(palette.state(), &PaletteState::Private, "{what}");
        let notes = palette.notes().join("\n");
        assert!(notes.contains(what), "{what}: {notes}");
        assert!(palette.verify().unwrap(), "{what}");
    };
    symlink("/tmp", &place).unwrap();
    refused("symbolic link");
    fs::remove_file(&place).unwrap();
    File::create(&place).unwrap();
    refused("no directory");
    fs::remove_file(&place).unwrap();

    let made = Palette::open(&measure, &options).unwrap();
    assert_eq!(made.state(), &PaletteState::Made);
    for mode in [0o755, 0o770, 0o707] {
        fs::set_permissions(&place, fs::Permissions::from_mode(mode)).unwrap();
        refused("lets others in");
    }
    fs::set_permissions(&place, fs::Permissions::from_mode(0o700)).unwrap();
    if is_root() {
        std::os::unix::fs::chown(&place, Some(65534), None).unwrap();
        refused("belongs to user 65534");
        std::os::unix::fs::chown(&place, Some(0), None).unwrap();
    }
    let found = Palette::open(&measure, &options).unwrap();
    assert_eq!((found.state(), found.name()), (&PaletteState::Found, made.name()));
}

/// A record that its owner did not write is refused as well; another one is made in its
/// place.
#[test]
fn a_record_that_is_no_good_is_replaced() {
    let Some((measure, directory)) = ready() else { return };
    let options = own(directory.path());
    let mut name = Palette::open(&measure, &options).unwrap().name().to_owned();
    let file = RecordFile::of(directory.path());
    let mut replaced = |what: &str, damage: &dyn Fn()| {
        damage();
        let palette = Palette::open(&measure, &options).unwrap();
        assert_eq!(palette.state(), &PaletteState::Made, "{what}: {:?}", palette.notes());
        let notes = palette.notes().join("\n");
        assert!(notes.contains(what), "{what}: {notes}");
        assert_ne!(palette.name(), name);
        name = palette.name().to_owned();
    };
    replaced("is damaged", &|| file.edit(|bytes| bytes.truncate(bytes.len() / 2)));
    replaced("not a palette", &|| file.edit(Vec::clear));
    replaced("is damaged", &|| {
        file.edit(|bytes| {
            let middle = bytes.len() / 2;
            bytes[middle] ^= 4;
        })
    });
    replaced("lets others in", &|| file.set_mode(0o644));
    replaced("symbolic link", &|| file.replace_by_symlink());
    replaced("no regular file", &|| file.replace_by_pipe());
    if is_root() {
        replaced("belongs to user 65534", &|| file.set_owner(65534));
    }
    let other = |change: Rewritten| file.rewrite(change);
    replaced("before the last boot", &|| other(|r| r["machine"]["boot"] = "x".into()));
    replaced("another kernel", &|| other(|r| r["machine"]["kernel"] = "x".into()));
    replaced("another CPU", &|| other(|r| r["machine"]["cpu"] = "x".into()));
    replaced("IPC namespace", &|| other(|r| r["machine"]["ipc_namespace"] = 1.into()));
    replaced("another cache", &|| other(|r| r["geometry"]["size"] = 4096.into()));
    replaced("shared pages are not there", &|| other(|r| r["segment"] = (-7).into()));
    // The previous record, which is complete and of this user, but of another palette.
    replaced("shared pages are not there", &|| {
        other(|r| r["segment_pages"] = (r["segment_pages"].as_u64().unwrap() + 1).into())
    });
    // Wrong colors: every page is recorded with its neighbor's.
    replaced("do not evict each other", &|| {
        other(|r| {
            let sets = r["pages"].as_array_mut().unwrap();
            let all: Vec<_> = sets.iter().flat_map(|s| s.as_array().unwrap().clone()).collect();
            let count = sets.len();
            for (i, set) in sets.iter_mut().enumerate() {
                *set = all.iter().skip(i).step_by(count).cloned().collect();
            }
        })
    });
    assert_eq!(Palette::open(&measure, &options).unwrap().state(), &PaletteState::Found);
}

/// Whatever another process does to the file, or to the segment's name.
#[test]
fn a_palette_in_use_outlives_its_file_and_its_segments_removal() {
    let Some((measure, directory)) = ready() else { return };
    let options = own(directory.path());
    let mut palette = Palette::open(&measure, &options).unwrap();
    let record = RecordFile::of(directory.path());
    record.remove_segment();
    record.edit(Vec::clear);
    let mapping = Mapping::populated(512, PageKind::Base).unwrap();
    let pages: Vec<_> = mapping.iter().collect();
    // SAFETY: the pages are mapped to the end of the test.
    let told = unsafe { palette.classify(&pages) }.unwrap();
    assert!(told.iter().flatten().count() > 500);
    assert!(palette.verify().unwrap());
    let next = Palette::open(&measure, &options).unwrap();
    assert_eq!(next.state(), &PaletteState::Made);
}

#[test]
fn the_administrators_palette_is_preferred_and_cannot_be_written() {
    let Some((measure, directory)) = ready() else { return };
    if !is_root() {
        return println!("skipped: only root can publish a palette");
    }
    let open_to_all = fs::Permissions::from_mode(0o755);
    fs::set_permissions(directory.path(), open_to_all).unwrap();
    let shared = directory.path().join("run");
    let own = tempfile::tempdir().unwrap();
    let options = options(own.path(), Some(&shared));
    let made = Palette::make(&measure, &options, Audience::All).unwrap();
    assert_eq!(made.audience(), Some(Audience::All));
    // Each with a directory for a palette of its own, which is made only if it is
    // needed.
    let nobody = || {
        let own = tempfile::tempdir().unwrap();
        fs::set_permissions(own.path(), fs::Permissions::from_mode(0o777)).unwrap();
        let told = child(own.path()).shared(&shared).user(65534, directory.path()).run();
        assert!(told.audience != "all" || !own.path().join("huepage-65534").exists(), "{told:?}");
        told
    };
    let is_found = |told: &child::Told| told.state == "found";
    let told = tried(nobody, is_found);
    assert_eq!((told.name.as_str(), told.state.as_str()), (made.name(), "found"), "{told:?}");
    assert_eq!(told.audience, "all");

    // Pages have moved: a user cannot replace them, and leaves them out.
    let record = RecordFile::of_shared(&shared);
    record.punch(50);
    let told = tried(nobody, is_found);
    assert_eq!((told.name.as_str(), told.state.as_str()), (made.name(), "found"), "{told:?}");
    // A palette that is damaged, or that others could have written, is not used: each
    // user makes one.
    fs::set_permissions(&shared, fs::Permissions::from_mode(0o777)).unwrap();
    let told = nobody();
    assert_eq!((told.state.as_str(), told.audience.as_str()), ("made", "user"));
    assert!(told.notes.contains("lets others in"), "{}", told.notes);
    fs::set_permissions(&shared, fs::Permissions::from_mode(0o755)).unwrap();
    // The administrator replaces them.
    let repaired = Palette::open(&measure, &options).unwrap();
    assert_eq!((repaired.state(), repaired.name()), (&PaletteState::Repaired, made.name()));
    assert_eq!(tried(nobody, is_found).audience, "all");
    assert!(Palette::remove(measure.geometry.as_ref(), &options, Audience::All).unwrap());
}
