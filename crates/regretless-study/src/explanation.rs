//! An explanation as text: sentences first, then tables.

use regretless::Sense;
use regretless::explain::{
    ChangedValue, ChoiceAnswer, ExplainedCost, Explanation, FeatureMethod, FixedChoiceEffect,
    NamedValue, RangeEnds, RangeMethod, RankedDecision, RegretSplit,
};

use crate::text::{TextTable, grouped, number, push_line};

/// Rows of a table that are shown. Untuned: fits a screen.
const MAX_PRINTED_ROWS: usize = 15;
/// Names in a sentence or a cell. Untuned: fits a line.
const MAX_PRINTED_NAMES: usize = 8;

/// An explanation in sentences.
pub fn sentences(explanation: &Explanation) -> Vec<String> {
    let mut sentences = decision_sentences(explanation);
    sentences.extend(firmness_sentences(explanation));
    sentences.extend(explanation.choices.iter().map(choice_sentence));
    sentences.extend(explanation.regret.iter().map(regret_sentence));
    sentences
}

/// The text of an explanation of the row with this name. `all_rows` says where all rows of a
/// shortened table are; it may be empty.
pub fn full_text(explanation: &Explanation, row: &str, all_rows: &str) -> String {
    let mut text = String::new();
    push_line(&mut text, format!("{row} of {}", explanation.problem));
    for sentence in sentences(explanation) {
        push_line(&mut text, sentence);
    }
    push_ranges(explanation, all_rows, &mut text);
    push_alternatives(explanation, &mut text);
    if let Some(split) = &explanation.regret {
        push_shares(split, all_rows, &mut text);
    }
    push_features(explanation, all_rows, &mut text);
    text
}

/// How many rows of a table are not shown, and where they are.
fn push_more(text: &mut String, more: usize, what: &str, all_rows: &str) {
    if more == 0 {
        return;
    }
    let more = grouped(more as u64);
    let place = if all_rows.is_empty() {
        String::new()
    } else {
        format!("; {all_rows}")
    };
    push_line(text, format!("and {more} more {what}{place}"));
}

/// What an objective or a cost is called.
fn noun(sense: Sense) -> &'static str {
    match sense {
        Sense::Minimize => "cost",
        Sense::Maximize => "gain",
    }
}

fn decision_sentences(explanation: &Explanation) -> Vec<String> {
    let chosen: Vec<&ExplainedCost> = explanation
        .costs
        .iter()
        .filter(|cost| cost.value != 0.0)
        .collect();
    let (total, count) = (explanation.costs.len(), chosen.len());
    let is_binary = chosen.iter().all(|cost| cost.value == 1.0);
    let described = |cost: &&ExplainedCost| {
        if is_binary {
            cost.name.clone()
        } else {
            format!("{} = {}", cost.name, number(cost.value))
        }
    };
    let names: Vec<String> = chosen.iter().map(described).collect();
    let verb = if is_binary && count > 0 {
        "chooses"
    } else {
        "uses"
    };
    let chosen = format!(
        "The decision {verb} {} of {}: {}.",
        grouped(count as u64),
        grouped(total as u64),
        listed(&names)
    );
    let quality = if explanation.is_proven {
        "no other decision is better under the predicted costs".to_owned()
    } else {
        format!("not proven to be the best ({})", explanation.status)
    };
    let objective = format!(
        "Its predicted {} is {}; {quality}.",
        noun(explanation.sense),
        number(explanation.objective)
    );
    let mut sentences = vec![chosen];
    let others = &explanation.other_columns;
    if !others.is_empty() {
        let named = |column: &NamedValue| format!("{} = {}", column.name, number(column.value));
        let names: Vec<String> = others.iter().map(named).collect();
        sentences.push(format!("Columns of known cost: {}.", listed(&names)));
    }
    sentences.push(objective);
    for note in [&explanation.scale_note, &explanation.bias_note] {
        sentences.extend(note.as_deref().map(sentence_of));
    }
    sentences
}

/// A remark as a sentence.
fn sentence_of(remark: &str) -> String {
    let mut letters = remark.chars();
    let first = letters.next().map(|letter| letter.to_ascii_uppercase());
    format!("{}{}.", first.unwrap_or_default(), letters.as_str())
}

/// Names in a sentence: the first ones, and the number of the others.
fn listed(names: &[String]) -> String {
    if names.is_empty() {
        return "none".into();
    }
    let shown = names[..names.len().min(MAX_PRINTED_NAMES)].join(", ");
    match names.len().saturating_sub(MAX_PRINTED_NAMES) {
        0 => shown,
        more => format!("{shown} and {} more", grouped(more as u64)),
    }
}

/// A cost that may move by a limited distance.
struct LimitedMove<'a> {
    cost: &'a ExplainedCost,
    /// How far it is to the nearer end of its range.
    distance: f64,
    /// Whether that end is the upper one.
    is_up: bool,
    /// Whether the decision changes beyond it.
    is_exact: bool,
}

/// The costs whose ranges end somewhere, the nearest end first.
fn limited_moves(explanation: &Explanation) -> Vec<LimitedMove<'_>> {
    let mut moves = Vec::new();
    for cost in &explanation.costs {
        let Some(range) = cost.range else {
            continue;
        };
        let up = range.upper.map(|end| LimitedMove {
            cost,
            distance: end - cost.predicted,
            is_up: true,
            is_exact: range.upper_is_exact,
        });
        let down = range.lower.map(|end| LimitedMove {
            cost,
            distance: cost.predicted - end,
            is_up: false,
            is_exact: range.lower_is_exact,
        });
        let nearest = [up, down].into_iter().flatten();
        moves.extend(nearest.min_by(|a, b| a.distance.total_cmp(&b.distance)));
    }
    moves.sort_by(|a, b| {
        let places = a.cost.index.cmp(&b.cost.index);
        a.distance.total_cmp(&b.distance).then(places)
    });
    moves
}

fn firmness_sentences(explanation: &Explanation) -> Vec<String> {
    let mut sentences = Vec::new();
    let moves = limited_moves(explanation);
    // Ends of a basis are near; those of a search that ended early say less than exact ones.
    let exact = moves.iter().find(|limited| limited.is_exact);
    if let Some(nearest) = exact.or(moves.first()) {
        let direction = if nearest.is_up { "rises" } else { "falls" };
        let consequence = if nearest.is_exact {
            "changes"
        } else {
            "may change"
        };
        sentences.push(format!(
            "It {consequence} when the predicted {} {} {direction} by more than {}, with all \
             others as they are.",
            noun(explanation.sense),
            nearest.cost.name,
            number(nearest.distance.max(0.0))
        ));
    } else if explanation.ranges.method.is_some() {
        sentences.push("It does not change, whichever predicted cost moves alone.".into());
    }
    if let Some(best) = explanation.alternatives.decisions.first() {
        sentences.push(format!(
            "The best other decision is worse by {}: it {}.",
            number(best.price),
            difference(&added(best), &best.removed, &best.changed)
        ));
    }
    sentences
}

/// What another decision adds; quantities with their amounts.
fn added(ranked: &RankedDecision) -> Vec<String> {
    let described = |name: &String| {
        let mut values = ranked.choices.iter().chain(&ranked.other_columns);
        match values.find(|named| named.name == *name) {
            Some(named) if named.value != 1.0 => format!("{name} = {}", number(named.value)),
            _ => name.clone(),
        }
    };
    ranked.added.iter().map(described).collect()
}

/// Changed values as text.
fn changes(changed: &[ChangedValue]) -> Vec<String> {
    let described = |value: &ChangedValue| {
        let [own, other] = [value.value, value.other_value].map(number);
        format!("{} from {own} to {other}", value.name)
    };
    changed.iter().map(described).collect()
}

/// How another decision differs from the explained one.
fn difference(added: &[String], removed: &[String], changed: &[ChangedValue]) -> String {
    let changed = changes(changed);
    let parts = [("adds", added), ("drops", removed), ("changes", &changed)];
    let parts: Vec<String> = parts
        .into_iter()
        .filter(|(_, names)| !names.is_empty())
        .map(|(verb, names)| format!("{verb} {}", listed(names)))
        .collect();
    match parts.split_last() {
        None => "differs in columns of known cost".into(),
        Some((last, [])) => last.clone(),
        Some((last, before)) => format!("{} and {last}", before.join(", ")),
    }
}

fn choice_sentence(effect: &FixedChoiceEffect) -> String {
    let name = &effect.name;
    let (verb, state) = if effect.is_forced {
        ("Choosing", "chosen already")
    } else {
        ("Not choosing", "not chosen anyway")
    };
    match effect.answer {
        ChoiceAnswer::AlreadyDecided => format!("{verb} {name} costs nothing: it is {state}."),
        ChoiceAnswer::Possible => format!(
            "{verb} {name} costs {}: the best such decision {}.",
            number(effect.price.unwrap_or_default()),
            difference(&effect.added, &effect.removed, &effect.changed)
        ),
        ChoiceAnswer::Infeasible => {
            let rule = if effect.is_forced { "has" } else { "lacks" };
            format!("{verb} {name} is not possible: no feasible decision {rule} it.")
        }
    }
}

fn regret_sentence(split: &RegretSplit) -> String {
    let limit = match &split.reason {
        Some(reason) => format!(" Note: {reason}."),
        None => String::new(),
    };
    let regret = if split.regret == 0.0 {
        "no regret".to_owned()
    } else {
        format!("a regret of {}", number(split.regret))
    };
    format!(
        "Under the true costs its objective is {}, that of the best decision in hindsight {}: \
         {regret}.{limit}",
        number(split.objective),
        number(split.optimal_objective)
    )
}

fn push_ranges(explanation: &Explanation, all_rows: &str, text: &mut String) {
    let ranges = &explanation.ranges;
    let Some(method) = ranges.method else {
        let reason = ranges.reason.as_deref().unwrap_or("none");
        push_line(text, format!("\ncost ranges: {reason}"));
        return;
    };
    let solves = grouped(ranges.solves as u64);
    let kind = match method {
        RangeMethod::Exact => "exact: beyond an end the decision changes".to_owned(),
        RangeMethod::Solves => {
            let exactness = if ranges.reason.is_some() {
                "if they do not say ≥ or ≤"
            } else {
                "beyond an end the decision changes"
            };
            format!("exact, by {solves} solves: {exactness}")
        }
        RangeMethod::Basis => {
            "of the simplex basis: within them the decision stays, beyond it may change".to_owned()
        }
    };
    push_line(text, format!("\ncost ranges ({kind})"));
    if let Some(reason) = &ranges.reason {
        push_line(text, format!("note: {reason}"));
    }
    let has_known = explanation.costs.iter().any(|cost| cost.known != 0.0);
    let mut heading = vec!["cost", "decision", "predicted", "stays from", "to"];
    if has_known {
        heading.push("known part");
    }
    let mut table = TextTable::new(heading);
    let moves = limited_moves(explanation);
    for limited in moves.iter().take(MAX_PRINTED_ROWS) {
        let cost = limited.cost;
        let [lower, upper] = cost
            .range
            .map_or_else(Default::default, |range| printed_ends(&range, method));
        let mut cells = vec![
            cost.name.clone(),
            number_of_value(cost.value),
            number(cost.predicted),
            lower,
            upper,
        ];
        if has_known {
            cells.push(number(cost.known));
        }
        table.row(cells);
    }
    text.push_str(&table.text());
    let more = moves.len().saturating_sub(MAX_PRINTED_ROWS);
    push_more(text, more, "costs with wider ranges", all_rows);
    let free = explanation.costs.len() - moves.len();
    if free > 0 {
        let free = grouped(free as u64);
        push_line(text, format!("{free} costs may move without limit"));
    }
}

/// Both ends of a range as text.
fn printed_ends(range: &RangeEnds, method: RangeMethod) -> [String; 2] {
    let printed = |end: Option<f64>, is_exact: bool, sign: &str| match end {
        None => "any".to_owned(),
        // The heading says it of all ends of a basis.
        Some(end) if is_exact || method == RangeMethod::Basis => number(end),
        Some(end) => format!("{sign} {}", number(end)),
    };
    [
        printed(range.lower, range.lower_is_exact, "≤"),
        printed(range.upper, range.upper_is_exact, "≥"),
    ]
}

/// The value of a variable: a choice as 0 or 1.
fn number_of_value(value: f64) -> String {
    if value.fract() == 0.0 && value.abs() < 1e6 {
        format!("{value:.0}")
    } else {
        number(value)
    }
}

fn push_alternatives(explanation: &Explanation, text: &mut String) {
    let alternatives = &explanation.alternatives;
    if alternatives.decisions.is_empty() {
        if let Some(reason) = &alternatives.reason {
            push_line(text, format!("\nother decisions: none listed; {reason}"));
        }
        return;
    }
    push_line(
        text,
        format!(
            "\nother decisions, the best first ({} solves)",
            grouped(alternatives.solves as u64)
        ),
    );
    let mut heading = vec!["rank", "worse by", "objective", "adds", "drops"];
    let mut decisions = alternatives.decisions.iter();
    let has_changes = decisions.any(|ranked| !ranked.changed.is_empty());
    if has_changes {
        heading.push("changes");
    }
    let mut table = TextTable::new(heading);
    for (place, ranked) in alternatives.decisions.iter().enumerate() {
        // The explained decision is the first.
        let mut cells = vec![
            (place + 2).to_string(),
            number(ranked.price),
            number(ranked.objective),
            listed(&added(ranked)),
            listed(&ranked.removed),
        ];
        if has_changes {
            cells.push(listed(&changes(&ranked.changed)));
        }
        table.row(cells);
    }
    text.push_str(&table.text());
    if let Some(reason) = &alternatives.reason {
        push_line(text, format!("note: {reason}"));
    }
}

fn push_shares(split: &RegretSplit, all_rows: &str, text: &mut String) {
    // The sentence above has said that the decision is the best one in hindsight.
    if split.shares.is_empty() {
        return;
    }
    let total: f64 = split.shares.iter().map(|share| share.share).sum();
    push_line(
        text,
        format!(
            "\nregret {} = {} from errors of these costs - {} by which the best decision in \
             hindsight looked worse",
            number(split.regret),
            number(total),
            number(split.gap)
        ),
    );
    let mut table = TextTable::new([
        "cost",
        "share",
        "predicted",
        "true",
        "decision",
        "in hindsight",
    ]);
    for share in split.shares.iter().take(MAX_PRINTED_ROWS) {
        table.row([
            share.name.clone(),
            number(share.share),
            number(share.predicted),
            number(share.true_cost),
            number_of_value(share.value),
            number_of_value(share.best_value),
        ]);
    }
    text.push_str(&table.text());
    let more = split.shares.len().saturating_sub(MAX_PRINTED_ROWS);
    push_more(text, more, "costs", all_rows);
}

fn push_features(explanation: &Explanation, all_rows: &str, text: &mut String) {
    let effects = &explanation.features;
    let reason = effects.reason.as_deref();
    let Some(method) = effects.method else {
        let reason = reason.unwrap_or("none");
        push_line(text, format!("\nfeatures: no effects; {reason}"));
        return;
    };
    let (heading, compared) = match method {
        FeatureMethod::LinearFromMean => (
            "terms of the linear predictor, which add up to the prediction",
            "training mean",
        ),
        FeatureMethod::LinearFromZero => (
            "terms of the linear predictor, which add up to the prediction",
            "compared with",
        ),
        FeatureMethod::ReplacedByMean => (
            "change when one feature is replaced by its mean; the changes need not add up",
            "training mean",
        ),
    };
    push_line(
        text,
        format!("\nfeatures: effect on the decision's objective ({heading})"),
    );
    let mut table = TextTable::new([
        "feature",
        "value",
        compared,
        "effect",
        "changes the decision",
    ]);
    for effect in effects.features.iter().take(MAX_PRINTED_ROWS) {
        let changes = match effect.changes_decision {
            Some(true) => "yes",
            Some(false) => "no",
            None => "not known",
        };
        table.row([
            effect.feature.clone(),
            effect.value.map_or_else(|| "per item".to_owned(), number),
            number(effect.reference),
            number(effect.objective_effect),
            changes.to_owned(),
        ]);
    }
    text.push_str(&table.text());
    let more = effects.features.len().saturating_sub(MAX_PRINTED_ROWS);
    push_more(text, more, "features", all_rows);
    if let Some(reason) = reason {
        push_line(text, format!("note: {reason}"));
    }
}
