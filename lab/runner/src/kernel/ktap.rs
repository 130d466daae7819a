// SPDX-License-Identifier: MIT OR Apache-2.0
//! KTAP, in which kernels print the results of their unit tests
//! (Documentation/dev-tools/ktap.rst).

use serde::Serialize;
use thiserror::Error;

use crate::boot::message;

/// A test, or a suite with what is in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Test {
    /// As the kernel names it.
    pub name: String,
    /// Its own result; a suite fails if anything in it does.
    pub outcome: Outcome,
    /// What the kernel printed since the result before.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub said: Vec<String>,
    /// Of a suite.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tests: Vec<Test>,
}

/// The result of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// `ok`
    Passed,
    /// `not ok`
    Failed,
    /// `ok … # SKIP`
    Skipped,
}

/// Why an output is no complete KTAP.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum KtapError {
    /// There is no `KTAP version` line.
    #[error("the kernel printed no test results: it did not come so far, or has no KUnit")]
    None,
    /// The output ends, or a suite does, before all was run.
    #[error("{name} ended after {found} of {planned} results: the kernel crashed or hung there")]
    Short {
        /// The suite, or `the run`.
        name: String,
        /// Results seen.
        found: usize,
        /// Results announced.
        planned: usize,
    },
    /// A number of results was not announced.
    #[error("{name} does not say how many results follow")]
    NoPlan {
        /// The suite, or `the run`.
        name: String,
    },
}

/// Numbers of tests by result, without suites.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Totals {
    /// Passed.
    pub passed: usize,
    /// Failed.
    pub failed: usize,
    /// Skipped.
    pub skipped: usize,
}

/// The state of one depth of nesting: 4 spaces each.
#[derive(Default)]
struct Depth {
    plan: Option<usize>,
    tests: Vec<Test>,
    said: Vec<String>,
}

/// The suites in a kernel's output, which may begin and end with other messages.
///
/// # Errors
/// If there are none, or results are missing. A failed test is no error.
pub fn parse(output: &str) -> Result<Vec<Test>, KtapError> {
    let mut lines = output.lines().map(without_prefix);
    lines.find(|line| line.starts_with("KTAP version ")).ok_or(KtapError::None)?;
    let mut depths = vec![Depth::default()];
    for line in lines {
        let text = line.trim_start_matches(' ');
        let depth = (line.len() - text.len()) / 4;
        if let Some(plan) = text.strip_prefix("1..").and_then(|count| count.trim().parse().ok()) {
            at(&mut depths, depth).plan = Some(plan);
        } else if let Some((outcome, name)) = result(text) {
            let inner = match depths.len() > depth + 1 {
                true => std::mem::take(&mut depths[depth + 1]),
                false => Depth::default(),
            };
            depths.truncate(depth + 1);
            let tests = if inner.tests.is_empty() && inner.plan.is_none() {
                Vec::new()
            } else {
                complete(name, inner.plan, inner.tests)?
            };
            let level = at(&mut depths, depth);
            let mut said = std::mem::take(&mut level.said);
            said.extend(inner.said);
            level.tests.push(Test { name: name.to_owned(), outcome, said, tests });
        } else if !is_heading(text) {
            // Other messages of the kernel may be indented by any width.
            let depth = depth.min(depths.len());
            at(&mut depths, depth).said.push(text.trim_end().to_owned());
        }
        if depths[0].plan == Some(depths[0].tests.len()) {
            break;
        }
    }
    let run = depths.swap_remove(0);
    complete("the run", run.plan, run.tests)
}

/// Counts the tests, at any depth.
pub fn totals(tests: &[Test]) -> Totals {
    let mut totals = Totals::default();
    for test in tests {
        if test.tests.is_empty() {
            match test.outcome {
                Outcome::Passed => totals.passed += 1,
                Outcome::Failed => totals.failed += 1,
                Outcome::Skipped => totals.skipped += 1,
            }
        } else {
            let inner = self::totals(&test.tests);
            totals.passed += inner.passed;
            totals.failed += inner.failed;
            totals.skipped += inner.skipped;
        }
    }
    totals
}

fn complete(name: &str, plan: Option<usize>, tests: Vec<Test>) -> Result<Vec<Test>, KtapError> {
    match plan {
        Some(planned) if planned == tests.len() => Ok(tests),
        Some(planned) => {
            Err(KtapError::Short { name: name.to_owned(), found: tests.len(), planned })
        }
        None => Err(KtapError::NoPlan { name: name.to_owned() }),
    }
}

fn at(depths: &mut Vec<Depth>, depth: usize) -> &mut Depth {
    while depths.len() <= depth {
        depths.push(Depth::default());
    }
    &mut depths[depth]
}

/// Whether a line repeats what results contain.
fn is_heading(text: &str) -> bool {
    let heads = ["KTAP version ", "# Subtest: ", "# module: ", "# Totals: "];
    text.is_empty() || heads.iter().any(|head| text.starts_with(head))
}

/// `ok 3 name # SKIP why` or `not ok 3 - name`.
pub fn result(text: &str) -> Option<(Outcome, &str)> {
    let (ok, rest) = match text.strip_prefix("not ok ") {
        Some(rest) => (false, rest),
        None => (true, text.strip_prefix("ok ")?),
    };
    let (number, rest) = rest.split_once(' ').unwrap_or((rest, ""));
    number.parse::<usize>().ok()?;
    let (name, directive) = rest.split_once('#').unwrap_or((rest, ""));
    let name = name.trim();
    let name = name.strip_prefix("- ").unwrap_or(name);
    let skipped = directive.trim_start().to_ascii_uppercase().starts_with("SKIP");
    let outcome = match (ok, skipped) {
        (true, true) => Outcome::Skipped,
        (true, false) => Outcome::Passed,
        (false, _) => Outcome::Failed,
    };
    Some((outcome, name))
}

/// The line without `<6>` and `[    0.123456] `, which consoles may put before it.
fn without_prefix(line: &str) -> &str {
    let line = line.trim_end_matches('\r');
    let level = line.strip_prefix('<').and_then(|rest| rest.split_once('>'));
    message(match level {
        Some((level, rest)) if level.bytes().all(|b| b.is_ascii_digit()) => rest,
        _ => line,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUTPUT: &str = "\
Linux version 6.12
[    0.120000] KTAP version 1
[    0.120001] 1..2
[    0.120002]     KTAP version 1
[    0.120003]     # Subtest: colors
[    0.120004]     # module: colors_test
[    0.120005]     1..3
[    0.120006]     ok 1 next_color
[    0.120007]     # wraps: EXPECTATION FAILED at mm/x_test.c:7
[    0.120008]     Expected next == 0, but
[    0.120009]         next == 5 (0x5)
[    0.120010]     not ok 2 wraps
[    0.120011]     ok 3 big # SKIP needs 4 GiB
[    0.120012] # colors: pass:1 fail:1 skip:1 total:3
[    0.120013] # Totals: pass:1 fail:1 skip:1 total:3
[    0.120014] not ok 1 colors
[    0.120015]     KTAP version 1
[    0.120016]     # Subtest: lists
[    0.120017]     1..1
[    0.120018]         KTAP version 1
[    0.120019]         # Subtest: sizes
[    0.120020]         ok 1 one
[    0.120021]         ok 2 two
[    0.120022]         1..2
[    0.120023]     ok 1 sizes
[    0.120024] ok 2 lists
reboot: System halted
";

    #[test]
    fn results_are_read_at_every_depth() {
        let suites = parse(OUTPUT).unwrap();
        let outcomes: Vec<_> = suites.iter().map(|s| (s.name.as_str(), s.outcome)).collect();
        assert_eq!(outcomes, [("colors", Outcome::Failed), ("lists", Outcome::Passed)]);
        let [first, second, third] = &suites[0].tests[..] else { panic!("{suites:?}") };
        assert_eq!((first.name.as_str(), first.outcome), ("next_color", Outcome::Passed));
        assert_eq!((second.name.as_str(), second.outcome), ("wraps", Outcome::Failed));
        assert_eq!((third.name.as_str(), third.outcome), ("big", Outcome::Skipped));
        assert_eq!(
            second.said,
            [
                "# wraps: EXPECTATION FAILED at mm/x_test.c:7",
                "Expected next == 0, but",
                "next == 5 (0x5)",
            ]
        );
        assert_eq!(suites[1].tests[0].tests.len(), 2);
        assert_eq!(totals(&suites), Totals { passed: 3, failed: 1, skipped: 1 });
    }

    #[test]
    fn an_output_that_ends_early_is_an_error() {
        let cut = OUTPUT.split("[    0.120015]").next().unwrap();
        let short =
            |name: &str, found, planned| KtapError::Short { name: name.into(), found, planned };
        assert_eq!(parse(cut), Err(short("the run", 1, 2)));
        assert_eq!(parse("Linux version 6.12\n"), Err(KtapError::None));
        assert_eq!(parse("KTAP version 1\n"), Err(KtapError::NoPlan { name: "the run".into() }));
        let missing = OUTPUT.replace("[    0.120006]     ok 1 next_color\n", "");
        assert_eq!(parse(&missing), Err(short("colors", 2, 3)));
    }

    #[test]
    fn nothing_selected_is_a_run_without_suites() {
        assert_eq!(parse("KTAP version 1\n1..0\n"), Ok(Vec::new()));
    }
}
