// SPDX-License-Identifier: MIT OR Apache-2.0
//! Images of file systems that hold one file, made once by `mke2fs`.

use std::{
    fs::{self, File},
    io::{BufWriter, Write},
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, bail};
use huepage::units::Bytes;
use serde::Serialize;

use crate::workspace::Workspace;

/// The unit in which a file system places a file.
const BLOCK: usize = 4096;

/// A file system of 4 KiB blocks with one file, `/file`, laid out in sequence. Every
/// block of the file begins with its number, as 64 bits, little end first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct FileSystem {
    /// Which kind.
    pub kind: Kind,
    /// The size of the file, in whole blocks.
    pub file: Bytes,
}

/// Kinds of file systems.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// With block maps.
    Ext2,
    /// With extents; without a journal, as nothing is written.
    Ext4,
}

impl Kind {
    /// As `mount` spells it.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Ext2 => "ext2",
            Kind::Ext4 => "ext4",
        }
    }
}

impl std::str::FromStr for Kind {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> anyhow::Result<Self> {
        match text {
            "ext2" => Ok(Kind::Ext2),
            "ext4" => Ok(Kind::Ext4),
            _ => bail!("'{text}' is no file system here; there are ext2 and ext4"),
        }
    }
}

impl FileSystem {
    /// The image, which is made unless it exists.
    ///
    /// # Errors
    /// `mke2fs` is missing or fails, or there is no room.
    pub fn image(&self, workspace: &Workspace) -> anyhow::Result<PathBuf> {
        let folder = workspace.lab().join("disks");
        fs::create_dir_all(&folder).with_context(|| format!("make {}", folder.display()))?;
        let image = folder.join(format!("{}-{}k.img", self.kind.name(), self.file.0 >> 10));
        if image.exists() {
            return Ok(image);
        }
        // The program that finishes first names the image; the images of others are
        // dropped.
        let scratch = tempfile::tempdir_in(&folder).context("make a scratch directory")?;
        let content = scratch.path().join("content");
        fs::create_dir(&content).context("make a scratch directory")?;
        self.write_file(&content.join("file"))?;
        let made = scratch.path().join("image");
        self.make(&content, &made)?;
        fs::rename(&made, &image).with_context(|| format!("write {}", image.display()))?;
        Ok(image)
    }

    fn write_file(&self, path: &Path) -> anyhow::Result<()> {
        let what = || format!("write {} bytes to {}", self.file.0, path.display());
        let mut out = BufWriter::new(File::create(path).with_context(what)?);
        // mke2fs makes holes of blocks of zeros, and holes are never read from a disk.
        let mut block = [0xa5; BLOCK];
        for number in 0..self.file.0 / BLOCK as u64 {
            block[..8].copy_from_slice(&number.to_le_bytes());
            out.write_all(&block).with_context(what)?;
        }
        out.flush().with_context(what)
    }

    fn make(&self, content: &Path, image: &Path) -> anyhow::Result<()> {
        // Block maps, inodes and bitmaps take less than 1/64.
        let size = self.file.0 + (self.file.0 >> 6) + (4 << 20);
        let file = File::create(image).with_context(|| format!("make {}", image.display()))?;
        file.set_len(size).context("make an image")?;
        // The same settings give the same image.
        let id = "00000000-0000-4000-8000-000000000001";
        let path = std::env::var("PATH").unwrap_or_default();
        let output = Command::new("mke2fs")
            .env("PATH", format!("{path}:/usr/sbin:/sbin"))
            .args(["-q", "-F", "-t", self.kind.name(), "-b", &BLOCK.to_string()])
            .args(["-m", "0", "-N", "16", "-O", "^has_journal,^resize_inode", "-U", id])
            .args(["-E", &format!("root_owner=0:0,hash_seed={id}"), "-d"])
            .args([content, image])
            .output()
            .context("run mke2fs (missing? ./setup lab installs it)")?;
        if !output.status.success() {
            bail!("mke2fs failed: {}", String::from_utf8_lossy(&output.stderr).trim());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_holds_every_block_of_the_file_in_sequence() {
        let folder = tempfile::tempdir().unwrap();
        let workspace = Workspace::at(folder.path(), folder.path());
        for kind in [Kind::Ext2, Kind::Ext4] {
            let system = FileSystem { kind, file: Bytes::mib(8) };
            let image = system.image(&workspace).unwrap();
            let bytes = fs::read(&image).unwrap();
            let fill = [0xa5; BLOCK - 8];
            let numbers: Vec<u64> = bytes
                .chunks(BLOCK)
                .filter(|block| block.ends_with(&fill))
                .map(|block| u64::from_le_bytes(block[..8].try_into().unwrap()))
                .collect();
            assert_eq!(numbers, (0..2048).collect::<Vec<u64>>(), "{}", kind.name());
            assert_eq!(system.image(&workspace).unwrap(), image);
            assert_eq!(fs::read_dir(folder.path().join("disks")).unwrap().count(), {
                1 + usize::from(kind == Kind::Ext4)
            });
        }
    }

    #[test]
    fn another_file_system_is_refused() {
        assert!("xfs".parse::<Kind>().unwrap_err().to_string().contains("'xfs'"));
    }
}
