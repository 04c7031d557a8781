//! The page about one's own data: the verdict and its numbers first, then what they rest on, and
//! the terms of the field behind a click.

use crate::backtest::{BacktestResults, MethodHistory};
use crate::review::{DecisionReview, ExplainedRow, ReviewedRegret};
use regretless::Method;
use serde_json::{Value, json};

use super::tables::{SCROLLING, cell, head};
use super::{NamedDrawing, PageSummary, explained, parts};
use crate::report::figure::sources::SourcesInput;
use crate::report::figure::{Drawing, FigureWidth, edges, row_regrets, savings, sources};
use crate::report::text::{coded, escaped, pluralize, short, with_unit};

/// Rows of a table of the worst periods, of features and of other decisions. Untuned: more are not
/// read.
pub(super) const MAX_ROWS: usize = 8;

/// Names of sections with a figure.
const MONEY: &str = "money";
const REGRETS: &str = "regrets";
pub(super) const SOURCES: &str = "sources";
pub(super) const EXPLAINED: &str = "explained";

const IMPORTANCE_TITLE: &str = "Which features decisions depend on";

/// All sections of the page.
pub(super) fn body(review: &DecisionReview, summary: &PageSummary) -> String {
    let figures = super::page_figures(&review.results);
    [
        header(review, summary),
        review.history.as_ref().map_or_else(String::new, |history| {
            money(review) + &methods(review, history)
        }),
        regrets(review),
        sources_section(review),
        parts::sections(&review.results, &figures),
        review.explained.as_ref().map_or_else(String::new, |row| {
            explained::explanation(row, unit(review), &summary.explanation)
        }),
        parts::data_check(summary),
        parts::facts(&review.results, summary),
    ]
    .concat()
}

/// The unit of predicted costs; empty if they are correct only up to a per-row scale factor.
pub(super) fn predicted_unit<'u>(explained: &ExplainedRow, unit: &'u str) -> &'u str {
    match explained.explanation.scale_note {
        Some(_) => "",
        None => unit,
    }
}

/// The unit of costs; empty if it is not known.
fn unit(review: &DecisionReview) -> &str {
    review.unit.as_deref().unwrap_or_default()
}

/// The figures of the sections of its own, by the names of these, in one width.
pub(super) fn drawings(review: &DecisionReview, width: FigureWidth) -> Vec<NamedDrawing> {
    let mut drawings = Vec::new();
    let mut add = |name, drawing: Option<Drawing>| {
        drawings.extend(drawing.map(|drawing| NamedDrawing { name, drawing }));
    };
    add(MONEY, savings::draw(review, width));
    add(REGRETS, row_regrets::draw(review, width));
    let (noun, unit) = (row_noun(review), unit(review));
    add(
        SOURCES,
        sources_input(review, unit, noun).and_then(|input| sources::draw(&input, width)),
    );
    let explained = review.explained.as_ref();
    add(
        EXPLAINED,
        explained
            .and_then(|explained| edges::draw(explained, predicted_unit(explained, unit), width)),
    );
    drawings
}

/// The costs of a backtest for other programs.
pub(super) fn numbers(review: &DecisionReview) -> Value {
    let Some(history) = &review.history else {
        return Value::Null;
    };
    let methods: Vec<Value> = history
        .methods
        .iter()
        .map(
            |method| json!({"name": method.name, "costs": method.costs, "regrets": method.regrets}),
        )
        .collect();
    json!({
        "periods": history.periods,
        "best": history.best,
        "unit": history.unit,
        "methods": methods,
    })
}

fn header(review: &DecisionReview, summary: &PageSummary) -> String {
    let mut tiles = String::new();
    for figure in &review.key_figures {
        let [label, value, detail] =
            [&figure.label, &figure.value, &figure.detail].map(|text| escaped(text));
        tiles += &format!("<li><b>{value}</b><span>{label}</span><small>{detail}</small></li>");
    }
    [
        parts::title_and_verdict(&summary.title, &summary.description, &review.verdict),
        format!("<ul class=\"tiles\">{tiles}</ul>"),
        parts::remarks(&review.verdict),
        terms(review),
        "</header>".into(),
    ]
    .concat()
}

/// The words of the field, for readers who want to know.
fn terms(review: &DecisionReview) -> String {
    let method = coded(&format!("`{}`", review.method));
    let mut entries = vec![
        (
            "Decision",
            "what a solver finds best for predicted costs: which sites, routes or amounts."
                .to_owned(),
        ),
        (
            "Regret",
            "how much worse a decision is than the best one under the true costs, which nobody \
                knew when it was made."
                .to_owned(),
        ),
        (
            "Least squares",
            "ordinary linear regression: it predicts costs as exactly as it can, without regard to \
                the decisions. The method that any other has to beat."
                .to_owned(),
        ),
        (
            "Method",
            format!(
                "{method} is how the predictions were trained; most methods are trained for good \
                    decisions rather than for exact predictions."
            ),
        ),
    ];
    match &review.history {
        Some(history) => {
            let blocks = match history.block_lengths() {
                Some(lengths) => format!(" (block bootstrap, blocks of {lengths})"),
                None => String::new(),
            };
            entries.push((
                "95\u{a0}% interval",
                format!(
                    "the range in which the true mean lies with 95\u{a0}% confidence, for all \
                        methods together{blocks}. If it includes 0, the difference may be \
                        chance."
                ),
            ));
            entries.push(how_decided(history));
        }
        None => entries.push((
            "95\u{a0}% interval",
            "the range in which the true mean lies with 95\u{a0}% confidence (Student's t over \
                test rows). If it includes 0, the difference may be chance."
                .to_owned(),
        )),
    }
    let entries: String = entries
        .iter()
        .map(|(term, text)| format!("<dt>{term}</dt><dd>{text}</dd>"))
        .collect();
    format!(
        "<details class=\"terms\"><summary>What these words mean</summary><dl>{entries}</dl>\
            </details>"
    )
}

/// A section with a figure in the widths of the page, its explanation, and further content.
pub(super) fn figure_section(
    id: &str,
    title: &str,
    draw: impl Fn(FigureWidth) -> Option<Drawing>,
    content: &str,
) -> String {
    let drawings: Vec<Drawing> = [FigureWidth::Wide, FigureWidth::Narrow]
        .into_iter()
        .filter_map(draw)
        .collect();
    let (explanation, figure) = match drawings.first() {
        Some(first) => {
            let svgs = drawings.iter().map(|drawing| &drawing.svg);
            let figure = parts::figure_element("", title, id, &first.finding, svgs);
            let explanation = escaped(&first.explanation.join(" "));
            (
                format!("<p class=\"faint explanation\">{explanation}</p>"),
                format!("<div class=\"multiples\">{figure}</div>"),
            )
        }
        None if content.is_empty() => return String::new(),
        None => (String::new(), String::new()),
    };
    let title = escaped(title);
    format!(
        "<section id=\"{id}\" class=\"one\"><h2>{title}</h2>{explanation}{figure}{content}\
            </section>"
    )
}

fn money(review: &DecisionReview) -> String {
    figure_section(
        MONEY,
        "Money over time",
        |width| savings::draw(review, width),
        "",
    )
}

/// How the decided rows and the rows that models were trained on relate to each other.
fn how_decided(history: &BacktestResults) -> (&'static str, String) {
    let [name, text] = if history.are_ordered {
        [
            "Backtest",
            "the history is decided again, period by period, by models that were trained on \
             earlier periods only.",
        ]
    } else {
        [
            "Cross-validation",
            "every row is decided by models that were trained on other rows.",
        ]
    };
    (name, text.to_owned())
}

/// What every method would have cost.
fn methods(review: &DecisionReview, history: &BacktestResults) -> String {
    let mut methods: Vec<(usize, &MethodHistory)> = history.methods.iter().enumerate().collect();
    methods.sort_by(|(_, a), (_, b)| a.total_regret().total_cmp(&b.total_regret()));
    let mut rows = String::new();
    for (index, method) in methods {
        rows += &method_row(review, history, index, method);
    }
    let titles = method_titles(history);
    let unit = review.unit.as_deref().unwrap_or("units of the objective");
    let best: f64 = history.best.iter().sum();
    let explanation = format!(
        "In {}, over {}; differences are against least squares. With perfect foresight it would \
            have been {}.",
        escaped(unit),
        pluralize(
            history.periods.len(),
            &format!("decided {}", history.noun())
        ),
        short(best)
    );
    let verb = if history.sense.is_maximize() {
        "gained"
    } else {
        "cost"
    };
    let failed = failed_methods(history);
    [
        format!(
            "<section id=\"methods\" class=\"beside\"><h2>What every method would have {verb}</h2>"
        ),
        format!("<p class=\"faint explanation\">{explanation}</p><div>{SCROLLING}"),
        format!("<table class=\"sortable\"><thead><tr>{titles}</tr></thead><tbody>{rows}</tbody>"),
        format!("</table></div>{failed}</div></section>"),
    ]
    .concat()
}

/// The row of a method; `index` is its place in the backtest.
fn method_row(
    review: &DecisionReview,
    history: &BacktestResults,
    index: usize,
    method: &MethodHistory,
) -> String {
    let percent = |fraction: f64| format!("{:.0}\u{a0}%", 100.0 * fraction);
    let number = |value: f64| cell(Some(value), "", &short(value));
    let class = if method.name == review.method {
        " class=\"ours\""
    } else {
        ""
    };
    let mut row = format!(
        "<tr{class}><th scope=\"row\" data-key=\"{index}\">{}</th>{}{}",
        escaped(&method.name),
        number(method.total_cost()),
        number(method.total_regret())
    );
    let mut savings = history.savings.iter();
    match savings.find(|saving| saving.name == method.name) {
        Some(own) => {
            let interval = own.interval.map_or_else(
                || "–".into(),
                |interval| format!("{} to {}", short(interval.lower), short(interval.upper)),
            );
            row += &number(own.per_period);
            row += &cell(own.interval.map(|interval| interval.lower), "", &interval);
            row += &cell(Some(own.won), "", &percent(own.won));
            row += &cell(Some(own.lost), "", &percent(own.lost));
        }
        None => row += &cell(None, "", "–").repeat(4),
    }
    row + "</tr>"
}

fn method_titles(history: &BacktestResults) -> String {
    let noun = history.noun();
    let (cost, saving) = if history.sense.is_maximize() {
        ("gained in all", format!("more per {noun}"))
    } else {
        ("cost in all", format!("saved per {noun}"))
    };
    [
        head("method", "click for the order of the backtest"),
        head(cost, &format!("sum over all decided {noun}s")),
        head(
            "regret in all",
            "how much worse than the best decisions in hindsight",
        ),
        head(&saving, "mean difference to least squares"),
        head(
            "95 % interval",
            "of the difference, for all methods together",
        ),
        head(
            "better",
            &format!("share of the {noun}s in which it is better than least squares"),
        ),
        head(
            "worse",
            &format!("share of the {noun}s in which it is worse"),
        ),
    ]
    .concat()
}

/// The list of failed methods; empty if there are none.
fn failed_methods(history: &BacktestResults) -> String {
    let mut failed = String::new();
    for failure in &history.failures {
        let (name, error) = (escaped(&failure.name), escaped(&failure.error));
        failed += &format!("<li>{name} failed: {error}</li>");
    }
    if failed.is_empty() {
        failed
    } else {
        format!("<ul class=\"sentences\">{failed}</ul>")
    }
}

fn regrets(review: &DecisionReview) -> String {
    let title = match &review.history {
        Some(history) => format!("Regret by {}", history.noun()),
        None => "Regret by test row".to_owned(),
    };
    figure_section(
        REGRETS,
        &title,
        |width| row_regrets::draw(review, width),
        "",
    )
}

fn sources_section(review: &DecisionReview) -> String {
    let (noun, unit) = (row_noun(review), unit(review));
    let content = worst_rows(review, noun, unit) + &importance(review, unit);
    section_of_sources(sources_input(review, unit, noun).as_ref(), &content)
}

fn sources_input<'a>(
    review: &'a DecisionReview,
    unit: &'a str,
    noun: &'a str,
) -> Option<SourcesInput<'a>> {
    Some(SourcesInput {
        method: &review.method,
        sources: review.sources.as_ref()?,
        unit,
        is_up_to_factor: is_up_to_factor(&review.method, review.explained.as_ref()),
        noun,
    })
}

/// Whether the predicted costs of a method are correct only up to a per-row scale factor. What
/// `auto` averages is known from its model.
pub(super) fn is_up_to_factor(method: &str, explained: Option<&ExplainedRow>) -> bool {
    let of_auto = explained.filter(|_| method.starts_with("auto"));
    let note = of_auto.and_then(|explained| explained.explanation.scale_note.as_ref());
    note.is_some() || Method::scale_note(method).is_some()
}

/// The section about the regret of a method by cost.
pub(super) fn section_of_sources(input: Option<&SourcesInput<'_>>, content: &str) -> String {
    let draw = |width: FigureWidth| sources::draw(input?, width);
    figure_section(SOURCES, "Where the regret comes from", draw, content)
}

fn row_noun(review: &DecisionReview) -> &'static str {
    match &review.history {
        Some(_) => "decision",
        None => "test row",
    }
}

/// The periods or rows with the largest regret.
fn worst_rows(review: &DecisionReview, noun: &str, unit: &str) -> String {
    let mut rows: Vec<&ReviewedRegret> = review.regrets.iter().collect();
    rows.retain(|row| row.method > 0.0);
    rows.sort_by(|a, b| b.method.total_cmp(&a.method));
    rows.truncate(MAX_ROWS);
    if rows.is_empty() {
        return String::new();
    }
    let noun = match &review.history {
        Some(history) => history.noun(),
        None => noun,
    };
    let number = |value: f64| format!("<td>{}</td>", escaped(&with_unit(&short(value), unit)));
    let is_reference = review.method == review.results.reference;
    let mut lines = String::new();
    for row in rows {
        let name = escaped(&row.name);
        let reference = if is_reference {
            String::new()
        } else {
            number(row.reference)
        };
        let regret = number(row.method);
        lines += &format!("<tr><th scope=\"row\">{name}</th>{regret}{reference}</tr>");
    }
    let [method, reference] = [&review.method, &review.results.reference].map(|name| escaped(name));
    let mut titles =
        format!("<th scope=\"col\">{noun}</th><th scope=\"col\">regret of {method}</th>");
    if !is_reference {
        titles += &format!("<th scope=\"col\">of {reference}</th>");
    }
    format!(
        "<h3>The most expensive {noun}s</h3>{SCROLLING}<table><thead><tr>{titles}</tr></thead>\
            <tbody>{lines}</tbody></table></div>"
    )
}

/// Which features decisions depend on.
fn importance(review: &DecisionReview, unit: &str) -> String {
    if review.importance_basis.is_empty() {
        return String::new();
    }
    let basis = escaped(&review.importance_basis);
    if review.importance.is_empty() {
        return format!("<h3>{IMPORTANCE_TITLE}</h3><p class=\"faint\">{basis}</p>");
    }
    let mut lines = String::new();
    for entry in review.importance.iter().take(MAX_ROWS) {
        let mean = short(entry.increase.mean.unwrap_or(0.0));
        let deviation = short(entry.increase.sd.unwrap_or(0.0));
        lines += &format!(
            "<tr><th scope=\"row\">{}</th><td>{}</td><td>± {deviation}</td></tr>",
            escaped(&entry.feature),
            escaped(&with_unit(&mean, unit))
        );
    }
    format!(
        "<h3>{IMPORTANCE_TITLE}</h3><p class=\"faint\">By how much the mean regret \
            rises when the values of a feature are shuffled among the rows (permutation \
            importance); features that share their information can all look unimportant. \
            {basis}</p>{SCROLLING}<table><thead><tr><th scope=\"col\">feature</th>\
            <th scope=\"col\">rise of the regret</th><th scope=\"col\">deviation</th></tr></thead>\
            <tbody>{lines}</tbody></table></div>"
    )
}
