//! Solvers and checks of linear problems.

use std::sync::Arc;

use super::{FIXED_COST_TOLERANCE, LinearProblem};
use crate::data::CostNames;
use crate::decision::Decision;
use crate::problem::equality::{EqualityRow, eliminate_auxiliary};
use crate::problem::{
    ChoiceFixing, Choices, ColumnDomain, CostNaming, DecisionGeometry, EqualityConstraints,
    FailureReasons, FixedChoices, KindCapabilities, ModelParts, ProblemKind, Restriction, Sense,
    Sensitivity, VariableBounds,
};
use crate::problem::{SolveCostHint, SolveSeconds};
use crate::solve::cone::NormalCone;
use crate::solve::linear::LinearSolver;
use crate::solve::relaxation::VertexSolver;
use crate::solve::{SearchLimits, Solver};

impl ProblemKind for LinearProblem {
    fn name(&self) -> String {
        match self.parts.name.as_str() {
            "" => "linear problem".into(),
            name => format!("linear problem {name}"),
        }
    }

    fn sense(&self) -> Sense {
        self.parts.sense
    }

    fn num_costs(&self) -> usize {
        self.parts.predicted.len()
    }

    fn present_costs(&self) -> Option<&[bool]> {
        self.present.as_deref()
    }

    fn solve_cost_hint(&self) -> SolveCostHint {
        // Untuned: used until the first solves are counted.
        SolveCostHint {
            exact: SolveSeconds::Counted(1e-2),
            relaxed_ratio: SolveCostHint::UNKNOWN.relaxed_ratio,
        }
    }

    fn solver(&self, limits: &SearchLimits) -> Box<dyn Solver> {
        let (model, predicted) = (Arc::clone(&self.model), Arc::clone(&self.parts.predicted));
        let solver = LinearSolver::new(model, predicted, *limits);
        Box::new(solver.with_present(self.present.clone()))
    }

    fn reuse_solver(&self, solver: &mut dyn Solver) -> bool {
        let solver: &mut dyn std::any::Any = solver;
        solver.downcast_mut::<LinearSolver>().is_some_and(|solver| {
            solver.move_to(&self.model, &self.parts.predicted, self.present.clone())
        })
    }

    /// Auxiliary columns are not part of a decision: rows with auxiliary columns are checked
    /// against the best that their bounds allow. The solver checks its full solution before it
    /// returns.
    fn check(&self, decision: &Decision) -> Result<(), String> {
        if let Some(last) = decision
            .indices()
            .last()
            .filter(|last| **last as usize >= self.num_costs())
        {
            return Err(format!(
                "variable {last} of {} does not exist",
                self.num_costs()
            ));
        }
        let mut values = vec![0.0; self.num_costs()];
        decision.write_dense(&mut values);
        self.model
            .check_partial(|column| self.parts.cost_index[column].map(|cost| values[cost]))
    }

    fn capabilities(&self) -> KindCapabilities<'_> {
        KindCapabilities {
            model_parts: self,
            ..KindCapabilities::of(self)
        }
    }
}

impl CostNaming for LinearProblem {
    fn cost_names(&self) -> Option<&CostNames> {
        self.parts.cost_names.as_ref()
    }

    fn may_have_cost_names(&self) -> bool {
        self.parts.could_name_costs
    }
}

impl FailureReasons for LinearProblem {
    fn infeasibility(&self) -> Option<String> {
        self.explain_infeasibility()
    }

    fn unboundedness(&self, costs: &[f64]) -> Option<String> {
        self.explain_unboundedness(costs)
    }

    fn unboundedness_note(&self) -> Option<String> {
        self.note_unbounded_columns()
    }
}

impl Sensitivity for LinearProblem {
    fn vertex_solver(&self, limits: &SearchLimits) -> Option<Box<dyn VertexSolver>> {
        Some(self.relaxation(limits))
    }
}

impl DecisionGeometry for LinearProblem {
    /// There is none with auxiliary columns: a decision does not contain their values, and their
    /// costs shift the cone away from the origin.
    fn cone(&self, decision: &Decision) -> Option<NormalCone> {
        if !self.has_cones() {
            return None;
        }
        let mut values = vec![0.0; self.num_costs()];
        decision.write_dense(&mut values);
        let bounds: Vec<[f64; 2]> = self
            .parts
            .predicted
            .iter()
            .map(|column| self.model.column_bounds[*column])
            .collect();
        let mut cone = NormalCone::new(&values, &bounds);
        for (row, bounds) in self.model.row_bounds.iter().enumerate() {
            let entries = || {
                self.model
                    .rows
                    .entries(row)
                    .filter_map(|(column, entry)| Some((self.parts.cost_index[column]?, entry)))
                    .filter(|(cost, _)| self.present.as_ref().is_none_or(|present| present[*cost]))
            };
            let activity = entries().map(|(cost, entry)| entry * values[cost]).sum();
            cone.add_row_if_binding(*bounds, activity, entries());
        }
        Some(cone.without_absent(self.present.as_deref()))
    }

    fn has_cones(&self) -> bool {
        !self.parts.cost_index.contains(&None)
    }

    fn has_vertex_decisions(&self) -> bool {
        // An integer column with two values, or one, is at a bound.
        let columns = self.model.integer.iter().zip(&self.model.column_bounds);
        columns
            .filter(|(integer, _)| **integer)
            .all(|(_, [lower, upper])| upper - lower <= 1.0)
    }

    /// Equality rows without the auxiliary columns, whose values are not part of a decision.
    fn equality_constraints(&self) -> EqualityConstraints {
        let mut rows = Vec::new();
        for (row, [lower, upper]) in self.model.row_bounds.iter().enumerate() {
            if lower != upper || self.model.rows.entries(row).next().is_none() {
                continue;
            }
            let mut equality = EqualityRow::default();
            for (column, factor) in self.model.rows.entries(row) {
                if factor == 0.0 || self.is_absent(column) {
                    continue;
                }
                let [lower, upper] = self.model.column_bounds[column];
                match self.parts.cost_index[column] {
                    Some(cost) => equality.predicted.push((cost as u32, factor)),
                    // A fixed column is part of the right-hand side.
                    None if lower == upper => {}
                    None => equality.auxiliary.push((column as u32, factor)),
                }
            }
            equality.predicted.sort_by_key(|(cost, _)| *cost);
            equality.auxiliary.sort_by_key(|(column, _)| *column);
            rows.push(equality);
        }
        eliminate_auxiliary(rows)
    }
}

impl Choices for LinearProblem {
    fn bounds(&self) -> VariableBounds {
        let bounds = |column: &usize| self.model.column_bounds[*column];
        if self
            .parts
            .predicted
            .iter()
            .all(|column| self.model.integer[*column] && bounds(column) == [0.0, 1.0])
        {
            return VariableBounds::Binary;
        }
        let lower = self.parts.predicted.iter().map(|column| bounds(column)[0]);
        let upper = self.parts.predicted.iter().map(|column| bounds(column)[1]);
        let (lower, upper) = (lower.collect(), upper.collect());
        VariableBounds::Box { lower, upper }
    }

    /// By the bounds of the columns. The costs would not do: those of auxiliary columns count too.
    fn fix_choices(&self, fixed: &FixedChoices) -> ChoiceFixing {
        let bounds = |cost: usize| self.model.column_bounds[self.parts.predicted[cost]];
        let is_binary = |cost: usize| {
            let [lower, upper] = bounds(cost);
            self.model.integer[self.parts.predicted[cost]] && lower >= 0.0 && upper <= 1.0
        };
        if !(0..self.num_costs()).all(is_binary) {
            return ChoiceFixing::NotBinary;
        }
        let exists = |cost: u32| !self.is_absent(self.parts.predicted[cost as usize]);
        if fixed.contradict(exists) {
            return ChoiceFixing::Infeasible;
        }
        let forced = fixed.forced.iter().map(|cost| (*cost, 1.0));
        let forbidden = fixed.forbidden.iter().map(|cost| (*cost, 0.0));
        self.with_fixed_columns(forced.chain(forbidden))
    }

    fn leave_out(&self, costs: &[u32]) -> ChoiceFixing {
        self.with_fixed_columns(costs.iter().map(|cost| (*cost, 0.0)))
    }
}

impl ModelParts for LinearProblem {
    fn row_names(&self) -> &[String] {
        &self.model.row_names
    }

    fn column_names(&self) -> &[String] {
        &self.model.column_names
    }

    fn file_hash(&self) -> Option<&str> {
        self.parts.file.as_ref().map(|file| file.hash.as_str())
    }

    fn file_content(&self) -> Option<&[u8]> {
        self.parts.file.as_ref().map(|file| &*file.content)
    }

    fn fingerprint(&self) -> Vec<u8> {
        // The debug format of a model contains all of its values exactly.
        let content = format!(
            "{:?} {:?} {:?}",
            self.parts.sense, self.model, self.parts.predicted
        );
        blake3::hash(content.as_bytes()).as_bytes().to_vec()
    }

    fn fixed_cost(&self) -> Option<f64> {
        let known = self.model.cost.iter().any(|cost| *cost != 0.0);
        (!known).then_some(self.model.offset)
    }

    fn fixed_cost_columns(&self) -> Vec<String> {
        let mut names = Vec::new();
        for (column, cost) in self.model.cost.iter().enumerate() {
            // A column that is fixed, such as the constant of an objective, changes no decision.
            let [lower, upper] = self.model.column_bounds[column];
            if *cost != 0.0 && lower < upper {
                names.push(self.model.column_names[column].clone());
            }
        }
        names
    }

    fn column_domains(&self) -> Option<Vec<ColumnDomain>> {
        Some(self.domains())
    }

    fn restricted(&self, restriction: &Restriction) -> Option<Arc<dyn ProblemKind>> {
        let restricted = self.with_restriction(restriction)?;
        Some(Arc::new(restricted))
    }

    fn without_fixed_costs(&self) -> Option<Arc<dyn ProblemKind>> {
        let is_free = self.model.offset == 0.0 && self.model.cost.iter().all(|cost| *cost == 0.0);
        if is_free {
            return None;
        }
        Some(Arc::new(self.with_free_auxiliary_columns()))
    }

    fn auxiliary_names(&self) -> &[String] {
        &self.parts.auxiliary_names
    }

    fn auxiliary_cost(&self, auxiliary: &[f64]) -> f64 {
        let mut fixed = self.model.offset;
        for (column, value) in self.parts.auxiliary.iter().zip(auxiliary) {
            fixed += self.model.cost[*column] * value;
        }
        fixed
    }

    fn check_auxiliary(&self, decision: &Decision, auxiliary: &[f64]) -> Result<(), String> {
        if auxiliary.len() != self.parts.auxiliary.len() {
            let (found, expected) = (auxiliary.len(), self.parts.auxiliary.len());
            return Err(format!(
                "{found} values of the {expected} columns with known costs"
            ));
        }
        let mut values = vec![0.0; self.model.cost.len()];
        for (cost, value) in decision.iter() {
            values[self.parts.predicted[cost]] = value;
        }
        let mut magnitude = 1.0_f64;
        for (column, value) in self.parts.auxiliary.iter().zip(auxiliary) {
            values[*column] = *value;
            magnitude = magnitude.max((self.model.cost[*column] * value).abs());
        }
        self.model.check(&values)?;
        let fixed = self.auxiliary_cost(auxiliary);
        let difference = (fixed - decision.fixed()).abs();
        if difference <= FIXED_COST_TOLERANCE * magnitude.max(fixed.abs()) {
            Ok(())
        } else {
            let stated = decision.fixed();
            Err(format!(
                "the columns with known costs cost {fixed}, not {stated}"
            ))
        }
    }
}
