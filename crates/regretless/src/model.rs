//! [`Model`]: a trained predictor with its problem: predicts costs, decides, is evaluated.

use std::path::Path;
use std::sync::Arc;

use crate::data::{
    CostNames, FeatureShape, Features, Matrix, RowParameters, TableSource, WantedFeatures,
};
use crate::decision::Decision;
use crate::error::{Error, Result};
use crate::evaluate::{Evaluation, UnpredictedCosts};
use crate::label::{DataPart, FeatureLayout, Row};
use crate::notes::Note;
use crate::observer::{NoopObserver, Observer};
use crate::oracle::{Heuristic, Oracle};
use crate::parallel::Threads;
use crate::predict::CostModel;
use crate::problem::Problem;
use crate::report::TrainReport;
use crate::solve::{SearchLimits, Solution, SolveFailure};

mod decision_files;
mod fit;
mod problem_of_model;

/// A trained model: predicts costs from features and decides with the problem's solver.
///
/// Predicted costs, objectives and regrets are in the user's sense.
///
/// ```
/// use regretless::{Dataset, Method, Model, Problem, Split, Trainer};
///
/// let problem = Problem::benchmark("SP3x3")?;
/// let data = Dataset::generate(&problem, 200)?
///     .split(Split::random(0).train(0.5).validation(0.2))?;
/// let model = Trainer::new(Method::mse()).epochs(5).fit(&problem, &data)?;
/// let folder = tempfile::tempdir().map_err(regretless::Error::io(".".as_ref()))?;
/// let file = folder.path().join("model.safetensors");
/// model.save(&file)?;
/// let same = Model::load(&file)?;
/// assert_eq!(same.decide(data.test().row(0))?, model.decide(data.test().row(0))?);
/// # Ok::<(), regretless::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Model {
    predictor: CostModel,
    problem: Problem,
    threads: Threads,
    limits: SearchLimits,
    heuristic: Option<Heuristic>,
    report: Option<TrainReport>,
    notes: Vec<Note>,
}

/// Predicted costs of rows and the decisions they lead to.
#[derive(Debug, Clone)]
pub struct PredictedDecisions {
    /// Names of the costs, in the order of the problem.
    pub names: CostNames,
    /// Predicted costs in the user's sense, one row per instance, without known costs.
    pub costs: Matrix,
    /// The decision of each instance; objective (known costs included) and bound are in the user's
    /// sense.
    pub solutions: Vec<Solution>,
    /// Names of all columns of the problem: those with predicted costs in the order of `names`,
    /// then those with known costs.
    pub columns: CostNames,
    /// The values of all columns at the same solution.
    pub complete: Vec<Decision>,
    /// The heuristic that made the decisions, if they are not by an exact search.
    pub heuristic: Option<Heuristic>,
    /// The parameters of the rows, if there are any; with the names of their items if these differ
    /// between rows.
    pub parameters: Option<Arc<RowParameters>>,
    /// The instances that have a decision, in order: all of them, unless some have no feasible one.
    /// The fields above have one entry for each.
    pub rows: Vec<usize>,
    /// The instances without a decision, and why.
    pub failed: Vec<(usize, SolveFailure)>,
    /// The costs without a prediction, since no training row has them, and how many instances have
    /// them: decisions leave out what they belong to.
    pub unpredicted: UnpredictedCosts,
}

impl PredictedDecisions {
    /// Names the costs without a prediction, and in how many instances decisions leave them out;
    /// `None` if there are none.
    pub fn unpredicted_note(&self) -> Option<String> {
        self.unpredicted.note(&self.names)
    }
}

impl Model {
    /// A predictor and the problem it predicts costs for.
    ///
    /// # Errors
    /// When both have names of costs and the sets differ, or the predictor was trained for a
    /// problem of the other sense.
    pub fn new(predictor: CostModel, problem: Problem) -> Result<Self> {
        Problem::check_sense(problem.kind(), Problem::trained_sense(&predictor, None))?;
        Self::assemble(predictor, problem)
    }

    fn assemble(predictor: CostModel, problem: Problem) -> Result<Self> {
        predictor.match_problem(problem.kind().as_ref())?;
        Ok(Self {
            predictor,
            problem,
            threads: Threads::single_threaded(),
            limits: SearchLimits::default(),
            heuristic: None,
            report: None,
            notes: Vec::new(),
        })
    }

    /// Reads a model file with the problem it was trained for.
    ///
    /// # Errors
    /// When the file is damaged, or its problem cannot be built from it: then load the predictor
    /// with [`CostModel::load`] and pass the problem to [`Model::new`].
    pub fn load(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let predictor = CostModel::load(path)?;
        let problem = Problem::of_model(&predictor, path.parent());
        let problem = problem.map_err(|error| error.in_file(path))?;
        Self::assemble(predictor, problem)
    }

    /// Writes the model file; an existing file is not replaced.
    ///
    /// # Errors
    /// When the file exists or cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        self.predictor.save(path.as_ref(), false)
    }

    /// Solves on several threads; 0 means one per core.
    ///
    /// # Errors
    /// When the operating system starts no threads.
    pub fn with_threads(mut self, count: usize) -> Result<Self> {
        self.threads = Threads::new(count)?;
        Ok(self)
    }

    /// Decides within limits of the search.
    #[must_use]
    pub fn with_limits(mut self, limits: SearchLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Decides by a heuristic if an exact search takes too long.
    #[must_use]
    pub fn with_heuristic(mut self, heuristic: Option<Heuristic>) -> Self {
        self.heuristic = heuristic;
        self
    }

    /// Decides with another list of holidays, as dates, than that of the training.
    ///
    /// # Errors
    /// When a text is no date, or the model does not use holidays.
    pub fn with_holidays(mut self, dates: &[String]) -> Result<Self> {
        let unused = || Error::setting("the model does not use holidays");
        let encoding = self
            .predictor
            .metadata
            .encoding
            .as_ref()
            .ok_or_else(unused)?;
        let changed = encoding.with_holidays(dates)?;
        self.predictor.metadata.encoding = Some(Arc::new(changed));
        Ok(self)
    }

    pub(crate) fn with_report(mut self, report: TrainReport, notes: Vec<Note>) -> Self {
        self.report = Some(report);
        self.notes = notes;
        self
    }

    /// The predictor alone: networks and scalers.
    pub fn predictor(&self) -> &CostModel {
        &self.predictor
    }

    /// The problem that decisions are made for.
    pub fn problem(&self) -> &Problem {
        &self.problem
    }

    /// What happened in training; none for a model that was read from a file.
    pub fn report(&self) -> Option<&TrainReport> {
        self.report.as_ref()
    }

    /// What the user should know about the training besides its report: drift between training and
    /// test rows, for example. The observer of the training got these notes as warnings. None for a
    /// model that was read from a file.
    pub fn notes(&self) -> &[Note] {
        &self.notes
    }

    /// Reads the rows of a table that need not have costs: the features as the model expects them,
    /// and the parameters of its problem. [`Features::encoding_notes`] says which values the model
    /// does not know.
    ///
    /// # Errors
    /// When a column or a parameter is missing, or a cell is not what the model expects; the error
    /// has the place.
    pub fn read_rows(&self, source: &TableSource) -> Result<(Features, RowParameters)> {
        let metadata = &self.predictor.metadata;
        let wanted = WantedFeatures::of_model(&metadata.features, metadata.encoding.as_deref());
        let (features, parameters) = source.read_features_for(&wanted, &self.problem)?;
        Ok((self.predictor.encode(&features)?, parameters))
    }

    /// An oracle with the model's problem, threads, limits and heuristic.
    ///
    /// # Errors
    /// When the problem does not have the heuristic.
    pub fn oracle(&self) -> Result<Oracle> {
        Oracle::new(self.problem.kind().clone())
            .with_threads(self.threads.clone())
            .with_limits(self.limits)
            .with_heuristic(self.heuristic)
    }

    /// Predicted costs of one row, in the order of the problem and in the user's sense.
    ///
    /// # Errors
    /// When the row does not have the features the model was trained on.
    pub fn predict<'a>(&self, row: impl Into<Row<'a>>) -> Result<Vec<f64>> {
        let costs = self.predict_all(&self.features(row.into())?)?;
        Ok(costs.as_slice().iter().copied().map(f64::from).collect())
    }

    /// Predicted costs of many instances, one row each.
    ///
    /// # Errors
    /// When the features are not those the model was trained on.
    pub fn predict_all(&self, features: &Features) -> Result<Matrix> {
        let matching = self.predictor.match_problem(self.problem.kind().as_ref())?;
        let costs = self.predictor.predict_matched(features, &matching)?;
        let (predicted, required) = (costs.cols(), self.problem.num_costs());
        if predicted != required {
            let name = self.problem.name();
            return Err(Error::data(format!(
                "{predicted} costs are predicted per instance, {name} needs {required}"
            )));
        }
        Ok(costs)
    }

    /// The decision for one row: predicts its costs and solves the problem for them. What a cost
    /// belongs to that no training row has is left out; [`Model::decide_rows`] says so.
    ///
    /// # Errors
    /// When the row does not have the features the model was trained on, or there is no feasible
    /// decision.
    pub fn decide<'a>(&self, row: impl Into<Row<'a>>) -> Result<Decision> {
        let row = row.into();
        let features = self.features(row)?;
        let parameters = row.parameters(self.problem.kind().as_ref())?;
        let decided = self.decide_rows(&features, parameters.as_ref(), &NoopObserver)?;
        let solution = decided.solutions.into_iter().next();
        solution
            .map(|solution| solution.decision)
            .ok_or_else(|| Error::data("there is no row"))
    }

    /// Predicted costs and decisions of many instances, with the values of all columns.
    ///
    /// # Errors
    /// As [`Model::decide`], and when the user interrupts.
    pub fn decide_all(
        &self,
        features: &Features,
        observer: &dyn Observer,
    ) -> Result<PredictedDecisions> {
        self.decide_rows(features, None, observer)
    }

    /// The same if feasible sets or known costs differ between rows: `parameters` has them, in the
    /// order of the features' instances. An instance without a feasible decision does not stop the
    /// others.
    ///
    /// # Errors
    /// When the features are not those the model was trained on, no instance has a feasible
    /// decision, or the user interrupts.
    pub fn decide_rows(
        &self,
        features: &Features,
        parameters: Option<&Arc<RowParameters>>,
        observer: &dyn Observer,
    ) -> Result<PredictedDecisions> {
        let resized = self.for_items(features, parameters)?;
        let this = resized.as_ref().unwrap_or(self);
        let costs = this.predict_all(features)?;
        let oracle = this.oracle()?.with_parameters(parameters)?;
        let names = this.cost_names(costs.cols())?;
        let columns = names.followed_by(this.problem.kind().model_parts().auxiliary_names());
        let sense = this.problem.sense();
        let minimized = oracle.minimized_totals(costs.clone())?;
        observer.begin("deciding", minimized.rows() as u64);
        let missing = this.predictor.missing_predictions();
        let results = missing.decide_complete(&oracle, &minimized, &names, observer)?;
        observer.end();
        let mut decided = PredictedDecisions {
            names,
            costs,
            solutions: Vec::with_capacity(results.len()),
            columns,
            complete: Vec::with_capacity(results.len()),
            heuristic: self.heuristic,
            parameters: parameters.cloned(),
            rows: Vec::with_capacity(results.len()),
            failed: Vec::new(),
            unpredicted: UnpredictedCosts::default(),
        };
        let mut row_costs = Vec::new();
        for (instance, result) in results.into_iter().enumerate() {
            match result {
                Ok((solution, values)) => {
                    minimized.read(instance, &mut row_costs);
                    decided.unpredicted.add(&row_costs);
                    decided.rows.push(instance);
                    decided.solutions.push(sense.convert_solution(solution));
                    decided.complete.push(values);
                }
                Err(failure) => decided.failed.push((instance, failure)),
            }
        }
        match decided.failed.first() {
            None => {}
            Some((_, failure)) if decided.rows.is_empty() => {
                return Err(Error::all_failed(decided.failed.len(), failure.clone()));
            }
            Some(_) => {
                decided.costs = decided.costs.select_rows(&decided.rows);
                let parameters = decided.parameters.take();
                let select = |parameters: Arc<RowParameters>| {
                    Arc::new(parameters.select_rows(&decided.rows))
                };
                decided.parameters = parameters.map(select);
            }
        }
        Ok(decided)
    }

    /// The model for a long table with another number of items than the training table, if the
    /// problem allows for it.
    pub(crate) fn for_items(
        &self,
        features: &Features,
        parameters: Option<&Arc<RowParameters>>,
    ) -> Result<Option<Self>> {
        let FeatureShape::Long { items } = features.shape() else {
            return Ok(None);
        };
        let has_absent_items =
            parameters.is_some_and(|table| table.width(RowParameters::PRESENT_ITEMS).is_some());
        let spec = self.problem.spec().clone();
        let resized = spec.for_items(items, has_absent_items)?;
        if resized == *self.problem.spec() {
            return Ok(None);
        }
        let problem = self.problem.with_spec(resized)?;
        Ok(Some(Self {
            problem,
            ..self.clone()
        }))
    }

    /// Names of the predicted costs, in the order of the problem. A long table without item names
    /// may have another number of items than the training table.
    fn cost_names(&self, count: usize) -> Result<CostNames> {
        let matching = self.predictor.match_problem(self.problem.kind().as_ref())?;
        let names = matching.names().unwrap_or(&self.predictor.metadata.costs);
        if names.len() == count {
            Ok(names.clone())
        } else {
            Ok(CostNames::numbered(count))
        }
    }

    /// Regret of the model's decisions on the rows of one part.
    ///
    /// # Errors
    /// When the table does not fit the model, a row has no feasible decision, or labels cannot be
    /// computed.
    pub fn evaluate(&self, part: DataPart<'_>) -> Result<Evaluation> {
        self.evaluate_with(part, &NoopObserver)
    }

    /// The same with progress and cancellation.
    ///
    /// # Errors
    /// As [`Model::evaluate`], and when the user interrupts.
    pub fn evaluate_with(&self, part: DataPart<'_>, observer: &dyn Observer) -> Result<Evaluation> {
        let oracle = part.data().bind(self.oracle()?)?;
        let data = part.data().label(&self.problem, &oracle, observer)?;
        let labeled: Vec<usize> = part
            .rows()
            .iter()
            .copied()
            .filter(|row| data.has_label(*row))
            .collect();
        Evaluation::of_model(&self.predictor, &data, &labeled, &oracle, observer)
    }

    /// The features of one row.
    pub(crate) fn features(&self, row: Row<'_>) -> Result<Features> {
        row.features(&FeatureLayout {
            names: &self.predictor.metadata.features,
            shape: self.predictor.metadata.shape,
            encoding: self.predictor.metadata.encoding.as_ref(),
        })
    }
}
