//! What the cells of a problem and seed share.

use regretless::sense::Sense;
use serde::{Deserialize, Serialize};

use super::cell_data::CellData;
use super::example::{Example, examples};
use regretless::problem::DecisionLayout;

/// Data of a problem and seed that its cells share.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct CellContext {
    pub(super) costs: usize,
    /// None if the rows were labeled before the experiment.
    pub(super) label_seconds: Option<f64>,
    pub(super) layout: Option<DecisionLayout>,
    pub(super) examples: Vec<Example>,
    #[serde(default)]
    pub(super) sense: Option<Sense>,
    /// Names of the costs; empty if they are numbered.
    #[serde(default)]
    pub(super) cost_names: Vec<String>,
}

impl CellContext {
    /// What figures and tables of a problem show of its rows; examples if `layout` may be drawn.
    pub(super) fn new(
        data: &CellData,
        label_seconds: Option<f64>,
        has_examples: bool,
        layout: Option<DecisionLayout>,
    ) -> Self {
        let table = data.data.data();
        let names = table.cost_names();
        let (layout, examples) = if has_examples {
            (layout, examples(&data.data, &data.split.test))
        } else {
            (None, Vec::new())
        };
        let has_names = !examples.is_empty() && !names.are_numbered();
        Self {
            costs: table.costs().cols(),
            label_seconds,
            layout,
            examples,
            sense: Some(data.data.sense()),
            cost_names: if has_names {
                names.iter().map(Into::into).collect()
            } else {
                Vec::new()
            },
        }
    }
}
