//! The model card in Markdown: what a model is for, what it was fitted to, what is known of it.

use regretless::method::Method;

use super::{FitResults, FitSettings, FitTable};
use crate::text::grouped;

impl FitResults {
    /// Whether the model needs no validation rows: all train it.
    fn is_closed_form(&self) -> bool {
        let method = self.verdict.chosen.parse::<Method>();
        matches!(method, Ok(Method::LeastSquares { .. }))
    }

    /// The model card.
    pub fn model_card(&self, table: &FitTable, settings: &FitSettings) -> String {
        let mut card = String::new();
        let problem = table.problem.kind().name();
        let mut line = |text: &str| {
            card.push_str(text);
            card.push('\n');
        };
        line("# Model card\n");
        line(&format!("**Decides:** {problem}\n"));
        line(&format!("**Verdict:** {}\n", self.verdict.sentence));
        for remark in &self.verdict.remarks {
            line(&format!("* {remark}"));
        }
        line("\n## Model\n");
        line(&format!("* method: {}", self.verdict.chosen));
        if let Some(epochs) = self.epochs {
            line(&format!(
                "* epochs: {epochs}, the median of those that validation rows chose in the \
                 folds; trained on all rows"
            ));
        } else if self.is_closed_form() {
            line("* fitted to all rows");
        } else {
            line("* of all rows, some train its candidates and the others choose among them");
        }
        line(&format!("* seed: {}", settings.seed));
        line(&format!(
            "* program: regretless {}",
            env!("CARGO_PKG_VERSION")
        ));
        line("\n## Data\n");
        line(&format!("* table: {}", settings.file.display()));
        let (rows, skipped) = (table.rows() as u64, self.labels.failed.len() as u64);
        if skipped == 0 {
            line(&format!("* rows: {}", grouped(rows)));
        } else {
            let [used, all] = [rows - skipped, rows].map(grouped);
            line(&format!(
                "* rows: {used} of {all}; the others have no best decision"
            ));
        }
        let periods = table.periods();
        if periods.are_ordered() && !periods.is_empty() {
            let [first, last] = [0, periods.len() - 1].map(|period| periods.name(period));
            line(&format!("* from {first} to {last}"));
        }
        for (role, columns) in table.roles.lines() {
            line(&format!("* {role}: {columns}"));
        }
        line("\n## Limits\n");
        for note in table.notes.iter().chain(&self.notes) {
            line(&format!("* {}", note.text));
        }
        line(
            "* The verdict is about rows like those of the table. Compare realized costs with \
             `regretless evaluate` once they are known.",
        );
        card
    }
}
