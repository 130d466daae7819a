// SPDX-License-Identifier: MIT OR Apache-2.0
//! Interprets the lines of a guest's console.

use std::collections::VecDeque;

use serde_json::Value;

use super::BootError;

/// How many lines are shown of a boot that failed: the last ones, and as many before
/// the first report of a fault by the kernel and after it, since the kernel prints
/// details of a page or a lock first.
const SHOWN: usize = 30;

/// The beginnings of reports of a fault in the kernel, besides a panic. Each is
/// followed by lines with details.
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
    // From there on the guest does not measure what was asked for.
    KILLED,
];

const KILLED: &str = "Out of memory: Killed process";

/// Reads a console line by line.
#[derive(Default)]
pub(super) struct Console {
    last: VecDeque<String>,
    /// Around the first report.
    around: Vec<String>,
    /// Number of lines after those.
    later: usize,
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
        if self.fault.is_some() {
            if self.around.len() < 2 * SHOWN {
                self.around.push(printable(line));
            } else {
                self.later += 1;
            }
        }
        // A kernel message may be printed before a result on the same line.
        if let Some((_, json)) = line.split_once("LAB {") {
            match serde_json::from_str(&format!("{{{json}")) {
                Ok(value) => self.results.push(value),
                Err(_) => self.malformed = self.malformed.take().or(Some(printable(line))),
            }
        } else if let Some((_, reason)) = line.split_once("LAB-FAIL ") {
            self.failed = Some(printable(reason));
        } else if line.ends_with("LAB-DONE") {
            self.done = true;
        } else if let Some(note) = note(line) {
            self.notes.push(note);
        } else if let Some((_, reason)) = line.split_once("Kernel panic - not syncing: ") {
            self.panic = self.panic.take().or(Some(printable(reason)));
        } else if self.fault.is_none()
            && FAULTS.iter().any(|fault| message(line).starts_with(fault))
        {
            self.fault = Some(printable(message(line)));
            self.around.extend(self.last.iter().cloned());
        }
    }

    /// Whether no further line can matter.
    pub fn over(&self) -> bool {
        self.done || self.failed.is_some()
    }

    /// The lines around the first report, if there is one, and the last ones.
    pub fn shown(&self) -> String {
        let lines = |lines: &mut dyn Iterator<Item = &String>| {
            lines.map(|line| format!("  | {line}")).collect::<Vec<_>>().join("\n")
        };
        let last = if self.fault.is_some() { self.later.min(SHOWN) } else { self.last.len() };
        let mut shown = String::new();
        if self.fault.is_some() {
            shown = format!("the console around it:\n{}\n", lines(&mut self.around.iter()));
        }
        if last > 0 {
            let skipped = self.last.len() - last;
            let last = lines(&mut self.last.iter().skip(skipped));
            shown.push_str(&format!("last lines of the console:\n{last}"));
        }
        shown.trim_end().to_owned()
    }

    /// The error that the lines report, if any.
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

/// The fault in the kernel that a line reports, if any. A process killed for lack of
/// memory is no fault of the kernel.
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

/// The message of the guest for people, if the line is one.
pub fn note(line: &str) -> Option<String> {
    line.trim_end().strip_prefix("lab: ").map(printable)
}

/// A line with its control characters replaced, since a terminal would execute them.
pub fn printable(line: &str) -> String {
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
    fn what_comes_before_a_report_is_shown_however_much_follows() {
        let lines = |name: &str, count| (0..count).map(|i| format!("{name} {i}\n")).collect();
        let before: String = lines("before", 100);
        let after: String = lines("after", 200);
        let shown = read(&format!("{before}[ 1.0] Oops: x\n{after}")).shown();
        let shown: Vec<&str> = shown.lines().map(|line| line.trim_start_matches("  | ")).collect();
        assert_eq!(shown[1], "before 71");
        assert_eq!(shown[30], "[ 1.0] Oops: x");
        assert_eq!(shown[60], "after 29");
        assert_eq!(shown[61], "last lines of the console:");
        assert_eq!((shown[62], *shown.last().unwrap()), ("after 170", "after 199"));
        let shown = read(&format!("{before}[ 1.0] Oops: x\nand so on")).shown();
        assert!(shown.ends_with("and so on") && !shown.contains("last lines"), "{shown}");
    }

    #[test]
    fn control_characters_are_shown_as_what_they_are_not() {
        assert!(!read("\x1b[2J gone").shown().contains('\x1b'));
    }
}
