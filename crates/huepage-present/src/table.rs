// SPDX-License-Identifier: MIT OR Apache-2.0
//! Rows of cells below a head, as text.

use std::fmt::Write;

use crate::escape::columns;

/// To which side a column leans.
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
    /// A table with this head: its first column leans to the left, the others, which
    /// hold figures, to the right.
    pub fn new(head: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let mut table = Table { rows: Vec::new(), align: vec![Align::Left] };
        table.row(head);
        table
    }

    /// The same with its first columns aligned otherwise.
    pub fn aligned(mut self, align: impl Into<Vec<Align>>) -> Self {
        self.align = align.into();
        self
    }

    /// Adds a row.
    pub fn row(&mut self, cells: impl IntoIterator<Item = impl Into<String>>) {
        self.rows.push(cells.into_iter().map(Into::into).collect());
    }

    /// The table as text, two spaces between columns.
    pub fn render(&self) -> String {
        let count = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            cells.map(|cell| columns(cell)).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..count).map(width).collect();
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
}
