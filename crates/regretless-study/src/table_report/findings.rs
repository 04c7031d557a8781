//! What the data check found in a table.

use regretless::data::Finding;
use serde::Serialize;

/// Findings of the data check.
#[derive(Debug, Clone, Default, Serialize)]
#[serde(transparent)]
pub struct DataFindings(Vec<Finding>);

impl From<Vec<Finding>> for DataFindings {
    fn from(findings: Vec<Finding>) -> Self {
        Self(findings)
    }
}

impl DataFindings {
    /// All of them.
    pub fn list(&self) -> &[Finding] {
        &self.0
    }

    /// One sentence per finding.
    pub fn messages(&self) -> Vec<String> {
        self.0
            .iter()
            .map(|finding| finding.message.clone())
            .collect()
    }
}
