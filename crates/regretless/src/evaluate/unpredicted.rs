//! Costs without a prediction: what they mean for decisions, and how many rows have them.

use std::collections::BTreeMap;

use crate::data::{CostNames, Matrix};
use crate::error::Result;
use crate::label::LabeledDataset;
use crate::observer::Observer;
use crate::oracle::{CompleteResult, Oracle, SolveResult, TrainingOracle};
use crate::text::first_names;

/// What a prediction that is NaN means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MissingPredictions {
    /// It is an error.
    Refused,
    /// There is no prediction of the cost, since no training row has it: decisions leave out what
    /// it belongs to.
    LeftOut,
}

impl MissingPredictions {
    /// What NaN means in predictions of another program: they may lack only the costs that no
    /// training row has, in increasing order.
    pub fn of_given(predictions: &Matrix, unobserved: &[u32]) -> Self {
        let mut row = Vec::new();
        let is_unobserved = |cost: usize| {
            u32::try_from(cost).is_ok_and(|cost| unobserved.binary_search(&cost).is_ok())
        };
        for position in 0..predictions.rows() {
            predictions.read(position, &mut row);
            let costs = row.iter().enumerate();
            let mut missing = costs.filter(|(_, prediction)| prediction.is_nan());
            if missing.any(|(cost, _)| !is_unobserved(cost)) {
                return Self::Refused;
            }
        }
        Self::LeftOut
    }

    /// The decision of each row of predictions (to be minimized) with the values of all columns;
    /// `names` are those of the costs.
    ///
    /// # Errors
    /// Only when the user interrupts; failures of single rows are among the results.
    pub fn decide_complete(
        self,
        oracle: &Oracle,
        predictions: &Matrix,
        names: &CostNames,
        observer: &dyn Observer,
    ) -> Result<Vec<CompleteResult>> {
        match self {
            Self::Refused => oracle.solve_complete(predictions, observer),
            Self::LeftOut => oracle.decide_complete(predictions, names, observer),
        }
    }

    /// An oracle that decides the instances one by one.
    pub(super) fn decider<'a>(
        self,
        oracle: &'a Oracle,
        data: &'a LabeledDataset,
    ) -> TrainingOracle<'a> {
        let exact = TrainingOracle::exact(oracle);
        match self {
            Self::Refused => exact,
            Self::LeftOut => exact.leaving_out_unpredicted(data.data().cost_names()),
        }
    }

    /// The decision of each instance under its predicted costs.
    pub(super) fn decide(
        self,
        oracle: &Oracle,
        predictions: &Matrix,
        data: &LabeledDataset,
        instances: &[usize],
        observer: &dyn Observer,
    ) -> Result<Vec<SolveResult>> {
        match self {
            Self::Refused => oracle.solve_instances(predictions, instances, observer),
            Self::LeftOut => {
                let names = data.data().cost_names();
                oracle.decide_instances(predictions, instances, names, observer)
            }
        }
    }
}

/// How many rows have costs without a prediction.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct UnpredictedCosts {
    /// Rows that have the cost, by cost.
    rows: BTreeMap<usize, usize>,
}

impl UnpredictedCosts {
    /// Counts the costs of all rows.
    pub fn of_rows(predictions: &Matrix) -> Self {
        let (mut found, mut row) = (Self::default(), Vec::new());
        for position in 0..predictions.rows() {
            predictions.read(position, &mut row);
            found.add(&row);
        }
        found
    }

    /// Counts the costs of a row.
    pub fn add(&mut self, predicted: &[f64]) {
        let costs = predicted.iter().enumerate();
        let missing = costs.filter(|(_, prediction)| prediction.is_nan());
        self.extend(missing.map(|(cost, _)| cost));
    }

    /// Counts some costs of a row.
    pub fn extend(&mut self, costs: impl Iterator<Item = usize>) {
        for cost in costs {
            *self.rows.entry(cost).or_default() += 1;
        }
    }

    pub(super) fn total(&self) -> usize {
        self.rows.values().sum()
    }

    /// Names the costs, and in how many rows decisions leave them out; `None` if there are none.
    pub fn note(&self, names: &CostNames) -> Option<String> {
        let described = self.rows.iter().map(|(cost, rows)| {
            let noun = if *rows == 1 { "row" } else { "rows" };
            format!("{} ({rows} {noun})", names.get(*cost))
        });
        let described = first_names(described);
        (!described.is_empty()).then(|| {
            format!(
                "left out of the choice, since no training row has a value and so there is no \
                 prediction: {described}"
            )
        })
    }
}
