// SPDX-License-Identifier: MIT OR Apache-2.0
//! Sentences and lists in lines of at most 80 columns.

use textwrap::{core::Word, wrap_algorithms::wrap_first_fit};

/// The width that every line keeps.
pub const WIDTH: usize = 80;

/// `sentence` broken between words; the first line keeps its own indentation, lines
/// after it begin with `indent`. A word longer than a line stays whole, since it may be
/// a path to be copied.
pub fn wrap(sentence: &str, indent: &str) -> String {
    lines("", indent, sentence.split_inclusive(' ').map(Word::from).collect())
}

/// Appends `head` and `text`, which is broken between words and indented as wide as the
/// head. A list that is too long for a line is broken after its commas and slashes. A
/// no-break space is printed as a space.
pub fn put(out: &mut String, head: &str, text: &str) {
    let columns = head.trim_start_matches('\n').chars().count();
    let fits = |word: &str| columns + Word::from(word).word.chars().count() <= WIDTH;
    let pieces = text.split_inclusive(' ').flat_map(|word| match fits(word) {
        true => vec![word],
        false => word.split_inclusive([',', '/']).collect(),
    });
    let body = lines(head, &" ".repeat(columns), pieces.map(Word::from).collect());
    out.push_str(&body.replace('\u{a0}', " "));
}

fn lines(head: &str, indent: &str, words: Vec<Word<'_>>) -> String {
    let left = |taken: &str| (WIDTH.saturating_sub(taken.chars().count())) as f64;
    let widths = [left(head.trim_start_matches('\n')), left(indent)];
    let mut text = String::new();
    for (number, line) in wrap_first_fit(&words, &widths).into_iter().enumerate() {
        let mut out = if number == 0 { head.to_owned() } else { indent.to_owned() };
        line.iter().for_each(|word| out.extend([word.word, word.whitespace]));
        text.push_str(out.trim_end_matches(' '));
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use huepage::list;

    use super::*;

    fn put_lines(head: &str, text: &str) -> Vec<String> {
        let mut out = String::new();
        put(&mut out, head, text);
        out.lines().map(str::to_owned).collect()
    }

    #[test]
    fn text_breaks_at_spaces_and_keeps_its_indent() {
        let found = put_lines("  L2   ", &"word ".repeat(30));
        assert_eq!(found.len(), 3);
        assert_eq!(found[0].chars().count(), 80 - 4);
        assert!(found[1].starts_with("       word") && found[2].starts_with("       word"));
    }

    #[test]
    fn a_list_too_long_for_a_line_breaks_after_commas() {
        let odd: Vec<u32> = (0..200).map(|i| 2 * i).collect();
        let found = put_lines("  0    ", &format!("CPUs {}", list::format(&odd)));
        assert!(found.iter().all(|line| line.chars().count() <= 80));
        let joined: String = found.iter().map(|line| line.trim()).collect();
        assert_eq!(joined.trim_start_matches("0    CPUs "), list::format(&odd));
    }

    #[test]
    fn a_head_without_text_and_a_no_break_space_are_printed() {
        assert_eq!(put_lines("\nMachine  ", ""), ["", "Machine"]);
        assert_eq!(put_lines("", "2\u{a0}MiB"), ["2 MiB"]);
    }

    #[test]
    fn lines_break_between_words_and_stay_within_80_columns() {
        let sentence = "word ".repeat(40);
        let text = wrap(&sentence, "  ");
        assert_eq!(text.split_whitespace().count(), 40);
        assert!(text.lines().all(|line| line.len() <= WIDTH));
        assert!(text.lines().skip(1).all(|line| line.starts_with("  word")));
        assert_eq!(text.lines().count(), 3);
    }

    #[test]
    fn a_line_keeps_its_indentation_and_a_long_word_its_letters() {
        let path = "/directory".repeat(12);
        assert_eq!(wrap(&format!("  at {path}"), "    "), format!("  at\n    {path}\n"));
    }
}
