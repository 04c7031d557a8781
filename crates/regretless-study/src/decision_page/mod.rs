//! Pages about decisions on one's own data, with their figures.

use crate::explanation;
use crate::report::{Figure, PageSummary, review_figures, review_page};
use crate::review::DecisionReview;

mod backtest;

pub use backtest::{BacktestFacts, BacktestPage};

/// A page, and its figures as files.
pub struct DecisionPage {
    /// The page as HTML.
    pub html: String,
    /// The same drawings as SVG.
    pub figures: Vec<Figure>,
}

impl DecisionPage {
    /// The page of a review.
    pub fn of_review(review: &DecisionReview, mut summary: PageSummary) -> Self {
        if let Some(explained) = &review.explained {
            summary.explanation = explanation::sentences(&explained.explanation);
        }
        Self {
            html: review_page(review, &summary),
            figures: review_figures(review),
        }
    }
}
