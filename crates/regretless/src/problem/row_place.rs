//! Which numbers of a problem file may come from columns of a table.

use serde_json::{Value, json};

use crate::error::Result;

/// One step from the root of a problem file to a value in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step<'a> {
    Key(&'a str),
    Index(usize),
}

/// A step below a field, in the rule of a place.
#[derive(Debug, Clone, Copy)]
pub(super) enum At {
    /// Any key of a table.
    Key,
    /// This key.
    Named(&'static str),
    /// Any entry of a list.
    Index,
    /// This entry.
    Entry(usize),
}

impl At {
    fn is(self, step: Step<'_>) -> bool {
        match (self, step) {
            (Self::Key, Step::Key(_)) | (Self::Index, Step::Index(_)) => true,
            (Self::Named(name), Step::Key(key)) => name == key,
            (Self::Entry(entry), Step::Index(index)) => entry == index,
            _ => false,
        }
    }
}

/// A place of a field that may hold a reference to columns.
#[derive(Debug, Clone, Copy)]
pub(super) struct RowPlace {
    path: &'static [At],
    /// Whether the rule is for `columns` only.
    is_plural: bool,
    pub placeholder: Placeholder,
    pub size: FieldSize,
    pub numbers: NumberRange,
    pub names: EntryNames,
}

/// What stands in a place in the problem with placeholders.
#[derive(Debug, Clone, Copy)]
pub(super) enum Placeholder {
    /// Nothing: the key is left out.
    LeftOut,
    Number(f64),
    Whole(u32),
    Text(&'static str),
    /// `{ differs_per_row = true }` in place of the whole field.
    Mark,
}

/// The mark of a field that differs per row.
pub(super) const PLACEHOLDER_KEY: &str = "differs_per_row";

impl Placeholder {
    /// The number or text; `None` if the place is left out.
    pub fn value(self) -> Option<Value> {
        match self {
            Self::LeftOut | Self::Mark => None,
            Self::Number(number) => Some(json!(number)),
            Self::Whole(number) => Some(json!(number)),
            Self::Text(text) => Some(json!(text)),
        }
    }
}

/// How many numbers a place holds.
#[derive(Debug, Clone, Copy)]
pub(super) enum FieldSize {
    One,
    /// One per item, node, customer or arc.
    Items,
    /// One per predicted cost of a model file.
    Costs,
    Fixed(usize),
    /// What the file says elsewhere, by the file and its number of items, if that is known.
    ByFile(fn(&Value, Option<usize>) -> Result<FieldSize>),
}

/// Which numbers a place holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NumberRange {
    /// Finite numbers.
    Finite,
    /// Numbers of which one sign may be infinite: a bound that is not there.
    Bound,
    /// Whole numbers of 0 or more.
    Whole,
    /// 0 or 1.
    ZeroOrOne,
}

/// What the keys below a field name; patterns in them stand for these names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EntryNames {
    None,
    /// Nodes of the network, which are cells of the column, too.
    NodeNumbers,
    /// Nodes of the network.
    Nodes,
    /// Rows of a model file.
    Rows,
    /// Columns of a model file.
    Columns,
    /// Rows, then columns.
    RowsAndColumns,
}

impl RowPlace {
    pub const fn number(placeholder: f64) -> Self {
        Self::with(Placeholder::Number(placeholder), NumberRange::Finite)
    }

    pub const fn whole(placeholder: u32) -> Self {
        Self::with(Placeholder::Whole(placeholder), NumberRange::Whole)
    }

    pub const fn flag() -> Self {
        Self::with(Placeholder::Whole(1), NumberRange::ZeroOrOne)
    }

    pub const fn left_out(numbers: NumberRange) -> Self {
        Self::with(Placeholder::LeftOut, numbers)
    }

    pub const fn with(placeholder: Placeholder, numbers: NumberRange) -> Self {
        Self {
            path: &[],
            is_plural: false,
            placeholder,
            size: FieldSize::One,
            numbers,
            names: EntryNames::None,
        }
    }

    /// Below the field, not the field itself.
    pub const fn at(self, path: &'static [At]) -> Self {
        Self { path, ..self }
    }

    pub const fn sized(self, size: FieldSize) -> Self {
        Self { size, ..self }
    }

    /// For `columns` only.
    pub const fn plural(self) -> Self {
        Self {
            is_plural: true,
            ..self
        }
    }

    pub const fn named(self, names: EntryNames) -> Self {
        Self { names, ..self }
    }

    pub fn is_at(&self, steps: &[Step<'_>], plural: bool) -> bool {
        let is_there = self.path.len() == steps.len()
            && self.path.iter().zip(steps).all(|(at, step)| at.is(*step));
        is_there && (plural || !self.is_plural)
    }
}
