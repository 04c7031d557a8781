//! Checks the syntax of an MPS file, line by line, before HiGHS reads it.
//!
//! HiGHS reads `12x` as 12 and `abc` as 0, and ignores entries of unknown rows. This check reports
//! the invalid line instead. Fields are separated by blanks, as in free MPS; fixed MPS is read in
//! the same way as long as no name contains a blank. Sections come in the order ROWS, COLUMNS, RHS,
//! RANGES, BOUNDS, ENDATA; the last three before ENDATA are optional, and BOUNDS may come anywhere
//! after COLUMNS.

use std::collections::{HashMap, HashSet};

/// A line number, counted from 1, and a message.
pub(super) type LineError = (u64, String);

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd)]
enum MpsSection {
    Head,
    Sense,
    Rows,
    Columns,
    Rhs,
    Ranges,
    Bounds,
}

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
#[derive(Debug)]
struct MpsScan<'a> {
    section: MpsSection,
    seen: Vec<MpsSection>,
    rows: HashSet<&'a str>,
    /// Index of each column name.
    columns: HashMap<&'a str, usize>,
    last_column: &'a str,
    /// Rows in which the current column has an entry.
    entries: HashSet<&'a str>,
    in_integers: bool,
}

/// Checks a file; the error is the first invalid line.
pub(super) fn check_mps(text: &str) -> Result<(), LineError> {
    let mut scan = MpsScan {
        section: MpsSection::Head,
        seen: Vec::new(),
        rows: HashSet::new(),
        columns: HashMap::new(),
        last_column: "",
        entries: HashSet::new(),
        in_integers: false,
    };
    let mut number = 0;
    for line in text.lines() {
        number += 1;
        if line.starts_with('*') || line.trim().is_empty() {
            continue;
        }
        let words: Vec<&str> = line.split_whitespace().collect();
        if scan.line(&words).map_err(|message| (number, message))? {
            return scan.check_end().map_err(|message| (number, message));
        }
    }
    Err((number.max(1), "the file ends before ENDATA".into()))
}

impl<'a> MpsScan<'a> {
    /// Scans one line; true at the end of the data.
    fn line(&mut self, words: &[&'a str]) -> Result<bool, String> {
        let keyword = words[0].to_ascii_uppercase();
        let alone = words.len() == 1;
        match keyword.as_str() {
            "NAME" => self.enter_head(MpsSection::Head, "NAME")?,
            "OBJSENSE" => self.sense_section(words)?,
            "ROWS" if alone => self.enter(MpsSection::Rows, "ROWS")?,
            "COLUMNS" if alone => self.enter(MpsSection::Columns, "COLUMNS")?,
            "RHS" if alone => self.enter(MpsSection::Rhs, "RHS")?,
            "RANGES" if alone => self.enter(MpsSection::Ranges, "RANGES")?,
            "BOUNDS" if alone => self.enter(MpsSection::Bounds, "BOUNDS")?,
            "ENDATA" if alone => return Ok(true),
            foreign if UNSUPPORTED_SECTIONS.contains(&foreign) && words.len() <= 2 => {
                return Err(format!(
                    "section {foreign} is not supported; only linear models are solved"
                ));
            }
            _ => self.data(words)?,
        }
        Ok(false)
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

    fn sense_section(&mut self, words: &[&str]) -> Result<(), String> {
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
        let needs = |needed: MpsSection, needed_name: &str| {
            if self.seen.contains(&needed) {
                Ok(())
            } else {
                Err(format!(
                    "section {name} needs section {needed_name} before it"
                ))
            }
        };
        match section {
            MpsSection::Head | MpsSection::Sense | MpsSection::Rows => {}
            MpsSection::Columns => needs(MpsSection::Rows, "ROWS")?,
            MpsSection::Rhs | MpsSection::Ranges | MpsSection::Bounds => {
                needs(MpsSection::Columns, "COLUMNS")?;
            }
        }
        if self.seen.contains(&section)
            || (section == MpsSection::Rhs && self.seen.contains(&MpsSection::Ranges))
        {
            return Err(format!("section {name} comes twice or too late"));
        }
        self.seen.push(section);
        self.section = section;
        Ok(())
    }

    fn data(&mut self, words: &[&'a str]) -> Result<(), String> {
        match self.section {
            MpsSection::Head => Err(format!("unknown section {}", words[0])),
            MpsSection::Sense => sense(words),
            MpsSection::Rows => self.row(words),
            MpsSection::Columns => self.column(words),
            MpsSection::Rhs | MpsSection::Ranges => self.right_hand_side(words),
            MpsSection::Bounds => self.bound(words),
        }
    }

    fn row(&mut self, words: &[&'a str]) -> Result<(), String> {
        let [kind, name] = words else {
            return Err(fields("a row has a type (N, L, G or E) and a name", words));
        };
        if !["N", "L", "G", "E"].contains(kind) {
            return Err(format!("row type {kind} is not one of N, L, G, E"));
        }
        if self.rows.insert(name) {
            Ok(())
        } else {
            Err(format!("row {name} comes twice"))
        }
    }

    fn column(&mut self, words: &[&'a str]) -> Result<(), String> {
        if words.get(1) == Some(&"'MARKER'") {
            return self.marker(words);
        }
        if words.len() != 3 && words.len() != 5 {
            return Err(fields(
                "an entry has a column and one or two pairs of row and number",
                words,
            ));
        }
        if words[0] != self.last_column {
            let next = self.columns.len();
            if self.columns.insert(words[0], next).is_some() {
                return Err(format!("column {} appears in two places", words[0]));
            }
            self.last_column = words[0];
            self.entries.clear();
        }
        for pair in words[1..].chunks_exact(2) {
            self.known_row(pair[0])?;
            if !number(pair[1])?.is_finite() {
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

    fn marker(&mut self, words: &[&str]) -> Result<(), String> {
        let expected = if self.in_integers {
            "'INTEND'"
        } else {
            "'INTORG'"
        };
        if words.get(2) != Some(&expected) {
            return Err(format!("this marker must be {expected}"));
        }
        self.in_integers = !self.in_integers;
        Ok(())
    }

    fn right_hand_side(&self, words: &[&str]) -> Result<(), String> {
        // The name of the set is optional.
        let pairs = if self.rows.contains(words[0]) {
            words
        } else {
            &words[1..]
        };
        if pairs.len() != 2 && pairs.len() != 4 {
            return Err(fields(
                "after the name of the set there are one or two pairs of row and number",
                words,
            ));
        }
        pairs.chunks_exact(2).try_for_each(|pair| {
            self.known_row(pair[0])?;
            number(pair[1]).map(|_| ())
        })
    }

    fn bound(&self, words: &[&str]) -> Result<(), String> {
        let kind = words[0];
        let has_no_value = ["FR", "MI", "PL", "BV"].contains(&kind);
        if !has_no_value && !["UP", "LO", "FX", "LI", "UI", "SC", "SI"].contains(&kind) {
            return Err(format!("unknown type of bound {kind}"));
        }
        let has_no_set = words
            .get(1)
            .is_some_and(|word| self.columns.contains_key(word));
        let rest = if has_no_set {
            &words[1..]
        } else {
            words.get(2..).unwrap_or_default()
        };
        match rest {
            [column] if has_no_value => self.known_column(column),
            [column, value] => self
                .known_column(column)
                .and_then(|()| number(value).map(|_| ())),
            _ => Err(fields(
                "a bound has a type, the name of a set, a column and a number",
                words,
            )),
        }
    }

    fn known_row(&self, name: &str) -> Result<(), String> {
        if self.rows.contains(name) {
            Ok(())
        } else {
            Err(format!("row {name} is not among the ROWS"))
        }
    }

    fn known_column(&self, name: &str) -> Result<(), String> {
        if self.columns.contains_key(name) {
            Ok(())
        } else {
            Err(format!("column {name} is not among the COLUMNS"))
        }
    }

    fn check_end(&self) -> Result<(), String> {
        if self.seen.contains(&MpsSection::Columns) {
            Ok(())
        } else {
            Err("there is no section COLUMNS".into())
        }
    }
}

fn sense(words: &[&str]) -> Result<(), String> {
    let word = words[0].to_ascii_uppercase();
    let is_known = words.len() == 1 && (word.starts_with("MAX") || word.starts_with("MIN"));
    if is_known {
        Ok(())
    } else {
        Err(format!(
            "the objective's sense is MAX or MIN, not {}",
            words.join(" ")
        ))
    }
}

fn fields(rule: &str, words: &[&str]) -> String {
    format!(
        "{rule}, but this line has {} fields (names with blanks are not supported)",
        words.len()
    )
}

/// A number in MPS notation, including Fortran's `1.5D3`.
fn number(word: &str) -> Result<f64, String> {
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
            (9, "row cup is not among the ROWS".into())
        );
        assert_eq!(
            wrong("UP B x 1", "UQ B x 1"),
            (11, "unknown type of bound UQ".into())
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
