//! Problems of a file: the problem, its costs, and the format of its solutions.

use std::path::Path;
use std::sync::Arc;

use regretless::Result;
use regretless::problem::{FileProblem, ProblemKind, ProblemSpec, ReadOptions};

use crate::args::SolveOptions;

/// One problem of a file.
pub struct SolveTarget {
    /// The file's name, with the number of the problem if it has several.
    pub name: String,
    /// The problem.
    pub problem: Arc<dyn ProblemKind>,
    /// Costs in the problem's sense.
    pub costs: Vec<f64>,
    /// Format of its solution file.
    pub solution_format: SolutionFormat,
}

/// Format of a solution file.
pub enum SolutionFormat {
    /// A TSPLIB tour through this number of nodes.
    TsplibTour(usize),
    /// CVRPLIB routes from node 0 through this number of nodes.
    CvrplibSolution(usize),
    /// Values of variables with these names.
    Values(Vec<String>),
}

/// All problems of a file.
pub fn read(path: &Path, options: &SolveOptions) -> Result<Vec<SolveTarget>> {
    let read_options = ReadOptions {
        file_format: options.file_format.map(Into::into),
        problem_number: options.problem_number,
        vehicles: options.vehicles,
        single_customer_routes: options.single_customer_routes,
        ..ReadOptions::default()
    };
    let published = FileProblem::read(path, &read_options)?;
    published
        .into_iter()
        .map(|problem| SolveTarget::of(problem).map_err(|error| error.with_file(path)))
        .collect()
}

impl SolveTarget {
    fn of(published: FileProblem) -> Result<Self> {
        let problem = published.spec.build()?;
        let solution_format = match published.spec {
            ProblemSpec::Tsp(tour) => SolutionFormat::TsplibTour(tour.nodes()),
            ProblemSpec::Cvrp(routes) => SolutionFormat::CvrplibSolution(routes.nodes()),
            _ => SolutionFormat::Values(published.names.unwrap_or_default()),
        };
        Ok(Self {
            name: published.name,
            problem,
            costs: published.costs,
            solution_format,
        })
    }
}
