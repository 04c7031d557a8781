//! The cone of a decision: the normals of the constraints that bind there.
//!
//! A decision `x` is best under costs `c` when and only when `−c` lies in the cone of the outward
//! normals of the constraints that hold with equality at `x`: a row `a·x ≤ b` gives the ray `a`, an
//! equation the line through `a`, a variable at its lower bound the ray `−e`, at its upper bound
//! `e` (the optimality conditions of linear programming). Constraints count as binding within 1e-5.
//! Rows are kept at unit length.
//!
//! [`NormalCone::project`] finds the nearest point of the cone. The rays of variables are eliminated:
//! what is left of a vector after the rows have explained their part costs nothing where a ray
//! explains the rest. That leaves
//!
//! ```text
//! min over λ   ½ Σ_j r_j(v − Aᵀλ)²        λ ≥ 0 for inequalities, free for equations
//! ```
//!
//! with `r_j` the positive part for a variable at its lower bound, the negative part at its upper
//! bound: one unknown per row instead of one per constraint, solved by a semismooth Newton method
//! (`newton`). [`NormalCone::project_interior`] is another way, by an interior-point method that is stopped
//! on its way (`interior`).

#[cfg(feature = "clarabel")]
mod interior;
mod newton;

use super::SolveFailure;
use crate::decision::Decision;

/// Distance to a bound below which a constraint binds.
const BINDING_TOLERANCE: f64 = 1e-5;

/// Where a variable stands, which says what its own rays explain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BoundStatus {
    /// At its lower bound: everything negative.
    Lower,
    /// Between its bounds: nothing.
    Between,
    /// At its upper bound: everything positive.
    Upper,
    /// At both: everything.
    Fixed,
}

impl BoundStatus {
    fn of(value: f64, [lower, upper]: [f64; 2]) -> Self {
        match (
            value - lower < BINDING_TOLERANCE,
            upper - value < BINDING_TOLERANCE,
        ) {
            (true, true) => Self::Fixed,
            (true, false) => Self::Lower,
            (false, true) => Self::Upper,
            (false, false) => Self::Between,
        }
    }

    /// What is left of a number after the rays have explained what they can.
    fn residual(self, number: f64) -> f64 {
        let (min, max) = match self {
            Self::Lower => (0.0, f64::INFINITY),
            Self::Between => (f64::NEG_INFINITY, f64::INFINITY),
            Self::Upper => (f64::NEG_INFINITY, 0.0),
            Self::Fixed => (0.0, 0.0),
        };
        number.max(min).min(max)
    }
}

/// Normals of the constraints that bind at a decision.
#[derive(Debug, Clone, PartialEq)]
pub struct NormalCone {
    stands: Vec<BoundStatus>,
    /// End of each row in the two lists below.
    ends: Vec<usize>,
    index: Vec<u32>,
    value: Vec<f64>,
    /// Whether each row is an equation.
    free: Vec<bool>,
    /// How long each row was when it came.
    lengths: Vec<f64>,
}

impl NormalCone {
    /// The rays of the variables of a point, by their least and greatest values; rows are added
    /// later.
    pub fn new(point: &[f64], bounds: &[[f64; 2]]) -> Self {
        Self::from_statuses(
            point
                .iter()
                .zip(bounds)
                .map(|(value, bounds)| BoundStatus::of(*value, *bounds))
                .collect(),
        )
    }

    /// The rays of `count` variables that are 0 or 1.
    pub fn binary(decision: &Decision, count: usize) -> Self {
        let mut stands = vec![BoundStatus::Lower; count];
        decision
            .iter()
            .for_each(|(j, value)| stands[j] = BoundStatus::of(value, [0.0, 1.0]));
        Self::from_statuses(stands)
    }

    fn from_statuses(stands: Vec<BoundStatus>) -> Self {
        Self {
            stands,
            ends: Vec::new(),
            index: Vec::new(),
            value: Vec::new(),
            free: Vec::new(),
            lengths: Vec::new(),
        }
    }

    /// Adds an equation.
    pub fn equality(&mut self, entries: impl IntoIterator<Item = (usize, f64)>) {
        self.add(entries, 1.0, true);
    }

    /// Adds a row `a·x ≤ b` that holds with equality.
    pub fn binding(&mut self, entries: impl IntoIterator<Item = (usize, f64)>) {
        self.add(entries, 1.0, false);
    }

    /// Adds a row with least and greatest activity where it binds at this activity.
    pub fn row(
        &mut self,
        bounds: [f64; 2],
        activity: f64,
        entries: impl IntoIterator<Item = (usize, f64)>,
    ) {
        match BoundStatus::of(activity, bounds) {
            BoundStatus::Lower => self.add(entries, -1.0, false),
            BoundStatus::Between => {}
            BoundStatus::Upper => self.add(entries, 1.0, false),
            BoundStatus::Fixed => self.add(entries, 1.0, true),
        }
    }

    fn add(&mut self, entries: impl IntoIterator<Item = (usize, f64)>, sign: f64, free: bool) {
        let first = self.index.len();
        for (index, value) in entries.into_iter().filter(|(_, value)| *value != 0.0) {
            self.index.push(index as u32);
            self.value.push(value);
        }
        let length = self.value[first..]
            .iter()
            .map(|value| value * value)
            .sum::<f64>()
            .sqrt();
        if length > 0.0 {
            self.value[first..]
                .iter_mut()
                .for_each(|value| *value *= sign / length);
            self.ends.push(self.index.len());
            self.free.push(free);
            self.lengths.push(length);
        }
    }

    /// How many rows bind, equations included.
    pub fn num_rows(&self) -> usize {
        self.ends.len()
    }

    /// Where each variable stands.
    pub fn statuses(&self) -> &[BoundStatus] {
        &self.stands
    }

    /// The unit normal of a row, and whether it is an equation.
    pub fn normal(&self, row: usize) -> (impl Iterator<Item = (usize, f64)> + '_, bool) {
        let first = row.checked_sub(1).map_or(0, |before| self.ends[before]);
        let range = first..self.ends[row];
        let entries = self.index[range.clone()].iter().zip(&self.value[range]);
        (
            entries.map(|(index, value)| (*index as usize, *value)),
            self.free[row],
        )
    }

    /// The mean of all unit normals, an equation counting as two opposite ones: a direction inside
    /// the cone.
    pub fn mean_normal(&self) -> Vec<f64> {
        let ray = |status: &BoundStatus| match status {
            BoundStatus::Lower => (-1.0, 1),
            BoundStatus::Between => (0.0, 0),
            BoundStatus::Upper => (1.0, 1),
            BoundStatus::Fixed => (0.0, 2),
        };
        let mut mean: Vec<f64> = self.stands.iter().map(|status| ray(status).0).collect();
        let mut count: u32 = self.stands.iter().map(|status| ray(status).1).sum();
        for row in 0..self.num_rows() {
            let (entries, free) = self.normal(row);
            count += if free { 2 } else { 1 };
            if !free {
                entries.for_each(|(j, value)| mean[j] += value);
            }
        }
        mean.iter_mut()
            .for_each(|entry| *entry /= f64::from(count.max(1)));
        mean
    }

    /// Newton steps that suffice for the nearest point.
    pub const MAX_NEWTON_STEPS: usize = 500;

    /// The point of the cone nearest to a vector.
    pub fn project(&self, vector: &[f64]) -> Vec<f64> {
        self.project_within(vector, Self::MAX_NEWTON_STEPS)
    }

    /// The same, or another point of the cone where the nearest is not found in so many Newton
    /// steps.
    pub fn project_within(&self, vector: &[f64], steps: usize) -> Vec<f64> {
        newton::project(self, vector, steps)
    }

    /// A point of the cone near a vector: where an interior-point method stands after some steps,
    /// usually inside.
    ///
    /// # Errors
    /// When the method fails, or the crate was built without it (feature `clarabel`).
    #[cfg(feature = "clarabel")]
    pub fn project_interior(&self, vector: &[f64], steps: usize) -> Result<Vec<f64>, SolveFailure> {
        interior::project(self, vector, steps)
    }

    /// Always fails: this build was made without the feature `clarabel`.
    ///
    /// # Errors
    /// Always.
    #[cfg(not(feature = "clarabel"))]
    pub fn project_interior(
        &self,
        _vector: &[f64],
        _steps: usize,
    ) -> Result<Vec<f64>, SolveFailure> {
        Err(SolveFailure::Engine(
            "this build has no interior-point method (cargo feature `clarabel`); use CaVE(inner)"
                .into(),
        ))
    }
}
