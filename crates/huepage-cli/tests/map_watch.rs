// SPDX-License-Identifier: MIT OR Apache-2.0
//! `huepage map --watch` in a terminal.

mod support;

use std::{
    fs::File,
    io::Read,
    os::fd::OwnedFd,
    process::{Child, ExitStatus, Stdio},
    sync::{Arc, Mutex},
    thread::{self, JoinHandle},
    time::Duration,
};

use rustix::{
    process::{Pid, Signal, kill_process},
    pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt},
    termios::{Winsize, tcsetwinsize},
};
use support::{Idle, huepage};

/// Lines of the terminal.
const ROWS: u16 = 20;

/// The binary in a terminal of its own, and what it wrote there.
struct Terminal {
    child: Child,
    written: Arc<Mutex<String>>,
    reader: JoinHandle<()>,
    // Keeps the other end open, so that the reader does not see it close early.
    slave: OwnedFd,
}

impl Terminal {
    fn run(arguments: &[&str]) -> Self {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let size = Winsize { ws_row: ROWS, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&master, size).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap().into_string().unwrap();
        let slave: OwnedFd = File::options().read(true).write(true).open(name).unwrap().into();
        let child = huepage(arguments)
            .stdin(Stdio::null())
            .stdout(slave.try_clone().unwrap())
            .stderr(slave.try_clone().unwrap())
            .spawn()
            .unwrap();
        let written = Arc::new(Mutex::new(String::new()));
        let into = Arc::clone(&written);
        let reader = thread::spawn(move || {
            let (mut master, mut bytes) = (File::from(master), [0; 4096]);
            // Ends with EIO when the other end has closed.
            while let Ok(count) = master.read(&mut bytes) {
                into.lock().unwrap().push_str(&String::from_utf8_lossy(&bytes[..count]));
            }
        });
        Terminal { child, written, reader, slave }
    }

    /// Waits until it has redrawn so many times.
    fn wait_for_screens(&mut self, count: usize) {
        while self.written.lock().unwrap().matches("\x1b[H").count() < count {
            assert_eq!(self.child.try_wait().unwrap(), None, "{}", self.written.lock().unwrap());
            thread::sleep(Duration::from_millis(10));
        }
    }

    fn end(mut self) -> (ExitStatus, String) {
        let status = self.child.wait().unwrap();
        drop(self.slave);
        self.reader.join().unwrap();
        let written = self.written.lock().unwrap().clone();
        (status, written)
    }
}

#[test]
fn it_redraws_within_the_terminal_and_ends_cleanly_by_a_signal() {
    let idle = Idle::named("hp-watch-1");
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let mut terminal = Terminal::run(&["map", "--watch", "0.1", &idle.pid()]);
        terminal.wait_for_screens(3);
        kill_process(Pid::from_child(&terminal.child), signal).unwrap();
        let (status, written) = terminal.end();
        assert_eq!(status.code(), Some(0), "{signal:?}: {written}");
        let screens: Vec<&str> = written.split("\x1b[H").skip(1).collect();
        for screen in &screens {
            assert!(screen.matches('\n').count() <= ROWS as usize, "{screen}");
            assert!(screen.contains("every 0.1 s, Ctrl-C ends"), "{screen}");
            assert!(screen.contains("hp-watch-1, PID "), "{screen}");
        }
        // Only the first clears: the others overwrite, and do not flicker.
        assert_eq!(written.matches("\x1b[2J").count(), 1);
    }
}

#[test]
fn it_ends_when_the_process_does() {
    let mut idle = Idle::named("hp-watch-2");
    let mut terminal = Terminal::run(&["map", "--watch", "0.1", &idle.pid()]);
    terminal.wait_for_screens(2);
    idle.0.kill().unwrap();
    idle.0.wait().unwrap();
    let (status, written) = terminal.end();
    assert_eq!(status.code(), Some(0), "{written}");
    assert!(written.ends_with(&format!("huepage: {} has ended\r\n", idle.pid())), "{written:?}");
}

#[test]
fn a_process_that_is_not_there_is_told_at_once() {
    let (status, written) = Terminal::run(&["map", "--watch", "1", "4294967295"]).end();
    assert_eq!(status.code(), Some(2));
    assert!(written.contains("no process 4294967295 here"), "{written}");
}
