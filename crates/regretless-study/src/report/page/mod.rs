//! The page: one self-contained HTML file.
//!
//! Its content security policy allows its own script and style, by their hashes, and no network.
//! Without JavaScript the page shows everything at once.

mod decisions;
mod explained;
mod parts;
mod review;
mod scoreboard;
mod tables;

use crate::experiment::{ExperimentResults, FigureKind as Kind};
use crate::review::{DecisionReview, ExplainedRow, RegretSources};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::report::figure::sources::{self, SourcesInput};
use crate::report::figure::{Drawing, FigureWidth, all, caption, edges};
use crate::report::scoreboard::Scoreboard;
use crate::report::style;
use crate::report::text::escaped;
use crate::report::{Figure, figures};

const STYLE: &str = include_str!("../../../assets/page.css");
const SCRIPT: &str = include_str!("../../../assets/page.js");

/// Fields that the page shows elsewhere, left out of its JSON to keep it small.
const OMITTED_FIELDS: [&str; 3] = ["examples", "layout", "curve"];

/// What a page about one's own data says beyond its results.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PageSummary {
    /// The title; a comparison has that of its results.
    pub title: String,
    /// Problem and data in a line; a comparison has that of its results.
    pub description: String,
    /// Conclusions of a comparison in sentences, the most important one first; a review has its
    /// own.
    pub verdict: Vec<String>,
    /// The unit of costs in a comparison; empty if it is not known.
    pub unit: String,
    /// The explained decision in sentences.
    pub explanation: Vec<String>,
    /// Data, split and settings: what it is, and its value.
    pub facts: Vec<(String, String)>,
    /// Findings of the data check, a sentence each; `None` if data were not checked.
    pub data_check: Option<Vec<String>>,
    /// Whether it compared the earlier half of the rows with the later one, in place of training
    /// and test rows.
    pub checks_halves: bool,
    /// Commands that repeat it.
    pub commands: Vec<String>,
}

/// An experiment as one self-contained HTML page.
pub fn page(results: &ExperimentResults) -> String {
    if let Some(board) = Scoreboard::new(results) {
        return scoreboard_page(results, &board);
    }
    let body = [
        parts::smoke_banner(results),
        parts::header(results),
        parts::controls(results),
        // The overview compares ratios, which a smoke test does not have.
        if results.is_smoke_test {
            String::new()
        } else {
            tables::overview(results)
        },
        parts::sections(results, &page_figures(results)),
        tables::details(results),
        tables::missing(results),
        parts::footer(results),
    ];
    document(results, &body.concat())
}

/// A scoreboard, which has no ratios to a reference.
fn scoreboard_page(results: &ExperimentResults, board: &Scoreboard) -> String {
    let mut tables = board.tables().into_iter().peekable();
    let ranking = tables.next_if(|table| table.problem.is_none());
    let mut body = scoreboard::header(results, board);
    body += &ranking.map_or_else(String::new, |table| scoreboard::table(&table));
    body += &scoreboard::diagram(board);
    for table in tables {
        body += &scoreboard::table(&table);
    }
    body += &tables::missing(results);
    body += &parts::footer(results);
    document(results, &body)
}

/// A comparison of methods on one problem as one self-contained HTML page, for readers who do not
/// know the field: the verdict comes first.
pub fn comparison_page(
    results: &ExperimentResults,
    explained: Option<&ExplainedRow>,
    summary: &PageSummary,
) -> String {
    let explanation = explained.map_or_else(String::new, |explained| {
        explained::explanation(explained, &summary.unit, &summary.explanation)
    });
    let body = [
        parts::verdict(results, summary),
        parts::controls(results),
        tables::costs_of_methods(results, &summary.unit),
        sources_of_best(results, explained, &summary.unit),
        parts::sections(results, &page_figures(results)),
        explanation,
        tables::details(results),
        tables::missing(results),
        parts::data_check(summary),
        parts::facts(results, summary),
    ];
    document(results, &body.concat())
}

/// A figure of a section of its own.
struct NamedDrawing {
    /// The name of the section.
    name: &'static str,
    drawing: Drawing,
}

impl NamedDrawing {
    fn into_file(self) -> Figure {
        let Drawing {
            svg,
            explanation,
            finding,
        } = self.drawing;
        Figure {
            name: self.name.into(),
            svg: svg.standalone(&caption(&explanation, &finding)),
        }
    }
}

/// What a row of a comparison is called.
const TEST_ROW: &str = "test row";

/// The best method of a comparison.
struct BestMethod<'a> {
    name: &'a str,
    /// Its regret by cost, by its stored decisions.
    sources: Option<RegretSources>,
}

impl BestMethod<'_> {
    fn sources<'a>(
        &'a self,
        explained: Option<&ExplainedRow>,
        unit: &'a str,
    ) -> Option<SourcesInput<'a>> {
        Some(SourcesInput {
            method: self.name,
            sources: self.sources.as_ref()?,
            unit,
            is_up_to_factor: review::is_up_to_factor(self.name, explained),
            noun: TEST_ROW,
        })
    }
}

fn best_method(results: &ExperimentResults) -> Option<BestMethod<'_>> {
    let problem = results.problems.first()?;
    let best = problem.methods.iter().find(|method| method.is_best)?;
    Some(BestMethod {
        name: &best.name,
        sources: RegretSources::of_examples(problem, &best.name),
    })
}

/// Where the regret of the best method comes from.
fn sources_of_best(
    results: &ExperimentResults,
    explained: Option<&ExplainedRow>,
    unit: &str,
) -> String {
    best_method(results).map_or_else(String::new, |best| {
        review::section_of_sources(best.sources(explained, unit).as_ref(), "")
    })
}

/// The figures of the page of a comparison, as files.
pub fn comparison_figures(
    results: &ExperimentResults,
    explained: Option<&ExplainedRow>,
    unit: &str,
) -> Vec<Figure> {
    let width = FigureWidth::Wide;
    let sources =
        best_method(results).and_then(|best| sources::draw(&best.sources(explained, unit)?, width));
    let edges = explained.and_then(|explained| {
        edges::draw(explained, review::predicted_unit(explained, unit), width)
    });
    let mut figures = figures(results);
    for (name, drawing) in [(review::SOURCES, sources), (review::EXPLAINED, edges)] {
        figures.extend(drawing.map(|drawing| NamedDrawing { name, drawing }.into_file()));
    }
    figures
}

/// The figures of [`review_page`], as files.
pub fn review_figures(review: &DecisionReview) -> Vec<Figure> {
    let drawings = review::drawings(review, FigureWidth::Wide).into_iter();
    let mut files: Vec<Figure> = drawings.map(NamedDrawing::into_file).collect();
    files.extend(figures(&review.results));
    files
}

/// A backtest or a training on one's own data as one self-contained HTML page, for readers who do
/// not know the field: the verdict comes first.
pub fn review_page(review: &DecisionReview, summary: &PageSummary) -> String {
    let mut results = review.results.clone();
    results.title.clone_from(&summary.title);
    let mut numbers = embedded_data(&results);
    numbers["results"]["history"] = review::numbers(review);
    document_with(&results, &review::body(review, summary), &numbers)
}

/// The figures in all widths that the page shows.
fn page_figures(results: &ExperimentResults) -> Vec<crate::report::figure::RenderedFigure> {
    let problems = results.problems.len();
    all(results, |kind| match (kind, problems) {
        // Two rows of the table side by side.
        (Kind::Examples, _) | (_, 2) => &[FigureWidth::Medium, FigureWidth::Narrow],
        (_, 0 | 1) => &[FigureWidth::Wide, FigureWidth::Narrow],
        _ => &[FigureWidth::Narrow],
    })
}

/// The HTML document around a body.
fn document(results: &ExperimentResults, body: &str) -> String {
    document_with(results, body, &embedded_data(results))
}

/// The HTML document around a body, with data for its script.
fn document_with(results: &ExperimentResults, body: &str, data: &Value) -> String {
    let style = format!("{}{STYLE}", style::on_page());
    let policy = format!(
        "default-src 'none'; script-src '{}'; style-src '{}'; img-src data:; base-uri 'none'; \
            form-action 'none'",
        csp_hash(SCRIPT),
        csp_hash(&style)
    );
    let (title, policy) = (escaped(&results.title), escaped(&policy));
    let head = [
        "<meta charset=\"utf-8\">".to_string(),
        format!("<meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">"),
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">".to_string(),
        format!("<title>{title}</title>"),
        "<link rel=\"icon\" href=\"data:,\">".to_string(),
        format!("<style>{style}</style>"),
    ];
    let embedded_data = script_safe_json(data);
    let class = if results.is_smoke_test {
        " class=\"smoke\""
    } else {
        ""
    };
    let lines = [
        "<!DOCTYPE html>".to_string(),
        "<html lang=\"en\">".to_string(),
        format!("<head>\n{}\n</head>", head.join("\n")),
        format!("<body{class}>\n{body}"),
        format!("<script type=\"application/json\" id=\"embedded-data\">{embedded_data}</script>"),
        format!("<script>{SCRIPT}</script>"),
        "</body>\n</html>\n".to_string(),
    ];
    lines.join("\n")
}

/// A hash in the syntax of a content security policy.
fn csp_hash(text: &str) -> String {
    format!("sha256-{}", base64(&Sha256::digest(text)))
}

/// Bytes in base 64, by RFC 4648.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let encode_chunk = |chunk: &[u8]| {
        let word = chunk
            .iter()
            .fold(0_u32, |word, byte| word << 8 | u32::from(*byte))
            << (8 * (3 - chunk.len()));
        let digit = |index: usize| {
            if index <= chunk.len() {
                char::from(DIGITS[(word >> (18 - 6 * index)) as usize & 63])
            } else {
                '='
            }
        };
        [digit(0), digit(1), digit(2), digit(3)]
    };
    bytes.chunks(3).flat_map(encode_chunk).collect()
}

/// The results for other programs, and the style sheet of standalone figures.
fn embedded_data(results: &ExperimentResults) -> Value {
    let mut value = serde_json::to_value(results).unwrap_or_default();
    drop_omitted_fields(&mut value);
    json!({ "results": value, "style": style::standalone() })
}

fn drop_omitted_fields(value: &mut Value) {
    match value {
        Value::Object(entries) => {
            entries.retain(|name, _| !OMITTED_FIELDS.contains(&name.as_str()));
            entries.values_mut().for_each(drop_omitted_fields);
        }
        Value::Array(entries) => entries.iter_mut().for_each(drop_omitted_fields),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// JSON that cannot end the script element around it.
fn script_safe_json(value: &Value) -> String {
    value
        .to_string()
        .replace('&', "\\u0026")
        .replace('<', "\\u003c")
        .replace('>', "\\u003e")
}

#[cfg(test)]
mod tests {
    use super::{base64, script_safe_json};

    #[test]
    fn base64_is_that_of_the_standard() {
        let pairs = [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foobar", "Zm9vYmFy"),
        ];
        for (plain, coded) in pairs {
            assert_eq!(base64(plain.as_bytes()), coded);
        }
    }

    #[test]
    fn json_cannot_end_its_element_and_reads_back() {
        let value = serde_json::json!({ "</script><!--": "a & b" });
        let text = script_safe_json(&value);
        assert!(!text.contains(['<', '>', '&']));
        assert_eq!(
            serde_json::from_str::<serde_json::Value>(&text).unwrap(),
            value
        );
    }
}
