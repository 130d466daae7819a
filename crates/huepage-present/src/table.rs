// SPDX-License-Identifier: MIT OR Apache-2.0
//! A plain table: first column to the left, figures to the right.

use std::fmt::Write;

/// Rows of cells under a head.
pub struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with this head.
    pub fn new(head: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let mut table = Table { rows: Vec::new() };
        table.row(head);
        table
    }

    /// Adds a row.
    pub fn row(&mut self, cells: impl IntoIterator<Item = impl Into<String>>) {
        self.rows.push(cells.into_iter().map(Into::into).collect());
    }

    /// The table as text, two spaces between columns.
    pub fn render(&self) -> String {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        let mut text = String::new();
        for row in &self.rows {
            let mut line = String::new();
            for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
                let _ = match column {
                    0 => write!(line, "{cell:width$}"),
                    _ => write!(line, "  {cell:>width$}"),
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
}
