// SPDX-License-Identifier: MIT OR Apache-2.0
//! Compares the stock kernel with ours without our options: two linked kernels, section
//! by section.

use std::{collections::BTreeMap, fs};

use anyhow::{Context, bail};
use object::{Object, ObjectSection, ObjectSymbol, SectionFlags, SymbolKind, elf};

use super::{build, request::Request, request::Variant};
use crate::{progress::Progress, workspace::Workspace};

/// How many functions are named.
const NAMED: usize = 20;

/// How two kernels differ.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Comparison {
    /// Sections with code, and their bytes.
    pub sections: usize,
    /// Bytes in them.
    pub bytes: u64,
    /// Sections with code that differ, each with its size in both.
    pub code: Vec<String>,
    /// Functions that are in one of them only, or differ in size, or, if sizes are all
    /// the same, in content; at most 20.
    pub functions: Vec<String>,
    /// Sections without code that differ: lines of source files in tables, notes.
    pub data: Vec<String>,
}

impl Comparison {
    /// Whether all code is the same, byte for byte.
    pub fn same_code(&self) -> bool {
        self.code.is_empty()
    }
}

/// Builds the stock kernel, and ours without any of our options, and compares them.
///
/// # Errors
/// A kernel that does not build, or that is no ELF file.
pub fn compare_unconfigured(
    workspace: &Workspace,
    request: &Request,
    progress: &Progress,
) -> anyhow::Result<Comparison> {
    let scratch = tempfile::tempdir().context("make a temporary directory")?;
    let kernel = |variant: Variant| {
        let path = scratch.path().join(variant.name());
        build::unconfigured(workspace, &Request { variant, ..*request }, &path, progress)?;
        fs::read(&path).with_context(|| format!("read {}", path.display()))
    };
    compare(&kernel(Variant::Stock)?, &kernel(Variant::Huepage)?)
}

/// A section that is in memory when the kernel runs.
struct Section<'a> {
    code: bool,
    address: u64,
    bytes: &'a [u8],
}

type Sections<'a> = BTreeMap<String, Section<'a>>;

fn sections<'a>(file: &object::File<'a>) -> anyhow::Result<Sections<'a>> {
    let mut sections = BTreeMap::new();
    for section in file.sections() {
        let SectionFlags::Elf { sh_flags } = section.flags() else { bail!("no ELF file") };
        let has = |flag: u32| sh_flags & u64::from(flag) != 0;
        if has(elf::SHF_ALLOC) {
            let bytes = section.data().context("read a section")?;
            let (code, address) = (has(elf::SHF_EXECINSTR), section.address());
            sections.insert(section.name()?.to_owned(), Section { code, address, bytes });
        }
    }
    if !sections.values().any(|section| section.code) {
        bail!("the kernel has no section with code");
    }
    Ok(sections)
}

fn compare(stock: &[u8], ours: &[u8]) -> anyhow::Result<Comparison> {
    let files = [stock, ours].map(|bytes| object::File::parse(bytes).context("read a kernel"));
    let [stock, ours] = files;
    let (stock, ours) = (stock?, ours?);
    let (a, b) = (sections(&stock)?, sections(&ours)?);
    let mut comparison = Comparison::default();
    let mut names: Vec<&String> = a.keys().chain(b.keys()).collect();
    names.sort();
    names.dedup();
    for name in names {
        let (here, there) = (a.get(name), b.get(name));
        let code = [here, there].into_iter().flatten().any(|section| section.code);
        if let Some(section) = here.filter(|_| code) {
            comparison.sections += 1;
            comparison.bytes += section.bytes.len() as u64;
        }
        let size = |section: Option<&Section>| {
            section.map_or("none".into(), |section| section.bytes.len().to_string())
        };
        if here.map(|section| section.bytes) != there.map(|section| section.bytes) {
            let differs = format!("{name} ({} and {} bytes)", size(here), size(there));
            if code { comparison.code.push(differs) } else { comparison.data.push(differs) }
        }
    }
    if !comparison.same_code() {
        comparison.functions = functions(&stock, &a, &ours, &b);
    }
    Ok(comparison)
}

/// Name to size and content; of several with one name, the first.
fn by_name<'a>(file: &object::File, all: &Sections<'a>) -> BTreeMap<String, &'a [u8]> {
    let mut functions = BTreeMap::new();
    for symbol in file.symbols().filter(|symbol| symbol.kind() == SymbolKind::Text) {
        let (Ok(name), start, size) = (symbol.name(), symbol.address(), symbol.size()) else {
            continue;
        };
        let within = all.values().filter(|section| section.code).find_map(|section| {
            let at = start.checked_sub(section.address)? as usize;
            section.bytes.get(at..at + size as usize)
        });
        if let Some(bytes) = within.filter(|bytes| !bytes.is_empty()) {
            functions.entry(name.to_owned()).or_insert(bytes);
        }
    }
    functions
}

fn functions(stock: &object::File, a: &Sections, ours: &object::File, b: &Sections) -> Vec<String> {
    let (a, b) = (by_name(stock, a), by_name(ours, b));
    let sizes = a.iter().filter_map(|(name, here)| {
        let there = b.get(name).map(|there| there.len());
        (there != Some(here.len())).then(|| {
            let there = there.map_or("none".into(), |size| size.to_string());
            format!("{name} ({} and {there} bytes)", here.len())
        })
    });
    let new = b.iter().filter(|(name, _)| !a.contains_key(*name));
    let new = new.map(|(name, there)| format!("{name} (none and {} bytes)", there.len()));
    let mut named: Vec<String> = sizes.chain(new).collect();
    if named.is_empty() {
        // No function moved, so contents can be compared.
        let content = a.iter().filter(|(name, here)| b.get(*name) != Some(here));
        named = content.map(|(name, _)| format!("{name} (other content)")).collect();
    }
    named.truncate(NAMED);
    named
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    /// A relocatable object of assembler text.
    fn assembled(text: &str) -> Vec<u8> {
        let top = tempfile::tempdir().unwrap();
        let (source, object) = (top.path().join("a.s"), top.path().join("a.o"));
        fs::write(&source, text).unwrap();
        let status = Command::new("as").arg("-o").arg(&object).arg(&source).status().unwrap();
        assert!(status.success());
        fs::read(object).unwrap()
    }

    fn source(code: &str, line: u32) -> String {
        format!(
            ".text\n.type f, @function\nf:\n.byte {code}\n.size f, .-f\n\
             .section __bug_table, \"a\"\n.word {line}\n"
        )
    }

    #[test]
    fn lines_in_tables_are_no_code() {
        let stock = assembled(&source("1, 2", 10));
        let moved = compare(&stock, &assembled(&source("1, 2", 11))).unwrap();
        assert!(moved.same_code());
        assert_eq!(moved.data, ["__bug_table (2 and 2 bytes)"]);
        assert_eq!((moved.sections, moved.bytes), (1, 2));
        assert_eq!(compare(&stock, &stock).unwrap().data, [""; 0]);
    }

    #[test]
    fn a_function_that_differs_is_named() {
        let stock = assembled(&source("1, 2", 10));
        let other = compare(&stock, &assembled(&source("1, 3", 10))).unwrap();
        assert!(!other.same_code());
        assert_eq!(other.code, [".text (2 and 2 bytes)"]);
        assert_eq!(other.functions, ["f (other content)"]);
        let longer = compare(&stock, &assembled(&source("1, 2, 3", 10))).unwrap();
        assert_eq!(longer.functions, ["f (2 and 3 bytes)"]);
    }

    #[test]
    fn what_is_no_kernel_is_refused() {
        assert!(compare(b"no", b"no").is_err());
        assert!(compare(&assembled(".data\n.byte 1\n"), b"").is_err());
    }
}
