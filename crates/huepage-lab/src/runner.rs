// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs the boots of an experiment, several at once, and puts the rows together.

use std::sync::{
    Mutex,
    atomic::{AtomicUsize, Ordering},
};

use anyhow::Context;
use serde_json::{Map, Value};

use crate::{
    boot::{Boot, boot},
    experiment::{Case, Experiment},
    kernel::{self, Image, Variant},
    progress::Progress,
    results::{Kernel, Results, Row, SCHEMA},
    settings::Settings,
    workspace::Workspace,
};

/// Builds what is needed, boots every case, and collects.
///
/// # Errors
/// The first boot that fails, with its settings; a check that does not hold.
pub fn run(
    workspace: &Workspace,
    experiment: &dyn Experiment,
    settings: &Settings,
    variant: Variant,
    jobs: usize,
    command: String,
) -> anyhow::Result<Results> {
    let cases = experiment.cases(settings, variant)?;
    anyhow::ensure!(!cases.is_empty(), "the settings leave nothing to run");
    let images = images(&cases)?;
    let progress = Boots {
        shown: Progress::stderr(),
        name: experiment.name(),
        all: cases.len(),
        over: AtomicUsize::new(0),
    };
    let rows = all(&cases, jobs, |number| {
        let case = &cases[number];
        let rows = one(workspace, experiment, case, &images[number], &progress)
            .with_context(|| format!("{} ({})", experiment.name(), words(&case.settings)))?;
        progress.done(&words(&case.settings));
        Ok(rows)
    })?;
    drop(progress);
    let rows = experiment.finish(rows.into_iter().flatten().collect())?;
    Ok(Results {
        schema: SCHEMA.into(),
        experiment: experiment.name().into(),
        kind: "modelled".into(),
        command,
        kernel: Kernel {
            version: joined(images.iter().map(|image| image.version.clone())),
            variant: joined(cases.iter().map(|case| case.variant.name().to_owned())),
            arch: joined(cases.iter().map(|case| case.arch.name().to_owned())),
        },
        model: model(&cases),
        rows,
    })
}

/// Progress of boots: how many are over, and what the guests say.
struct Boots<'a> {
    shown: Progress,
    name: &'a str,
    all: usize,
    over: AtomicUsize,
}

impl Boots<'_> {
    fn heard(&self, line: &str) {
        if let Some(note) = line.trim_end().strip_prefix("lab: ") {
            let plain: String = note.chars().filter(|c| !c.is_control()).collect();
            let over = self.over.load(Ordering::Relaxed);
            self.shown.step(|| format!("{} {over}/{}: {plain}", self.name, self.all));
        }
    }

    fn done(&self, what: &str) {
        let over = self.over.fetch_add(1, Ordering::Relaxed) + 1;
        self.shown.stage(&format!("{} {over}/{}: {what}", self.name, self.all));
    }
}

/// The kernel of each case; each is built once.
fn images(cases: &[Case]) -> anyhow::Result<Vec<Image>> {
    let mut built: Vec<(kernel::Request, Image)> = Vec::new();
    let mut images = Vec::new();
    for case in cases {
        let request =
            kernel::Request { arch: case.arch, variant: case.variant, config: case.config };
        let known = built.iter().find(|(have, _)| *have == request);
        let image = match known {
            Some((_, image)) => image.clone(),
            None => {
                let image = kernel::ensure(&request, &Progress::stderr())?;
                built.push((request, image.clone()));
                image
            }
        };
        images.push(image);
    }
    Ok(images)
}

fn one(
    workspace: &Workspace,
    experiment: &dyn Experiment,
    case: &Case,
    image: &Image,
    progress: &Boots<'_>,
) -> anyhow::Result<Vec<Row>> {
    let description = Boot {
        arch: case.arch,
        kernel: image.path.clone(),
        machine: case.machine.clone(),
        guest: case.guest.to_owned(),
        arguments: case.arguments.clone(),
        model: case.model.clone(),
        regions: case.regions.clone(),
        limit: case.limit,
    };
    let report = boot(workspace, &description, &mut |line| progress.heard(line))?;
    let rows = experiment.rows(case, &report)?;
    anyhow::ensure!(!rows.is_empty(), "the boot gave no row");
    Ok(rows
        .into_iter()
        .map(|(more, metrics)| {
            let mut settings = case.settings.clone();
            settings.extend(more);
            Row { variant: case.variant.name().to_owned(), settings, metrics }
        })
        .collect())
}

/// Calls `work` for every case on `jobs` threads; results in the order of cases.
/// After an error no further case is begun.
fn all<T: Send>(
    cases: &[Case],
    jobs: usize,
    work: impl Fn(usize) -> anyhow::Result<T> + Sync,
) -> anyhow::Result<Vec<T>> {
    let next = AtomicUsize::new(0);
    let results: Mutex<Vec<Option<anyhow::Result<T>>>> =
        Mutex::new(cases.iter().map(|_| None).collect());
    let worker = || loop {
        let number = next.fetch_add(1, Ordering::Relaxed);
        if number >= cases.len() {
            return;
        }
        let result = work(number);
        if result.is_err() {
            next.store(cases.len(), Ordering::Relaxed);
        }
        results.lock().expect("no worker panics with the lock")[number] = Some(result);
    };
    std::thread::scope(|scope| {
        for _ in 1..jobs.max(1) {
            scope.spawn(worker);
        }
        worker();
    });
    let results = results.into_inner().expect("no worker panics with the lock");
    let (failed, rest): (Vec<_>, Vec<_>) =
        results.into_iter().flatten().partition(|result| result.is_err());
    match failed.into_iter().next() {
        Some(error) => Err(error.err().expect("it failed")),
        None => rest.into_iter().collect(),
    }
}

/// The model, or, where cases differ, all of them.
fn model(cases: &[Case]) -> Value {
    let mut models: Vec<Value> = Vec::new();
    for case in cases {
        let model = serde_json::to_value(&case.model).expect("a model is plain data");
        if !models.contains(&model) {
            models.push(model);
        }
    }
    if models.len() == 1 { models.remove(0) } else { Value::Array(models) }
}

fn joined(words: impl Iterator<Item = String>) -> String {
    let mut seen: Vec<String> = Vec::new();
    for word in words {
        if !seen.contains(&word) {
            seen.push(word);
        }
    }
    seen.join(", ")
}

fn words(settings: &Map<String, Value>) -> String {
    let words = settings.iter().map(|(name, value)| match value {
        Value::String(text) => format!("{name}={text}"),
        value => format!("{name}={value}"),
    });
    words.collect::<Vec<_>>().join(" ")
}
