//! Problems with costs from published files: TSP and CVRP instances of TSPLIB and CVRPLIB,
//! knapsacks of the OR-Library, MPS and LP models.

use std::path::Path;
use std::str::FromStr;

use super::formats::{orlib, tsplib};
use super::{CostColumns, Cvrp, Knapsack, LinearFile, ProblemSpec, Sense, Tsp};
use crate::compressed;
use crate::error::{Error, Result};
use crate::size_limits::read_text_file;
use crate::text::display_path;

/// Formats of problem files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileFormat {
    /// TSPLIB and CVRPLIB: tours and routes.
    Tsplib,
    /// OR-Library: knapsacks.
    Knapsack,
    /// MPS and LP models.
    Linear,
}

/// Properties of a problem that its file does not contain.
#[derive(Debug, Clone, Default)]
pub struct ReadOptions {
    /// Format of the file; by default detected by name and content.
    pub file_format: Option<FileFormat>,
    /// Only this problem of an OR-Library file, counted from 1.
    pub problem_number: Option<usize>,
    /// Number of vehicles of a CVRP instance whose name does not end in -k and the number.
    pub vehicles: Option<usize>,
    /// Whether a route may serve a single customer; true unless given, as in published optima.
    pub single_customer_routes: Option<bool>,
    /// Columns of a model whose costs are predicted.
    pub costs: CostColumns,
    /// Objective sense of a model, if other than in the file.
    pub sense: Option<Sense>,
}

/// One problem of a file.
#[derive(Debug, Clone)]
pub struct FileProblem {
    /// The file's name, with the number of the problem if it has several.
    pub name: String,
    /// The problem.
    pub spec: ProblemSpec,
    /// Costs as in the file, one per predicted cost.
    pub costs: Vec<f64>,
    /// Names of the variables, if they have any.
    pub names: Option<Vec<String>>,
}

impl FileProblem {
    /// All problems of a file.
    ///
    /// # Errors
    /// When the file cannot be read, its format is unknown, or it is incomplete.
    pub fn read(path: &Path, options: &ReadOptions) -> Result<Vec<Self>> {
        let name = compressed::uncompressed_path(path)
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        match options
            .file_format
            .map_or_else(|| detect_format(path), Ok)?
        {
            FileFormat::Tsplib => Ok(vec![routing(path, name, options)?]),
            FileFormat::Knapsack => knapsacks(path, &name, options),
            FileFormat::Linear => Ok(vec![linear(path, name, options)?]),
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
                "file format",
                text,
                &["tsplib", "knapsack", "linear"],
            )),
        }
    }
}

/// The format by the extension of a file, or else by its content: only OR-Library files begin with
/// a number, or have two numbers in their first line of numbers.
fn detect_format(path: &Path) -> Result<FileFormat> {
    let extension = compressed::uncompressed_path(path)
        .extension()
        .unwrap_or_default()
        .to_string_lossy()
        .to_ascii_lowercase();
    match extension.as_str() {
        "tsp" | "vrp" => return Ok(FileFormat::Tsplib),
        "mps" | "lp" => return Ok(FileFormat::Linear),
        "toml" => {
            let spec = ProblemSpec::read(path);
            let model = spec.ok().and_then(|spec| spec.file());
            let model =
                model.map_or_else(|| "an MPS or LP file".into(), |file| display_path(&file));
            let file = display_path(path);
            let message = format!("{file} is a problem file, for train, label and decide");
            let remedy = format!("solve takes the model itself: {model}");
            return Err(Error::setting(message).with_remedy(remedy));
        }
        _ => {}
    }
    let text = read_text_file(path)?;
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
    if orlib::looks_annotated(&text) {
        return Ok(FileFormat::Knapsack);
    }
    let message = format!("{}: the format of this file is unknown", path.display());
    Err(Error::setting(message).with_remedy("name it: tsplib, knapsack or linear"))
}

fn routing(path: &Path, name: String, options: &ReadOptions) -> Result<FileProblem> {
    let mut instance = tsplib::read(path)?;
    let nodes = instance.nodes;
    let in_file = |error: Error| error.with_file(path);
    if instance.capacity.is_none() {
        let problem = Tsp::new(nodes).map_err(in_file)?;
        return Ok(FileProblem {
            name,
            spec: ProblemSpec::Tsp(problem),
            costs: instance.costs,
            names: None,
        });
    }
    if let Some(vehicles) = options.vehicles {
        instance.name = format!("{}-k{vehicles}", instance.name);
    }
    let mut problem = Cvrp::published(&instance).map_err(in_file)?;
    if let Some(allowed) = options.single_customer_routes {
        problem = problem.with_single_customer_routes(allowed);
    }
    Ok(FileProblem {
        name,
        spec: ProblemSpec::Cvrp(problem),
        costs: instance.costs,
        names: None,
    })
}

fn knapsacks(path: &Path, name: &str, options: &ReadOptions) -> Result<Vec<FileProblem>> {
    let instances = orlib::read(path)?;
    let count = instances.len();
    if let Some(wanted) = options
        .problem_number
        .filter(|number| !(1..=count).contains(number))
    {
        return Err(Error::setting(format!(
            "{} has the problems 1 to {count}, not {wanted}",
            path.display()
        )));
    }
    let mut problems = Vec::new();
    for (instance, number) in instances.into_iter().zip(1..) {
        if options
            .problem_number
            .is_some_and(|wanted| wanted != number)
        {
            continue;
        }
        let problem = Knapsack::new(instance.weights, instance.capacity)
            .map_err(|error| error.with_file(path))?;
        let items = 0..instance.values.len();
        problems.push(FileProblem {
            name: if count == 1 {
                name.to_owned()
            } else {
                format!("{name}#{number}")
            },
            names: Some(items.map(|item| format!("item{item}")).collect()),
            spec: ProblemSpec::Knapsack(problem),
            costs: instance.values,
        });
    }
    Ok(problems)
}

fn linear(path: &Path, name: String, options: &ReadOptions) -> Result<FileProblem> {
    let file = LinearFile {
        sense: options.sense,
        ..LinearFile::new(path, options.costs.clone())
    };
    let (costs, names) = costs_of(path, &options.costs)?;
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

/// Fails: this build cannot read model files.
#[cfg(not(feature = "highs"))]
fn costs_of(path: &Path, columns: &CostColumns) -> Result<(Vec<f64>, Vec<String>)> {
    let file = LinearFile::new(path, columns.clone());
    super::family::KindDefinition::build(&file).map(|_| (Vec::new(), Vec::new()))
}
