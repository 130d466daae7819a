// SPDX-License-Identifier: MIT OR Apache-2.0
//! The settings that an experiment varies: names with lists of values, in a given
//! order.

use std::{
    fmt::{self, Display},
    str::FromStr,
};

use anyhow::{Context, bail, ensure};
use serde_json::{Map, Value};

/// Values by name. An experiment has defaults; `--set name=value,…` replaces a
/// list.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings(Vec<(String, Vec<String>)>);

/// One value per name: a point of the grid.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Point(Vec<(String, String)>);

impl Settings {
    /// From names and lists with commas.
    pub fn new<'a>(defaults: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let split = |list: &str| list.split(',').map(str::to_owned).collect();
        Settings(defaults.into_iter().map(|(name, list)| (name.to_owned(), split(list))).collect())
    }

    /// Applies `name=value,value`.
    ///
    /// # Errors
    /// If the experiment has no such setting (the message lists those that it has), or a
    /// value is empty.
    pub fn set(&mut self, assignment: &str) -> anyhow::Result<()> {
        let Some((name, list)) = assignment.split_once('=') else {
            bail!("'{assignment}' is no setting: write name=value or name=value,value");
        };
        let names: Vec<String> = self.0.iter().map(|(name, _)| name.clone()).collect();
        let Some((_, values)) = self.0.iter_mut().find(|(have, _)| have == name) else {
            bail!("no setting '{name}' here; there are {}", names.join(", "));
        };
        if list.split(',').any(|value| value.trim().is_empty()) {
            bail!("setting '{name}' has an empty value in '{list}'");
        }
        *values = list.split(',').map(|value| value.trim().to_owned()).collect();
        Ok(())
    }

    /// Names and values, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &[String])> {
        self.0.iter().map(|(name, values)| (name.as_str(), values.as_slice()))
    }

    /// The values of one setting.
    ///
    /// # Panics
    /// If the experiment has no such setting: a mistake in the experiment.
    pub fn values(&self, name: &str) -> &[String] {
        let found = self.0.iter().find(|(have, _)| have == name);
        &found.unwrap_or_else(|| panic!("the experiment has no setting {name}")).1
    }

    /// The values of one setting as numbers, paths, or what else can be parsed.
    pub fn parsed<T: FromStr<Err: Display>>(&self, name: &str) -> anyhow::Result<Vec<T>> {
        self.values(name).iter().map(|value| parse(name, value)).collect()
    }

    /// The only value of a setting that takes no list.
    ///
    /// # Errors
    /// If the setting has several values, or one that cannot be parsed.
    pub fn only<T: FromStr<Err: Display>>(&self, name: &str) -> anyhow::Result<T> {
        match self.values(name) {
            [value] => parse(name, value),
            values => bail!("setting '{name}' takes one value, not {}", values.join(",")),
        }
    }

    /// Every combination of the named settings, the last varying fastest.
    pub fn grid(&self, names: &[&str]) -> Vec<Point> {
        let mut points = vec![Point::default()];
        for name in names {
            let extended = points.iter().flat_map(|point| {
                self.values(name).iter().map(|value| {
                    let mut point = point.clone();
                    point.0.push(((*name).to_owned(), value.clone()));
                    point
                })
            });
            points = extended.collect();
        }
        points
    }
}

fn parse<T: FromStr<Err: Display>>(name: &str, value: &str) -> anyhow::Result<T> {
    value
        .parse()
        .map_err(|error| anyhow::anyhow!("{error}"))
        .with_context(|| format!("setting {name}={value}"))
}

impl Point {
    /// The value of one setting.
    ///
    /// # Panics
    /// If the point was not made with it: a mistake in the experiment.
    pub fn text(&self, name: &str) -> &str {
        let found = self.0.iter().find(|(have, _)| have == name);
        &found.unwrap_or_else(|| panic!("the point has no setting {name}")).1
    }

    /// The value as a number or what else can be parsed.
    pub fn parsed<T: FromStr<Err: Display>>(&self, name: &str) -> anyhow::Result<T> {
        parse(name, self.text(name))
    }

    /// The setting `seed`.
    ///
    /// # Errors
    /// A value that is no number, or 0.
    pub fn seed(&self) -> anyhow::Result<u64> {
        let seed = self.parsed("seed")?;
        ensure!(seed > 0, "setting seed=0: the generator has no such seed");
        Ok(seed)
    }

    /// As JSON: numbers as numbers.
    pub fn json(&self) -> Map<String, Value> {
        let value = |text: &String| {
            let number = text.parse::<f64>().ok().and_then(|_| serde_json::from_str(text).ok());
            number.unwrap_or_else(|| Value::String(text.clone()))
        };
        self.0.iter().map(|(name, text)| (name.clone(), value(text))).collect()
    }
}

impl Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words: Vec<String> =
            self.0.iter().map(|(name, text)| format!("{name}={text}")).collect();
        f.write_str(&words.join(" "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings() -> Settings {
        Settings::new([("fill", "0.5,1"), ("policy", "stock,shuffle"), ("seed", "1")])
    }

    #[test]
    fn a_grid_has_every_combination_once_in_order() {
        let grid = settings().grid(&["policy", "fill"]);
        let text: Vec<String> = grid.iter().map(Point::to_string).collect();
        assert_eq!(
            text,
            [
                "policy=stock fill=0.5",
                "policy=stock fill=1",
                "policy=shuffle fill=0.5",
                "policy=shuffle fill=1"
            ]
        );
        assert_eq!(
            serde_json::to_string(&grid[0].json()).unwrap(),
            r#"{"policy":"stock","fill":0.5}"#
        );
    }

    #[test]
    fn a_setting_is_replaced_and_a_wrong_one_is_named() {
        let mut settings = settings();
        settings.set("fill=2, 3").unwrap();
        assert_eq!(settings.parsed::<f64>("fill").unwrap(), [2.0, 3.0]);
        for (wrong, said) in [
            ("fil=1", "no setting 'fil' here; there are fill, policy, seed"),
            ("fill", "write name=value"),
            ("fill=1,,2", "empty value"),
        ] {
            let error = settings.set(wrong).unwrap_err().to_string();
            assert!(error.contains(said), "{error}");
        }
        assert!(settings.parsed::<u32>("policy").is_err());
        settings.set("seed=1,2").unwrap();
        assert!(settings.only::<u32>("seed").unwrap_err().to_string().contains("takes one value"));
    }
}
