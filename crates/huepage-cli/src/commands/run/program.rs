// SPDX-License-Identifier: MIT OR Apache-2.0
//! The file that a command would execute, and whether it loads a preloaded library.

use std::{
    ffi::{OsStr, OsString},
    fs, io,
    os::unix::{
        ffi::{OsStrExt, OsStringExt},
        fs::{MetadataExt, PermissionsExt},
    },
    path::{Path, PathBuf},
};

use object::{
    Endianness, FileKind,
    elf::{EM_AARCH64, EM_X86_64, ET_DYN, FileHeader64, PT_INTERP},
    read::elf::{FileHeader, ProgramHeader},
};

/// Why no file can be executed.
#[derive(Debug, PartialEq, Eq)]
pub enum NotRunnable {
    /// There is no such program.
    NotFound,
    /// There is one, and it cannot be executed.
    NoPermission(PathBuf),
}

/// Why a program would not load the library, or must not.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotPlaced {
    #[error("{0} is linked statically: no library can be loaded into it")]
    Static(PathBuf),
    #[error(
        "{0} changes its user or gains capabilities when it starts: the loader then ignores LD_PRELOAD"
    )]
    Privileged(PathBuf),
    #[error("{0} is not for {arch} of 64 bits", arch = std::env::consts::ARCH)]
    Architecture(PathBuf),
    #[error(
        "{0} uses the C library musl, but the library to be loaded needs glibc: run a program linked with glibc"
    )]
    Musl(PathBuf),
    #[error("{0} cannot be read, so its kind is unknown: {1}")]
    Unreadable(PathBuf, String),
}

/// The ELF machine of programs and libraries on this machine.
const MACHINE: u16 = if cfg!(target_arch = "aarch64") { EM_AARCH64 } else { EM_X86_64 };

/// Scripts whose interpreters are scripts, as far as the kernel follows them.
const DEPTH: usize = 5;

/// Finds the file as `execvp(3)` does.
///
/// # Errors
/// [`NotRunnable`].
pub fn find(command: &OsStr, path: Option<&OsStr>) -> Result<PathBuf, NotRunnable> {
    let candidates: Vec<PathBuf> = if command.as_bytes().contains(&b'/') {
        vec![command.into()]
    } else {
        let path = path.unwrap_or(OsStr::new("/bin:/usr/bin"));
        std::env::split_paths(path).map(|directory| directory.join(command)).collect()
    };
    let mut found = None;
    for candidate in candidates {
        match fs::metadata(&candidate) {
            Ok(metadata) if metadata.is_file() && may_execute(&candidate) => return Ok(candidate),
            Ok(_) => found = Some(candidate),
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                found = Some(candidate)
            }
            Err(_) => {}
        }
    }
    Err(found.map_or(NotRunnable::NotFound, NotRunnable::NoPermission))
}

fn may_execute(path: &Path) -> bool {
    use rustix::fs::{Access, access};
    // Root may execute a file that any user may execute.
    access(path, Access::EXEC_OK).is_ok()
        && fs::metadata(path).is_ok_and(|metadata| metadata.permissions().mode() & 0o111 != 0)
}

/// Whether the program, or the interpreter of the script, loads a preloaded library.
///
/// # Errors
/// [`NotPlaced`] with the file it fails for.
pub fn check(program: &Path) -> Result<(), NotPlaced> {
    let mut file = program.to_owned();
    for _ in 0..DEPTH {
        let unreadable =
            |error: &dyn std::fmt::Display| NotPlaced::Unreadable(file.clone(), error.to_string());
        if changes_privileges(&file) {
            return Err(NotPlaced::Privileged(file));
        }
        let bytes = beginning(&file).map_err(|error| unreadable(&error))?;
        match interpreter(&bytes) {
            Some(next) => file = next,
            None => return check_elf(&file, &bytes),
        }
    }
    Ok(())
}

/// The headers that determine how a file is executed are in its first pages.
fn beginning(file: &Path) -> io::Result<Vec<u8>> {
    use io::Read;
    let mut bytes = Vec::new();
    fs::File::open(file)?.take(64 << 10).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// `#!/usr/bin/env python3`: the first word is what the kernel executes.
fn interpreter(bytes: &[u8]) -> Option<PathBuf> {
    let line = bytes.strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?;
    let word = line.trim_ascii().split(|byte| byte.is_ascii_whitespace()).next()?;
    let first = PathBuf::from(OsString::from_vec(word.to_vec()));
    // `env` executes a program by name, which like most is dynamic.
    (!word.is_empty()).then_some(first)
}

fn changes_privileges(file: &Path) -> bool {
    let Ok(metadata) = fs::metadata(file) else { return false };
    let other_user =
        metadata.mode() & 0o4000 != 0 && metadata.uid() != rustix::process::geteuid().as_raw();
    let other_group =
        metadata.mode() & 0o2000 != 0 && metadata.gid() != rustix::process::getegid().as_raw();
    let mut value = [0u8; 64];
    let capabilities = rustix::fs::getxattr(file, "security.capability", &mut value);
    // Root gains nothing from them.
    other_user || other_group || capabilities.is_ok() && !rustix::process::geteuid().is_root()
}

fn check_elf(file: &Path, bytes: &[u8]) -> Result<(), NotPlaced> {
    let unreadable = |error: object::Error| NotPlaced::Unreadable(file.into(), error.to_string());
    match FileKind::parse(bytes) {
        Ok(FileKind::Elf64) => {}
        Ok(FileKind::Elf32) => return Err(NotPlaced::Architecture(file.into())),
        // A script without `#!`: execvp(3) has the shell run it.
        _ => return Ok(()),
    }
    let (header, endian) = elf_header(bytes).map_err(unreadable)?;
    if header.e_machine(endian) != MACHINE {
        return Err(NotPlaced::Architecture(file.into()));
    }
    let segments = header.program_headers(endian, bytes).map_err(unreadable)?;
    match segments.iter().find(|segment| segment.p_type(endian) == PT_INTERP) {
        Some(segment) => match segment.interpreter(endian, bytes) {
            Ok(Some(loader)) if is_musl(loader) => Err(NotPlaced::Musl(file.into())),
            _ => Ok(()),
        },
        None => Err(NotPlaced::Static(file.into())),
    }
}

fn elf_header(bytes: &[u8]) -> object::Result<(&FileHeader64<Endianness>, Endianness)> {
    let header = FileHeader64::parse(bytes)?;
    Ok((header, header.endian()?))
}

/// `/lib/ld-musl-x86_64.so.1`.
fn is_musl(loader: &[u8]) -> bool {
    loader.rsplit(|byte| *byte == b'/').next().is_some_and(|name| name.starts_with(b"ld-musl-"))
}

/// Whether a file is a shared library that a program of this machine can load; the
/// loader ignores other files and runs the program without them.
pub fn is_library(file: &Path) -> io::Result<bool> {
    let bytes = beginning(file)?;
    Ok(elf_header(&bytes).is_ok_and(|(header, endian)| {
        header.e_type(endian) == ET_DYN && header.e_machine(endian) == MACHINE
    }))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn programs_are_found_as_the_shell_finds_them() {
        let directory = tempfile::tempdir().unwrap();
        let plain = directory.path().join("plain");
        fs::write(&plain, "x").unwrap();
        let path = Some(directory.path().as_os_str());
        assert_eq!(find(OsStr::new("plain"), path), Err(NotRunnable::NoPermission(plain.clone())));
        fs::set_permissions(&plain, fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(find(OsStr::new("plain"), path), Ok(plain.clone()));
        assert_eq!(find(plain.as_os_str(), None), Ok(plain));
        assert_eq!(find(OsStr::new("absent"), path), Err(NotRunnable::NotFound));
        assert_eq!(find(OsStr::new("/absent"), path), Err(NotRunnable::NotFound));
        let directory = directory.path().to_owned();
        assert_eq!(find(directory.as_os_str(), None), Err(NotRunnable::NoPermission(directory)));
    }

    #[test]
    fn scripts_are_followed_to_their_interpreter() {
        assert_eq!(interpreter(b"#! /bin/sh -e\nx"), Some("/bin/sh".into()));
        assert_eq!(interpreter(b"#!/usr/bin/env python3\n"), Some("/usr/bin/env".into()));
        assert_eq!(interpreter(b"\x7fELF"), None);
        assert_eq!(interpreter(b"#!\n"), None);
        let directory = tempfile::tempdir().unwrap();
        let script = directory.path().join("script");
        fs::write(&script, "#!/absent/interpreter\n").unwrap();
        let Err(NotPlaced::Unreadable(file, _)) = check(&script) else { panic!() };
        assert_eq!(file, Path::new("/absent/interpreter"));
        fs::write(&script, "echo\n").unwrap();
        assert_eq!(check(&script), Ok(()));
    }

    #[test]
    fn this_program_loads_libraries_and_other_machines_do_not() {
        let own = std::env::current_exe().unwrap();
        assert_eq!(check(&own), Ok(()));
        let mut bytes = beginning(&own).unwrap();
        // e_machine: 183 is arm64.
        bytes[18..20].copy_from_slice(&183u16.to_le_bytes());
        assert_eq!(check_elf(&own, &bytes), Err(NotPlaced::Architecture(own.clone())));
        let other = tempfile::NamedTempFile::new().unwrap();
        fs::write(&other, &bytes).unwrap();
        assert!(!is_library(other.path()).unwrap());
        fs::write(&other, "no library").unwrap();
        assert!(!is_library(other.path()).unwrap());
        assert!(is_musl(b"/lib/ld-musl-x86_64.so.1") && !is_musl(b"/lib64/ld-linux-x86-64.so.2"));
    }

    #[test]
    fn a_program_of_another_user_that_lends_its_rights_is_told() {
        if !rustix::process::geteuid().is_root() {
            return println!("skipped: needs root to give a file away");
        }
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("file");
        fs::write(&file, "#!/bin/sh\n").unwrap();
        std::os::unix::fs::chown(&file, Some(1), None).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o4755)).unwrap();
        assert_eq!(check(&file), Err(NotPlaced::Privileged(file)));
    }
}
