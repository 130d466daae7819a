// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs the boots of an experiment, several at once, and puts the rows together.

use std::sync::{
    Mutex,
    atomic::{AtomicUsize, Ordering},
};

use anyhow::Context;
use serde_json::{Map, Value};

use crate::{
    boot::{boot, note},
    cases::{Kept, Outcome},
    experiment::{Case, Experiment},
    kernel::{self, Image},
    progress::Progress,
    results::{Failed, Kernel, Results, Row, SCHEMA, distinct, words},
    workspace::Workspace,
};

/// What to run, and how. The names of cases are computed once, since each is a hash of all
/// sources.
pub struct Run<'a> {
    /// Where the lab is.
    pub workspace: &'a Workspace,
    /// The experiment.
    pub experiment: &'a Experiment,
    /// Boots at once.
    pub jobs: usize,
    /// Where outcomes are kept, with the names of the cases; `None` if they are not
    /// kept.
    pub kept: Option<(Kept, Vec<String>)>,
}

/// The outcome of a case, if it has been run.
pub type Tried = Option<anyhow::Result<Outcome>>;

impl Run<'_> {
    /// The kept outcomes of these cases.
    pub fn kept(&self, cases: &[Case]) -> anyhow::Result<Vec<Tried>> {
        let Some((kept, ids)) = &self.kept else {
            return Ok(cases.iter().map(|_| None).collect());
        };
        ids.iter().map(|id| Ok(kept.find(id)?.map(Ok))).collect()
    }

    /// Builds the kernels, boots every case without an outcome, and keeps the outcomes.
    ///
    /// # Errors
    /// If a kernel does not build. A boot that fails is an outcome, not an error.
    pub fn boot(&self, cases: &[Case], tried: Vec<Tried>) -> anyhow::Result<Vec<Tried>> {
        let todo: Vec<usize> = (0..cases.len()).filter(|&n| tried[n].is_none()).collect();
        let images = images(todo.iter().map(|&number| &cases[number]))?;
        let progress = Boots {
            shown: Progress::stderr(),
            name: self.experiment.name,
            all: todo.len(),
            over: AtomicUsize::new(0),
        };
        let outcomes = all(todo.len(), self.jobs, |index| {
            let (case, image) = (&cases[todo[index]], &images[index]);
            let outcome = one(self.workspace, self.experiment, case, image, &progress)
                .and_then(|rows| {
                    let id = self.kept.as_ref().map_or("", |(_, ids)| &ids[todo[index]]);
                    let outcome = Outcome::new(id, &image.version, rows);
                    self.kept.as_ref().map_or(Ok(()), |(kept, _)| kept.put(&outcome))?;
                    Ok(outcome)
                })
                .with_context(|| format!("{} ({})", self.experiment.name, words(&case.settings)));
            progress.done(&words(&case.settings), outcome.as_ref().err());
            outcome
        });
        let mut tried = tried;
        for (number, outcome) in todo.into_iter().zip(outcomes) {
            tried[number] = Some(outcome);
        }
        Ok(tried)
    }

    /// Merges the outcomes. A boot that failed, or a check across boots that failed,
    /// removes no rows: it is named in the results, as is a case without an outcome.
    ///
    /// # Errors
    /// If every boot failed.
    pub fn results(
        &self,
        cases: &[Case],
        tried: Vec<Tried>,
        command: String,
    ) -> anyhow::Result<Results> {
        let version =
            joined(tried.iter().flatten().flatten().map(|outcome| outcome.kernel.clone()));
        let (mut rows, mut failed) = parted(cases, tried)?;
        if let Err(error) = (self.experiment.finish)(&mut rows) {
            failed.push(Failed { settings: Map::new(), reason: format!("{error:#}") });
        }
        Ok(Results {
            schema: SCHEMA.into(),
            experiment: self.experiment.name.into(),
            kind: "modelled".into(),
            command,
            kernel: Kernel {
                version,
                variant: joined(cases.iter().map(|case| case.variant.name().to_owned())),
                arch: joined(cases.iter().map(|case| case.arch.name().to_owned())),
            },
            model: model(cases),
            rows,
            failed,
        })
    }
}

/// Rows, and the boots without any.
fn parted(cases: &[Case], tried: Vec<Tried>) -> anyhow::Result<(Vec<Row>, Vec<Failed>)> {
    let (mut rows, mut failed, mut first) = (Vec::new(), Vec::new(), None);
    for (case, tried) in cases.iter().zip(tried) {
        let error = match tried {
            Some(Ok(outcome)) => {
                rows.extend(outcome.rows);
                continue;
            }
            Some(Err(error)) => error,
            None => anyhow::anyhow!("it has not been run"),
        };
        let reason = error.root_cause().to_string();
        let reason = reason.lines().next().unwrap_or_default().to_owned();
        failed.push(Failed { settings: case.settings.clone(), reason });
        first.get_or_insert(error);
    }
    match first {
        Some(error) if rows.is_empty() => Err(error),
        _ => Ok((rows, failed)),
    }
}

/// Progress of boots: how many are done, and the guests' messages.
struct Boots<'a> {
    shown: Progress,
    name: &'a str,
    all: usize,
    over: AtomicUsize,
}

impl Boots<'_> {
    fn heard(&self, line: &str) {
        if let Some(note) = note(line) {
            let over = self.over.load(Ordering::Relaxed);
            self.shown.step(|| format!("{} {over}/{}: {note}", self.name, self.all));
        }
    }

    fn done(&self, what: &str, failed: Option<&anyhow::Error>) {
        let over = self.over.fetch_add(1, Ordering::Relaxed) + 1;
        match failed {
            None => self.shown.stage(&format!("{} {over}/{}: {what}", self.name, self.all)),
            Some(error) => {
                self.shown.note(&format!("{} {over}/{} failed: {error:#}", self.name, self.all));
            }
        }
    }
}

/// The kernel of each case; each is built once.
fn images<'a>(cases: impl Iterator<Item = &'a Case>) -> anyhow::Result<Vec<Image>> {
    let mut built: Vec<(kernel::Request, Image)> = Vec::new();
    let mut images = Vec::new();
    for case in cases {
        let request = case.request();
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
    experiment: &Experiment,
    case: &Case,
    image: &Image,
    progress: &Boots<'_>,
) -> anyhow::Result<Vec<Row>> {
    let report = boot(workspace, case, &image.path, &mut |line| progress.heard(line))?;
    let found = (experiment.rows)(case, &report)?;
    anyhow::ensure!(!found.is_empty(), "the boot gave no row");
    Ok(found.into_iter().map(|found| case.row(found)).collect())
}

/// Calls `work` for every number on `jobs` threads; results in order.
fn all<T: Send>(count: usize, jobs: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let results: Mutex<Vec<Option<T>>> = Mutex::new((0..count).map(|_| None).collect());
    let worker = || loop {
        let number = next.fetch_add(1, Ordering::Relaxed);
        if number >= count {
            return;
        }
        let result = work(number);
        results.lock().expect("no worker panics with the lock")[number] = Some(result);
    };
    std::thread::scope(|scope| {
        for _ in 1..jobs.max(1) {
            scope.spawn(worker);
        }
        worker();
    });
    let results = results.into_inner().expect("no worker panics with the lock");
    results.into_iter().map(|result| result.expect("every case was worked on")).collect()
}

/// The model; if cases differ, all models.
fn model(cases: &[Case]) -> Value {
    let model = |case: &Case| serde_json::to_value(&case.model).expect("a model is plain data");
    let mut models = distinct(cases.iter().map(model));
    if models.len() == 1 { models.remove(0) } else { Value::Array(models) }
}

fn joined(words: impl Iterator<Item = String>) -> String {
    distinct(words).join(", ")
}

#[cfg(test)]
mod tests {
    use huepage::units::Bytes;

    use super::*;
    use crate::{
        boot::{BootError, Machine},
        experiment::map,
    };

    fn case(number: u32) -> Case {
        let settings = map([("number", number.into())]);
        Case { settings, ..Case::of("hello", Machine::plain(1, Bytes(1 << 27))) }
    }

    fn row(case: &Case) -> Row {
        case.row((Map::new(), Map::new()))
    }

    fn failure() -> anyhow::Error {
        let error = BootError::Panic { reason: "no init".into(), console: "  | x".into() };
        anyhow::Error::from(error).context("aging (number=1)")
    }

    #[test]
    fn a_boot_that_fails_leaves_the_others_and_is_named() {
        let cases = [0, 1, 2].map(case);
        let outcome = |n: usize| Outcome::new("", "6.12", vec![row(&cases[n])]);
        let outcomes = all(3, 2, |n| Some(if n == 1 { Err(failure()) } else { Ok(outcome(n)) }));
        let (rows, failed) = parted(&cases, outcomes).unwrap();
        assert_eq!(rows, [row(&cases[0]), row(&cases[2])]);
        assert_eq!(failed.len(), 1);
        assert_eq!(failed[0].settings["number"], 1);
        assert_eq!(failed[0].reason, "the kernel panicked: no init");
        let (_, failed) = parted(&cases[..2], vec![Some(Ok(outcome(0))), None]).unwrap();
        assert_eq!(failed[0].reason, "it has not been run");
    }

    #[test]
    fn where_every_boot_fails_there_are_no_results() {
        let error = parted(&[case(0)], vec![Some(Err(failure()))]).unwrap_err();
        assert_eq!(error.to_string(), "aging (number=1)");
    }
}
