// SPDX-License-Identifier: MIT OR Apache-2.0
//! Every run as a dot, by arm, for elapsed and for user time.

use huepage_present::{
    escape,
    number::{figure, percent},
};

use super::{
    Arm, Cost, ExecReport,
    report::{ArmReport, Figures},
    text::line,
};
use crate::bench::{
    cache_text,
    plot::{Caption, Panel, Strip, draw_all, style},
    report::Dot,
};

/// The picture as SVG.
///
/// # Errors
/// None: every report can be drawn.
pub fn svg(report: &ExecReport) -> anyhow::Result<String> {
    let panels = [
        panel(report, "elapsed time", |cost| cost.elapsed, |arm| &arm.elapsed),
        panel(report, "user time", |cost| cost.user, |arm| &arm.user),
    ];
    // A program that uses no user time has no panel for it.
    let panels: Vec<Panel> = panels
        .into_iter()
        .filter(|panel| panel.strips.iter().any(|strip| strip.dots.iter().any(|dot| dot.p5 > 0.0)))
        .collect();
    Ok(draw_all(&caption(report), &panels))
}

fn caption(report: &ExecReport) -> Caption {
    const TITLE: usize = 60;
    let cache = report.cache.map_or(String::new(), |cache| format!(", {}", cache_text(cache)));
    Caption {
        title: format!("{}, in turns", escape::shorten(&line(report), TITLE)),
        lines: [
            format!(
                "{}{cache}, CPU {}; measured; {} rounds; dot: a quiet run, ring: another one",
                report.machine.model, report.cpus, report.rounds
            ),
            format!("{} runs, {}", report.moments.slices, report.moments),
        ],
    }
}

fn panel(
    report: &ExecReport,
    name: &str,
    seconds: fn(&Cost) -> f64,
    figures: fn(&ArmReport) -> &Figures,
) -> Panel {
    let strip = |arm: &ArmReport| {
        let runs = report.runs.iter().filter(|run| run.arm == arm.arm);
        let dot = |seconds: f64, quiet: bool| Dot {
            quiet: quiet.then_some(seconds),
            p5: seconds,
            p95: seconds,
        };
        Strip {
            name: arm.arm.to_string(),
            color: color(arm.arm),
            dots: runs.map(|run| dot(seconds(&run.cost), run.quiet)).collect(),
            figures: beside(figures(arm)),
        }
    };
    Panel {
        heading: format!("{name}: every run"),
        axis: "s (lower is better".to_owned(),
        strips: report.arms.iter().map(strip).collect(),
    }
}

/// As elsewhere: the kernel's own placement is black, balanced pages are blue.
fn color(arm: Arm) -> &'static str {
    use crate::bench::Placement;
    style::color(match arm {
        Arm::Default => Placement::Default,
        Arm::Placed => Placement::Balanced,
        Arm::Control => Placement::Stirred,
    })
}

fn beside(figures: &Figures) -> [String; 3] {
    let Some(quiet) = figures.quiet else {
        return ["too few quiet runs".to_owned(), String::new(), String::new()];
    };
    let ratio = quiet
        .ratio
        .map_or(String::new(), |ratio| format!("{:.3} times as fast as default", ratio.value));
    let spread = quiet
        .spread
        .map_or(String::new(), |spread| format!("runs vary by {}", percent(spread.value)));
    [format!("quiet {} s", figure(quiet.median.value)), spread, ratio]
}

#[cfg(test)]
mod tests {
    use resvg::usvg::{Options, Tree};

    use super::*;
    use crate::bench::exec::report::sample;

    #[test]
    fn every_run_is_a_dot_or_a_ring() {
        let report = sample::report();
        let svg = svg(&report).unwrap();
        assert_eq!(Tree::from_str(&svg, &Options::default()).unwrap().size().width(), 1200.0);
        assert_eq!(svg.matches("<circle").count(), 2 * report.runs.len());
        let rings =
            svg.lines().filter(|line| line.contains("<circle") && line.contains("fill=\"none\""));
        assert_eq!(rings.count(), 2 * report.runs.iter().filter(|run| !run.quiet).count());
        for arm in Arm::ALL {
            assert!(svg.contains(&format!(">{arm}<")), "{arm}");
        }
        assert!(svg.contains("A &amp; B &lt;CPU&gt;"));
    }

    #[test]
    fn a_program_without_user_time_has_one_panel() {
        let mut runs = sample::report().runs;
        runs.iter_mut().for_each(|run| run.cost.user = 0.0);
        let report = sample::of(runs);
        assert_eq!(svg(&report).unwrap().matches("<circle").count(), report.runs.len());
    }
}
