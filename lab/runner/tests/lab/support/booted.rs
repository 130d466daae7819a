// SPDX-License-Identifier: MIT OR Apache-2.0
//! One boot of a patched kernel, without a model, and what the kernel said.

use std::time::Duration;

use huepage_lab::{
    arch::Arch,
    boot::{Case, Machine, Report, boot},
    kernel::{self, Config, Request, Variant},
    progress::Progress,
    workspace::Workspace,
};

/// What the guest and the kernel said. A kernel that complains is a failure.
pub fn run_and_log(
    arch: Arch,
    config: Config,
    guest: &'static str,
    machine: Machine,
    arguments: &[(&str, &str)],
) -> (Report, String) {
    let workspace = Workspace::find().unwrap();
    let request = Request { arch, variant: Variant::Huepage, config };
    let kernel = kernel::ensure(&request, &Progress::silent()).unwrap().path;
    let pair = |&(name, value): &(&str, &str)| (name.to_owned(), value.to_owned());
    let case = Case {
        arguments: arguments.iter().map(pair).collect(),
        limit: Duration::from_secs(600),
        ..Case::of(guest, machine).on(&request)
    };
    let mut log = String::new();
    let report = boot(&workspace, &case, &kernel, &mut |line| log += line);
    let report = report.unwrap_or_else(|error| panic!("{error:#}\n{log}"));
    for sign in ["WARNING:", "BUG:", "INFO: possible", "KASAN"] {
        assert!(!log.contains(sign), "{sign} in\n{log}");
    }
    print!("{log}");
    (report, log)
}
