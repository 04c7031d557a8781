//! What a file asks to be solved: a problem, its costs, and how its decisions are written.

use std::path::Path;
use std::sync::Arc;

use regretless::Result;
use regretless::problem::{Problem, ProblemSpec, Published, Reading};

use crate::args::SolveOptions;

/// One problem of a file.
pub struct Subject {
    /// The file's name, with the number of the problem where it has several.
    pub name: String,
    /// What is feasible.
    pub problem: Arc<dyn Problem>,
    /// Costs in the user's sense.
    pub costs: Vec<f64>,
    /// How its decisions are written.
    pub form: SolutionFormat,
}

/// How a decision is written.
pub enum SolutionFormat {
    /// A tour through so many nodes.
    Tour(usize),
    /// Routes from node 0 through so many nodes.
    Routes(usize),
    /// Values of variables with these names.
    Values(Vec<String>),
}

/// All problems of a file.
pub fn read(path: &Path, options: &SolveOptions) -> Result<Vec<Subject>> {
    let reading = Reading {
        kind: options.kind.map(Into::into),
        number: options.number,
        vehicles: options.vehicles,
        single_customer_routes: options.single_customer_routes,
        ..Reading::default()
    };
    let published = Published::read(path, &reading)?;
    published
        .into_iter()
        .map(|one| Subject::of(one).map_err(|error| error.with_file(path)))
        .collect()
}

impl Subject {
    fn of(published: Published) -> Result<Self> {
        let Published {
            name,
            spec,
            costs,
            names,
        } = published;
        let problem = spec.build()?;
        let form = match spec {
            ProblemSpec::Tsp(tour) => SolutionFormat::Tour(tour.nodes),
            ProblemSpec::Cvrp(routes) => SolutionFormat::Routes(routes.nodes()),
            _ => SolutionFormat::Values(names.unwrap_or_default()),
        };
        Ok(Self {
            name,
            problem,
            costs,
            form,
        })
    }
}
