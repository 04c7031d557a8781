//! Explains one decision: how firm it is, what else was possible and at what price, what its regret
//! comes from, and which features moved the predicted costs.
//!
//! * `ranges`: how far each predicted cost may move alone before the decision changes;
//!   `range_search` for quantities.
//! * `choices`: the best decision with a choice forced or forbidden; `restricted` for quantities.
//! * `ranking`: the best decisions in order (Lawler 1972); `patterns` for quantities.
//! * `regret`: regret as a sum over the costs, once the true costs are known.
//! * `features`: the part of each feature in the predicted costs.
//!
//! All numbers are in the user's sense. A part that a problem cannot have is left out with the
//! reason; one that was asked for is an error.

mod choices;
mod features;
mod limit;
mod patterns;
mod range_search;
mod ranges;
mod ranking;
mod regret;
mod restricted;
mod row_case;

use std::sync::Arc;

use serde::Serialize;

use self::choices::{ChoiceSolver, INEXACT_SOLVER};
use self::limit::SolveLimit;
use self::ranges::FoundRanges;
use self::row_case::RowCase;
use crate::data::{CostMatching, CostNames, Features, Matrix, RowParameters};
use crate::error::{Error, Result};
use crate::evaluate::UnpredictedCosts;
use crate::label::Row;
use crate::method::Method;
use crate::model::Model;
use crate::observer::{NoopObserver, Observer};
use crate::oracle::Oracle;
use crate::predict::CostModel;
use crate::sense::Sense;
use crate::solve::SolveStatus;

pub use choices::{ChoiceAnswer, FixedChoiceEffect};
pub use features::{FeatureEffect, FeatureEffects, FeatureMethod};
pub use limit::DEFAULT_MAX_SOLVES;
pub use ranges::{RangeEnds, RangeMethod, RangeReport};
pub use ranking::{Alternatives, RankedDecision};
pub use regret::{RegretShare, RegretSplit};

/// Decisions that are listed unless another number is asked for. Untuned: a short list.
const DEFAULT_ALTERNATIVES: usize = 3;

/// What an explanation contains.
///
/// ```
/// use regretless::explain::ExplainSettings;
///
/// let settings = ExplainSettings {
///     alternatives: Some(5),
///     force: vec!["c3".into()],
///     ..ExplainSettings::default()
/// };
/// # let _ = settings;
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ExplainSettings {
    /// Number of the best other decisions to list. `None` lists three if decisions are binary or
    /// have integer columns; if they are not, a number is an error.
    pub alternatives: Option<usize>,
    /// Names of costs whose choice is forced, one at a time; of a linear problem also integer
    /// columns of known cost, such as set-ups.
    pub force: Vec<String>,
    /// Names of costs whose choice is forbidden, one at a time; of a linear problem any columns,
    /// which then are 0.
    pub forbid: Vec<String>,
    /// The true costs in the order of the problem, in the user's sense and without known costs.
    pub costs: Option<Vec<f64>>,
    /// Maximum number of solves of each part of the explanation: ranges, alternatives, features.
    /// `None` allows 250, or fewer if these would take more than a minute. A choice that the costs
    /// fix may take a few solves, which count as one.
    pub max_solves: Option<usize>,
    /// What people call the costs, in the order of the problem; their own names without it. Choices
    /// that are forced or forbidden have these names too.
    pub cost_names: Option<CostNames>,
}

/// Why a decision was made, and how firm it is.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Explanation {
    /// The problem of the row.
    pub problem: String,
    /// Its objective sense.
    pub sense: Sense,
    /// Objective of the decision under the predicted costs, known costs included.
    pub objective: f64,
    /// That predicted costs, objectives and prices are correct only up to a per-row scale factor,
    /// if that is so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scale_note: Option<String>,
    /// That predicted costs, objectives and prices may have a bias, if that is so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bias_note: Option<String>,
    /// Whether the decision is proven optimal for the predicted costs.
    pub is_proven: bool,
    /// The proven quality in words.
    pub status: String,
    /// Every cost of the row that exists.
    pub costs: Vec<ExplainedCost>,
    /// Columns whose whole cost is known, if their value is not 0.
    pub other_columns: Vec<NamedValue>,
    /// How the ranges of the costs were found.
    pub ranges: RangeReport,
    /// The best other decisions.
    pub alternatives: Alternatives,
    /// What each forced or forbidden choice costs.
    pub choices: Vec<FixedChoiceEffect>,
    /// Where the regret comes from, if the true costs are known.
    pub regret: Option<RegretSplit>,
    /// Which features moved the predicted costs.
    pub features: FeatureEffects,
}

/// One cost of the explained row.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ExplainedCost {
    /// Its name.
    pub name: String,
    /// Its number in the problem.
    pub index: usize,
    /// The value of its variable in the decision.
    pub value: f64,
    /// The predicted cost, without its known part.
    pub predicted: f64,
    /// The known part of the cost; 0 if costs are predicted as a whole.
    pub known: f64,
    /// Where the predicted cost may move alone while the decision stays optimal; none if the
    /// problem has no ranges.
    pub range: Option<RangeEnds>,
}

/// Explanations of decisions.
impl Model {
    /// Explains the decision for one row: how far each cost may move, the best other decisions,
    /// what a forced or forbidden choice costs, which features moved the predictions and, with the
    /// true costs, where the regret comes from.
    ///
    /// ```
    /// use regretless::explain::ExplainSettings;
    /// use regretless::{Dataset, Method, Problem, Split, Trainer};
    ///
    /// let problem = Problem::benchmark("KS8")?;
    /// let data = Dataset::generate(&problem, 100)?.split(Split::random(0).train(0.5))?;
    /// let model = Trainer::new(Method::mse()).epochs(2).fit(&problem, &data)?;
    /// let explanation = model.explain(data.test().row(0), &ExplainSettings::default())?;
    /// let second = &explanation.alternatives.decisions[0];
    /// assert!(second.price >= 0.0);
    /// # Ok::<(), regretless::Error>(())
    /// ```
    ///
    /// # Errors
    /// When there is no decision, a name is unknown, true costs are missing or not finite, or
    /// something was asked for that the problem does not have.
    pub fn explain<'a>(
        &self,
        row: impl Into<Row<'a>>,
        settings: &ExplainSettings,
    ) -> Result<Explanation> {
        let row = row.into();
        let features = self.features(row)?;
        let parameters = row.parameters(self.problem().kind().as_ref())?;
        self.explain_instance(&features, parameters.as_ref(), settings, &NoopObserver)
    }

    /// The same for the features of one instance and its parameters, with cancellation.
    ///
    /// # Errors
    /// As [`Model::explain`], when there are several instances, and when the user interrupts.
    pub fn explain_instance(
        &self,
        features: &Features,
        parameters: Option<&Arc<RowParameters>>,
        settings: &ExplainSettings,
        observer: &dyn Observer,
    ) -> Result<Explanation> {
        let resized = self.for_items(features, parameters)?;
        let model = resized.as_ref().unwrap_or(self);
        let oracle = model.oracle()?.with_parameters(parameters)?;
        let predictor = model.predictor();
        predictor.explain(features, &oracle, settings, observer)
    }
}

impl CostModel {
    /// Explains the decision for the features of one instance: as [`Model::explain`], for a problem
    /// that only the program has. The oracle has the parameters of the instance.
    ///
    /// # Errors
    /// As [`Model::explain_instance`].
    pub fn explain(
        &self,
        features: &Features,
        oracle: &Oracle,
        settings: &ExplainSettings,
        observer: &dyn Observer,
    ) -> Result<Explanation> {
        let instances = features.instances();
        if instances != 1 {
            let message = format!("one instance is explained at a time, not {instances}");
            return Err(Error::data(message));
        }
        let in_solve = Error::single_solve;
        oracle.require_costs("an explanation", COSTS_REMEDY)?;
        let matching = self.match_problem(oracle.problem().as_ref())?;
        let mut predicted = Vec::new();
        let costs = self.predict_matched(features, &matching)?;
        costs.read(0, &mut predicted);
        let required = oracle.problem().num_costs();
        if predicted.len() != required {
            return Err(Error::data(format!(
                "{} costs are predicted, {} needs {required}",
                predicted.len(),
                oracle.problem().name()
            )));
        }
        let of_row = item_names(oracle, required);
        let given = settings.cost_names.as_ref().or(of_row.as_ref());
        let own = matching.names().unwrap_or(&self.metadata.costs);
        let names = given.unwrap_or(own);
        let numbered = CostNames::numbered(required);
        let prediction = RowPrediction {
            model: self,
            matching: &matching,
            features,
            known: known_costs(oracle)?,
            oracle,
            predicted: &predicted,
        };
        let costs = total_costs(oracle, &predicted)?;
        refuse_unpredicted(&costs, names)?;
        let mut worker = oracle.worker();
        worker.set_instance(0);
        let (mut solution, complete) = worker.solve_complete(&costs).map_err(in_solve)?;
        drop(worker);
        // A heuristic may have found the optimum, but there is no proof that it has.
        if oracle.heuristic().is_some() {
            solution.status = SolveStatus::LimitReached;
        }
        let problem = oracle.row_problem(0).map_err(in_solve)?;
        let case = RowCase {
            oracle: Oracle::new(Arc::clone(&problem))
                .with_threads(oracle.threads().clone())
                .with_limits(*oracle.limits())
                .with_heuristic(oracle.heuristic())?,
            domains: problem.model_parts().column_domains().unwrap_or_default(),
            problem,
            costs,
            limit: SolveLimit::new(settings.max_solves, &solution),
            solution,
            complete,
            names: if names.len() == required {
                names
            } else {
                &numbered
            },
            observer,
        };
        case.explain(&prediction, settings)
    }
}

/// What explains decisions about quantities instead.
const COSTS_REMEDY: &str = "solve for other quantities and compare the decisions";

/// The names of the items of a single row, if rows name their own.
fn item_names(oracle: &Oracle, items: usize) -> Option<CostNames> {
    let parameters = oracle.parameters();
    let parameters = parameters.filter(|parameters| parameters.name_items())?;
    let numbered = CostNames::numbered(items);
    let name = |item: usize| {
        let own = parameters.item_name(0, item);
        own.map_or_else(|| numbered.get(item).into_owned(), str::to_owned)
    };
    Some((0..items).map(name).collect::<Vec<String>>().into())
}

/// The prediction that led to the decision, in the user's sense.
struct RowPrediction<'a> {
    model: &'a CostModel,
    /// From the costs of the model to those of the problem.
    matching: &'a CostMatching,
    features: &'a Features,
    /// The oracle with the parameters of the row.
    oracle: &'a Oracle,
    /// Predicted costs without known ones.
    predicted: &'a [f64],
    /// Known costs, if the problem has them.
    known: Option<Vec<f64>>,
}

/// Refuses a row with costs without a prediction, which its decision leaves out: ranges and prices
/// would be those of another problem.
fn refuse_unpredicted(costs: &[f64], names: &CostNames) -> Result<()> {
    let mut unpredicted = UnpredictedCosts::default();
    unpredicted.add(costs);
    match unpredicted.note(names) {
        None => Ok(()),
        Some(note) => Err(Error::data(note).with_remedy(
            "to explain the decision, mark them as absent in this row, or train on rows that have \
             them",
        )),
    }
}

/// The known costs of the row in the user's sense.
fn known_costs(oracle: &Oracle) -> Result<Option<Vec<f64>>> {
    let mut values = Vec::new();
    if oracle.has_row_problems() {
        let read = oracle.read_parameters(0, &mut values);
        read.map_err(Error::single_solve)?;
    }
    Ok(oracle.problem().row_problems().known_costs(&values))
}

/// Costs of the row in the user's sense as minimized totals, with known costs and without absent
/// ones.
fn total_costs(oracle: &Oracle, costs: &[f64]) -> Result<Vec<f64>> {
    // In double precision: rounded costs could make another decision optimal than the explained
    // one.
    let exact = Arc::new(costs.to_vec());
    let matrix = Matrix::from_f64(1, costs.len(), costs)?.with_f64_values(exact)?;
    let mut totals = Vec::new();
    oracle.minimized_totals(matrix)?.read(0, &mut totals);
    Ok(totals)
}

impl RowCase<'_> {
    fn explain(
        &self,
        prediction: &RowPrediction<'_>,
        settings: &ExplainSettings,
    ) -> Result<Explanation> {
        let sense = self.problem.sense();
        let solver = ChoiceSolver::new(self);
        let choices = solver.effects(&settings.force, &settings.forbid)?;
        let mut regret = match &settings.costs {
            Some(costs) => Some(self.split_regret(prediction, costs)?),
            None => None,
        };
        let mut ranges = self.explain_ranges(&solver)?;
        let mut alternatives = self.explain_alternatives(&solver, settings.alternatives)?;
        let contradicts = |split: &RegretSplit| split.is_contradiction(self);
        // A solver that contradicts itself is known only after all parts have been asked, so what
        // they said before is taken back.
        let is_inexact = self.unproven().is_none()
            && (solver.has_contradiction() || regret.as_ref().is_some_and(contradicts));
        if is_inexact {
            ranges = FoundRanges::none(format!("no ranges: {INEXACT_SOLVER}"));
            alternatives = Alternatives::none(INEXACT_SOLVER.into());
            if let Some(split) = &mut regret {
                split.reason.get_or_insert_with(|| INEXACT_SOLVER.into());
            }
        }
        let features = self.explain_features(prediction)?;
        let mut costs = Vec::new();
        for cost in self.present() {
            let predicted = prediction.predicted[cost];
            let known = prediction.known.as_ref().map_or(0.0, |known| known[cost]);
            costs.push(ExplainedCost {
                name: self.name(cost),
                index: cost,
                value: self.solution.decision.value(cost),
                predicted,
                known,
                range: ranges.of_cost(cost, self, known),
            });
        }
        Ok(Explanation {
            problem: self.problem.name(),
            sense,
            objective: self.stated(self.solution.objective),
            scale_note: Method::scale_note(&prediction.model.metadata.method),
            bias_note: Method::bias_note(&prediction.model.metadata.method),
            is_proven: !is_inexact && self.unproven().is_none(),
            status: if is_inexact {
                "not optimal".into()
            } else {
                self.status()
            },
            costs,
            other_columns: self.other_columns(&self.complete),
            ranges: ranges.report,
            alternatives,
            choices,
            regret,
            features,
        })
    }
}

/// A value that differs in another decision.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ChangedValue {
    /// The name of the column.
    pub name: String,
    /// Its value in the explained decision.
    pub value: f64,
    /// Its value in the other one.
    pub other_value: f64,
}

/// The value of a variable that is not 0.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NamedValue {
    /// Its name, which is that of its cost.
    pub name: String,
    /// The value.
    pub value: f64,
}
