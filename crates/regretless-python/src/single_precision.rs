//! Losses of float32 rows without conversion: the fast path for training loops with many calls.

use pyo3::prelude::*;
use pyo3::types::PyTuple;
use regretless::label::LabeledDataset;
use regretless::loss::SinglePrecisionInput;

use crate::arrays::{array1, array2};

/// Losses and gradients of rows of predictions. `None` if the loss has no fast path or a row is
/// invalid; the general path then reports the error.
pub fn evaluate<'py>(
    loss: &dyn regretless::loss::Loss,
    data: &LabeledDataset,
    predictions: &Bound<'py, PyAny>,
    rows: Option<&[usize]>,
) -> PyResult<Option<Bound<'py, PyTuple>>> {
    // Subclasses of ndarray, such as masked arrays, have more than their entries.
    if !predictions.is_exact_instance_of::<numpy::PyUntypedArray>() {
        return Ok(None);
    }
    let Ok(array) = predictions.extract::<numpy::PyReadonlyArray2<'_, f32>>() else {
        return Ok(None);
    };
    let (count, cols) = array.as_array().dim();
    let Ok(numbers) = array.as_slice() else {
        return Ok(None);
    };
    if cols != data.data().costs().cols() || count != rows.map_or(data.len(), <[usize]>::len) {
        return Ok(None);
    }
    let py = predictions.py();
    let mut gradients = vec![0.0_f32; numbers.len()];
    let evaluated = py.detach(|| {
        let sign = data.sense().single_sign();
        let mut values = Vec::with_capacity(count);
        let pairs = numbers
            .chunks_exact(cols)
            .zip(gradients.chunks_exact_mut(cols));
        for (index, (prediction, gradient)) in pairs.enumerate() {
            let instance = rows.map_or(index, |rows| rows[index]);
            if !data.has_label(instance) {
                return None;
            }
            let input = SinglePrecisionInput {
                costs: data.data().costs().row(instance),
                prediction,
                sign,
                label: data.optimal_decision(instance),
            };
            values.push(loss.evaluate_single(&input, gradient)?);
        }
        Some(values)
    });
    let Some(values) = evaluated else {
        return Ok(None);
    };
    let gradients = array2(py, gradients, count, cols)?;
    Ok(Some((array1(py, values), gradients).into_pyobject(py)?))
}
