// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reads what the guest writes about processes that end: their mappings, and the frames
//! behind them (`lab/guest/exec_mappings.h`).

use anyhow::{Context, bail};

/// The mappings of a process at its end, by address.
pub type Process = Vec<Mapping>;

/// A mapping.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mapping {
    /// Its first address.
    pub start: u64,
    /// The first address behind it.
    pub end: u64,
    /// A path, a name in brackets, or nothing.
    pub name: String,
    /// Frames behind its pages.
    pub frames: Vec<u64>,
    /// Zero pages behind its pages: their frames, and how many pages of it they are.
    pub zeros: Vec<(u64, u64)>,
}

/// The path of the program's root in the guest.
const ROOT: &str = "/root";

/// Reads the guest's file: the mappings of each process.
///
/// # Errors
/// A line that the guest does not write.
pub fn read(text: &str) -> anyhow::Result<Vec<Process>> {
    let mut processes: Vec<Process> = Vec::new();
    for line in text.lines() {
        let wrong = || format!("the guest wrote of mappings: '{line}'");
        let (word, rest) = line.split_once(' ').with_context(wrong)?;
        match word {
            "process" => processes.push(Process::default()),
            "mapping" => {
                let process = processes.last_mut().with_context(wrong)?;
                process.push(mapping(rest).with_context(wrong)?);
            }
            "frames" | "zeros" => {
                let process = processes.last_mut().with_context(wrong)?;
                let mapping = process.last_mut().with_context(wrong)?;
                let (first, count) = rest.split_once(' ').with_context(wrong)?;
                let first: u64 = first.parse().with_context(wrong)?;
                let count: u64 = count.parse().with_context(wrong)?;
                match word {
                    "frames" => mapping.frames.extend(first..first + count),
                    _ => mapping.zeros.push((first, count)),
                }
            }
            _ => bail!(wrong()),
        }
    }
    Ok(processes)
}

/// `START END PERMISSIONS NAME`, of which the name may be missing or have spaces.
fn mapping(text: &str) -> anyhow::Result<Mapping> {
    let mut words = text.splitn(4, ' ');
    let mut word = || words.next().context("a word is missing");
    let start = u64::from_str_radix(word()?, 16)?;
    let end = u64::from_str_radix(word()?, 16)?;
    word()?;
    let name = words.next().unwrap_or_default();
    let name = name.strip_prefix(ROOT).filter(|rest| rest.starts_with('/')).unwrap_or(name);
    Ok(Mapping { start, end, name: name.to_owned(), ..Mapping::default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processes_have_their_mappings_and_these_their_frames() {
        let text = "process 30\n\
                    mapping 1000 4000 r-xp /root/usr/bin/a b\n\
                    frames 7 2\n\
                    frames 20 1\n\
                    process 31\n\
                    mapping 7f0000000000 7f0000002000 rw-p \n\
                    zeros 5 2\n\
                    mapping 7f0000003000 7f0000004000 rw-p [heap]\n";
        let [first, second] = &read(text).unwrap()[..] else { panic!("two processes") };
        let [code] = &first[..] else { panic!("one mapping") };
        assert_eq!((code.start, code.end, &*code.name), (0x1000, 0x4000, "/usr/bin/a b"));
        assert_eq!(code.frames, [7, 8, 20]);
        assert_eq!(second[0].zeros, [(5, 2)]);
        assert_eq!(second[0].name, "");
        assert_eq!(second[1].name, "[heap]");
    }

    #[test]
    fn a_line_of_another_kind_is_shown() {
        for text in
            ["nothing\n", "mapping 1 2 r x\n", "process 1\nframes 1 2\n", "process 1\nfoo 1\n"]
        {
            let error = read(text).unwrap_err();
            assert!(format!("{error:#}").contains(text.lines().last().unwrap()), "{error:#}");
        }
    }
}
