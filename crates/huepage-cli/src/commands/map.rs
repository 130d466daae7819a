// SPDX-License-Identifier: MIT OR Apache-2.0
//! `huepage map`: where the pages of a process are.

mod background;
mod by;
pub(super) mod find;
mod launch;
mod picture;
mod read;
mod rows;
mod text;
mod watch;

use std::{ffi::OsString, path::PathBuf, process::ExitCode, time::Duration};

use background::BackgroundCommand;
use by::By;
use clap::ArgGroup;
use huepage::{map::ProcessMap, topology::CacheOverride, units::Bytes};
use read::Reader;

use huepage_present::{
    destination::{Destination, Format},
    escape,
    number::size,
    png,
};

use super::recording;
use crate::seconds::seconds;

/// Show where the pages of a process are
///
/// For each mapping and in total: how many pages are present, of which kind and
/// size, on which NUMA nodes, in how long runs of adjacent frames, and how evenly
/// they spread over the colors of each cache.
#[derive(clap::Args)]
#[command(group = ArgGroup::new("what").required(true))]
#[command(override_usage = "huepage map [OPTIONS] <PID|NAME>
       huepage map [OPTIONS] -- <COMMAND>...
       huepage map [OPTIONS] --input <FILE>")]
#[command(after_help = "Examples:
  huepage map 4242
  huepage map postgres --json            the one process of that name
  huepage map 4242 -o map.svg --by color
  huepage map --watch 2 4242             redraw every 2 s, end with Ctrl-C
  huepage map -- ./prog ARG              run it, map it as it ends
  huepage map --after 3 -- ./server      run it, map it 3 s later
  huepage map 4242 --record map.json     show it elsewhere with --input

The output of a command after -- goes to standard error. Only the command itself
is mapped, not the processes that it starts.

Exit codes: 0 done, 1 failed, 2 usage, or no such process,
  3 done in part: what is missing, and the capability that would show it, is
    listed under 'Not shown'")]
pub struct Options {
    /// A process by number or name
    #[arg(value_name = "PID|NAME", group = "what")]
    target: Option<String>,

    /// Run a command and map it as it ends
    #[arg(last = true, value_name = "COMMAND", group = "what")]
    command: Vec<OsString>,

    /// Show a recorded map instead; - is stdin
    #[arg(long, value_name = "FILE", group = "what")]
    input: Option<PathBuf>,

    /// List every mapping; otherwise small ones are one row
    #[arg(short, long)]
    all: bool,

    /// Print JSON (schema huepage.map/1)
    #[arg(long)]
    json: bool,

    /// Write to FILE.svg, .png, .json or .txt, or - for standard output; can be
    /// given more than once
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    output: Vec<Destination>,

    /// What the cells of a picture show
    #[arg(long, value_name = "WHAT", value_enum, default_value_t = By::Kind)]
    by: By,

    /// Write the map to FILE, to be read back with --input; - is stdout
    #[arg(long, value_name = "FILE", conflicts_with = "input")]
    record: Option<PathBuf>,

    /// Overwrite files that exist
    #[arg(short, long)]
    force: bool,

    /// Redraw the text in the terminal until the process ends or Ctrl-C
    #[arg(long, value_name = "SECONDS", value_parser = seconds,
          conflicts_with_all = ["json", "output", "record", "input", "command"])]
    watch: Option<Duration>,

    /// Geometry of a cache, in place of the declared one of its level, such as
    /// size=2M,ways=16; line=64 and level=2 unless given
    #[arg(long, value_name = "GEOMETRY", conflicts_with = "input")]
    cache: Option<CacheOverride>,

    /// Map the command this long after its start, not as it ends; then wait until
    /// it ends (Ctrl-C ends both)
    #[arg(long, value_name = "SECONDS", value_parser = seconds,
          conflicts_with_all = ["target", "input"])]
    after: Option<Duration>,
}

/// Runs the subcommand.
///
/// # Errors
/// Any error of finding, reading or showing the process.
pub fn run(mut options: Options) -> anyhow::Result<ExitCode> {
    Destination::prepare(&mut options.output, options.json, options.force)?;
    // Standard output holds one thing: a record there must stay readable as a record.
    if options.record.as_deref().is_some_and(recording::is_dash) {
        options.output.retain(|output| *output != Destination::Stdout);
    }
    if let Some(path) = &options.record {
        recording::check(path, options.force)?;
    }
    if let Some(interval) = options.watch {
        let target = options.target.as_deref().unwrap_or_default();
        let pid = find::find(target)?;
        return watch::watch(&Reader::new(options.cache)?, pid, interval, options.all);
    }
    let (map, command) = map(&options)?;
    if let Some(path) = &options.record {
        recording::save(path, &escape::json(&map.to_json()), options.force)?;
    }
    let by = known(options.by, &map, &options.output);
    let stdout = if options.json { Format::Json } else { Format::Text };
    let render = |_: &Destination, format| render(&map, format, by, options.all);
    Destination::write_all(&options.output, stdout, options.force, render)?;
    let code = finish(&map, &options.output, options.json);
    // The map comes first: a server may run for days.
    command.map_or(Ok(()), BackgroundCommand::wait)?;
    Ok(code)
}

/// The map asked for, and the command that runs on, if one does.
fn map(options: &Options) -> anyhow::Result<(ProcessMap, Option<BackgroundCommand>)> {
    if let Some(path) = &options.input {
        return Ok((recording::load(path, ProcessMap::from_json)?, None));
    }
    if let Some(target) = &options.target {
        let pid = find::find(target)?;
        return Ok((Reader::new(options.cache)?.read(pid)?, None));
    }
    let reader = Reader::new(options.cache)?;
    if let Some(after) = options.after {
        let (map, command) = background::map(&reader, &options.command, after)?;
        return Ok((map, Some(command)));
    }
    let mut launched = launch::Launched::start(&options.command)?;
    launched.run_to_end()?;
    let map = reader.read(launched.pid())?;
    if let Some(end) = launched.finish()? {
        eprintln!("huepage: {end}; its map is of that moment");
    }
    Ok((map, None))
}

/// The classes that can be drawn: if `by` is not known, kinds, which always are.
fn known(by: By, map: &ProcessMap, outputs: &[Destination]) -> By {
    let picture =
        |output: &Destination| matches!(output, Destination::File(_, Format::Svg | Format::Png));
    if by.is_known(map) || !outputs.iter().any(picture) {
        return by;
    }
    eprintln!("huepage: the {} is unknown here, so the picture shows kinds of pages", by.heading());
    By::Kind
}

/// So many pages as a size.
fn in_bytes(map: &ProcessMap, pages: u64) -> String {
    size(Bytes(pages * map.machine.page_size.0))
}

fn render(map: &ProcessMap, format: Format, by: By, all: bool) -> anyhow::Result<Vec<u8>> {
    Ok(match format {
        Format::Text => text::render(map, all).into_bytes(),
        Format::Json => (escape::json(&serde_json::to_string_pretty(map)?) + "\n").into_bytes(),
        Format::Svg => picture::svg(map, by).into_bytes(),
        Format::Png => png::render(&picture::svg(map, by))?,
    })
}

/// Exit code 3 if something is missing, which is printed here unless the text had it.
fn finish(map: &ProcessMap, outputs: &[Destination], json: bool) -> ExitCode {
    if map.shortfalls.is_empty() {
        return ExitCode::SUCCESS;
    }
    if json || !outputs.contains(&Destination::Stdout) {
        for shortfall in &map.shortfalls {
            let text = escape::printable(&text::shortfall_text(shortfall));
            eprintln!("huepage: not shown: {text}");
        }
    }
    ExitCode::from(3)
}
