// SPDX-License-Identifier: MIT OR Apache-2.0
//! Redraws the text of a map in a terminal.

use std::{
    io::{IsTerminal, stdout},
    process::ExitCode,
    time::Duration,
};

use huepage::map::{MapError, ProcessMap};

use huepage_present::{escape::columns, stdout};

use super::{read::Reader, text};
use crate::{signals::Signals, usage::UsageError};

/// Redraws until the process ends or a signal ends this program.
///
/// # Errors
/// If standard output is no terminal, or the process cannot be read.
pub fn watch(reader: &Reader, pid: u32, interval: Duration, all: bool) -> anyhow::Result<ExitCode> {
    if !stdout().is_terminal() {
        return Err(UsageError(
            "--watch needs a terminal as standard output: leave it out, or \
             repeat with: while sleep 2; do huepage map PID; done"
                .to_owned(),
        )
        .into());
    }
    let signals = Signals::hold();
    let mut first: Option<ProcessMap> = None;
    loop {
        let map = match reader.read(pid) {
            Ok(map) if !another(&first, &map) => map,
            Ok(_) | Err(MapError::NoProcess { .. } | MapError::Zombie { .. })
                if first.is_some() =>
            {
                stdout::print(format!("huepage: {pid} has ended\n"))?;
                return Ok(ExitCode::SUCCESS);
            }
            Ok(map) => map,
            Err(error) => return Err(error.into()),
        };
        let heading = format!("every {} s, Ctrl-C ends", interval.as_secs_f64());
        stdout::print(screen(&heading, &text::render(&map, all), first.is_none(), size()))?;
        first.get_or_insert(map);
        if signals.wait(interval) {
            stdout::print("\n")?;
            return Ok(ExitCode::SUCCESS);
        }
    }
}

/// Whether a PID has been given to another process.
fn another(first: &Option<ProcessMap>, map: &ProcessMap) -> bool {
    first.as_ref().is_some_and(|first| first.process.start_time != map.process.start_time)
}

/// Rows and columns of the terminal.
fn size() -> (usize, usize) {
    let size = rustix::termios::tcgetwinsize(stdout()).ok();
    let some = |number: u16, else_so: usize| if number > 0 { number.into() } else { else_so };
    size.map_or((24, 80), |size| (some(size.ws_row, 24), some(size.ws_col, 80)))
}

/// The part of a line that is shorter than the terminal is wide: in the last column
/// some terminals clear the letter before the cursor.
fn cut(line: &str, width: usize) -> &str {
    let ends = line.char_indices().map(|(at, letter)| at + letter.len_utf8());
    &line[..ends.take_while(|&end| columns(&line[..end]) < width).last().unwrap_or(0)]
}

/// The bytes that redraw the screen: from the top, with each line and the rest cleared,
/// so that nothing flickers. Lines that do not fit are counted, and longer ones cut.
fn screen(heading: &str, text: &str, clear: bool, (rows, width): (usize, usize)) -> String {
    let lines: Vec<&str> = std::iter::once(heading).chain(text.lines()).collect();
    // The last line stays free for the cursor.
    let room = rows.saturating_sub(1).max(1);
    let mut out = String::from(if clear { "\x1b[H\x1b[2J" } else { "\x1b[H" });
    let shown = if lines.len() <= room { lines.len() } else { room - 1 };
    for line in &lines[..shown] {
        out += &format!("{}\x1b[K\n", cut(line, width));
    }
    if shown < lines.len() {
        out += &format!("… {} more lines: enlarge the terminal\x1b[K\n", lines.len() - shown);
    }
    out + "\x1b[J"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_screen_takes_no_more_lines_than_there_are() {
        let text = "a\n".repeat(50);
        for rows in [0, 1, 2, 3, 24, 51, 52, 53] {
            let screen = screen("every 2 s", &text, false, (rows, 80));
            assert!(screen.lines().count() <= rows.max(2), "{rows}: {screen}");
        }
        assert!(screen("h", &text, false, (24, 80)).contains("… 29 more lines"));
        assert_eq!(
            screen("h", "a\n█ab\n", true, (24, 3)),
            "\x1b[H\x1b[2Jh\x1b[K\na\x1b[K\n█a\x1b[K\n\x1b[J"
        );
    }
}
