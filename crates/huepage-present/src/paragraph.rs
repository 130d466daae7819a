// SPDX-License-Identifier: MIT OR Apache-2.0
//! Lines of at most 80 columns, lists and counts.

use std::fmt::Write;

use huepage::list;

/// The width that every line keeps.
pub const WIDTH: usize = 80;

/// `1 color`, `2 colors`.
pub fn counted(count: u64, thing: &str) -> String {
    format!("{count} {thing}{}", if count == 1 { "" } else { "s" })
}

/// A list in the syntax of numactl; `0-124:4` where it is one stride.
pub fn indexes(list: &[u32]) -> String {
    if let [first, second, .., last] = list {
        let stride = second - first;
        if stride > 1 && list.len() > 3 && list.windows(2).all(|pair| pair[1] - pair[0] == stride) {
            return format!("{first}-{last}:{stride}");
        }
    }
    list::format(list)
}

/// Appends `head` and `text`, broken before [`WIDTH`] and indented as `head`.
/// Breaks are at spaces, and after commas where a list alone is too long; a
/// no-break space is printed as a space.
pub fn put(out: &mut String, head: &str, text: &str) {
    let indent = head.trim_start_matches('\n').chars().count();
    out.push_str(head);
    let mut column = indent;
    for (i, word) in text.split(' ').enumerate() {
        let mut gap = usize::from(i > 0);
        let fits = |column: usize, gap: usize, piece: &str| {
            column + gap + piece.trim_end().chars().count() <= WIDTH
        };
        let pieces: Vec<&str> = match fits(indent, 0, word) {
            true => vec![word],
            false => word.split_inclusive([',', '/']).collect(),
        };
        for piece in pieces {
            if !fits(column, gap, piece) && column > indent {
                let kept = out.trim_end_matches(' ').len();
                out.truncate(kept);
                let _ = write!(out, "\n{:indent$}", "");
                (column, gap) = (indent, 0);
            }
            let _ = write!(out, "{:gap$}{}", "", piece.replace('\u{a0}', " "));
            column += gap + piece.chars().count();
            gap = 0;
        }
    }
    let kept = out.trim_end_matches(' ').len();
    out.truncate(kept);
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(head: &str, text: &str) -> Vec<String> {
        let mut out = String::new();
        put(&mut out, head, text);
        out.lines().map(str::to_owned).collect()
    }

    #[test]
    fn text_breaks_at_spaces_and_keeps_its_indent() {
        let found = lines("  L2   ", &"word ".repeat(30));
        assert_eq!(found.len(), 3);
        assert_eq!(found[0].chars().count(), 80 - 4);
        assert!(found[1].starts_with("       word") && found[2].starts_with("       word"));
    }

    #[test]
    fn a_list_too_long_for_a_line_breaks_after_commas() {
        let odd: Vec<u32> = (0..200).map(|i| 2 * i).collect();
        let found = lines("  0    ", &format!("CPUs {}", list::format(&odd)));
        assert!(found.iter().all(|line| line.chars().count() <= 80));
        let joined: String = found.iter().map(|line| line.trim()).collect();
        assert_eq!(joined.trim_start_matches("0    CPUs "), list::format(&odd));
    }

    #[test]
    fn one_stride_is_told_as_such() {
        for (list, text) in [
            (vec![0, 4, 8, 12], "0-12:4"),
            (vec![0, 4, 8], "0,4,8"),
            (vec![0, 1, 2, 3], "0-3"),
            (vec![0, 2, 4, 7], "0,2,4,7"),
            (vec![5], "5"),
            (vec![], ""),
        ] {
            assert_eq!(indexes(&list), text);
        }
    }

    #[test]
    fn one_thing_is_singular() {
        assert_eq!(
            (counted(1, "color"), counted(2, "color")),
            ("1 color".into(), "2 colors".into())
        );
    }
}
