//! What a file asks to be solved: a problem and its costs.

use std::path::Path;
use std::sync::Arc;

use regretless::data::{orlib, tsplib};
use regretless::problem::{CostColumns, Cvrp, Knapsack, LinearProblem, Problem, Tsp};
use regretless::solve::highs::Model;
use regretless::{Error, Result};

use crate::args::{FileKind, SolveOptions};
use crate::input::in_file;

/// One problem of a file.
pub struct Subject {
    /// The file's name, with the number of the problem where it has several.
    pub name: String,
    /// What is feasible.
    pub problem: Arc<dyn Problem>,
    /// Costs in the user's sense.
    pub costs: Vec<f64>,
    /// How its decisions are written.
    pub form: Form,
}

/// How a decision is written.
pub enum Form {
    /// A tour through so many nodes.
    Tour(usize),
    /// Routes from node 0 through so many nodes.
    Routes(usize),
    /// Values of variables with these names.
    Values(Vec<String>),
}

/// All problems of a file.
pub fn read(path: &Path, options: &SolveOptions) -> Result<Vec<Subject>> {
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    match options.kind.map_or_else(|| guessed(path), Ok)? {
        FileKind::Tsplib => Ok(vec![routing(path, name, options)?]),
        FileKind::Knapsack => knapsacks(path, &name, options),
        FileKind::Linear => Ok(vec![linear(path, name)?]),
    }
}

/// The kind that a file's name says, or else its first word: only OR-Library files begin with a number.
fn guessed(path: &Path) -> Result<FileKind> {
    let ending = path.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    match ending.as_str() {
        "tsp" | "vrp" => return Ok(FileKind::Tsplib),
        "mps" | "lp" => return Ok(FileKind::Linear),
        _ => {}
    }
    let text = std::fs::read_to_string(path).map_err(Error::io(path))?;
    if text.split_whitespace().next().is_some_and(|word| word.parse::<f64>().is_ok()) {
        return Ok(FileKind::Knapsack);
    }
    if text.contains("_SECTION") {
        return Ok(FileKind::Tsplib);
    }
    let message = "cannot tell what kind of file this is; say --kind tsplib, knapsack or linear";
    Err(Error::setting(format!("{}: {message}", path.display())))
}

fn routing(path: &Path, name: String, options: &SolveOptions) -> Result<Subject> {
    let mut instance = tsplib::read(path)?;
    let nodes = instance.nodes;
    if instance.capacity.is_none() {
        let problem = Tsp { nodes }.checked().map_err(in_file(path))?;
        return Ok(Subject { name, problem: Arc::new(problem), costs: instance.costs, form: Form::Tour(nodes) });
    }
    if let Some(vehicles) = options.vehicles {
        instance.name = format!("{}-k{vehicles}", instance.name);
    }
    let fleet = "say how many with --vehicles";
    let mut problem = Cvrp::published(&instance).map_err(|error| match error {
        Error::Input { place, message } if options.vehicles.is_none() => {
            Error::Input { place, message: format!("{message}; {fleet}") }
        }
        other => other,
    });
    if let (Ok(problem), Some(single)) = (&mut problem, options.single_customer_routes) {
        problem.single_customer_routes = single;
    }
    let problem = problem.map_err(in_file(path))?;
    Ok(Subject { name, problem: Arc::new(problem), costs: instance.costs, form: Form::Routes(nodes) })
}

fn knapsacks(path: &Path, name: &str, options: &SolveOptions) -> Result<Vec<Subject>> {
    let instances = orlib::read(path)?;
    let count = instances.len();
    if let Some(wanted) = options.number.filter(|number| !(1..=count).contains(number)) {
        return Err(Error::setting(format!("{} has problems 1 to {count}, no {wanted}", path.display())));
    }
    let chosen = instances.into_iter().zip(1..).filter(|(_, number)| options.number.is_none_or(|n| n == *number));
    let subject = |(instance, number): (orlib::Instance, usize)| {
        let problem = Knapsack { weights: instance.weights, capacity: instance.capacity };
        Ok(Subject {
            name: if count == 1 { name.to_owned() } else { format!("{name}#{number}") },
            form: Form::Values((0..instance.values.len()).map(|item| format!("item{item}")).collect()),
            problem: Arc::new(problem.checked().map_err(in_file(path))?),
            costs: instance.values,
        })
    };
    chosen.map(subject).collect()
}

fn linear(path: &Path, name: String) -> Result<Subject> {
    let model = Model::read(path)?;
    let problem = LinearProblem::read(path, &CostColumns::All, None)?;
    Ok(Subject { name, problem: Arc::new(problem), costs: model.cost, form: Form::Values(model.column_names) })
}
