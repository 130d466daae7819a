// SPDX-License-Identifier: MIT OR Apache-2.0
//! Finished images: a directory that appears complete or not at all.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::Context;
use serde::{Deserialize, Serialize};

/// A kernel that can be booted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Image {
    /// `bzImage`, `Image`, or for User-mode Linux the program `linux`. Beside it are
    /// `config`, `System.map` and `build.log`.
    pub path: PathBuf,
    /// The kernel's version and Debian's: `6.12.117 (Debian 6.12.117-1~deb12u1)`.
    pub version: String,
    /// Of all inputs.
    pub hash: String,
}

/// The file that describes an image in its directory.
const ABOUT: &str = "image.json";

/// The finished image in `directory`, if there is one.
///
/// # Errors
/// If the directory exists but was not made by [`finish`].
pub fn finished(directory: &Path) -> anyhow::Result<Option<Image>> {
    let path = directory.join(ABOUT);
    if !directory.exists() {
        return Ok(None);
    }
    let hint = || format!("{}: damaged; delete {}", path.display(), directory.display());
    let text = fs::read_to_string(&path).with_context(hint)?;
    let mut image: Image = serde_json::from_str(&text).with_context(hint)?;
    image.path = directory.join(image.path);
    fs::metadata(&image.path).with_context(hint)?;
    Ok(Some(image))
}

/// Copies `image` (its path in the objects) and what belongs to it into `directory`.
pub fn finish(directory: &Path, objects: &Path, image: Image) -> anyhow::Result<Image> {
    let part = directory.with_extension("part");
    if part.exists() {
        fs::remove_dir_all(&part).with_context(|| format!("remove {}", part.display()))?;
    }
    fs::create_dir_all(&part).with_context(|| format!("make {}", part.display()))?;
    let copy = |from: &Path, to: &Path| {
        let (from, to) = (objects.join(from), part.join(to));
        fs::copy(&from, &to).with_context(|| format!("copy {} to {}", from.display(), to.display()))
    };
    let name = PathBuf::from(image.path.file_name().context("an image has a name")?);
    copy(&image.path, &name)?;
    for (from, to) in
        [(".config", "config"), ("System.map", "System.map"), ("build.log", "build.log")]
    {
        copy(from.as_ref(), to.as_ref())?;
    }
    let about = Image { path: name, ..image };
    fs::write(part.join(ABOUT), serde_json::to_string_pretty(&about)? + "\n")
        .with_context(|| format!("write {}", part.join(ABOUT).display()))?;
    fs::rename(&part, directory).with_context(|| format!("rename to {}", directory.display()))?;
    Ok(Image { path: directory.join(&about.path), ..about })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_is_found_where_it_was_put() {
        let top = tempfile::tempdir().unwrap();
        let (objects, directory) = (top.path().join("objects"), top.path().join("x-1"));
        assert_eq!(finished(&directory).unwrap(), None);
        fs::create_dir_all(objects.join("arch")).unwrap();
        for file in ["arch/Image", ".config", "System.map", "build.log"] {
            fs::write(objects.join(file), file).unwrap();
        }
        let image = Image { path: "arch/Image".into(), version: "6.12.1".into(), hash: "1".into() };
        let put = finish(&directory, &objects, image).unwrap();
        assert_eq!(put.path, directory.join("Image"));
        assert_eq!(finished(&directory).unwrap(), Some(put.clone()));

        fs::remove_file(put.path).unwrap();
        let error = format!("{:#}", finished(&directory).unwrap_err());
        assert!(error.contains("damaged; delete"), "{error}");
    }
}
