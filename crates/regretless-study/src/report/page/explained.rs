//! One explained decision: sentences, a figure, and lists behind a click.

use regretless::explain::{ChangedValue, RankedDecision};

use super::review::{EXPLAINED, MAX_ROWS, figure_section, predicted_unit};
use super::tables::SCROLLING;
use crate::report::figure::edges;
use crate::report::text::{escaped, short, with_unit};
use crate::review::ExplainedRow;

/// One decision in sentences and a figure; the lists behind a click.
pub(super) fn explanation(explained: &ExplainedRow, unit: &str, sentences: &[String]) -> String {
    let unit = predicted_unit(explained, unit);
    let lines: String = sentences
        .iter()
        .map(|sentence| format!("<li>{}</li>", escaped(sentence)))
        .collect();
    let content = format!(
        "<ul class=\"sentences\">{lines}</ul><p class=\"faint\">This is {}.</p>{}{}",
        escaped(&explained.choice),
        alternatives(explained, unit),
        effects(explained, unit)
    );
    let title = format!("One decision explained: {}", explained.name);
    figure_section(
        EXPLAINED,
        &title,
        |width| edges::draw(explained, unit, width),
        &content,
    )
}

fn alternatives(explained: &ExplainedRow, unit: &str) -> String {
    let decisions = &explained.explanation.alternatives.decisions;
    if decisions.is_empty() {
        return String::new();
    }
    let list = |names: &[String]| {
        let shown: Vec<&str> = names.iter().take(MAX_ROWS).map(String::as_str).collect();
        let more = names.len() - shown.len();
        let more = if more > 0 {
            format!(" and {more} more")
        } else {
            String::new()
        };
        format!(
            "<td class=\"words\">{}{more}</td>",
            escaped(&shown.join(", "))
        )
    };
    let has_changes = decisions.iter().any(|ranked| !ranked.changed.is_empty());
    let changes = |decision: &RankedDecision| {
        let described = |value: &ChangedValue| {
            let [own, other] = [value.value, value.other_value].map(short);
            format!("{} from {own} to {other}", value.name)
        };
        let changes: Vec<String> = decision.changed.iter().map(described).collect();
        if has_changes {
            list(&changes)
        } else {
            String::new()
        }
    };
    let mut lines = String::new();
    for (rank, decision) in decisions.iter().enumerate() {
        let price = escaped(&with_unit(&short(decision.price), unit));
        lines += &format!(
            "<tr><th scope=\"row\">{}</th><td>{price}</td>{}{}{}</tr>",
            rank + 2,
            list(&decision.added),
            list(&decision.removed),
            changes(decision)
        );
    }
    let changes = if has_changes {
        "<th scope=\"col\">changes</th>"
    } else {
        ""
    };
    format!(
        "<details><summary>The best other decisions</summary>{SCROLLING}<table><thead><tr>\
            <th scope=\"col\">rank</th><th scope=\"col\">worse by (predicted)</th>\
            <th scope=\"col\">adds</th><th scope=\"col\">drops</th>{changes}</tr></thead>\
            <tbody>{lines}\
            </tbody></table></div></details>"
    )
}

fn effects(explained: &ExplainedRow, unit: &str) -> String {
    let features = &explained.explanation.features.features;
    if features.is_empty() {
        return String::new();
    }
    let mut lines = String::new();
    for effect in features.iter().take(MAX_ROWS) {
        let value = effect.value.map_or_else(|| "–".into(), short);
        let changes = match effect.changes_decision {
            Some(true) => "yes",
            Some(false) => "no",
            None => "not known",
        };
        lines += &format!(
            "<tr><th scope=\"row\">{}</th><td>{value}</td><td>{}</td><td>{}</td>\
                <td>{changes}</td></tr>",
            escaped(&effect.feature),
            short(effect.reference),
            escaped(&with_unit(&short(effect.objective_effect), unit))
        );
    }
    format!(
        "<details><summary>What the features did</summary>{SCROLLING}<table><thead><tr>\
            <th scope=\"col\">feature</th><th scope=\"col\">value</th>\
            <th scope=\"col\">compared with</th><th scope=\"col\">effect on the predicted \
            objective</th><th scope=\"col\">another decision without it</th></tr></thead>\
            <tbody>{lines}</tbody></table></div></details>"
    )
}
