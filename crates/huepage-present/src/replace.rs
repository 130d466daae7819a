// SPDX-License-Identifier: MIT OR Apache-2.0
//! Replaces a file by another one: readers find the old file or the new one, never a
//! part, and if writing fails the old file stays. In a directory that this process may
//! not write to, an existing file is overwritten instead, without these guarantees.

use std::{
    fs::{self, File, OpenOptions, Permissions},
    io::{ErrorKind, Write},
    os::unix::fs::{MetadataExt, PermissionsExt},
    path::{Path, PathBuf},
};

use anyhow::{Context, bail};

/// What a path names.
#[derive(Debug, PartialEq, Eq)]
pub enum Named {
    /// A regular file, which may be missing; symbolic links lead to it, and stay.
    File(PathBuf),
    /// A device, a pipe, a socket, or an open file of a process, such as `/dev/stdout`:
    /// it is written to, not replaced.
    Stream,
}

/// The number of symbolic links that Linux follows.
const LINKS: usize = 40;

/// The file or stream that a path names.
///
/// # Errors
/// If it cannot be looked at, or is a symbolic link of another user, who could choose
/// any target. As with `fs.protected_symlinks`, the owner of the directory may have
/// links in it.
pub fn named(path: &Path) -> anyhow::Result<Named> {
    let mut path = path.to_owned();
    for _ in 0..LINKS {
        let what = || format!("look at {}", path.display());
        let there = match path.symlink_metadata() {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Named::File(path)),
            there => there.with_context(what)?,
        };
        if there.is_file() || there.is_dir() {
            return Ok(Named::File(path));
        }
        if !there.is_symlink() {
            return Ok(Named::Stream);
        }
        let folder = folder_of(&path);
        // Links in /proc are no paths.
        if folder.canonicalize().with_context(what)?.starts_with("/proc") {
            return Ok(Named::Stream);
        }
        let own = rustix::process::geteuid().as_raw();
        if there.uid() != own && there.uid() != folder.metadata().with_context(what)?.uid() {
            bail!("{} is a symbolic link of another user: name a file", path.display());
        }
        path = folder.join(path.read_link().with_context(what)?);
    }
    bail!("{} is one of too many symbolic links", path.display())
}

/// The directory that a file is in.
pub fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Writes a new file in the same directory and renames it; appends to a stream. The
/// file has `mode`, or else that of the old one, or else what the umask gives a new
/// one.
///
/// # Errors
/// If it cannot be written: then the old file stays unless it is overwritten in place,
/// and no other file is left.
pub fn replace(path: &Path, content: &[u8], mode: Option<u32>) -> anyhow::Result<()> {
    let context = || format!("writing {}", path.display());
    let Named::File(file) = named(path)? else {
        let stream = OpenOptions::new().append(true).open(path);
        return stream.and_then(|mut stream| stream.write_all(content)).with_context(context);
    };
    let old = file.metadata().ok();
    // Its name begins with a dot and has no suffix, so that no collector reads it.
    let mut beside = tempfile::Builder::new();
    beside.prefix(".huepage-").permissions(Permissions::from_mode(0o666));
    let mut beside = match beside.tempfile_in(folder_of(&file)) {
        // The directory may not be written to, but the file may.
        Err(error) if error.kind() == ErrorKind::PermissionDenied && old.is_some() => {
            return File::create(&file)
                .and_then(|mut file| file.write_all(content))
                .with_context(context);
        }
        beside => beside.with_context(context)?,
    };
    // An error of its own would name the temporary file.
    beside.as_file_mut().write_all(content).with_context(context)?;
    if let Some(mode) = mode.or(old.map(|old| old.mode())) {
        fs::set_permissions(beside.path(), Permissions::from_mode(mode)).with_context(context)?;
    }
    beside.persist(&file).with_context(context)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::unix::{fs::symlink, net::UnixListener};

    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().mode() & 0o777
    }

    #[test]
    fn the_new_file_takes_the_place_of_the_old_one_and_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("huepage.prom");
        fs::write(&path, "old, and longer than the new one").unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
        let old = File::open(&path).unwrap();
        replace(&path, b"new", None).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(mode(&path), 0o600);
        // A reader that has the old file open reads it to its end.
        assert_eq!(std::io::read_to_string(old).unwrap(), "old, and longer than the new one");
        replace(&path, b"new", Some(0o644)).unwrap();
        assert_eq!(mode(&path), 0o644);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);

        let [plain, new] = ["plain", "new"].map(|name| folder.path().join(name));
        fs::write(&plain, "").unwrap();
        replace(&new, b"", None).unwrap();
        assert_eq!(mode(&new), mode(&plain), "as the umask has it");
    }

    #[test]
    fn links_stay_and_what_they_lead_to_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let [file, link, other] = ["file", "link", "other"].map(|name| folder.path().join(name));
        symlink("file", &link).unwrap();
        symlink("link", &other).unwrap();
        for content in ["made", "again"] {
            replace(&other, content.as_bytes(), None).unwrap();
            assert!(link.is_symlink() && other.is_symlink());
            assert_eq!(fs::read_to_string(&file).unwrap(), content);
        }
        symlink("round", folder.path().join("round")).unwrap();
        let error = replace(&folder.path().join("round"), b"", None).unwrap_err();
        assert!(error.to_string().contains("too many symbolic links"), "{error}");
    }

    #[test]
    fn a_link_of_another_user_is_refused_unless_the_folder_is_his() {
        if !rustix::process::geteuid().is_root() {
            return println!("skipped: only root can make one");
        }
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("link");
        symlink("file", &link).unwrap();
        std::os::unix::fs::lchown(&link, Some(65534), None).unwrap();
        let error = replace(&link, b"", None).unwrap_err();
        assert!(error.to_string().contains("symbolic link of another user"), "{error}");
        assert!(!folder.path().join("file").exists());
        std::os::unix::fs::chown(folder.path(), Some(65534), None).unwrap();
        replace(&link, b"", None).unwrap();
    }

    #[test]
    fn what_is_no_file_stays_what_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let [full, socket, open, log] =
            ["full", "socket", "open", "log"].map(|name| folder.path().join(name));
        symlink("/dev/full", &full).unwrap();
        let error = replace(&full, b"x", None).unwrap_err();
        assert!(format!("{error:#}").contains("No space left"), "{error:#}");
        assert!(full.is_symlink());

        // It cannot be written to, but could be replaced.
        let _listener = UnixListener::bind(&socket).unwrap();
        replace(&socket, b"x", None).unwrap_err();
        assert_eq!(named(&socket).unwrap(), Named::Stream);

        // As /dev/stdout in a shell that appends to a file.
        fs::write(&log, "before, ").unwrap();
        let file = OpenOptions::new().append(true).open(&log).unwrap();
        let number = std::os::fd::AsRawFd::as_raw_fd(&file);
        symlink(format!("/proc/self/fd/{number}"), &open).unwrap();
        replace(&open, b"after", None).unwrap();
        assert!(open.is_symlink());
        assert_eq!(fs::read_to_string(&log).unwrap(), "before, after");
    }

    #[test]
    fn a_folder_that_is_not_there_is_named() {
        let error = replace(Path::new("/nonexistent/a.prom"), b"x", None).unwrap_err();
        assert!(format!("{error:#}").starts_with("writing /nonexistent/a.prom"), "{error:#}");
    }
}
