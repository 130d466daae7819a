// SPDX-License-Identifier: MIT OR Apache-2.0
//! Looking at the pages of a palette beside a noisy neighbor, who can spoil a look and
//! rarely all.

use std::{thread, time::Duration};

use crate::color::{
    ColorError,
    measure::{Check, Standard},
};

/// Times that pages are looked at before they are given up.
pub(super) const LOOKS: u32 = 5;
/// After the first look in vain, twice as long after each further one. All of them are a
/// small part of what a discovery takes.
const PAUSE: Duration = Duration::from_millis(4);

/// Looks at some of the pages of a standard until what is found is `enough`; what the last
/// look found.
///
/// # Errors
/// [`ColorError::Pin`].
pub(super) fn look(
    standard: &mut Standard,
    enough: impl Fn(&Check) -> bool,
) -> Result<Check, ColorError> {
    let mut found = standard.check()?;
    for look in 1..LOOKS {
        if enough(&found) {
            break;
        }
        thread::sleep(PAUSE * 2_u32.pow(look - 1));
        found = standard.check()?;
    }
    Ok(found)
}

/// [`look`] until the pages hold; whether they do.
///
/// # Errors
/// [`ColorError::Pin`].
pub(super) fn holds(standard: &mut Standard) -> Result<bool, ColorError> {
    Ok(look(standard, |found| *found == Check::Holds)? == Check::Holds)
}
