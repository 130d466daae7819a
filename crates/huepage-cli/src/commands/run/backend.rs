// SPDX-License-Identifier: MIT OR Apache-2.0
//! How a program's pages are placed: by the kernel, by a thread that finds colors by
//! frame number or by timing, or by a malloc whose memory is placed that way.

use std::{collections::BTreeMap, fs, path::Path};

use anyhow::{Context, bail};
use clap::ValueEnum;
use huepage::{
    color::{
        self, Color, ColorCount, ColorOracle, ColorsBy, MeasureOptions, Method,
        palette::PaletteOptions,
    },
    frames::Pagemap,
    list,
    place::Live,
    topology::{CacheGeometry, LiveMachine, Virtualization},
};

#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
pub enum Backend {
    /// The kernel if it places by color; else heap without CAP_SYS_PTRACE; else
    /// frame-number if measured colors agree with frame numbers; else measure
    Auto,
    /// The kernel's own placement (needs its page_color patches)
    Kernel,
    /// Colors are found by timing
    Measure,
    /// Colors are taken from frame numbers, without a check
    FrameNumber,
    /// Only malloc's memory is placed, by another malloc and before the program gets
    /// it; colors are found by timing; needs no privilege
    Heap,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chosen {
    Kernel,
    Measure,
    FrameNumber,
    Heap,
}

/// The file in which a kernel with page_color shows the colors of this task.
const PAGE_COLORS: &str = "/proc/self/page_colors";

/// Which backend to use, and why, as a sentence.
///
/// # Errors
/// If the machine cannot be read.
pub fn choose(
    wish: Backend,
    cpu: u32,
    geometry: CacheGeometry,
) -> anyhow::Result<(Chosen, String)> {
    Ok(match wish {
        Backend::Kernel => (Chosen::Kernel, "placed by the kernel, as asked for".into()),
        Backend::Measure => (Chosen::Measure, "colors by measurement, as asked for".into()),
        Backend::FrameNumber => {
            (Chosen::FrameNumber, "colors by frame number, unchecked, as asked for".into())
        }
        Backend::Heap => (Chosen::Heap, "malloc's memory by measurement, as asked for".into()),
        Backend::Auto if kernel_colors().is_ok() => {
            (Chosen::Kernel, "placed by the kernel, which knows colors".into())
        }
        Backend::Auto => match may_place() {
            Ok(()) => by_frame_number_or_time(cpu, geometry)?,
            Err(why) => {
                (Chosen::Heap, format!("malloc's memory alone is placed: {}", why.root_cause()))
            }
        },
    })
}

fn by_frame_number_or_time(cpu: u32, geometry: CacheGeometry) -> anyhow::Result<(Chosen, String)> {
    if Virtualization::read(&LiveMachine::open(cpu)?).detected {
        let why = "colors by measurement: a virtual machine's frame numbers say nothing";
        return Ok((Chosen::Measure, why.into()));
    }
    if !Pagemap::open().and_then(|pagemap| pagemap.frame_numbers_visible()).unwrap_or(false) {
        let why = "colors by measurement: frame numbers are hidden (needs CAP_SYS_ADMIN)";
        return Ok((Chosen::Measure, why.into()));
    }
    let mut options = MeasureOptions::new(cpu, Some(geometry));
    options.palette = Some(PaletteOptions::new());
    let chosen = color::choose(ColorsBy::Auto, &options)?;
    let by = match chosen.oracle.method() {
        Method::FrameNumber => Chosen::FrameNumber,
        _ => Chosen::Measure,
    };
    Ok((by, format!("colors by {}", chosen.reason)))
}

/// How many colors the kernel uses for placement.
///
/// # Errors
/// If it does not place by color.
pub fn kernel_colors() -> anyhow::Result<ColorCount> {
    kernel_colors_in(Path::new("/sys"))
}

fn kernel_colors_in(sysfs: &Path) -> anyhow::Result<ColorCount> {
    let folder = sysfs.join("kernel/mm/page_color");
    let read = |path: &Path| {
        let text = fs::read_to_string(path);
        text.map(|text| text.trim().to_owned()).with_context(|| path.display().to_string())
    };
    let enabled = folder.join("enabled");
    let is_on =
        read(&enabled).context("the kernel's own placement needs its page_color patches")?;
    if is_on != "1" {
        bail!("the kernel's own placement is off: echo 1 > {}", enabled.display());
    }
    // A set may contain all colors of the node that has the most.
    let most = match &*read(&folder.join("colors"))? {
        "mixed" => colors_of_nodes(sysfs).into_values().max(),
        count => count.parse().ok(),
    };
    let count = most.and_then(|most| ColorCount::new(most.try_into().ok()?));
    count.with_context(|| format!("{}: no cache to color for", folder.display()))
}

/// The number of colors by which the kernel places pages, for each node that has a
/// cache to color for.
pub fn colors_of_nodes(sysfs: &Path) -> BTreeMap<String, u64> {
    let nodes = fs::read_dir(sysfs.join("devices/system/node")).into_iter().flatten();
    let colors = nodes.filter_map(|node| {
        let node = node.ok()?;
        let colors = fs::read_to_string(node.path().join("page_color/colors")).ok()?;
        let name = node.file_name().into_string().ok()?.strip_prefix("node")?.to_owned();
        Some((name, colors.trim().parse().ok().filter(|&colors| colors > 0)?))
    });
    colors.collect()
}

/// Gives this task its set of colors, which the program keeps after exec.
///
/// # Errors
/// If the kernel refuses.
pub fn color_by_kernel(colors: Option<&[Color]>) -> anyhow::Result<()> {
    let Some(colors) = colors else { return Ok(()) };
    let numbers: Vec<u32> = colors.iter().map(|color| color.0).collect();
    fs::write(PAGE_COLORS, list::format(&numbers))
        .with_context(|| format!("{PAGE_COLORS} (writing needs CAP_SYS_ADMIN)"))
}

/// Whether memory in use may be placed here, also after the program was executed.
///
/// # Errors
/// What is missing.
pub fn may_place() -> anyhow::Result<()> {
    let one = ColorCount::new(1).expect("one is not zero");
    Live::new(one)?;
    if rustix::process::geteuid().is_root() {
        return Ok(());
    }
    let status = fs::read_to_string("/proc/self/status").context("/proc/self/status")?;
    if !is_ambient(&status) {
        bail!(
            "CAP_SYS_PTRACE ends where the program is executed: make it ambient, as \
             'setpriv --inh-caps +sys_ptrace --ambient-caps +sys_ptrace' and AmbientCapabilities= \
             of systemd do"
        );
    }
    Ok(())
}

/// A user other than root keeps only ambient capabilities when executing a program.
fn is_ambient(status: &str) -> bool {
    const CAP_SYS_PTRACE: u64 = 1 << 19;
    let mask = status.lines().find_map(|line| line.strip_prefix("CapAmb:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask & CAP_SYS_PTRACE != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_is_asked_for_its_colors() {
        let root = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        let refused = || format!("{:#}", kernel_colors_in(root.path()).unwrap_err());
        let (enabled, colors) = ("kernel/mm/page_color/enabled", "kernel/mm/page_color/colors");
        assert!(refused().contains("page_color patches"), "{}", refused());
        write(enabled, "0\n");
        write(colors, "4096\n");
        assert!(refused().contains("echo 1 >"), "{}", refused());
        write(enabled, "1\n");
        assert_eq!(kernel_colors_in(root.path()).unwrap().get(), 4096);
        write(colors, "mixed\n");
        write("devices/system/node/node0/page_color/colors", "1024\n");
        write("devices/system/node/node1/page_color/colors", "16384\n");
        write("devices/system/node/possible", "0-1\n");
        assert_eq!(kernel_colors_in(root.path()).unwrap().get(), 16384);
        write(colors, "0\n");
        assert!(refused().contains("no cache to color for"), "{}", refused());
    }

    #[test]
    fn ambient_capabilities_are_read_from_their_mask() {
        assert!(is_ambient("CapEff:\t0\nCapAmb:\t0000000000080000\n"));
        assert!(!is_ambient("CapEff:\t0000000000080000\nCapAmb:\t0000000000040000\n"));
        assert!(!is_ambient(""));
    }
}
