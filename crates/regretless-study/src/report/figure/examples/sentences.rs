//! What is said about a drawn decision.

use super::{DecisionLayout, ExampleCase, ExampleRow};
use crate::report::figure::FigureContext;
use crate::report::text::pluralize;

pub(super) fn explanation(context: &FigureContext<'_>, layout: &DecisionLayout) -> Vec<String> {
    let reference = &context.results.reference;
    let seed = match context.problem.seeds {
        1 => "",
        _ => " of the first seed",
    };
    vec![
        format!(
            "Two test rows{seed}: a typical one, with the median regret of {reference}, and the \
                worst one, with its largest regret."
        ),
        "Every decision is optimal for predicted costs (or values, if they are gains); the true \
            ones count."
            .into(),
        match layout {
            DecisionLayout::Lanes { .. } => {
                "The wider a band, the more is shipped. Where a decision differs from the optimal \
                    one, numbers are the differences (on the page hover for true costs or values)."
            }
            DecisionLayout::Graph { .. }
            | DecisionLayout::Grid { .. }
            | DecisionLayout::Items { .. }
            | DecisionLayout::Steps => {
                "Where a decision differs from the optimal one, numbers are true costs or values \
                    (on the page hover for those without space); their difference is the regret."
            }
        }
        .into(),
    ]
}

/// The rows whose decisions are stored, as a part of all test rows.
pub(super) fn candidates(stored: usize, all: usize) -> String {
    let rows = pluralize(all, "test row");
    if stored < all {
        format!("{stored} of {rows}")
    } else {
        rows
    }
}

pub(super) fn finding(
    context: &FigureContext<'_>,
    case: &ExampleCase<'_>,
    row: ExampleRow,
) -> String {
    let reference = &context.results.reference;
    let which = match row {
        ExampleRow::Typical => "the median",
        ExampleRow::Worst => "the largest",
    };
    let mut finding = format!(
        "{}: {which} regret of {reference} among {}.",
        case.row_name(),
        case.candidates
    );
    if row == ExampleRow::Typical {
        finding += &format!(
            " On {} of them the decision under {reference} is optimal.",
            case.optimal_rows
        );
    }
    finding
}
