//! Regret: how much worse a decision is than the optimal one under the true costs, and its
//! aggregates.
//!
//! regret = c·x(ĉ) − c·x(c), with true costs c, predicted costs ĉ and the optimal decision x(·) for
//! a cost vector. Normalized regret divides the sum of regrets by the sum of the absolute optimal
//! objectives; relative regret is the mean over instances of their quotient.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::data::{CostMatching, CostNames, Dataset, FeatureShape, Features, Matrix, NamedCosts};
use crate::error::{Error, Result};
use crate::label::LabeledDataset;
use crate::observer::Observer;
use crate::oracle::{CompleteResult, Oracle, SolveResult, TrainingOracle};
use crate::predict::{CostModel, number_or_nan, row_digest, row_hash};
use crate::problem::{ProblemKind, ProblemSpec};
use crate::random::{Purpose, RandomStream};
use crate::solve::SolveStatus;
use crate::text::first_names;

/// Smallest norm that is a denominator; untuned: any value far below real norms works, since it
/// only replaces a division by zero.
const MIN_DENOMINATOR: f64 = 1e-12;

/// Relative regret up to which a decision counts as optimal: rounding errors of an objective's sum
/// are smaller.
const OPTIMALITY_TOLERANCE: f64 = 1e-9;

/// Regret relative to an objective; NaN for a regret relative to 0.
pub fn relative_to(regret: f64, objective: f64) -> f64 {
    if regret == 0.0 {
        0.0
    } else if objective == 0.0 {
        f64::NAN
    } else {
        regret / objective.abs()
    }
}

/// Regret and prediction error over a set of instances.
///
/// ```
/// use regretless::{Dataset, Method, Problem, Split, Trainer};
///
/// let problem = Problem::benchmark("KS8")?;
/// let data = Dataset::generate(&problem, 60)?.split(Split::random(0))?;
/// let model = Trainer::new(Method::mse()).epochs(2).fit(&problem, &data)?;
/// let evaluation = model.evaluate(data.test())?;
/// assert_eq!(evaluation.instances, 12);
/// assert!(evaluation.regret >= 0.0 && evaluation.optimal_fraction <= 1.0);
/// # Ok::<(), regretless::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Evaluation {
    /// Instances evaluated.
    pub instances: usize,
    /// Mean regret in units of the objective.
    pub regret: f64,
    /// Sum of regrets divided by the sum of the absolute optimal objectives; NaN where there is
    /// regret and all of these are 0.
    #[serde(deserialize_with = "number_or_nan")]
    pub normalized_regret: f64,
    /// Mean over instances of the regret divided by the absolute optimal objective; NaN where there
    /// is regret and this is 0.
    #[serde(deserialize_with = "number_or_nan")]
    pub relative_regret: f64,
    /// Mean squared error of the predicted costs.
    pub mse: f64,
    /// Mean absolute error of the predicted costs.
    pub mae: f64,
    /// Fraction of instances whose decision is optimal.
    pub optimal_fraction: f64,
    /// Regret of each instance.
    #[serde(skip)]
    pub regrets: Vec<f64>,
    /// Objective of each instance's decision under its true costs, in the user's sense.
    #[serde(skip)]
    pub objectives: Vec<f64>,
    /// Proven quality of each instance's decision under its predicted costs; empty where it was not
    /// recorded (unambiguous regret).
    #[serde(skip)]
    pub statuses: Vec<SolveStatus>,
    /// Costs without a prediction, which decisions leave out, and how many instances have them;
    /// prediction errors do not count them.
    #[serde(skip)]
    pub unpredicted: UnpredictedCosts,
}

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

    /// The decision of each instance under its predicted costs.
    fn decide(
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

    fn total(&self) -> usize {
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

/// Fewest rows whose mean regret is meaningful: with fewer, a few decisions that happen to be
/// optimal make it low by chance. Untuned.
const MIN_ROWS_TO_EVALUATE: usize = 10;

impl Evaluation {
    /// Regret of a model's predictions, made a few instances at a time.
    ///
    /// # Errors
    /// When the costs of the table do not match those of the model, an instance has no decision
    /// under its predicted costs, or the user interrupts.
    pub fn of_model(
        model: &CostModel,
        data: &LabeledDataset,
        instances: &[usize],
        oracle: &Oracle,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let predict = |part: &[usize]| model.predict_instances(data, part);
        let missing = model.missing_predictions();
        Self::in_chunks(predict, missing, data, instances, oracle, observer)
    }

    /// Regret of predictions (converted to minimization, one row per listed instance).
    ///
    /// # Errors
    /// When an instance has no decision under its predicted costs, or the user interrupts.
    pub fn of_predictions(
        predictions: &Matrix,
        data: &LabeledDataset,
        instances: &[usize],
        oracle: &Oracle,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let missing = MissingPredictions::Refused;
        Self::of_partial_predictions(predictions, missing, data, instances, oracle, observer)
    }

    /// The same where some costs may have no prediction.
    ///
    /// # Errors
    /// As [`Evaluation::of_predictions`].
    pub(crate) fn of_partial_predictions(
        predictions: &Matrix,
        missing: MissingPredictions,
        data: &LabeledDataset,
        instances: &[usize],
        oracle: &Oracle,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let results = missing.decide(oracle, predictions, data, instances, observer)?;
        let rows = DecidedRows::new(results, data, instances)?;
        let mut errors = CostErrorSums::default();
        errors.add(predictions, data, instances);
        Ok(errors.summarize(rows, data, instances))
    }

    /// Regret of predictions that are made a few instances at a time: `predict` returns those of
    /// the listed instances, converted to minimization.
    ///
    /// # Errors
    /// When predicting fails, an instance has no decision under its predicted costs, or the user
    /// interrupts.
    pub fn in_chunks(
        predict: impl Fn(&[usize]) -> Result<Matrix>,
        missing: MissingPredictions,
        data: &LabeledDataset,
        instances: &[usize],
        oracle: &Oracle,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let mut rows = DecidedRows::default();
        let mut errors = CostErrorSums::default();
        for chunk in instances.chunks(rows_per_chunk(data, oracle)) {
            let predictions = predict(chunk)?;
            let results = missing.decide(oracle, &predictions, data, chunk, observer)?;
            rows.append(DecidedRows::new(results, data, chunk)?);
            errors.add(&predictions, data, chunk);
        }
        Ok(errors.summarize(rows, data, instances))
    }

    /// Regret where all instances have the same prediction, converted to minimization: one solve.
    ///
    /// # Errors
    /// When there is no decision under the predicted costs, or the user interrupts.
    pub fn of_constant(
        prediction: &[f32],
        data: &LabeledDataset,
        instances: &[usize],
        oracle: &Oracle,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let predicted = Matrix::new(1, prediction.len(), prediction.to_vec())?;
        if oracle.has_row_problems() || !data.data().has_plain_costs() {
            let predict = |part: &[usize]| {
                let predictions = predicted.select_rows(&vec![0; part.len()]);
                data.data().complete_predictions(part, predictions)
            };
            // The mean of a cost that no training row has is NaN.
            let missing = MissingPredictions::LeftOut;
            return Self::in_chunks(predict, missing, data, instances, oracle, observer);
        }
        let result = oracle.solve_all(&predicted, observer)?;
        let mut rows = DecidedRows::default();
        let mut errors = CostErrorSums::default();
        for instance in instances {
            rows.append(DecidedRows::new(result.clone(), data, &[*instance])?);
            errors.add(&predicted, data, &[*instance]);
        }
        Ok(errors.summarize(rows, data, instances))
    }

    /// Unambiguous regret (Elmachtoub and Grigas 2022): among decisions whose predicted costs tie,
    /// the one with the highest true cost counts.
    ///
    /// # Errors
    /// When an instance has no decision, or the user interrupts.
    pub fn unambiguous(
        predictions: &Matrix,
        missing: MissingPredictions,
        data: &LabeledDataset,
        instances: &[usize],
        oracle: &Oracle,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let regrets = unambiguous_regrets(predictions, missing, data, instances, oracle, observer)?;
        Ok(Self::from_regrets(regrets, predictions, data, instances))
    }

    /// Aggregates of known regrets.
    pub fn from_regrets(
        regrets: Vec<f64>,
        predictions: &Matrix,
        data: &LabeledDataset,
        instances: &[usize],
    ) -> Self {
        let mut objectives = Vec::with_capacity(regrets.len());
        for (regret, instance) in regrets.iter().zip(instances) {
            objectives.push(data.optimal_objective(*instance) + regret);
        }
        let rows = DecidedRows {
            regrets,
            objectives,
            statuses: Vec::new(),
        };
        let mut errors = CostErrorSums::default();
        errors.add(predictions, data, instances);
        errors.summarize(rows, data, instances)
    }

    /// Regret of one instance divided by its absolute optimal objective, as the mean in
    /// `relative_regret` counts it.
    pub fn relative_regret_of(regret: f64, optimal_objective: f64) -> f64 {
        relative_to(regret, optimal_objective.abs())
    }

    /// A warning if regret is averaged over fewer rows than `MIN_ROWS_TO_EVALUATE`; `part` is the
    /// part of the table, such as "test".
    pub fn few_rows_warning(part: &str, rows: usize) -> Option<String> {
        let noun = if rows == 1 { "row" } else { "rows" };
        (rows > 0 && rows < MIN_ROWS_TO_EVALUATE).then(|| {
            format!(
                "The regret is that of {rows} {part} {noun}: nothing can be concluded from fewer \
                than {MIN_ROWS_TO_EVALUATE}."
            )
        })
    }
}

/// A feature whose values are exchanged among rows.
struct FeatureShuffle {
    feature: usize,
    /// For each row of the table the row whose values it gets.
    source: Vec<usize>,
}

impl FeatureShuffle {
    /// Shuffles the listed rows of a table of this length.
    fn draw(feature: usize, length: usize, rows: &[usize], stream: &mut RandomStream) -> Self {
        let mut shuffled = rows.to_vec();
        for last in (1..shuffled.len()).rev() {
            shuffled.swap(last, stream.index_below(last + 1));
        }
        let mut source: Vec<usize> = (0..length).collect();
        for (row, from) in rows.iter().zip(shuffled) {
            source[*row] = from;
        }
        Self { feature, source }
    }

    /// Exchanges the values in the features of some rows of the table.
    fn apply(&self, table: &Features, rows: &[usize], features: &mut Features) {
        let width = table.names().len();
        let per_instance = table.shape().rows_per_instance();
        let values = features.values_mut().as_mut_slice();
        let instances = values.chunks_exact_mut(width * per_instance);
        for (row, instance) in rows.iter().zip(instances) {
            let from = table.instance(self.source[*row]);
            for item in 0..per_instance {
                let position = item * width + self.feature;
                instance[position] = from[position];
            }
        }
    }
}

/// How many rows of a table a model was trained on. Regret on such rows says little about new ones.
///
/// Rows are recognized by their features and costs. Of large trainings a model keeps a sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct TrainingOverlap {
    /// Rows of the table.
    pub rows: usize,
    /// Rows of the table that could be compared with those of the training: all of them, or those
    /// that the sample covers.
    pub compared: usize,
    /// Compared rows that were trained or validated on.
    pub seen: usize,
}

impl TrainingOverlap {
    /// A warning, if rows were trained on.
    pub fn warning(&self) -> Option<String> {
        let Self {
            rows,
            compared,
            seen,
        } = *self;
        if seen == 0 {
            return None;
        }
        let known = "the model was trained or validated on";
        let advice = "regret on them is too low to expect for new rows";
        if compared == rows {
            return Some(format!("{known} {seen} of these {rows} rows; {advice}"));
        }
        let estimate = (rows as f64 * seen as f64 / compared as f64).round();
        Some(format!(
            "{known} about {estimate} of these {rows} rows (an estimate: {seen} of a sample of \
             {compared}); {advice}"
        ))
    }
}

impl CostModel {
    /// What its predictions that are NaN mean.
    pub fn missing_predictions(&self) -> MissingPredictions {
        if self.has_unobserved_costs() {
            MissingPredictions::LeftOut
        } else {
            MissingPredictions::Refused
        }
    }

    /// How many of these rows the model was trained or validated on; `None` if it does not record
    /// its rows, or the table cannot be compared.
    pub fn training_overlap(
        &self,
        data: &LabeledDataset,
        rows: &[usize],
    ) -> Option<TrainingOverlap> {
        let sketch = self.sketch.as_ref()?;
        let table = data.data();
        let matching = self
            .matching(NamedCosts::new("the table", table.cost_names()))
            .ok()?;
        let encoded = self.encoded(table.features()).ok()?;
        let has_same_shape = encoded.names() == self.metadata.features
            && table.costs().cols() == self.metadata.costs.len();
        if !has_same_shape {
            return None;
        }
        let mut overlap = TrainingOverlap {
            rows: rows.len(),
            compared: 0,
            seen: 0,
        };
        let (mut buffer, mut costs) = (Vec::new(), vec![0.0; table.costs().cols()]);
        for row in rows {
            let row_costs = table.costs().row(*row);
            match matching.order() {
                None => costs.copy_from_slice(row_costs),
                // Cost j of the table is cost order[j] of the model.
                Some(order) => {
                    for (position, cost) in order.iter().zip(row_costs) {
                        costs[*position] = *cost;
                    }
                }
            }
            let features = encoded.instance(*row);
            let digest = row_digest(features, costs.iter().copied(), &mut buffer);
            if let Some(was_seen) = sketch.contains(row_hash(&digest)) {
                overlap.compared += 1;
                overlap.seen += usize::from(was_seen);
            }
        }
        (overlap.compared > 0).then_some(overlap)
    }

    /// Permutation importance of every feature (Breiman 2001): by how much the mean regret of the
    /// listed rows rises when the feature's values are shuffled among them, one entry per repeat.
    /// In a long table the values of whole instances are exchanged. The shuffles depend on seed,
    /// feature and repeat only.
    ///
    /// # Errors
    /// When the table does not match the model, an instance has no decision, or the user
    /// interrupts.
    pub fn permutation_importance(
        &self,
        data: &LabeledDataset,
        rows: &[usize],
        oracle: &Oracle,
        repeats: usize,
        seed: u64,
        observer: &dyn Observer,
    ) -> Result<Vec<Vec<f64>>> {
        let table = data.data();
        if table.features().shape() != FeatureShape::Wide && table.has_absent_costs() {
            return Err(Error::data(
                "the instances have different items, whose features cannot be exchanged",
            )
            .with_remedy("importance needs a table whose instances have the same items"));
        }
        let matching = self.matching(NamedCosts::new("the table", table.cost_names()))?;
        let encoded = self.encoded(table.features())?;
        let mean_regret = |shuffle: Option<&FeatureShuffle>| -> Result<f64> {
            let predict = |part: &[usize]| -> Result<Matrix> {
                let mut features = encoded.select_rows(part);
                if let Some(shuffle) = shuffle {
                    shuffle.apply(&encoded, part, &mut features);
                }
                data.minimized_predictions(part, self.predict_matched(&features, &matching)?)
            };
            let missing = self.missing_predictions();
            Ok(Evaluation::in_chunks(predict, missing, data, rows, oracle, observer)?.regret)
        };
        let num_features = self.metadata.features.len();
        let solves = rows.len() * (1 + num_features * repeats);
        observer.begin("shuffling features", solves as u64);
        let baseline = mean_regret(None)?;
        let mut importance = Vec::with_capacity(num_features);
        for feature in 0..num_features {
            let mut increases = Vec::with_capacity(repeats);
            for repeat in 0..repeats {
                let position = [feature as u64, repeat as u64];
                let mut stream = RandomStream::new(Purpose::Importance, seed, position);
                let shuffle = FeatureShuffle::draw(feature, table.len(), rows, &mut stream);
                increases.push(mean_regret(Some(&shuffle))? - baseline);
            }
            importance.push(increases);
        }
        observer.end();
        Ok(importance)
    }

    /// Predictions for some rows of a labeled table, to be minimized.
    ///
    /// # Errors
    /// When the costs of the table do not match those of the model.
    pub fn predict_instances(&self, data: &LabeledDataset, rows: &[usize]) -> Result<Matrix> {
        let matching = self.matching(NamedCosts::new("the table", data.data().cost_names()))?;
        let features = data.data().features().select_rows(rows);
        data.minimized_predictions(rows, self.predict_matched(&features, &matching)?)
    }

    /// Maps the predicted costs to those of a problem.
    ///
    /// # Errors
    /// When both have names and the sets differ.
    pub fn match_problem(&self, problem: &dyn ProblemKind) -> Result<CostMatching> {
        CostMatching::with_problem(self.named_costs(problem.cost_names()), problem)
    }

    /// A message for the user where numbers of a problem, such as weights, belong to the model's
    /// costs by position. The problem that the model was trained for needs none: the training had
    /// it.
    pub fn position_note(&self, spec: &ProblemSpec, problem: &dyn ProblemKind) -> Option<String> {
        let trained_for = &self.metadata.problem;
        if serde_json::to_value(spec).is_ok_and(|spec| spec == *trained_for) {
            return None;
        }
        problem.position_note(&self.metadata.costs)
    }

    /// Reorders the costs of a table that the model is evaluated on: to the order of the problem's
    /// costs or, where the problem has no names, of the model's. Returns warnings for the user.
    ///
    /// # Errors
    /// When names differ between the table or the model and the problem.
    pub fn match_table(
        &self,
        data: &mut Dataset,
        problem: &dyn ProblemKind,
    ) -> Result<Vec<String>> {
        let model_matching = self.match_problem(problem)?;
        let table = NamedCosts::new("the table", data.cost_names());
        let table_matching = match problem.cost_names() {
            Some(_) => CostMatching::with_problem(table, problem)?,
            None => CostMatching::new(table, self.named_costs(table.cost_names))?,
        };
        data.apply(&table_matching)?;
        let warnings = [model_matching.warning(), table_matching.warning()];
        Ok(warnings.into_iter().flatten().map(String::from).collect())
    }
}

impl LabeledDataset {
    /// Known predictions in the user's sense for some rows, to be minimized.
    ///
    /// # Errors
    /// When a table on disk cannot be read.
    pub fn select_predictions(&self, all: &Matrix, rows: &[usize]) -> Result<Matrix> {
        self.minimized_predictions(rows, all.select_rows(rows))
    }

    /// Predictions in the user's sense of some rows, to be minimized.
    ///
    /// # Errors
    /// When a table on disk cannot be read.
    pub fn minimized_predictions(&self, rows: &[usize], mut stated: Matrix) -> Result<Matrix> {
        self.sense().convert_matrix(&mut stated)?;
        self.data().complete_predictions(rows, stated)
    }
}

/// Costs predicted at a time, 128 MB in single precision: trades memory against the number of
/// parallel passes.
const MAX_PREDICTIONS_PER_CHUNK: usize = 1 << 25;

/// Number of instances to predict and solve at a time, at least one per thread, so that
/// predictions of a large table never are in memory as a whole.
pub fn rows_per_chunk(data: &LabeledDataset, oracle: &Oracle) -> usize {
    (MAX_PREDICTIONS_PER_CHUNK / data.data().costs().cols().max(1))
        .max(oracle.threads().count())
        .max(1)
}

/// Regret of each listed instance under predictions (to be minimized, one row each).
///
/// # Errors
/// When an instance has no decision under its predicted costs, or the user interrupts.
pub(crate) fn regrets(
    predictions: &Matrix,
    missing: MissingPredictions,
    data: &LabeledDataset,
    instances: &[usize],
    oracle: &Oracle,
    observer: &dyn Observer,
) -> Result<Vec<f64>> {
    let results = missing.decide(oracle, predictions, data, instances, observer)?;
    regrets_from_results(results, data, instances)
}

/// Regret of each listed instance under the decisions of an oracle.
///
/// # Errors
/// When an instance has no decision.
pub fn regrets_from_results(
    results: Vec<SolveResult>,
    data: &LabeledDataset,
    instances: &[usize],
) -> Result<Vec<f64>> {
    Ok(DecidedRows::new(results, data, instances)?.regrets)
}

/// Regret, objective under the true costs (minimized) and status of decisions, in the order of the
/// instances.
#[derive(Debug, Default)]
struct DecidedRows {
    regrets: Vec<f64>,
    objectives: Vec<f64>,
    statuses: Vec<SolveStatus>,
}

impl DecidedRows {
    /// The decisions of an oracle for the listed instances.
    fn new(results: Vec<SolveResult>, data: &LabeledDataset, instances: &[usize]) -> Result<Self> {
        let mut rows = Self::default();
        for (instance, result) in instances.iter().zip(results) {
            let solution = result.map_err(|failure| Error::solver(*instance, failure))?;
            let costs = data.data().costs();
            let objective = costs.objective_of(&solution.decision, *instance);
            rows.regrets
                .push(objective - data.optimal_objective(*instance));
            rows.objectives.push(objective);
            rows.statuses.push(solution.status);
        }
        Ok(rows)
    }

    fn append(&mut self, mut other: Self) {
        self.regrets.append(&mut other.regrets);
        self.objectives.append(&mut other.objectives);
        self.statuses.append(&mut other.statuses);
    }
}

/// Unambiguous regret (Elmachtoub and Grigas 2022): regret with pessimistic tie-breaking.
///
/// Among all decisions whose predicted cost is minimal up to a relative millionth, the one with the
/// highest true cost counts, so that a prediction with ties has no advantage. It is found by a
/// solve in which the predicted costs are perturbed slightly against the true costs.
///
/// # Errors
/// When an instance has no decision, or the user interrupts.
pub(crate) fn unambiguous_regrets(
    predictions: &Matrix,
    missing: MissingPredictions,
    data: &LabeledDataset,
    instances: &[usize],
    oracle: &Oracle,
    observer: &dyn Observer,
) -> Result<Vec<f64>> {
    /// Relative difference of predicted objectives that counts as a tie, and the relative size
    /// of the perturbation: larger than rounding errors, smaller than real differences.
    const TIE_TOLERANCE: f64 = 1e-6;
    let decider = match missing {
        MissingPredictions::Refused => TrainingOracle::exact(oracle),
        MissingPredictions::LeftOut => {
            TrainingOracle::exact(oracle).leaving_out_unpredicted(data.data().cost_names())
        }
    };
    let mut worker = decider.worker();
    let mut regrets = Vec::with_capacity(instances.len());
    let (mut predicted, mut costs) = (Vec::new(), Vec::new());
    for (row, instance) in instances.iter().enumerate() {
        if observer.interrupted() {
            return Err(Error::Interrupted);
        }
        let failed = |failure| Error::solver(*instance, failure);
        worker.set_instance(*instance);
        predictions.read(row, &mut predicted);
        data.data().costs().read(*instance, &mut costs);
        let factor = TIE_TOLERANCE * norm_f64(&predicted) / norm_f64(&costs).max(MIN_DENOMINATOR);
        let perturbed: Vec<f64> = predicted
            .iter()
            .zip(&costs)
            .map(|(predicted, cost)| predicted - factor * cost)
            .collect();
        let decision = worker.solve(&predicted).map_err(failed)?.decision;
        let worst = worker.solve(&perturbed).map_err(failed)?.decision;
        let min = decision.dot(&predicted);
        let is_tied = worst.dot(&predicted) <= min + TIE_TOLERANCE * min.abs().max(1.0);
        let cost = if is_tied {
            worst.dot(&costs).max(decision.dot(&costs))
        } else {
            decision.dot(&costs)
        };
        regrets.push(cost - data.optimal_objective(*instance));
    }
    Ok(regrets)
}

/// The Euclidean norm; missing predictions do not count.
fn norm_f64(values: &[f64]) -> f64 {
    let predicted = values.iter().filter(|value| !value.is_nan());
    predicted.map(|value| value * value).sum::<f64>().sqrt()
}

/// Sums of the errors of predicted costs, in the order of the instances.
#[derive(Debug, Clone, Default)]
struct CostErrorSums {
    squared: f64,
    absolute: f64,
    unpredicted: UnpredictedCosts,
}

impl CostErrorSums {
    fn add(&mut self, predictions: &Matrix, data: &LabeledDataset, instances: &[usize]) {
        let (mut predicted, mut costs) = (Vec::new(), Vec::new());
        for (row, instance) in instances.iter().enumerate() {
            predictions.read(row, &mut predicted);
            data.data().costs().read(*instance, &mut costs);
            let (mut squared, mut absolute) = (self.squared, self.absolute);
            for (p, c) in predicted.iter().zip(&costs) {
                let error = p - c;
                squared += error * error;
                absolute += error.abs();
            }
            if squared.is_nan() {
                self.unpredicted.add(&predicted);
                self.add_predicted(&predicted, &costs);
            } else {
                (self.squared, self.absolute) = (squared, absolute);
            }
        }
    }

    /// Adds the errors of the costs of a row that have a prediction.
    fn add_predicted(&mut self, predicted: &[f64], costs: &[f64]) {
        let pairs = predicted.iter().zip(costs);
        for (p, c) in pairs.filter(|(p, _)| !p.is_nan()) {
            self.squared += (p - c) * (p - c);
            self.absolute += (p - c).abs();
        }
    }

    fn summarize(
        self,
        mut rows: DecidedRows,
        data: &LabeledDataset,
        instances: &[usize],
    ) -> Evaluation {
        let count = instances.len().max(1) as f64;
        let (mut total, mut objectives, mut relative) = (0.0, 0.0, 0.0);
        for (regret, instance) in rows.regrets.iter().zip(instances) {
            let objective = data.optimal_objective(*instance).abs();
            total += regret;
            objectives += objective;
            relative += Evaluation::relative_regret_of(*regret, objective);
        }
        // The terms of an objective near 0 are as large as those of others.
        let mean_objective = objectives / count;
        let is_optimal = |(regret, instance): &(&f64, &usize)| {
            let objective = data.optimal_objective(**instance).abs();
            **regret <= OPTIMALITY_TOLERANCE * objective.max(mean_objective)
        };
        let optimal = rows
            .regrets
            .iter()
            .zip(instances)
            .filter(is_optimal)
            .count();
        for objective in &mut rows.objectives {
            *objective = data.sense().convert(*objective);
        }
        let present = instances
            .iter()
            .map(|row| data.data().num_present_costs(*row));
        let present = present
            .sum::<usize>()
            .saturating_sub(self.unpredicted.total());
        let num_costs = present.max(1) as f64;
        Evaluation {
            instances: instances.len(),
            regret: total / count,
            normalized_regret: relative_to(total, objectives),
            relative_regret: relative / count,
            mse: self.squared / num_costs,
            mae: self.absolute / num_costs,
            optimal_fraction: optimal as f64 / count,
            regrets: rows.regrets,
            objectives: rows.objectives,
            statuses: rows.statuses,
            unpredicted: self.unpredicted,
        }
    }
}
