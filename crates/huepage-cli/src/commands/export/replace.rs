// SPDX-License-Identifier: MIT OR Apache-2.0
//! A file that others read at any moment: they see the old one or the new one, never a
//! part.

use std::{
    fs::{self, Permissions},
    io::Write,
    os::unix::fs::PermissionsExt,
    path::Path,
};

use anyhow::Context;
use huepage_present::destination::is_special;

/// Writes beside `path`, and renames. Everybody may read it. What is no file, such as
/// `/dev/stdout`, is written to and stays what it is; so does a symbolic link.
///
/// # Errors
/// If it cannot be written; then the old one stays, and nothing beside it.
pub fn replace(path: &Path, text: &str) -> anyhow::Result<()> {
    let context = || format!("writing {}", path.display());
    if is_special(path) {
        return fs::write(path, text).with_context(context);
    }
    let file = path.canonicalize();
    let path = file.as_deref().unwrap_or(path);
    let directory = path.parent().filter(|directory| !directory.as_os_str().is_empty());
    // Its name begins with a dot and has no suffix, so that no collector takes it.
    let mut file = tempfile::Builder::new()
        .prefix(".huepage-")
        .tempfile_in(directory.unwrap_or(Path::new(".")))
        .with_context(context)?;
    file.write_all(text.as_bytes()).with_context(context)?;
    file.as_file().set_permissions(Permissions::from_mode(0o644)).with_context(context)?;
    file.persist(path).with_context(context)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::unix::{fs::symlink, net::UnixListener};

    use super::*;

    #[test]
    fn the_new_file_takes_the_place_of_the_old_one_and_leaves_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("huepage.prom");
        fs::write(&path, "old, and longer than the new one").unwrap();
        let old = fs::File::open(&path).unwrap();
        replace(&path, "new").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        // Who had it open reads the old one to its end.
        assert_eq!(std::io::read_to_string(old).unwrap(), "old, and longer than the new one");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o644);
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_link_stays_and_so_does_what_is_no_file() {
        let directory = tempfile::tempdir().unwrap();
        let [file, link] = ["a.prom", "link"].map(|name| directory.path().join(name));
        fs::write(&file, "old").unwrap();
        symlink(&file, &link).unwrap();
        replace(&link, "new").unwrap();
        assert!(link.is_symlink());
        assert_eq!(fs::read_to_string(&file).unwrap(), "new");

        // A socket: it cannot be written to, and would be replaced all the same.
        let socket = directory.path().join("socket");
        let _listener = UnixListener::bind(&socket).unwrap();
        replace(&socket, "new").unwrap_err();
        assert!(is_special(&socket));
    }

    #[test]
    fn a_directory_that_is_not_there_is_named() {
        let error = format!("{:#}", replace(Path::new("/nonexistent/a.prom"), "x").unwrap_err());
        assert!(error.starts_with("writing /nonexistent/a.prom"), "{error}");
    }
}
