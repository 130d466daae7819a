// SPDX-License-Identifier: MIT OR Apache-2.0
//! The series: which overlay files and hooks make up which patch, in which order.
//!
//! `kernel/series` has one block per patch: its name, then, indented, its files. The
//! mail's subject and body are `kernel/messages/NAME.txt`: the subject, an empty line,
//! the body, and at least one `Signed-off-by:`, the first of which names the author.
//!
//! ```text
//! # A remark.
//! 0001-mm-color-index
//!     overlay/mm/page_color.c
//!     overlay/mm/page_color.h
//!     hooks/0001-build.patch
//! ```
//!
//! Every overlay file and every hook is in exactly one patch, and hooks come in the
//! order of their names, in which the build applies them.

use std::{collections::BTreeMap, fs, path::Path};

use anyhow::{Context, bail};

use super::changes::{ChangeFile, Changes};

/// One patch.
#[derive(Debug, PartialEq)]
pub struct Patch {
    /// Names its message.
    pub name: String,
    /// New files, by their path in the kernel's tree.
    pub overlay: Vec<(String, Vec<u8>)>,
    /// Hooks, in order.
    pub hooks: Vec<ChangeFile>,
    /// Subject, empty line, body.
    pub message: String,
    /// `Name <address>`, from the first `Signed-off-by:`.
    pub author: String,
}

/// The patches of `changes`, as `kernel/series` says.
///
/// # Errors
/// If the series and the files do not match, or a message is missing or has no author.
pub fn read(kernel: &Path, changes: &Changes) -> anyhow::Result<Vec<Patch>> {
    let path = kernel.join("series");
    if !path.exists() && changes.is_empty() {
        return Ok(Vec::new());
    }
    let text = fs::read_to_string(&path).with_context(|| {
        format!("{}: says which overlay files and hooks make up which patch", path.display())
    })?;
    let blocks = blocks(&text).with_context(|| path.display().to_string())?;
    let mut left: BTreeMap<&str, &ChangeFile> =
        changes.files().map(|file| (file.name.as_str(), file)).collect();
    let mut patches = Vec::new();
    let mut last_hook = String::new();
    for Block { name, parts } in blocks {
        let (message, author) = message(&kernel.join(format!("messages/{name}.txt")))?;
        let (mut overlay, mut hooks) = (Vec::new(), Vec::new());
        for part in parts {
            let Some(file) = left.remove(part) else {
                bail!("{}: {name}: {part} is not there, or listed twice", path.display());
            };
            if let Some(new) = part.strip_prefix("overlay/") {
                overlay.push((new.to_owned(), file.bytes.clone()));
            } else if *part < *last_hook {
                bail!("{}: {part} comes after {last_hook}: hooks apply by name", path.display());
            } else {
                part.clone_into(&mut last_hook);
                hooks.push(file.clone());
            }
        }
        patches.push(Patch { name: name.to_owned(), overlay, hooks, message, author });
    }
    if let Some(name) = left.keys().next() {
        bail!("{}: {name} is in no patch", path.display());
    }
    Ok(patches)
}

struct Block<'a> {
    name: &'a str,
    parts: Vec<&'a str>,
}

fn blocks(text: &str) -> anyhow::Result<Vec<Block<'_>>> {
    let mut blocks: Vec<Block> = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let word = line.trim();
        if word.is_empty() || word.starts_with('#') {
            continue;
        }
        if word.contains(char::is_whitespace) {
            bail!("line {number}: `{word}`: one name per line");
        }
        if !line.starts_with([' ', '\t']) {
            if blocks.iter().any(|block| block.name == word) || word.contains('/') {
                bail!("line {number}: `{word}`: a patch has a name of its own, without /");
            }
            blocks.push(Block { name: word, parts: Vec::new() });
        } else if let Some(block) = blocks.last_mut() {
            block.parts.push(word);
        } else {
            bail!("line {number}: `{word}` comes before the name of its patch");
        }
    }
    match blocks.iter().find(|block| block.parts.is_empty()) {
        Some(block) => bail!("{} has no overlay file and no hook", block.name),
        None => Ok(blocks),
    }
}

fn message(path: &Path) -> anyhow::Result<(String, String)> {
    let text = fs::read_to_string(path)
        .with_context(|| format!("{}: subject and body of the patch", path.display()))?;
    let mut lines = text.lines();
    let subject = lines.next().unwrap_or_default();
    if subject.trim().is_empty() || !lines.next().unwrap_or_default().is_empty() {
        bail!("{}: the first line is the subject, the second is empty", path.display());
    }
    let author = lines.find_map(|line| line.strip_prefix("Signed-off-by: ")).map(str::trim);
    match author {
        Some(author) if author.contains(" <") && author.ends_with('>') => {
            Ok((text.clone(), author.to_owned()))
        }
        _ => bail!("{}: no line `Signed-off-by: Name <address>`", path.display()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::sample::Sample;

    fn read_sample(sample: &Sample) -> anyhow::Result<Vec<Patch>> {
        read(&sample.kernel(), &Changes::read(&sample.kernel())?)
    }

    #[test]
    fn patches_have_their_files_messages_and_author() {
        let patches = read_sample(&Sample::new()).unwrap();
        let names: Vec<&str> = patches.iter().map(|patch| patch.name.as_str()).collect();
        assert_eq!(names, ["0001-header", "0002-color"]);
        assert_eq!(patches[0].overlay[0].0, "include/linux/page_color.h");
        assert_eq!(patches[0].hooks[0].name, "hooks/0001-first.patch");
        assert_eq!(patches[1].author, "A Person <a@example.org>");
        assert!(patches[1].message.starts_with("mm: add 0002-color\n\n"));
    }

    #[test]
    fn a_series_at_odds_with_the_files_is_refused() {
        let all = "overlay/include/linux/page_color.h\n overlay/mm/page_color.c\n";
        for (series, cause) in [
            (format!("0001-header\n {all} hooks/0001-first.patch\n"), "0002-second.patch is in no"),
            (format!("0001-header\n {all} overlay/mm/x.c\n"), "overlay/mm/x.c is not there"),
            (format!("0001-header\n {all} overlay/mm/page_color.c\n"), "listed twice"),
            (
                format!("0001-header\n {all} hooks/0002-second.patch\n hooks/0001-first.patch\n"),
                "0001-first.patch comes after hooks/0002-second.patch",
            ),
            (format!("none\n {all}"), "messages/none.txt: subject and body"),
            (" overlay/mm/page_color.c\n".into(), "comes before the name"),
            ("0001-header\n0002-color\n x\n".into(), "0001-header has no overlay file"),
            ("a\n x\na\n y\n".into(), "a name of its own"),
        ] {
            let sample = Sample::new();
            sample.write("kernel/series", &series);
            let error = format!("{:#}", read_sample(&sample).unwrap_err());
            assert!(error.contains(cause), "{series}: {error}");
        }
    }

    #[test]
    fn a_message_needs_a_subject_and_an_author() {
        for (message, cause) in [
            ("mm: x\nbody\n", "the first line is the subject"),
            ("\n\nbody\n", "the first line is the subject"),
            ("mm: x\n\nbody\n", "no line `Signed-off-by:"),
            ("mm: x\n\nSigned-off-by: nobody\n", "no line `Signed-off-by:"),
        ] {
            let sample = Sample::new();
            sample.write("kernel/messages/0001-header.txt", message);
            let error = format!("{:#}", read_sample(&sample).unwrap_err());
            assert!(error.contains(cause), "{message:?}: {error}");
        }
    }
}
