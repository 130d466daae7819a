// SPDX-License-Identifier: MIT OR Apache-2.0
//! The contents of the report; writes it to its file and prints it at the end of the
//! program.

use std::{
    cell::UnsafeCell,
    collections::BTreeMap,
    ffi::OsString,
    fs,
    io::{ErrorKind, Write},
    path::{Path, PathBuf},
    sync::atomic::{AtomicUsize, Ordering},
    time::{Duration, Instant},
};

use huepage::{
    color::{Color, ColorCount, ColorOracle},
    list,
    map::Balance,
    place::OldFrame,
    run::{Config, RunReport, State, Unplaced, Way},
};

use crate::{pages::worth_it, thread::cpu_time};

/// The report and what is needed to make it.
pub struct Tally {
    /// The report so far.
    pub report: RunReport,
    begin: Instant,
    file: Option<PathBuf>,
    verbose: bool,
    /// Whether this is the first process: only for it a message says that nothing was
    /// placed or reported, since its descendants are many and short.
    first: bool,
    /// Pages from which placing begins.
    worth_it: usize,
    written: Option<Instant>,
    /// Why writing the file failed the last time.
    failed: Option<String>,
    /// Old and new colors of the pages whose old frames were classified, by page.
    told: BTreeMap<usize, (Color, Color)>,
}

/// The result of finding colors, before anything is placed.
pub struct Discovery {
    /// The oracle for colors.
    pub oracle: Box<dyn ColorOracle>,
    /// The colors to place by: those of the requested ones that exist.
    pub colors: Vec<Color>,
    /// CPU time for finding them.
    pub time: Duration,
}

/// Placed pages that are classified again at a time, for the report.
pub const SAMPLE: usize = 64;
/// Between two such samples: together some 0.3 per cent of a CPU.
pub const SAMPLES: Duration = Duration::from_secs(6);

/// Time between two writes of the file.
const INTERVAL: Duration = Duration::from_secs(1);

impl Tally {
    /// An empty report; the time begins.
    pub fn new(config: &Config) -> Self {
        let pid = std::process::id();
        let file = config.report.as_deref().map(|path| match pid == config.first {
            true => path.to_owned(),
            false => with_pid(path, pid),
        });
        let report = RunReport {
            schema: "huepage.run/1".into(),
            kind: "measured".into(),
            pid,
            program: program(),
            reason: config.reason.clone(),
            ..RunReport::default()
        };
        Tally {
            report,
            begin: Instant::now(),
            file,
            verbose: config.verbose,
            first: pid == config.first,
            worth_it: worth_it(config),
            written: None,
            failed: None,
            told: BTreeMap::new(),
        }
    }

    /// Finds the oracle by `find`, and the colors to place by, and records both in the
    /// report.
    ///
    /// # Errors
    /// Why there are none, as a sentence.
    pub fn discover(
        &mut self,
        config: &Config,
        find: impl FnOnce(&mut Self) -> Result<Box<dyn ColorOracle>, String>,
    ) -> Result<Discovery, String> {
        self.report.state = State::Discovering;
        self.write(true);
        let before = cpu_time();
        let oracle = find(self)?;
        let time = cpu_time() - before;
        self.report.discovery_seconds = time.as_secs_f64();
        let count = oracle.count();
        self.report.method = Some(oracle.method());
        self.report.colors = Some(count.get());
        let mut colors: Vec<Color> = count.iter().collect();
        if let Some(asked) = &config.colors {
            colors.retain(|color| asked.contains(color));
        }
        if colors.is_empty() {
            return Err(format!("none of the colors asked for exists: there are {count}"));
        }
        let numbers: Vec<u32> = colors.iter().map(|color| color.0).collect();
        self.report.used = Some(list::format(&numbers));
        self.report.state = State::Placing;
        self.write(true);
        Ok(Discovery { oracle, colors, time })
    }

    /// Counts a placed page that was classified again, and whether it was `right`.
    pub fn verify(&mut self, right: bool) {
        self.report.verified += 1;
        self.report.verified_in_place += u64::from(right);
    }

    /// Time since it was made.
    pub fn elapsed(&self) -> Duration {
        self.begin.elapsed()
    }

    /// Records old frames that were classified after their first exchange.
    pub fn old_frames(&mut self, told: &[OldFrame], window: usize, count: ColorCount, ways: u32) {
        for old in told {
            if let Some(was) = old.was.filter(|was| was.0 < count.get()) {
                self.told.entry(old.page.get()).or_insert((was, old.placed));
            }
        }
        // As many pages as fit into the cache at a time, in the order of their
        // addresses: such pages are the likeliest to be used together.
        let told: Vec<(Color, Color)> = self.told.values().copied().collect();
        let excess = |color: fn(&(Color, Color)) -> Color| {
            let parts = told.chunks(window).map(|part| {
                let mut counts = vec![0; count.get() as usize];
                part.iter().for_each(|pair| counts[color(pair).index()] += 1);
                Balance::of(counts, ways).imbalance
            });
            parts.sum()
        };
        self.report.old_frames_told = told.len() as u64;
        self.report.imbalance_before = excess(|pair| pair.0);
        self.report.imbalance_after = excess(|pair| pair.1);
    }

    /// Whether the file would be written now.
    pub fn due(&self) -> bool {
        self.written.is_none_or(|written| written.elapsed() >= INTERVAL)
    }

    /// Writes the file once in a while, and always if `now`, in the thread that places.
    pub fn write(&mut self, now: bool) {
        if !self.due() && !now {
            return;
        }
        self.written = Some(Instant::now());
        self.report.elapsed_seconds = self.elapsed().as_secs_f64();
        self.report.cpu_seconds = cpu_time().as_secs_f64();
        if let Some(path) = &self.file {
            let failed = replace(path, &self.report).err();
            self.failed = failed.map(|why| format!("writing {}: {why}", path.display()));
        }
        if now {
            self.sum_up();
        }
    }

    /// Only at the end of the program, which owns its streams until then.
    fn sum_up(&self) {
        let tried = self.report.method.is_some() || self.report.stopped.is_some();
        let mut text = String::new();
        if self.verbose && tried {
            text += &summary(&self.report);
        } else if self.verbose && self.first {
            text += &nothing_placed(&self.report, self.worth_it);
        }
        if let Some(why) = self.failed.as_ref().filter(|_| self.first) {
            text += &format!("huepage: no report: {why}\n");
        }
        set_summary(&text);
    }
}

/// By another file and a rename, so that readers always find a complete file, which
/// stays if the program is killed.
fn replace(path: &Path, report: &RunReport) -> std::io::Result<()> {
    let mut text = serde_json::to_vec_pretty(report).map_err(std::io::Error::from)?;
    text.push(b'\n');
    let (beside, mut file) = create_beside(path)?;
    let written = file.write_all(&text).and_then(|()| fs::rename(&beside, path));
    if written.is_err() {
        let _ = fs::remove_file(&beside);
    }
    written
}

/// A new file with an unused name: never written through a link that another user put
/// there.
fn create_beside(path: &Path) -> std::io::Result<(PathBuf, fs::File)> {
    let mut number = 0;
    loop {
        let mut name = OsString::from(".");
        name.push(path.file_name().unwrap_or_default());
        name.push(format!(".{}.{number}", std::process::id()));
        let beside = path.with_file_name(name);
        match fs::File::create_new(&beside) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists && number < 64 => number += 1,
            file => return Ok((beside, file?)),
        }
    }
}

fn with_pid(path: &Path, pid: u32) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{pid}"));
    name.into()
}

fn program() -> String {
    let line = fs::read("/proc/self/cmdline").unwrap_or_default();
    let first = line.split(|byte| *byte == 0).next().unwrap_or_default();
    String::from_utf8_lossy(first).into_owned()
}

/// The program's name for a terminal: it may contain control characters.
fn shown(report: &RunReport) -> String {
    let name = report.program.chars().take(256);
    let plain = |c: &char| matches!(c, '\'' | '"' | '\\') || c.escape_debug().len() == 1;
    name.flat_map(|c| if plain(&c) { vec![c] } else { c.escape_debug().collect() }).collect()
}

fn nothing_placed(report: &RunReport, worth_it: usize) -> String {
    let program = shown(report);
    let RunReport { pid, pages_seen, elapsed_seconds, .. } = report;
    format!(
        "huepage: {program} ({pid}): nothing placed in {elapsed_seconds:.3} s with {pages_seen} \
         pages seen: placing begins at {worth_it} pages, once --budget covers its start\n"
    )
}

fn summary(report: &RunReport) -> String {
    let RunReport { pages_seen, pages_placed, moves, .. } = report;
    let mut text = format!("huepage: {} ({}): ", shown(report), report.pid);
    if let Some(why) = &report.stopped {
        text += &format!("stopped: {why}; ");
    }
    let used = report.used.clone().unwrap_or_else(|| list::format(&[]));
    text += &format!(
        "{pages_placed} of {pages_seen} pages placed on colors {used} of {}, ",
        report.colors.unwrap_or(0)
    );
    text += &match report.way {
        Way::Live => format!(
            "{moves} moves, {} drifted; of {} pages the cache could not hold {} in their first \
             frames, and {} in their new ones",
            report.drifted, report.old_frames_told, report.imbalance_before, report.imbalance_after,
        ),
        Way::Heap => {
            let Unplaced { early, large, late, over_budget, untouched, short, refused } =
                report.unplaced;
            format!(
                "{moves} of malloc's in all; unplaced {early} early, {large} in large pieces, \
                 {late} while nothing was ready, {over_budget} over budget, \
                 {untouched} with too much untouched, {short} short of frames, {refused} refused"
            )
        }
    };
    text += &format!(
        "; verified {} of {}; {:.3} s of CPU time in {:.3} s, {:.3} s of it to find the colors\n",
        report.verified_in_place,
        report.verified,
        report.cpu_seconds,
        report.elapsed_seconds,
        report.discovery_seconds,
    );
    text
}

/// The summary for the end of the program, whose code may print but not format.
struct Summary(UnsafeCell<[u8; 2048]>);
// SAFETY: written by the placer before it sets that it has ended; read only after that.
unsafe impl Sync for Summary {}
static SUMMARY: Summary = Summary(UnsafeCell::new([0; 2048]));
static LENGTH: AtomicUsize = AtomicUsize::new(0);

fn set_summary(text: &str) {
    // SAFETY: not read before the placer has ended.
    let buffer = unsafe { &mut *SUMMARY.0.get() };
    let len = text.len().min(buffer.len());
    buffer[..len].copy_from_slice(&text.as_bytes()[..len]);
    LENGTH.store(len, Ordering::Release);
}

/// Prints the summary to the standard error of the program, after the thread has
/// ended.
pub fn print_summary() {
    // SAFETY: the placer has ended.
    let buffer: &'static [u8; 2048] = unsafe { &*SUMMARY.0.get() };
    let text = &buffer[..LENGTH.load(Ordering::Acquire)];
    if !text.is_empty() {
        let _ = rustix::io::write(rustix::stdio::stderr(), text);
    }
}

/// In a child nothing has been summed up yet.
pub fn begin_anew() {
    LENGTH.store(0, Ordering::Release);
}
