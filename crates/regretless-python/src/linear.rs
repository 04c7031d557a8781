//! Parts of a linear problem from numpy and scipy.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyString;
use regretless::problem::LinearRow;

use crate::arrays::{f64_rows, vector};

type RowEntries = Vec<Vec<(usize, f64)>>;

/// The arrays indptr, indices and data of a CSR matrix, and its shape.
type CsrArrays<'py> = (
    Bound<'py, PyAny>,
    Bound<'py, PyAny>,
    Bound<'py, PyAny>,
    (usize, usize),
);

/// Nonzero entries of each row, and the number of columns.
pub fn row_entries(matrix: &Bound<'_, PyAny>) -> PyResult<(RowEntries, usize)> {
    if let Ok(sparse) = matrix.extract::<CsrArrays<'_>>() {
        return sparse_entries(&sparse);
    }
    let (numbers, [rows, count]) = f64_rows(matrix, "A")?;
    let entries = |row: usize| {
        let numbers = numbers[row * count..][..count].iter().copied();
        numbers
            .enumerate()
            .filter(|(_, value)| *value != 0.0)
            .collect::<Vec<(usize, f64)>>()
    };
    Ok(((0..rows).map(entries).collect(), count))
}

fn sparse_entries(matrix: &CsrArrays<'_>) -> PyResult<(RowEntries, usize)> {
    let (starts, columns, values, (_, count)) = matrix;
    let starts = vector(starts, "indptr")?;
    let columns = vector(columns, "indices")?;
    let values = vector(values, "data")?;
    let entries = |range: &[f64]| {
        let positions = range[0] as usize..range[1] as usize;
        positions
            .map(|position| (columns[position] as usize, values[position]))
            .collect()
    };
    Ok((starts.windows(2).map(entries).collect(), *count))
}

/// One number for all variables, or one each.
pub fn broadcast(value: &Bound<'_, PyAny>, count: usize, what: &str) -> PyResult<Vec<f64>> {
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

/// Lower or upper bounds; infinite ones become `None`.
pub fn bounds(value: &Bound<'_, PyAny>, count: usize, what: &str) -> PyResult<Vec<Option<f64>>> {
    let none = if what == "lower" {
        f64::NEG_INFINITY
    } else {
        f64::INFINITY
    };
    let mut bounds = Vec::with_capacity(count);
    for (number, bound) in broadcast(value, count, what)?.into_iter().enumerate() {
        if bound != none && !bound.is_finite() {
            return Err(PyValueError::new_err(format!(
                "{what}[{number}] is {bound}, which no variable can satisfy"
            )));
        }
        bounds.push((bound != none).then_some(bound));
    }
    Ok(bounds)
}

/// Which variables are integer.
pub fn flags(value: Option<&Bound<'_, PyAny>>, count: usize) -> PyResult<Vec<bool>> {
    let Some(value) = value else {
        return Ok(vec![false; count]);
    };
    if let Ok(one) = value.extract::<bool>() {
        return Ok(vec![one; count]);
    }
    Ok(broadcast(value, count, "integer")?
        .into_iter()
        .map(|flag| flag != 0.0)
        .collect())
}

/// Which variables have predicted costs; their numbers must increase, as the costs do.
pub fn predicted(costs: Option<Vec<usize>>, count: usize) -> PyResult<Vec<bool>> {
    let Some(listed) = costs else {
        return Ok(vec![true; count]);
    };
    let mut flags = vec![false; count];
    for (position, number) in listed.iter().enumerate() {
        if *number >= count || (position > 0 && listed[position - 1] >= *number) {
            return Err(PyValueError::new_err(format!(
                "costs must be increasing numbers of variables; costs[{position}] is {number} of \
                 {count}"
            )));
        }
        flags[*number] = true;
    }
    Ok(flags)
}

/// Rows with their bounds.
pub fn linear_rows(
    entries: RowEntries,
    right: &[f64],
    relations: Option<&Bound<'_, PyAny>>,
) -> PyResult<Vec<LinearRow>> {
    if right.len() != entries.len() {
        return Err(wrong_count("b", right.len(), entries.len()));
    }
    let relations: Vec<String> = match relations {
        None => vec!["<=".into(); right.len()],
        Some(one) if one.is_instance_of::<PyString>() => vec![one.extract()?; right.len()],
        Some(many) => many
            .try_iter()?
            .map(|relation| relation?.extract())
            .collect::<PyResult<_>>()?,
    };
    if relations.len() != right.len() {
        return Err(wrong_count("relations", relations.len(), right.len()));
    }
    let mut rows = Vec::with_capacity(relations.len());
    for (entries, (value, relation)) in entries.into_iter().zip(right.iter().zip(&relations)) {
        rows.push(linear_row(entries, *value, relation)?);
    }
    Ok(rows)
}

fn linear_row(entries: Vec<(usize, f64)>, value: f64, relation: &str) -> PyResult<LinearRow> {
    let (lower, upper) = match (relation, value) {
        ("<=" | "<", f64::INFINITY) | (">=" | ">", f64::NEG_INFINITY) => (None, None),
        _ if !value.is_finite() => {
            return Err(PyValueError::new_err(format!(
                "b holds {value}, which no row can satisfy"
            )));
        }
        ("<=" | "<", _) => (None, Some(value)),
        (">=" | ">", _) => (Some(value), None),
        ("==" | "=", _) => (Some(value), Some(value)),
        _ => {
            return Err(PyValueError::new_err(format!(
                "unknown relation '{relation}'; choose <=, >= or =="
            )));
        }
    };
    Ok(LinearRow {
        lower,
        upper,
        entries,
    })
}
