//! `generate`: synthetic data and its problem, ready to train on.

use std::fs;
use std::path::{Path, PathBuf};

use regretless::data::output::check_free;
use regretless::data::synthetic::Recipe;
use regretless::data::{Dataset, csv, npy};
use regretless::{Error, Result};
use serde_json::json;

use super::Session;
use crate::args::{GenerateOptions, TableFormat};
use crate::input::{Decided, needed};
use crate::output::{Report, grouped, write_text};

/// Writes the table and the problem.
pub fn run(options: &GenerateOptions, session: &Session) -> Result<Report> {
    let benchmark = needed(options.benchmark.as_ref(), "--benchmark")?;
    let folder = needed(options.out.as_ref(), "--out")?;
    let recipe = recipe(options);
    let (spec, data) = benchmark.generate(recipe)?;
    let decided = Decided::new(spec)?;
    let files = Files::within(&folder, options.format.unwrap_or(TableFormat::Csv));
    let problem = toml::to_string(&decided.spec).map_err(|e| Error::setting(format!("the problem: {e}")))?;
    files.write(&data, &format!("# {benchmark}, seed {}\n{problem}", recipe.seed), session.force)?;

    let next = format!("regretless train {} --problem {}", files.flags(), shell(&files.problem));
    let tables: Vec<String> = files.tables.iter().map(|path| path.display().to_string()).collect();
    let shown = json!({
        "tables": tables, "problem": files.problem, "benchmark": benchmark, "recipe": recipe,
        "costs": data.costs().cols(), "next": next,
    });
    let mut report = Report { json: shown, ..Report::default() };
    report.line(format!("{}: {}", tables.join(", "), described(&data)));
    report.line(format!("{}: {}", files.problem.display(), decided.problem.name()));
    report.line(format!("\nnext:\n  {next}"));
    Ok(report)
}

fn recipe(options: &GenerateOptions) -> Recipe {
    let standard = Recipe::paper(2000, 0);
    Recipe {
        instances: options.instances.unwrap_or(standard.instances),
        features: options.features.unwrap_or(standard.features),
        degree: options.degree.unwrap_or(standard.degree),
        noise: options.noise.unwrap_or(standard.noise),
        seed: options.seed.unwrap_or(standard.seed),
    }
}

/// Where things go.
struct Files {
    /// One table, or features and costs.
    tables: Vec<PathBuf>,
    problem: PathBuf,
}

impl Files {
    fn within(folder: &Path, format: TableFormat) -> Self {
        let names = match format {
            TableFormat::Csv => vec!["table.csv"],
            TableFormat::Npy => vec!["features.npy", "costs.npy"],
        };
        Self { tables: names.iter().map(|name| folder.join(name)).collect(), problem: folder.join("problem.toml") }
    }

    /// Writes all files, or none if one is there already.
    fn write(&self, data: &Dataset, problem: &str, force: bool) -> Result<()> {
        if let Some(folder) = self.problem.parent() {
            fs::create_dir_all(folder).map_err(Error::io(folder))?;
        }
        self.tables.iter().chain([&self.problem]).try_for_each(|path| check_free(path, force))?;
        match &self.tables[..] {
            [features, costs] => npy::write(features, costs, data, force)?,
            single => csv::write(&single[0], data, force)?,
        }
        write_text(&self.problem, problem, force)
    }

    /// How `train` is told of the tables.
    fn flags(&self) -> String {
        match &self.tables[..] {
            [features, costs] => format!("--data {} --cost-data {}", shell(features), shell(costs)),
            single => format!("--data {} --costs 'c*'", shell(&single[0])),
        }
    }
}

/// A path as a shell takes it.
fn shell(path: &Path) -> String {
    let text = path.display().to_string();
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-".contains(c);
    if text.chars().all(plain) { text } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

fn described(data: &Dataset) -> String {
    let (features, costs) = (data.features().names().len(), data.costs().cols());
    format!("{} instances, {features} features, {costs} costs", grouped(data.len() as u64))
}
