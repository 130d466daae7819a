// SPDX-License-Identifier: MIT OR Apache-2.0
//! `lab/selftests.list`: which programs are run, in which order, and what is set
//! before.

use anyhow::{Context, bail, ensure};
use glob::Pattern;

use crate::{arch::Arch, workspace::Workspace};

/// What is run and set, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct List(Vec<Entry>);

/// A line of the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// A value that is written to a file: the file, and the value.
    Write(String, String),
    /// A program that is run.
    Test(Test),
}

/// A program with its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Test {
    /// After this long, by the guest's clock, it has failed.
    pub seconds: u64,
    /// Its directory in `tools/testing/selftests`.
    pub folder: String,
    /// Its file there.
    pub program: String,
    /// Its arguments.
    pub arguments: Vec<String>,
}

impl List {
    /// The list of this checkout: the entries that run on `arch` and match `filter`.
    ///
    /// # Errors
    /// If it cannot be read, a line is wrong, or no test matches.
    pub fn read(workspace: &Workspace, arch: Arch, filter: Option<&str>) -> anyhow::Result<Self> {
        let path = workspace.root().join("lab/selftests.list");
        let what = || path.display().to_string();
        let text = std::fs::read_to_string(&path).with_context(what)?;
        let mut list = List::parse(&text, arch).with_context(what)?;
        if let Some(filter) = filter {
            let pattern = Pattern::new(filter).with_context(|| format!("filter '{filter}'"))?;
            list.0.retain(|entry| match entry {
                Entry::Write(..) => true,
                Entry::Test(test) => pattern.matches(&test.name()),
            });
        }
        let none = || filter.map_or("for this architecture".into(), |f| format!("like '{f}'"));
        ensure!(list.tests().next().is_some(), "{} has no test {}", what(), none());
        Ok(list)
    }

    fn parse(text: &str, arch: Arch) -> anyhow::Result<Self> {
        let mut entries = Vec::new();
        for (number, line) in (1..).zip(text.lines()) {
            let words: Vec<&str> =
                line.split('#').next().unwrap_or_default().split_whitespace().collect();
            let entry = entry(&words, arch).with_context(|| format!("line {number}"))?;
            if let Some(Entry::Test(test)) = &entry {
                let twice = entries.contains(&Entry::Test(test.clone()));
                ensure!(!twice, "line {number}: {} is there already", test.name());
            }
            entries.extend(entry);
        }
        Ok(List(entries))
    }

    /// Lines in order.
    pub fn entries(&self) -> &[Entry] {
        &self.0
    }

    /// Tests in order.
    pub fn tests(&self) -> impl Iterator<Item = &Test> {
        self.0.iter().filter_map(|entry| match entry {
            Entry::Test(test) => Some(test),
            Entry::Write(..) => None,
        })
    }
}

impl Test {
    /// As `mm/ksm_tests -M -p 10`.
    pub fn name(&self) -> String {
        let mut name = self.path();
        for argument in &self.arguments {
            name += " ";
            name += argument;
        }
        name
    }

    /// As `mm/ksm_tests`.
    pub fn path(&self) -> String {
        format!("{}/{}", self.folder, self.program)
    }

    /// Whether it is a script, which needs a shell and tools.
    pub fn is_script(&self) -> bool {
        self.program.ends_with(".sh")
    }
}

/// `write PATH VALUE`, or `SECONDS [ARCHITECTURE] PROGRAM ARGUMENT...`.
fn entry(words: &[&str], arch: Arch) -> anyhow::Result<Option<Entry>> {
    match words {
        [] => Ok(None),
        ["write", path, value] if path.starts_with('/') => {
            Ok(Some(Entry::Write((*path).to_owned(), (*value).to_owned())))
        }
        [seconds, rest @ ..] => {
            let seconds = seconds.parse().context("a test begins with its limit in seconds")?;
            let archs = [Arch::X86_64, Arch::Arm64];
            let only = archs.into_iter().find(|arch| rest.first() == Some(&arch.name()));
            let rest = if only.is_some() { &rest[1..] } else { rest };
            let [path, arguments @ ..] = rest else { bail!("there is no program") };
            let (folder, program) = path.rsplit_once('/').context("a program is DIRECTORY/NAME")?;
            let test = Test {
                seconds,
                folder: folder.to_owned(),
                program: program.to_owned(),
                arguments: arguments.iter().map(|&word| word.to_owned()).collect(),
            };
            Ok(only.is_none_or(|only| only == arch).then_some(Entry::Test(test)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
# Comments say why.
write /proc/sys/vm/nr_hugepages 128   # both architectures
60 mm/map_hugetlb
20 x86_64 mm/ksm_tests -M -p 10
";

    fn names(arch: Arch) -> Vec<String> {
        List::parse(TEXT, arch).unwrap().tests().map(Test::name).collect()
    }

    #[test]
    fn lines_are_tests_and_what_is_written_before() {
        let list = List::parse(TEXT, Arch::X86_64).unwrap();
        let written = Entry::Write("/proc/sys/vm/nr_hugepages".into(), "128".into());
        assert_eq!(list.entries()[0], written);
        assert_eq!(names(Arch::X86_64), ["mm/map_hugetlb", "mm/ksm_tests -M -p 10"]);
        assert_eq!(list.tests().nth(1).unwrap().seconds, 20);
    }

    #[test]
    fn a_test_of_one_architecture_is_not_run_on_the_other() {
        assert_eq!(names(Arch::Arm64), ["mm/map_hugetlb"]);
    }

    #[test]
    fn a_line_that_is_wrong_is_named() {
        for (line, why) in [
            ("mm/cow", "begins with its limit"),
            ("10", "no program"),
            ("10 cow", "DIRECTORY/NAME"),
            ("write /proc/x", "begins with its limit"),
            ("1 mm/cow\n1 mm/cow", "line 2: mm/cow is there already"),
        ] {
            let error = format!("{:#}", List::parse(line, Arch::X86_64).unwrap_err());
            assert!(error.starts_with("line ") && error.contains(why), "{error}");
        }
    }

    #[test]
    fn the_list_of_this_checkout_can_be_read() {
        let workspace = Workspace::find().unwrap();
        for arch in [Arch::X86_64, Arch::Arm64] {
            let list = List::read(&workspace, arch, Some("page_color/*")).unwrap();
            assert_eq!(list.tests().count(), 1);
        }
        // Over arguments too, as in a shell's `case`.
        let list = List::read(&workspace, Arch::X86_64, Some("mm/*tests -[MN]*")).unwrap();
        assert!(list.tests().all(|test| test.name().starts_with("mm/ksm_tests -")));
        for (filter, why) in [("none", "no test like 'none'"), ("mm/[", "filter 'mm/['")] {
            let error = List::read(&workspace, Arch::Arm64, Some(filter)).unwrap_err();
            assert!(error.to_string().contains(why), "{error:#}");
        }
    }
}
