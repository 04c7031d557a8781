//! The projection of component E: costs without what the equality constraints absorb.

use std::sync::Arc;

use super::evaluate::norm;
use crate::data::Matrix;
use crate::error::{Error, Result};
use crate::label::LabeledDataset;
use crate::oracle::Oracle;
use crate::problem::{
    EqualityConstraints, EqualityProjection, Incidence, ProblemKind, ProjectionScratch,
};

/// Norm of a projection, relative to that of the vector, below which it is the rounding error of 0.
/// Untuned: rounding errors are near 1e-15.
const MIN_RELATIVE_NORM: f64 = 1e-10;

/// Most numbers of the projections of all rows, if they differ: 512 MB.
const MAX_PROJECTION_ENTRIES: usize = 1 << 25;

/// A projection of cost vectors before they are scaled to unit norm.
#[derive(Debug, Clone)]
pub struct NormalizingProjection(Arc<EqualityProjection>);

impl NormalizingProjection {
    /// Projects a vector; 0 if only a rounding error is left.
    pub(crate) fn project(&self, vector: &mut [f64], scratch: &mut ProjectionScratch) {
        let norm_before = norm(vector);
        self.0.project(vector, scratch);
        if norm(vector) <= MIN_RELATIVE_NORM * norm_before {
            vector.fill(0.0);
        }
    }

    /// All rows of a matrix, projected.
    pub(crate) fn project_rows(&self, costs: &Matrix) -> Matrix {
        let mut projected = Matrix::zeros(costs.rows(), costs.cols());
        let (mut row_costs, mut scratch) = (Vec::new(), ProjectionScratch::EMPTY);
        let rows = projected.as_mut_slice().chunks_exact_mut(costs.cols());
        for (row, out) in rows.enumerate() {
            row_costs.clear();
            row_costs.extend(costs.row(row).iter().map(|cost| f64::from(*cost)));
            self.project(&mut row_costs, &mut scratch);
            for (out, cost) in out.iter_mut().zip(&row_costs) {
                *out = *cost as f32;
            }
        }
        projected
    }

    /// Which rows of the constraints each cost is in, and the solution of their system, for fused
    /// training; `None` if some costs are absent.
    pub(crate) fn equalities(&self) -> Option<(&EqualityProjection, &Incidence)> {
        Some((&self.0, self.0.incidence()?))
    }
}

/// The projections of all rows of a table.
#[derive(Debug, Clone)]
pub(super) enum RowProjections {
    /// All rows have the same.
    Shared(NormalizingProjection),
    /// One per row.
    PerRow(Vec<NormalizingProjection>),
}

impl RowProjections {
    /// The projections of the problem, or of the problems of the rows.
    ///
    /// # Errors
    /// When a row has no equality constraints, or they are too large.
    pub(super) fn new(data: &LabeledDataset, oracle: &Oracle) -> Result<Self> {
        if !oracle.has_row_problems() {
            let problem = oracle.problem();
            let constraints = problem.geometry().equality_constraints();
            let projection = project_by(&constraints, problem.as_ref())?;
            return match projection {
                Some(projection) => Ok(Self::Shared(projection)),
                None => Err(oracle.missing_equality_constraints()),
            };
        }
        let mut projections: Vec<NormalizingProjection> = Vec::with_capacity(data.len());
        let mut last: Option<(EqualityConstraints, NormalizingProjection)> = None;
        let (mut num_distinct, mut num_entries) = (0, 0);
        // A row without a label is not evaluated, and may have no problem.
        for row in (0..data.len()).filter(|row| data.has_label(*row)) {
            let problem = oracle
                .row_problem(row)
                .map_err(|failure| Error::solver(row, failure))?;
            let constraints = problem.geometry().equality_constraints();
            let projection = match &last {
                Some((before, projection)) if *before == constraints => projection.clone(),
                _ => {
                    let projection = project_by(&constraints, problem.as_ref())?
                        .ok_or_else(|| oracle.missing_equality_constraints())?;
                    num_distinct += 1;
                    num_entries += projection.0.num_entries();
                    projection
                }
            };
            if num_entries > MAX_PROJECTION_ENTRIES {
                return Err(Error::setting(
                    "the equality constraints of the problem differ between rows and are too \
                     large to be stored for each",
                )
                .with_remedy("use S instead of E"));
            }
            // Rows without a label share the projection of the next row.
            projections.resize(row, projection.clone());
            last = Some((constraints, projection.clone()));
            projections.push(projection);
        }
        match last {
            Some((_, projection)) if num_distinct == 1 => Ok(Self::Shared(projection)),
            Some((_, projection)) => {
                projections.resize(data.len(), projection);
                Ok(Self::PerRow(projections))
            }
            None => Err(oracle.missing_equality_constraints()),
        }
    }

    pub(super) fn of_row(&self, row: usize) -> &NormalizingProjection {
        match self {
            Self::Shared(projection) => projection,
            Self::PerRow(projections) => &projections[row],
        }
    }

    /// The projection of all rows, if they have the same.
    pub(super) fn shared(&self) -> Option<&NormalizingProjection> {
        match self {
            Self::Shared(projection) => Some(projection),
            Self::PerRow(_) => None,
        }
    }
}

fn project_by(
    constraints: &EqualityConstraints,
    problem: &dyn ProblemKind,
) -> Result<Option<NormalizingProjection>> {
    let projection = EqualityProjection::new(constraints, problem.num_costs())?;
    Ok(projection.map(|projection| NormalizingProjection(Arc::new(projection))))
}
