//! What each problem kind tells the readers of problem files, row parameters, figures and Python:
//! one static value per kind.
//!
//! A kind is a file with its problem ([`ProblemKind`]), its [`KindDefinition`] and its `FAMILY`,
//! one line in the list of `problem/mod.rs`, and a page in `docs/problems/`. Whatever else needs
//! kinds goes through the families; no other file has the name of a kind.

mod starter;

use std::path::Path;
use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;

use super::layout::{DecisionLayout, DrawnNodes};
use super::parametric::{NumberRows, RowBuilder, Template};
pub(super) use super::row_place::{
    At, EntryNames, FieldSize, NumberRange, PLACEHOLDER_KEY, Placeholder, RowPlace, Step,
};
use super::{FAMILIES, ProblemKind};
use crate::data::NodeNames;
use crate::error::Result;

/// A number that fits wherever a capacity is checked against placeholders of weights and demands.
pub(super) const LARGE_CAPACITY: f64 = 1e9;

/// A problem kind: its name, its fields, and how rows of a table fill them.
///
/// Serialized, it is the description from which Python's constructors are made.
#[derive(Debug, Serialize)]
pub struct ProblemFamily {
    /// The `kind` of problem files.
    pub(super) name: &'static str,
    /// What it finds, in one sentence.
    pub(super) summary: &'static str,
    /// A problem file to begin with: a line in everyday words, then the keys. `{names}`, `{ones}`
    /// and `{count}` stand for the costs of a table. Empty for kinds that are not written by hand.
    #[serde(skip)]
    pub(super) starter: &'static str,
    /// The keys of problem files, in the order of the arguments in Python.
    pub(super) fields: &'static [KindField],
    /// The constructor in Python; `None` for kinds that are written as problem files only.
    pub(super) constructor: Option<KindConstructor>,
    /// Whether the program writes it into models, and users never write it.
    #[serde(skip)]
    pub(super) is_stored_only: bool,
    /// What an infinite number of a TOML file becomes.
    #[serde(skip)]
    pub(super) infinity: InfinityRule,
    #[serde(skip)]
    pub(super) template: TemplateRules,
}

/// A key of problem files.
#[derive(Debug, Serialize)]
pub(super) struct KindField {
    pub name: &'static str,
    /// Its type in the words of numpydoc.
    pub shape: &'static str,
    /// Empty if the next field has the same type and description.
    pub doc: &'static str,
    /// The arguments of Python that it is made of; empty if it is one of the same name.
    pub arguments: &'static [&'static str],
    /// The type of the argument for type checkers.
    pub annotation: &'static str,
    /// The default of the argument as Python writes it; `None` if it is required.
    pub default: Option<&'static str>,
    pub form: ArgumentForm,
    /// The numbers of it that may come from columns of a table.
    #[serde(skip)]
    pub rows: &'static [RowPlace],
}

/// How an argument of Python becomes the value of a problem file.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ArgumentForm {
    /// Arrays become lists.
    Plain,
    /// A whole number.
    Index,
    /// A truth value.
    Flag,
    /// A truth value that is left out if it is false.
    FlagIfTrue,
    /// "minimize" or "maximize".
    Sense,
    /// A table, which becomes one list, row by row.
    Cells,
    /// The same for bounds, which may be infinite.
    FlowBounds,
    /// One list per dimension.
    ItemWeights,
    /// One number per dimension.
    Capacities,
}

/// The constructor of a kind in Python: its documentation in the sections of numpydoc.
#[derive(Debug, Serialize)]
pub(super) struct KindConstructor {
    pub summary: &'static str,
    pub details: &'static str,
    /// How many arguments may be given by position.
    pub positional: usize,
    /// When a `ValueError` is raised; empty if there is nothing to say.
    pub raises: &'static str,
    pub notes: &'static str,
    pub examples: &'static [&'static str],
}

impl KindConstructor {
    pub const NEW: Self = Self {
        summary: "",
        details: "",
        positional: 0,
        raises: "",
        notes: "",
        examples: &[],
    };
}

/// What an infinite number of a TOML file becomes in JSON, which has none.
#[derive(Debug, Clone, Copy)]
pub(super) enum InfinityRule {
    /// `"inf"` and `"-inf"`, which the kind reads as numbers.
    AsText,
    /// A bound that is left out.
    AsMissingBound,
    /// An error.
    Refused,
}

/// How problem files of a kind refer to columns of a table.
#[derive(Debug)]
pub(super) struct TemplateRules {
    /// The key that states the number of items if all their numbers come from columns.
    pub items_key: Option<&'static str>,
    /// Whether a list under that key has the names of the items, which the problem keeps.
    pub items_have_names: bool,
    /// Whether the problem itself has that key: without it, a file is one for any table.
    pub has_items_field: bool,
    /// The number of items that fixed numbers of a file imply.
    pub listed_items: fn(&Value) -> Option<usize>,
    /// Whether instances of a long table may have different items.
    pub items_may_differ: bool,
    /// Whether columns with the names of costs are used in the order of the costs.
    pub has_order_of_costs: bool,
    /// Whether costs are those of steps in time, so their order matters.
    pub costs_are_steps: bool,
    /// Whether quantities such as demands are predicted, not costs.
    pub predicts_quantities: bool,
    /// A key that is set to `true` in the problem with placeholders.
    pub placeholder_key: Option<&'static str>,
    /// The key that names a model file, whose rows and columns have names.
    pub file_key: Option<&'static str>,
    /// What may differ per row, for messages, if it is not a list of fields.
    pub columns_text: Option<&'static str>,
}

impl ProblemFamily {
    /// A kind without fields.
    pub(super) const NEW: Self = Self {
        name: "",
        summary: "",
        starter: "",
        fields: &[],
        constructor: None,
        is_stored_only: false,
        infinity: InfinityRule::Refused,
        template: TemplateRules::NEW,
    };

    /// All kinds, in the order of messages.
    pub fn all() -> &'static [&'static Self] {
        FAMILIES
    }

    /// The name in problem files.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// What it finds, in one sentence.
    pub fn summary(&self) -> &'static str {
        self.summary
    }

    /// The family of a `kind`; one without fields for kinds that do not exist.
    pub(super) fn named(kind: &str) -> &'static Self {
        static UNKNOWN: ProblemFamily = ProblemFamily::NEW;
        let found = FAMILIES.iter().find(|family| family.name == kind);
        found.copied().unwrap_or(&UNKNOWN)
    }

    /// The family of a problem file in JSON.
    pub(super) fn of_file(file: &Value) -> &'static Self {
        Self::named(file.get("kind").and_then(Value::as_str).unwrap_or_default())
    }

    /// The fields that may differ per row, for messages.
    pub(super) fn columns_text(&self) -> String {
        if let Some(text) = self.template.columns_text {
            return text.to_owned();
        }
        let fields = self.fields.iter().filter(|field| !field.rows.is_empty());
        let names: Vec<&str> = fields.map(|field| field.name).collect();
        match names.as_slice() {
            [] => "nothing".to_owned(),
            names => names.join(", "),
        }
    }

    /// The rule of a place, by its field and the steps below it; `None` if it cannot differ per
    /// row.
    pub(super) fn row_place(
        &self,
        field: &str,
        steps: &[Step<'_>],
        plural: bool,
    ) -> Option<RowPlace> {
        let field = self.fields.iter().find(|known| known.name == field)?;
        let mut places = field.rows.iter();
        places.find(|place| place.is_at(steps, plural)).copied()
    }
}

fn no_listed_items(_file: &Value) -> Option<usize> {
    None
}

impl TemplateRules {
    pub const NEW: Self = Self {
        items_key: None,
        items_have_names: false,
        has_items_field: false,
        listed_items: no_listed_items,
        items_may_differ: false,
        has_order_of_costs: false,
        costs_are_steps: false,
        predicts_quantities: false,
        placeholder_key: None,
        file_key: None,
        columns_text: None,
    };
}

impl KindField {
    /// An argument that has to be given.
    pub const fn required(name: &'static str, shape: &'static str, doc: &'static str) -> Self {
        Self {
            name,
            shape,
            doc,
            arguments: &[],
            annotation: "Any",
            default: None,
            form: ArgumentForm::Plain,
            rows: &[],
        }
    }

    /// An argument that is `None` by default.
    pub const fn optional(name: &'static str, shape: &'static str, doc: &'static str) -> Self {
        Self {
            default: Some("None"),
            ..Self::required(name, shape, doc)
        }
    }

    /// The objective sense; `default` as Python writes it.
    pub const fn sense(default: &'static str) -> Self {
        let shape = match default.as_bytes()[2] {
            b'i' => "{\"minimize\", \"maximize\"}, default \"minimize\"",
            _ => "{\"minimize\", \"maximize\"}, default \"maximize\"",
        };
        Self {
            annotation: "Sense",
            default: Some(default),
            form: ArgumentForm::Sense,
            ..Self::required("sense", shape, "Objective sense.")
        }
    }

    /// Which items exist, one number each.
    pub const fn present(shape: &'static str, doc: &'static str) -> Self {
        const LIST_OR_ENTRIES: &[RowPlace] = &[
            RowPlace::flag().sized(FieldSize::Items),
            RowPlace::flag().at(&[At::Index]),
        ];
        Self::optional("present", shape, doc).rows(LIST_OR_ENTRIES)
    }

    /// A key that only problem files have.
    pub const fn in_files(name: &'static str) -> Self {
        Self::required(name, "", "")
    }

    pub const fn annotated(self, annotation: &'static str) -> Self {
        Self { annotation, ..self }
    }

    pub const fn form(self, form: ArgumentForm) -> Self {
        Self { form, ..self }
    }

    pub const fn default(self, default: &'static str) -> Self {
        Self {
            default: Some(default),
            ..self
        }
    }

    pub const fn made_of(self, arguments: &'static [&'static str]) -> Self {
        Self { arguments, ..self }
    }

    pub const fn rows(self, rows: &'static [RowPlace]) -> Self {
        Self { rows, ..self }
    }
}

/// A problem as a problem file describes it; each kind has one type.
pub(super) trait KindDefinition {
    /// Builds the problem.
    ///
    /// # Errors
    /// When a file cannot be read, a linear problem is invalid, or the problem needs a feature that
    /// is missing.
    fn build(&self) -> Result<Arc<dyn ProblemKind>>;

    /// Builds the problem with placeholders, which may be infeasible.
    ///
    /// # Errors
    /// As [`Self::build`].
    fn build_base(&self) -> Result<Arc<dyn ProblemKind>> {
        self.build()
    }

    /// Builds the problem from the content of its model file, which need not exist any more.
    ///
    /// # Errors
    /// As [`Self::build`].
    fn build_from(&self, _content: Vec<u8>) -> Result<Arc<dyn ProblemKind>> {
        self.build()
    }

    /// Builds the problems of rows without reading the file again for each; `None` if that is fast
    /// enough.
    ///
    /// # Errors
    /// When the references of the template do not fit together.
    fn row_builder(
        &self,
        template: &Template,
        _base: &dyn ProblemKind,
    ) -> Result<Option<Box<dyn RowBuilder>>> {
        Ok(self
            .number_rows()
            .and_then(|kind| kind.row_builder(template)))
    }

    /// `self`, if it builds row problems from a copy of its numbers
    /// ([`RowParametric`](super::parametric::RowParametric)).
    fn number_rows(&self) -> Option<&dyn NumberRows> {
        None
    }

    /// The names of the nodes that cells of a table may hold.
    fn node_names(&self) -> Option<&Arc<NodeNames>> {
        None
    }

    /// Whether instances of a long table may have different items.
    fn items_may_differ(&self) -> bool {
        false
    }

    /// The model file.
    fn file(&self) -> Option<&Path> {
        None
    }

    /// Replaces the path of the model file.
    fn set_file(&mut self, _file: &Path) {}

    /// How decisions are drawn, if that does not need coordinates of nodes.
    fn layout(&self) -> Option<DecisionLayout> {
        None
    }

    /// The nodes that decisions are drawn with, if these can have coordinates.
    fn drawn_nodes(&self) -> Option<DrawnNodes<'_>> {
        None
    }
}

#[cfg(test)]
mod tests;
