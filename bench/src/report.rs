//! Report of a suite: tables on the screen, as Markdown and as CSV, and the raw data as JSON.

use std::fs;
use std::io::Write;
use std::path::Path;

use regretless::{Error, Result};
use serde_json::Value;

use crate::args::Cli;

/// A table with a title and column headings.
#[derive(Debug)]
pub struct ReportTable {
    title: String,
    heading: Vec<String>,
    rows: Vec<Vec<String>>,
}

/// Results of a suite.
#[derive(Debug, Default)]
pub struct Report {
    /// Tables, in the order in which they are shown.
    pub tables: Vec<ReportTable>,
    /// How the tables were measured, one sentence each.
    pub notes: Vec<String>,
    /// Raw measurements.
    pub raw: Vec<Value>,
}

impl ReportTable {
    /// An empty table.
    pub fn new(title: impl Into<String>, heading: &[&str]) -> Self {
        let heading = heading.iter().map(|text| (*text).to_owned()).collect();
        Self {
            title: title.into(),
            heading,
            rows: Vec::new(),
        }
    }

    /// Adds a row; missing cells at its end stay empty.
    pub fn row(&mut self, mut cells: Vec<String>) {
        cells.resize(self.heading.len(), String::new());
        self.rows.push(cells);
    }

    fn lines(&self) -> impl Iterator<Item = &Vec<String>> {
        std::iter::once(&self.heading).chain(&self.rows)
    }

    /// The table as Markdown, aligned so it reads as plain text too.
    fn markdown(&self) -> String {
        let width = |column: usize| {
            self.lines()
                .map(|row| row[column].chars().count())
                .max()
                .unwrap_or(0)
        };
        let widths: Vec<usize> = (0..self.heading.len()).map(width).collect();
        let rule: Vec<String> = widths
            .iter()
            .map(|width| "-".repeat((*width).max(1)))
            .collect();
        let mut lines: Vec<String> = self.lines().map(|row| line(row, &widths)).collect();
        lines.insert(1, line(&rule, &widths));
        format!("### {}\n\n{}\n", self.title, lines.join("\n"))
    }

    fn csv(&self) -> String {
        let cell = |text: &String| format!("\"{}\"", text.replace('"', "\"\""));
        let line = |row: &Vec<String>| row.iter().map(cell).collect::<Vec<_>>().join(",") + "\n";
        self.lines().map(line).collect()
    }
}

fn line(cells: &[String], widths: &[usize]) -> String {
    let pad = |(cell, width): (&String, &usize)| {
        format!("{cell}{}", " ".repeat(width - cell.chars().count()))
    };
    let cells: Vec<String> = cells.iter().zip(widths).map(pad).collect();
    format!("| {} |", cells.join(" | "))
}

impl Report {
    /// Writes the tables next to the raw data and prints them.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn write(&self, cli: &Cli) -> Result<()> {
        let folder = cli.folder()?;
        let tables: Vec<String> = self.tables.iter().map(ReportTable::markdown).collect();
        let notes: String = self
            .notes
            .iter()
            .map(|note| format!("* {note}\n"))
            .collect();
        let text = format!("{}\n{notes}", tables.join("\n"));
        save(&folder.join("results.md"), &text)?;
        for (number, table) in self.tables.iter().enumerate() {
            save(
                &folder.join(format!("table-{}.csv", number + 1)),
                &table.csv(),
            )?;
        }
        save(
            &folder.join("results.json"),
            &format!("{:#}\n", Value::Array(self.raw.clone())),
        )?;
        // A closed pipe is no error: the files are written.
        let _ = writeln!(std::io::stdout(), "{text}\nwritten to {}", folder.display());
        Ok(())
    }
}

fn save(path: &Path, text: &str) -> Result<()> {
    fs::write(path, text).map_err(Error::io(path))
}

#[cfg(test)]
mod tests {
    use super::ReportTable;

    #[test]
    fn short_rows_are_filled_and_columns_line_up() {
        let mut table = ReportTable::new("Times", &["case", "ms"]);
        table.row(vec!["SP5x5".into(), "1.5".into()]);
        table.row(vec!["a \"b\"".into()]);
        let text = table.markdown();
        assert_eq!(
            text,
            "### Times\n\n| case  | ms  |\n| ----- | --- |\n| SP5x5 | 1.5 |\n| a \"b\" |     |\n"
        );
        assert_eq!(table.csv().lines().last(), Some("\"a \"\"b\"\"\",\"\""));
    }
}
