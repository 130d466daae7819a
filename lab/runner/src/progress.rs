// SPDX-License-Identifier: MIT OR Apache-2.0
//! Progress on stderr: a line that changes on a terminal, one line per stage
//! elsewhere.

use std::{
    io::{IsTerminal, stderr},
    time::Duration,
};

use indicatif::{ProgressBar, ProgressStyle};

/// The output for progress of long work.
#[derive(Debug)]
pub struct Progress(Shown);

#[derive(Debug)]
enum Shown {
    Bar(ProgressBar),
    Lines,
    Nowhere,
}

impl Progress {
    /// On stderr, as a changing line on a terminal, otherwise as lines.
    pub fn stderr() -> Self {
        Progress(if stderr().is_terminal() {
            let bar = ProgressBar::new_spinner();
            let style = ProgressStyle::with_template("{spinner} {wide_msg} {elapsed}");
            bar.set_style(style.expect("a template without mistakes"));
            bar.enable_steady_tick(Duration::from_millis(200));
            Shown::Bar(bar)
        } else {
            Shown::Lines
        })
    }

    /// Not shown.
    pub fn silent() -> Self {
        Progress(Shown::Nowhere)
    }

    /// A stage begins.
    pub fn stage(&self, text: &str) {
        match &self.0 {
            Shown::Bar(bar) => bar.set_message(text.to_owned()),
            Shown::Lines => eprintln!("{text}"),
            Shown::Nowhere => {}
        }
    }

    /// A step within a stage, of which there are hundreds.
    pub fn step(&self, text: impl FnOnce() -> String) {
        if let Shown::Bar(bar) = &self.0 {
            bar.set_message(text());
        }
    }

    /// A line that stays on the screen.
    pub fn note(&self, text: &str) {
        match &self.0 {
            Shown::Bar(bar) => bar.suspend(|| eprintln!("{text}")),
            Shown::Lines => eprintln!("{text}"),
            Shown::Nowhere => {}
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Shown::Bar(bar) = &self.0 {
            bar.finish_and_clear();
        }
    }
}
