// SPDX-License-Identifier: MIT OR Apache-2.0
//! Other programs with the same palette: this test program, run again.

use std::{
    env,
    fs::{self, File},
    os::{fd::AsFd, unix::process::CommandExt},
    path::Path,
    process::{Child, Command, Stdio},
};

use huepage::{
    color::{
        ColorOracle, MeasureOptions,
        palette::{Audience, Palette, PaletteOptions},
    },
    mapping::{PageAddr, page_size},
    topology::{LiveMachine, Topology},
};
use rustix::{
    fs::{MemfdFlags, ftruncate, memfd_create},
    mm::{MapFlags, ProtFlags, mmap},
    process::{Pid, Signal, kill_process},
};
use serde::{Deserialize, Serialize};

pub fn measure(cpu: u32) -> MeasureOptions {
    let topology = Topology::read(&LiveMachine::open(cpu).unwrap()).unwrap();
    MeasureOptions::new(cpu, topology.cache_to_color(cpu).ok())
}

pub fn options(own: &Path, shared: Option<&Path>) -> PaletteOptions {
    let mut options = PaletteOptions::new();
    options.own = own.to_owned();
    options.shared = shared.map(Path::to_owned);
    options
}

/// Pages of a file without a name, for as long as the process lives.
pub fn shared_pages(count: usize) -> (File, Vec<PageAddr>) {
    let file = File::from(memfd_create("pages", MemfdFlags::CLOEXEC).unwrap());
    ftruncate(&file, count as u64 * page_size().0).unwrap();
    let pages = map(&file, count);
    for page in &pages {
        // SAFETY: a writable page just mapped.
        unsafe { page.as_ptr().write_volatile(1) };
    }
    (file, pages)
}

fn map(file: impl AsFd, count: usize) -> Vec<PageAddr> {
    let (size, page) = (count * page_size().0 as usize, page_size().0 as usize);
    let protection = ProtFlags::READ | ProtFlags::WRITE;
    // SAFETY: a new mapping at an address of the kernel's choice.
    let start =
        unsafe { mmap(std::ptr::null_mut(), size, protection, MapFlags::SHARED, file, 0) }.unwrap();
    start.expose_provenance();
    (0..count).map(|i| PageAddr::containing(start.wrapping_byte_add(i * page))).collect()
}

/// What a child reports about its palette.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Told {
    pub name: String,
    pub state: String,
    pub audience: String,
    pub notes: String,
    pub colors: Vec<Option<u32>>,
}

/// A child to be run.
pub struct Program(Command);

/// A child that opens the palette of a directory.
pub fn child(own: &Path) -> Program {
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["--exact", "child::opens_a_palette", "--ignored", "--nocapture"]);
    command.env("PALETTE_OWN", own);
    Program(command)
}

impl Program {
    fn with(mut self, name: &str, value: impl AsRef<std::ffi::OsStr>) -> Self {
        self.0.env(name, value);
        self
    }

    pub fn cpu(self, cpu: u32) -> Self {
        self.with("PALETTE_CPU", cpu.to_string())
    }

    /// Makes the palette anew.
    pub fn make(self) -> Self {
        self.with("PALETTE_MAKE", "1")
    }

    pub fn shared(self, path: &Path) -> Self {
        self.with("PALETTE_SHARED", path)
    }

    /// Classifies the first `pages` pages of a file.
    pub fn tell(self, file: &str, pages: usize) -> Self {
        self.with("PALETTE_TELL", file).with("PALETTE_PAGES", pages.to_string())
    }

    /// Runs as another user, who may not be able to reach this program, so it is
    /// copied.
    pub fn user(self, user: u32, directory: &Path) -> Self {
        let copy = directory.join("child");
        if !copy.exists() {
            fs::copy(env::current_exe().unwrap(), &copy).unwrap();
        }
        let mut command = Command::new(copy);
        command.uid(user).gid(user);
        self.run_by(command)
    }

    /// Runs in a namespace that allows no segments.
    pub fn without_segments(self) -> Self {
        let script = "echo 0 > /proc/sys/kernel/shmmax; exec \"$@\"";
        let mut command = Command::new("unshare");
        command.args(["-i", "sh", "-c", script, "sh"]).arg(self.0.get_program());
        self.run_by(command)
    }

    /// The same arguments and environment for another command.
    fn run_by(self, mut command: Command) -> Self {
        command.args(self.0.get_args());
        command.envs(self.0.get_envs().filter_map(|(name, value)| Some((name, value?))));
        Program(command)
    }

    pub fn spawn(mut self) -> Running {
        Running(self.0.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap())
    }

    pub fn run(self) -> Told {
        self.spawn().told()
    }
}

/// A child that runs.
pub struct Running(Child);

impl Running {
    pub fn pid(&self) -> u32 {
        self.0.id()
    }

    pub fn told(self) -> Told {
        let output = self.0.wait_with_output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        // The test harness may have written something before it.
        let told = text.lines().find_map(|line| Some(line.split_once("TOLD ")?.1));
        match told {
            Some(json) => serde_json::from_str(json).unwrap(),
            None => panic!("{output:?}"),
        }
    }

    /// Whether it was still running.
    pub fn kill(mut self) -> bool {
        let running = self.0.try_wait().unwrap().is_none();
        self.0.kill().unwrap();
        self.0.wait().unwrap();
        running
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.0), signal).unwrap();
    }

    pub fn stop(&self) {
        self.signal(Signal::STOP);
    }

    pub fn go_on(&self) {
        self.signal(Signal::CONT);
    }
}

#[test]
#[ignore = "run by the other tests, as another program"]
fn opens_a_palette() {
    let Some(own) = env::var_os("PALETTE_OWN") else { return };
    let shared = env::var_os("PALETTE_SHARED");
    let options = options(Path::new(&own), shared.as_deref().map(Path::new));
    let number = |name: &str| env::var(name).ok().map(|text| text.parse::<usize>().unwrap());
    let allowed = huepage::topology::allowed_cpus().unwrap();
    let cpu = number("PALETTE_CPU").map_or(*allowed.last().unwrap(), |cpu| cpu as u32);
    let measure = measure(cpu);
    let mut palette = match env::var_os("PALETTE_MAKE") {
        Some(_) => Palette::make(&measure, &options, Audience::User),
        None => Palette::open(&measure, &options),
    }
    .unwrap();
    let mut told = Told {
        name: palette.name().to_owned(),
        state: serde_json::to_value(palette.state()).unwrap().as_str().unwrap().to_owned(),
        audience: match palette.audience() {
            Some(Audience::All) => "all",
            Some(Audience::User) => "user",
            None => "none",
        }
        .to_owned(),
        notes: palette.notes().join("\n"),
        colors: Vec::new(),
    };
    if let Some(path) = env::var_os("PALETTE_TELL") {
        let file = File::options().read(true).write(true).open(path).unwrap();
        let pages = map(&file, number("PALETTE_PAGES").unwrap());
        // SAFETY: the pages are mapped to the end of the process.
        let colors = unsafe { palette.classify(&pages) }.unwrap();
        told.colors = colors.into_iter().map(|color| color.map(|color| color.0)).collect();
    }
    println!("\nTOLD {}", serde_json::to_string(&told).unwrap());
}
