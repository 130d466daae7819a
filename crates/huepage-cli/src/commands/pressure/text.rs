// SPDX-License-Identifier: MIT OR Apache-2.0
//! Intervals as lines, a run as a summary.

use std::fmt::Write;

use huepage::color::Pressure;

use huepage_present::{number::percent_in_column as percent, paragraph::put};

use super::report::PressureReport;
use crate::commands::colors::rows_of_colors;

/// The heading of [`line`].
pub const HEADING: &str =
    " seconds looks quiet  evicted  median     p95    most (color)  steal lost   own\n";

/// One interval.
pub fn line(report: &PressureReport) -> String {
    let evicted =
        |part: fn(&super::report::Evicted) -> f64| percent(report.evicted.as_ref().map(part), 1);
    let most = match report.most() {
        Some((color, share)) => format!("{} ({color})", percent(Some(share), 1)),
        None if report.evicted.is_some() => percent(Some(0.0), 1),
        None => "-".to_owned(),
    };
    let lost = report.interrupted_looks as f64 / report.looks.max(1) as f64;
    format!(
        "{:>8.1}{:>6}{:>6}{:>9}{:>8}{:>8}{:>16}{:>7}{:>5}{:>6}\n",
        report.at + report.seconds,
        report.looks,
        percent(report.quiet_share(), 0),
        evicted(|evicted| evicted.mean),
        evicted(|evicted| evicted.median),
        evicted(|evicted| evicted.p95),
        most,
        percent(report.steal, 1),
        percent((report.looks > 0).then_some(lost), 0),
        percent(Some(report.cpu_share), 1),
    )
}

/// A whole run.
pub fn summary(report: &PressureReport) -> String {
    let subject = &report.subject;
    let mut out = String::new();
    let ways = subject.cache.map(|cache| format!(", {} ways", cache.ways())).unwrap_or_default();
    let _ = writeln!(
        out,
        "CPU {}: {}{ways}, {} colors found by measurement",
        subject.cpu,
        subject.cache_name(),
        subject.colors
    );
    let mut entry = |name: &str, text: &str| put(&mut out, &format!("{name:<10} "), text);
    let (looks, seconds) = (report.looks, report.seconds);
    let wait = 1e3 * Pressure::WAIT.as_secs_f64();
    entry(
        "looks",
        &format!("{looks} in {seconds:.1} s; each reads lines, waits {wait} ms, times them again"),
    );
    let quiet = percent(report.quiet_share(), 0);
    entry("quiet", &format!("{quiet} of the looks: no more lines gone than on a quiet machine"));
    if let Some(evicted) = &report.evicted {
        entry(
            "evicted",
            &format!(
                "{} of the lines by others, in the mean of looks; median {}, p95 {}",
                percent(Some(evicted.mean), 1),
                percent(Some(evicted.median), 1),
                percent(Some(evicted.p95), 1)
            ),
        );
    }
    let lost = report.interrupted_looks;
    let mut text = format!("in {lost} of {looks} looks");
    if let (1.., Some(evicted)) = (lost, &report.evicted) {
        text += &format!("; evicted in the others: {}", percent(evicted.mean_of_uninterrupted, 1));
    }
    entry("CPU lost", &text);
    entry(
        "steal",
        &match report.steal {
            Some(_) => format!("{} of the CPU's time, by /proc/stat", percent(report.steal, 1)),
            None => "not shown by /proc/stat".to_owned(),
        },
    );
    let own = percent(Some(report.cpu_share), 1);
    entry("own cost", &format!("{own} of the CPU while watching"));
    let _ = writeln!(out, "share of the lines evicted, per color:");
    let shares = report.color_shares.iter().map(|&share| percent(share, 1));
    out.push_str(&rows_of_colors(shares));
    out
}

#[cfg(test)]
mod tests {
    use super::{super::sample, *};

    #[test]
    fn a_line_stands_below_its_heading() {
        let mut report = sample::run(32);
        report.at = 86_400.0 * 9.0;
        let line = line(&report);
        let ends = |text: &str| -> Vec<usize> {
            let text = text.replace(" (", "_(");
            let chars: Vec<char> = text.trim_end().chars().collect();
            (0..chars.len())
                .filter(|&i| chars[i] != ' ' && chars.get(i + 1).is_none_or(|&c| c == ' '))
                .collect()
        };
        assert_eq!(ends(HEADING), ends(&line), "\n{HEADING}{line}");
        assert!(line.trim_end().chars().count() <= 80);
    }

    #[test]
    fn an_interval_without_looks_has_no_figures() {
        let mut report = sample::run(8);
        (report.looks, report.evicted, report.steal) = (0, None, None);
        report.color_shares = vec![None; 8];
        let line = line(&report);
        assert_eq!(line.matches(" -").count(), 7, "{line}");
        let summary = summary(&report);
        assert!(summary.contains("quiet      - of the looks"), "{summary}");
        assert!(summary.contains("steal      not shown by /proc/stat\n"), "{summary}");
    }

    #[test]
    fn the_summary_fits_and_has_every_color() {
        for colors in [1, 8, 30, 640] {
            let summary = summary(&sample::run(colors));
            assert!(summary.lines().all(|line| line.chars().count() <= 80), "{summary}");
            let table = summary.split_once("per color:\n").unwrap().1;
            assert_eq!(table.matches('%').count(), colors as usize);
        }
        let summary = summary(&sample::run(32));
        assert!(summary.contains("quiet      67% of the looks"), "{summary}");
        assert!(summary.contains("CPU lost   in 6 of 600 looks; evicted in the others: "));
        assert!(summary.contains("steal      3.1% of the CPU's time"), "{summary}");
        assert!(summary.contains("own cost   0.8% of the CPU"), "{summary}");
    }
}
