// SPDX-License-Identifier: MIT OR Apache-2.0
//! Rows of cells below a head, as text or Markdown.

use std::fmt::Write;

use crate::escape::columns;

/// The alignment of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// Names.
    Left,
    /// Figures.
    Right,
}

/// Rows of cells under a head.
#[derive(Clone, Debug)]
pub struct Table {
    rows: Vec<Vec<String>>,
    align: Vec<Align>,
}

impl Table {
    /// A table with this head: its first column is aligned to the left, the others,
    /// which hold figures, to the right.
    pub fn new(head: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let mut table = Table { rows: Vec::new(), align: vec![Align::Left] };
        table.row(head);
        table
    }

    /// The same with other alignments of its first columns.
    pub fn aligned(mut self, align: impl Into<Vec<Align>>) -> Self {
        self.align = align.into();
        self
    }

    /// A table with the columns `first`, then `more`.
    pub fn wide(first: &[&str], more: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let first = first.iter().map(|&name| name.to_owned());
        Table::new(first.chain(more.into_iter().map(Into::into)))
    }

    /// Whether it has no rows below its head.
    pub fn is_empty(&self) -> bool {
        self.rows.len() < 2
    }

    /// Adds a row.
    pub fn row(&mut self, cells: impl IntoIterator<Item = impl Into<String>>) {
        self.rows.push(cells.into_iter().map(Into::into).collect());
    }

    /// Adds a row of the cells `first`, then `more`.
    pub fn wide_row(
        &mut self,
        first: impl IntoIterator<Item = impl Into<String>>,
        more: impl IntoIterator<Item = impl Into<String>>,
    ) {
        self.row(first.into_iter().map(Into::into).chain(more.into_iter().map(Into::into)));
    }

    /// The table as text, two spaces between columns.
    pub fn render(&self) -> String {
        let widths = widths(&self.rows);
        let mut text = String::new();
        for row in &self.rows {
            let mut line = String::new();
            for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
                let gap = if column > 0 { "  " } else { "" };
                let room = width - columns(cell);
                let _ = match self.align.get(column) {
                    Some(Align::Left) => write!(line, "{gap}{cell}{:room$}", ""),
                    _ => write!(line, "{gap}{:room$}{cell}", ""),
                };
            }
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text
    }

    /// The table in Markdown that is readable as text. Columns with only figures are
    /// aligned to the right, whatever the alignment set.
    ///
    /// # Panics
    /// If a row has another number of cells than the head.
    pub fn markdown(&self) -> String {
        let escaped = |row: &Vec<String>| row.iter().map(|cell| cell.replace('|', "\\|")).collect();
        let all: Vec<Vec<String>> = self.rows.iter().map(escaped).collect();
        let [head, rows @ ..] = &all[..] else { return String::new() };
        assert!(rows.iter().all(|row| row.len() == head.len()), "cells of a row");
        let widths: Vec<usize> = widths(&all).into_iter().map(|width| width.max(3)).collect();
        let right: Vec<bool> = (0..head.len())
            .map(|column| !rows.is_empty() && rows.iter().all(|row| is_figure(&row[column])))
            .collect();
        let line = |cells: &[String]| {
            let cells = cells.iter().zip(&widths).zip(&right).map(|((cell, width), right)| {
                let room = width.saturating_sub(columns(cell));
                if *right { format!("{:room$}{cell}", "") } else { format!("{cell}{:room$}", "") }
            });
            format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "))
        };
        let rule: Vec<String> = widths
            .iter()
            .zip(&right)
            .map(
                |(&width, right)| {
                    if *right { format!("{}:", "-".repeat(width - 1)) } else { "-".repeat(width) }
                },
            )
            .collect();
        let rows: String = rows.iter().map(|row| line(row)).collect();
        line(head) + &line(&rule) + &rows
    }
}

/// How wide each column is.
fn widths(rows: &[Vec<String>]) -> Vec<usize> {
    let count = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| columns(cell)).max().unwrap_or(0)
    };
    (0..count).map(width).collect()
}

fn is_figure(cell: &str) -> bool {
    let digits = cell.trim_end_matches([' ', '%', '×']).replace(',', "");
    cell.is_empty() || cell == "–" || digits.parse::<f64>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_whatever_their_cells() {
        let mut table = Table::new(["size", "a", "long head"]);
        table.row(["1 MiB", "1.00", "2"]);
        table.row(["½", "12.00", ""]);
        assert_eq!(
            table.render(),
            "size       a  long head\n1 MiB   1.00          2\n½      12.00\n"
        );
    }

    #[test]
    fn columns_lean_as_told_and_wide_letters_count_twice() {
        let mut table =
            Table::new(["PID", "COLORS", "NAME"]).aligned([Align::Right, Align::Left, Align::Left]);
        table.row(["7", "文", "a"]);
        assert_eq!(table.render(), "PID  COLORS  NAME\n  7  文      a\n");
    }
    #[test]
    fn columns_of_figures_lean_to_the_right_in_markdown() {
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
