//! A linear problem: columns, rows, and the columns whose costs are predicted.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use crate::data::CostNames;
use crate::error::{Error, InputPlace, Result};
use crate::problem::linear::CostColumns;
use crate::problem::linear::file::hash_of;
use crate::problem::{ChoiceFixing, Sense};
use crate::size_limits::{FileText, read_file};
use crate::solve::SearchLimits;
use crate::solve::highs::LinearModel;
use crate::solve::linear::LinearRelaxation;

mod kind;

/// Difference between a decision's fixed cost and the recomputed one that is accepted, relative to
/// the largest number involved: the rounding of a sum, far below any real difference.
const FIXED_COST_TOLERANCE: f64 = 1e-9;

/// Columns, rows, and the columns with predicted costs.
#[derive(Debug, Clone)]
pub struct LinearProblem {
    parts: Arc<LinearParts>,
    /// Minimized: known costs and constant of a maximization are negated. The costs of columns with
    /// predicted costs are 0.
    model: Arc<LinearModel>,
    /// Which predicted costs exist, if not all do.
    present: Option<Arc<[bool]>>,
}

/// What the problems of one model share whose numbers differ per row.
#[derive(Debug, Clone)]
struct LinearParts {
    name: String,
    sense: Sense,
    /// The column of each predicted cost.
    predicted: Arc<[usize]>,
    /// The index of the predicted cost of each column, if it has one.
    cost_index: Vec<Option<usize>>,
    /// The columns without predicted costs, in order, and their names.
    auxiliary: Vec<usize>,
    auxiliary_names: Vec<String>,
    /// Names of the predicted costs, if they have any.
    cost_names: Option<CostNames>,
    /// Whether the user could have named them.
    could_name_costs: bool,
    /// The file it was read from.
    file: Option<SourceFile>,
}

/// The file of a problem.
#[derive(Debug, Clone)]
struct SourceFile {
    content: Arc<[u8]>,
    /// BLAKE3 of the content in hexadecimal digits.
    hash: String,
}

impl SourceFile {
    fn new(content: Vec<u8>) -> Self {
        Self {
            hash: blake3::hash(&content).to_hex().to_string(),
            content: content.into(),
        }
    }
}

impl LinearProblem {
    /// A problem from a checked model; uses `sense` and ignores `model.maximize`.
    ///
    /// # Errors
    /// When a column has no integer within its bounds, or a coefficient of the objective is too
    /// large, as a message.
    pub(super) fn new(
        name: String,
        sense: Sense,
        mut model: LinearModel,
        predicted: Vec<usize>,
    ) -> std::result::Result<Self, String> {
        model.prepare()?;
        let mut cost_index = vec![None; model.cost.len()];
        for (cost, column) in predicted.iter().enumerate() {
            cost_index[*column] = Some(cost);
            model.cost[*column] = 0.0;
        }
        sense.convert_slice(&mut model.cost);
        model.offset = sense.convert(model.offset);
        model.maximize = false;
        let auxiliary: Vec<usize> = (0..model.cost.len())
            .filter(|column| cost_index[*column].is_none())
            .collect();
        let auxiliary_names = auxiliary
            .iter()
            .map(|column| model.column_names[*column].clone())
            .collect();
        let parts = LinearParts {
            name,
            sense,
            predicted: predicted.into(),
            cost_index,
            auxiliary,
            auxiliary_names,
            cost_names: None,
            could_name_costs: true,
            file: None,
        };
        Ok(Self {
            parts: Arc::new(parts),
            model: Arc::new(model),
            present: None,
        })
    }

    /// The same problem with names of its costs.
    pub(super) fn with_cost_names(mut self, names: Option<CostNames>) -> Self {
        Arc::make_mut(&mut self.parts).cost_names = names;
        self
    }

    /// The same problem; its costs have a natural order, such as time, and never names.
    pub(in crate::problem) fn without_cost_names(mut self) -> Self {
        Arc::make_mut(&mut self.parts).could_name_costs = false;
        self
    }

    /// Reads an `.mps` or `.lp` file; `sense` overrides the objective sense of the file.
    ///
    /// In an MPS file an RHS entry of the objective row is minus the constant of the objective, as
    /// in HiGHS and most other readers.
    ///
    /// # Errors
    /// When the file is not a linear model, with the line if it is known, or lacks a column.
    pub fn read(path: &Path, costs: &CostColumns, sense: Option<Sense>) -> Result<Self> {
        let file = SourceFile::new(read_file(path)?);
        let model = LinearModel::read(path)?;
        // A model that is trained for the problem holds the content: it must be what was read.
        if hash_of(path)? != file.hash {
            let message = "the file changed while it was read";
            return Err(Error::input(InputPlace::file(path), message).with_remedy("try again"));
        }
        if sense.is_none() && !model.maximize {
            refuse_sense_in_comment(path)?;
        }
        Self::from_model(model, path, costs, sense, file)
    }

    /// As [`LinearProblem::read`], from the content of a file that need not exist any more; `path`
    /// is where it was.
    ///
    /// # Errors
    /// As [`LinearProblem::read`], and when no temporary file can be written.
    pub(in crate::problem) fn from_content(
        content: Vec<u8>,
        path: &Path,
        costs: &CostColumns,
        sense: Option<Sense>,
    ) -> Result<Self> {
        // HiGHS reads files. The extension says which format; the rest of the name comes from
        // outside and is not used.
        let extension = file_extension(path);
        if !extension
            .chars()
            .all(|c| c == '.' || c.is_ascii_alphanumeric())
        {
            let message = "the extension of the problem's file is unknown";
            return Err(Error::input(InputPlace::file(path), message));
        }
        let written = |error| Error::io(&std::env::temp_dir())(error);
        let mut copy = tempfile::Builder::new()
            .suffix(&extension)
            .tempfile()
            .map_err(written)?;
        copy.write_all(&content).map_err(written)?;
        let copy = copy.into_temp_path();
        let model = LinearModel::read(&copy).map_err(|error| match error {
            Error::Input {
                mut place,
                message,
                remedy,
            } => {
                place.file = Some(path.to_path_buf());
                Error::Input {
                    place,
                    message,
                    remedy,
                }
            }
            other => other,
        })?;
        Self::from_model(model, path, costs, sense, SourceFile::new(content))
    }

    fn from_model(
        model: LinearModel,
        path: &Path,
        costs: &CostColumns,
        sense: Option<Sense>,
        file: SourceFile,
    ) -> Result<Self> {
        let predicted = costs
            .choose(&model.column_names)
            .map_err(|message| Error::input(InputPlace::file(path), message))?;
        let sense_in_file = if model.maximize {
            Sense::Maximize
        } else {
            Sense::Minimize
        };
        let name = crate::compressed::uncompressed_path(path)
            .file_stem()
            .map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
        let names: Vec<String> = predicted
            .iter()
            .map(|column| model.column_names[*column].clone())
            .collect();
        let names = CostNames::from(names);
        names.check("column").map_err(|error| error.in_file(path))?;
        let problem = Self::new(name, sense.unwrap_or(sense_in_file), model, predicted)
            .map_err(|message| Error::input(InputPlace::file(path), message))?;
        let mut problem = problem.with_cost_names(Some(names));
        Arc::make_mut(&mut problem.parts).file = Some(file);
        Ok(problem)
    }

    /// The same problem with every column continuous: its linear relaxation.
    #[must_use]
    pub fn relaxed(&self) -> Self {
        let mut model = LinearModel::clone(&self.model);
        model.integer.fill(false);
        let mut parts = LinearParts::clone(&self.parts);
        parts.name.push_str(" (relaxed)");
        Self {
            parts: Arc::new(parts),
            model: Arc::new(model),
            present: self.present.clone(),
        }
    }

    fn relaxation(&self, limits: &SearchLimits) -> Box<LinearRelaxation> {
        let relaxation = LinearRelaxation::new(&self.model, &self.parts.predicted, *limits);
        Box::new(relaxation.with_present(self.present.clone()))
    }

    /// The predicted cost of a column, if it has one.
    pub(super) fn cost_of_column(&self, column: usize) -> Option<usize> {
        self.parts.cost_index[column]
    }

    /// Whether a column is absent.
    pub(super) fn is_absent(&self, column: usize) -> bool {
        match (&self.present, self.parts.cost_index[column]) {
            (Some(present), Some(cost)) => !present[cost],
            _ => false,
        }
    }

    /// Which costs exist, to be changed.
    pub(super) fn all_present(&self) -> Vec<bool> {
        match &self.present {
            Some(present) => present.to_vec(),
            None => vec![true; self.parts.predicted.len()],
        }
    }

    /// The same problem with other numbers in its model; `present` is unchanged if it is `None`.
    pub(super) fn with_model(&self, model: LinearModel, present: Option<Vec<bool>>) -> Self {
        Self {
            parts: Arc::clone(&self.parts),
            model: Arc::new(model),
            present: present.map_or_else(|| self.present.clone(), |present| Some(present.into())),
        }
    }

    /// The problem in which the columns of some predicted costs have these values.
    fn with_fixed_columns(&self, values: impl Iterator<Item = (u32, f64)>) -> ChoiceFixing {
        let mut model = LinearModel::clone(&self.model);
        for (cost, value) in values {
            let bounds = &mut model.column_bounds[self.parts.predicted[cost as usize]];
            let [lower, upper] = *bounds;
            if value < lower || value > upper {
                return ChoiceFixing::Infeasible;
            }
            *bounds = [value, value];
        }
        ChoiceFixing::restricted_to(self.with_model(model, None))
    }

    /// The model, minimized; the costs of columns with predicted costs are 0.
    pub fn model(&self) -> &Arc<LinearModel> {
        &self.model
    }

    /// The column of each predicted cost.
    pub fn predicted(&self) -> &Arc<[usize]> {
        &self.parts.predicted
    }

    /// The columns without predicted costs.
    pub(super) fn auxiliary_columns(&self) -> &[usize] {
        &self.parts.auxiliary
    }
}

/// Refuses an MPS file that is minimized because no section says otherwise, while a comment says
/// that it is maximized, as PuLP writes it.
fn refuse_sense_in_comment(path: &Path) -> Result<()> {
    let name = crate::compressed::uncompressed_path(path);
    let is_mps = name
        .extension()
        .is_some_and(|e| e.eq_ignore_ascii_case("mps"));
    if !is_mps {
        return Ok(());
    }
    let text = FileText::read(path)?.text;
    let says_maximize = |line: &str| {
        let Some(comment) = line.trim_start().strip_prefix('*') else {
            return false;
        };
        let words: String = comment.split_whitespace().collect();
        words.to_ascii_lowercase().starts_with("sense:max")
    };
    let has_section = text.lines().any(|line| line.starts_with("OBJSENSE"));
    match text.lines().position(says_maximize) {
        Some(line) if !has_section => Err(Error::input(
            InputPlace::file(path).row(line as u64 + 1),
            "a comment says that the objective is maximized, but no OBJSENSE section does, so \
             it would be minimized",
        )
        .with_remedy(
            "state sense = \"maximize\" in the problem file (or sense=\"maximize\" in Python), \
             write an LP file, add the lines OBJSENSE and MAX, or use Problem.from_pulp",
        )),
        _ => Ok(()),
    }
}

/// The extension of a file with its dot; both for a compressed file (`.mps.gz`).
fn file_extension(path: &Path) -> String {
    let last = path.extension().unwrap_or_default().to_string_lossy();
    let inner = path.file_stem().map(Path::new).and_then(Path::extension);
    match (last.to_ascii_lowercase().as_str(), inner) {
        ("gz" | "bz2", Some(inner)) => format!(".{}.{last}", inner.to_string_lossy()),
        _ => format!(".{last}"),
    }
}
