//! A problem file with references to columns.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::json::{ColumnReference, PathStep, ShownPath, collect_references, insert, replace};
use super::place::Place;
use crate::data::{CostNames, NodeNames, ParameterColumns};
use crate::error::{Error, Result};
use crate::problem::arc_table::ArcTable;
use crate::problem::family::{EntryNames, FieldSize, PLACEHOLDER_KEY, Placeholder, ProblemFamily};
use crate::problem::{ProblemKind, ProblemSpec};

/// The key of the known part of costs.
pub(super) const KNOWN: &str = "known";

/// Most numbers of one parameter of a row: the problem of a row holds a copy of them.
const MAX_ROW_NUMBERS: usize = 1 << 22;

/// A problem file whose numbers come from columns in some places.
#[derive(Debug, Clone)]
pub(in crate::problem) struct Template {
    kind: String,
    family: &'static ProblemFamily,
    /// The file without known costs and the number of items.
    spec: Value,
    known: Option<Value>,
    items: Option<usize>,
    places: Vec<Place>,
}

/// Whether a problem file is a template: it refers to columns, has known costs, or leaves the
/// number of items to the table.
pub(in crate::problem) fn is_template(value: &Value) -> bool {
    let rules = &ProblemFamily::of_file(value).template;
    let lacks_items = |key: &str| rules.has_items_field && value.get(key).is_none();
    let is_open = rules.items_key.is_some_and(lacks_items);
    // A template within a specification that was written as a whole.
    let is_wrapped = value.get("kind").and_then(Value::as_str) == Some(ProblemSpec::PARAMETRIC);
    !is_wrapped && (is_open || has_column_references(value))
}

fn has_column_references(value: &Value) -> bool {
    match value {
        Value::Object(object) => {
            let is_top_level = object.contains_key("kind");
            ColumnReference::from_value(value).is_some()
                || (is_top_level && object.contains_key(KNOWN))
                || object.values().any(has_column_references)
        }
        Value::Array(values) => values.iter().any(has_column_references),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

impl Template {
    pub(super) fn new(template: &Value) -> Result<Self> {
        let Some(kind) = template.get("kind").and_then(Value::as_str) else {
            return Err(Error::setting("the problem file has no `kind`"));
        };
        let mut spec = template.clone();
        let object = spec
            .as_object_mut()
            .ok_or_else(|| Error::setting("a problem file is a table of keys and values"))?;
        let known = object.remove(KNOWN);
        let family = ProblemFamily::named(kind);
        let stated_items = take_items(family, object)?;
        if let Some(key) = family
            .template
            .items_key
            .filter(|_| family.template.has_items_field)
        {
            // Without a stated number it is known when the table is.
            object.insert(key.to_owned(), json!(stated_items.unwrap_or(0)));
        }
        let mut template = Self {
            kind: kind.to_owned(),
            family,
            spec,
            known,
            items: stated_items,
            places: Vec::new(),
        };
        let listed_items = template.listed_items();
        if let (Some(stated), Some(listed)) = (stated_items, listed_items)
            && stated != listed
        {
            return Err(Error::setting(format!(
                "{stated} items are stated, but {listed} are listed"
            )));
        }
        template.items = stated_items.or(listed_items);
        if template.items.is_some_and(|items| items > MAX_ROW_NUMBERS) {
            return Err(Error::setting(format!(
                "more than {MAX_ROW_NUMBERS} items cannot differ per row"
            )));
        }
        template.find_places()?;
        template.expand_nodes()?;
        Ok(template)
    }

    pub(super) fn kind(&self) -> &str {
        &self.kind
    }

    pub(super) fn family(&self) -> &'static ProblemFamily {
        self.family
    }

    /// The file with references, without known costs.
    pub(in crate::problem) fn spec(&self) -> &Value {
        &self.spec
    }

    /// The places that are filled with the numbers of a row.
    pub(in crate::problem) fn places(&self) -> &[Place] {
        &self.places
    }

    /// Checks that the number of items is known where it is needed.
    pub(super) fn check_items(&self) -> Result<()> {
        let rules = &self.family.template;
        let is_counted = |place: &Place| matches!(place.rule.size, FieldSize::Items);
        let is_needed = rules.has_items_field || self.places.iter().any(is_counted);
        if self.items.is_some() || !is_needed {
            return Ok(());
        }
        let key = rules.items_key.unwrap_or("items");
        Err(
            Error::setting("the problem file does not state the number of items").with_remedy(
                format!("add `{key} = ` and their number, or use a long table"),
            ),
        )
    }

    /// Whether a field has numbers of rows.
    pub(in crate::problem) fn has_places_in(&self, field: &str) -> bool {
        self.places.iter().any(|place| place.field() == field)
    }

    /// Whether rows say which items they have.
    pub(super) fn has_present(&self) -> bool {
        self.has_places_in("present")
    }

    /// Whether rows differ in the right-hand sides of a linear problem at most.
    pub(super) fn has_right_sides_only(&self) -> bool {
        self.places.iter().all(|place| place.field() == "rhs")
    }

    /// Whether instances of a long table may have different items.
    pub(super) fn items_may_differ(&self) -> bool {
        self.family.template.items_may_differ && self.listed_items().is_none()
    }

    pub(super) fn take_known(&mut self) -> Option<Value> {
        self.known.take()
    }

    /// The number of items that fixed numbers of the file imply.
    pub(super) fn listed_items(&self) -> Option<usize> {
        (self.family.template.listed_items)(&self.spec)
    }

    /// The names of the items that the file lists.
    pub(super) fn item_names(&self) -> Option<CostNames> {
        let items = self.spec.get("items").filter(|items| items.is_array())?;
        serde_json::from_value(items.clone()).ok()
    }

    fn find_places(&mut self) -> Result<()> {
        let mut found = Vec::new();
        collect_references(&self.spec, &mut Vec::new(), &mut found);
        for (path, reference) in found {
            let place = self.place(path, reference)?;
            self.places.push(place);
        }
        Ok(())
    }

    fn place(&self, path: Vec<PathStep>, reference: ColumnReference) -> Result<Place> {
        let shown = ShownPath(&path);
        let steps: Vec<_> = path.iter().map(PathStep::as_step).collect();
        let found = match path.first() {
            Some(PathStep::Key(field)) => {
                self.family
                    .row_place(field, &steps[1..], reference.is_plural)
            }
            Some(PathStep::Index(_)) | None => None,
        };
        let Some(mut rule) = found else {
            return Err(Error::setting(format!(
                "'{shown}' of a {} problem cannot come from a column",
                self.kind
            ))
            .with_remedy(format!("these can: {}", self.family.columns_text())));
        };
        if let FieldSize::ByFile(size) = rule.size {
            rule.size = size(&self.spec, self.items)?;
        }
        let count = match rule.size {
            FieldSize::One => 1,
            FieldSize::Items => self.items.unwrap_or(0),
            FieldSize::Fixed(count) => count,
            // Known once the model is read.
            FieldSize::Costs | FieldSize::ByFile(_) => 0,
        };
        if reference.is_plural && matches!(rule.size, FieldSize::One) {
            return Err(Error::setting(format!("'{shown}' is one number"))
                .with_remedy(format!("write {{ column = \"{}\" }}", reference.pattern)));
        }
        Ok(Place {
            path,
            columns: ParameterColumns {
                pattern: reference.pattern,
                count,
                names: None,
            },
            rule,
        })
    }

    /// The problem with placeholders.
    pub(super) fn base_spec(&self) -> Result<ProblemSpec> {
        let mut spec = self.spec.clone();
        for place in &self.places {
            replace(&mut spec, &place.path, place.placeholder());
            if matches!(place.rule.placeholder, Placeholder::Mark) {
                let mark = json!({ PLACEHOLDER_KEY: true });
                insert(&mut spec, &place.path[..1], mark);
            }
        }
        if let Some(key) = self
            .family
            .template
            .placeholder_key
            .filter(|_| !self.places.is_empty())
        {
            insert(&mut spec, &[PathStep::Key(key.to_owned())], json!(true));
        }
        serde_json::from_value(spec).map_err(|error| Error::setting(error.to_string()))
    }

    /// Lets the ends of paths be named: cells of a table then hold names of nodes.
    pub(super) fn name_nodes(&mut self, names: &Arc<NodeNames>) {
        for place in &mut self.places {
            if place.rule.names == EntryNames::NodeNumbers {
                place.columns.names = Some(Arc::clone(names));
            }
        }
    }

    /// Replaces patterns of names in a linear problem (`rhs = { "demand_*" = { column = "d_*" } }`)
    /// by one entry per row or column of the model that matches.
    pub(super) fn expand_patterns(&mut self, base: &dyn ProblemKind) -> Result<()> {
        if self.family.template.file_key.is_none() {
            return Ok(());
        }
        for place in std::mem::take(&mut self.places) {
            self.places.extend(place.of_costs(base));
        }
        self.expand_names(|names| match names {
            EntryNames::Rows => vec![base.model_parts().row_names()],
            EntryNames::RowsAndColumns => {
                vec![
                    base.model_parts().row_names(),
                    base.model_parts().column_names(),
                ]
            }
            _ => vec![base.model_parts().column_names()],
        })
    }

    /// Replaces patterns of nodes in a network (`supply = { "shop_*" = { column = "need_*" } }`).
    fn expand_nodes(&mut self) -> Result<()> {
        let is_of_nodes =
            |place: &Place| place.rule.names == EntryNames::Nodes && place.has_pattern();
        if !self.places.iter().any(is_of_nodes) {
            return Ok(());
        }
        let arcs = ArcTable::of_file(&self.spec)?;
        let nodes = arcs.nodes().list();
        self.expand_names(|_| vec![nodes])
    }

    /// Replaces places with patterns by one for each name that matches; `names_of` returns the
    /// names that each level of a field may have.
    fn expand_names<'n>(
        &mut self,
        names_of: impl Fn(EntryNames) -> Vec<&'n [String]>,
    ) -> Result<()> {
        let places = std::mem::take(&mut self.places);
        let (with_patterns, mut places): (Vec<Place>, Vec<Place>) =
            places.into_iter().partition(Place::has_pattern);
        for place in &with_patterns {
            replace(&mut self.spec, &place.path, None);
        }
        for place in with_patterns {
            let expanded = place.expand(&names_of(place.rule.names))?;
            for place in &expanded {
                let reference = json!({ "column": place.columns.pattern });
                insert(&mut self.spec, &place.path, reference);
            }
            places.extend(expanded);
        }
        self.places = places;
        Ok(())
    }
}

/// Removes the stated number of items, which only templates have.
fn take_items(family: &ProblemFamily, spec: &mut Map<String, Value>) -> Result<Option<usize>> {
    let Some(key) = family.template.items_key else {
        return Ok(None);
    };
    if let Some(names) = spec.get(key).and_then(Value::as_array)
        && family.template.items_have_names
    {
        // Names stay in the file: the problem has them.
        return Ok(Some(names.len()));
    }
    match spec.remove(key) {
        None => Ok(None),
        Some(value) => match value.as_u64().filter(|items| *items > 0) {
            Some(items) => Ok(Some(items as usize)),
            None => Err(Error::setting(format!(
                "{key} = {value} is not a whole number above 0"
            ))),
        },
    }
}
