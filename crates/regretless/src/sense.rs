//! The objective sense, and the only module in which it becomes a sign.
//!
//! Inside the library every problem is a minimization. Costs, predictions and objectives of a
//! maximization are negated when they enter and negated back when they leave, always by a method
//! of [`Sense`].

use serde::{Deserialize, Serialize};

use crate::data::Matrix;
use crate::error::Result;
use crate::predict::CostScaler;
use crate::solve::Solution;

/// The objective sense of the user's problem. It has no default.
///
/// ```
/// use regretless::{Problem, Sense};
///
/// let cheapest = Problem::top_k(3, 1, Sense::Minimize)?;
/// let dearest = Problem::top_k(3, 1, Sense::Maximize)?;
/// let costs = [4.0, 2.0, 7.0];
/// assert_eq!(cheapest.solve(&costs)?.objective, 2.0);
/// assert_eq!(dearest.solve(&costs)?.objective, 7.0);
/// # Ok::<(), regretless::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Sense {
    /// Costs are paid: the objective is minimized.
    #[serde(alias = "min")]
    Minimize,
    /// Costs are gains: the objective is maximized.
    #[serde(alias = "max")]
    Maximize,
}

/// Each conversion is its own inverse: the same call converts from the user's sense to
/// minimization and back.
impl Sense {
    /// The factor of costs and objectives between the user's sense and minimization.
    fn sign(self) -> f64 {
        match self {
            Self::Minimize => 1.0,
            Self::Maximize => -1.0,
        }
    }

    /// Whether the user maximizes.
    pub fn is_maximize(self) -> bool {
        self == Self::Maximize
    }

    /// The factor in single precision, for kernels that apply it while they load numbers.
    pub fn single_sign(self) -> f32 {
        match self {
            Self::Minimize => 1.0,
            Self::Maximize => -1.0,
        }
    }

    /// Converts one number, such as an objective. Zero stays positive zero.
    pub fn convert(self, value: f64) -> f64 {
        self.sign() * value + 0.0
    }

    /// Converts a row of costs in double precision.
    pub fn convert_slice(self, costs: &mut [f64]) {
        if self.is_maximize() {
            costs.iter_mut().for_each(|cost| *cost = -*cost);
        }
    }

    /// Converts a row of costs in single precision.
    pub fn convert_single(self, costs: &mut [f32]) {
        if self.is_maximize() {
            costs.iter_mut().for_each(|cost| *cost = -*cost);
        }
    }

    /// Converts a table of costs, and its values in double precision if it has them.
    ///
    /// # Errors
    /// When costs in a file need a temporary file and there is no space for it.
    pub fn convert_matrix(self, costs: &mut Matrix) -> Result<()> {
        if self.is_maximize() {
            costs.negate()?;
        }
        Ok(())
    }

    /// Converts objective and bound of a solution.
    pub fn convert_solution(self, mut solution: Solution) -> Solution {
        if self.is_maximize() {
            solution.objective = self.convert(solution.objective);
            solution.bound = self.convert(solution.bound);
        }
        solution
    }

    /// Solves for costs in the user's sense by a solver of minimized ones; the solution is in the
    /// user's sense, too.
    ///
    /// # Errors
    /// Those of the solver.
    pub fn solve_stated<E>(
        self,
        mut costs: Vec<f64>,
        solve: impl FnOnce(&[f64]) -> std::result::Result<Solution, E>,
    ) -> std::result::Result<Solution, E> {
        self.convert_slice(&mut costs);
        solve(&costs).map(|solution| self.convert_solution(solution))
    }

    /// Converts a scaler of predicted costs.
    pub(crate) fn convert_scaler(self, scaler: CostScaler) -> CostScaler {
        if self.is_maximize() {
            scaler.negated()
        } else {
            scaler
        }
    }
}
