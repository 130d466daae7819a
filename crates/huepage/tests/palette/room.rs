// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where there is no room for a palette.

use std::{fs, os::unix::ffi::OsStrExt, path::Path};

use huepage::color::palette::{Palette, PaletteState};

use crate::{child::child, is_root, own, ready, record, tried};

/// On a file system without room the palette is good, but not shared.
#[test]
fn without_room_for_the_record_a_palette_serves_its_maker() {
    let Some((measure, directory)) = ready() else { return };
    let full = Full::mounted_on(directory.path());
    let Some(full) = full else { return println!("skipped: cannot mount a tmpfs") };
    let before = record::segments().len();
    // If its pages could not be classified, none was written.
    let mut palette = tried(
        || Palette::open(&measure, &own(directory.path())).unwrap(),
        |palette| !palette.notes().join("\n").contains("no palette could be made"),
    );
    let notes = palette.notes().join("\n");
    assert_eq!(palette.state(), &PaletteState::Private, "{notes}");
    assert!(notes.contains("No space left"), "{notes}");
    assert!(palette.verify().unwrap());
    drop(palette);
    assert!(record::segments().len() <= before);
    drop(full);
}

/// A tmpfs of two pages, both taken; unmounted on drop.
struct Full(std::ffi::CString);

impl Full {
    fn mounted_on(path: &Path) -> Option<Self> {
        let target = std::ffi::CString::new(path.as_os_str().as_bytes()).unwrap();
        // SAFETY: all strings end with zero, and the call keeps none of them.
        let mounted = unsafe {
            libc::mount(
                c"none".as_ptr(),
                target.as_ptr(),
                c"tmpfs".as_ptr(),
                0,
                c"size=8k".as_ptr().cast(),
            )
        };
        (mounted == 0).then(|| {
            // Fills the file system as far as possible.
            let _ = fs::write(path.join("filler"), vec![1; 1 << 14]);
            Full(target)
        })
    }
}

impl Drop for Full {
    fn drop(&mut self) {
        // SAFETY: the string ends with zero.
        unsafe { libc::umount2(self.0.as_ptr(), libc::MNT_DETACH) };
    }
}

/// The kernel gives no segments, as under some seccomp filters.
#[test]
fn without_segments_each_has_his_own() {
    let Some((_, directory)) = ready() else { return };
    if !is_root() {
        return println!("skipped: only root can forbid segments");
    }
    let told = child(directory.path()).without_segments().run();
    assert_eq!(told.state, "private");
    assert!(told.notes.contains("segment of shared memory"), "{}", told.notes);
}
