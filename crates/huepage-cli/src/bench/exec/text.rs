// SPDX-License-Identifier: MIT OR Apache-2.0
//! A report as text of at most 80 columns.

use huepage_present::{
    escape,
    number::{counted, figure, percent},
    paragraph::wrap,
    table::Table,
};

use super::{
    Arm, ExecReport,
    report::{ArmReport, Figures, Summary},
};
use crate::bench::{bootstrap::Estimate, cache_text};

/// A figure of an arm, and its name.
type Named = (&'static str, fn(&ArmReport) -> &Figures);

const LEGEND: &str = "median of the runs and its 95 % interval; spread: p95/p5 - 1 of the runs; \
     x default: times as fast as default. quiet: no other program was seen to use CPU or cache or \
     to slow the CPU.";

/// The whole report: program and machine, tables, and findings.
pub fn text(report: &ExecReport) -> String {
    let mut text = wrap(&head(report), "");
    text.push_str(&wrap(&format!("{} runs, {}", report.moments.slices, report.moments), ""));
    if let Some(placing) = placing(report) {
        text.push_str(&wrap(&placing, ""));
    }
    let figures: [Named; 2] =
        [("elapsed time", |arm| &arm.elapsed), ("user time", |arm| &arm.user)];
    for (name, of) in figures {
        text.push_str(&format!("\n{name}, s, of quiet runs\n"));
        text.push_str(&table(report, |arm| of(arm).quiet));
        text.push_str(&format!("\n{name}, s, of all runs\n"));
        text.push_str(&table(report, |arm| of(arm).all));
    }
    text.push('\n');
    text.push_str(&others(report));
    text.push('\n');
    text.push_str(&wrap(LEGEND, ""));
    text.push('\n');
    for verdict in [&report.verdict, &report.verdict_user] {
        text.push_str(&wrap(&verdict.text, "  "));
    }
    text
}

/// The program as a line, not too long.
pub fn line(report: &ExecReport) -> String {
    short(&report.program)
}

/// Words joined by no-break spaces if they fit a line together.
fn short(words: &[String]) -> String {
    const WIDTH: usize = 70;
    escape::shorten(&escape::printable(&words.join(" ")), WIDTH)
}

fn head(report: &ExecReport) -> String {
    let cache = report.cache.map_or("cache not declared".to_owned(), cache_text);
    format!(
        "{}, CPU {}, {cache}; {} of '{}', placed by '{}'; {} of memory stirred before each \
         run; the cache checked with {}",
        report.machine.model,
        report.cpus,
        counted(report.rounds as u64, "round"),
        line(report),
        short(&report.placed_by),
        report.stirred,
        report.looks,
    )
}

fn placing(report: &ExecReport) -> Option<String> {
    let placing = report.placing?;
    let huge = match placing.pages_huge {
        0 => String::new(),
        pages => format!(", beside {pages} in huge pages, which are left alone"),
    };
    Some(format!(
        "At the end of a warm-up run {} of {} pages were placed{huge}; placing took {:.3} s of CPU \
         time and {}",
        placing.pages_placed, placing.pages_seen, placing.cpu_seconds, placing.memory
    ))
}

fn table(report: &ExecReport, of: impl Fn(&ArmReport) -> Option<Summary>) -> String {
    let mut table =
        Table::new(["", "runs", "median", "95 % interval", "spread", "95 %", "x default", "95 %"]);
    for arm in &report.arms {
        let name = arm.arm.to_string();
        let Some(summary) = of(arm) else {
            table.row([name, "too few".to_owned()]);
            continue;
        };
        let Estimate { value, low, high } = summary.median;
        let spread =
            |of: &dyn Fn(Estimate) -> String| summary.spread.map_or_else(|| "-".to_owned(), of);
        let ratio =
            |of: &dyn Fn(Estimate) -> String| summary.ratio.map_or_else(|| "-".to_owned(), of);
        table.row([
            name,
            summary.runs.to_string(),
            figure(value),
            format!("{} {}", figure(low), figure(high)),
            spread(&|spread| percent(spread.value)),
            spread(&|spread| format!("{:.0}-{:.0}", 100.0 * spread.low, 100.0 * spread.high)),
            ratio(&|ratio| times(ratio.value)),
            ratio(&|ratio| format!("{} {}", times(ratio.low), times(ratio.high))),
        ]);
    }
    table.render()
}

/// Three digits behind the point, as half a percent counts; fewer from ten on.
fn times(ratio: f64) -> String {
    if ratio < 9.9995 { format!("{ratio:.3}") } else { format!("{ratio:.1}") }
}

/// Figures of all runs, without intervals.
fn others(report: &ExecReport) -> String {
    let mut table = Table::new(["all runs", "system, s", "quiet", "failed"]);
    for arm in &report.arms {
        table.row([
            arm.arm.to_string(),
            figure(arm.system),
            percent(arm.quiet_share),
            arm.failures.to_string(),
        ]);
    }
    let control = match report.arm(Arm::Control) {
        Some(_) => "control: runs as default do, so its ratio shows the error of the method\n",
        None => "",
    };
    format!("{}{control}", table.render())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::exec::report::sample;

    #[test]
    fn text_fits_80_columns_and_names_every_arm() {
        let mut report = sample::report();
        report.program.push("\x1b[31m".to_owned());
        report.program.push("/a/long/path".repeat(40));
        let text = text(&report);
        for line in text.lines() {
            assert!(line.chars().count() <= 80, "{line}");
        }
        assert!(!text.contains('\x1b'), "{text:?}");
        for arm in Arm::ALL {
            assert!(text.lines().filter(|line| line.starts_with(&arm.to_string())).count() >= 5);
        }
    }

    #[test]
    fn tables_hold_medians_spreads_and_ratios() {
        let text = text(&sample::report());
        let cells: Vec<Vec<&str>> = text
            .lines()
            .filter(|line| line.starts_with("placed "))
            .map(|line| line.split_whitespace().collect())
            .collect();
        // Elapsed, in quiet moments: fifteen runs of twenty.
        assert_eq!(cells[0][1..3], ["15", "1.002"], "{text}");
        assert_eq!(cells[1][1], "20", "{text}");
        // User time is a tenth less.
        assert_eq!(cells[2][2], "0.9018", "{text}");
        assert_eq!(cells[0][7], "1.697", "{text}");
        let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(flat.contains("60 runs, 75% in quiet moments"), "{text}");
        assert!(flat.contains("498 of 500 pages were placed; placing took 0.050 s"), "{text}");
    }

    /// Figures of any size, and intervals as wide as they come.
    #[test]
    fn tables_fit_80_columns_whatever_their_figures() {
        let mut rng = fastrand::Rng::with_seed(1);
        let tidy = sample::report();
        for _ in 0..300 {
            let mut report = tidy.clone();
            let mut any = |most: f64| {
                let mut values = [0; 3].map(|_| most.powf(rng.f64() * 2.0 - 1.0));
                values.sort_by(f64::total_cmp);
                Estimate { value: values[1], low: values[0], high: values[2] }
            };
            for arm in &mut report.arms {
                for figures in [&mut arm.elapsed, &mut arm.user] {
                    for summary in [&mut figures.quiet, &mut figures.all].into_iter().flatten() {
                        summary.median = any(9e3);
                        summary.spread = Some(any(9.0));
                        summary.ratio = Some(any(20.0));
                        summary.runs = 9999;
                    }
                }
            }
            for line in text(&report).lines() {
                assert!(line.chars().count() <= 80, "{} {line}", line.chars().count());
            }
        }
    }
}
