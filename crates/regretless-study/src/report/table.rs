//! Content of the tables, for the page and for Markdown.

use crate::experiment::{ExperimentResults, MeanAndDeviation, MethodResults, ProblemResults};

use crate::report::text::{change, count, ratio, short};

/// Shown if there is no result.
pub(crate) const MISSING_VALUE: &str = "*";

/// A column of a problem's table.
pub(crate) struct Column {
    pub(crate) title: &'static str,
    /// Explanation in a sentence.
    pub(crate) hint: &'static str,
    /// Text of a cell.
    pub(crate) text: fn(&MethodResults) -> Option<String>,
    /// Sort key.
    pub(crate) key: fn(&MethodResults) -> Option<f64>,
}

const COLUMNS: [Column; 9] = [
    Column {
        title: "ratio",
        hint: "mean over seeds of the test regret divided by that of the reference, ± standard \
            deviation",
        text: |method| mean_and_deviation_text(&method.ratio, ratio),
        key: |method| method.ratio.mean,
    },
    Column {
        title: "95 % interval",
        hint: "95 % confidence interval of the ratio, over seeds (Student's t)",
        text: |method| {
            method.difference.map(|interval| {
                let (lower, upper) = (interval.lower + 1.0, interval.upper + 1.0);
                format!("{} to {}", ratio(lower), ratio(upper))
            })
        },
        key: |method| method.difference.map(|interval| interval.mean),
    },
    Column {
        title: "published",
        hint: "published ratio, ± standard deviation",
        text: published,
        key: |method| method.published.map(|published| published.ratio),
    },
    Column {
        title: "here − published",
        hint: "our ratio minus the published one",
        text: |method| difference_to_published(method).map(change),
        key: difference_to_published,
    },
    Column {
        title: "regret",
        hint: "mean test regret in units of the objective",
        text: |method| mean_and_deviation_text(&method.regret, short),
        key: |method| method.regret.mean,
    },
    Column {
        title: "relative regret, %",
        hint: "mean over test rows of regret divided by the optimal objective",
        text: |method| mean_and_deviation_text(&percent(&method.relative_regret), short),
        key: |method| method.relative_regret.mean,
    },
    Column {
        title: "seconds",
        hint: "training time on this machine, without labeling and test",
        text: |method| mean_and_deviation_text(&method.seconds, short),
        key: |method| method.seconds.mean,
    },
    Column {
        title: "solves",
        hint: "exact, relaxed and heuristic solves and projections during training, mean over \
            seeds",
        text: |method| solves(method).map(count),
        key: solves,
    },
    Column {
        title: "seeds",
        hint: "number of finished seeds",
        text: |method| Some(method.ratio.count.to_string()),
        key: |method| Some(method.ratio.count as f64),
    },
];

/// The columns with content for a problem.
pub(crate) fn columns(problem: &ProblemResults) -> impl Iterator<Item = &'static Column> + use<'_> {
    COLUMNS.iter().filter(|column| {
        problem
            .methods
            .iter()
            .any(|method| (column.text)(method).is_some())
    })
}

/// `0.65 ± 0.09`.
pub(crate) fn mean_and_deviation_text(
    mean_and_deviation_text: &MeanAndDeviation,
    write: fn(f64) -> String,
) -> Option<String> {
    let mean = write(mean_and_deviation_text.mean?);
    // The standard deviation has as many decimals as the mean.
    let digits = mean.split_once('.').map_or(0, |(_, digits)| digits.len());
    let sd = mean_and_deviation_text.sd.map(|sd| {
        if mean.contains('e') || sd >= 100.0 {
            write(sd)
        } else {
            format!("{sd:.digits$}")
        }
    });
    Some(sd.map_or_else(|| mean.clone(), |sd| format!("{mean} ± {sd}")))
}

fn percent(mean_and_deviation_text: &MeanAndDeviation) -> MeanAndDeviation {
    MeanAndDeviation {
        mean: mean_and_deviation_text.mean.map(|mean| 100.0 * mean),
        sd: mean_and_deviation_text.sd.map(|sd| 100.0 * sd),
        count: mean_and_deviation_text.count,
    }
}

fn published(method: &MethodResults) -> Option<String> {
    let published = method.published?;
    mean_and_deviation_text(
        &MeanAndDeviation {
            mean: Some(published.ratio),
            sd: published.sd,
            count: 0,
        },
        ratio,
    )
}

/// Our ratio minus the published one.
pub(crate) fn difference_to_published(method: &MethodResults) -> Option<f64> {
    Some(method.ratio.mean? - method.published?.ratio)
}

/// Number of solves: the first four kinds.
fn solves(method: &MethodResults) -> Option<f64> {
    method.regret.mean?;
    Some(method.solves.iter().take(4).map(|(_, number)| number).sum())
}

/// Problem, methods and reason of all cells without results; cells of a problem with the same
/// reason share a line.
pub(crate) fn notes(results: &ExperimentResults) -> Vec<(&str, String, &str)> {
    let mut out: Vec<(&str, Vec<&str>, &str)> = Vec::new();
    for (problem, method, reason) in missing(results) {
        match out
            .iter_mut()
            .find(|(known, _, known_reason)| (*known, *known_reason) == (problem, reason))
        {
            Some((_, methods, _)) => methods.push(method),
            None => out.push((problem, vec![method], reason)),
        }
    }
    let all = results
        .problems
        .first()
        .map_or(0, |problem| problem.methods.len());
    let named = |methods: Vec<&str>| {
        if methods.len() == all && all > 1 {
            "all methods".into()
        } else {
            methods.join(", ")
        }
    };
    out.into_iter()
        .map(|(problem, methods, reason)| (problem, named(methods), reason))
        .collect()
}

fn missing(results: &ExperimentResults) -> Vec<(&str, &str, &str)> {
    let all = results.problems.iter().flat_map(|problem| {
        problem.methods.iter().filter_map(|method| {
            // A scoreboard has no ratios to a reference, which can have no regret.
            let shown = if problem.published_regrets.is_empty() {
                method.ratio.mean
            } else {
                method.normalized_regret.mean
            };
            let lacks_results = shown.is_none() && !results.is_smoke_test;
            let reason = method
                .note
                .as_deref()
                .or(lacks_results.then_some("no results"))?;
            Some((problem.name.as_str(), method.name.as_str(), reason))
        })
    });
    all.collect()
}

/// The method with the lowest ratio on a problem, in a sentence.
pub(crate) fn winner(problem: &ProblemResults, reference: &str) -> Option<String> {
    let best = problem.methods.iter().find(|method| method.is_best)?;
    let mean = best.ratio.mean?;
    if best.name == reference {
        return Some(format!("no method beats {reference}"));
    }
    let interval = best.difference.map(|interval| {
        format!(
            " (95 % interval {} to {})",
            ratio(interval.lower + 1.0),
            ratio(interval.upper + 1.0)
        )
    });
    let (name, mean, interval) = (&best.name, ratio(mean), interval.unwrap_or_default());
    Some(format!(
        "{name} has the lowest regret, {mean} times that of {reference}{interval}"
    ))
}

/// What is not known about the origin of results.
pub(crate) const NOT_RECORDED: &str = "not recorded";

/// Names and values of the provenance.
pub(crate) fn provenance(results: &ExperimentResults) -> Vec<(&'static str, &str)> {
    let provenance = &results.provenance;
    let fields = [
        ("version", &provenance.version),
        ("machine", &provenance.machine),
        ("command", &provenance.command),
        ("date", &provenance.date),
    ];
    fields
        .into_iter()
        .map(|(name, text)| {
            (
                name,
                if text.is_empty() {
                    NOT_RECORDED
                } else {
                    text.as_str()
                },
            )
        })
        .collect()
}
