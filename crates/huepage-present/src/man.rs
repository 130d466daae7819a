// SPDX-License-Identifier: MIT OR Apache-2.0
//! Man pages, made from the options of a command and their help.

use std::{fs, io, path::Path};

use anyhow::Context;
use clap_mangen::Man;

use crate::destination;

/// Writes the pages of `command` and of all its subcommands (huepage.1, huepage-colors.1, …)
/// into a directory, which is made if it does not exist. If one of them exists, none is
/// written unless `force` is set.
///
/// # Errors
/// If a page exists and is not to be overwritten, or cannot be written.
pub fn write(command: clap::Command, directory: &Path, force: bool) -> anyhow::Result<()> {
    let mut command = command.disable_help_subcommand(true);
    command.build();
    let pages = pages(command)?;
    fs::create_dir_all(directory)
        .with_context(|| format!("cannot make the directory {}", directory.display()))?;
    for (name, _) in &pages {
        destination::check_file(&directory.join(name), force)?;
    }
    pages
        .iter()
        .try_for_each(|(name, page)| destination::create(&directory.join(name), page, force))
}

/// File names and contents, of `command` first.
fn pages(command: clap::Command) -> io::Result<Vec<(String, Vec<u8>)>> {
    let subcommands: Vec<_> = command.get_subcommands().cloned().collect();
    let man = Man::new(command).source(concat!("Huepage ", env!("CARGO_PKG_VERSION")));
    let mut page = Vec::new();
    man.render(&mut page)?;
    let page = sections(&String::from_utf8(page).map_err(io::Error::other)?);
    let mut all = vec![(man.get_filename(), page.into_bytes())];
    for subcommand in subcommands {
        all.extend(pages(subcommand)?);
    }
    Ok(all)
}

/// The sections after the options in the help, under the names of sections in man
/// pages, with their lines unchanged. Only the version, for commands that have one,
/// comes after them.
fn sections(page: &str) -> String {
    let Some((page, extra)) = page.split_once(".SH EXTRA\n") else { return page.to_owned() };
    let (extra, after) = extra.split_at(extra.find("\n.SH ").map_or(extra.len(), |at| at + 1));
    let (extra, codes) = extra.split_once("Exit codes:").unwrap_or((extra, ""));
    let mut page = page.to_owned();
    if !extra.trim().is_empty() {
        let name = if extra.starts_with("Example") { "EXAMPLES" } else { "NOTES" };
        page += &format!(".SH {name}\n.nf\n{}\n.fi\n", extra.trim_end());
    }
    if !codes.is_empty() {
        page += ".SH \"EXIT STATUS\"\n.nf\n";
        page.extend(codes.trim().lines().map(|line| format!("{}\n", line.trim_start())));
    }
    if !after.is_empty() {
        page += &format!(".fi\n{after}");
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_and_exit_codes_are_sections_whose_lines_stay() {
        let help = "Examples:\n  x -a    that\n\nExit codes: 0 done";
        let command = clap::Command::new("x").after_help(help);
        let [(name, page)] = &pages(command).unwrap()[..] else { panic!() };
        let page = std::str::from_utf8(page).unwrap();
        assert_eq!(name, "x.1");
        let end = ".SH EXAMPLES\n.nf\nExamples:\n  x \\-a    that\n.fi\n\
                   .SH \"EXIT STATUS\"\n.nf\n0 done\n";
        assert!(page.ends_with(end), "{page}");
        let [(_, page)] = &pages(clap::Command::new("x").after_help("As it is.")).unwrap()[..]
        else {
            panic!()
        };
        let page = std::str::from_utf8(page).unwrap();
        assert!(page.ends_with(".SH NOTES\n.nf\nAs it is.\n.fi\n"), "{page}");
        let codes = "Exit codes:\n  0  done\n  1  failed";
        let command = clap::Command::new("x").version("1").after_help(codes);
        let [(_, page)] = &pages(command).unwrap()[..] else { panic!() };
        let page = std::str::from_utf8(page).unwrap();
        let end = ".SH \"EXIT STATUS\"\n.nf\n0  done\n1  failed\n.fi\n.SH VERSION\nv1\n";
        assert!(page.ends_with(end) && !page.contains(".SH NOTES"), "{page}");
        let [(_, page)] = &pages(clap::Command::new("x")).unwrap()[..] else { panic!() };
        assert!(!std::str::from_utf8(page).unwrap().contains(".SH NOTES"));
    }
}
