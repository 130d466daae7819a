// SPDX-License-Identifier: MIT OR Apache-2.0
//! One boot: the kernel, the machine, the guest program, and the model.

use std::time::Duration;

use anyhow::Context;
use serde_json::{Map, Value};

use super::Machine;
use crate::{
    arch::Arch,
    kernel::{Config, Request, Variant},
    model::Model,
};

/// One boot; of an experiment, a point of its grid.
#[derive(Clone, Debug)]
pub struct Case {
    /// Of kernel and guest.
    pub arch: Arch,
    /// Which kernel.
    pub variant: Variant,
    /// How the kernel is configured.
    pub config: Config,
    /// The virtual machine.
    pub machine: Machine,
    /// The guest program, in `lab/guest`.
    pub guest: &'static str,
    /// Its arguments.
    pub arguments: Vec<(String, String)>,
    /// The modelled hierarchy; without one nothing is counted, which is faster.
    pub model: Option<Model>,
    /// Regions that the program must mark at least once.
    pub regions: Vec<u32>,
    /// The settings of this boot; each of its rows has these and may have more.
    pub settings: Map<String, Value>,
    /// After this long it is stopped; generous, as machines are shared.
    pub limit: Duration,
}

impl Case {
    /// A boot of a guest program with default settings: the stock kernel on x86_64,
    /// without a model, for an hour at most.
    pub fn of(guest: &'static str, machine: Machine) -> Self {
        Case {
            arch: Arch::X86_64,
            variant: Variant::Stock,
            config: Config::Plain,
            machine,
            guest,
            arguments: Vec::new(),
            model: None,
            regions: Vec::new(),
            settings: Map::new(),
            limit: Duration::from_secs(3600),
        }
    }

    /// The same with another kernel.
    pub fn on(self, &Request { arch, variant, config }: &Request) -> Self {
        Case { arch, variant, config, ..self }
    }

    /// The kernel that it needs.
    pub fn request(&self) -> Request {
        Request { arch: self.arch, variant: self.variant, config: self.config }
    }

    /// The value of an argument of the guest.
    ///
    /// # Errors
    /// If there is no such argument.
    pub fn argument(&self, name: &str) -> anyhow::Result<&str> {
        let argument = self.arguments.iter().find(|(have, _)| have == name);
        argument.map(|(_, value)| value.as_str()).with_context(|| format!("no argument {name}"))
    }
}
