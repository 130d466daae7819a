// SPDX-License-Identifier: MIT OR Apache-2.0
//! Every patch of the series leaves a kernel that builds, since a bisection can stop at
//! any of them.

use std::collections::BTreeSet;

use anyhow::Context;

use super::{
    build::{Options, ensure_with},
    changes::Changes,
    install::Image,
    request::{Request, Variant},
    series,
};
use crate::{progress::Progress, workspace::Workspace};

/// Builds the kernel after each patch, in order, and calls `each` with it and the
/// patch's name.
///
/// # Errors
/// If the series and the files do not match, a build fails, or `each` does; the message
/// names the patch.
pub fn bisect(
    request: &Request,
    progress: &Progress,
    each: &mut dyn FnMut(&str, &Image) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let workspace = Workspace::find()?;
    let request = Request { variant: Variant::Huepage, ..*request };
    let changes = Changes::read(&workspace.kernel())?;
    let mut applied = BTreeSet::new();
    for patch in series::read(&workspace.kernel(), &changes)? {
        applied.extend(patch.overlay.iter().map(|(path, _)| format!("overlay/{path}")));
        applied.extend(patch.hooks.iter().map(|hook| hook.name.clone()));
        let until_here = changes.only(|name| applied.contains(name));
        ensure_with(&workspace, &request, until_here, Options::MayComeLater, progress)
            .and_then(|image| each(&patch.name, &image))
            .with_context(|| format!("after {}", patch.name))?;
    }
    Ok(())
}
