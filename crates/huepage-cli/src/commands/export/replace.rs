// SPDX-License-Identifier: MIT OR Apache-2.0
//! A file that others read at any moment: they see the old one or the new one, never a
//! part.

use std::{fs::Permissions, io::Write, os::unix::fs::PermissionsExt, path::Path};

use anyhow::Context;

/// Writes beside `path`, and renames. Everybody may read it.
///
/// # Errors
/// If it cannot be written; then the old one stays, and nothing beside it.
pub fn replace(path: &Path, text: &str) -> anyhow::Result<()> {
    let context = || format!("writing {}", path.display());
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
    use std::fs;

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
    fn a_directory_that_is_not_there_is_named() {
        let error = format!("{:#}", replace(Path::new("/nonexistent/a.prom"), "x").unwrap_err());
        assert!(error.starts_with("writing /nonexistent/a.prom"), "{error}");
    }
}
