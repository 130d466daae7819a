// SPDX-License-Identifier: MIT OR Apache-2.0
//! Checks the pages of a palette beside a busy neighbor, which can spoil some checks
//! but rarely all.

use std::{thread, time::Duration};

use crate::color::{ColorError, measure::Standard, measurement::Check};

/// Checks of the pages before they are given up.
pub(super) const LOOKS: u32 = 5;
/// The same for pages that have just been found: the pauses between the checks are
/// together as long as the discovery that would otherwise be wasted.
pub(super) const LOOKS_WHEN_MADE: u32 = 10;
/// Pause after the first failed check, twice as long after each further one. All pauses
/// of [`LOOKS`] are a small part of the time of a discovery.
const PAUSE: Duration = Duration::from_millis(4);

/// The pauses between so many looks.
pub(super) fn pauses(looks: u32) -> impl Iterator<Item = Duration> {
    (1..looks).map(|look| PAUSE * 2_u32.pow(look - 1))
}

/// Checks some of the pages of a standard until `enough` accepts the result, at most
/// `looks` times; returns the last result.
///
/// # Errors
/// [`ColorError::Pin`].
pub(super) fn look(
    standard: &mut Standard,
    looks: u32,
    enough: impl Fn(&Check) -> bool,
) -> Result<Check, ColorError> {
    look_by(|| standard.check(), looks, enough, thread::sleep)
}

fn look_by(
    mut check: impl FnMut() -> Result<Check, ColorError>,
    looks: u32,
    enough: impl Fn(&Check) -> bool,
    mut sleep: impl FnMut(Duration),
) -> Result<Check, ColorError> {
    let mut found = check()?;
    for pause in pauses(looks) {
        if enough(&found) {
            break;
        }
        sleep(pause);
        found = check()?;
    }
    Ok(found)
}

/// [`look`] until the pages hold; whether they do.
///
/// # Errors
/// [`ColorError::Pin`].
pub(super) fn holds(standard: &mut Standard, looks: u32) -> Result<bool, ColorError> {
    Ok(look(standard, looks, |found| *found == Check::Holds)? == Check::Holds)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The last result if so many checks are spoiled, and how long the pauses were.
    fn found_after(spoiled: u32, looks: u32) -> (Check, Duration) {
        let (mut left, mut waited) = (spoiled, Duration::ZERO);
        let check = || {
            let found = if left > 0 { Check::Stale } else { Check::Holds };
            left = left.saturating_sub(1);
            Ok(found)
        };
        let enough = |found: &Check| *found == Check::Holds;
        (look_by(check, looks, enough, |pause| waited += pause).unwrap(), waited)
    }

    #[test]
    fn a_palette_is_looked_at_for_longer_when_it_is_made_than_when_it_is_opened() {
        assert_eq!(found_after(0, LOOKS), (Check::Holds, Duration::ZERO));
        assert_eq!(found_after(4, LOOKS), (Check::Holds, Duration::from_millis(60)));
        assert_eq!(found_after(5, LOOKS), (Check::Stale, Duration::from_millis(60)));
        let most = LOOKS_WHEN_MADE - 1;
        assert_eq!(
            found_after(most, LOOKS_WHEN_MADE),
            (Check::Holds, PAUSE * (2_u32.pow(most) - 1))
        );
    }
}
