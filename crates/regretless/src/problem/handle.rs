//! [`Problem`]: a problem as programs use it, in the user's sense.

use std::path::Path;
use std::sync::Arc;

use super::function::{FunctionProblem, SharedFunction};
use super::{
    Benchmark, CostColumns, ExternalProblem, FileProblem, LinearFile, ModelProblem, ProblemKind,
    ProblemSpec, ReadOptions,
};
use crate::data::synthetic::SyntheticSpec;
use crate::data::{CostNames, Dataset};
use crate::error::{Error, Result};
use crate::sense::Sense;
use crate::solve::{SearchLimits, Solution};

/// An optimization problem whose costs are predicted: the feasible set, the sense, a solver.
///
/// A problem is valid once it exists, cheap to clone and shared by threads.
///
/// ```
/// use regretless::{Problem, Sense};
///
/// // The two most valuable of three offers, by a user's solver.
/// let problem = Problem::from_solver("two offers", Sense::Maximize, 3, |values| {
///     let mut order: Vec<usize> = (0..values.len()).collect();
///     order.sort_by(|a, b| values[*b].total_cmp(&values[*a]));
///     let mut decision = vec![0.0; values.len()];
///     for item in &order[..2] {
///         decision[*item] = 1.0;
///     }
///     Some(decision)
/// })?;
/// let solution = problem.solve(&[5.0, 1.0, 4.0])?;
/// assert_eq!(solution.objective, 9.0);
/// assert_eq!(solution.decision.indices(), [0, 2]);
/// # Ok::<(), regretless::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Problem {
    kind: Arc<dyn ProblemKind>,
    spec: ProblemSpec,
    benchmark: Option<BenchmarkSource>,
}

/// Where the data of a benchmark problem come from.
#[derive(Debug, Clone, Copy)]
struct BenchmarkSource {
    benchmark: Benchmark,
    seed: u32,
}

impl Problem {
    /// A problem of the literature's benchmarks by its name: `SP5x5`, `KS32`, `TSP20`, `CVRP20`,
    /// with any other size. Knapsack weights and demands are those of seed 0.
    ///
    /// # Errors
    /// When the name is unknown or the problem is too large.
    pub fn benchmark(name: &str) -> Result<Self> {
        Self::benchmark_with_seed(name, 0)
    }

    /// A benchmark problem whose weights or demands, and data, are drawn from another seed.
    ///
    /// # Errors
    /// When the name is unknown or the problem is too large.
    pub fn benchmark_with_seed(name: &str, seed: u32) -> Result<Self> {
        let benchmark: Benchmark = name.parse()?;
        let source = BenchmarkSource { benchmark, seed };
        Ok(Self {
            benchmark: Some(source),
            ..Self::from_spec(benchmark.problem(seed)?)?
        })
    }

    /// The problem of a file: a problem specification (`.toml`), or a published instance (TSPLIB,
    /// CVRPLIB, OR-Library, MPS, LP), whose costs are not used: they are to be predicted.
    ///
    /// # Errors
    /// When the file cannot be read, or contains no problem or several.
    pub fn from_file(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        if path
            .extension()
            .is_some_and(|extension| extension == "toml")
        {
            return Self::from_spec(ProblemSpec::read(path)?)
                .map_err(|error| error.with_file(path));
        }
        let mut problems = FileProblem::read(path, &ReadOptions::default())?;
        match (problems.pop(), problems.is_empty()) {
            (Some(only), true) => Self::from_spec(only.spec),
            _ => Err(Error::setting(format!(
                "{}: the file contains several problems",
                path.display()
            ))
            .with_remedy("read them with FileProblem::read")),
        }
    }

    /// The model of an MPS or LP file in which the costs of some columns are predicted.
    ///
    /// # Errors
    /// When the file contains no linear model or lacks the named columns.
    pub fn from_mps(path: impl AsRef<Path>, costs: CostColumns) -> Result<Self> {
        let file = LinearFile::new(path.as_ref(), costs);
        Self::from_spec(ProblemSpec::Linear(file))
    }

    /// A problem from its specification.
    ///
    /// # Errors
    /// When the specification does not define a problem.
    pub fn from_spec(spec: ProblemSpec) -> Result<Self> {
        Ok(Self {
            kind: spec.build()?,
            spec,
            benchmark: None,
        })
    }

    /// The problem for the instances of a table: with its number of items, if the problem file does
    /// not state it, and with absent items, if the instances have different ones.
    ///
    /// # Errors
    /// When the instances have different items and the problem does not take its numbers from
    /// columns of the items.
    pub fn for_table(&self, data: &Dataset) -> Result<Self> {
        self.with_spec(self.spec.clone().for_table(data)?)
    }

    /// The same problem with another specification that names the same file.
    pub(crate) fn with_spec(&self, spec: ProblemSpec) -> Result<Self> {
        if spec == self.spec {
            return Ok(self.clone());
        }
        // A model that is trained for the problem holds its file: the file need not exist.
        match self.kind.model_parts().file_content() {
            Some(content) => Ok(Self {
                kind: spec.build_from(content.to_vec())?,
                spec,
                benchmark: None,
            }),
            None => Self::from_spec(spec),
        }
    }

    /// A problem that was built from this description, or for a call of the user's function.
    pub fn from_parts(kind: Arc<dyn ProblemKind>, spec: ProblemSpec) -> Self {
        Self {
            kind,
            spec,
            benchmark: None,
        }
    }

    /// A problem of a type that the user implements: the extension point for solvers with
    /// relaxations, cost ranges or warm starts.
    pub fn from_kind(kind: impl ProblemKind + 'static) -> Self {
        let spec = ProblemSpec::External(ExternalProblem {
            name: kind.name(),
            sense: kind.sense(),
            costs: kind.num_costs(),
            cost_names: kind.capabilities().names.cost_names().cloned(),
        });
        Self {
            kind: Arc::new(kind),
            spec,
            benchmark: None,
        }
    }

    /// A problem that is solved by a user's function. The function receives one row of costs in the
    /// user's sense and returns the value of each variable, or `None` if no decision is feasible.
    /// Threads call it at the same time.
    ///
    /// # Errors
    /// When there are no costs.
    pub fn from_solver(
        name: &str,
        sense: Sense,
        num_costs: usize,
        solve: impl Fn(&[f64]) -> Option<Vec<f64>> + Send + Sync + 'static,
    ) -> Result<Self> {
        let function = SharedFunction::concurrent(move |costs, _parameters| solve(costs));
        Ok(Self::from_kind(FunctionProblem::new(
            name, sense, num_costs, function,
        )?))
    }

    /// The same for a function that keeps state: one call at a time.
    ///
    /// # Errors
    /// When there are no costs.
    pub fn from_solver_mut(
        name: &str,
        sense: Sense,
        num_costs: usize,
        solve: impl FnMut(&[f64]) -> Option<Vec<f64>> + Send + 'static,
    ) -> Result<Self> {
        let function = SharedFunction::serialized(solve);
        Ok(Self::from_kind(FunctionProblem::new(
            name, sense, num_costs, function,
        )?))
    }

    /// The same for a function that gets parameters of the row too, such as a capacity:
    /// `parameters` has their names in the table and how many numbers per row each has. The
    /// function gets the costs and all these numbers, in this order.
    ///
    /// Methods that offer a row the decisions of other rows (MAP, NCE, ranking losses, caches) are
    /// refused: nothing but the function knows which decisions are feasible.
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use regretless::data::{Features, FeatureShape, Matrix, RowParameters};
    /// use regretless::{Dataset, Method, Problem, Sense, Split, Trainer};
    ///
    /// // The cheapest offers, as many as the row needs.
    /// let problem = Problem::from_solver_with_parameters(
    ///     "cheapest offers",
    ///     Sense::Minimize,
    ///     3,
    ///     &[("needed", 1)],
    ///     |costs, parameters| {
    ///         let mut order: Vec<usize> = (0..costs.len()).collect();
    ///         order.sort_by(|a, b| costs[*a].total_cmp(&costs[*b]));
    ///         let mut decision = vec![0.0; costs.len()];
    ///         for item in order.iter().take(parameters[0] as usize) {
    ///             decision[*item] = 1.0;
    ///         }
    ///         Some(decision)
    ///     },
    /// )?;
    /// let rows = 40;
    /// let x: Vec<f32> = (0..rows).map(|row| row as f32).collect();
    /// let costs = x.iter().flat_map(|x| [1.0 + x, 20.0, 40.0 - x]).collect();
    /// let needed = (0..rows).map(|row| f64::from(1 + row as u32 % 2)).collect::<Vec<_>>();
    /// let features = Features::new(Matrix::new(rows, 1, x)?, FeatureShape::Wide, None)?;
    /// let data = Dataset::new(features, Matrix::new(rows, 3, costs)?, None)?
    ///     .with_parameters(RowParameters::new(rows).with_column("needed", 1, Arc::new(needed))?)?
    ///     .split(Split::random(0).train(0.5).validation(0.2))?;
    /// let model = Trainer::new(Method::mse()).epochs(5).fit(&problem, &data)?;
    /// let chosen = model.decide(data.test().row(0))?.indices().len();
    /// assert!(chosen == 1 || chosen == 2);
    /// # Ok::<(), regretless::Error>(())
    /// ```
    ///
    /// # Errors
    /// When there are no costs, or a parameter is named twice or has no numbers.
    pub fn from_solver_with_parameters(
        name: &str,
        sense: Sense,
        num_costs: usize,
        parameters: &[(&str, usize)],
        solve: impl Fn(&[f64], &[f64]) -> Option<Vec<f64>> + Send + Sync + 'static,
    ) -> Result<Self> {
        let function = SharedFunction::concurrent(solve);
        let problem = FunctionProblem::new(name, sense, num_costs, function)?;
        Ok(Self::from_kind(problem.with_parameters(parameters)?))
    }

    /// The problem that a model file names.
    ///
    /// # Errors
    /// When it cannot be read, names a file that is missing or has changed, or is implemented by
    /// the user's program.
    pub(crate) fn from_model_file(metadata: &ModelProblem<'_>) -> Result<Self> {
        let (spec, kind) = metadata.build()?;
        Ok(Self {
            kind,
            spec,
            benchmark: None,
        })
    }

    /// The name in tables and messages.
    pub fn name(&self) -> String {
        self.kind.name()
    }

    /// Whether the user minimizes or maximizes.
    pub fn sense(&self) -> Sense {
        self.kind.sense()
    }

    /// Number of predicted costs.
    pub fn num_costs(&self) -> usize {
        self.kind.num_costs()
    }

    /// Names of the costs, in order, if the problem has them.
    pub fn cost_names(&self) -> Option<&CostNames> {
        self.kind.names().cost_names()
    }

    /// The specification, as in a problem file or a model file.
    pub fn spec(&self) -> &ProblemSpec {
        &self.spec
    }

    /// The feasible set and its solvers.
    pub fn kind(&self) -> &Arc<dyn ProblemKind> {
        &self.kind
    }

    /// Whether labels of one problem are labels of the other: the same problem, or the same
    /// specification and file content. Two user functions are never the same problem, whatever
    /// their names.
    pub(crate) fn has_same_labels(&self, other: &Self) -> bool {
        let same_kind = Arc::ptr_eq(&self.kind, &other.kind);
        let is_external = matches!(self.spec, ProblemSpec::External(_));
        let same_content = self.spec == other.spec
            && self.kind.model_parts().fingerprint() == other.kind.model_parts().fingerprint()
            && self.kind.model_parts().file_hash() == other.kind.model_parts().file_hash();
        same_kind || (!is_external && same_content)
    }

    /// The optimal decision for one row of costs. Costs, objective and bound are in the user's
    /// sense; the decision is checked against the constraints.
    ///
    /// # Errors
    /// When the number of costs is wrong, a cost is not finite, or there is no decision.
    pub fn solve(&self, costs: &[f64]) -> Result<Solution> {
        self.solve_within(costs, &SearchLimits::default())
    }

    /// The same within limits of the search.
    ///
    /// # Errors
    /// As [`Problem::solve`].
    pub fn solve_within(&self, costs: &[f64], limits: &SearchLimits) -> Result<Solution> {
        let (found, expected) = (costs.len(), self.num_costs());
        if found != expected {
            let name = self.name();
            return Err(
                Error::data(format!("{found} costs")).with_remedy(format!("{name} has {expected}"))
            );
        }
        if let Some(bad) = costs.iter().position(|cost| !cost.is_finite()) {
            return Err(Error::data(format!("cost {bad} is not finite")));
        }
        if let Some(parameter) = self.kind.row_problems().parameters().first() {
            let name = &parameter.pattern;
            return Err(Error::data(format!(
                "the feasible set depends on the parameter '{name}' of a row"
            ))
            .with_remedy("solve with an Oracle that has the parameters of the rows"));
        }
        let mut totals = costs.to_vec();
        if let Some(known) = self.kind.row_problems().known_costs(&[]) {
            for (cost, known) in totals.iter_mut().zip(known) {
                *cost += known;
            }
        }
        let mut solver = self.kind.solver(limits);
        let solved = self
            .sense()
            .solve_stated(totals, |minimized| solver.solve(minimized));
        let solution = solved.map_err(Error::single_solve)?;
        self.kind.check(&solution.decision).map_err(Error::data)?;
        Ok(solution)
    }
}

/// Data of benchmark problems.
impl Dataset {
    /// Synthetic instances of a benchmark problem, as the literature draws them: features,
    /// polynomial degree 6 and multiplicative noise 0.5 of Elmachtoub and Grigas (2022).
    ///
    /// # Errors
    /// When the problem is no benchmark, or the table is too large.
    pub fn generate(problem: &Problem, instances: usize) -> Result<Self> {
        let Some(source) = problem.benchmark else {
            return Err(
                Error::setting(format!("{} has no synthetic data", problem.name()))
                    .with_remedy("only benchmark problems can be generated"),
            );
        };
        let spec = SyntheticSpec::paper(instances, source.seed);
        Ok(source.benchmark.generate(spec)?.1)
    }
}
