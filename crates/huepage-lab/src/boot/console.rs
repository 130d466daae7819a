// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the lines of a guest's console mean.

use std::collections::VecDeque;

use serde_json::Value;

use super::BootError;

/// How many lines are shown of a boot that failed.
const SHOWN: usize = 30;

/// How the kernel announces that it is broken, besides a panic. All of these
/// are followed by more lines that tell where.
const FAULTS: [&str; 16] = [
    "Oops:",
    "BUG:",
    "kernel BUG at",
    "WARNING: CPU:",
    "WARNING: possible",
    "WARNING: inconsistent",
    "WARNING: suspicious",
    "WARNING: bad unlock",
    "WARNING: lock held",
    "UBSAN:",
    "watchdog: BUG:",
    "rcu: INFO:",
    "Internal error:",
    "Unable to handle kernel",
    "INFO: task ",
    // Whatever the guest measures from there on, it is not what was asked for.
    KILLED,
];

const KILLED: &str = "Out of memory: Killed process";

/// Reads a console line by line.
#[derive(Default)]
pub(super) struct Console {
    last: VecDeque<String>,
    pub results: Vec<Value>,
    pub notes: Vec<String>,
    pub done: bool,
    fault: Option<String>,
    panic: Option<String>,
    failed: Option<String>,
    malformed: Option<String>,
}

impl Console {
    pub fn line(&mut self, line: &str) {
        let line = line.trim_end_matches(['\r', '\n']);
        if self.last.len() == SHOWN {
            self.last.pop_front();
        }
        self.last.push_back(printable(line));
        // A kernel message may run into a line of the program.
        if let Some((_, json)) = line.split_once("LAB {") {
            match serde_json::from_str(&format!("{{{json}")) {
                Ok(value) => self.results.push(value),
                Err(_) => self.malformed = self.malformed.take().or(Some(printable(line))),
            }
        } else if let Some((_, reason)) = line.split_once("LAB-FAIL ") {
            self.failed = Some(printable(reason));
        } else if line.ends_with("LAB-DONE") {
            self.done = true;
        } else if let Some(note) = line.strip_prefix("lab: ") {
            self.notes.push(printable(note));
        } else if let Some((_, reason)) = line.split_once("Kernel panic - not syncing: ") {
            self.panic = self.panic.take().or(Some(printable(reason)));
        } else if FAULTS.iter().any(|fault| message(line).starts_with(fault)) {
            self.fault = self.fault.take().or(Some(printable(message(line))));
        }
    }

    /// Whether nothing that matters can follow.
    pub fn over(&self) -> bool {
        self.done || self.failed.is_some()
    }

    /// The last lines, to be shown.
    pub fn shown(&self) -> String {
        let lines = self.last.iter().map(|line| format!("  | {line}"));
        format!("last lines of the console:\n{}", lines.collect::<Vec<_>>().join("\n"))
    }

    /// The error that the lines amount to, if they do.
    pub fn error(&self) -> Option<BootError> {
        let console = self.shown();
        if let Some(reason) = self.fault.clone() {
            return Some(BootError::Oops { reason, console });
        }
        if let Some(reason) = self.panic.clone() {
            return Some(BootError::Panic { reason, console });
        }
        if let Some(reason) = self.failed.clone() {
            return Some(BootError::Guest { reason, console });
        }
        if let Some(line) = self.malformed.clone() {
            return Some(BootError::Malformed { line });
        }
        (!self.done).then_some(BootError::Stopped { console })
    }
}

/// What a line of the console reports as broken in the kernel, if it does. That the
/// kernel kills who takes all memory is its duty.
pub fn report(line: &str) -> Option<&str> {
    let message = message(line.trim_end());
    let panic = message.starts_with("Kernel panic - not syncing: ");
    let fault = FAULTS.iter().any(|fault| message.starts_with(fault));
    (panic || fault && !message.starts_with(KILLED)).then_some(message)
}

/// A line without the time stamp of the kernel's log.
pub fn message(line: &str) -> &str {
    match line.strip_prefix('[').and_then(|rest| rest.split_once("] ")) {
        Some((time, rest)) if time.trim().parse::<f64>().is_ok() => rest,
        _ => line,
    }
}

/// A guest's bytes must not steer the terminal.
fn printable(line: &str) -> String {
    line.chars().map(|c| if c.is_control() && c != '\t' { '\u{fffd}' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Console {
        let mut console = Console::default();
        text.lines().for_each(|line| console.line(line));
        console
    }

    #[test]
    fn results_and_notes_are_kept_in_order() {
        let console = read("[    0.1] LAB {\"a\":1}\r\nlab: half way\nLAB {\"b\":[2]}\nLAB-DONE\r");
        assert_eq!(console.results, [serde_json::json!({"a": 1}), serde_json::json!({"b": [2]})]);
        assert_eq!(console.notes, ["half way"]);
        assert!(console.error().is_none());
    }

    #[test]
    fn every_kind_of_failure_has_its_name() {
        let oops =
            "[    1.5] BUG: KASAN: use-after-free in f\n[    1.6] Kernel panic - not syncing: x";
        type Is = fn(&BootError) -> bool;
        let cases: [(&str, Is); 6] = [
            (
                "Kernel panic - not syncing: no init",
                |e| matches!(e, BootError::Panic { reason, .. } if reason == "no init"),
            ),
            (
                oops,
                |e| matches!(e, BootError::Oops { reason, .. } if reason.starts_with("BUG: KASAN")),
            ),
            ("[ 2.0] WARNING: CPU: 0 PID: 1 at mm/x.c\nLAB-DONE", |e| {
                matches!(e, BootError::Oops { .. })
            }),
            ("LAB-FAIL open /x: No such file", |e| matches!(e, BootError::Guest { .. })),
            ("LAB {nonsense\nLAB-DONE", |e| matches!(e, BootError::Malformed { .. })),
            ("Linux version 6", |e| matches!(e, BootError::Stopped { .. })),
        ];
        for (text, is) in cases {
            let error = read(text).error().unwrap();
            assert!(is(&error), "{text}: {error:?}");
        }
    }

    #[test]
    fn words_of_faults_inside_other_lines_are_no_faults() {
        let console = read("[    0.2] Command line: note=BUG:\nlab: Oops: not really\nLAB-DONE");
        assert!(console.error().is_none());
    }

    #[test]
    fn reports_are_told_from_other_messages() {
        let warning = "WARNING: CPU: 0 PID: 1 at mm/x.c";
        assert_eq!(report(&format!("[    1.5] {warning}\r\n")), Some(warning));
        assert!(report("[    1.5] Kernel panic - not syncing: x").is_some());
        assert_eq!(report("[    1.5] Out of memory: Killed process 7"), None);
        assert_eq!(report("t| BUG: none"), None);
    }

    #[test]
    fn control_characters_are_shown_as_what_they_are_not() {
        assert!(!read("\x1b[2J gone").shown().contains('\x1b'));
    }
}
