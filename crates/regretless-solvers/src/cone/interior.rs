//! Projection onto a cone by an interior-point method with early stopping.
//!
//! ```text
//! min over λ ≥ 0   ‖v − Nᵀλ‖²        N the normals of all binding constraints,
//!                                    an equation as two opposite ones
//! ```
//!
//! Solved by Clarabel (Goulart and Chen 2024) as ½λᵀPλ + q·λ with P = 2NNᵀ and q = −2Nv. Its steps
//! depend on the norms of the normals, so rows keep their original norms, and presolve and
//! equilibration are off, as in the published code of CaVE+. It runs on the calling thread and is
//! deterministic.

use clarabel::algebra::CscMatrix;
use clarabel::solver::{DefaultSettings, DefaultSolver, IPSolver, SupportedConeT};

use super::{BoundStatus, NormalCone};
use crate::SolveFailure;

/// Entries of a normal.
type SparseNormal = Vec<(usize, f64)>;

/// The iterate after some steps.
pub(super) fn project(
    cone: &NormalCone,
    vector: &[f64],
    steps: usize,
) -> Result<Vec<f64>, SolveFailure> {
    let normals = normals(cone);
    // Every value of an absent variable belongs to the cone.
    let nearest = cone.statuses.iter().zip(vector);
    let mut point: Vec<f64> = nearest
        .map(|(status, value)| match status {
            BoundStatus::Absent => *value,
            _ => 0.0,
        })
        .collect();
    for (normal, multiplier) in normals.iter().zip(multipliers(&normals, vector, steps)?) {
        for (j, value) in normal {
            point[*j] += multiplier * value;
        }
    }
    Ok(point)
}

/// The multipliers of the normals after some steps.
fn multipliers(
    normals: &[SparseNormal],
    vector: &[f64],
    steps: usize,
) -> Result<Vec<f64>, SolveFailure> {
    let count = normals.len();
    if count == 0 {
        return Ok(Vec::new());
    }
    // The quadratic program in multipliers: ½ m'(2 N N')m − 2 m'N v.
    let coefficient =
        |normal: &SparseNormal| -2.0 * normal.iter().map(|(j, n)| n * vector[*j]).sum::<f64>();
    let linear_term: Vec<f64> = normals.iter().map(coefficient).collect();
    let negated_identity = CscMatrix::new(
        count,
        count,
        (0..=count).collect(),
        (0..count).collect(),
        vec![-1.0; count],
    );
    let settings = DefaultSettings {
        max_iter: u32::try_from(steps).unwrap_or(u32::MAX),
        verbose: false,
        // The method is defined by the iterate of this solver on this very program: presolve and
        // scaling would change it.
        presolve_enable: false,
        equilibrate_enable: false,
        ..DefaultSettings::default()
    };
    let (zeros, nonnegative) = (vec![0.0; count], [SupportedConeT::NonnegativeConeT(count)]);
    let solver = DefaultSolver::new(
        &doubled_gram_matrix(normals, vector.len()),
        &linear_term,
        &negated_identity,
        &zeros,
        &nonnegative,
        settings,
    );
    let mut solver = solver.map_err(|error| {
        SolveFailure::SolverError(format!("the projection onto a cone failed: {error}"))
    })?;
    solver.solve();
    Ok(solver.solution.x)
}

/// All normals as rays: those of variables, then rows with their original norms, an equation with
/// its opposite.
fn normals(cone: &NormalCone) -> Vec<SparseNormal> {
    let mut normals = Vec::new();
    for (j, status) in cone.statuses.iter().enumerate() {
        if matches!(status, BoundStatus::Lower | BoundStatus::Fixed) {
            normals.push(vec![(j, -1.0)]);
        }
        if matches!(status, BoundStatus::Upper | BoundStatus::Fixed) {
            normals.push(vec![(j, 1.0)]);
        }
    }
    for row in 0..cone.num_rows() {
        let (entries, is_equation) = cone.normal(row);
        let normal: SparseNormal = entries
            .map(|(j, value)| (j, value * cone.norms[row]))
            .collect();
        if is_equation {
            // Clarabel's rays are nonnegative, so an equation is two opposite rays.
            normals.push(normal.iter().map(|(j, value)| (*j, -value)).collect());
        }
        normals.push(normal);
    }
    normals
}

/// Twice the Gram matrix of the normals, upper triangle.
fn doubled_gram_matrix(normals: &[SparseNormal], width: usize) -> CscMatrix<f64> {
    let (mut starts, mut rows, mut values) = (vec![0], Vec::new(), Vec::new());
    // The normals processed so far, by the variables of their entries.
    let mut by_variable: Vec<SparseNormal> = vec![Vec::new(); width];
    // Only products of normals that share a variable are not 0.
    let (mut column, mut touched) = (vec![0.0; normals.len()], Vec::new());
    for (index, normal) in normals.iter().enumerate() {
        for (j, value) in normal {
            by_variable[*j].push((index, *value));
            for (other, factor) in &by_variable[*j] {
                column[*other] += 2.0 * value * factor;
                touched.push(*other);
            }
        }
        touched.sort_unstable();
        touched.dedup();
        for other in touched.drain(..) {
            rows.push(other);
            values.push(std::mem::take(&mut column[other]));
        }
        starts.push(rows.len());
    }
    CscMatrix::new(normals.len(), normals.len(), starts, rows, values)
}
