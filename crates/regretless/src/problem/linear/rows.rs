//! Linear problems of rows, whose model file is read once: a model holds its content, and the file
//! may be gone when rows are decided.

use std::sync::Arc;

use super::{LinearChange, LinearFile, LinearProblem, LinearSlot, LinearSlots};
use crate::problem::ProblemKind;
use crate::problem::family::Step;
use crate::problem::parametric::{Place, RowBuilder, Template};

/// A linear problem, and the number that each value of a row replaces.
#[derive(Debug)]
pub(super) struct LinearRows {
    base: LinearProblem,
    slots: Vec<LinearSlot>,
}

impl LinearRows {
    /// The rows of a template; `base` is the problem with placeholders.
    ///
    /// # Errors
    /// When the problem does not have the named rows and columns, or a number is set twice, as a
    /// message.
    pub(super) fn new(
        template: &Template,
        file: &LinearFile,
        base: &dyn ProblemKind,
    ) -> Result<Self, String> {
        let base: &dyn std::any::Any = base;
        let Some(base) = base.downcast_ref::<LinearProblem>() else {
            return Err("the problem is not linear".into());
        };
        let names = LinearSlots::new(base);
        let mut slots = Vec::new();
        for place in template.places() {
            match names_of(place)?.as_slice() {
                ["present"] => slots.extend((0..base.num_costs()).map(LinearSlot::Present)),
                path => slots.push(names.slot(path)?),
            }
        }
        let mut all = slots.clone();
        for (path, _) in file.changes() {
            all.push(names.slot(&path)?);
        }
        names.check_distinct(&all)?;
        // Bounds of a row would replace those of a column that is absent in all rows.
        if !file.present.is_empty() && slots.iter().any(changes_columns) {
            return Err(
                "some columns are absent in all rows, and columns of the table change \
                bounds; take `present` from columns of the table too"
                    .into(),
            );
        }
        let base = base.clone();
        Ok(Self { base, slots })
    }
}

/// The field of a place and the names in it.
fn names_of(place: &Place) -> Result<Vec<&str>, String> {
    let mut path = vec![place.field()];
    for step in place.steps() {
        match step {
            Step::Key(key) => path.push(key),
            Step::Index(_) => return Err("a linear problem has names, not lists".into()),
        }
    }
    Ok(path)
}

fn changes_columns(slot: &LinearSlot) -> bool {
    matches!(
        slot,
        LinearSlot::Lower(_) | LinearSlot::Upper(_) | LinearSlot::Fixed(_) | LinearSlot::Present(_)
    )
}

impl RowBuilder for LinearRows {
    fn row_problem(&self, values: &[f64]) -> Result<Arc<dyn ProblemKind>, String> {
        let slots = self.slots.iter().zip(values);
        let changes: Vec<LinearChange> = slots
            .map(|(slot, value)| LinearChange {
                slot: *slot,
                value: *value,
            })
            .collect();
        Ok(Arc::new(self.base.with_changes(&changes)?))
    }
}
