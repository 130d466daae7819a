// SPDX-License-Identifier: MIT OR Apache-2.0
//! The virtual machine, as options of QEMU.

use std::path::Path;

use huepage::units::Bytes;
use serde::Serialize;

use super::Disk;
use crate::{arch::Arch, kernel::Config};

/// Nanoseconds of the guest's clock for an instruction, if time is counted in
/// instructions. With fewer, loops that wait for a time execute many instructions.
pub const NS_PER_INSTRUCTION: u32 = 8;

/// A virtual machine. The same machine with the same program executes the same
/// instructions in every run, unless its time is the host's: one thread emulates all
/// CPUs, time is counted in instructions, random numbers have a seed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Machine {
    /// Number of CPUs.
    pub cpus: u32,
    /// All of its memory; the sum of the nodes', if there are nodes.
    pub memory: Bytes,
    /// NUMA nodes; none: a machine without NUMA.
    pub nodes: Vec<Node>,
    /// Distances of nodes, as in ACPI SLIT; empty: 10 locally, 20 elsewhere.
    pub distances: Vec<Vec<u32>>,
    /// How its CPUs run.
    #[serde(skip_serializing_if = "Running::is_counted")]
    pub running: Running,
    /// Its disks; requests of the guest to them are reported.
    pub disks: Vec<Disk>,
    /// Further words for the kernel's command line.
    pub kernel_options: Vec<String>,
    /// Further options for QEMU.
    pub qemu_options: Vec<String>,
}

/// How CPUs run beside each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Running {
    /// In turn, in one thread, and time is counted in instructions.
    Counted,
    /// In turn, and time is the host's: for programs that wait for a time, or for each
    /// other. Instructions cannot be counted, and no two runs are the same.
    InTurn,
    /// As `InTurn`, but at the same time, each in a thread, so that races are found.
    /// Not for kernels that change their own code (`CONFIG_JUMP_LABEL`): QEMU 7.2 may
    /// keep a translation by another CPU from before the change.
    AtOnce,
}

impl Running {
    /// The host's time, and CPUs at the same time if the kernel's code never changes.
    pub fn freely(config: Config) -> Self {
        match config {
            Config::Plain | Config::Lockstat | Config::Programs | Config::Mte | Config::Lab => {
                Running::InTurn
            }
            // `lab/configs` leave jump labels out.
            Config::Debug | Config::Realtime | Config::Selftests | Config::Kunit => Running::AtOnce,
        }
    }

    fn is_counted(&self) -> bool {
        *self == Running::Counted
    }
}

/// A NUMA node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Node {
    /// Its memory, a multiple of 128 MiB where it is to be offlined.
    pub memory: Bytes,
    /// First and last CPU; none for a node of memory only.
    pub cpus: Option<(u32, u32)>,
}

impl Machine {
    /// One without NUMA and disks.
    pub fn plain(cpus: u32, memory: Bytes) -> Self {
        Machine {
            cpus,
            memory,
            nodes: Vec::new(),
            distances: Vec::new(),
            running: Running::Counted,
            disks: Vec::new(),
            kernel_options: Vec::new(),
            qemu_options: Vec::new(),
        }
    }

    /// Sets the machine up for kernels of a purpose if nothing is counted: time is the
    /// host's ([`Running::freely`]), and it has the hardware that the purpose needs.
    pub fn run_freely(&mut self, config: Config) {
        self.running = Running::freely(config);
        if config == Config::Mte {
            // QEMU uses the last of two options of the same name.
            let options = ["-machine", "mte=on", "-cpu", "max"];
            self.qemu_options.extend(options.map(str::to_owned));
        }
    }

    /// QEMU's name for the architecture.
    pub fn program(arch: Arch) -> &'static str {
        match arch {
            Arch::X86_64 => "qemu-system-x86_64",
            Arch::Arm64 => "qemu-system-aarch64",
        }
    }

    /// All options but those for the disks and the plugin.
    pub fn options(
        &self,
        arch: Arch,
        kernel: &Path,
        initramfs: &Path,
        arguments: &[(String, String)],
    ) -> Vec<String> {
        let (machine, cpu) = match arch {
            // No random numbers from the CPU: they have no seed.
            Arch::X86_64 => ("q35", "max,-rdrand,-rdseed,-la57"),
            // The default interrupt controller supports eight CPUs only.
            Arch::Arm64 if self.cpus > 8 => ("virt,gic-version=3", "cortex-a72"),
            Arch::Arm64 => ("virt", "cortex-a72"),
        };
        let mut options: Vec<String> = Vec::new();
        let mut add = |words: &[&str]| options.extend(words.iter().map(|word| (*word).to_owned()));
        add(&["-machine", machine, "-cpu", cpu, "-rtc", "base=2026-01-01,clock=vm", "-seed", "1"]);
        match self.running {
            Running::Counted => {
                let count = format!("shift={},sleep=off", NS_PER_INSTRUCTION.ilog2());
                add(&["-accel", "tcg,thread=single", "-icount", &count]);
            }
            Running::InTurn => add(&["-accel", "tcg,thread=single"]),
            Running::AtOnce => add(&["-accel", "tcg,thread=multi"]),
        }
        add(&["-nodefaults", "-no-user-config", "-display", "none", "-no-reboot"]);
        add(&["-serial", "stdio", "-smp", &self.processors()]);
        add(&["-m", &format!("{}K", self.memory.0 >> 10)]);
        add(&["-kernel", &kernel.display().to_string()]);
        add(&["-initrd", &initramfs.display().to_string()]);
        add(&["-append", &self.command_line(arch, arguments)]);
        self.add_nodes(&mut options);
        options.extend(self.qemu_options.iter().cloned());
        options
    }

    fn command_line(&self, arch: Arch, arguments: &[(String, String)]) -> String {
        let console = match arch {
            Arch::X86_64 => "console=ttyS0",
            Arch::Arm64 => "console=ttyAMA0",
        };
        // A broken kernel stops at once and prints the reason.
        let mut words = vec![console.to_owned()];
        let fixed = ["panic=-1", "oops=panic", "nokaslr", "norandmaps", "random.trust_cpu=off"];
        words.extend(fixed.map(str::to_owned));
        words.extend(["random.trust_bootloader=off", "mitigations=off"].map(str::to_owned));
        words.extend(self.kernel_options.iter().cloned());
        words.push("--".into());
        words.extend(arguments.iter().map(|(key, value)| format!("{key}={value}")));
        words.join(" ")
    }

    /// Nodes with CPUs are sockets of their own, if they have equally many: Linux warns
    /// about a socket on several nodes.
    fn processors(&self) -> String {
        let sockets = self.nodes.iter().filter(|node| node.cpus.is_some()).count() as u32;
        if sockets > 1 && self.cpus.is_multiple_of(sockets) {
            format!("{},sockets={sockets}", self.cpus)
        } else {
            self.cpus.to_string()
        }
    }

    fn add_nodes(&self, options: &mut Vec<String>) {
        for (number, node) in self.nodes.iter().enumerate() {
            let backend =
                format!("memory-backend-ram,id=mem{number},size={}K", node.memory.0 >> 10);
            let mut numa = format!("node,nodeid={number},memdev=mem{number}");
            if let Some((first, last)) = node.cpus {
                numa += &format!(",cpus={first}-{last}");
            }
            options.extend(["-object".into(), backend, "-numa".into(), numa]);
        }
        for (from, row) in self.distances.iter().enumerate() {
            for (to, distance) in row.iter().enumerate().filter(|(to, _)| *to != from) {
                let text = format!("dist,src={from},dst={to},val={distance}");
                options.extend(["-numa".into(), text]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(machine: &Machine) -> String {
        let arguments = [("fill".to_owned(), "0.5".to_owned())];
        machine.options(Arch::X86_64, Path::new("k"), Path::new("i"), &arguments).join(" ")
    }

    #[test]
    fn time_is_counted_in_instructions_unless_races_are_looked_for() {
        let mut machine = Machine::plain(2, Bytes(256 << 20));
        assert!(text(&machine).contains("thread=single -icount shift=3"));
        for (running, threads) in [(Running::InTurn, "single"), (Running::AtOnce, "multi")] {
            machine.running = running;
            let text = text(&machine);
            assert!(text.contains(&format!("thread={threads}")), "{text}");
            assert!(!text.contains("-icount"), "{text}");
        }
    }

    #[test]
    fn more_cpus_than_the_interrupt_controller_knows_get_another_one() {
        for (cpus, third) in [(8, false), (9, true), (64, true)] {
            let machine = Machine::plain(cpus, Bytes(256 << 20));
            let options = machine.options(Arch::Arm64, Path::new("k"), Path::new("i"), &[]);
            assert_eq!(options.join(" ").contains("virt,gic-version=3"), third, "{cpus}");
        }
    }

    #[test]
    fn nodes_and_arguments_are_passed_on() {
        let mut machine = Machine::plain(2, Bytes(256 << 20));
        machine.nodes = vec![
            Node { memory: Bytes(128 << 20), cpus: Some((0, 1)) },
            Node { memory: Bytes(128 << 20), cpus: None },
        ];
        machine.distances = vec![vec![10, 17], vec![17, 10]];
        machine.kernel_options = vec!["page_alloc.shuffle=1".into()];
        let text = text(&machine);
        for part in [
            "-m 262144K",
            "memory-backend-ram,id=mem1,size=131072K",
            "node,nodeid=0,memdev=mem0,cpus=0-1 ",
            "node,nodeid=1,memdev=mem1 ",
            "dist,src=0,dst=1,val=17",
            "page_alloc.shuffle=1 -- fill=0.5",
        ] {
            assert!(text.contains(part), "{part} in {text}");
        }
    }
}
