//! Row problems from their parts, without reading the problem file again for every row.
//!
//! On a knapsack of 32 items a row problem from the template takes longer than its solve; the graph
//! of a road network would be read again for every row.

use std::fmt::Debug;
use std::sync::Arc;

use super::{Place, Template};
use crate::problem::ProblemKind;

/// Builds the problems of rows.
pub(in crate::problem) trait RowBuilder: Debug + Send + Sync {
    /// The problem of a row with these values, in the order of the template's places.
    ///
    /// # Errors
    /// When there is no such problem, as a message.
    fn row_problem(&self, values: &[f64]) -> Result<Arc<dyn ProblemKind>, String>;
}

/// A kind whose row problems are built from a copy of its numbers.
pub(in crate::problem) trait RowParametric: ProblemKind + Clone {
    /// The numbers, of which a row replaces some.
    type Numbers: Clone + Debug + Send + Sync;

    /// The numbers that rows have in common.
    fn row_numbers(&self, template: &Template) -> Self::Numbers;

    /// How the values of a place are written; `None` if they need the problem file.
    fn row_setter(&self, place: &Place) -> Option<RowSetter<Self::Numbers>>;

    /// The problem with the numbers of a row.
    ///
    /// # Errors
    /// When there is no such problem, as a message.
    fn of_row(&self, numbers: Self::Numbers) -> Result<Self, String>;
}

/// Writes the values of a place into the numbers of a row.
#[derive(Debug)]
pub(in crate::problem) struct RowSetter<N> {
    /// Writes the number with this index.
    pub set: fn(&mut N, usize, f64),
    /// The index of the place's first value.
    pub first: usize,
}

impl<N> RowSetter<N> {
    /// For a place that is a list, or an entry of one.
    pub(in crate::problem) fn of_list(place: &Place, set: fn(&mut N, usize, f64)) -> Option<Self> {
        place.first_index().map(|first| Self { set, first })
    }
}

/// The number that a value of a row replaces.
#[derive(Debug)]
struct Slot<N> {
    set: fn(&mut N, usize, f64),
    index: usize,
}

/// Row problems of a [`RowParametric`].
#[derive(Debug)]
struct FilledRows<K: RowParametric> {
    kind: K,
    numbers: K::Numbers,
    slots: Vec<Slot<K::Numbers>>,
}

/// A [`RowParametric`] kind whose type is not known.
pub(in crate::problem) trait NumberRows {
    /// The row problems of a template; `None` if a place needs the problem file.
    fn row_builder(&self, template: &Template) -> Option<Box<dyn RowBuilder>>;
}

impl<K: RowParametric> NumberRows for K {
    fn row_builder(&self, template: &Template) -> Option<Box<dyn RowBuilder>> {
        let mut slots = Vec::new();
        for place in template.places() {
            let RowSetter { set, first } = self.row_setter(place)?;
            let indices = first..first + place.columns.count;
            slots.extend(indices.map(|index| Slot { set, index }));
        }
        Some(Box::new(FilledRows {
            kind: self.clone(),
            numbers: self.row_numbers(template),
            slots,
        }))
    }
}

impl<K: RowParametric> RowBuilder for FilledRows<K> {
    fn row_problem(&self, values: &[f64]) -> Result<Arc<dyn ProblemKind>, String> {
        let mut numbers = self.numbers.clone();
        for (slot, value) in self.slots.iter().zip(values) {
            (slot.set)(&mut numbers, slot.index, *value);
        }
        Ok(Arc::new(self.kind.of_row(numbers)?))
    }
}

/// Flags of all items; those that the problem states, or else ones.
pub(in crate::problem) fn stated_flags(present: Option<&[bool]>, count: usize) -> Vec<bool> {
    present.map_or_else(|| vec![true; count], <[bool]>::to_vec)
}
