//! `generate`: synthetic data and its problem, ready to train on.

use std::fs;
use std::path::{Path, PathBuf};

use regretless::data::{OutputFile, SyntheticGenerator, SyntheticSpec};
use regretless::observer::Observer;
use regretless::{Error, Problem, Result};
use regretless_study::text::{grouped, write_text};
use serde_json::json;

use super::CommandContext;
use crate::args::{GenerateOptions, GeneratedFormat};
use crate::input::require;
use crate::output::{CommandReport, path_json};

/// Writes the table and the problem.
pub fn run(options: &GenerateOptions, context: &CommandContext) -> Result<CommandReport> {
    let benchmark = require(options.benchmark.as_ref(), "--benchmark")?;
    let folder = require(options.out.as_ref(), "--out")?;
    let synthetic = synthetic_spec(options);
    let (spec, rows) = benchmark.rows(synthetic)?;
    let costs = rows.num_costs();
    let problem = Problem::from_spec(spec)?;
    let files = GeneratedFiles::within(&folder, options.format.unwrap_or(GeneratedFormat::Csv));
    let problem_text =
        toml::to_string(problem.spec()).map_err(|e| Error::setting(format!("the problem: {e}")))?;
    files.write(
        rows,
        &format!("# {benchmark}, seed {}\n{problem_text}", synthetic.seed),
        context,
    )?;

    let next = format!(
        "regretless train {} --problem {}",
        files.flags(),
        shell_quoted(&files.problem)
    );
    let tables: Vec<String> = files
        .tables
        .iter()
        .map(|path| path.display().to_string())
        .collect();
    let json = json!({
        "tables": tables,
        "problem": path_json(&files.problem),
        "benchmark": benchmark,
        "data": synthetic,
        "costs": costs,
        "next": next,
    });
    let mut report = CommandReport {
        json,
        ..CommandReport::default()
    };
    report.line(format!(
        "{}: {}",
        tables.join(", "),
        description(&synthetic, costs)
    ));
    report.line(format!("{}: {}", files.problem.display(), problem.name()));
    report.line("\nnext:");
    report.line(format!("  {next}"));
    Ok(report)
}

fn synthetic_spec(options: &GenerateOptions) -> SyntheticSpec {
    let standard = SyntheticSpec::paper(2000, 0);
    SyntheticSpec {
        instances: options.instances.unwrap_or(standard.instances),
        features: options.features.unwrap_or(standard.features),
        degree: options.degree.unwrap_or(standard.degree),
        noise: options.noise.unwrap_or(standard.noise),
        seed: options.seed.unwrap_or(standard.seed),
    }
}

/// Output paths.
struct GeneratedFiles {
    /// One table, or features and costs.
    tables: Vec<PathBuf>,
    problem: PathBuf,
}

impl GeneratedFiles {
    fn within(folder: &Path, format: GeneratedFormat) -> Self {
        let names = match format {
            GeneratedFormat::Csv => vec!["table.csv"],
            GeneratedFormat::Npy => vec!["features.npy", "costs.npy"],
        };
        Self {
            tables: names.iter().map(|name| folder.join(name)).collect(),
            problem: folder.join("problem.toml"),
        }
    }

    /// Writes all files, or none if one exists already.
    fn write(
        &self,
        rows: SyntheticGenerator,
        problem: &str,
        context: &CommandContext,
    ) -> Result<()> {
        let force = context.force;
        if let Some(folder) = self.problem.parent() {
            fs::create_dir_all(folder).map_err(Error::io(folder))?;
        }
        self.tables
            .iter()
            .chain([&self.problem])
            .try_for_each(|path| OutputFile::new(path, force).check_free())?;
        match &self.tables[..] {
            [features, costs] => write_arrays(features, costs, rows, context)?,
            single => rows.dataset()?.write_csv(&single[0], force)?,
        }
        write_text(&self.problem, problem, force)
    }

    /// The flags of `train` for these tables.
    fn flags(&self) -> String {
        match &self.tables[..] {
            [features, costs] => format!(
                "--data {} --cost-data {}",
                shell_quoted(features),
                shell_quoted(costs)
            ),
            single => format!("--data {} --costs 'c*'", shell_quoted(&single[0])),
        }
    }
}

/// Writes costs row by row as they are generated, then features: if the disk is too small for the
/// costs, no file remains.
fn write_arrays(
    features: &Path,
    costs: &Path,
    rows: SyntheticGenerator,
    context: &CommandContext,
) -> Result<()> {
    let observer = &context.progress;
    let feature_table = rows.features()?;
    observer.begin("generating", rows.rows() as u64);
    rows.write_costs_npy(costs, context.force, observer)?;
    observer.end();
    feature_table.values().write_npy(features, context.force)
}

/// A path quoted for the shell.
fn shell_quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-".contains(c);
    if text.chars().all(plain) {
        text
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

fn description(spec: &SyntheticSpec, costs: usize) -> String {
    format!(
        "{} instances, {} features, {costs} costs",
        grouped(spec.instances as u64),
        spec.features
    )
}
