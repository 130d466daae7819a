// SPDX-License-Identifier: MIT OR Apache-2.0
//! Names chosen by other programs, such as those of mappings, made safe to show.
//!
//! A program chooses its own name and those of the files that it maps. Escape codes in
//! them would control the reader's terminal, and bidirectional controls would change
//! the order in which a line is read.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The columns that a text takes.
pub fn columns(text: &str) -> usize {
    text.width()
}

/// Whether a character can be shown unchanged: no control, no invisible or
/// bidirectional format character, no space but the plain one, and no mark that
/// combines with the character before it.
fn is_plain(c: char) -> bool {
    // The standard library escapes all of these, and quotes and backslashes too.
    matches!(c, '\'' | '"' | '\\') || c.escape_debug().len() == 1
}

/// The text with every other character escaped as
/// [`huepage::map::Name`] does it: `\u{1b}`, `\u{202e}`.
pub fn printable(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if is_plain(c) {
            out.push(c);
        } else {
            out.extend(c.escape_debug());
        }
    }
    out
}

/// Text of several lines, each [`printable`].
pub fn lines(text: &str) -> String {
    text.split('\n').map(printable).collect::<Vec<_>>().join("\n")
}

/// At most `width` columns of a printable text; the middle is left out, since names
/// differ at their ends.
pub fn shorten(text: &str, width: usize) -> String {
    if columns(text) <= width {
        return text.to_owned();
    }
    let room = width.saturating_sub(1);
    let head = room.div_ceil(3);
    let mut out: String = take(text.chars(), head).into_iter().collect();
    let tail = take(text.chars().rev(), room - columns(&out));
    out.push('…');
    out.extend(tail.into_iter().rev());
    out
}

/// As many characters as fit.
fn take(text: impl Iterator<Item = char>, width: usize) -> Vec<char> {
    let mut used = 0;
    text.take_while(|c| {
        used += c.width().unwrap_or(0);
        used <= width
    })
    .collect()
}

/// JSON text, safe to show: characters that cannot be shown unchanged become `\u202e`,
/// which readers of JSON read as the same character.
pub fn json(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c == '\n' || is_plain(c) {
            out.push(c);
        } else {
            let mut units = [0; 2];
            c.encode_utf16(&mut units)
                .iter()
                .for_each(|unit| out.push_str(&format!("\\u{unit:04x}")));
        }
    }
    out
}

/// Text as the content of an XML element or attribute, safe to show.
pub fn xml(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in printable(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bell, escape, C1 control sequence introducer, right-to-left override,
    /// zero-width space, tag, no-break space.
    const HOSTILE: &str = "a\x07\x1b[31m\u{9b}2J\u{202e}\u{200b}\u{e0041}\u{a0}\n<b>&'\"";

    #[test]
    fn what_drives_a_terminal_is_spelled_out() {
        assert_eq!(
            printable(HOSTILE),
            r#"a\u{7}\u{1b}[31m\u{9b}2J\u{202e}\u{200b}\u{e0041}\u{a0}\n<b>&'""#
        );
        assert_eq!(printable("/usr/lib/naïve 文件\\1"), "/usr/lib/naïve 文件\\1");
        assert_eq!(lines("a\nb\r"), "a\nb\\r");
        assert_eq!(printable("e\u{301}"), "e\\u{301}");
    }

    #[test]
    fn json_stays_the_same_to_its_readers() {
        let shown = json(&serde_json::to_string(HOSTILE).unwrap());
        assert!(shown.chars().all(|c| c.is_ascii_graphic() || c == ' '), "{shown}");
        assert_eq!(serde_json::from_str::<String>(&shown).unwrap(), HOSTILE);
    }

    #[test]
    fn xml_has_no_markup_of_a_name() {
        assert!(xml(HOSTILE).ends_with("\\n&lt;b&gt;&amp;&#39;&quot;"), "{}", xml(HOSTILE));
    }

    #[test]
    fn a_long_name_keeps_both_ends_and_the_width() {
        assert_eq!(shorten("/usr/lib/libc.so.6", 18), "/usr/lib/libc.so.6");
        assert_eq!(shorten("/usr/lib/x86_64-linux-gnu/libc.so.6", 20), "/usr/li…nu/libc.so.6");
        for width in 1..40 {
            let short = shorten(&"文件".repeat(30), width);
            assert!(columns(&short) <= width, "{width}: {short}");
        }
    }

    proptest::proptest! {
        #[test]
        fn nothing_printed_needs_escaping_again(text in "\\PC*|\\pC*|.*") {
            let shown = printable(&text);
            proptest::prop_assert!(shown.chars().all(is_plain), "{shown:?}");
            proptest::prop_assert_eq!(printable(&shown), shown);
        }
    }
}
