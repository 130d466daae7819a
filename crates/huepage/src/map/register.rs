// SPDX-License-Identifier: MIT OR Apache-2.0
//! How a program publishes the colors of its own memory for programs that map it.
//!
//! Each range is a sealed memfd of the program, which the kernel lists in
//! `/proc/PID/fd`. So nothing is left behind however the program ends, no other program
//! can take the name, and it works across containers. The seals show that the contents
//! are complete and final.
//! that the contents are whole and final.

use std::{
    borrow::Cow,
    fs::File,
    io::{self, BufReader, Read, Write},
};

use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, fcntl_get_seals, memfd_create};
use serde::{Deserialize, Serialize};

use crate::{
    color::{Color, ColorCount, Method},
    mapping::{PageAddr, page_size},
    place::Region,
    units::Bytes,
};

/// The name of the memfd. The kernel shows it as `/memfd:huepage-colors (deleted)`.
const NAME: &str = "huepage-colors";
/// What the kernel makes of it in `/proc/PID/fd`.
pub(super) const LINK: &str = "/memfd:huepage-colors (deleted)";
const SCHEMA: &str = "huepage.registered/1";
const LONGEST_LABEL: usize = 256;
const MOST_COLORS: u32 = 1 << 20;
/// The longest text read: that of some 8 million pages.
const LONGEST: u64 = 32 << 20;

/// A range whose colors this program has published. They can be read until this value
/// is dropped, or the program executes another one or ends.
#[derive(Debug)]
#[must_use = "dropped, the range is told no more"]
pub struct Registration {
    _memfd: File,
}

/// Why a range cannot be registered.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RegisterError {
    /// No pages, or a page whose color is not below the number of colors.
    #[error("the colors do not describe a range: {0}")]
    Colors(String),
    /// The label is too long.
    #[error("the label has {0} bytes: at most {LONGEST_LABEL} are shown")]
    Label(usize),
    /// The system refused the memfd: mostly since file descriptors are used up.
    #[error("cannot make a memfd")]
    System(#[from] io::Error),
}

/// The contents of the memfd.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Told<'a> {
    schema: Cow<'a, str>,
    /// The number of the program in its own namespace: a child after `fork` holds the
    /// memfd too, but has other memory.
    pub pid: u32,
    pub label: Cow<'a, str>,
    pub start: u64,
    pub page_size: Bytes,
    pub method: Method,
    pub colors: ColorCount,
    pub ways: Option<u32>,
    pub pages: Cow<'a, [Option<Color>]>,
}

impl Registration {
    /// Publishes the colors of the pages from `start` on, one entry for each; `ways` is
    /// how many pages of one color the cache holds, if known. After pages have moved,
    /// the program should register them again.
    ///
    /// # Errors
    /// [`RegisterError`] for a range that is none, or no file descriptor.
    pub fn new(
        label: &str,
        start: PageAddr,
        pages: &[Option<Color>],
        method: Method,
        colors: ColorCount,
        ways: Option<u32>,
    ) -> Result<Self, RegisterError> {
        let told = Told {
            schema: SCHEMA.into(),
            pid: std::process::id(),
            label: label.into(),
            start: start.get() as u64,
            page_size: page_size(),
            method,
            colors,
            ways,
            pages: pages.into(),
        };
        told.check()?;
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        let memfd = File::from(memfd_create(NAME, flags).map_err(io::Error::from)?);
        let json = serde_json::to_vec(&told).map_err(io::Error::from)?;
        (&memfd).write_all(&json)?;
        let seals = SealFlags::WRITE | SealFlags::GROW | SealFlags::SHRINK | SealFlags::SEAL;
        fcntl_add_seals(&memfd, seals).map_err(io::Error::from)?;
        Ok(Registration { _memfd: memfd })
    }

    /// Publishes the colors of a placed region, as known now.
    ///
    /// # Errors
    /// As [`Registration::new`].
    pub fn of_region(
        label: &str,
        region: &Region,
        method: Method,
        colors: ColorCount,
        ways: Option<u32>,
    ) -> Result<Self, RegisterError> {
        let pages: Vec<_> = (0..region.pages()).map(|index| region.color(index)).collect();
        Self::new(label, region.page(0), &pages, method, colors, ways)
    }
}

impl Told<'_> {
    /// How long the text of a file is; `None` for a file that is not one of
    /// these, or not yet whole.
    ///
    /// # Errors
    /// What the system reports.
    pub fn len_in(file: &File) -> io::Result<Option<u64>> {
        let sealed = SealFlags::WRITE | SealFlags::GROW | SealFlags::SHRINK;
        if !fcntl_get_seals(file).is_ok_and(|seals| seals.contains(sealed)) {
            return Ok(None);
        }
        Ok(Some(file.metadata()?.len()))
    }

    /// Reads the contents of a file for which [`Told::len_in`] gives a length.
    ///
    /// # Errors
    /// What reading reports; `InvalidData` for contents that describe no range.
    pub fn read(file: &File) -> io::Result<Told<'static>> {
        let invalid = |why: String| io::Error::new(io::ErrorKind::InvalidData, why);
        if file.metadata()?.len() > LONGEST {
            return Err(invalid(format!("longer than {}", Bytes(LONGEST))));
        }
        let mut json = String::new();
        BufReader::new(file.take(LONGEST)).read_to_string(&mut json)?;
        let told: Told<'static> = serde_json::from_str(&json)?;
        if told.schema != SCHEMA {
            return Err(invalid(format!("its schema is not '{SCHEMA}'")));
        }
        told.check().map_err(|error| invalid(error.to_string()))?;
        Ok(told)
    }

    fn check(&self) -> Result<(), RegisterError> {
        let colors = self.colors.get();
        let wrong = |why: String| Err(RegisterError::Colors(why));
        if self.label.len() > LONGEST_LABEL {
            return Err(RegisterError::Label(self.label.len()));
        }
        if self.pages.is_empty() {
            return wrong("there are none".to_owned());
        }
        if colors > MOST_COLORS || self.ways == Some(0) {
            return wrong(format!("{colors} colors, {:?} ways", self.ways));
        }
        if let Some(color) = self.pages.iter().flatten().find(|color| color.0 >= colors) {
            return wrong(format!("color {color} of {colors}"));
        }
        let bytes = self.page_size.0.checked_mul(self.pages.len() as u64);
        if bytes.and_then(|bytes| self.start.checked_add(bytes)).is_none() {
            return wrong(format!("{} pages from {:#x}", self.pages.len(), self.start));
        }
        Ok(())
    }
}
