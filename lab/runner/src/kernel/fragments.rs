// SPDX-License-Identifier: MIT OR Apache-2.0
//! Config fragments: the options that they set together, and whether Kconfig has taken
//! them.

use std::{collections::BTreeMap, fmt, fs, path::Path};

use anyhow::{Context, bail};

use super::request::Fragment;

/// The options that fragments set; the last one that names an option decides.
#[derive(Debug, Default, PartialEq)]
pub struct Settings(BTreeMap<String, Setting>);

#[derive(Debug, PartialEq)]
struct Setting {
    /// As a `.config` has it.
    line: String,
    fragment: String,
}

/// An option that Kconfig did not take.
#[derive(Debug, PartialEq)]
pub struct Unmet {
    asked: String,
    fragment: String,
    got: Option<String>,
}

impl Settings {
    /// Reads fragments from `lab/configs`.
    pub fn read(directory: &Path, fragments: &[Fragment]) -> anyhow::Result<Self> {
        let mut settings = Settings::default();
        for Fragment { name, optional } in fragments {
            let path = directory.join(name);
            if *optional && !path.exists() {
                continue;
            }
            let text = fs::read_to_string(&path)
                .with_context(|| format!("config fragment {}", path.display()))?;
            settings.merge(name, &text)?;
        }
        Ok(settings)
    }

    fn merge(&mut self, fragment: &str, text: &str) -> anyhow::Result<()> {
        let mut seen = BTreeMap::new();
        for (number, line) in (1..).zip(text.lines()) {
            let at = format!("{fragment}:{number}");
            let Some((option, line)) = parse(line).with_context(|| at.clone())? else { continue };
            if let Some(before) = seen.insert(option.to_owned(), number) {
                bail!("{at}: {option} is in line {before} already: delete one of the two");
            }
            self.0.insert(option.to_owned(), Setting { line, fragment: fragment.to_owned() });
        }
        Ok(())
    }

    /// The options that one fragment sets.
    #[cfg(test)]
    pub fn of(fragment: &str, text: &str) -> Self {
        let mut settings = Settings::default();
        settings.merge(fragment, text).unwrap();
        settings
    }

    /// All of it, as a file for `KCONFIG_ALLCONFIG`.
    pub fn allconfig(&self) -> String {
        self.0.values().map(|setting| setting.line.clone() + "\n").collect()
    }

    /// A whole `.config` in which these options replace its own.
    pub fn over(&self, dot_config: &str) -> String {
        let is_ours = |line: &&str| {
            let option = parse_any(line);
            option.is_some_and(|option| self.0.contains_key(option))
        };
        let kept =
            dot_config.lines().filter(|line| !is_ours(line)).map(|line| line.to_owned() + "\n");
        kept.collect::<String>() + &self.allconfig()
    }

    /// The options that have another value in a finished `.config`.
    pub fn unmet(&self, dot_config: &str) -> Vec<Unmet> {
        let got: BTreeMap<&str, String> =
            dot_config.lines().filter_map(|line| parse(line).ok().flatten()).collect();
        let differs = |(option, Setting { line, fragment }): (&String, &Setting)| {
            let off = off(option);
            let got = got.get(option.as_str()).unwrap_or(&off);
            (got != line).then(|| Unmet {
                asked: line.clone(),
                fragment: fragment.clone(),
                got: (*got != off).then(|| got.clone()),
            })
        };
        self.0.iter().filter_map(differs).collect()
    }
}

impl Unmet {
    /// Whether only the variant huepage asks for it.
    pub fn is_ours(&self) -> bool {
        self.fragment.starts_with("huepage")
    }
}

impl fmt::Display for Unmet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Unmet { asked, fragment, got } = self;
        write!(f, "{fragment} asks for {asked}, ")?;
        match got {
            Some(got) => write!(f, "Kconfig made it {got}"),
            None => write!(f, "Kconfig dropped it: no such option, or it depends on one not set"),
        }
    }
}

/// The line of an option that is not set.
fn off(option: &str) -> String {
    format!("# {option} is not set")
}

/// The option of a line, and the line as in a `.config`; `None` for an empty line or a
/// remark.
fn parse(line: &str) -> anyhow::Result<Option<(&str, String)>> {
    let line = line.trim_end();
    if let Some(rest) = line.strip_prefix('#') {
        let option = rest.trim_start().strip_suffix(" is not set");
        return Ok(option.filter(|option| is_option(option)).map(|option| (option, off(option))));
    }
    if line.is_empty() {
        return Ok(None);
    }
    match line.split_once('=') {
        Some((option, value)) if is_option(option) => match value {
            "" => bail!("{option} has no value"),
            "n" => Ok(Some((option, off(option)))),
            "m" => bail!("{option}=m: kernels of the lab have no modules; write y"),
            _ => Ok(Some((option, line.to_owned()))),
        },
        _ => bail!("`{line}` is neither CONFIG_NAME=value nor `# CONFIG_NAME is not set`"),
    }
}

/// The option of a line of any `.config`; unlike in the lab's fragments, it may be `m`.
fn parse_any(line: &str) -> Option<&str> {
    let option = match line.strip_prefix("# ") {
        Some(rest) => rest.strip_suffix(" is not set")?,
        None => line.split_once('=')?.0,
    };
    is_option(option).then_some(option)
}

fn is_option(text: &str) -> bool {
    text.strip_prefix("CONFIG_").is_some_and(|name| {
        !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(fragments: &[(&str, &str)]) -> Settings {
        let mut settings = Settings::default();
        for (name, text) in fragments {
            settings.merge(name, text).unwrap();
        }
        settings
    }

    #[test]
    fn the_last_fragment_decides() {
        let settings = settings(&[
            ("base", "# A remark about CONFIG_A\nCONFIG_A=y\nCONFIG_B=y\nCONFIG_N=64\n"),
            ("late", "# CONFIG_A is not set\nCONFIG_C=\"x y\"\n"),
        ]);
        assert_eq!(
            settings.allconfig(),
            "# CONFIG_A is not set\nCONFIG_B=y\nCONFIG_C=\"x y\"\nCONFIG_N=64\n"
        );
    }

    #[test]
    fn a_whole_config_keeps_what_fragments_do_not_name() {
        let whole =
            "# A remark\nCONFIG_A=m\n# CONFIG_B is not set\nCONFIG_A_LONG=m\nCONFIG_S=\"\"\n";
        let settings = settings(&[("x", "# CONFIG_A is not set\nCONFIG_B=y\nCONFIG_NEW=y\n")]);
        assert_eq!(
            settings.over(whole),
            "# A remark\nCONFIG_A_LONG=m\nCONFIG_S=\"\"\n# CONFIG_A is not set\nCONFIG_B=y\n\
             CONFIG_NEW=y\n"
        );
    }

    #[test]
    fn a_config_that_has_all_of_it_is_met() {
        let settings = settings(&[("base", "CONFIG_A=y\n# CONFIG_B is not set\nCONFIG_C=n\n")]);
        assert_eq!(settings.unmet("CONFIG_A=y\n# CONFIG_C is not set\nCONFIG_D=y\n"), []);
    }

    #[test]
    fn an_option_that_kconfig_dropped_or_changed_is_named() {
        let settings = settings(&[
            ("base", "CONFIG_DROPPED=y\nCONFIG_N=64\n"),
            ("late", "# CONFIG_SELECTED is not set\n"),
        ]);
        let unmet = settings.unmet("CONFIG_N=8\nCONFIG_SELECTED=y\nCONFIG_DROPPED_TOO=y\n");
        let text: Vec<String> = unmet.iter().map(Unmet::to_string).collect();
        assert_eq!(
            text,
            [
                "base asks for CONFIG_DROPPED=y, Kconfig dropped it: no such option, or it depends on \
             one not set",
                "base asks for CONFIG_N=64, Kconfig made it CONFIG_N=8",
                "late asks for # CONFIG_SELECTED is not set, Kconfig made it CONFIG_SELECTED=y",
            ]
        );
    }

    #[test]
    fn what_is_no_option_is_refused_with_its_line() {
        for (text, cause) in [
            ("CONFIG_A=y\nCONFIG_B\n", "x:2: `CONFIG_B` is neither"),
            ("config_a=y", "x:1: `config_a=y` is neither"),
            ("CONFIG_A=", "x:1: CONFIG_A has no value"),
            ("CONFIG_A=m", "x:1: CONFIG_A=m: kernels of the lab have no modules"),
            ("CONFIG_A=y\n\n# CONFIG_A is not set", "x:3: CONFIG_A is in line 1 already"),
        ] {
            let error = Settings::default().merge("x", text).unwrap_err();
            let error = format!("{error:#}");
            assert!(error.starts_with(cause), "{text:?}: {error}");
        }
    }

    #[test]
    fn a_missing_fragment_is_an_error_unless_it_may_be_missing() {
        let directory = tempfile::tempdir().unwrap();
        let fragment = |optional| [Fragment { name: "none.config".into(), optional }];
        assert_eq!(Settings::read(directory.path(), &fragment(true)).unwrap(), Settings::default());
        let error = Settings::read(directory.path(), &fragment(false)).unwrap_err();
        assert!(error.to_string().contains("none.config"), "{error}");
    }
}
