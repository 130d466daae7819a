// SPDX-License-Identifier: MIT OR Apache-2.0
//! `huepage palette` from a user's side: the real binary, its text, messages and exit
//! codes.

mod support;

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::Path,
    process::{Command, Output},
};

use serde_json::Value;
use support::{
    Unprivileged, alone, assert_done, assert_plain, assert_refused, assert_silent, huepage,
    integer, json, no_colors_here, stdout,
};

/// With directories of its own, which hold palettes until `--remove`.
struct Home(tempfile::TempDir);

impl Home {
    fn new() -> Self {
        Home(tempfile::tempdir().unwrap())
    }

    fn shared(&self) -> std::path::PathBuf {
        self.0.path().join("shared")
    }

    /// A command that begins with `palette --shared-dir`, here.
    fn command(&self, mut command: Command, arguments: &[&str]) -> Command {
        command.arg(self.shared()).args(arguments).env("XDG_RUNTIME_DIR", self.0.path());
        command
    }

    fn palette(&self, arguments: &[&str]) -> Output {
        self.command(huepage(&["palette", "--shared-dir"]), arguments).output().unwrap()
    }

    /// One that is made, if there are colors here.
    fn with(&self, option: &str) -> Option<Output> {
        let output = Some(self.palette(&[option])).filter(|output| !no_colors_here(output))?;
        assert_silent(&output);
        Some(output)
    }

    fn json(&self, arguments: &[&str]) -> Value {
        let output = self.palette(&[arguments, &["--json"]].concat());
        assert_silent(&output);
        json(&output)
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        self.palette(&["--remove"]);
        self.palette(&["--remove=all"]);
    }
}

fn entry<'a>(report: &'a Value, audience: &str) -> &'a Value {
    let palettes = report["palettes"].as_array().unwrap();
    palettes.iter().find(|entry| entry["audience"] == audience).unwrap()
}

#[test]
fn bad_values_are_told_with_exit_code_2_before_anything_is_made() {
    let home = Home::new();
    for (arguments, message) in [
        (&["--make", "--remove"][..], "cannot be used with"),
        (&["--publish", "--make"], "cannot be used with"),
        (&["--remove=others"], "[possible values: own, all]"),
        (&["--cpu", "99999"], " is not available to this process: choose one of "),
        (&["--cache", "size=2M"], "ways is missing: write at least size=SIZE,ways=N"),
        (&["extra"], "unexpected argument 'extra'"),
    ] {
        assert_refused(&home.palette(arguments), 2, message);
    }
    assert_eq!(fs::read_dir(home.0.path()).unwrap().count(), 0);
}

#[test]
fn a_palette_is_made_shown_and_removed() {
    let _alone = alone();
    let home = Home::new();
    let Some(output) = home.with("--make") else { return };
    let text = stdout(&output);
    assert!(text.contains("made anew in ") && text.contains("your own"), "{text}");
    // A path is as long as it is.
    assert_plain(&text.replace(home.0.path().to_str().unwrap(), ""));

    let shown = home.json(&[]);
    assert_eq!(entry(&shown, "all")["condition"], "absent");
    let own = entry(&shown, "user");
    assert_eq!(own["condition"], "verified", "{own}");
    let palette = &own["palette"];
    let per_color = palette["pages_per_color"].as_array().unwrap();
    assert_eq!(integer(&palette["colors"]), per_color.len() as u64);
    let pages: u64 = per_color.iter().map(integer).sum();
    assert_eq!((integer(&palette["pages"]), integer(&palette["bytes"])), (pages, 4096 * pages));
    // It is the one that was made, and looking changes nothing.
    assert!(text.contains(palette["name"].as_str().unwrap()), "{text}");
    assert_eq!(entry(&home.json(&[]), "user")["palette"]["name"], palette["name"]);

    let removed = home.json(&["--remove"]);
    assert_eq!(
        (&removed["action"], &entry(&removed, "user")["palette"]),
        (&"removed".into(), &Value::Null)
    );
    assert_eq!(home.json(&["--remove"])["action"], "nothing-to-remove");
    assert_eq!(entry(&home.json(&[]), "user")["condition"], "absent");
}

#[test]
fn a_damaged_palette_is_shown_as_what_it_is() {
    let _alone = alone();
    let home = Home::new();
    let Some(_) = home.with("--make") else { return };
    let made = home.json(&[]);
    let path = entry(&made, "user")["path"].as_str().unwrap().to_owned();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    let text = stdout(&home.palette(&[]));
    assert!(text.contains("not used") && text.contains("lets others in"), "{text}");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o400)).unwrap();
    assert_eq!(entry(&home.json(&[]), "user")["condition"], "verified");
}

#[test]
fn the_palette_for_all_is_roots() {
    let _alone = alone();
    let home = Home::new();
    let Some(user) = Unprivileged::new() else { return };
    let Some(_) = home.with("--publish") else { return };
    fs::set_permissions(home.0.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let as_user = |arguments: &[&str]| {
        home.command(user.command(&["palette", "--shared-dir"]), arguments).output().unwrap()
    };
    let report = json(&as_user(&["--json"]));
    assert_eq!(entry(&report, "all")["condition"], "verified", "{report}");
    assert_eq!(entry(&report, "all")["palette"]["owner"], 0);
    for arguments in [&["--publish"][..], &["--remove=all"]] {
        assert_refused(&as_user(arguments), 1, "only root");
    }
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o7777;
    assert_eq!(mode(&home.shared()), 0o755);
    assert_eq!(mode(Path::new(entry(&report, "all")["path"].as_str().unwrap())), 0o444);
}

/// A benchmark by the palette finds it, and does not make another.
#[test]
fn a_benchmark_takes_the_palette() {
    let _alone = alone();
    let home = Home::new();
    let Some(_) = home.with("--make") else { return };
    let name = entry(&home.json(&[]), "user")["palette"]["name"].clone();
    let rest = ["repeat", "--palette", "--visits", "2", "--time-limit", "0", "--json"];
    let mut command = huepage(&["bench"]);
    command.args(rest).args(["--placements", "balanced", "--allocations", "2"]);
    let output = command.env("XDG_RUNTIME_DIR", home.0.path()).output().unwrap();
    assert_done(&output);
    assert_eq!(entry(&home.json(&[]), "user")["palette"]["name"], name);
}
