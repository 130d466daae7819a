// SPDX-License-Identifier: MIT OR Apache-2.0
//! The boots of a sweep. The name of each is a hash of everything that its outcome depends
//! on, so boots can run on any machine and in any order, be killed and run again, and their
//! outcomes can be put together.

use std::{
    collections::BTreeMap,
    fs::{self, Permissions},
    os::unix::fs::PermissionsExt,
    path::PathBuf,
};

use anyhow::{Context, ensure};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::{
    experiment::{Case, Experiment},
    kernel::{self, Hasher},
    results::Row,
    workspace::Workspace,
};

/// To be raised with each change of the code that makes rows from a boot.
const RECIPE: &str = "1";
const SCHEMA: &str = "huepage.lab.case/1";

/// The rows of a boot that succeeded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    schema: String,
    /// The case's name.
    pub id: String,
    /// Kernel version with the version of Debian's package.
    pub kernel: String,
    /// One per point.
    pub rows: Vec<Row>,
}

impl Outcome {
    /// Of the case with this name.
    pub fn new(id: &str, kernel: &str, rows: Vec<Row>) -> Self {
        Outcome { schema: SCHEMA.into(), id: id.into(), kernel: kernel.into(), rows }
    }
}

/// The names of cases, in their order: a hash of this program, of the sources of
/// kernel, guest and model with the compiler, and of the machine and the settings. No
/// kernel is built for it.
pub fn ids(
    workspace: &Workspace,
    experiment: &Experiment,
    cases: &[Case],
) -> anyhow::Result<Vec<String>> {
    let program = std::env::current_exe().context("where this program is")?;
    let program = hash_of_files(&[program])?;
    let sources = [workspace.c_files("lab/guest")?, workspace.c_files("lab/model")?];
    let sources = hash_of_files(&sources.concat())?;
    let mut kernels: BTreeMap<String, String> = BTreeMap::new();
    let mut ids = Vec::new();
    for case in cases {
        let request = case.request();
        let kernel = match kernels.get(&request.name()) {
            Some(kernel) => kernel.clone(),
            None => {
                let kernel = kernel::hash(workspace, &request)?;
                kernels.insert(request.name(), kernel.clone());
                kernel
            }
        };
        let booted = json!({
            "machine": case.machine, "guest": case.guest, "arguments": case.arguments,
            "model": case.model, "regions": case.regions, "settings": case.settings,
        });
        let mut hasher = Hasher::new();
        for (name, part) in [
            ("recipe", RECIPE),
            ("program", &program),
            ("sources", &sources),
            ("kernel", &kernel),
            ("request", &request.name()),
            ("experiment", experiment.name),
            ("booted", &booted.to_string()),
        ] {
            hasher.add(name, part);
        }
        ids.push(hasher.finish());
    }
    Ok(ids)
}

/// A hash of the names and the contents of files.
fn hash_of_files(files: &[PathBuf]) -> anyhow::Result<String> {
    let mut hasher = Hasher::new();
    hasher.add_files(files)?;
    Ok(hasher.finish())
}

/// Where outcomes are kept, a file each.
#[derive(Clone, Debug)]
pub struct Kept(PathBuf);

impl Kept {
    /// In this folder, which is made.
    ///
    /// # Errors
    /// If it cannot be made.
    pub fn at(folder: impl Into<PathBuf>) -> anyhow::Result<Self> {
        let folder = folder.into();
        fs::create_dir_all(&folder).with_context(|| format!("make {}", folder.display()))?;
        Ok(Kept(folder))
    }

    /// The outcome of a case, if it is there.
    ///
    /// # Errors
    /// If the file is damaged, or belongs to another case.
    pub fn find(&self, id: &str) -> anyhow::Result<Option<Outcome>> {
        let path = self.path(id);
        let what = || format!("{}: remove it, and the case is run again", path.display());
        let text = match fs::read_to_string(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            text => text.with_context(|| format!("read {}", path.display()))?,
        };
        let outcome: Outcome = serde_json::from_str(&text).with_context(what)?;
        ensure!(
            outcome.schema == SCHEMA && outcome.id == id && !outcome.rows.is_empty(),
            "no outcome of the case: {}",
            what()
        );
        Ok(Some(outcome))
    }

    /// Keeps an outcome. The file is renamed into place when it is complete, so programs
    /// that keep the same one at the same time do not disturb each other.
    pub fn put(&self, outcome: &Outcome) -> anyhow::Result<()> {
        let what = || format!("write {}", self.path(&outcome.id).display());
        // With the permissions of the umask, since other users may merge boots that ran
        // here.
        let mut file = tempfile::Builder::new();
        let file = file.permissions(Permissions::from_mode(0o666)).tempfile_in(&self.0);
        let mut file = file.with_context(what)?;
        serde_json::to_writer(&mut file, outcome).with_context(what)?;
        file.as_file().sync_all().with_context(what)?;
        file.persist(self.path(&outcome.id)).with_context(what)?;
        Ok(())
    }

    fn path(&self, id: &str) -> PathBuf {
        self.0.join(format!("{id}.json"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{experiment::Scale, experiments, kernel::Variant};

    #[test]
    fn what_a_boot_is_made_of_is_its_name() {
        let workspace = Workspace::find().unwrap();
        let experiment = experiments::find("frame-order").unwrap();
        let settings = experiment.settings(Scale::Quick);
        let mut cases = (experiment.cases)(&settings, Variant::Stock).unwrap();
        let before = ids(&workspace, experiment, &cases).unwrap();
        assert_eq!(ids(&workspace, experiment, &cases).unwrap(), before);
        let mut different = before.clone();
        different.sort();
        different.dedup();
        assert_eq!(different.len(), cases.len());
        cases[0].arguments.push(("more".into(), "1".into()));
        cases[1].machine.cpus += 1;
        cases[2].variant = Variant::Huepage;
        let after = ids(&workspace, experiment, &cases).unwrap();
        let same: Vec<bool> = before.iter().zip(&after).map(|(b, a)| b == a).collect();
        assert_eq!(same[..3], [false; 3]);
        assert!(same[3..].iter().all(|same| *same));
    }

    #[test]
    fn what_is_kept_is_found_and_what_is_damaged_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let kept = Kept::at(folder.path().join("new")).unwrap();
        assert_eq!(kept.find("a").unwrap(), None);
        let outcome = Outcome::new("a", "6.12", vec![Row::default()]);
        kept.put(&outcome).unwrap();
        kept.put(&outcome).unwrap();
        assert_eq!(kept.find("a").unwrap(), Some(outcome));
        let names: Vec<_> = fs::read_dir(folder.path().join("new")).unwrap().collect();
        assert_eq!(names.len(), 1, "{names:?}");
        // As of any file that is made here.
        let mode = |path: PathBuf| fs::metadata(path).unwrap().permissions().mode();
        let plain = folder.path().join("plain");
        fs::write(&plain, "").unwrap();
        assert_eq!(mode(kept.path("a")), mode(plain));
        fs::copy(kept.path("a"), kept.path("b")).unwrap();
        let error = kept.find("b").unwrap_err().to_string();
        assert!(error.contains("no outcome") && error.contains("remove it"), "{error}");
        fs::write(kept.path("a"), "{").unwrap();
        assert!(kept.find("a").unwrap_err().to_string().contains("remove it"));
    }
}
