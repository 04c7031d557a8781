//! Reading model files: `.mps` (free or fixed) and `.lp`.
//!
//! HiGHS interprets the files; in particular an entry of an MPS file's RHS section in the objective
//! row is minus the constant part of the objective (the published optima of netlib, such as that of
//! e226, do not include this constant), and an integer column between markers without bounds is
//! binary. Files that HiGHS would read only in part are refused, and so are nonlinear models.

use std::ffi::CString;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use tempfile::TempPath;

use super::ffi::{HighsHandle, RawModel};
use super::mps_check::{LineError, check_mps};
use super::mps_fixed::{self, FixedMps};
use super::{LinearModel, Lp};
use regretless_base::compressed;
use regretless_base::error::{Error, InputPlace, Result};
use regretless_base::size_limits::FileText;

/// File formats of models.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ModelFileFormat {
    Mps,
    Lp,
}

impl ModelFileFormat {
    /// The format by the extension of a file, or by the one before that of a compression.
    pub(super) fn from_path(path: &Path) -> Result<Self> {
        let content = compressed::uncompressed_path(path);
        let extension = content.extension().and_then(|e| e.to_str());
        let extension = extension.unwrap_or_default().to_ascii_lowercase();
        match extension.as_str() {
            "mps" => Ok(Self::Mps),
            "lp" => Ok(Self::Lp),
            _ => Err(Error::input(
                InputPlace::file(path),
                "a model file ends in .mps or .lp, or in .gz or .bz2 behind that",
            )),
        }
    }
}

/// A path as a C string.
pub(super) fn c_path(path: &Path) -> Result<CString> {
    let text = path.to_str().and_then(|text| CString::new(text).ok());
    text.ok_or_else(|| {
        Error::input(
            InputPlace::file(path),
            "HiGHS needs a path in UTF-8 without NUL",
        )
    })
}

impl LinearModel {
    /// Reads an `.mps` or `.lp` file.
    ///
    /// # Errors
    /// When the file cannot be read or is not a linear model; names the line if it is known.
    pub fn read(path: &Path) -> Result<Self> {
        let format = ModelFileFormat::from_path(path)?;
        let FileText {
            text,
            is_compressed,
        } = FileText::read(path)?;
        let fixed = check_syntax(format, &text).map_err(|(line, message)| {
            Error::input(
                InputPlace {
                    row: line,
                    ..InputPlace::file(path)
                },
                message,
            )
        })?;
        // HiGHS reads files: one that is not as it is on disk is written to a temporary file.
        let changed_text = match &fixed {
            Some(fixed) => Some(fixed.free_text.as_str()),
            None => is_compressed.then_some(text.as_str()),
        };
        let copy = changed_text
            .map(|text| write_temporary(text, format))
            .transpose()?;
        let read_path = copy.as_deref().unwrap_or(path);
        let to_error = |message: String| Error::input(InputPlace::file(path), message);
        let mut lp = Lp::new().map_err(|failure| to_error(failure.to_string()))?;
        let log = lp.raw.read(&c_path(read_path)?).map_err(|log| {
            match (format, first_bracket_line(&text)) {
                (ModelFileFormat::Lp, Some(line)) => {
                    let place = InputPlace::file(path).row(line);
                    Error::input(place, error_message(&log)).with_remedy(
                        "names with brackets, such as x[1,2], cannot be read from LP files: write \
                         the model as an MPS file, or rename the columns",
                    )
                }
                _ => to_error(error_message(&log)),
            }
        })?;
        check_no_warnings(&log).map_err(to_error)?;
        check_linear(&lp.raw).map_err(to_error)?;
        let mut model = to_linear_model(&lp.raw, text.len()).map_err(to_error)?;
        if let Some(fixed) = &fixed {
            let columns = Arc::make_mut(&mut model.column_names);
            for name in columns
                .iter_mut()
                .chain(Arc::make_mut(&mut model.row_names))
            {
                let original = fixed.original_name(name).map(str::to_owned);
                *name = original.ok_or_else(|| to_error(format!("HiGHS added a name: {name}")))?;
            }
        }
        Ok(model)
    }
}

/// The first line of an LP file with a name such as `x[1,2]`, counted from 1. Brackets of quadratic
/// terms are preceded by a space or an operator.
fn first_bracket_line(text: &str) -> Option<u64> {
    let is_name = |line: &str| {
        let bytes = line.as_bytes();
        let mut pairs = bytes.windows(2);
        pairs.any(|pair| pair[1] == b'[' && (pair[0].is_ascii_alphanumeric() || pair[0] == b'_'))
    };
    text.lines().position(is_name).map(|line| line as u64 + 1)
}

/// A temporary file with the text of a model.
fn write_temporary(text: &str, format: ModelFileFormat) -> Result<TempPath> {
    let folder = std::env::temp_dir();
    let suffix = match format {
        ModelFileFormat::Mps => ".mps",
        ModelFileFormat::Lp => ".lp",
    };
    let mut file = tempfile::Builder::new()
        .suffix(suffix)
        .tempfile()
        .map_err(Error::io(&folder))?;
    file.write_all(text.as_bytes())
        .map_err(Error::io(&folder))?;
    Ok(file.into_temp_path())
}

/// Finds syntax that HiGHS would misread without an error, and its line if it is known. A
/// fixed-format file with blanks in names is returned in free format.
fn check_syntax(
    format: ModelFileFormat,
    text: &str,
) -> Result<Option<FixedMps>, (Option<u64>, String)> {
    match format {
        ModelFileFormat::Mps => read_mps(text),
        ModelFileFormat::Lp => check_lp(text).map(|()| None),
    }
}

fn read_mps(text: &str) -> Result<Option<FixedMps>, (Option<u64>, String)> {
    let in_line = |(line, message): LineError| (Some(line), message);
    let free = check_mps(text).map_err(in_line);
    if !mps_fixed::has_names_with_blanks(text) {
        return free.map(|()| None);
    }
    match (free, FixedMps::read(text).map_err(in_line)) {
        (Ok(()), Err(_)) => Ok(None),
        (Ok(()), Ok(_)) => {
            let message = "the file can be read in free format, and in fixed format with blanks in \
                names; rename them";
            Err((None, message.into()))
        }
        (Err(_), Ok(fixed)) => Ok(Some(fixed)),
        (Err(_), Err(error)) => Err(error),
    }
}

/// Finds errors in single lines of an LP file: HiGHS reports no line numbers for them.
fn check_lp(text: &str) -> Result<(), (Option<u64>, String)> {
    let without_comment = |line: &'_ str| {
        let content = line.split('\\').next().unwrap_or_default();
        content.trim().to_ascii_lowercase()
    };
    let mut lines = (1..).zip(text.lines().map(without_comment));
    if let Some(line) = conditional_row(lines.clone()) {
        return Err((
            Some(line),
            "conditional rows (->) are not supported; only linear models are solved".into(),
        ));
    }
    if let Some(line) = misread_number(lines.clone()) {
        let message = "a number is left of a relation or stands among the terms of a row, as in \
            `1 <= x + y <= 4` or `x + 3 <= 4`, which HiGHS would misread; write a ranged row as \
            two rows, and constants on the right-hand side";
        return Err((Some(line), message.into()));
    }
    if lines.any(|(_, line)| line == "end") {
        Ok(())
    } else {
        Err((
            None,
            "an LP file ends with the line `end`; this file does not, and may be truncated".into(),
        ))
    }
}

/// The lines that begin the rows of an LP file, in lower case.
const ROW_HEADERS: [&str; 5] = ["subject to", "such that", "st", "s.t.", "st."];
/// The lines that end them.
const SECTION_HEADERS: [&str; 13] = [
    "bound",
    "bounds",
    "bin",
    "binary",
    "binaries",
    "gen",
    "general",
    "generals",
    "integer",
    "integers",
    "semi-continuous",
    "sos",
    "end",
];

/// The line of the first number in a row that is neither the coefficient of a column nor the
/// right-hand side. HiGHS drops a constant among the terms, and reads a ranged row as two others.
fn misread_number(lines: impl Iterator<Item = (u64, String)>) -> Option<u64> {
    let (mut is_in_rows, mut is_right_side) = (false, false);
    // A number that needs a column behind it.
    let mut coefficient = None;
    for (number, line) in lines {
        let words: Vec<&str> = line.split_whitespace().collect();
        let words = words.join(" ");
        if ROW_HEADERS.contains(&words.as_str()) {
            is_in_rows = true;
            continue;
        }
        is_in_rows &= !SECTION_HEADERS.contains(&words.as_str());
        // Quadratic terms are refused after reading.
        if !is_in_rows || line.contains('[') {
            coefficient = None;
            continue;
        }
        for token in LpTokens(&line) {
            match token {
                LpToken::Number if is_right_side => is_right_side = false,
                LpToken::Number => coefficient = Some(number),
                LpToken::Relation | LpToken::Sign if coefficient.is_some() => return coefficient,
                LpToken::Relation => is_right_side = true,
                LpToken::Sign => {}
                LpToken::Word => (coefficient, is_right_side) = (None, false),
            }
        }
    }
    None
}

/// What a part of a row is.
enum LpToken {
    /// A number, or infinity.
    Number,
    /// `<=`, `>=`, `=` and their other forms.
    Relation,
    /// `+` or `-`.
    Sign,
    /// A name, a colon, or anything else.
    Word,
}

/// The parts of a line.
struct LpTokens<'a>(&'a str);

impl Iterator for LpTokens<'_> {
    type Item = LpToken;

    fn next(&mut self) -> Option<LpToken> {
        self.0 = self.0.trim_start();
        let first = self.0.chars().next()?;
        let (token, length) = match first {
            '+' | '-' => (LpToken::Sign, 1),
            '<' | '>' | '=' => {
                let rest = self.0.trim_start_matches(['<', '>', '=']);
                (LpToken::Relation, self.0.len() - rest.len())
            }
            '0'..='9' | '.' => (LpToken::Number, number_length(self.0)),
            ':' => (LpToken::Word, 1),
            _ => {
                let ends = |c: char| c.is_whitespace() || "+-<>=:".contains(c);
                let length = self.0.find(ends).unwrap_or(self.0.len());
                match &self.0[..length] {
                    "inf" | "infinity" => (LpToken::Number, length),
                    _ => (LpToken::Word, length),
                }
            }
        };
        self.0 = &self.0[length..];
        Some(token)
    }
}

/// The length of the number at the beginning of a text.
fn number_length(text: &str) -> usize {
    let is_digit = |c: char| c.is_ascii_digit() || c == '.';
    let mantissa = text.find(|c| !is_digit(c)).unwrap_or(text.len());
    let Some(exponent) = text[mantissa..].strip_prefix('e') else {
        return mantissa;
    };
    let unsigned = exponent.trim_start_matches(['+', '-']);
    let digits = unsigned
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(unsigned.len());
    if digits == 0 {
        mantissa
    } else {
        text.len() - unsigned.len() + digits
    }
}

/// The line of the first `>` that follows a sign, with any white space between: HiGHS reads that as
/// a conditional row, and prints a message to standard output.
fn conditional_row(lines: impl Iterator<Item = (u64, String)>) -> Option<u64> {
    let mut last = ' ';
    for (number, line) in lines {
        for c in line.chars().filter(|c| !c.is_whitespace()) {
            if c == '>' && matches!(last, '+' | '-') {
                return Some(number);
            }
            last = c;
        }
    }
    None
}

/// A message with the errors in a log of HiGHS.
fn error_message(log: &str) -> String {
    let mut errors: Vec<&str> = Vec::new();
    for line in log.lines() {
        if let Some(error) = line.trim().strip_prefix("ERROR:")
            && !error.trim().starts_with("Parser error")
        {
            errors.push(error.trim());
        }
    }
    match errors.as_slice() {
        // In LP files a column called `free` or `gen` is the usual reason, and HiGHS says nothing.
        [] => "HiGHS cannot read this as a linear model; in LP files, keywords such as free, gen, \
               bin, bounds, st and end cannot be names"
            .into(),
        errors => format!("HiGHS cannot read this: {}", errors.join("; ")),
    }
}

/// Refuses files of which HiGHS ignores a part, such as a second bound of the same kind.
fn check_no_warnings(log: &str) -> Result<(), String> {
    for line in log.lines() {
        if let Some(warning) = line.trim().strip_prefix("WARNING:")
            && warning.contains("ignored")
        {
            let warning = warning.trim();
            return Err(format!("HiGHS would ignore a part of this file: {warning}"));
        }
    }
    Ok(())
}

fn check_linear(raw: &HighsHandle) -> Result<(), String> {
    if raw.num_quadratic_entries() > 0 {
        return Err("the objective is quadratic; only linear models are solved".into());
    }
    if raw.num_columns() == 0 {
        return Err("the model has no columns".into());
    }
    Ok(())
}

fn to_linear_model(raw: &HighsHandle, longest_name: usize) -> Result<LinearModel, String> {
    let model = raw.model().map_err(|failure| failure.to_string())?;
    let RawModel {
        sense,
        offset,
        cost,
        lower,
        upper,
        row_lower,
        row_upper,
        rows,
        kind,
    } = model;
    let [column_names, row_names] = raw
        .names(longest_name)
        .map_err(|failure| failure.to_string())?;
    if let Some(column) = kind.iter().position(|kind| !(0..=1).contains(kind)) {
        let name = &column_names[column];
        return Err(format!(
            "column {name} is semi-continuous, which is not supported"
        ));
    }
    let mut coefficients = cost.iter().chain(&rows.value);
    if coefficients.any(|number| !number.is_finite()) {
        return Err("a coefficient is not finite".into());
    }
    let pairs = |lower: Vec<f64>, upper: Vec<f64>| {
        lower
            .into_iter()
            .zip(upper)
            .map(|(lower, upper)| [lower, upper])
            .collect()
    };
    Ok(LinearModel {
        maximize: sense == highs_sys::OBJECTIVE_SENSE_MAXIMIZE,
        offset,
        cost,
        column_bounds: pairs(lower, upper),
        integer: kind.into_iter().map(|kind| kind == 1).collect(),
        column_names: Arc::new(column_names),
        row_bounds: pairs(row_lower, row_upper),
        row_names: Arc::new(row_names),
        rows: Arc::new(rows),
    })
}

#[cfg(test)]
mod tests {
    use super::misread_number;

    fn misread(rows: &str) -> Option<u64> {
        let text = format!("minimize\n obj: 3 + x\nsubject to\n{rows}\nbounds\n 1 <= x <= 4\nend");
        misread_number((1..).zip(text.lines().map(str::to_owned)))
    }

    #[test]
    fn numbers_that_are_no_coefficients_are_found() {
        for row in [
            "r: 1 <= 2 x + y <= 4",
            "r: 1 <= x + y",
            "r: -inf <= x + y <= 4",
            "r: x + 3 <= 4",
            "r: 3 + x <= 4",
            "r: x + 1e+2 - y = 4",
            "r: x + y +\n 3\n >= 4",
            "r: x <= 4\n s: 2 >= y",
        ] {
            assert!(misread(row).is_some(), "{row}");
        }
        assert_eq!(misread("r: x <= 4\n s: 2 >= y"), Some(5));
    }

    #[test]
    fn coefficients_and_right_hand_sides_are_accepted() {
        for row in [
            "r: 2 x + 3.5y - 1e-3 z <= 4",
            "r: x >= -4\n s: - 2 x + y = 1e+5",
            "r: x + y <= 4\n 2 x >= 1",
            "r: x\n + 2\n y <=\n 4\n s: x => .5",
            "1: x + y < 4\n 2: 3 x > 1 y1: x = 2",
            "r: x >= -inf\n s: 2 x <= infinity",
        ] {
            assert_eq!(misread(row), None, "{row}");
        }
    }
}
