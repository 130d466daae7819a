// SPDX-License-Identifier: MIT OR Apache-2.0
//! Finds tests that pass on one kernel and not on another.

use serde::Serialize;

use super::{console::Done, run::Run};
use crate::kernel::ktap::Outcome;

/// A test that passed before and does not any more.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Lost {
    /// The program.
    pub test: String,
    /// Which part of it; none if it is the program as a whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub part: Option<String>,
    /// Its present result.
    pub now: String,
}

/// The tests that pass in `stock` and not in `other`. Parts of programs have no stable
/// names (some contain addresses or times): they are compared by their position.
pub fn compare(stock: &Run, other: &Run) -> Vec<Lost> {
    let mut lost = Vec::new();
    for before in &stock.tests {
        match other.tests.iter().find(|test| test.test == before.test) {
            Some(now) => lost.extend(lost_of(before, now)),
            None if before.outcome == Outcome::Passed => {
                lost.push(Lost { test: before.test.clone(), part: None, now: "not run".into() });
            }
            None => {}
        }
    }
    lost
}

fn lost_of(before: &Done, now: &Done) -> Vec<Lost> {
    let word = |outcome: Outcome| match outcome {
        Outcome::Passed => "passed",
        Outcome::Failed => "failed",
        Outcome::Skipped => "skipped",
    };
    let lost = |part: Option<&str>, now: String| Lost {
        test: before.test.clone(),
        part: part.map(str::to_owned),
        now,
    };
    let mut all = Vec::new();
    if before.outcome == Outcome::Passed && now.outcome != Outcome::Passed {
        let why = now.why.as_ref().map_or(String::new(), |why| format!(": {why}"));
        all.push(lost(None, format!("{}{why}", word(now.outcome))));
    }
    if now.reports.len() > before.reports.len() && before.outcome != Outcome::Passed {
        all.push(lost(None, format!("the kernel reported: {}", now.reports.join("; "))));
    }
    for (place, part) in before.subtests.iter().enumerate() {
        let outcome = now.subtests.get(place).map(|part| part.outcome);
        if part.outcome == Outcome::Passed && outcome != Some(Outcome::Passed) {
            all.push(lost(Some(&part.name), outcome.map_or("not run", word).to_owned()));
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        kernel::{Config, Variant},
        selftests::Subtest,
    };

    fn test(name: &str, outcome: Outcome, parts: &[Outcome]) -> Done {
        let part = |(at, &outcome)| Subtest { name: format!("part {at}"), outcome };
        Done {
            test: name.into(),
            outcome,
            why: None,
            seconds: 1.0,
            alone: None,
            subtests: parts.iter().enumerate().map(part).collect(),
            reports: Vec::new(),
            said: Vec::new(),
        }
    }

    fn run(tests: Vec<Done>) -> Run {
        Run {
            kernel: "6.12".into(),
            variant: Variant::Stock,
            config: Config::Selftests,
            coloring: None,
            tests,
            reports: Vec::new(),
            left_out: Vec::new(),
        }
    }

    #[test]
    fn what_passed_and_does_not_is_told_and_nothing_else() {
        use Outcome::{Failed, Passed, Skipped};
        let stock = run(vec![
            test("same", Passed, &[Passed, Skipped]),
            test("fails on both", Failed, &[Failed]),
            test("lost", Passed, &[Passed, Passed]),
            test("part lost", Failed, &[Passed, Failed, Passed]),
            test("not run", Passed, &[]),
            test("gained", Failed, &[]),
        ]);
        let ours = run(vec![
            test("same", Passed, &[Passed, Skipped]),
            test("fails on both", Failed, &[Failed]),
            test("lost", Skipped, &[Passed, Passed]),
            test("part lost", Failed, &[Failed, Failed]),
            test("gained", Passed, &[]),
        ]);
        let lost = compare(&stock, &ours);
        let shown: Vec<String> = lost
            .iter()
            .map(|l| format!("{}/{}: {}", l.test, l.part.as_deref().unwrap_or(""), l.now))
            .collect();
        let wanted = [
            "lost/: skipped",
            "part lost/part 0: failed",
            "part lost/part 2: not run",
            "not run/: not run",
        ];
        assert_eq!(shown, wanted);
        assert_eq!(compare(&stock, &stock), []);
    }

    #[test]
    fn a_new_report_counts_where_the_test_failed_before() {
        let before = test("warned", Outcome::Failed, &[]);
        let mut now = before.clone();
        now.reports = vec!["BUG: x".into()];
        let lost = compare(&run(vec![before]), &run(vec![now]));
        assert_eq!(lost[0].now, "the kernel reported: BUG: x");
    }
}
