//! Parts of a linear problem as numpy and scipy have them.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyString;
use regretless::problem::LinearRow;

use crate::arrays::{double_rows, vector};

type RowEntries = Vec<Vec<(usize, f64)>>;

/// Entries of each row that are not zero, and the number of columns.
pub fn rows(matrix: &Bound<'_, PyAny>) -> PyResult<(RowEntries, usize)> {
    if matrix.hasattr("tocsr")? {
        return sparse(&matrix.call_method0("tocsr")?);
    }
    let (numbers, [rows, count]) = double_rows(matrix, "A")?;
    let entries = |row: usize| {
        let numbers = numbers[row * count..][..count].iter().copied();
        numbers
            .enumerate()
            .filter(|(_, value)| *value != 0.0)
            .collect::<Vec<(usize, f64)>>()
    };
    Ok(((0..rows).map(entries).collect(), count))
}

fn sparse(matrix: &Bound<'_, PyAny>) -> PyResult<(RowEntries, usize)> {
    matrix.call_method0("sum_duplicates")?;
    let list = |name: &str| vector(&matrix.getattr(name)?, name);
    let (starts, columns, values) = (list("indptr")?, list("indices")?, list("data")?);
    let (_, count): (usize, usize) = matrix.getattr("shape")?.extract()?;
    let entries = |pair: &[f64]| {
        let places = pair[0] as usize..pair[1] as usize;
        places
            .map(|place| (columns[place] as usize, values[place]))
            .collect()
    };
    Ok((starts.windows(2).map(entries).collect(), count))
}

/// One number for all, or one each.
pub fn each(value: &Bound<'_, PyAny>, count: usize, what: &str) -> PyResult<Vec<f64>> {
    if let Ok(one) = value.extract::<f64>() {
        return Ok(vec![one; count]);
    }
    let all = vector(value, what)?;
    if all.len() == count {
        Ok(all)
    } else {
        Err(wrong_count(what, all.len(), count))
    }
}

fn wrong_count(what: &str, found: usize, right: usize) -> PyErr {
    PyValueError::new_err(format!("{what} has {found} entries and needs {right}"))
}

/// Bounds of one side; those that are infinite to that side are none.
pub fn bounds(value: &Bound<'_, PyAny>, count: usize, what: &str) -> PyResult<Vec<Option<f64>>> {
    let none = if what == "lower" {
        f64::NEG_INFINITY
    } else {
        f64::INFINITY
    };
    let bound = |(number, bound): (usize, f64)| match bound {
        bound if bound == none => Ok(None),
        bound if bound.is_finite() => Ok(Some(bound)),
        bound => Err(PyValueError::new_err(format!(
            "{what}[{number}] is {bound}, which no variable can keep"
        ))),
    };
    each(value, count, what)?
        .into_iter()
        .enumerate()
        .map(bound)
        .collect()
}

/// Which variables are whole numbers.
pub fn flags(value: Option<&Bound<'_, PyAny>>, count: usize) -> PyResult<Vec<bool>> {
    let Some(value) = value else {
        return Ok(vec![false; count]);
    };
    if let Ok(one) = value.extract::<bool>() {
        return Ok(vec![one; count]);
    }
    Ok(each(value, count, "integer")?
        .into_iter()
        .map(|flag| flag != 0.0)
        .collect())
}

/// Which variables have predicted costs; they must be listed in order, since costs are.
pub fn predicted(costs: Option<Vec<usize>>, count: usize) -> PyResult<Vec<bool>> {
    let Some(listed) = costs else {
        return Ok(vec![true; count]);
    };
    let mut flags = vec![false; count];
    for (place, number) in listed.iter().enumerate() {
        if *number >= count || (place > 0 && listed[place - 1] >= *number) {
            let message = "costs must be increasing numbers of variables";
            return Err(PyValueError::new_err(format!(
                "{message}; costs[{place}] is {number} of {count}"
            )));
        }
        flags[*number] = true;
    }
    Ok(flags)
}

/// Rows with their bounds.
pub fn related(
    entries: RowEntries,
    right: &[f64],
    relations: Option<&Bound<'_, PyAny>>,
) -> PyResult<Vec<LinearRow>> {
    if right.len() != entries.len() {
        return Err(wrong_count("b", right.len(), entries.len()));
    }
    let words: Vec<String> = match relations {
        None => vec!["<=".into(); right.len()],
        Some(one) if one.is_instance_of::<PyString>() => vec![one.extract()?; right.len()],
        Some(many) => many
            .try_iter()?
            .map(|word| word?.extract())
            .collect::<PyResult<_>>()?,
    };
    if words.len() != right.len() {
        return Err(wrong_count("relations", words.len(), right.len()));
    }
    let rows = entries.into_iter().zip(right).zip(words);
    rows.map(|((entries, value), word)| related_by(entries, *value, &word))
        .collect()
}

fn related_by(entries: Vec<(usize, f64)>, value: f64, word: &str) -> PyResult<LinearRow> {
    let (lower, upper) = match (word, value) {
        ("<=" | "<", f64::INFINITY) | (">=" | ">", f64::NEG_INFINITY) => (None, None),
        _ if !value.is_finite() => {
            return Err(PyValueError::new_err(format!(
                "b holds {value}, which no row can keep"
            )));
        }
        ("<=" | "<", _) => (None, Some(value)),
        (">=" | ">", _) => (Some(value), None),
        ("==" | "=", _) => (Some(value), Some(value)),
        _ => {
            return Err(PyValueError::new_err(format!(
                "unknown relation '{word}'; choose <=, >= or =="
            )));
        }
    };
    Ok(LinearRow {
        lower,
        upper,
        entries,
    })
}
