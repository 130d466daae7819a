// SPDX-License-Identifier: MIT OR Apache-2.0
//! Names that other programs chose, safe to print.

use std::fmt;

/// A name that another program chose (a path, a process name), with everything that a
/// terminal could act on escaped.
///
/// Control characters, invisible and direction-changing characters become `\u{1b}`,
/// bytes that are no UTF-8 become `\xff`. The whole length is kept, so code that prints
/// a name shortens it. Names read back from JSON are escaped again, since a record is
/// no more trusted than a process.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(from = "String", into = "String"))]
pub struct Name(String);

impl Name {
    /// The name spelled by `bytes`.
    pub fn new(bytes: &[u8]) -> Self {
        let mut text = String::with_capacity(bytes.len());
        for chunk in bytes.utf8_chunks() {
            for c in chunk.valid().chars() {
                // Quotes and backslashes are harmless; escape_debug would double them.
                if matches!(c, '"' | '\'' | '\\') {
                    text.push(c);
                } else {
                    text.extend(c.escape_debug());
                }
            }
            for byte in chunk.invalid() {
                text.push_str(&format!("\\x{byte:02x}"));
            }
        }
        Name(text)
    }

    /// The safe text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether there is none: an anonymous mapping.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl From<String> for Name {
    fn from(text: String) -> Self {
        Name::new(text.as_bytes())
    }
}

impl From<Name> for String {
    fn from(name: Name) -> Self {
        name.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_a_terminal_acts_on_is_left() {
        for (bytes, text) in [
            (&b"/usr/lib/libc.so.6"[..], "/usr/lib/libc.so.6"),
            (b"\x1b]0;owned\x07", "\\u{1b}]0;owned\\u{7}"),
            (b"a\nb\tc\\d\"e'f", "a\\nb\\tc\\d\"e'f"),
            (
                "caf\u{e9} \u{202e}txt.exe \u{200b}".as_bytes(),
                "caf\u{e9} \\u{202e}txt.exe \\u{200b}",
            ),
            (b"\xff\xfeok\xc3", "\\xff\\xfeok\\xc3"),
            ("\u{9b}31m".as_bytes(), "\\u{9b}31m"),
            (b"", ""),
        ] {
            assert_eq!(Name::new(bytes).as_str(), text);
        }
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_become_printable_text_that_stays_as_it_is(bytes: Vec<u8>) {
            let name = Name::new(&bytes);
            proptest::prop_assert!(!name.as_str().chars().any(char::is_control));
            proptest::prop_assert_eq!(&Name::from(name.as_str().to_owned()), &name);
        }
    }
}
