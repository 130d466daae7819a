// SPDX-License-Identifier: MIT OR Apache-2.0
//! Finds the process of a PID or a name.

use std::{fs, path::Path};

use huepage::proc::{self, Name};

use huepage_present::escape::{printable, shorten};

use crate::usage::UsageError;

/// The most processes that an error lists.
const LISTED: usize = 8;

/// A process with the name asked for.
struct Candidate {
    pid: u32,
    command: String,
}

/// The process `target`: a PID, or the name of exactly one process other than this one.
///
/// # Errors
/// [`UsageError`] if there is none, or more than one.
pub fn find(target: &str) -> Result<u32, UsageError> {
    numbered(target).unwrap_or_else(|| choose(target, named(target)))
}

/// The process with that number, if `target` is a number.
///
/// # Errors
/// [`UsageError`] if there is none.
pub fn numbered(target: &str) -> Option<Result<u32, UsageError>> {
    let number = !target.is_empty() && target.bytes().all(|byte| byte.is_ascii_digit());
    let pid = || {
        let pid = target.parse().ok().filter(|&pid| pid > 0);
        pid.filter(|pid| Path::new(&format!("/proc/{pid}")).exists()).ok_or_else(|| {
            UsageError(format!("no process {target} here: list the processes with ps -e"))
        })
    };
    number.then(pid)
}

fn choose(name: &str, found: Vec<Candidate>) -> Result<u32, UsageError> {
    let shown = printable(name);
    match &found[..] {
        [] => Err(UsageError(format!(
            "no process is named '{shown}': give its PID, or its name as in ps -e; to start a \
             command, write -- before it"
        ))),
        [one] => Ok(one.pid),
        many => {
            let mut text =
                format!("{} processes are named '{shown}': give one of their PIDs", many.len());
            for one in many.iter().take(LISTED) {
                let command = shorten(&one.command, 60);
                text.push_str(&format!("\n  {:>7}  {command}", one.pid));
            }
            if many.len() > LISTED {
                text.push_str(&format!("\n  and {} more", many.len() - LISTED));
            }
            Err(UsageError(text))
        }
    }
}

/// All processes of that name but this one, by PID. A process that ends meanwhile is
/// left out.
fn named(name: &str) -> Vec<Candidate> {
    let own = std::process::id();
    let others = proc::find(name).unwrap_or_default().into_iter().filter(|&pid| pid != own);
    others.filter_map(|pid| Some(Candidate { pid, command: command(pid)? })).collect()
}

/// The command that was started; for a thread of the kernel its name, as `ps` prints
/// it.
fn command(pid: u32) -> Option<String> {
    let words = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let words: Vec<u8> = words.iter().map(|&byte| if byte == 0 { b' ' } else { byte }).collect();
    match words.trim_ascii_end() {
        [] => Some(format!(
            "[{}]",
            Name::new(fs::read(format!("/proc/{pid}/comm")).ok()?.trim_ascii_end())
        )),
        words => Some(Name::new(words).to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_of_a_name_are_listed_and_none_is_taken() {
        let many = |count: u32| {
            (1..=count).map(|pid| Candidate { pid, command: "sleep 9".into() }).collect()
        };
        assert_eq!(choose("sleep", many(1)).unwrap(), 1);
        let error = choose("sleep", many(2)).unwrap_err().0;
        assert_eq!(
            error,
            "2 processes are named 'sleep': give one of their PIDs\n        1  sleep 9\n        2  \
             sleep 9"
        );
        assert!(choose("sleep", many(20)).unwrap_err().0.ends_with("\n  and 12 more"));
        assert!(choose("\x1b", vec![]).unwrap_err().0.contains(r"'\u{1b}'"));
    }
}
