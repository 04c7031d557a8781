//! Projection on a cone by an interior-point method that may be stopped early.
//!
//! ```text
//! min over λ ≥ 0   ‖v − Nᵀλ‖²        N the normals of all constraints that bind, an equation as two opposite ones
//! ```
//!
//! Solved by Clarabel (Goulart and Chen 2024) as ½λᵀPλ + q·λ with P = 2NNᵀ and q = −2Nv. Its steps
//! depend on the length of the normals, so rows have the length they came with, and it neither
//! rescales nor simplifies the problem, as in the released code of CaVE+. It runs on the calling
//! thread and answers the same every time.

use clarabel::algebra::CscMatrix;
use clarabel::solver::{DefaultSettings, DefaultSolver, IPSolver, SupportedConeT};

use super::{BoundStatus, NormalCone};
use crate::solve::SolveFailure;

/// Entries of a normal.
type SparseNormal = Vec<(usize, f64)>;

/// Where the method stands after some steps.
pub(super) fn project(
    cone: &NormalCone,
    vector: &[f64],
    steps: usize,
) -> Result<Vec<f64>, SolveFailure> {
    let normals = normals(cone);
    let mut point = vec![0.0; vector.len()];
    for (normal, weight) in normals.iter().zip(weights(&normals, vector, steps)?) {
        normal.iter().for_each(|(j, x)| point[*j] += weight * x);
    }
    Ok(point)
}

/// The weights of the normals after some steps.
fn weights(
    normals: &[SparseNormal],
    vector: &[f64],
    steps: usize,
) -> Result<Vec<f64>, SolveFailure> {
    let count = normals.len();
    if count == 0 {
        return Ok(Vec::new());
    }
    let along =
        |normal: &SparseNormal| -2.0 * normal.iter().map(|(j, x)| x * vector[*j]).sum::<f64>();
    let linear: Vec<f64> = normals.iter().map(along).collect();
    let negated = CscMatrix::new(
        count,
        count,
        (0..=count).collect(),
        (0..count).collect(),
        vec![-1.0; count],
    );
    let settings = DefaultSettings {
        max_iter: u32::try_from(steps).unwrap_or(u32::MAX),
        verbose: false,
        presolve_enable: false,
        equilibrate_enable: false,
        ..DefaultSettings::default()
    };
    let (zeros, positive) = (vec![0.0; count], [SupportedConeT::NonnegativeConeT(count)]);
    let solver = DefaultSolver::new(
        &products(normals, vector.len()),
        &linear,
        &negated,
        &zeros,
        &positive,
        settings,
    );
    let mut solver = solver.map_err(|error| {
        SolveFailure::Engine(format!("the projection on a cone failed: {error}"))
    })?;
    solver.solve();
    Ok(solver.solution.x)
}

/// All normals as rays: those of variables, then rows at the length they came with, an equation
/// with its opposite.
fn normals(cone: &NormalCone) -> Vec<SparseNormal> {
    let mut normals = Vec::new();
    for (j, status) in cone.stands.iter().enumerate() {
        if matches!(status, BoundStatus::Lower | BoundStatus::Fixed) {
            normals.push(vec![(j, -1.0)]);
        }
        if matches!(status, BoundStatus::Upper | BoundStatus::Fixed) {
            normals.push(vec![(j, 1.0)]);
        }
    }
    for row in 0..cone.num_rows() {
        let (entries, free) = cone.normal(row);
        let normal: SparseNormal = entries
            .map(|(j, value)| (j, value * cone.lengths[row]))
            .collect();
        if free {
            normals.push(normal.iter().map(|(j, value)| (*j, -value)).collect());
        }
        normals.push(normal);
    }
    normals
}

/// Twice the products of all pairs of normals, upper triangle.
fn products(normals: &[SparseNormal], width: usize) -> CscMatrix<f64> {
    let (mut starts, mut rows, mut values) = (vec![0], Vec::new(), Vec::new());
    // The normals met so far, by the variables they have entries for.
    let mut met: Vec<SparseNormal> = vec![Vec::new(); width];
    let (mut column, mut touched) = (vec![0.0; normals.len()], Vec::new());
    for (number, normal) in normals.iter().enumerate() {
        for (j, value) in normal {
            met[*j].push((number, *value));
            for (other, factor) in &met[*j] {
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
