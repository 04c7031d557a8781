//! Tables of an experiment: for people, and as CSV.

use std::fmt::Write as _;

use regretless::experiment::{ExperimentResults, MeanAndDeviation, MethodResults, ProblemResults};
use regretless::text::{escape_formula, escaped};

use crate::output::number;
use crate::text_table::TextTable;

/// Every problem with its methods.
pub fn text(results: &ExperimentResults) -> String {
    let mut text = format!("{}\n\n", escaped(&results.title));
    if results.smoke {
        text += &format!("{}\n\n", escaped(&results.about));
    }
    for problem in &results.problems {
        let [train, validation, test] = problem.rows;
        let _ = writeln!(
            text,
            "{}, {train}/{validation}/{test} rows, {} seeds",
            problem.name, problem.seeds
        );
        text.push_str(&problem_text(problem));
        text.push('\n');
    }
    text
}

fn problem_text(problem: &ProblemResults) -> String {
    let mut table = TextTable::new([
        "method",
        "ratio",
        "published",
        "regret",
        "relative",
        "seconds",
        "solves",
    ]);
    for method in &problem.methods {
        let best = if method.is_best { " <" } else { "" };
        let published = method
            .published
            .map(|p| format!("{:.2}", p.ratio))
            .unwrap_or_default();
        let solves: f64 = method.solves.iter().take(4).map(|(_, count)| count).sum();
        let counted = if method.regret.count == 0 {
            String::new()
        } else {
            format!("{solves:.0}")
        };
        table.row([
            method.name.clone(),
            format!("{}{best}", spread(&method.ratio, 3)),
            published,
            method.regret.mean.map(number).unwrap_or_default(),
            method
                .relative_regret
                .mean
                .map(|share| format!("{:.2} %", 100.0 * share))
                .unwrap_or_default(),
            method
                .seconds
                .mean
                .map(|seconds| format!("{seconds:.2}"))
                .unwrap_or_default(),
            counted,
        ]);
    }
    let noted = problem
        .methods
        .iter()
        .filter_map(|method| Some((method, method.note.as_ref()?)));
    noted.fold(table.text(), |text, (method, note)| {
        format!("{text}  {}: {}\n", escaped(&method.name), escaped(note))
    })
}

fn spread(spread: &MeanAndDeviation, digits: usize) -> String {
    match (spread.mean, spread.sd) {
        (Some(mean), Some(sd)) => format!("{mean:.digits$} ({sd:.digits$})"),
        (Some(mean), None) => format!("{mean:.digits$}"),
        (None, _) if spread.count > 0 => "–".into(),
        (None, _) => "*".into(),
    }
}

/// One line per cell.
pub fn cells_csv(results: &ExperimentResults) -> String {
    let mut text = String::from("problem,method,seed,ratio,seconds\n");
    for (problem, method) in each(results) {
        for (seed, ratio, seconds) in &method.seeds {
            // A smoke run has no ratios.
            let ratio = if ratio.is_nan() {
                String::new()
            } else {
                ratio.to_string()
            };
            let _ = writeln!(
                text,
                "{},{},{seed},{ratio},{seconds}",
                problem.name,
                quoted(&method.name)
            );
        }
    }
    text
}

/// One line per problem and method.
pub fn summary_csv(results: &ExperimentResults) -> String {
    let mut text = String::from(
        "problem,method,seeds,ratio_mean,ratio_sd,difference_lower,difference_upper,regret,relative_regret,seconds,\
         exact,relaxed,heuristic,projected,certified,pooled,published_ratio,published_seconds,on_front,note\n",
    );
    for (problem, method) in each(results) {
        let cell = |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
        let means = [
            method.ratio.mean,
            method.ratio.sd,
            method.difference.map(|interval| interval.lower),
            method.difference.map(|interval| interval.upper),
            method.regret.mean,
            method.relative_regret.mean,
            method.seconds.mean,
        ];
        let solves = method.solves.iter().map(|(_, count)| Some(*count));
        let published = [
            method.published.map(|p| p.ratio),
            method.published.and_then(|p| p.seconds),
        ];
        let numbers: Vec<String> = means
            .into_iter()
            .chain(solves)
            .chain(published)
            .map(cell)
            .collect();
        let (method_name, note) = (
            quoted(&method.name),
            quoted(method.note.as_deref().unwrap_or_default()),
        );
        let (name, seeds) = (&problem.name, method.seeds.len());
        let _ = writeln!(
            text,
            "{name},{method_name},{seeds},{},{},{note}",
            numbers.join(","),
            method.on_front
        );
    }
    text
}

fn each(results: &ExperimentResults) -> impl Iterator<Item = (&ProblemResults, &MethodResults)> {
    results
        .problems
        .iter()
        .flat_map(|problem| problem.methods.iter().map(move |method| (problem, method)))
}

/// Labels and reasons hold commas and quotes, and could be read as formulas.
fn quoted(text: &str) -> String {
    format!("\"{}\"", escape_formula(text).replace('"', "\"\""))
}
