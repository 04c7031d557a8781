//! Prints what the encoding of a table does to its columns.

use regretless_study::table_report::EncodingReport;

use super::CommandContext;
use crate::output::CommandReport;

/// Prints a line for every column that is not used and for values that no training row has.
pub fn warn(encoding: &EncodingReport, context: &CommandContext) {
    for warning in encoding.warnings() {
        context.warn(&format!("note: {warning}"));
    }
}

/// Adds a line for every column that is expanded or filled.
pub fn print(encoding: &EncodingReport, report: &mut CommandReport) {
    for text in encoding.texts() {
        report.line(format!("    {text}"));
    }
}
