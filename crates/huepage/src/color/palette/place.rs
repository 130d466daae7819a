// SPDX-License-Identifier: MIT OR Apache-2.0
//! The directory that holds palettes, and the users who may put one there.

use std::{
    fs::File,
    io::{self, Read, Write},
    os::fd::OwnedFd,
    path::{Path, PathBuf},
    time::Instant,
};

use rustix::{
    fs::{self, AtFlags, FileType, Mode, OFlags},
    io::Errno,
};

use super::{
    error::PaletteError,
    lock::{Lock, NoLock},
    mark::Mark,
    options::{Audience, PaletteOptions},
    record::{LONGEST, Record},
    segment::SegmentId,
};
use crate::topology::CacheGeometry;

/// A directory that only its owner can write to.
#[derive(Debug)]
pub(crate) struct Place {
    directory: OwnedFd,
    path: PathBuf,
    audience: Audience,
    mark: Mark,
}

/// The file that a new one is written to before it takes its name.
const NEW: &str = "new";
const LOCK: &str = "lock";

impl Place {
    /// The directory for an audience; `None` where there is none. `create` makes
    /// it.
    pub fn open(
        audience: Audience,
        options: &PaletteOptions,
        create: bool,
    ) -> Result<Option<Self>, PaletteError> {
        let Some(path) = directory(audience, options) else { return Ok(None) };
        let made = match create.then(|| fs::mkdir(&path, audience.directory_mode())) {
            None | Some(Err(Errno::EXIST)) => false,
            Some(Ok(())) => true,
            Some(Err(error)) => return Err(failed("make the directory", &path)(error)),
        };
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::RDONLY;
        let directory = match fs::open(&path, flags, Mode::empty()) {
            Ok(directory) => directory,
            Err(Errno::NOENT) => return Ok(None),
            Err(Errno::LOOP | Errno::NOTDIR) => {
                let what = "it is a symbolic link, or no directory".to_owned();
                return Err(PaletteError::Untrusted { path, what });
            }
            Err(Errno::ACCESS) => {
                let what = "it is another user's".to_owned();
                return Err(PaletteError::Untrusted { path, what });
            }
            Err(error) => return Err(failed("open", &path)(error)),
        };
        let stat = fs::fstat(&directory).map_err(failed("look at", &path))?;
        let place = Place { directory, mark: Mark::of(&path, &stat), path, audience };
        place.trust(&place.path, FileType::Directory, &stat)?;
        if made {
            // Mode bits whatever the umask is. The check above comes first: a user who
            // may write to the parent directory may have put another directory here.
            fs::fchmod(&place.directory, audience.directory_mode())
                .map_err(failed("make the directory", &place.path))?;
        }
        Ok(Some(place))
    }

    /// The place of a record.
    pub fn record_path(&self, geometry: Option<&CacheGeometry>) -> PathBuf {
        self.path.join(file_name(geometry))
    }

    pub fn audience(&self) -> Audience {
        self.audience
    }

    /// The user who owns the directory.
    pub fn owner(&self) -> u32 {
        self.audience.owner()
    }

    /// The record for a geometry; `None` where there is none.
    pub(super) fn read(
        &self,
        geometry: Option<&CacheGeometry>,
    ) -> Result<Option<Record>, PaletteError> {
        let path = self.record_path(geometry);
        let file = match self.open_file(&file_name(geometry)) {
            Ok(Some(file)) => file,
            Ok(None) => return Ok(None),
            Err(Errno::LOOP) => {
                let what = "it is a symbolic link".to_owned();
                return Err(PaletteError::Untrusted { path, what });
            }
            Err(error) => return Err(failed("read a palette in", &self.path)(error)),
        };
        let stat = fs::fstat(&file).map_err(failed("look at", &self.path))?;
        self.trust(&path, FileType::RegularFile, &stat)?;
        let bytes = bytes(file, LONGEST + 1)
            .map_err(PaletteError::system(format!("read {}", path.display())))?;
        match Record::from_bytes(&bytes) {
            Ok(record) => Ok(Some(record)),
            Err(error) => Err(PaletteError::Damaged { path, what: error.to_string() }),
        }
    }

    /// Replaces the record, so that readers see either the old one or the new one whole.
    /// The caller holds the lock.
    pub(super) fn write(&self, record: &Record, lock: &Lock) -> Result<(), PaletteError> {
        let name = file_name(record.geometry.as_ref());
        self.replace_file(&name, &record.to_bytes(), self.audience.file_mode(), lock)
            .map_err(PaletteError::system(format!("write a palette in {}", self.path.display())))
    }

    /// What a file holds that is kept here, up to `longest` bytes; `None` where there
    /// is none.
    pub fn read_file(&self, name: &str, longest: u64) -> io::Result<Option<Vec<u8>>> {
        self.open_file(name)?.map(|file| bytes(file, longest)).transpose()
    }

    fn open_file(&self, name: &str) -> Result<Option<File>, Errno> {
        // A pipe in its place must not make us wait.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
        match fs::openat(&self.directory, name, flags, Mode::empty()) {
            Ok(file) => Ok(Some(file.into())),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Replaces a file, so that readers see either the old one or the new one whole. The
    /// caller holds the lock.
    pub fn replace_file(
        &self,
        name: &str,
        content: &[u8],
        mode: Mode,
        _lock: &Lock,
    ) -> io::Result<()> {
        let write = || -> io::Result<()> {
            // Left by a process that died while it wrote.
            match fs::unlinkat(&self.directory, NEW, AtFlags::empty()) {
                Ok(()) | Err(Errno::NOENT) => {}
                Err(error) => return Err(error.into()),
            }
            let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
            let file = fs::openat(&self.directory, NEW, flags, Mode::RUSR | Mode::WUSR)?;
            let mut file = File::from(file);
            file.write_all(content)?;
            fs::fchmod(&file, mode)?;
            fs::renameat(&self.directory, NEW, &self.directory, name)?;
            Ok(())
        };
        write().inspect_err(|_| {
            let _ = fs::unlinkat(&self.directory, NEW, AtFlags::empty());
        })
    }

    /// Removes the record for a geometry; whether there was one.
    pub(super) fn remove(
        &self,
        geometry: Option<&CacheGeometry>,
        _lock: &Lock,
    ) -> Result<bool, PaletteError> {
        match fs::unlinkat(&self.directory, file_name(geometry), AtFlags::empty()) {
            Ok(()) => Ok(true),
            Err(Errno::NOENT) => Ok(false),
            Err(error) => Err(failed("remove a palette in", &self.path)(error)),
        }
    }

    /// What segments of this place are marked with.
    pub(super) fn mark(&self) -> &Mark {
        &self.mark
    }

    /// Removes the segments of this place that no record names, since their maker died
    /// before writing one or has replaced it; and those whose directory is gone.
    pub fn remove_orphans(&self, _lock: &Lock) {
        let recorded = self.segments();
        for (id, status) in SegmentId::all() {
            let is_candidate = status.owner == Some(self.owner())
                && !status.is_removed()
                && !recorded.contains(&id);
            if is_candidate
                && id.mark(&status).is_some_and(|mark| mark == self.mark || mark.is_homeless())
            {
                let _ = id.remove();
            }
        }
    }

    /// The segments that records here speak of, of whatever geometry.
    fn segments(&self) -> Vec<SegmentId> {
        let Ok(entries) = fs::Dir::read_from(&self.directory) else { return Vec::new() };
        let records = entries.flatten().filter_map(|entry| {
            let name = entry.file_name().to_str().ok()?.to_owned();
            if !name.starts_with(PREFIX) {
                return None;
            }
            Record::from_bytes(&self.read_file(&name, LONGEST).ok()??).ok()
        });
        records.map(|record| record.segment).collect()
    }

    /// Makes this process the only one that makes or repairs palettes here.
    pub fn lock(&self, deadline: Instant) -> Result<Lock, PaletteError> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let open = || {
            let file = fs::openat(&self.directory, LOCK, flags, Mode::RUSR | Mode::WUSR)?;
            Ok(File::from(file))
        };
        Lock::take(open, deadline).map_err(|error| match error {
            NoLock::Held(pid) => PaletteError::Busy { path: self.path.clone(), pid },
            NoLock::System(cause) => {
                PaletteError::System { action: format!("lock {}", self.path.display()), cause }
            }
        })
    }

    /// Refuses files that other users could have put there or could change.
    fn trust(&self, path: &Path, kind: FileType, stat: &fs::Stat) -> Result<(), PaletteError> {
        let found = FileType::from_raw_mode(stat.st_mode);
        let what = if found != kind {
            match kind {
                FileType::Directory => "it is no directory".to_owned(),
                _ => "it is no regular file".to_owned(),
            }
        } else if stat.st_uid != self.owner() {
            format!("it belongs to user {}, not to user {}", stat.st_uid, self.owner())
        } else if stat.st_mode & self.audience.forbidden() != 0 {
            format!("its mode {:o} lets others in", stat.st_mode & 0o7777)
        } else {
            return Ok(());
        };
        Err(PaletteError::Untrusted { path: path.to_owned(), what })
    }
}

impl Audience {
    /// The user who must own the files for this audience.
    pub(super) fn owner(self) -> u32 {
        match self {
            Audience::User => rustix::process::geteuid().as_raw(),
            Audience::All => 0,
        }
    }

    fn directory_mode(self) -> Mode {
        match self {
            Audience::User => Mode::RWXU,
            Audience::All => Mode::from_raw_mode(0o755),
        }
    }

    fn file_mode(self) -> Mode {
        Mode::from_raw_mode(self.segment_mode())
    }

    /// Mode of records and of segments: no user may write them.
    pub(super) fn segment_mode(self) -> u32 {
        match self {
            Audience::User => 0o400,
            Audience::All => 0o444,
        }
    }

    /// Permissions that must not be there.
    fn forbidden(self) -> u32 {
        match self {
            Audience::User => 0o077,
            Audience::All => 0o022,
        }
    }
}

fn bytes(file: File, longest: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(longest).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn failed(action: &str, path: &Path) -> impl FnOnce(Errno) -> PaletteError {
    let wrap = PaletteError::system(format!("{action} {}", path.display()));
    move |error| wrap(error.into())
}

/// Where palettes for an audience are; `None` where none are looked for.
pub(super) fn directory(audience: Audience, options: &PaletteOptions) -> Option<PathBuf> {
    match audience {
        Audience::User => Some(own_directory(&options.own)),
        Audience::All => options.shared.clone(),
    }
}

/// In a directory of the user's own, the name is `huepage`; in one that all users
/// share, it has the user's number.
fn own_directory(base: &Path) -> PathBuf {
    let user = rustix::process::geteuid().as_raw();
    let is_own = fs::stat(base).is_ok_and(|stat| stat.st_uid == user && stat.st_mode & 0o022 == 0);
    match is_own {
        true => base.join("huepage"),
        false => base.join(format!("huepage-{user}")),
    }
}

const PREFIX: &str = "palette-";

/// A palette is for all caches of one geometry, whatever their CPU.
fn file_name(geometry: Option<&CacheGeometry>) -> String {
    match geometry {
        Some(cache) => {
            format!(
                "{PREFIX}L{}-{}-{}-{}",
                cache.level(),
                cache.size().0,
                cache.ways(),
                cache.line()
            )
        }
        None => format!("{PREFIX}undeclared"),
    }
}
