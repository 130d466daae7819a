// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reads the console of running tests: `lab/guest/selftests.c` prints it.

use serde::{Deserialize, Serialize};

use crate::{
    boot,
    kernel::ktap::{self, Outcome},
};

/// Exit code of a test that cannot be run here.
const SKIPPED: i32 = 4;

/// Lines that are kept of a test that did not pass.
const KEPT: usize = 30;

/// How a test program ended.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Done {
    /// With its arguments.
    pub test: String,
    /// Failed if the kernel reported a fault of its own meanwhile.
    pub outcome: Outcome,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// By the guest's clock.
    pub seconds: f64,
    /// For a test that failed among the others: the try at which it passed by itself,
    /// in a boot of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alone: Option<u32>,
    /// The results of its parts, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub subtests: Vec<Subtest>,
    /// The first lines of the kernel's reports about its own faults meanwhile.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reports: Vec<String>,
    /// The last lines it printed, if it did not pass.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub said: Vec<String>,
}

/// A line of TAP.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Subtest {
    /// As the program names it.
    pub name: String,
    /// Its result.
    pub outcome: Outcome,
}

/// The guest's line about the end of a test.
#[derive(Deserialize)]
struct End {
    end: usize,
    late: u32,
    exit: i32,
    signal: i32,
    seconds: f64,
}

/// Reads the console of a boot.
pub struct Console<'a> {
    names: &'a [String],
    /// Of the tests that ended.
    pub done: Vec<Done>,
    /// The one that runs.
    running: Option<Done>,
    /// The kernel's reports while no test ran.
    pub between: Vec<String>,
    /// Why the guest gave up, if it did.
    pub failed: Option<String>,
}

impl<'a> Console<'a> {
    /// Of tests with these names, by their numbers.
    pub fn new(names: &'a [String]) -> Self {
        Console { names, done: Vec::new(), running: None, between: Vec::new(), failed: None }
    }

    /// Reads a line.
    ///
    /// # Errors
    /// If a test ends that did not begin, or one begins that is not in the list.
    pub fn line(&mut self, line: &str) -> anyhow::Result<()> {
        let line = line.trim_end_matches(['\r', '\n']);
        if let Some(said) = boot::message(line).strip_prefix("t| ") {
            self.said(said);
        } else if let Some(report) = boot::report(line) {
            match &mut self.running {
                Some(test) => test.reports.push(report.to_owned()),
                None => self.between.push(report.to_owned()),
            }
        } else if let Some((_, json)) = line.split_once("LAB {\"begin\":") {
            let number: usize = json.trim_end_matches('}').parse()?;
            self.running = Some(self.begin(number)?);
        } else if let Some((_, json)) = line.split_once("LAB {\"end\":") {
            let end: End = serde_json::from_str(&format!("{{\"end\":{json}"))?;
            let test = self.running.take();
            let test = test.filter(|test| self.names.get(end.end) == Some(&test.test));
            let test = test.ok_or_else(|| anyhow::anyhow!("what ended did not begin: {line}"))?;
            self.done.push(ended(test, &end));
        } else if let Some((_, reason)) = line.split_once("LAB-FAIL ") {
            self.failed = Some(reason.to_owned());
        }
        Ok(())
    }

    /// Of the test that runs.
    pub fn name(&self) -> &str {
        self.running.as_ref().map_or("", |test| &test.test)
    }

    /// Records that the machine stopped while a test ran; false if none did.
    pub fn crashed(&mut self) -> bool {
        let Some(mut test) = self.running.take() else { return false };
        test.why = Some("the kernel crashed".into());
        self.done.push(test);
        true
    }

    fn begin(&self, number: usize) -> anyhow::Result<Done> {
        let name = self.names.get(number);
        let name = name.ok_or_else(|| anyhow::anyhow!("there is no test {number}"))?;
        Ok(Done {
            test: name.clone(),
            outcome: Outcome::Failed,
            why: None,
            seconds: 0.0,
            alone: None,
            subtests: Vec::new(),
            reports: Vec::new(),
            said: Vec::new(),
        })
    }

    fn said(&mut self, said: &str) {
        let Some(test) = &mut self.running else { return };
        if let Some((outcome, name)) = ktap::result(said.trim_start()) {
            test.subtests.push(Subtest { name: boot::printable(name), outcome });
        }
        if test.said.len() == KEPT {
            test.said.remove(0);
        }
        test.said.push(boot::printable(said));
    }
}

fn ended(mut test: Done, end: &End) -> Done {
    test.seconds = end.seconds;
    let failure = if end.late != 0 {
        Some("its time was over".to_owned())
    } else if end.signal != 0 {
        Some(format!("killed by signal {}", end.signal))
    } else if end.exit != 0 && end.exit != SKIPPED {
        Some(format!("exit code {}", end.exit))
    } else {
        test.reports.first().map(|report| format!("the kernel reported: {report}"))
    };
    test.outcome = match (&failure, end.exit) {
        (Some(_), _) => Outcome::Failed,
        (None, SKIPPED) => Outcome::Skipped,
        (None, _) => Outcome::Passed,
    };
    test.why = failure;
    if test.outcome == Outcome::Passed {
        test.said.clear();
    }
    test
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (Vec<Done>, Vec<String>) {
        let names = ["mm/a".to_owned(), "mm/b -x".to_owned()];
        let mut console = Console::new(&names);
        text.lines().for_each(|line| console.line(line).unwrap());
        console.crashed();
        (console.done, console.between)
    }

    #[test]
    fn exit_codes_and_reports_decide() {
        let end = |rest: &str| {
            let text = format!("LAB {{\"begin\":1}}\n[ 1.0] t| ok\nLAB {{\"end\":1,{rest}}}\n");
            let done = read(&text).0.remove(0);
            (done.outcome, done.why.unwrap_or_default())
        };
        let passed = "\"late\":0,\"exit\":0,\"signal\":0,\"seconds\":0.5";
        assert_eq!(end(passed), (Outcome::Passed, String::new()));
        let skipped = passed.replace("exit\":0", "exit\":4");
        assert_eq!(end(&skipped), (Outcome::Skipped, String::new()));
        let failed = passed.replace("exit\":0", "exit\":1");
        assert_eq!(end(&failed), (Outcome::Failed, "exit code 1".into()));
        let killed = "\"late\":0,\"exit\":-1,\"signal\":11,\"seconds\":0.5";
        assert_eq!(end(killed), (Outcome::Failed, "killed by signal 11".into()));
        let late = "\"late\":1,\"exit\":-1,\"signal\":9,\"seconds\":20.5";
        assert_eq!(end(late), (Outcome::Failed, "its time was over".into()));
        let warned = read(&format!(
            "LAB {{\"begin\":0}}\n[  1.2] WARNING: CPU: 0 PID: 1 at x\nLAB {{\"end\":0,{passed}}}"
        ));
        assert_eq!(warned.0[0].outcome, Outcome::Failed);
        assert_eq!(warned.0[0].reports, ["WARNING: CPU: 0 PID: 1 at x"]);
    }

    #[test]
    fn parts_are_read_and_a_crash_is_of_the_test_that_ran() {
        let (done, between) = read(
            "[ 0.1] BUG: early\nLAB {\"begin\":0}\nt| TAP version 13\nt| 1..3\n\
             t| ok 1 - one\nt| not ok 2 two\nt| ok 3 # SKIP three\n[ 1.0] Kernel panic - not \
             syncing: x",
        );
        assert_eq!(between, ["BUG: early"]);
        assert_eq!(done[0].why.as_deref(), Some("the kernel crashed"));
        assert_eq!(done[0].reports, ["Kernel panic - not syncing: x"]);
        let outcomes: Vec<Outcome> = done[0].subtests.iter().map(|sub| sub.outcome).collect();
        assert_eq!(outcomes, [Outcome::Passed, Outcome::Failed, Outcome::Skipped]);
        assert_eq!(done[0].subtests[0].name, "one");
    }

    #[test]
    fn an_end_without_a_beginning_is_an_error() {
        let names = ["mm/a".to_owned()];
        let mut console = Console::new(&names);
        let end = "LAB {\"end\":0,\"late\":0,\"exit\":0,\"signal\":0,\"seconds\":0.5}";
        assert!(console.line(end).is_err());
        assert!(console.line("LAB {\"begin\":1}").is_err());
    }
}
