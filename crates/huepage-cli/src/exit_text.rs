// SPDX-License-Identifier: MIT OR Apache-2.0
//! How a program ended, for people.

use std::{os::unix::process::ExitStatusExt, process::ExitStatus};

/// How a program ended, as the rest of a sentence that begins with its name.
pub fn exit_text(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("ended with exit code {code}"),
        (_, Some(signal)) => format!("was ended by signal {signal}"),
        _ => "ended".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exit_codes_and_signals_are_told_apart() {
        // As wait(2) has them.
        assert_eq!(exit_text(ExitStatus::from_raw(3 << 8)), "ended with exit code 3");
        assert_eq!(exit_text(ExitStatus::from_raw(9)), "was ended by signal 9");
    }
}
