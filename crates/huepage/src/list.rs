// SPDX-License-Identifier: MIT OR Apache-2.0
//! Lists of colors, CPUs and nodes in the syntax of numactl and taskset.

use std::fmt::Write;

/// Why a text is no list of indexes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ParseListError {
    /// An item that is neither `N`, `A-B`, `A-B:STRIDE` nor `all`.
    #[error(
        "'{0}' is no list item: write N, A-B, A-B:STRIDE, all, or ! before an item to leave it out"
    )]
    Syntax(String),
    /// `7-3`.
    #[error("range '{0}' runs backwards: write the smaller number first")]
    Backwards(String),
    /// An index that does not exist.
    #[error("{index} does not exist: valid are 0-{last}")]
    OutOfRange {
        /// The index given.
        index: u64,
        /// The largest valid index.
        last: u32,
    },
    /// Nothing is left.
    #[error("the list '{0}' selects nothing")]
    Empty(String),
}

/// Reads a list such as `0-7,16`, `0-30:2`, `all`, `!3` over the indexes
/// `0..count` and returns it ascending without repeats.
///
/// Items apply from left to right; an item after `!` is taken out. A list that
/// begins with `!` starts from all indexes.
///
/// # Errors
/// [`ParseListError`] names the item that cannot be read, an index at or above
/// `count`, or a selection that is empty.
pub fn parse(text: &str, count: u32) -> Result<Vec<u32>, ParseListError> {
    let mut chosen = vec![text.trim_start().starts_with('!'); count as usize];
    for item in text.split(',') {
        let item = item.trim();
        let (keep, body) = match item.strip_prefix('!') {
            Some(rest) => (false, rest.trim()),
            None => (true, item),
        };
        for index in item_indexes(body, count)? {
            chosen[index as usize] = keep;
        }
    }
    let list: Vec<u32> = (0..count).filter(|&i| chosen[i as usize]).collect();
    if list.is_empty() { Err(ParseListError::Empty(text.to_owned())) } else { Ok(list) }
}

fn item_indexes(body: &str, count: u32) -> Result<impl Iterator<Item = u32>, ParseListError> {
    let syntax = || ParseListError::Syntax(body.to_owned());
    let number = |s: &str| -> Result<u64, ParseListError> {
        if s.is_empty() || !s.bytes().all(|b| b.is_ascii_digit()) {
            return Err(syntax());
        }
        Ok(s.parse().unwrap_or(u64::MAX))
    };
    let (range, stride) = match body.split_once(':') {
        Some((range, stride)) if range.contains('-') => (range, number(stride)?),
        Some(_) => return Err(syntax()),
        None => (body, 1),
    };
    let last = count.saturating_sub(1);
    let (from, to) = match range.split_once('-') {
        Some((a, b)) => (number(a)?, number(b)?),
        None if range == "all" => (0, u64::from(last)),
        None => (number(range)?, number(range)?),
    };
    if stride == 0 {
        return Err(syntax());
    }
    if from > to {
        return Err(ParseListError::Backwards(body.to_owned()));
    }
    if to > u64::from(last) {
        let index = if from > u64::from(last) { from } else { to };
        return Err(ParseListError::OutOfRange { index, last });
    }
    Ok((from as u32..=to as u32).step_by(stride.min(u64::from(u32::MAX)) as usize))
}

/// Prints ascending indexes in canonical form: `0-7,16`.
pub fn format(indexes: &[u32]) -> String {
    let mut text = String::new();
    let mut rest = indexes;
    while let [first, ..] = rest {
        let run = (1..rest.len()).find(|&i| rest[i] != first + i as u32).unwrap_or(rest.len());
        if !text.is_empty() {
            text.push(',');
        }
        let _ = match run {
            1 => write!(text, "{first}"),
            _ => write!(text, "{first}-{}", rest[run - 1]),
        };
        rest = &rest[run..];
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_read_as_numactl_and_taskset_write_them() {
        for (text, list) in [
            ("0", vec![0]),
            ("0-3,9", vec![0, 1, 2, 3, 9]),
            ("9,0-3,2", vec![0, 1, 2, 3, 9]),
            ("0-8:4", vec![0, 4, 8]),
            ("all,!3-9", vec![0, 1, 2]),
            ("!3-9", vec![0, 1, 2]),
            (" 1 , 2 ", vec![1, 2]),
        ] {
            assert_eq!(parse(text, 10), Ok(list), "{text}");
        }
    }

    #[test]
    fn what_is_no_list_is_named() {
        for text in ["", "x", "1-", "-3", "1:2", "0-8:0", "1,,2", "0-8:x", "!"] {
            assert!(matches!(parse(text, 10), Err(ParseListError::Syntax(_))), "{text}");
        }
        assert_eq!(parse("5-3", 10), Err(ParseListError::Backwards("5-3".into())));
        assert_eq!(parse("5-10", 10), Err(ParseListError::OutOfRange { index: 10, last: 9 }));
        assert_eq!(parse("3,!3", 10), Err(ParseListError::Empty("3,!3".into())));
        assert!(matches!(
            parse("99999999999999999999", 10),
            Err(ParseListError::OutOfRange { last: 9, .. })
        ));
    }

    proptest::proptest! {
        #[test]
        fn a_printed_list_reads_back(set in proptest::collection::btree_set(0u32..200, 1..60)) {
            let list: Vec<u32> = set.into_iter().collect();
            proptest::prop_assert_eq!(parse(&format(&list), 200), Ok(list));
        }
    }
}
