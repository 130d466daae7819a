// SPDX-License-Identifier: MIT OR Apache-2.0
//! `huepage-lab exec`: any program under the modelled hierarchy.

use std::{
    ffi::OsString,
    fs,
    io::{Write, stderr, stdout},
    num::NonZeroU32,
    path::PathBuf,
    process::ExitCode,
    time::Duration,
};

use anyhow::{Context, ensure};
use huepage::units::Bytes;
use huepage_lab::{
    arch::Arch,
    exec::{self, Age, Ended, Job, Outcome, Way},
    model::Model,
    placement::Placement,
    progress::Progress,
    workspace::Workspace,
};
use huepage_present::{
    destination::{check_file, create},
    stdout::print,
};
use serde_json::json;

use super::Usage;

/// Run a program in a guest and count its accesses by cache and by mapping
///
/// The guest can read the files of this machine, and the program runs in the current
/// folder with empty standard input. Files that it writes stay in the guest's memory and
/// are lost when the guest ends. Each combination of policy and age is a boot.
/// Instructions and accesses are counted, times are modelled.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  huepage-lab exec -- python3 -c 'print(sum(range(100000)))'
  huepage-lab exec --policy stock,on --age fresh,heavy -- sort -R /usr/share/dict/words
  huepage-lab exec --model model.json --json -- ./program

Exit codes: those of huepage-lab; also 1 if the program failed in one of the runs.")]
pub struct Options {
    /// Architecture of the kernel and of the program
    #[arg(long, value_enum, default_value_t = Arch::X86_64)]
    arch: Arch,
    /// How frames are chosen: stock, shuffle (page_alloc.shuffle=1), off (coloring built
    /// in, not turned on), on (by color)
    #[arg(long, value_delimiter = ',', value_name = "LIST", default_value = "stock")]
    policy: Vec<Placement>,
    /// How much memory was used and freed before: fresh (none), light, medium, heavy
    #[arg(long, value_delimiter = ',', value_name = "LIST", default_value = "fresh")]
    age: Vec<Age>,
    /// The caches, as JSON in the form that --print-model prints
    #[arg(long, value_name = "FILE")]
    model: Option<PathBuf>,
    /// Print the caches as JSON and do nothing else
    #[arg(long)]
    print_model: bool,
    /// CPUs of the guest
    #[arg(long, value_name = "N", default_value = "1")]
    cpus: NonZeroU32,
    /// Memory of the guest, which also holds the files that the program writes
    #[arg(long, value_name = "SIZE", default_value = "1G")]
    memory: Bytes,
    /// Root folder of the program; for another architecture, one with its files
    #[arg(long, value_name = "FOLDER", default_value = "/")]
    root: PathBuf,
    /// A further word for the kernel's command line; can be given more than once
    #[arg(long, value_name = "WORD")]
    kernel_option: Vec<String>,
    /// Seed of aging
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Stop a run after this time
    #[arg(long, value_name = "SECONDS", default_value_t = 3600,
          value_parser = clap::value_parser!(u64).range(1..))]
    timeout: u64,
    /// Print JSON instead of text
    #[arg(long)]
    json: bool,
    /// Write the JSON to a file, too
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Overwrite the file
    #[arg(long, short)]
    force: bool,
    /// The program and its arguments
    #[arg(last = true, required_unless_present = "print_model", value_name = "PROGRAM")]
    program: Vec<OsString>,
}

/// Kernel and the guest's own files, with which a small program still runs.
const LEAST: Bytes = Bytes::mib(64);

/// Runs it.
pub fn run(options: Options) -> anyhow::Result<ExitCode> {
    let model = checked(&options).map_err(Usage)?;
    if options.print_model {
        print(&(serde_json::to_string_pretty(&model)? + "\n"))?;
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(file) = &options.output {
        check_file(file, options.force)?;
    }
    let job = Job {
        program: options.program,
        directory: std::env::current_dir().context("current directory")?,
        environment: std::env::vars_os().collect(),
        root: options.root,
        arch: options.arch,
        model,
        cpus: options.cpus.get(),
        memory: options.memory,
        seed: options.seed,
        kernel_options: options.kernel_option,
        limit: Duration::from_secs(options.timeout),
    };
    let workspace = Workspace::find()?;
    let progress = Progress::stderr();
    let mut outcomes = Vec::new();
    let mut failures = Vec::new();
    for &policy in &options.policy {
        for &age in &options.age {
            let outcome = exec::run(&workspace, &job, Way { policy, age }, &progress)
                .with_context(|| format!("policy {}, age {}", policy.name(), age.name()));
            match outcome {
                Ok(outcome) => outcomes.push(outcome),
                Err(error) => failures.push(error),
            }
        }
    }
    drop(progress);
    if outcomes.is_empty() {
        return Err(failures.swap_remove(0));
    }
    // The output is the same in all runs, or the program prints why not.
    let Outcome { stdout: out, stderr: errors, .. } = &outcomes[0];
    stderr().write_all(errors)?;
    let document = document(&job, &outcomes)?;
    if options.json {
        print(&document)?;
    } else {
        stdout().write_all(out)?;
        // A table begins on a new line.
        if out.last().is_some_and(|&byte| byte != b'\n') {
            print("\n")?;
        }
        print(exec::text(&outcomes))?;
    }
    if let Some(file) = options.output {
        create(&file, document.as_bytes(), options.force)?;
    }
    for error in &failures {
        eprintln!("huepage-lab: {error:#}");
    }
    let failed =
        !failures.is_empty() || outcomes.iter().any(|outcome| outcome.ended != Ended::Code(0));
    Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// The model, if the options are consistent.
fn checked(options: &Options) -> anyhow::Result<Model> {
    let root = &options.root;
    ensure!(root.is_dir(), "--root: {} is no folder", root.display());
    ensure!(options.memory >= LEAST, "--memory: a guest takes {LEAST} or more");
    ensure!(
        options.arch.is_native() || root.as_os_str() != "/",
        "the programs of this machine are not for {}: name a folder that has such with --root",
        options.arch
    );
    let Some(file) = &options.model else { return Ok(exec::default_model()) };
    let text = fs::read_to_string(file).with_context(|| format!("read {}", file.display()))?;
    let model: Model = serde_json::from_str(&text)
        .with_context(|| format!("{} is no model; --print-model shows one", file.display()))?;
    model.check().with_context(|| file.display().to_string())?;
    exec::colored_cache(&model).with_context(|| file.display().to_string())?;
    Ok(model)
}

fn document(job: &Job, runs: &[Outcome]) -> anyhow::Result<String> {
    let program: Vec<_> = job.program.iter().map(|word| word.to_string_lossy()).collect();
    let document = json!({
        "schema": "huepage.lab.exec/1", "kind": "modelled", "program": program,
        "arch": job.arch, "memory": job.memory, "cpus": job.cpus,
        "kernel_options": job.kernel_options, "model": job.model, "runs": runs,
    });
    Ok(serde_json::to_string_pretty(&document)? + "\n")
}
