// SPDX-License-Identifier: MIT OR Apache-2.0
//! Cells of tables: values of a row of results, and how figures are written.

use huepage_present::table::Table;
use serde_json::Value;

use super::Row;

/// The value of a column for a row; a dash if the row has no such metric.
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

/// A table with a row of cells for each row of results.
pub fn table_of<'a>(columns: &[(&str, Column)], rows: impl IntoIterator<Item = &'a Row>) -> Table {
    let mut table = Table::new(columns.iter().map(|(head, _)| *head));
    for row in rows {
        table.row(columns.iter().map(|(_, column)| column.of(row)));
    }
    table
}

/// The text of a column for an item.
pub type Says<'a, T> = &'a dyn Fn(&T) -> String;

/// A table with a row for each item: for each column a head and a function of the item.
pub fn table_by<T>(columns: &[(&str, Says<'_, T>)], items: impl IntoIterator<Item = T>) -> Table {
    let mut table = Table::new(columns.iter().map(|(head, _)| *head));
    for item in items {
        table.row(columns.iter().map(|(_, cell)| cell(&item)));
    }
    table
}

/// A figure, or a dash if there is none.
pub fn cell<T>(value: Option<T>, show: impl FnOnce(T) -> String) -> String {
    value.map_or_else(|| "–".into(), show)
}

/// A figure, rounded to so many digits.
pub fn number(value: Option<f64>, digits: usize) -> String {
    cell(value, |value| format!("{value:.digits$}"))
}

/// By how much the first is more than the second: `+1.2 %`.
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

/// The interval of a share, limited to 0 and 100 %: `1.0 % to 2.0 %`.
pub fn percent_within((low, high): (f64, f64)) -> String {
    format!("{} to {}", percent(low.max(0.0)), percent(high.min(1.0)))
}

/// A share: `12.3 %`; a dash if it is no number.
pub fn percent(share: f64) -> String {
    let text = format!("{:.1} %", 100.0 * share);
    if !share.is_finite() { "–".into() } else { text.replace("-0.0 %", "0.0 %") }
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
}
