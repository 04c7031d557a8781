//! Plain text tables: the first column is left-aligned, all others right-aligned.

use regretless::text::SafeText;

/// A table with its heading.
#[derive(Debug)]
pub struct TextTable {
    heading: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl TextTable {
    /// An empty table.
    pub fn new<'a>(heading: impl IntoIterator<Item = &'a str>) -> Self {
        Self {
            heading: heading
                .into_iter()
                .map(|cell| cell.escaped().into_owned())
                .collect(),
            rows: Vec::new(),
        }
    }

    /// Adds a row.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        let cells = cells.into_iter();
        self.rows
            .push(cells.map(|cell| cell.escaped().into_owned()).collect());
    }

    /// The table as lines of text.
    pub fn text(&self) -> String {
        let width = |column: usize| {
            self.all()
                .map(|row| length(&row[column]))
                .max()
                .unwrap_or(0)
        };
        let widths: Vec<usize> = (0..self.heading.len()).map(width).collect();
        let rule = "─".repeat(widths.iter().sum::<usize>() + 3 * widths.len().saturating_sub(1));
        let mut lines: Vec<String> = self.all().map(|row| line(row, &widths)).collect();
        lines.insert(1, rule);
        lines
            .iter()
            .map(|line| format!("{}\n", line.trim_end()))
            .collect()
    }

    fn all(&self) -> impl Iterator<Item = &Vec<String>> {
        std::iter::once(&self.heading).chain(&self.rows)
    }
}

fn line(cells: &[String], widths: &[usize]) -> String {
    let mut line = String::new();
    for (column, (cell, width)) in cells.iter().zip(widths).enumerate() {
        let space = " ".repeat(width - length(cell));
        if column == 0 {
            line = format!("{cell}{space}");
        } else {
            line = format!("{line}   {space}{cell}");
        }
    }
    line
}

fn length(text: &str) -> usize {
    text.chars().count()
}

#[cfg(test)]
mod tests {
    use super::TextTable;

    #[test]
    fn columns_line_up() {
        let mut table = TextTable::new(["method", "ratio"]);
        table.row(["MSE".into(), "1.000".into()]);
        table.row(["MAE(O,S)".into(), "0.8 ± 0.1".into()]);
        let text = table.text();
        assert_eq!(
            text,
            "method         ratio\n────────────────────\nMSE            1.000\nMAE(O,S)   0.8 ± \
                0.1\n"
        );
    }
}
