// SPDX-License-Identifier: MIT OR Apache-2.0
//! `huepage man`: the man pages, made from the options and their help.

use std::{
    fs::{self, OpenOptions},
    io::{self, Write},
    path::PathBuf,
    process::ExitCode,
};

use anyhow::{Context, bail};
use clap_mangen::Man;

/// Write the man pages into a directory
///
/// One page per command: huepage.1, huepage-colors.1, … The directory is made
/// if it does not exist.
#[derive(clap::Args)]
#[command(after_help = "Example:
  huepage man /usr/local/share/man/man1")]
pub struct Options {
    /// Where to write them
    #[arg(value_name = "DIR")]
    directory: PathBuf,

    /// Overwrite pages that exist
    #[arg(short, long)]
    force: bool,
}

/// Writes the pages of `command` and of all its subcommands, or none if one of
/// them exists already.
///
/// # Errors
/// If a page exists and is not to be overwritten, or cannot be written.
pub fn run(options: &Options, command: clap::Command) -> anyhow::Result<ExitCode> {
    let mut command = command.disable_help_subcommand(true);
    command.build();
    let pages = pages(command)?;
    let path = |name: &str| options.directory.join(name);
    if let Some((name, _)) = pages.iter().find(|(name, _)| !options.force && path(name).exists()) {
        bail!("{} exists: give -f to overwrite it", path(name).display());
    }
    fs::create_dir_all(&options.directory)
        .with_context(|| format!("cannot make the directory {}", options.directory.display()))?;
    for (name, page) in pages {
        let mut file = OpenOptions::new();
        file.write(true).truncate(options.force);
        file.create(options.force).create_new(!options.force);
        file.open(path(&name))
            .and_then(|mut file| file.write_all(&page))
            .with_context(|| format!("cannot write {}", path(&name).display()))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// File names and contents, of `command` first.
fn pages(command: clap::Command) -> io::Result<Vec<(String, Vec<u8>)>> {
    let subcommands: Vec<_> = command.get_subcommands().cloned().collect();
    let man = Man::new(command).source(concat!("huepage ", env!("CARGO_PKG_VERSION")));
    let mut page = Vec::new();
    man.render(&mut page)?;
    let page = sections(&String::from_utf8(page).map_err(io::Error::other)?);
    let mut all = vec![(man.get_filename(), page.into_bytes())];
    for subcommand in subcommands {
        all.extend(pages(subcommand)?);
    }
    Ok(all)
}

/// What follows the options in the help, by the names that its sections have in man pages,
/// and with its lines as they are. It is the end of a page.
fn sections(page: &str) -> String {
    let Some((page, extra)) = page.split_once(".SH EXTRA\n") else { return page.to_owned() };
    let (extra, codes) = match extra.split_once("Exit codes:") {
        Some((extra, codes)) => {
            (extra, format!(".SH \"EXIT STATUS\"\n.nf\n{}", codes.trim_start()))
        }
        None => (extra, String::new()),
    };
    let name = if extra.starts_with("Example") { "EXAMPLES" } else { "NOTES" };
    format!("{page}.SH {name}\n.nf\n{}\n.fi\n{codes}", extra.trim_end())
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
        let [(_, page)] = &pages(clap::Command::new("x")).unwrap()[..] else { panic!() };
        assert!(!std::str::from_utf8(page).unwrap().contains(".SH NOTES"));
    }
}
