// SPDX-License-Identifier: MIT OR Apache-2.0
//! A machine written to a file, and read back as a source of facts.

use std::{cell::RefCell, collections::BTreeMap, collections::BTreeSet};

use serde::{Deserialize, Serialize};

use super::{CpuidLeaf, Curve, MachineSource, Topology, TopologyError};
use crate::units::Bytes;

const SCHEMA: &str = "huepage.recorded-machine/1";

/// A machine as one JSON file: every file that was read of sysfs and procfs
/// with its text, the CPUID leaves, the measured curve. A file that is not in
/// it did not exist.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordedMachine {
    /// `huepage.recorded-machine/1`.
    pub schema: String,
    /// Where the data come from: a real machine, or a document.
    pub source: String,
    /// `x86_64`, `aarch64`, …
    pub architecture: String,
    /// The size of a base page.
    pub page_size: Bytes,
    /// The CPU on which the CPUID leaves were read and the curve measured.
    pub cpu: u32,
    /// Absolute path to text.
    pub files: BTreeMap<String, String>,
    /// CPUID leaves; empty on other architectures.
    #[serde(default)]
    pub cpuid: Vec<CpuidLeaf>,
    /// The measured curve, where one was measured.
    #[serde(default)]
    pub curve: Option<Curve>,
}

/// Why a text is no recorded machine.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordError {
    /// Not JSON, or not of this shape.
    #[error("not a recorded machine")]
    Json(#[from] serde_json::Error),
    /// Another schema, or a later version.
    #[error("the schema is '{0}', this program reads '{SCHEMA}': record the machine again")]
    Schema(String),
    /// Values that no machine has.
    #[error("not a recorded machine: {0}")]
    Value(String),
}

impl RecordedMachine {
    /// Reads the JSON text of a record.
    ///
    /// # Errors
    /// [`RecordError`] says what is wrong with it.
    pub fn from_json(json: &str) -> Result<Self, RecordError> {
        #[derive(Deserialize)]
        struct Head {
            schema: String,
        }
        // The schema first: a later version may have another shape.
        let head: Head = serde_json::from_str(json)?;
        if head.schema != SCHEMA {
            return Err(RecordError::Schema(head.schema));
        }
        let machine: Self = serde_json::from_str(json)?;
        if !machine.page_size.0.is_power_of_two() || machine.page_size < Bytes(512) {
            let page = machine.page_size.0;
            return Err(RecordError::Value(format!("a page of {page} bytes")));
        }
        if let Some(curve) = &machine.curve {
            curve.validate().map_err(RecordError::Value)?;
        }
        Ok(machine)
    }

    /// The record as JSON text, one value per line.
    ///
    /// # Panics
    /// Never: all keys are strings and all numbers finite.
    pub fn to_json(&self) -> String {
        let mut json = serde_json::to_string_pretty(self).expect("a record is plain data");
        json.push('\n');
        json
    }

    /// Describes the machine behind `source` and records every file that this
    /// took.
    ///
    /// # Errors
    /// As [`Topology::read`].
    pub fn record(
        source: &dyn MachineSource,
        note: String,
        curve: Option<Curve>,
    ) -> Result<Self, TopologyError> {
        let recorder = Recorder { source, files: RefCell::default() };
        Topology::read(&recorder)?;
        Ok(RecordedMachine {
            schema: SCHEMA.to_owned(),
            source: note,
            architecture: source.architecture().to_owned(),
            page_size: source.page_size(),
            cpu: source.cpu(),
            files: recorder.files.into_inner(),
            cpuid: source.cpuid().to_vec(),
            curve,
        })
    }
}

impl MachineSource for RecordedMachine {
    fn read(&self, path: &str) -> Option<String> {
        self.files.get(path).cloned()
    }

    fn list(&self, directory: &str) -> Vec<String> {
        let prefix = format!("{directory}/");
        let names: BTreeSet<&str> = self
            .files
            .range(prefix.clone()..)
            .map_while(|(path, _)| path.strip_prefix(&prefix))
            .filter_map(|rest| rest.split('/').next())
            .collect();
        names.into_iter().map(str::to_owned).collect()
    }

    fn architecture(&self) -> &str {
        &self.architecture
    }

    fn page_size(&self) -> Bytes {
        self.page_size
    }

    fn cpu(&self) -> u32 {
        self.cpu
    }

    fn cpuid(&self) -> &[CpuidLeaf] {
        &self.cpuid
    }
}

/// Passes every read on to the source and keeps the files read.
struct Recorder<'a> {
    source: &'a dyn MachineSource,
    files: RefCell<BTreeMap<String, String>>,
}

impl MachineSource for Recorder<'_> {
    fn read(&self, path: &str) -> Option<String> {
        let text = self.source.read(path)?;
        self.files.borrow_mut().insert(path.to_owned(), text.clone());
        Some(text)
    }

    fn list(&self, directory: &str) -> Vec<String> {
        self.source.list(directory)
    }

    fn architecture(&self) -> &str {
        self.source.architecture()
    }

    fn page_size(&self) -> Bytes {
        self.source.page_size()
    }

    fn cpu(&self) -> u32 {
        self.source.cpu()
    }

    fn cpuid(&self) -> &[CpuidLeaf] {
        self.source.cpuid()
    }
}
