// SPDX-License-Identifier: MIT OR Apache-2.0
//! The meaning of the fills.

use huepage::map::{Area, ProcessMap};

use huepage_present::{
    number::share,
    svg::{self, Anchor, Svg},
};

use super::{
    super::by::{By, UNKNOWN},
    MARGIN, WIDTH, paint, row,
};

const SWATCH: f64 = 12.0;
const LINE: f64 = 22.0;
const SIZE: u32 = 12;

/// More classes than this are shown as one band from first to last.
const NAMED: usize = 40;

/// Draws the classes that there are, with their shares, and the marks.
pub fn legend(svg: &mut Svg, map: &ProcessMap, by: By, y: f64) -> f64 {
    let areas: Vec<&Area> = map.areas.iter().collect();
    let parts = row::parts(map, by, &areas);
    let all: u64 = parts.iter().map(|part| part.pages).sum();
    let classes = by.classes(map);
    let mut place = Place { x: MARGIN, y };
    let heading = format!("{}:", by.heading());
    place.text(svg, &heading);
    let known = parts.iter().filter(|part| part.class != UNKNOWN).count();
    for part in &parts {
        if by == By::Color && known > NAMED && part.class != UNKNOWN {
            continue;
        }
        let fill = paint::fill(by, part.class, classes);
        // The shares of sixteen colors would all be about a sixteenth.
        let label = match by {
            By::Color if part.class != UNKNOWN => part.class.to_string(),
            _ => format!("{} {}", by.label(part.class, map), share(part.pages, all)),
        };
        place.entry(svg, &fill, SWATCH, &label);
    }
    if by == By::Color && known > NAMED {
        band(svg, &mut place, by, classes);
    }
    place.entry(svg, paint::HOLE, SWATCH, "nothing there");
    if parts.iter().any(|part| part.pages > 0) && !map.total.huge.is_empty() {
        place.entry(svg, paint::HUGE, 2.0, "mark below: in huge pages");
    }
    place.y + LINE
}

/// The classes as a band, for more than can be named.
fn band(svg: &mut Svg, place: &mut Place, by: By, classes: usize) {
    const BAND: f64 = 256.0;
    place.text(svg, "0");
    let each = BAND / classes as f64;
    for class in 0..classes {
        let x = place.x + class as f64 * each;
        svg.rectangle((x, place.y), (each, SWATCH), &paint::fill(by, class, classes));
    }
    place.x += BAND + 6.0;
    place.text(svg, &(classes - 1).to_string());
}

/// Where the next entry goes.
struct Place {
    x: f64,
    y: f64,
}

impl Place {
    fn entry(&mut self, svg: &mut Svg, fill: &str, height: f64, label: &str) {
        let width = SWATCH + 5.0 + svg::width(label, SIZE);
        if self.x + width > WIDTH - MARGIN {
            self.x = MARGIN;
            self.y += LINE;
        }
        let at = (self.x, self.y + SWATCH - height);
        svg.rectangle(at, (SWATCH, height), fill);
        self.x += SWATCH + 5.0;
        self.text(svg, label);
        self.x += 8.0;
    }

    fn text(&mut self, svg: &mut Svg, text: &str) {
        svg.text((self.x, self.y + SWATCH - 1.5), SIZE, paint::INK, Anchor::Start, text);
        self.x += svg::width(text, SIZE) + 6.0;
    }
}
