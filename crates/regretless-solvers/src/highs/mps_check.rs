//! Checks the syntax of an MPS file, line by line, before HiGHS reads it.
//!
//! HiGHS reads `12x` as 12 and `abc` as 0, and ignores entries of unknown rows. This check reports
//! the invalid line instead. Fields are separated by blanks, as in free MPS; fixed MPS is read in
//! the same way as long as no name contains a blank, and else by `mps_fixed.rs`. Sections come in
//! the order ROWS, COLUMNS, RHS, RANGES, BOUNDS, ENDATA; the last three before ENDATA are optional,
//! and BOUNDS may come anywhere after COLUMNS.

use std::collections::{HashMap, HashSet};

/// A line number, counted from 1, and a message.
pub(super) type LineError = (u64, String);

/// Sections of an MPS file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd)]
pub(super) enum MpsSection {
    /// Before the first section with data.
    #[default]
    Head,
    /// OBJSENSE.
    Sense,
    Rows,
    Columns,
    Rhs,
    Ranges,
    Bounds,
}

/// Sections of linear models.
const SECTIONS: [&str; 8] = [
    "NAME", "OBJSENSE", "ROWS", "COLUMNS", "RHS", "RANGES", "BOUNDS", "ENDATA",
];

/// Sections of nonlinear models or special constraints.
const UNSUPPORTED_SECTIONS: [&str; 15] = [
    "QUADOBJ",
    "QMATRIX",
    "QSECTION",
    "QCMATRIX",
    "CSECTION",
    "SOS",
    "SETS",
    "INDICATORS",
    "DELAYEDROWS",
    "LAZYCONS",
    "USERCUTS",
    "MODELCUTS",
    "GENCONS",
    "PWLOBJ",
    "PWLCON",
];

/// State of the scan.
#[derive(Debug, Default)]
pub(super) struct MpsScan<'a> {
    section: MpsSection,
    /// Sections entered so far.
    seen: Vec<MpsSection>,
    rows: HashSet<&'a str>,
    /// Index of each column name.
    columns: HashMap<&'a str, usize>,
    last_column: &'a str,
    /// Rows in which the current column has an entry.
    entries: HashSet<&'a str>,
    /// Whether the current columns are between the markers of integer columns.
    in_integers: bool,
}

/// Checks a file; the error is the first invalid line.
pub(super) fn check_mps(text: &str) -> Result<(), LineError> {
    let mut scan = MpsScan::default();
    let mut number = 0;
    for line in text.lines() {
        number += 1;
        if line.starts_with('*') || line.trim().is_empty() {
            continue;
        }
        let words: Vec<&str> = line.split_whitespace().collect();
        if scan
            .scan_line(&words)
            .map_err(|message| (number, message))?
        {
            return scan.check_end().map_err(|message| (number, message));
        }
    }
    Err((number.max(1), "the file ends before ENDATA".into()))
}

impl<'a> MpsScan<'a> {
    /// Scans one line; true at the end of the data.
    fn scan_line(&mut self, words: &[&'a str]) -> Result<bool, String> {
        let keyword = words[0].to_ascii_uppercase();
        let is_single_word = words.len() == 1;
        match keyword.as_str() {
            "NAME" => self.enter_head(MpsSection::Head, "NAME")?,
            "OBJSENSE" => self.enter_sense(words)?,
            "ROWS" if is_single_word => self.enter(MpsSection::Rows, "ROWS")?,
            "COLUMNS" if is_single_word => self.enter(MpsSection::Columns, "COLUMNS")?,
            "RHS" if is_single_word => self.enter(MpsSection::Rhs, "RHS")?,
            "RANGES" if is_single_word => self.enter(MpsSection::Ranges, "RANGES")?,
            "BOUNDS" if is_single_word => self.enter(MpsSection::Bounds, "BOUNDS")?,
            "ENDATA" if is_single_word => return Ok(true),
            section if UNSUPPORTED_SECTIONS.contains(&section) && words.len() <= 2 => {
                return Err(format!(
                    "section {section} is not supported; only linear models are solved"
                ));
            }
            _ => self.scan_data(words)?,
        }
        Ok(false)
    }

    /// Scans a line that must begin a section; true at the end of the data.
    pub(super) fn scan_header(&mut self, words: &[&'a str]) -> Result<bool, String> {
        let keyword = words[0].to_ascii_uppercase();
        let is_known = SECTIONS.contains(&keyword.as_str())
            || UNSUPPORTED_SECTIONS.contains(&keyword.as_str());
        if is_known {
            self.scan_line(words)
        } else {
            Err(format!("unknown section {}", words[0]))
        }
    }

    /// The current section.
    pub(super) fn section(&self) -> MpsSection {
        self.section
    }

    fn enter_head(&mut self, section: MpsSection, name: &str) -> Result<(), String> {
        if self.seen.contains(&MpsSection::Rows) {
            return Err(format!(
                "{name} must come before ROWS, and no column or set may be called {name}"
            ));
        }
        self.section = section;
        Ok(())
    }

    fn enter_sense(&mut self, words: &[&str]) -> Result<(), String> {
        self.enter_head(MpsSection::Sense, "OBJSENSE")?;
        match words
            .get(1)
            .map(|word| word.to_ascii_uppercase())
            .as_deref()
        {
            None | Some("MAX" | "MIN") => Ok(()),
            Some(other) => Err(format!("OBJSENSE is MAX or MIN, not {other}")),
        }
    }

    fn enter(&mut self, section: MpsSection, name: &str) -> Result<(), String> {
        let require = |needed: MpsSection, needed_name: &str| {
            if self.seen.contains(&needed) {
                Ok(())
            } else {
                Err(format!(
                    "section {name} must come after section {needed_name}"
                ))
            }
        };
        match section {
            MpsSection::Head | MpsSection::Sense | MpsSection::Rows => {}
            MpsSection::Columns => require(MpsSection::Rows, "ROWS")?,
            MpsSection::Rhs | MpsSection::Ranges | MpsSection::Bounds => {
                require(MpsSection::Columns, "COLUMNS")?;
            }
        }
        if self.seen.contains(&section)
            || (section == MpsSection::Rhs && self.seen.contains(&MpsSection::Ranges))
        {
            return Err(format!("section {name} is repeated or out of order"));
        }
        self.seen.push(section);
        self.section = section;
        Ok(())
    }

    /// Scans the fields of a line within a section.
    pub(super) fn scan_data(&mut self, words: &[&'a str]) -> Result<(), String> {
        match self.section {
            MpsSection::Head => Err(format!("unknown section {}", words[0])),
            MpsSection::Sense => check_sense(words),
            MpsSection::Rows => self.scan_row(words),
            MpsSection::Columns => self.scan_column(words),
            MpsSection::Rhs | MpsSection::Ranges => self.scan_right_hand_side(words),
            MpsSection::Bounds => self.scan_bound(words),
        }
    }

    fn scan_row(&mut self, words: &[&'a str]) -> Result<(), String> {
        let [kind, name] = words else {
            return Err(field_count_error(
                "a row has a type (N, L, G or E) and a name",
                words,
            ));
        };
        if !["N", "L", "G", "E"].contains(kind) {
            return Err(format!("row type {kind} is not one of N, L, G, E"));
        }
        if self.rows.insert(name) {
            Ok(())
        } else {
            Err(format!("row {name} is defined twice"))
        }
    }

    fn scan_column(&mut self, words: &[&'a str]) -> Result<(), String> {
        if words.get(1) == Some(&"'MARKER'") {
            return self.scan_marker(words);
        }
        if words.len() != 3 && words.len() != 5 {
            return Err(field_count_error(
                "an entry has a column and one or two pairs of row and number",
                words,
            ));
        }
        if words[0] != self.last_column {
            let next = self.columns.len();
            if self.columns.insert(words[0], next).is_some() {
                return Err(format!(
                    "the entries of column {} are not consecutive",
                    words[0]
                ));
            }
            self.last_column = words[0];
            self.entries.clear();
        }
        for pair in words[1..].chunks_exact(2) {
            self.check_row_exists(pair[0])?;
            if !parse_number(pair[1])?.is_finite() {
                return Err(format!("coefficient {} is not finite", pair[1]));
            }
            if !self.entries.insert(pair[0]) {
                return Err(format!(
                    "column {} has two entries in row {}",
                    words[0], pair[0]
                ));
            }
        }
        Ok(())
    }

    fn scan_marker(&mut self, words: &[&str]) -> Result<(), String> {
        let expected = if self.in_integers {
            "'INTEND'"
        } else {
            "'INTORG'"
        };
        if words.get(2) != Some(&expected) {
            return Err(format!("expected the marker {expected}"));
        }
        self.in_integers = !self.in_integers;
        Ok(())
    }

    fn scan_right_hand_side(&self, words: &[&str]) -> Result<(), String> {
        // The name of the set is optional.
        let pairs = if self.rows.contains(words[0]) {
            words
        } else {
            &words[1..]
        };
        if pairs.len() != 2 && pairs.len() != 4 {
            return Err(field_count_error(
                "a line has an optional set name and one or two pairs of row and number",
                words,
            ));
        }
        pairs.chunks_exact(2).try_for_each(|pair| {
            self.check_row_exists(pair[0])?;
            parse_number(pair[1]).map(|_| ())
        })
    }

    fn scan_bound(&self, words: &[&str]) -> Result<(), String> {
        let kind = words[0];
        let has_no_value = ["FR", "MI", "PL", "BV"].contains(&kind);
        if !has_no_value && !["UP", "LO", "FX", "LI", "UI", "SC", "SI"].contains(&kind) {
            return Err(format!("unknown bound type {kind}"));
        }
        let has_no_set = words
            .get(1)
            .is_some_and(|word| self.columns.contains_key(word));
        let column_and_value = if has_no_set {
            &words[1..]
        } else {
            words.get(2..).unwrap_or_default()
        };
        match column_and_value {
            [column] if has_no_value => self.check_column_exists(column),
            [column, value] => self
                .check_column_exists(column)
                .and_then(|()| parse_number(value).map(|_| ())),
            _ => Err(field_count_error(
                "a bound has a type, an optional set name, a column and a number",
                words,
            )),
        }
    }

    fn check_row_exists(&self, name: &str) -> Result<(), String> {
        if self.rows.contains(name) {
            Ok(())
        } else {
            Err(format!("row {name} is not defined in section ROWS"))
        }
    }

    fn check_column_exists(&self, name: &str) -> Result<(), String> {
        if self.columns.contains_key(name) {
            Ok(())
        } else {
            Err(format!("column {name} is not defined in section COLUMNS"))
        }
    }

    /// Checks at the end of the data that no section is missing.
    pub(super) fn check_end(&self) -> Result<(), String> {
        if self.seen.contains(&MpsSection::Columns) {
            Ok(())
        } else {
            Err("the file has no section COLUMNS".into())
        }
    }
}

fn check_sense(words: &[&str]) -> Result<(), String> {
    let word = words[0].to_ascii_uppercase();
    let is_known = words.len() == 1 && (word.starts_with("MAX") || word.starts_with("MIN"));
    if is_known {
        Ok(())
    } else {
        Err(format!("OBJSENSE is MAX or MIN, not {}", words.join(" ")))
    }
}

fn field_count_error(rule: &str, words: &[&str]) -> String {
    format!(
        "{rule}, but this line has {} fields (a file with blanks in names must have its fields in \
         the columns of fixed format: 2, 5, 15, 25, 40 and 50)",
        words.len()
    )
}

/// A number in MPS notation, including Fortran's `1.5D3`.
fn parse_number(word: &str) -> Result<f64, String> {
    match word.replace(['d', 'D'], "e").parse::<f64>() {
        Ok(value) if !value.is_nan() => Ok(value),
        Ok(_) | Err(_) => Err(format!("{word} is not a number")),
    }
}

#[cfg(test)]
mod tests {
    use super::check_mps;

    const GOOD: &str = "NAME T\nROWS\n N obj\n L cap\nCOLUMNS\n x obj 1 cap 2\n y obj 1\nRHS\n RHS \
        cap 4\nBOUNDS\n UP B x 1\nENDATA\n";

    #[test]
    fn a_well_formed_file_passes() {
        assert_eq!(check_mps(GOOD), Ok(()));
        assert_eq!(check_mps(&GOOD.replace("RHS cap 4", "cap 4D0")), Ok(()));
    }

    #[test]
    fn the_error_names_the_invalid_line() {
        let wrong = |from: &str, to: &str| check_mps(&GOOD.replace(from, to)).unwrap_err();
        assert_eq!(
            wrong("y obj 1", "y obj 1x"),
            (7, "1x is not a number".into())
        );
        assert_eq!(
            wrong("y obj 1", "y obj nan"),
            (7, "nan is not a number".into())
        );
        assert_eq!(
            wrong("RHS cap 4", "RHS cup 4"),
            (9, "row cup is not defined in section ROWS".into())
        );
        assert_eq!(
            wrong("UP B x 1", "UQ B x 1"),
            (11, "unknown bound type UQ".into())
        );
        assert_eq!(wrong("UP B x 1", "UP B z 1").0, 11);
        assert_eq!(
            wrong("ENDATA\n", ""),
            (11, "the file ends before ENDATA".into())
        );
        assert_eq!(
            wrong("ROWS\n", "ROWZ\n"),
            (2, "unknown section ROWZ".into())
        );
        assert_eq!(wrong(" L cap", " Q cap").0, 4);
        assert_eq!(wrong("x obj 1 cap 2", "x obj 1 obj 2").0, 6);
        assert_eq!(wrong("COLUMNS", "BOUNDS").0, 5);
        assert_eq!(wrong("x obj 1 cap 2", "x obj 1 cap").0, 6);
        assert_eq!(
            check_mps(""),
            Err((1, "the file ends before ENDATA".into()))
        );
    }
}
