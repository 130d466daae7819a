// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reads numbers in the form of `lab/guest/letters.h`.

use anyhow::{Context, ensure};

const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// The numbers, each of `each` letters.
///
/// # Errors
/// Other characters, or a number that is cut off.
pub fn read(text: &str, each: usize) -> anyhow::Result<Vec<u64>> {
    ensure!(text.len().is_multiple_of(each), "a number of fewer than {each} letters");
    let digit = |letter: &u8| {
        let place = LETTERS.iter().position(|have| have == letter);
        place.with_context(|| format!("'{}' is no digit", char::from(*letter)))
    };
    let number = |letters: &[u8]| {
        letters.iter().try_fold(0, |number, letter| Ok(number << 6 | digit(letter)? as u64))
    };
    text.as_bytes().chunks(each).map(number).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_and_what_is_none_is_refused() {
        assert_eq!(read("AAABAA/+", 4).unwrap(), [1, 4094]);
        assert!(read("", 3).unwrap().is_empty());
        assert!(read("AAAB", 3).unwrap_err().to_string().contains("fewer than 3"));
        assert!(read("A-", 2).unwrap_err().to_string().contains("'-'"));
    }
}
