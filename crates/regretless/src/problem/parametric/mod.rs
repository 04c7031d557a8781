//! Problems whose numbers come from columns of the table: every row has a feasible set of its own.
//!
//! A problem file may refer to columns instead of numbers (`capacity = { column = "truck" }`) and
//! arrays (`weights = [{ columns = "w_*" }]`), and may state a known part of the costs (`known = {
//! columns = "distance_*" }`). The file is a template: the problem of a row is what the file
//! describes with the row's numbers in these places, so it is the same problem as one that is built
//! by hand. If that takes too long, its kind builds it from its parts (`rows.rs`).

use std::ops::Range;
use std::sync::Arc;

use serde_json::Value;

use self::known::KnownCosts;
use super::{
    CostNaming, DecisionGeometry, EqualityConstraints, FailureReasons, KindCapabilities,
    ProblemKind, ProblemSpec, RowProblems, Sense, SolveCostHint,
};
use crate::data::{CostNames, ParameterColumns, in_order_of_costs, matched_by_position};
use crate::decision::Decision;
use crate::error::{Error, Result};
use crate::solve::cone::NormalCone;
use crate::solve::{SearchLimits, Solver};
use crate::text::first_names;

mod for_table;
mod json;
mod known;
mod patterns;
mod place;
mod rows;
mod template;

pub(super) use self::place::Place;
pub(super) use self::rows::{NumberRows, RowBuilder, RowParametric, RowSetter, stated_flags};
pub(super) use self::template::{Template, is_template};

/// A problem with parameters per row.
#[derive(Debug)]
pub(super) struct ParametricProblem {
    template: Template,
    /// The columns of all parameters, those of the feasible set before those of known costs.
    columns: Vec<ParameterColumns>,
    /// Where the values of each parameter of the feasible set are in a row's values.
    ranges: Vec<Range<usize>>,
    known: Option<KnownCosts>,
    /// The problem with placeholders for all parameters: it has the names, the sense and the
    /// capabilities of the row problems, but not their decisions.
    base: Arc<dyn ProblemKind>,
    /// Builds the problems of rows, if the file would take too long.
    rows: Option<Box<dyn RowBuilder>>,
}

impl ParametricProblem {
    /// The problem of a template. `file` is the content of the file that a linear problem names,
    /// which need not exist any more.
    ///
    /// # Errors
    /// When a reference is in a place that cannot differ per row, or the template defines no
    /// problem.
    pub(super) fn new(template: &Value, file: Option<Vec<u8>>) -> Result<Self> {
        let mut template = Template::new(template)?;
        template.check_items()?;
        let base_spec = template.base_spec()?;
        let Some(definition) = base_spec.definition() else {
            return Err(Error::setting("a template within a template"));
        };
        let base = match file {
            Some(content) => definition.build_from(content)?,
            None => definition.build_base()?,
        };
        template.expand_patterns(base.as_ref())?;
        if let Some(names) = definition.node_names() {
            template.name_nodes(names);
        }
        let known = template
            .take_known()
            .map(|known| KnownCosts::new(&known, base.as_ref()))
            .transpose()?;
        let mut columns = Vec::new();
        let mut ranges = Vec::new();
        let mut end = 0;
        for place in template.places() {
            let count = place.columns.count;
            ranges.push(end..end + count);
            end += count;
            columns.push(place.columns.clone());
        }
        if let Some(known) = &known {
            columns.extend_from_slice(known.columns());
        }
        let rows = definition.row_builder(&template, base.as_ref())?;
        Ok(Self {
            template,
            columns,
            ranges,
            known,
            base,
            rows,
        })
    }

    /// The problem of all rows, if rows differ in their known costs only.
    fn common_problem(&self) -> Option<&dyn ProblemKind> {
        self.ranges.is_empty().then_some(self.base.as_ref())
    }

    /// Number of values that the feasible set depends on.
    fn num_set_values(&self) -> usize {
        self.ranges.last().map_or(0, |range| range.end)
    }

    /// The problem of a row with these numbers in its places, which are checked.
    fn build_row(&self, values: &[f64]) -> std::result::Result<Arc<dyn ProblemKind>, String> {
        if let Some(rows) = &self.rows {
            return rows.row_problem(values);
        }
        let mut spec = self.template.spec().clone();
        for (place, range) in self.places() {
            place.write(&mut spec, &values[range.clone()])?;
        }
        let spec: ProblemSpec = serde_json::from_value(spec).map_err(|error| error.to_string())?;
        spec.build().map_err(|error| error.to_string())
    }

    /// Why a row has no problem, with the columns its numbers come from.
    fn explain(&self, message: &str, values: &[f64]) -> String {
        let numbers = self.places();
        let numbers = numbers.map(|(place, range)| place.describe(&values[range.clone()]));
        format!("{message}; the row has {}", first_names(numbers))
    }

    fn places(&self) -> impl Iterator<Item = (&Place, &Range<usize>)> {
        self.template.places().iter().zip(&self.ranges)
    }
}

impl ProblemKind for ParametricProblem {
    fn name(&self) -> String {
        let (kind, costs) = (self.template.kind(), self.num_costs());
        if self.ranges.is_empty() {
            format!("{} and known costs", self.base.name())
        } else {
            format!("{kind} with {costs} costs and parameters per row")
        }
    }

    fn sense(&self) -> Sense {
        self.base.sense()
    }

    fn num_costs(&self) -> usize {
        self.base.num_costs()
    }

    fn solver(&self, limits: &SearchLimits) -> Box<dyn Solver> {
        self.base.solver(limits)
    }

    fn solve_cost_hint(&self) -> SolveCostHint {
        self.base.solve_cost_hint()
    }

    fn present_costs(&self) -> Option<&[bool]> {
        self.base.present_costs()
    }

    /// Refused if rows have sets of their own: the oracle checks with the row's problem.
    fn check(&self, decision: &Decision) -> std::result::Result<(), String> {
        if self.ranges.is_empty() {
            self.base.check(decision)
        } else {
            Err("the feasible set depends on the parameters of the row".into())
        }
    }

    fn capabilities(&self) -> KindCapabilities<'_> {
        let base = self.base.capabilities();
        KindCapabilities {
            names: self,
            row_problems: self,
            solver_traits: base.solver_traits,
            failure_reasons: self,
            sensitivity: base.sensitivity,
            geometry: self,
            choices: base.choices,
            model_parts: base.model_parts,
            recourse: base.recourse,
        }
    }
}

impl CostNaming for ParametricProblem {
    fn cost_names(&self) -> Option<&CostNames> {
        self.base.names().cost_names()
    }

    fn may_have_cost_names(&self) -> bool {
        self.base.names().may_have_cost_names()
    }

    fn position_note(&self, costs: &CostNames) -> Option<String> {
        if self.cost_names().is_some() {
            return None;
        }
        let places = self.template.places().iter();
        let weights: Vec<&Place> = places.filter(|place| place.field() == "weights").collect();
        if weights.is_empty() {
            return self.base.names().position_note(costs);
        }
        if !weights.iter().all(|place| place.is_one_number()) {
            // In a long table the weight of an item is in the row of the item.
            return None;
        }
        let columns = weights.iter().map(|place| place.columns.pattern.clone());
        let columns: Vec<String> = columns.collect();
        // One list of columns per dimension.
        let is_unordered =
            |list: &&[String]| in_order_of_costs(list, costs).is_none_or(|order| order != **list);
        let mut lists = columns.chunks_exact(costs.len().max(1));
        let list = lists.find(is_unordered)?;
        let column = |item: usize| format!("from {}", list[item]);
        let matched = matched_by_position("weights", costs, column)?;
        Some(format!(
            "{matched}; give both the same names with another beginning"
        ))
    }
}

impl RowProblems for ParametricProblem {
    fn parameters(&self) -> &[ParameterColumns] {
        &self.columns
    }

    fn row_problem(&self, values: &[f64]) -> std::result::Result<Arc<dyn ProblemKind>, String> {
        if self.ranges.is_empty() {
            return Ok(Arc::clone(&self.base));
        }
        // Numbers of known costs follow: they change no feasible set.
        let values = &values[..self.num_set_values()];
        for (place, range) in self.places() {
            place.check(&values[range.clone()])?;
        }
        self.build_row(values)
            .map_err(|message| self.explain(&message, values))
    }

    fn known_costs(&self, values: &[f64]) -> Option<Vec<f64>> {
        let known = self.known.as_ref()?;
        Some(known.of_row(&values[self.num_set_values()..]))
    }

    fn has_known_costs(&self) -> bool {
        self.known.is_some()
    }

    fn may_have_absent_costs(&self) -> bool {
        self.base.may_have_absent_costs() || self.template.has_present()
    }
}

impl FailureReasons for ParametricProblem {
    fn infeasibility(&self) -> Option<String> {
        self.common_problem()?.failure_reasons().infeasibility()
    }

    fn unboundedness(&self, costs: &[f64]) -> Option<String> {
        self.common_problem()?
            .failure_reasons()
            .unboundedness(costs)
    }

    /// Right-hand sides give no column a bound, whatever they are.
    fn unboundedness_note(&self) -> Option<String> {
        let is_known = self.template.has_right_sides_only();
        is_known.then(|| self.base.failure_reasons().unboundedness_note())?
    }

    fn unusable_costs(&self, costs: &[f64]) -> Option<String> {
        self.common_problem()?
            .failure_reasons()
            .unusable_costs(costs)
    }
}

impl DecisionGeometry for ParametricProblem {
    /// A decision alone does not show which rows it belongs to, and so not which constraints bind.
    fn cone(&self, _decision: &Decision) -> Option<NormalCone> {
        None
    }

    fn has_cones(&self) -> bool {
        self.base.geometry().has_cones()
    }

    fn has_vertex_decisions(&self) -> bool {
        self.base.geometry().has_vertex_decisions()
    }

    fn equality_constraints(&self) -> EqualityConstraints {
        self.base.geometry().equality_constraints()
    }

    fn may_contain_decisions(&self) -> bool {
        self.base.geometry().may_contain_decisions()
    }
}
