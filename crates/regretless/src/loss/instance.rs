//! A loss of one instance, for experiments and documentation.

use super::{LossInput, LossSpec, NoiseKey};
use crate::data::Dataset;
use crate::error::Result;
use crate::label::LabeledDataset;
use crate::observer::NoopObserver;
use crate::oracle::{Oracle, TrainingOracle};
use crate::problem::Problem;

/// Value and gradient of a loss.
#[derive(Debug, Clone, PartialEq)]
pub struct LossValue {
    /// The loss.
    pub value: f64,
    /// Its derivative with respect to each predicted cost, in the user's sense.
    pub gradient: Vec<f64>,
}

impl LossSpec {
    /// The loss of one prediction and its gradient. Predictions and costs are in the user's sense.
    /// The solution pool of losses that use one holds the label and the optimal decision under the
    /// predicted costs.
    ///
    /// ```
    /// use regretless::loss::LossSpec;
    /// use regretless::{Problem, Sense};
    ///
    /// // The cheapest of three items: item 0 is optimal, item 1 is predicted to be.
    /// let problem = Problem::top_k(3, 1, Sense::Minimize)?;
    /// let loss: LossSpec = "SPO+".parse()?;
    /// let result = loss.evaluate(&problem, &[2.0, 1.0, 3.0], &[1.0, 2.0, 3.0])?;
    /// assert_eq!(result.value, 3.0);
    /// assert_eq!(result.gradient, [2.0, -2.0, 0.0]);
    /// # Ok::<(), regretless::Error>(())
    /// ```
    ///
    /// # Errors
    /// When the numbers do not fit the problem, the problem lacks what the loss needs, or a solve
    /// fails.
    pub fn evaluate(
        &self,
        problem: &Problem,
        prediction: &[f64],
        costs: &[f64],
    ) -> Result<LossValue> {
        let oracle = Oracle::new(problem.kind().clone());
        // A loss does not use features; one constant feature makes a valid table.
        let table = Dataset::from_arrays(&[[1.0]], &[costs])?;
        let data = LabeledDataset::solve(table, &oracle, &NoopObserver)?;
        let mut minimized = prediction.to_vec();
        problem.sense().convert_slice(&mut minimized);
        let predicted = problem.solve(prediction)?.decision;
        let label = data.optimal_decision(0);
        let uses_pool = self.properties().uses_pool;
        let training_oracle =
            TrainingOracle::exact(&oracle).with_pool([label, &predicted], uses_pool);
        let mut true_costs = Vec::new();
        data.data().costs().read(0, &mut true_costs);
        let input = LossInput {
            instance: 0,
            costs: &true_costs,
            prediction: &minimized,
            label,
            noise: NoiseKey::default(),
        };
        let mut gradient = vec![0.0; costs.len()];
        let mut worker = training_oracle.worker();
        worker.set_instance(0);
        let loss = self.build(&data, &oracle, &NoopObserver)?;
        let value = loss.evaluate(&input, &mut worker, &mut gradient)?;
        problem.sense().convert_slice(&mut gradient);
        Ok(LossValue { value, gradient })
    }
}
