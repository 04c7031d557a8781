//! Losses on rows of float32, read and written where they lie: the way of training loops that call
//! often.

use pyo3::prelude::*;
use pyo3::types::PyTuple;
use regretless::label::LabeledDataset;
use regretless::loss::SinglePrecisionInput;

use crate::arrays::{rectangle, row};

/// Values and gradients of rows of predictions, in the user's sense; nothing where the loss has no
/// fast way, or something is wrong with a row, which the plain way then tells.
pub fn evaluate<'py>(
    (loss, data): (&dyn regretless::loss::Loss, &LabeledDataset),
    predictions: &Bound<'py, PyAny>,
    rows: Option<&[usize]>,
) -> PyResult<Option<Bound<'py, PyTuple>>> {
    // Arrays of another type, such as masked ones, are not what they seem.
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
    let row_of = |index: usize| rows.map_or(index, |rows| rows[index]);
    let judged = py.detach(|| {
        let parts = numbers
            .chunks_exact(cols)
            .zip(gradients.chunks_exact_mut(cols))
            .enumerate();
        let one = |(index, (prediction, gradient))| {
            let instance = row_of(index);
            let known = data.has(instance).then_some(instance)?;
            let (costs, best) = (data.data().costs().row(known), data.optimal_decision(known));
            let sign = data.sense().single_sign();
            loss.evaluate_single(
                &SinglePrecisionInput {
                    costs,
                    prediction,
                    sign,
                    best,
                },
                gradient,
            )
        };
        parts.map(one).collect::<Option<Vec<f64>>>()
    });
    let Some(values) = judged else {
        return Ok(None);
    };
    Ok(Some(
        (row(py, values), rectangle(py, gradients, [count, cols])?).into_pyobject(py)?,
    ))
}
