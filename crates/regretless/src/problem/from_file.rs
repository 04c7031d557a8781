//! Problems of published files, with the costs the files give: tours and routes as TSPLIB and
//! CVRPLIB write them, knapsacks of the OR-Library, MPS and LP models.

use std::fs;
use std::path::Path;
use std::str::FromStr;

use super::formats::{orlib, tsplib};
use super::{CostColumns, Cvrp, Knapsack, LinearFile, ProblemSpec, Sense, Tsp};
use crate::error::{Error, Result};

/// Kinds of files that can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileFormat {
    /// Tours and routes as TSPLIB and CVRPLIB write them.
    Tsplib,
    /// Knapsacks as the OR-Library writes them.
    Knapsack,
    /// MPS and LP models.
    Linear,
}

/// What a file does not say itself.
#[derive(Debug, Clone, Default)]
pub struct ReadOptions {
    /// Kind of the file; told by name and content unless given.
    pub kind: Option<FileFormat>,
    /// Only this problem of an OR-Library file, counted from 1.
    pub number: Option<usize>,
    /// Vehicles of a routing file whose name does not end in -k and their number.
    pub vehicles: Option<usize>,
    /// Whether a route may serve a single customer; true unless given, as in published optima.
    pub single_customer_routes: Option<bool>,
    /// Columns of a model whose costs are predicted.
    pub costs: CostColumns,
    /// Minimise or maximise a model, if not as the file says.
    pub sense: Option<Sense>,
}

/// One problem of a file.
#[derive(Debug, Clone)]
pub struct FileProblem {
    /// The file's name, with the number of the problem where it has several.
    pub name: String,
    /// The problem.
    pub spec: ProblemSpec,
    /// Costs in the user's sense, one per cost that is predicted.
    pub costs: Vec<f64>,
    /// Names of the variables where they have some of their own.
    pub names: Option<Vec<String>>,
}

impl FileProblem {
    /// All problems of a file.
    ///
    /// # Errors
    /// When the file cannot be read, is of an unknown kind, or lacks what its problem needs.
    pub fn read(path: &Path, reading: &ReadOptions) -> Result<Vec<Self>> {
        let name = path
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        match reading.kind.map_or_else(|| detect_format(path), Ok)? {
            FileFormat::Tsplib => Ok(vec![routing(path, name, reading)?]),
            FileFormat::Knapsack => knapsacks(path, &name, reading),
            FileFormat::Linear => Ok(vec![linear(path, name, reading)?]),
        }
    }
}

impl FromStr for FileFormat {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "tsplib" => Ok(Self::Tsplib),
            "knapsack" => Ok(Self::Knapsack),
            "linear" => Ok(Self::Linear),
            _ => Err(Error::unknown(
                "kind of file",
                text,
                &["tsplib", "knapsack", "linear"],
            )),
        }
    }
}

/// The kind that a file's name says, or else its first word: only OR-Library files begin with a
/// number.
fn detect_format(path: &Path) -> Result<FileFormat> {
    let ending = path
        .extension()
        .unwrap_or_default()
        .to_string_lossy()
        .to_ascii_lowercase();
    match ending.as_str() {
        "tsp" | "vrp" => return Ok(FileFormat::Tsplib),
        "mps" | "lp" => return Ok(FileFormat::Linear),
        _ => {}
    }
    let text = fs::read_to_string(path).map_err(Error::io(path))?;
    if text
        .split_whitespace()
        .next()
        .is_some_and(|word| word.parse::<f64>().is_ok())
    {
        return Ok(FileFormat::Knapsack);
    }
    if text.contains("_SECTION") {
        return Ok(FileFormat::Tsplib);
    }
    let message = "the format of this file is unknown; name it: tsplib, knapsack or linear";
    Err(Error::setting(format!("{}: {message}", path.display())))
}

fn routing(path: &Path, name: String, reading: &ReadOptions) -> Result<FileProblem> {
    let mut instance = tsplib::read(path)?;
    let nodes = instance.nodes;
    let there = |error: Error| error.with_file(path);
    if instance.capacity.is_none() {
        let problem = Tsp { nodes }.validate().map_err(there)?;
        return Ok(FileProblem {
            name,
            spec: ProblemSpec::Tsp(problem),
            costs: instance.costs,
            names: None,
        });
    }
    if let Some(vehicles) = reading.vehicles {
        instance.name = format!("{}-k{vehicles}", instance.name);
    }
    let mut problem = Cvrp::published(&instance).map_err(there)?;
    problem.single_customer_routes = reading
        .single_customer_routes
        .unwrap_or(problem.single_customer_routes);
    Ok(FileProblem {
        name,
        spec: ProblemSpec::Cvrp(problem),
        costs: instance.costs,
        names: None,
    })
}

fn knapsacks(path: &Path, name: &str, reading: &ReadOptions) -> Result<Vec<FileProblem>> {
    let instances = orlib::read(path)?;
    let count = instances.len();
    if let Some(wanted) = reading
        .number
        .filter(|number| !(1..=count).contains(number))
    {
        return Err(Error::setting(format!(
            "{} has problems 1 to {count}, no {wanted}",
            path.display()
        )));
    }
    let chosen = instances
        .into_iter()
        .zip(1..)
        .filter(|(_, number)| reading.number.is_none_or(|n| n == *number));
    let published = |(instance, number): (orlib::OrLibInstance, usize)| {
        let problem = Knapsack {
            weights: instance.weights,
            capacity: instance.capacity,
        };
        Ok(FileProblem {
            name: if count == 1 {
                name.to_owned()
            } else {
                format!("{name}#{number}")
            },
            names: Some(
                (0..instance.values.len())
                    .map(|item| format!("item{item}"))
                    .collect(),
            ),
            spec: ProblemSpec::Knapsack(problem.validate().map_err(|error| error.with_file(path))?),
            costs: instance.values,
        })
    };
    chosen.map(published).collect()
}

fn linear(path: &Path, name: String, reading: &ReadOptions) -> Result<FileProblem> {
    let file = LinearFile {
        file: path.to_path_buf(),
        costs: reading.costs.clone(),
        sense: reading.sense,
    };
    let (costs, names) = costs_of(path, &reading.costs)?;
    Ok(FileProblem {
        name,
        spec: ProblemSpec::Linear(file),
        costs,
        names: Some(names),
    })
}

/// Costs and names of the chosen columns.
#[cfg(feature = "highs")]
fn costs_of(path: &Path, columns: &CostColumns) -> Result<(Vec<f64>, Vec<String>)> {
    let model = crate::solve::highs::LinearModel::read(path)?;
    let chosen = columns
        .choose(&model.column_names)
        .map_err(|message| Error::data(message).in_file(path))?;
    Ok(chosen
        .into_iter()
        .map(|column| (model.cost[column], model.column_names[column].clone()))
        .unzip())
}

/// Says that this build cannot read model files.
#[cfg(not(feature = "highs"))]
fn costs_of(path: &Path, columns: &CostColumns) -> Result<(Vec<f64>, Vec<String>)> {
    let file = LinearFile {
        file: path.to_path_buf(),
        costs: columns.clone(),
        sense: None,
    };
    file.build().map(|_| (Vec::new(), Vec::new()))
}
