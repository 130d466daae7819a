// SPDX-License-Identifier: MIT OR Apache-2.0
//! `huepage merged`: pages that KSM merged among processes.

use std::{fmt::Write, process::ExitCode};

use anyhow::Context;
use clap::Args;
use huepage::{
    list::format as list,
    merged::{Merged, MergedPages, merging},
    proc,
    topology::{LiveMachine, Topology},
};
use huepage_present::{
    destination::{Destination, Format},
    escape::{self, printable},
    number::counted,
    table::Table,
};

use crate::{
    commands::{cache_options::last_available_cpu, map::find},
    usage::UsageError,
};

/// Show the pages that the kernel merged among processes (KSM)
///
/// Of each process: how many of its pages are merged, in how many frames, and how many
/// of them are on other nodes than those on which its threads last ran. Of these
/// processes together: the nodes of the frames, and the memory saved. Then the
/// kernel's own counts for all processes, and for each merge domain if the kernel has
/// merge domains.
#[derive(Args)]
#[command(after_help = "Examples:
  huepage merged                          all processes that have merged pages
  huepage merged qemu-system-x86_64       all processes of that name
  huepage merged 4242 4243 --json

Exit codes: 0 done, 1 failed, 2 usage, or no such process,
  3 done in part: what is missing is listed under 'Not shown'")]
pub struct Options {
    /// Processes by number or name [default: all that have merged pages]
    #[arg(value_name = "PID|NAME")]
    targets: Vec<String>,

    /// Print JSON (schema huepage.merged/1)
    #[arg(long)]
    json: bool,

    /// Write to FILE.json or .txt, or - for standard output; can be given more than
    /// once
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    output: Vec<Destination>,

    /// Overwrite files that exist
    #[arg(short, long)]
    force: bool,
}

/// Runs the subcommand.
///
/// # Errors
/// Any error of finding, reading or showing the processes.
pub fn run(mut options: Options) -> anyhow::Result<ExitCode> {
    Destination::prepare(&mut options.output, options.json, options.force)?;
    let no_picture = || UsageError("there is no picture of this: write .json or .txt".into());
    if options.output.iter().any(Destination::is_picture) {
        return Err(no_picture().into());
    }
    let pids = pids(&options.targets)?;
    let machine = LiveMachine::open(last_available_cpu()?)?;
    let topology = Topology::read(&machine)?;
    let merged = Merged::read(&pids, &machine, &topology)?;
    let stdout = if options.json { Format::Json } else { Format::Text };
    Destination::write_all(&options.output, stdout, options.force, |_, format| match format {
        Format::Json => {
            Ok((escape::json(&serde_json::to_string_pretty(&merged)?) + "\n").into_bytes())
        }
        Format::Text => Ok(text(&merged).into_bytes()),
        _ => Err(no_picture().into()),
    })?;
    Ok(if merged.shortfalls.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(3) })
}

fn pids(targets: &[String]) -> anyhow::Result<Vec<u32>> {
    if targets.is_empty() {
        return merging().context("cannot list the processes");
    }
    let mut pids = Vec::new();
    for target in targets {
        if let Some(pid) = find::numbered(target) {
            pids.push(pid?);
            continue;
        }
        let mut found = proc::find(target).context("cannot list the processes")?;
        found.retain(|&pid| pid != std::process::id());
        if found.is_empty() {
            let shown = printable(target);
            let why =
                format!("no process is named '{shown}': give its PID, or its name as in ps -e");
            return Err(UsageError(why).into());
        }
        pids.extend(found);
    }
    pids.sort_unstable();
    pids.dedup();
    Ok(pids)
}

fn text(merged: &Merged) -> String {
    let mut text = String::new();
    if merged.processes.is_empty() {
        text.push_str("No process that can be seen here has merged pages.\n");
    } else {
        text.push_str(&processes(merged));
    }
    if let Some(pages) = merged.pages.as_ref().filter(|pages| pages.mappings > 0) {
        text.push_str(&sums(pages));
    }
    text.push_str(&kernel(merged));
    if !merged.shortfalls.is_empty() {
        text.push_str("\nNot shown\n");
        for shortfall in &merged.shortfalls {
            let _ = writeln!(text, "  {}", printable(shortfall));
        }
    }
    text
}

fn processes(merged: &Merged) -> String {
    let mut table =
        Table::new(["Process", "PID", "runs on node", "merged pages", "frames", "remote"]);
    for process in &merged.processes {
        let or_dash = |number: Option<u64>| number.map_or("-".to_owned(), |n| n.to_string());
        let nodes = if process.nodes.is_empty() { "-".to_owned() } else { nodes(&process.nodes) };
        table.row([
            printable(process.name.as_str()).to_string(),
            process.pid.to_string(),
            nodes,
            process.mappings.to_string(),
            or_dash(process.frames),
            or_dash(process.remote),
        ]);
    }
    table.render()
}

fn nodes(nodes: &[u32]) -> String {
    let mut sorted = nodes.to_vec();
    sorted.sort_unstable();
    list(&sorted)
}

fn sums(pages: &MergedPages) -> String {
    let mut text = format!(
        "\n{} in {}: {} saved\n",
        counted(pages.mappings, "page"),
        counted(pages.frames, "frame"),
        pages.saved
    );
    let mut from: Vec<u32> = pages.reads.iter().map(|reads| reads.from).collect();
    from.dedup();
    let read = from.iter().map(|node| format!("read from node {node}"));
    let mut table = Table::wide(&["frames on", "frames"], read);
    for on in &pages.frames_by_node {
        let cells = from.iter().map(|from| {
            let reads = pages.reads.iter().find(|r| r.from == *from && r.on == on.node);
            reads.map_or(0, |reads| reads.mappings).to_string()
        });
        table.wide_row([format!("node {}", on.node), on.pages.to_string()], cells);
    }
    text.push_str(&table.render());
    text
}

fn kernel(merged: &Merged) -> String {
    let Some(ksm) = &merged.ksm else {
        return "\nThis kernel merges nothing: it has no KSM.\n".to_owned();
    };
    let mut text = format!(
        "\nThe kernel, of all processes: {} shared, {} sharing; ksmd {}\n",
        counted(ksm.pages_shared, "page"),
        ksm.pages_sharing,
        if ksm.running { "runs" } else { "does not run" }
    );
    match (ksm.merge_distance, ksm.merge_across_nodes) {
        (Some(distance), _) => {
            let _ = writeln!(text, "Merged up to a distance of {distance} between nodes");
        }
        (None, Some(true)) => text.push_str("Merged across all nodes\n"),
        (None, Some(false)) => text.push_str("Merged within each node\n"),
        (None, None) => {}
    }
    if !ksm.domains.is_empty() {
        let mut table = Table::new(["domain of nodes", "shared", "sharing", "saved", "remote"]);
        for domain in &ksm.domains {
            table.row([
                list(&domain.nodes),
                domain.pages_shared.to_string(),
                domain.pages_sharing.to_string(),
                domain.saved.to_string(),
                domain.remote_mappings.to_string(),
            ]);
        }
        text.push_str(&table.render());
    }
    text
}
