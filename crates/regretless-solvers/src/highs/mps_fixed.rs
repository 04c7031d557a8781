//! Fixed-format MPS, whose names may contain blanks: fields are found by their columns.
//!
//! HiGHS and most other programs separate fields by blanks, which works for every fixed file whose
//! names have none. A file with blanks in names is read here by columns (2–3, 5–12, 15–22, 25–36,
//! 40–47, 50–61; IBM's MPSX) and rewritten in free format under numbered names, which HiGHS reads;
//! the model then gets its names back. Whatever makes a field uncertain is refused: characters
//! between fields, tabs, other than ASCII characters, a second set of right-hand sides, ranges or
//! bounds.

use std::collections::HashMap;
use std::fmt::Write;
use std::ops::Range;

use super::mps_check::{LineError, MpsScan, MpsSection};

/// Bytes of the six fields of a line.
const FIELDS: [Range<usize>; 6] = [1..3, 4..12, 14..22, 24..36, 39..47, 49..61];

/// The word of lines that mark integer columns.
const MARKER: &str = "'MARKER'";

/// A fixed-format file with blanks in names.
#[derive(Debug)]
pub(super) struct FixedMps {
    /// The same model in free format, with rows r0, r1, … and columns c0, c1, …
    pub(super) free_text: String,
    rows: Vec<String>,
    columns: Vec<String>,
}

impl FixedMps {
    /// Reads a file by columns.
    ///
    /// # Errors
    /// When it is not in fixed format or not a valid model; the error is the first invalid line.
    pub(super) fn read(text: &str) -> Result<Self, LineError> {
        let mut reader = FixedReader::default();
        let mut scan = MpsScan::default();
        let mut number = 0;
        for line in text.lines() {
            number += 1;
            let is_end = reader
                .read_line(line, &mut scan)
                .map_err(|message| (number, message))?;
            if is_end {
                scan.check_end().map_err(|message| (number, message))?;
                return Ok(Self {
                    free_text: reader.free_text,
                    rows: reader.rows.list,
                    columns: reader.columns.list,
                });
            }
        }
        Err((number.max(1), "the file ends before ENDATA".into()))
    }

    /// The name of a row or column of the rewritten file.
    pub(super) fn original_name(&self, name: &str) -> Option<&str> {
        let (kind, number) = name.split_at_checked(1)?;
        let number: usize = number.parse().ok()?;
        let names = match kind {
            "r" => &self.rows,
            "c" => &self.columns,
            _ => return None,
        };
        names.get(number).map(String::as_str)
    }
}

/// Whether every line with data is in fixed format and a name has a blank in it; the first line
/// that is not in fixed format ends the search.
pub(super) fn has_names_with_blanks(text: &str) -> bool {
    let mut found = false;
    for line in text.lines() {
        if line.starts_with("ENDATA") {
            break;
        }
        if !line.starts_with(' ') || line.trim().is_empty() || is_marker(line) {
            continue;
        }
        let Some(fields) = split_fields(line) else {
            return false;
        };
        found |= [fields[1], fields[2], fields[4]]
            .iter()
            .any(|name| name.contains(' '));
    }
    found
}

fn is_marker(line: &str) -> bool {
    line.split_whitespace().any(|word| word == MARKER)
}

/// The fields of a line without the blanks around them; `None` if characters are between them.
fn split_fields(line: &str) -> Option<[&str; 6]> {
    let line = line.trim_end();
    if !line.is_ascii() || line.contains('\t') {
        return None;
    }
    let mut fields = [""; 6];
    let mut end = 0;
    for (field, range) in fields.iter_mut().zip(&FIELDS) {
        let gap = line.get(end..range.start.min(line.len()));
        if gap.is_some_and(|gap| !gap.trim().is_empty()) {
            return None;
        }
        *field = line
            .get(range.start..range.end.min(line.len()))
            .unwrap_or_default()
            .trim();
        end = range.end;
    }
    match line.get(end..) {
        Some(rest) if !rest.trim().is_empty() => None,
        _ => Some(fields),
    }
}

/// Names in the order of their definition.
#[derive(Debug, Default)]
struct NumberedNames {
    list: Vec<String>,
    numbers: HashMap<String, usize>,
}

impl NumberedNames {
    fn number(&mut self, name: &str) -> usize {
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        self.list.push(name.to_owned());
        self.numbers.insert(name.to_owned(), self.list.len() - 1);
        self.list.len() - 1
    }
}

#[derive(Debug, Default)]
struct FixedReader {
    free_text: String,
    rows: NumberedNames,
    columns: NumberedNames,
    /// The set that the current section names.
    set: Option<String>,
}

impl FixedReader {
    /// Reads one line; true at the end of the data.
    fn read_line<'a>(&mut self, line: &'a str, scan: &mut MpsScan<'a>) -> Result<bool, String> {
        if line.starts_with('*') || line.trim().is_empty() {
            return Ok(false);
        }
        if !line.starts_with(' ') {
            let words: Vec<&str> = line.split_whitespace().collect();
            self.set = None;
            let is_end = scan.scan_header(&words)?;
            // The model's name may contain blanks and is not used.
            let header = if words[0] == "NAME" { "NAME" } else { line };
            let _ = writeln!(self.free_text, "{header}");
            return Ok(is_end);
        }
        if is_marker(line) {
            return self.read_marker(line, scan).map(|()| false);
        }
        let fields = split_fields(line)
            .ok_or("the line is not in fixed format: characters are between its fields")?;
        match scan.section() {
            MpsSection::Head | MpsSection::Sense => {
                let words: Vec<&str> = line.split_whitespace().collect();
                scan.scan_data(&words)?;
                let _ = writeln!(self.free_text, "{line}");
            }
            MpsSection::Rows => {
                require_empty(&fields[2..])?;
                scan.scan_data(&fields[..2])?;
                let number = self.rows.number(fields[1]);
                let _ = writeln!(self.free_text, " {} r{number}", fields[0]);
            }
            MpsSection::Columns => {
                require_empty(&fields[..1])?;
                scan.scan_data(&present(&fields[1..], 0))?;
                let column = self.columns.number(fields[1]);
                let pairs = self.row_pairs(&fields);
                let _ = writeln!(self.free_text, " c{column}{pairs}");
            }
            MpsSection::Rhs | MpsSection::Ranges => {
                require_empty(&fields[..1])?;
                self.check_set(fields[1])?;
                let words = present(&fields[1..], usize::from(fields[1].is_empty()));
                scan.scan_data(&words)?;
                let pairs = self.row_pairs(&fields);
                let _ = writeln!(self.free_text, " S{pairs}");
            }
            MpsSection::Bounds => {
                require_empty(&fields[4..])?;
                self.check_set(fields[1])?;
                let mut words = vec![fields[0]];
                words.extend(present(&fields[1..4], usize::from(fields[1].is_empty())));
                scan.scan_data(&words)?;
                let column = self.columns.number(fields[2]);
                let _ = writeln!(self.free_text, " {} S c{column} {}", fields[0], fields[3]);
            }
        }
        Ok(false)
    }

    /// Markers of integer columns are separated by blanks: publishers do not agree on their
    /// columns.
    fn read_marker<'a>(&mut self, line: &'a str, scan: &mut MpsScan<'a>) -> Result<(), String> {
        let kind = line.split_whitespace().next_back().unwrap_or_default();
        scan.scan_data(&["M", MARKER, kind])?;
        let _ = writeln!(self.free_text, " M {MARKER} {kind}");
        Ok(())
    }

    /// The pairs of row and number in fields 3 to 6.
    fn row_pairs(&mut self, fields: &[&str; 6]) -> String {
        let mut pairs = format!(" r{} {}", self.rows.number(fields[2]), fields[3]);
        if !fields[4].is_empty() {
            let _ = write!(pairs, " r{} {}", self.rows.number(fields[4]), fields[5]);
        }
        pairs
    }

    /// A section has one set; others would be ignored by some programs and added by others.
    fn check_set(&mut self, name: &str) -> Result<(), String> {
        match &self.set {
            Some(first) if first != name => Err(format!(
                "the section has the sets '{first}' and '{name}'; one is supported"
            )),
            Some(_) => Ok(()),
            None => {
                self.set = Some(name.to_owned());
                Ok(())
            }
        }
    }
}

fn require_empty(fields: &[&str]) -> Result<(), String> {
    match fields.iter().find(|field| !field.is_empty()) {
        None => Ok(()),
        Some(field) => Err(format!("'{field}' is in a field that must be empty")),
    }
}

/// The fields from `first` on, up to the last one that is not empty.
fn present<'a>(fields: &[&'a str], first: usize) -> Vec<&'a str> {
    let last = fields.iter().rposition(|field| !field.is_empty());
    let end = last.map_or(first, |last| last + 1).max(first);
    fields[first..end].to_vec()
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::path::PathBuf;

    use super::super::read::c_path;
    use super::super::{LinearModel, Lp};
    use super::{FixedMps, has_names_with_blanks, split_fields};

    /// Rows and columns with blanks, a range, a constant, integer columns and bounds.
    const BLANKS: &str = "\
NAME          A MODEL
ROWS
 N  TOTAL CO
 L  ROOM 1
 G  MIN OUT
 E  B
COLUMNS
    X ONE     TOTAL CO           1.5   ROOM 1               2
    X ONE     B                    1
    MARKER    'MARKER'                 'INTORG'
    Y 2 Z     TOTAL CO            -2   MIN OUT            1.0
    Y 2 Z     ROOM 1               1
    MARKER    'MARKER'                 'INTEND'
    W         ROOM 1            -.5    B                    1
RHS
    R H S     ROOM 1              10   MIN OUT              1
    R H S     TOTAL CO            -7   B                    4
RANGES
    RNG       ROOM 1               4
BOUNDS
 UP BND       Y 2 Z                5
 FR BND       W
 LO BND       X ONE               .5
ENDATA
";

    #[test]
    fn fields_are_found_by_their_columns() {
        let fields = split_fields("    X ONE     TOTAL CO           1.5   ROOM 1               2");
        assert_eq!(
            fields,
            Some(["", "X ONE", "TOTAL CO", "1.5", "ROOM 1", "2"])
        );
        assert_eq!(split_fields(" UP BND       X").unwrap()[2], "X");
        // Every field to its last column.
        let full = format!(
            " UP {:<10}{:<10}{:>12}   {:<10}{:>12}",
            "12345678", "A      Z", "-1.234567e-9", "B      Z", "-7.654321e-9"
        );
        let fields = split_fields(&full).unwrap();
        assert_eq!(fields[..3], ["UP", "12345678", "A      Z"]);
        assert_eq!(fields[3..], ["-1.234567e-9", "B      Z", "-7.654321e-9"]);
        assert_eq!(split_fields(&format!("{full}0")), None);
        for line in [
            " x obj 1 cap 2",
            "\tX         R",
            "    é         R",
            "    LONGNAME_ R",
        ] {
            assert_eq!(split_fields(line), None, "{line}");
        }
    }

    #[test]
    fn the_model_is_rewritten_under_numbered_names() {
        assert!(has_names_with_blanks(BLANKS));
        let fixed = FixedMps::read(BLANKS).unwrap();
        assert_eq!(fixed.rows, ["TOTAL CO", "ROOM 1", "MIN OUT", "B"]);
        assert_eq!(fixed.columns, ["X ONE", "Y 2 Z", "W"]);
        assert_eq!(fixed.original_name("c1"), Some("Y 2 Z"));
        assert_eq!(fixed.original_name("c3"), None);
        let lines: Vec<&str> = fixed.free_text.lines().collect();
        assert!(lines.contains(&" c0 r0 1.5 r1 2") && lines.contains(&" S r0 -7 r3 4"));
        assert!(lines.contains(&" UP S c1 5") && lines.contains(&" FR S c2 "));
        // Many published files have their markers elsewhere.
        let elsewhere = BLANKS.replace(" 'MARKER'  ", "              'MARKER'  ");
        assert_ne!(elsewhere, BLANKS);
        let elsewhere = FixedMps::read(&elsewhere).unwrap();
        assert_eq!(elsewhere.free_text, fixed.free_text);
    }

    fn file(folder: &tempfile::TempDir, text: &str) -> PathBuf {
        let path = folder.path().join("m.mps");
        let mut file = std::fs::File::create(&path).unwrap();
        file.write_all(text.as_bytes()).unwrap();
        path
    }

    #[test]
    fn the_model_is_the_one_that_the_fixed_format_reader_of_highs_reads() {
        let folder = tempfile::tempdir().unwrap();
        let path = file(&folder, BLANKS);
        let model = LinearModel::read(&path).unwrap();
        let mut highs = Lp::new().unwrap();
        highs.raw.read(&c_path(&path).unwrap()).unwrap();
        let expected = highs.raw.model().unwrap();
        assert_eq!(
            (model.offset, &model.cost),
            (expected.offset, &expected.cost)
        );
        assert_eq!(
            model.offset, 7.0,
            "minus the right-hand side of the objective"
        );
        let bounds = |lower: &[f64], upper: &[f64]| -> Vec<[f64; 2]> {
            lower.iter().zip(upper).map(|(l, u)| [*l, *u]).collect()
        };
        assert_eq!(
            model.column_bounds,
            bounds(&expected.lower, &expected.upper)
        );
        assert_eq!(
            model.row_bounds,
            bounds(&expected.row_lower, &expected.row_upper)
        );
        assert_eq!(model.row_bounds[0], [6.0, 10.0], "a range");
        assert_eq!(model.rows.index, expected.rows.index);
        assert_eq!(model.rows.value, expected.rows.value);
        assert_eq!(model.integer, [false, true, false]);
        assert_eq!(*model.column_names, ["X ONE", "Y 2 Z", "W"]);
        assert_eq!(*model.row_names, ["ROOM 1", "MIN OUT", "B"]);
    }

    #[test]
    fn files_without_blanks_in_names_are_read_in_free_format() {
        let folder = tempfile::tempdir().unwrap();
        let named = |text: &str| LinearModel::read(&file(&folder, text));
        let without = BLANKS.replace("X ONE", "X_ONE").replace("Y 2 Z", "Y_2_Z");
        let without = without
            .replace("ROOM 1", "ROOM_1")
            .replace("TOTAL CO", "TOTAL_CO");
        let without = without
            .replace("MIN OUT", "MIN_OUT")
            .replace("R H S", "R_H_S");
        assert!(!has_names_with_blanks(&without));
        let (free, fixed) = (named(&without).unwrap(), named(BLANKS).unwrap());
        assert_eq!((free.cost, free.row_bounds), (fixed.cost, fixed.row_bounds));
    }

    #[test]
    fn a_file_that_is_valid_in_both_formats_is_refused() {
        // By blanks, column A has entries in R and S; by columns, column `A R 5` has one in S.
        let entry = "    A R 5     S                    2";
        let text = format!("NAME\nROWS\n N  COST\n L  R\n L  S\nCOLUMNS\n{entry}\nENDATA\n");
        let folder = tempfile::tempdir().unwrap();
        let error = LinearModel::read(&file(&folder, &text)).unwrap_err();
        assert!(error.to_string().contains("rename them"), "{error}");
    }

    #[test]
    fn uncertain_fields_are_refused() {
        let refused = |from: &str, to: &str| {
            assert!(BLANKS.contains(from), "{from}");
            FixedMps::read(&BLANKS.replacen(from, to, 1)).unwrap_err()
        };
        assert_eq!(
            refused(" UP BND       Y 2 Z  ", " UP BND     Y 2 Z    ").0,
            21
        );
        assert_eq!(
            refused("    R H S     TOTAL CO", "    RHS 2     TOTAL CO").0,
            17
        );
        assert_eq!(
            refused("    RNG       ROOM 1", "    RNG       ROOM 2").0,
            19
        );
        assert_eq!(refused(" L  ROOM 1", " L  ROOM 1    X").0, 4);
        assert_eq!(refused("            -2 ", "            -x ").0, 11);
        assert_eq!(refused("ENDATA\n", "").1, "the file ends before ENDATA");
        assert_eq!(refused("ROWS", "ROWZ").0, 2);
        assert!(!has_names_with_blanks(" x obj 1 cap 2\n"));
    }
}
