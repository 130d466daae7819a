// SPDX-License-Identifier: MIT OR Apache-2.0
//! The few shapes a picture needs, written as SVG.

use std::fmt::Write;

use crate::{escape::xml, number::trimmed};

/// The position of a text relative to its point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// It begins there.
    Start,
    /// Its middle is there.
    Middle,
    /// It ends there.
    End,
}

/// A picture in the making; lengths are pixels.
#[derive(Debug, Default)]
pub struct Svg {
    body: String,
}

impl Svg {
    /// A filled rectangle.
    pub fn rectangle(&mut self, (x, y): (f64, f64), (width, height): (f64, f64), fill: &str) {
        let (x, y, width, height) = (short(x), short(y), short(width), short(height));
        let _ = writeln!(
            self.body,
            r#"<rect x="{x}" y="{y}" width="{width}" height="{height}" fill="{fill}"/>"#
        );
    }

    /// Many rectangles of one fill, in a tenth of the bytes.
    pub fn rectangles(&mut self, rectangles: &[[f64; 4]], fill: &str) {
        if rectangles.is_empty() {
            return;
        }
        let _ = write!(self.body, r#"<path fill="{fill}" d=""#);
        for &[x, y, width, height] in rectangles {
            let (x, y, w, h) = (short(x), short(y), short(width), short(height));
            let _ = write!(self.body, "M{x} {y}h{w}v{h}h-{w}z");
        }
        self.body.push_str("\"/>\n");
    }

    /// A line of text on its baseline; any characters are allowed.
    pub fn text(&mut self, at: (f64, f64), size: u32, fill: &str, anchor: Anchor, text: &str) {
        self.styled(at, size, fill, anchor, "", text);
    }

    /// The same, bold.
    pub fn bold(&mut self, at: (f64, f64), size: u32, fill: &str, text: &str) {
        self.styled(at, size, fill, Anchor::Start, r#" font-weight="bold""#, text);
    }

    fn styled(
        &mut self,
        (x, y): (f64, f64),
        size: u32,
        fill: &str,
        anchor: Anchor,
        more: &str,
        text: &str,
    ) {
        let anchor = match anchor {
            Anchor::Start => "",
            Anchor::Middle => r#" text-anchor="middle""#,
            Anchor::End => r#" text-anchor="end""#,
        };
        let (x, y, text) = (short(x), short(y), xml(text));
        let _ = writeln!(
            self.body,
            r#"<text x="{x}" y="{y}" font-size="{size}" fill="{fill}"{anchor}{more}>{text}</text>"#
        );
    }

    /// A line through all points.
    pub fn polyline(&mut self, points: &[(f64, f64)], width: f64, stroke: &str) {
        self.stroke(points, stroke, &format!(r#" stroke-width="{}""#, short(width)));
    }

    /// A line from one point to another.
    pub fn line(&mut self, from: (f64, f64), to: (f64, f64), width: f64, stroke: &str) {
        self.polyline(&[from, to], width, stroke);
    }

    /// A dashed line through all points.
    pub fn dashed(&mut self, points: &[(f64, f64)], width: f64, stroke: &str) {
        let more = format!(r#" stroke-width="{}" stroke-dasharray="6 5""#, short(width));
        self.stroke(points, stroke, &more);
    }

    /// A thin, transparent line.
    pub fn hair(&mut self, from: (f64, f64), to: (f64, f64), stroke: &str) {
        self.stroke(&[from, to], stroke, r#" stroke-opacity="0.35""#);
    }

    fn stroke(&mut self, points: &[(f64, f64)], stroke: &str, more: &str) {
        let points = joined(points);
        let _ = writeln!(
            self.body,
            r#"<polyline points="{points}" fill="none" stroke="{stroke}"{more}/>"#
        );
    }

    /// A filled shape with these corners; `opacity` 1 is opaque.
    pub fn polygon(&mut self, corners: &[(f64, f64)], fill: &str, opacity: f64) {
        let (points, opacity) = (joined(corners), short(opacity));
        let opacity = match &*opacity {
            "1" => String::new(),
            _ => format!(r#" fill-opacity="{opacity}""#),
        };
        let _ = writeln!(self.body, r#"<polygon points="{points}" fill="{fill}"{opacity}/>"#);
    }

    /// A disk.
    pub fn disk(&mut self, (x, y): (f64, f64), radius: f64, fill: &str) {
        let (x, y, radius) = (short(x), short(y), short(radius));
        let _ = writeln!(self.body, r#"<circle cx="{x}" cy="{y}" r="{radius}" fill="{fill}"/>"#);
    }

    /// A ring.
    pub fn ring(&mut self, (x, y): (f64, f64), radius: f64, stroke: &str) {
        let (x, y, radius) = (short(x), short(y), short(radius));
        let _ = writeln!(
            self.body,
            r#"<circle cx="{x}" cy="{y}" r="{radius}" fill="none" stroke="{stroke}" stroke-opacity="0.5"/>"#
        );
    }

    /// Begins a group that shows `title` while the pointer is on it.
    pub fn begin(&mut self, title: &str) {
        let _ = writeln!(self.body, "<g><title>{}</title>", xml(title));
    }

    /// Ends the group.
    pub fn end(&mut self) {
        self.body.push_str("</g>\n");
    }

    /// The whole picture.
    pub fn finish(self, width: f64, height: f64) -> String {
        let (width, height) = (short(width), short(height));
        format!(
            r##"<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" font-family="DejaVu Sans, Verdana, Arial, sans-serif">
<rect width="100%" height="100%" fill="#fff"/>
{}</svg>
"##,
            self.body
        )
    }
}

fn joined(points: &[(f64, f64)]) -> String {
    let points: Vec<String> =
        points.iter().map(|&(x, y)| format!("{},{}", short(x), short(y))).collect();
    points.join(" ")
}

/// To hundredths of a pixel.
fn short(length: f64) -> String {
    trimmed(length, 2)
}

/// The approximate width of a text. When an SVG is written the font is not known, so
/// these are the widths of DejaVu Sans, a wide font.
pub fn width(text: &str, size: u32) -> f64 {
    let em: f64 = text.chars().map(em).sum();
    em * f64::from(size)
}

fn em(c: char) -> f64 {
    match c {
        'i' | 'j' | 'l' | 'I' | '.' | ',' | ':' | ';' | '\'' | '|' | ' ' | '!' => 0.32,
        'f' | 't' | 'r' | '-' | '/' | '\\' | '(' | ')' | '[' | ']' => 0.41,
        'm' | 'w' | 'M' | 'W' | '@' | '%' => 0.98,
        '_' | 's' | 'c' | 'z' => 0.54,
        'A'..='Z' => 0.70,
        c if c.is_ascii() => 0.635,
        c => 0.65 * unicode_width::UnicodeWidthChar::width(c).unwrap_or(1).max(1) as f64 + 0.2,
    }
}

/// The text, its middle left out until it is no wider than `room`.
pub fn fit(text: &str, size: u32, room: f64) -> String {
    let mut columns = crate::escape::columns(text);
    let mut fitted = text.to_owned();
    while width(&fitted, size) > room && columns > 1 {
        columns = (columns - 1).min(1 + (room / (0.3 * f64::from(size))) as usize);
        fitted = crate::escape::shorten(text, columns);
    }
    fitted
}

/// The text in lines no wider than `room`, broken between words; a word wider
/// than that is shortened.
pub fn lines(text: &str, size: u32, room: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        let longer = lines.last().map(|line| format!("{line} {word}"));
        match longer.filter(|longer| width(longer, size) <= room) {
            Some(longer) => *lines.last_mut().expect("there was one to make longer") = longer,
            None => lines.push(fit(word, size, room)),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_no_markup() {
        let mut svg = Svg::default();
        svg.begin("<script>\x1b");
        svg.text((1.0, 2.005), 12, INK, Anchor::End, "\"a\" & <b>\u{202e}");
        svg.end();
        let text = svg.finish(10.0, 10.0);
        assert!(text.contains("&quot;a&quot; &amp; &lt;b&gt;\\u{202e}</text>"), "{text}");
        assert!(text.contains("<title>&lt;script&gt;\\u{1b}</title>"), "{text}");
    }

    const INK: &str = "#222";

    #[test]
    fn words_are_broken_into_lines_that_fit() {
        assert_eq!(lines("a few words", 12, 500.0), ["a few words"]);
        let long = "word ".repeat(40) + &"long".repeat(100);
        let found = lines(&long, 12, 200.0);
        assert!(found.len() > 5 && found.iter().all(|line| width(line, 12) <= 200.0), "{found:?}");
        assert_eq!(found.join(" ").matches("word").count(), 40);
    }

    #[test]
    fn a_text_is_fitted_and_one_that_fits_is_kept() {
        assert_eq!(fit("[heap]", 13, 100.0), "[heap]");
        let long = "/a/".repeat(3000);
        let short = fit(&long, 13, 100.0);
        assert!(width(&short, 13) <= 100.0 && width(&short, 13) > 70.0, "{short}");
    }
}
