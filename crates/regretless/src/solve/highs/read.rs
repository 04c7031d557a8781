//! Reading model files: `.mps` (free or fixed) and `.lp`.
//!
//! HiGHS gives files their meaning; in particular an entry of an MPS file's RHS section in the
//! objective row is minus the objective's constant part (netlib's lists leave that constant out, as
//! in e226), and an integer column between markers without bounds is 0 or 1. Files it would read
//! only in part are refused, and so is everything that is not linear.

use std::ffi::CString;
use std::path::Path;

use super::ffi::{HighsHandle, RawModel};
use super::mps_check::check_mps;
use super::{LinearModel, Lp};
use crate::error::{Error, Place, Result};

/// The file formats there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ModelFileFormat {
    Mps,
    Lp,
}

impl ModelFileFormat {
    /// By the extension of a file.
    pub(super) fn of(path: &Path) -> Result<Self> {
        let extension = path
            .extension()
            .and_then(|e| e.to_str())
            .unwrap_or_default()
            .to_ascii_lowercase();
        match extension.as_str() {
            "mps" => Ok(Self::Mps),
            "lp" => Ok(Self::Lp),
            _ => Err(Error::input(
                Place::file(path),
                "a model file ends in .mps or .lp (unpacked)",
            )),
        }
    }
}

/// A path as HiGHS takes it.
pub(super) fn plain_path(path: &Path) -> Result<CString> {
    let text = path.to_str().and_then(|text| CString::new(text).ok());
    text.ok_or_else(|| Error::input(Place::file(path), "HiGHS needs a path in plain UTF-8"))
}

impl LinearModel {
    /// Reads an `.mps` or `.lp` file.
    ///
    /// # Errors
    /// When the file cannot be read or is not a linear model; names the line where one can be told.
    pub fn read(path: &Path) -> Result<Self> {
        let format = ModelFileFormat::of(path)?;
        let text = read_text(path)?;
        check_form(format, &text).map_err(|(line, message)| {
            Error::input(
                Place {
                    row: line,
                    ..Place::file(path)
                },
                message,
            )
        })?;
        let refused = |message: String| Error::input(Place::file(path), message);
        let mut lp = Lp::new().map_err(|failure| refused(failure.to_string()))?;
        let said = lp
            .raw
            .read(&plain_path(path)?)
            .map_err(|said| refused(strip_banner(&said)))?;
        check_no_warnings(&said).map_err(refused)?;
        linear_only(&lp.raw).map_err(refused)?;
        convert(&lp.raw, text.len()).map_err(refused)
    }
}

fn read_text(path: &Path) -> Result<String> {
    let bytes = std::fs::read(path).map_err(Error::io(path))?;
    String::from_utf8(bytes).map_err(|error| {
        let good = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = 1 + good.iter().filter(|byte| **byte == b'\n').count() as u64;
        Error::input(
            Place::file(path).row(line),
            "this line is not text in UTF-8",
        )
    })
}

/// Finds what HiGHS would misread in silence, and the line where one can be told.
fn check_form(format: ModelFileFormat, text: &str) -> Result<(), (Option<u64>, String)> {
    match format {
        ModelFileFormat::Mps => check_mps(text).map_err(|(line, message)| (Some(line), message)),
        ModelFileFormat::Lp => check_lp(text),
    }
}

/// HiGHS tells no line of an LP file; what can be told by a look at single lines is told here.
fn check_lp(text: &str) -> Result<(), (Option<u64>, String)> {
    let plain = |line: &'_ str| {
        line.split('\\')
            .next()
            .unwrap_or_default()
            .trim()
            .to_ascii_lowercase()
    };
    let mut lines = (1..).zip(text.lines().map(plain));
    if let Some(line) = conditional_row(lines.clone()) {
        return Err((
            Some(line),
            "conditional rows (->) cannot be used; only linear models are solved".into(),
        ));
    }
    let complete = lines.any(|(_, line)| line == "end");
    if complete {
        Ok(())
    } else {
        Err((
            None,
            "an LP file has a last line `end`; this one has none (cut off?)".into(),
        ))
    }
}

/// The line of the first `>` that follows a sign, whatever space or lines are between: HiGHS takes
/// that for a conditional row, and says so on standard output, where only results belong.
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

/// HiGHS's own words, without its banner and line breaks.
fn strip_banner(said: &str) -> String {
    let lines = said.lines().map(str::trim);
    let errors = lines
        .filter_map(|line| line.strip_prefix("ERROR:"))
        .map(str::trim);
    let errors: Vec<&str> = errors
        .filter(|line| !line.starts_with("Parser error"))
        .collect();
    match errors.as_slice() {
        [] => "HiGHS cannot read this as a linear model".into(),
        errors => format!("HiGHS cannot read this: {}", errors.join("; ")),
    }
}

/// HiGHS warns where it passes over part of a file, such as a second bound of the same kind.
fn check_no_warnings(said: &str) -> Result<(), String> {
    let warnings = said
        .lines()
        .filter_map(|line| line.trim().strip_prefix("WARNING:"));
    match warnings
        .map(str::trim)
        .find(|warning| warning.contains("ignored"))
    {
        Some(warning) => Err(format!("HiGHS would read this in part only: {warning}")),
        None => Ok(()),
    }
}

fn linear_only(raw: &HighsHandle) -> Result<(), String> {
    if raw.num_quadratic_entries() > 0 {
        return Err("the objective is quadratic; only linear models are solved".into());
    }
    if raw.num_columns() == 0 {
        return Err("the model has no columns".into());
    }
    Ok(())
}

fn convert(raw: &HighsHandle, longest_name: usize) -> Result<LinearModel, String> {
    let whole = raw.model().map_err(|failure| failure.to_string())?;
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
    } = whole;
    let [column_names, row_names] = raw
        .names(longest_name)
        .map_err(|failure| failure.to_string())?;
    if let Some(column) = kind.iter().position(|kind| !(0..=1).contains(kind)) {
        let name = &column_names[column];
        return Err(format!(
            "column {name} is semi-continuous, which is not supported"
        ));
    }
    if cost
        .iter()
        .chain(&rows.value)
        .any(|number| !number.is_finite())
    {
        return Err("a coefficient is not finite".into());
    }
    let pairs = |lower: Vec<f64>, upper: Vec<f64>| {
        lower.into_iter().zip(upper).map(|(l, u)| [l, u]).collect()
    };
    Ok(LinearModel {
        maximize: sense == highs_sys::OBJECTIVE_SENSE_MAXIMIZE,
        offset,
        cost,
        column_bounds: pairs(lower, upper),
        integer: kind.into_iter().map(|kind| kind == 1).collect(),
        column_names,
        row_bounds: pairs(row_lower, row_upper),
        row_names,
        rows,
    })
}
