//! DataFrames: results of a DataFrame are a DataFrame of the same library.

use numpy::{PyArray2, PyUntypedArray};
use pyo3::prelude::*;
use regretless::data::CostNames;

/// The DataFrame that results should become: library, index and column names.
pub struct FrameTemplate {
    /// A `regretless.tables.frames.FrameTemplate`.
    template: Py<PyAny>,
    columns: Vec<String>,
}

impl FrameTemplate {
    /// The template of an input, or `None` where it is not a DataFrame. `columns` are the names of
    /// the results, one per cost.
    pub fn of(value: &Bound<'_, PyAny>, columns: Vec<String>) -> PyResult<Option<Self>> {
        if value.is_exact_instance_of::<PyUntypedArray>() {
            return Ok(None);
        }
        let frames = value.py().import("regretless.tables.frames")?;
        let template = frames.call_method1("frame_template", (value,))?;
        if template.is_none() {
            return Ok(None);
        }
        Ok(Some(Self {
            template: template.unbind(),
            columns,
        }))
    }

    /// The template of some of the rows.
    pub fn select(&self, rows: &Bound<'_, PyAny>) -> PyResult<Self> {
        let template = self.template.bind(rows.py());
        Ok(Self {
            template: template.call_method1("select", (rows,))?.unbind(),
            columns: self.columns.clone(),
        })
    }

    /// The `regretless.tables.frames.FrameTemplate`.
    pub fn template(&self) -> &Py<PyAny> {
        &self.template
    }

    /// A DataFrame of these values with columns of these names.
    pub fn build_columns(
        &self,
        values: &Bound<'_, PyAny>,
        columns: &[String],
    ) -> PyResult<Py<PyAny>> {
        let template = self.template.bind(values.py());
        Ok(template.call_method1("build", (values, columns))?.unbind())
    }

    /// A DataFrame of these values.
    fn build(&self, values: Bound<'_, PyArray2<f32>>) -> PyResult<Py<PyAny>> {
        let template = self.template.bind(values.py());
        Ok(template
            .call_method1("build", (values, &self.columns))?
            .unbind())
    }
}

/// The values as a DataFrame where there is a template, else the array itself.
pub fn table_like(
    template: Option<&FrameTemplate>,
    values: Bound<'_, PyArray2<f32>>,
) -> PyResult<Py<PyAny>> {
    match template {
        Some(template) => template.build(values),
        None => Ok(values.into_any().unbind()),
    }
}

/// Names of all costs: those given, else `c0`, `c1` and so on.
pub fn column_names_or_numbers(names: Option<&CostNames>, count: usize) -> Vec<String> {
    names.map_or_else(|| CostNames::numbered(count).to_vec(), CostNames::to_vec)
}
