// SPDX-License-Identifier: MIT OR Apache-2.0
//! Help, man pages and completions: what a user reads before the first run.

mod support;

use std::{collections::BTreeSet, fs, path::Path, process::Output};

use support::{assert_refused, code, huepage, stderr, stdout, unread};

const COMMANDS: [&[&str]; 20] = [
    &[],
    &["topology"],
    &["colors"],
    &["palette"],
    &["map"],
    &["merged"],
    &["pressure"],
    &["run"],
    &["demo"],
    &["bench"],
    &["bench", "working-set"],
    &["bench", "matmul"],
    &["bench", "fft"],
    &["bench", "repeat"],
    &["bench", "exec"],
    &["export"],
    &["features"],
    &["bugreport"],
    &["completions"],
    &["man"],
];

fn help_of(command: &[&str], flag: &str) -> String {
    let output = huepage(command).arg(flag).output().unwrap();
    assert_eq!((code(&output), stderr(&output)), (Some(0), String::new()), "{command:?}");
    stdout(&output)
}

#[test]
fn every_command_has_help_that_fits_and_tells_its_exit_codes() {
    for command in COMMANDS {
        for flag in ["-h", "--help"] {
            let help = help_of(command, flag);
            for line in help.lines() {
                assert!(line.chars().count() <= 80, "{command:?}: {line}");
            }
            let usage = format!("Usage: {}", [&["huepage"], command].concat().join(" "));
            assert!(help.contains(&usage), "{command:?}: {help}");
            if !matches!(command, ["completions" | "man"]) {
                assert!(help.contains("Exit codes:"), "{command:?}: {help}");
            }
            if command.len() < 2 {
                assert!(help.contains("Example"), "{command:?}: {help}");
            }
        }
    }
}

/// Names and summaries below `Commands:`.
fn listed(help: &str) -> Vec<(String, String)> {
    help.lines()
        .skip_while(|line| *line != "Commands:")
        .skip(1)
        .take_while(|line| !line.is_empty())
        .map(|line| {
            // A summary of two lines would begin its second with spaces here.
            let (name, summary) = line.trim_start().split_once(' ').unwrap_or((line.trim(), ""));
            (name.to_owned(), summary.trim().to_owned())
        })
        .collect()
}

#[test]
fn every_command_is_listed_with_a_summary_of_one_line() {
    for parent in [&[][..], &["bench"]] {
        let below = COMMANDS.iter().filter_map(|command| match command.strip_prefix(parent) {
            Some(&[name]) => Some(name),
            _ => None,
        });
        let names: Vec<&str> = below.chain(["help"]).collect();
        let listed = listed(&help_of(parent, "--help"));
        let found: Vec<&str> = listed.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(found, names);
        assert!(listed.iter().all(|(_, summary)| !summary.is_empty()), "{listed:?}");
    }
}

#[test]
fn a_usage_error_names_what_is_there() {
    for (arguments, message) in [
        (&[][..], "Usage: huepage <COMMAND>"),
        (&["colours"], "a similar subcommand exists: 'colors'"),
        (&["completions"], "<SHELL>"),
        (&["completions", "cmd"], "[possible values: bash, elvish, fish, powershell, zsh]"),
        (&["man"], "<DIR>"),
    ] {
        let output = huepage(arguments).output().unwrap();
        assert_refused(&output, 2, message);
    }
}

#[test]
fn help_that_cannot_be_written_is_an_error_and_help_that_nobody_reads_is_none() {
    for arguments in [&["--help"][..], &["help", "colors"], &["--version"]] {
        let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let output = huepage(arguments).stdout(full).output().unwrap();
        assert_eq!(code(&output), Some(1), "{arguments:?}: {output:?}");
        let start = "huepage: writing to standard output: No space left on device";
        assert!(stderr(&output).starts_with(start), "{arguments:?}: {output:?}");
        let output = unread(&mut huepage(arguments));
        assert_eq!((code(&output), stderr(&output)), (Some(0), String::new()), "{arguments:?}");
    }
}

#[test]
fn completions_know_commands_options_and_values_in_every_shell() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let output = huepage(&["completions", shell]).output().unwrap();
        assert_eq!((code(&output), stderr(&output)), (Some(0), String::new()), "{shell}");
        let script = stdout(&output);
        for word in ["working-set", "colors-by", "placements", "topology"] {
            assert!(script.contains(word), "{shell}: {word}");
        }
        // Elvish and PowerShell complete names, not values.
        if !matches!(shell, "elvish" | "powershell") {
            assert!(script.contains("auto") && script.contains("shuffled-labels"), "{shell}");
        }
    }
}

/// A script that bash cannot read would break every shell that loads it.
#[test]
fn bash_reads_its_completions_and_completes_by_them() {
    let directory = tempfile::tempdir().unwrap();
    let script = directory.path().join("huepage.bash");
    fs::write(&script, huepage(&["completions", "bash"]).output().unwrap().stdout).unwrap();
    let program = r#"
        . "$1"
        COMP_WORDS=(huepage colors --colors-by f)
        COMP_CWORD=3
        _huepage huepage f --colors-by
        echo "${COMPREPLY[@]}""#;
    let bash = std::process::Command::new("bash").args(["-c", program, "-"]).arg(&script).output();
    let Ok(output) = bash else { return println!("skipped: there is no bash here") };
    assert_eq!((stdout(&output).as_str(), stderr(&output).as_str()), ("frame-number\n", ""));
}

fn man(directory: &Path, arguments: &[&str]) -> Output {
    huepage(&["man"]).arg(directory).args(arguments).output().unwrap()
}

#[test]
fn every_command_has_a_man_page_in_a_directory_that_is_made() {
    let directory = tempfile::tempdir().unwrap();
    let pages = directory.path().join("share/man1");
    let output = man(&pages, &[]);
    assert_eq!((code(&output), stdout(&output), stderr(&output)), (Some(0), "".into(), "".into()));
    let name = |command: &&[&str]| [&["huepage"], *command].concat().join("-") + ".1";
    let wanted: BTreeSet<String> = COMMANDS.iter().map(name).collect();
    let found: BTreeSet<String> = fs::read_dir(&pages)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(found, wanted);
    let page = fs::read_to_string(pages.join("huepage-colors.1")).unwrap();
    assert!(page.contains(".TH huepage-colors 1"), "{page}");
    for part in [".SH SYNOPSIS", "\\-\\-colors\\-by", ".SH \"EXIT STATUS\"", "CAP_SYS_ADMIN"] {
        assert!(page.contains(part), "{part}: {page}");
    }
}

#[test]
fn man_pages_are_overwritten_only_by_force_and_all_or_none() {
    let directory = tempfile::tempdir().unwrap();
    let page = directory.path().join("huepage-man.1");
    fs::write(&page, "precious").unwrap();
    let refused = man(directory.path(), &[]);
    assert_eq!((code(&refused), stdout(&refused)), (Some(1), String::new()));
    let message = format!("huepage: {} exists: give -f to overwrite it\n", page.display());
    assert_eq!(stderr(&refused), message);
    assert_eq!(fs::read_to_string(&page).unwrap(), "precious");
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
    assert_eq!(code(&man(directory.path(), &["-f"])), Some(0));
    assert!(fs::read_to_string(&page).unwrap().contains(".TH huepage-man 1"));
}

#[test]
fn man_pages_that_cannot_be_written_are_told() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("file");
    fs::write(&file, "").unwrap();
    let output = man(&file, &[]);
    assert_refused(&output, 1, "cannot make the directory ");
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let output = huepage(&["completions", "zsh"]).stdout(writer).output().unwrap();
    assert_eq!((code(&output), stderr(&output)), (Some(0), String::new()));
}
