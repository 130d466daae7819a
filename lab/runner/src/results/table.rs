// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tables in Markdown, aligned so that they can be read as they are.

use serde_json::Value;

use super::Row;

/// What a column says of a row; a dash where the row has no such metric.
#[derive(Clone, Copy)]
pub enum Column {
    /// What was set.
    Set(&'static str),
    /// A metric: words as they are, lists with spaces.
    Text(&'static str),
    /// A metric, rounded to so many digits.
    Number(&'static str, usize),
    /// A metric as a whole number with commas.
    Count(&'static str),
    /// A share in percent, without the sign.
    Percent(&'static str),
    /// Anything else.
    Of(fn(&Row) -> String),
}

impl Column {
    /// The cell of a row.
    pub fn of(&self, row: &Row) -> String {
        match *self {
            Column::Set(name) => row.setting(name),
            Column::Text(name) => match row.metrics.get(name) {
                None => "–".to_owned(),
                Some(Value::String(text)) => text.clone(),
                Some(Value::Array(items)) => {
                    items.iter().map(Value::to_string).collect::<Vec<_>>().join(" ")
                }
                Some(value) => value.to_string(),
            },
            Column::Number(name, digits) => number(row.metric(name), digits),
            Column::Count(name) => cell(row.metric(name), thousands),
            Column::Percent(name) => number(row.metric(name).map(|share| 100.0 * share), 1),
            Column::Of(text) => text(row),
        }
    }
}

/// A table: a head and rows of cells. Numbers are aligned to the right.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    head: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// One with these columns.
    pub fn new<S: Into<String>>(head: impl IntoIterator<Item = S>) -> Self {
        Table { head: head.into_iter().map(Into::into).collect(), rows: Vec::new() }
    }

    /// One with these columns, and then those.
    pub fn wide(first: &[&str], more: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let first = first.iter().map(|&name| name.to_owned());
        Table::new(first.chain(more.into_iter().map(Into::into)))
    }

    /// A row of cells for each row of results.
    pub fn of<'a>(columns: &[(&str, Column)], rows: impl IntoIterator<Item = &'a Row>) -> Self {
        let mut table = Table::new(columns.iter().map(|(head, _)| *head));
        for row in rows {
            table.row(columns.iter().map(|(_, column)| column.of(row)));
        }
        table
    }

    /// Whether it has no rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Adds a row.
    ///
    /// # Panics
    /// If it has another number of cells than the head.
    pub fn row<S: Into<String>>(&mut self, cells: impl IntoIterator<Item = S>) {
        let cells: Vec<String> =
            cells.into_iter().map(|cell| cell.into().replace('|', "\\|")).collect();
        assert_eq!(cells.len(), self.head.len(), "cells of a row");
        self.rows.push(cells);
    }

    /// Adds a row of these cells, and then those.
    pub fn wide_row<S: Into<String>, T: Into<String>>(
        &mut self,
        first: impl IntoIterator<Item = S>,
        more: impl IntoIterator<Item = T>,
    ) {
        self.row(first.into_iter().map(Into::into).chain(more.into_iter().map(Into::into)));
    }

    /// As Markdown.
    pub fn markdown(&self) -> String {
        let columns = 0..self.head.len();
        let right: Vec<bool> = columns
            .clone()
            .map(|c| !self.rows.is_empty() && self.rows.iter().all(|row| numeric(&row[c])))
            .collect();
        let widths: Vec<usize> = columns
            .map(|c| {
                let cells = self.rows.iter().map(|row| &row[c]).chain([&self.head[c]]);
                cells.map(|cell| cell.chars().count()).max().unwrap_or(0).max(3)
            })
            .collect();
        let line = |cells: &[String]| {
            let cells = cells.iter().enumerate().map(|(c, cell)| {
                let width = widths[c];
                if right[c] { format!("{cell:>width$}") } else { format!("{cell:width$}") }
            });
            format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "))
        };
        let rule: Vec<String> = (0..self.head.len())
            .map(|c| match right[c] {
                true => format!("{}:", "-".repeat(widths[c] - 1)),
                false => "-".repeat(widths[c]),
            })
            .collect();
        let rule = format!("| {} |\n", rule.join(" | "));
        let rows: String = self.rows.iter().map(|row| line(row)).collect();
        line(&self.head) + &rule + &rows
    }
}

/// A figure, or a dash if there is none.
pub fn cell<T>(value: Option<T>, show: impl FnOnce(T) -> String) -> String {
    value.map_or_else(|| "–".into(), show)
}

/// A figure, rounded to so many digits.
pub fn number(value: Option<f64>, digits: usize) -> String {
    cell(value, |value| format!("{value:.digits$}"))
}

/// What the first has more than the second: `+1.2 %`.
pub fn change(first: Option<f64>, second: Option<f64>) -> String {
    cell(first.zip(second), |(first, second)| format!("{:+.1} %", 100.0 * (first / second - 1.0)))
}

/// A count, rounded, with commas: `9,038,460`.
pub fn thousands(count: f64) -> String {
    let digits = format!("{count:.0}");
    let mut text = String::new();
    for (n, digit) in digits.chars().enumerate() {
        if n > 0 && (digits.len() - n).is_multiple_of(3) && !text.ends_with('-') {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A share: `12.3 %`; a dash if it is no number.
pub fn percent(share: f64) -> String {
    let text = format!("{:.1} %", 100.0 * share);
    if !share.is_finite() { "–".into() } else { text.replace("-0.0 %", "0.0 %") }
}

fn numeric(cell: &str) -> bool {
    let digits = cell.trim_end_matches([' ', '%', '×']).replace(',', "");
    cell.is_empty() || cell == "–" || digits.parse::<f64>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_percent_and_nothing_has_no_sign() {
        assert_eq!(
            [0.1234, -0.0004, -0.1, f64::NAN].map(percent),
            ["12.3 %", "0.0 %", "-10.0 %", "–"]
        );
    }

    #[test]
    fn counts_have_commas() {
        let counts = [0.0, 999.0, 1000.4, 9_038_460.0, -100.0, -1234.0];
        let text = ["0", "999", "1,000", "9,038,460", "-100", "-1,234"];
        assert_eq!(counts.map(thousands), text);
    }

    #[test]
    fn columns_are_aligned_by_what_they_hold() {
        let mut table = Table::new(["kernel", "misses"]);
        table.row(["stock", "9,038,460"]);
        table.row(["a|b", "8 %"]);
        assert_eq!(
            table.markdown(),
            "| kernel |    misses |\n\
             | ------ | --------: |\n\
             | stock  | 9,038,460 |\n\
             | a\\|b   |       8 % |\n"
        );
    }
}
