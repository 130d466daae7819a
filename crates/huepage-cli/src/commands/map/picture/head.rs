// SPDX-License-Identifier: MIT OR Apache-2.0
//! The text above and below the rows.

use huepage::map::ProcessMap;

use huepage_present::{
    number::size,
    svg::{self, Anchor, Svg},
};

use super::{
    super::{
        in_bytes,
        rows::main_cache,
        text::{change_text, doubt, shortfall_text},
    },
    MARGIN, WIDTH, column, paint,
};

const SIZE: u32 = 12;
const LINE: f64 = 18.0;

/// Draws which process it is, where, and how to read the picture; returns where that
/// ends.
pub fn head(svg: &mut Svg, map: &ProcessMap, y: f64) -> f64 {
    let title = format!(
        "{}, PID {}: {} present of {} reserved",
        svg::fit(map.process.name.as_str(), 20, 500.0),
        map.process.pid,
        in_bytes(map, map.total.pages.present),
        in_bytes(map, map.total.pages.reserved),
    );
    svg.bold((MARGIN, y + 16.0), 20, paint::INK, &title);
    let mut y = y + 40.0;
    let machine = &map.machine;
    let mut about = vec![];
    about.extend(machine.model.clone());
    about.push(format!("Linux {}", machine.kernel));
    about.push(format!("pages of {}", machine.page_size));
    if let Some((_, cache)) = main_cache(map) {
        let (name, colors, ways) = (&cache.name, cache.colors.get(), cache.ways);
        about.push(format!("{name} of {}: {colors} colors of {ways} ways", size(cache.size)));
    }
    line(svg, &mut y, paint::PALE, &about.join(", "));
    let how = "The height of a column is the share of its pages that are present. Imbalance: pages that \
               the cache cannot hold together although it has room.";
    line(svg, &mut y, paint::PALE, how);
    if let Some((_, cache)) = main_cache(map)
        && let Some(why) = doubt(map, cache.trust)
    {
        line(svg, &mut y, paint::OUT, &format!("Colors are not those of the cache: {why}."));
    }
    y + 4.0
}

/// Names of the columns.
pub fn columns(svg: &mut Svg, map: &ProcessMap, y: f64) -> f64 {
    let at = y + 14.0;
    svg.text((column::NAME, at), SIZE, paint::PALE, Anchor::Start, "mapping");
    svg.text((column::SIZE, at), SIZE, paint::PALE, Anchor::End, "present");
    let strips = "pages by address; of several mappings, shares of what is present";
    svg.text((column::STRIP, at), SIZE, paint::PALE, Anchor::Start, strips);
    let balance = main_cache(map).map(|(_, cache)| format!("{} colors", cache.name));
    let balance = svg::fit(&balance.unwrap_or_default(), SIZE, column::BALANCE_WIDTH);
    svg.text((column::BALANCE, at), SIZE, paint::PALE, Anchor::Start, &balance);
    let imbalance = if balance.is_empty() { "" } else { "imbalance" };
    svg.text((column::FIGURE, at), SIZE, paint::PALE, Anchor::Start, imbalance);
    svg.rectangle((MARGIN, y + 20.0), (WIDTH - 2.0 * MARGIN, 1.0), "#bbb");
    y + 30.0
}

/// Draws what is missing.
pub fn foot(svg: &mut Svg, map: &ProcessMap, y: f64) -> f64 {
    let mut y = y + 10.0;
    for change in &map.changes {
        line(svg, &mut y, paint::OUT, &format!("Meanwhile: {}", change_text(change)));
    }
    for shortfall in &map.shortfalls {
        let text = format!("Not shown: {}", shortfall_text(shortfall));
        line(svg, &mut y, paint::OUT, &text);
    }
    y
}

/// Some words on as many lines as they need.
fn line(svg: &mut Svg, y: &mut f64, fill: &str, text: &str) {
    for text in svg::lines(text, SIZE, WIDTH - 2.0 * MARGIN) {
        svg.text((MARGIN, *y), SIZE, fill, Anchor::Start, &text);
        *y += LINE;
    }
}
