// SPDX-License-Identifier: MIT OR Apache-2.0
//! `two-guests` as a picture.

use super::{
    Guest,
    points::{boots, points},
};
use crate::results::{Axis, Panel, Plot, Results, Series, distinct};

/// Conflicts by what the guests do, a panel for each way in which their memory came.
pub fn plot(results: &Results) -> Plot {
    let hosts =
        distinct(points(results).into_iter().map(|[host, memory, sets, _]| [host, memory, sets]));
    let guests = Guest::ALL.map(|guest| guest.name().to_owned());
    let line = |metric: &str, [host, backing, sets]: &[String; 3]| {
        let point = |(x, guest): (usize, &String)| {
            let point = [host, backing, sets, guest].map(String::clone);
            Some((x as f64, boots(results, &point).mean(metric)? * 100.0))
        };
        let points = guests.iter().enumerate().filter_map(point).collect();
        Series::new(format!("host {host}, sets {sets}"), points)
    };
    let panel = |(metric, heading): (&str, &str), backing: &String| {
        let hosts = hosts.iter().filter(|host| host[1] == *backing);
        let lines = hosts.map(|host| line(metric, host)).collect();
        let heading = format!("memory {backing}: {heading} (%)");
        Panel::new(heading, "guests", Axis::Names(guests.to_vec()), lines).up_to(100.0)
    };
    let backings = results.values("backing");
    let metrics = [("conflict_within", "within a guest"), ("conflict_across", "across both")];
    let panels = metrics.into_iter().flat_map(|m| backings.iter().map(move |b| (m, b)));
    Plot {
        title: "Two guests under one host: pages in conflict".into(),
        caption: format!(
            "Linux {}, cache of {}, each program {} of it; mean of {} seeds",
            results.kernel.version,
            results.values("cache").join(", "),
            results.values("fill").join(", "),
            results.values("seed").len(),
        ),
        panels: panels.map(|(metric, backing)| panel(metric, backing)).collect(),
    }
}
