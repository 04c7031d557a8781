//! `generate`: synthetic data and its problem, ready to train on.

use std::fs;
use std::path::Path;

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
pub fn run(options: GenerateOptions, session: &Session) -> Result<Report> {
    let benchmark = needed(options.benchmark.as_ref(), "--benchmark")?;
    let folder = needed(options.out.as_ref(), "--out")?;
    let standard = Recipe::paper(2000, 0);
    let recipe = Recipe {
        instances: options.instances.unwrap_or(standard.instances),
        features: options.features.unwrap_or(standard.features),
        degree: options.degree.unwrap_or(standard.degree),
        noise: options.noise.unwrap_or(standard.noise),
        seed: options.seed.unwrap_or(standard.seed),
    };
    let (spec, data) = benchmark.generate(recipe)?;
    let decided = Decided::new(spec)?;
    let problem = toml::to_string(&decided.spec).map_err(|e| Error::setting(format!("the problem: {e}")))?;

    let tables = match options.format.unwrap_or(TableFormat::Csv) {
        TableFormat::Csv => vec![folder.join("table.csv")],
        TableFormat::Npy => vec![folder.join("features.npy"), folder.join("costs.npy")],
    };
    let problem_file = folder.join("problem.toml");
    fs::create_dir_all(&folder).map_err(Error::io(&folder))?;
    for path in tables.iter().chain([&problem_file]) {
        check_free(path, session.force)?;
    }
    match &tables[..] {
        [features, costs] => npy::write(features, costs, &data, session.force)?,
        single => csv::write(&single[0], &data, session.force)?,
    }
    write_text(&problem_file, &format!("# {benchmark}, seed {}\n{problem}", recipe.seed), session.force)?;

    let names: Vec<String> = tables.iter().map(|path| path.display().to_string()).collect();
    let columns = match &tables[..] {
        [features, costs] => format!("--data {} --cost-data {}", shell(features), shell(costs)),
        single => format!("--data {} --costs 'c*'", shell(&single[0])),
    };
    let next = format!("regretless train {columns} --problem {}", shell(&problem_file));
    let mut report = Report {
        json: json!({
            "tables": names, "problem": problem_file, "benchmark": benchmark, "recipe": recipe,
            "costs": data.costs().cols(), "next": next,
        }),
        ..Report::default()
    };
    report.line(format!("{}: {}", names.join(", "), described(&data)));
    report.line(format!("{}: {}", problem_file.display(), decided.problem.name()));
    report.line(format!("\nnext:\n  {next}"));
    Ok(report)
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
