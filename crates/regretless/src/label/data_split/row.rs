//! One row to decide for.

use std::sync::Arc;

use super::DataSplit;
use crate::data::{FeatureEncoding, FeatureShape, Features, Matrix, RowParameters};
use crate::error::{Error, Result};
use crate::problem::ProblemKind;

/// One row to decide for: its features, and its parameters if feasible sets differ between rows.
///
/// ```
/// use regretless::Row;
///
/// let new_day = Row::from([0.4, 1.0, -2.5].as_slice());
/// # let _ = new_day;
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Row<'a>(pub(super) RowSource<'a>);

#[derive(Debug, Clone, Copy)]
pub(super) enum RowSource<'a> {
    /// Feature values in the order the model was trained on.
    Values {
        features: &'a [f64],
        parameters: Option<&'a RowParameters>,
    },
    /// The only row of a table of features.
    Features(&'a Features),
    /// A row of a table.
    Instance {
        data: &'a DataSplit,
        rows: &'a [usize],
        position: usize,
    },
}

impl<'a> From<&'a [f64]> for Row<'a> {
    fn from(values: &'a [f64]) -> Self {
        Self(RowSource::Values {
            features: values,
            parameters: None,
        })
    }
}

impl<'a> From<&'a Features> for Row<'a> {
    /// The features of one instance, which may be columns of text and dates
    /// ([`Features::builder`]).
    fn from(features: &'a Features) -> Self {
        Self(RowSource::Features(features))
    }
}

impl<'a> Row<'a> {
    /// The row of these feature values with these parameters, which have one row.
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use regretless::Row;
    /// use regretless::data::RowParameters;
    ///
    /// let today = RowParameters::new(1).with_column("capacity", 1, Arc::new(vec![12.0]))?;
    /// let row = Row::with_parameters(&[0.4, 1.0, -2.5], &today);
    /// # let _ = row;
    /// # Ok::<(), regretless::Error>(())
    /// ```
    pub fn with_parameters(features: &'a [f64], parameters: &'a RowParameters) -> Self {
        Self(RowSource::Values {
            features,
            parameters: Some(parameters),
        })
    }
}

impl Row<'_> {
    /// The features as a table of one instance; `layout` has the names and the shape for rows that
    /// are feature values only.
    ///
    /// # Errors
    /// When the row does not exist or has another number of values.
    pub(crate) fn features(&self, layout: &FeatureLayout<'_>) -> Result<Features> {
        match self.0 {
            RowSource::Instance {
                data,
                rows,
                position,
            } => Ok(data.features(instance_at(rows, position)?)),
            RowSource::Values { features, .. } => layout.features(features),
            // A table of one row needs no copy by number.
            RowSource::Features(features) if features.instances() == 1 => Ok(features.clone()),
            RowSource::Features(features) => Err(Error::data(format!(
                "a row has the features of one instance, not of {}",
                features.instances()
            ))),
        }
    }

    /// The parameters as those of a table of one instance, in the order of the problem's costs.
    ///
    /// # Errors
    /// When the row does not exist, or the costs of the table do not match those of the problem.
    pub(crate) fn parameters(
        &self,
        problem: &dyn ProblemKind,
    ) -> Result<Option<Arc<RowParameters>>> {
        match self.0 {
            RowSource::Instance {
                data,
                rows,
                position,
            } => data.parameters(instance_at(rows, position)?, problem),
            RowSource::Values { parameters, .. } => {
                Ok(parameters.map(|parameters| Arc::new(parameters.clone())))
            }
            RowSource::Features(_) => Ok(None),
        }
    }
}

/// The instance at a position of a part.
fn instance_at(rows: &[usize], position: usize) -> Result<usize> {
    rows.get(position).copied().ok_or_else(|| {
        Error::data(format!("row {position} does not exist"))
            .with_remedy(format!("the part has {} rows", rows.len()))
    })
}

/// Names and shape of the features that a model expects.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FeatureLayout<'a> {
    /// Names, in order.
    pub(crate) names: &'a [String],
    /// Wide or long.
    pub(crate) shape: FeatureShape,
    /// How columns become these features.
    pub(crate) encoding: Option<&'a Arc<FeatureEncoding>>,
}

impl FeatureLayout<'_> {
    pub(super) fn features(&self, values: &[f64]) -> Result<Features> {
        if let Some(encoding) = self.encoding {
            return Features::from_raw_numbers(values, self.shape, encoding);
        }
        let rows = self.shape.rows_per_instance();
        let matrix = Matrix::from_f64(rows, self.names.len(), values)?;
        Features::new(matrix, self.shape, Some(self.names.to_vec()))
    }
}
