// SPDX-License-Identifier: MIT OR Apache-2.0
//! Breaks sentences at 80 columns.

const COLUMNS: usize = 80;

/// Breaks `sentence` between words; the first line keeps its own indentation,
/// lines after it begin with `indent`.
pub fn wrap(sentence: &str, indent: &str) -> String {
    let own = &sentence[..sentence.len() - sentence.trim_start().len()];
    let mut lines = vec![own.to_owned()];
    for word in sentence.split_whitespace() {
        let last = lines.last_mut().expect("never empty");
        let used = last.chars().count();
        if last.trim_start().is_empty() {
            last.push_str(word);
        } else if used + 1 + word.chars().count() <= COLUMNS {
            last.push(' ');
            last.push_str(word);
        } else {
            lines.push(format!("{indent}{word}"));
        }
    }
    lines.iter().map(|line| format!("{line}\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_between_words_and_stay_within_80_columns() {
        let sentence = "word ".repeat(40);
        let text = wrap(&sentence, "  ");
        assert_eq!(text.split_whitespace().count(), 40);
        assert!(text.lines().all(|line| line.len() <= COLUMNS));
        assert!(text.lines().skip(1).all(|line| line.starts_with("  word")));
        assert_eq!(text.lines().count(), 3);
    }

    #[test]
    fn a_line_keeps_its_indentation_and_a_long_word_its_letters() {
        let path = "/directory".repeat(12);
        assert_eq!(wrap(&format!("  at {path}"), "    "), format!("  at\n    {path}\n"));
    }
}
