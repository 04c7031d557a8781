//! A problem file with references to columns.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::ParametricProblem;
use super::fields::{Field, FieldSize, Numbers, fields_of};
use super::patterns::is_pattern;
use crate::data::{
    CostNames, Dataset, NodeNames, ParameterColumns, RowParameters, in_order_of_costs,
};
use crate::error::{Error, Result};
use crate::problem::arc_table::ArcTable;
use crate::problem::graph_path::node_placeholder;
use crate::problem::storage::PLACEHOLDER_FIELD;
use crate::problem::{ProblemKind, ProblemSpec};
use crate::text::matches_pattern;

/// The key of the known part of costs.
const KNOWN: &str = "known";
/// The kinds whose number of items may come from the table, and the keys that state it otherwise.
const ITEM_COUNTS: [(&str, &str); 3] = [
    ("knapsack", "items"),
    ("top_k", "items"),
    ("cvrp", "customers"),
];

/// Most numbers of one parameter of a row: the problem of a row holds a copy of them.
const MAX_ROW_NUMBERS: usize = 1 << 22;

/// One step from the root of a problem file to a value in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PathStep {
    Key(String),
    Index(usize),
}

/// A borrowed [`PathStep`], for patterns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step<'a> {
    Key(&'a str),
    Index(usize),
}

impl PathStep {
    pub(super) fn as_step(&self) -> Step<'_> {
        match self {
            Self::Key(key) => Step::Key(key),
            Self::Index(index) => Step::Index(*index),
        }
    }
}

/// A path as `weights[0]` or `rhs.demand_north`.
pub(super) struct ShownPath<'a>(pub &'a [PathStep]);

impl fmt::Display for ShownPath<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, step) in self.0.iter().enumerate() {
            match step {
                PathStep::Key(key) if position == 0 => write!(f, "{key}")?,
                PathStep::Key(key) => write!(f, ".{key}")?,
                PathStep::Index(index) => write!(f, "[{index}]")?,
            }
        }
        Ok(())
    }
}

/// A reference to columns in a problem file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ColumnReference {
    pub pattern: String,
    /// `columns`, not `column`.
    pub is_plural: bool,
}

impl ColumnReference {
    /// The reference that a value is, if it is one.
    pub(super) fn from_value(value: &Value) -> Option<Self> {
        let object = value.as_object().filter(|object| object.len() == 1)?;
        let (key, pattern) = object.iter().next()?;
        let is_plural = match key.as_str() {
            "column" => false,
            "columns" => true,
            _ => return None,
        };
        Some(Self {
            pattern: pattern.as_str()?.to_owned(),
            is_plural,
        })
    }
}

/// A place of the template that is filled with the numbers of a row.
#[derive(Debug, Clone)]
pub(super) struct Place {
    pub path: Vec<PathStep>,
    pub columns: ParameterColumns,
    pub field: Field,
}

/// A problem file whose numbers come from columns in some places.
#[derive(Debug, Clone)]
pub(super) struct Template {
    kind: String,
    /// The file without known costs and the number of items.
    spec: Value,
    known: Option<Value>,
    items: Option<usize>,
    places: Vec<Place>,
}

/// Whether a problem file is a template: it refers to columns, has known costs, or leaves the
/// number of items to the table.
pub(in crate::problem) fn is_template(value: &Value) -> bool {
    let kind = value.get("kind").and_then(Value::as_str);
    let is_open = kind == Some("top_k") && value.get("items").is_none();
    // A template within a specification that was written as a whole.
    let is_wrapped = kind == Some("parametric");
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
        let stated_items = take_items(kind, object)?;
        if kind == "top_k" {
            // Unlike other kinds it states the number of items in any case; without one it is
            // known when the table is.
            object.insert("items".into(), json!(stated_items.unwrap_or(0)));
        }
        let mut template = Self {
            kind: kind.to_owned(),
            spec,
            known,
            items: stated_items,
            places: Vec::new(),
        };
        let listed_items = template.items_of_lists();
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

    /// The file with references, without known costs.
    pub(super) fn spec(&self) -> &Value {
        &self.spec
    }

    pub(super) fn places(&self) -> &[Place] {
        &self.places
    }

    /// Checks that the number of items is known where it is needed.
    pub(super) fn check_items(&self) -> Result<()> {
        let is_counted = |place: &Place| place.field.size == FieldSize::Items;
        let is_needed = self.kind == "top_k" || self.places.iter().any(is_counted);
        if self.items.is_some() || !is_needed {
            return Ok(());
        }
        let found = ITEM_COUNTS.iter().find(|(kind, _)| *kind == self.kind);
        let key = found.map_or("items", |(_, key)| key);
        Err(
            Error::setting("the problem file does not state the number of items").with_remedy(
                format!("add `{key} = ` and their number, or use a long table"),
            ),
        )
    }

    /// Whether rows say which items they have.
    pub(super) fn has_present(&self) -> bool {
        self.places.iter().any(|place| place.is_in_field("present"))
    }

    /// Whether rows differ in the right-hand sides of a linear problem at most.
    pub(super) fn has_right_sides_only(&self) -> bool {
        self.places.iter().all(|place| place.is_in_field("rhs"))
    }

    pub(super) fn take_known(&mut self) -> Option<Value> {
        self.known.take()
    }

    /// Dimensions of a knapsack: a list of numbers, or of columns with one number each, is one row
    /// of weights unless there are several capacities.
    fn num_dimensions(&self) -> usize {
        let rows = self.spec.get("weights").and_then(Value::as_array);
        let has_rows = rows.is_some_and(|rows| rows.iter().any(Value::is_array));
        match (self.spec.get("capacity"), rows) {
            (Some(Value::Array(capacities)), _) => capacities.len(),
            (_, Some(rows)) if has_rows => rows.len(),
            _ => 1,
        }
    }

    /// The number of items that fixed numbers of the file imply.
    fn items_of_lists(&self) -> Option<usize> {
        let spec = &self.spec;
        let number = |key: &str| spec.get(key)?.as_u64().map(|number| number as usize);
        let length = |value: &Value| value.as_array().map(Vec::len);
        match self.kind.as_str() {
            "top_k" => length(spec.get("present")?),
            "tsp" => number("nodes"),
            "storage" => number("steps"),
            "spanning_tree" => match number("nodes") {
                Some(nodes) => nodes
                    .checked_mul(nodes.checked_sub(1)?)
                    .map(|pairs| pairs / 2),
                None => length(spec.get("edges")?),
            },
            "cvrp" => length(spec.get("demands")?).or_else(|| length(spec.get("present")?)),
            "grid_path" => {
                let grid = spec.get("grid")?.as_array()?;
                let [rows, cols] = [grid.first()?.as_u64()?, grid.get(1)?.as_u64()?];
                let arcs = rows.checked_mul(cols.checked_sub(1)?)?;
                arcs.checked_add(cols.checked_mul(rows.checked_sub(1)?)?)
                    .map(|arcs| arcs as usize)
            }
            "multiple_choice_knapsack" => {
                let stated = spec.get("groups").and_then(Value::as_array);
                let sizes: Option<Vec<usize>> = match stated {
                    Some(sizes) => {
                        let size = |value: &Value| value.as_u64().map(|size| size as usize);
                        sizes.iter().map(size).collect()
                    }
                    None => spec
                        .get("weights")?
                        .as_array()?
                        .iter()
                        .map(length)
                        .collect(),
                };
                let mut sizes = sizes?.into_iter();
                sizes.try_fold(0_usize, usize::checked_add)
            }
            "min_cost_flow" => length(spec.get("arcs")?),
            "transport" => {
                let count = |size: FieldSize| self.count_of(size).ok();
                count(FieldSize::Sources)?.checked_mul(count(FieldSize::Destinations)?)
            }
            "assignment" => {
                let side = |key: &str| number(key).or_else(|| length(spec.get(key)?));
                side("agents")?.checked_mul(side("tasks")?)
            }
            "graph_path" => match spec.get("grid").and_then(Value::as_array) {
                Some(grid) => {
                    let [rows, cols] = [grid.first()?.as_u64()?, grid.get(1)?.as_u64()?];
                    rows.checked_mul(cols).map(|nodes| nodes as usize)
                }
                None => length(spec.get("arcs")?),
            },
            "knapsack" => {
                let weights = spec.get("weights").and_then(Value::as_array);
                let from_weights = weights.and_then(|rows| match rows.first()? {
                    Value::Number(_) => Some(rows.len()),
                    _ => rows.iter().find_map(length),
                });
                from_weights.or_else(|| length(spec.get("present")?))
            }
            _ => None,
        }
    }

    /// How many nodes, sources or destinations there are.
    fn count_of(&self, size: FieldSize) -> Result<usize> {
        let side = |lists: [&str; 2]| {
            let stated = lists.iter().filter_map(|key| self.spec.get(key));
            let count = |value: &Value| match value {
                Value::Array(list) => Some(list.len()),
                _ => value.as_u64().map(|count| count as usize),
            };
            stated.filter_map(count).next().ok_or_else(|| {
                let key = lists[0];
                Error::setting(format!(
                    "the problem file does not state the number of {key}"
                ))
                .with_remedy(format!("add `{key} = ` and their number or names"))
            })
        };
        match size {
            FieldSize::Sources => side(["sources", "supply"]),
            FieldSize::Destinations => side(["destinations", "demand"]),
            _ => Ok(self.arcs()?.nodes().list().len()),
        }
    }

    /// The arcs of a network.
    fn arcs(&self) -> Result<ArcTable> {
        let arcs = self.spec.get("arcs").cloned().unwrap_or_default();
        serde_json::from_value(arcs).map_err(|error| Error::setting(error.to_string()))
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
        let Some(mut field) = Field::at(&self.kind, &path, reference.is_plural) else {
            return Err(Error::setting(format!(
                "'{shown}' of a {} problem cannot come from a column",
                self.kind
            ))
            .with_remedy(format!("these can: {}", fields_of(&self.kind))));
        };
        // `weights = [{ column = "a" }, { column = "b" }]`: one number per item, each from a
        // column of its own, unless there are as many capacities.
        let rows = self.spec.get("weights").and_then(Value::as_array);
        let is_weight = matches!(
            path.as_slice(),
            [PathStep::Key(key), PathStep::Index(_)] if key == "weights"
        );
        let is_listed = rows.map(Vec::len) == self.items && self.items.is_some();
        if is_weight && !reference.is_plural && is_listed && self.num_dimensions() == 1 {
            field.size = FieldSize::One;
        }
        let count = match field.size {
            FieldSize::One => 1,
            FieldSize::Items => self.items.unwrap_or(0),
            FieldSize::Nodes | FieldSize::Sources | FieldSize::Destinations => {
                self.count_of(field.size)?
            }
            // Known once the model is read.
            FieldSize::Costs => 0,
            // One capacity per dimension.
            FieldSize::Fixed(0) => self.num_dimensions(),
            FieldSize::Fixed(count) => count,
        };
        if count == 1 && reference.is_plural && field.size == FieldSize::One {
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
            field,
        })
    }

    /// The problem with placeholders.
    pub(super) fn base_spec(&self) -> Result<ProblemSpec> {
        let mut spec = self.spec.clone();
        for place in &self.places {
            let count = place.columns.count.max(1);
            let placeholder = match &place.field.placeholder {
                Some(number) if place.field.size == FieldSize::One => Some(number.clone()),
                Some(number) => Some(json!(vec![number; count])),
                None => None,
            };
            replace(&mut spec, &place.path, placeholder);
            if self.kind == "graph_path"
                && let Some(PathStep::Key(end)) = place.path.first()
                && matches!(end.as_str(), "source" | "target")
            {
                insert(&mut spec, &place.path[..1], node_placeholder());
            }
        }
        if self.kind == "storage" && !self.places.is_empty() {
            let path = [PathStep::Key(PLACEHOLDER_FIELD.to_owned())];
            insert(&mut spec, &path, json!(true));
        }
        serde_json::from_value(spec).map_err(|error| Error::setting(error.to_string()))
    }

    /// Lets the ends of paths be named: cells of a table then hold names of nodes.
    pub(super) fn name_nodes(&mut self, names: &Arc<NodeNames>) {
        for place in &mut self.places {
            let key = place.path.first().map(PathStep::as_step);
            if matches!(key, Some(Step::Key("source" | "target"))) {
                place.columns.names = Some(Arc::clone(names));
            }
        }
    }

    /// Replaces patterns of names in a linear problem (`rhs = { "demand_*" = { column = "d_*" } }`)
    /// by one entry per row or column of the model that matches.
    pub(super) fn expand_patterns(&mut self, base: &dyn ProblemKind) -> Result<()> {
        if self.kind != "linear" {
            return Ok(());
        }
        for place in std::mem::take(&mut self.places) {
            self.places.extend(place.of_costs(base));
        }
        self.expand_names(|field| match field {
            "rhs" | "row_lower" | "row_upper" => vec![base.row_names()],
            "coefficients" => vec![base.row_names(), base.column_names()],
            _ => vec![base.column_names()],
        })
    }

    /// Replaces patterns of nodes in a network (`supply = { "shop_*" = { column = "need_*" } }`).
    fn expand_nodes(&mut self) -> Result<()> {
        if self.kind != "min_cost_flow" || !self.places.iter().any(has_pattern) {
            return Ok(());
        }
        let arcs = self.arcs()?;
        let nodes = arcs.nodes().list();
        self.expand_names(|_| vec![nodes])
    }

    /// Replaces places with patterns by one for each name that matches; `names_of` returns the
    /// names that each level of a field may have.
    fn expand_names<'n>(&mut self, names_of: impl Fn(&str) -> Vec<&'n [String]>) -> Result<()> {
        let places = std::mem::take(&mut self.places);
        let (with_patterns, mut places): (Vec<Place>, Vec<Place>) =
            places.into_iter().partition(has_pattern);
        for place in &with_patterns {
            replace(&mut self.spec, &place.path, None);
        }
        for place in with_patterns {
            let names = match place.path.first() {
                Some(PathStep::Key(field)) => names_of(field),
                Some(PathStep::Index(_)) | None => Vec::new(),
            };
            let expanded = place.expand(&names)?;
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

/// Replaces patterns by the names of the columns that match, in the order of the table: a model
/// then finds its columns by name in other tables, whatever their order.
///
/// Where the columns have the names of the costs with another beginning or end, they are in the
/// order of the costs.
fn name_columns(template: &mut Value, parameters: &RowParameters, costs: &CostNames) -> Result<()> {
    let matching = |pattern: &str| -> Vec<String> {
        let is_single = |name: &&str| parameters.width(name) == Some(1);
        let names = parameters
            .names()
            .filter(|name| matches_pattern(pattern, name));
        let names: Vec<&str> = names.collect();
        if pattern.contains('*') && names.len() > 1 && names.iter().all(is_single) {
            names.into_iter().map(String::from).collect()
        } else {
            Vec::new()
        }
    };
    let parsed = Template::new(template)?;
    // Costs are later reordered to names that the problem has.
    let own_names = item_names(&parsed.spec);
    let costs = own_names.as_ref().unwrap_or(costs);
    let has_order_of_table = matches!(
        parsed.kind.as_str(),
        "knapsack" | "multiple_choice_knapsack" | "top_k" | "storage"
    );
    let ordered = |names: Vec<String>| {
        let of_costs = in_order_of_costs(&names, costs).filter(|_| has_order_of_table);
        of_costs.unwrap_or(names)
    };
    if parsed.kind == "linear" {
        // Its patterns stand for names of the model.
        return Ok(());
    }
    for place in parsed.places {
        let names = matching(&place.columns.pattern);
        if names.len() == place.columns.count && names.len() > 1 {
            let names = ordered(names);
            let references: Vec<Value> =
                names.iter().map(|name| json!({ "column": name })).collect();
            replace(template, &place.path, Some(Value::Array(references)));
        }
    }
    if let Some(known) = template.get_mut(KNOWN)
        && let Some(pattern) = known.get("columns").and_then(Value::as_str)
    {
        let factor = known.get("factor").cloned().unwrap_or(json!(1));
        let names = ordered(matching(pattern));
        if !names.is_empty() {
            let reference = |name: &String| json!({ "column": name, "factor": factor });
            *known = Value::Array(names.iter().map(reference).collect());
        }
    }
    Ok(())
}

/// Removes the stated number of items, which only templates have.
fn take_items(kind: &str, spec: &mut Map<String, Value>) -> Result<Option<usize>> {
    let Some((_, key)) = ITEM_COUNTS.iter().find(|(of_kind, _)| *of_kind == kind) else {
        return Ok(None);
    };
    if let Some(names) = spec.get(*key).and_then(Value::as_array)
        && kind == "knapsack"
    {
        // Names stay in the file: the problem has them.
        return Ok(Some(names.len()));
    }
    match spec.remove(*key) {
        None => Ok(None),
        Some(value) => match value.as_u64().filter(|items| *items > 0) {
            Some(items) => Ok(Some(items as usize)),
            None => Err(Error::setting(format!(
                "{key} = {value} is not a whole number above 0"
            ))),
        },
    }
}

/// The names of the items that a problem file lists.
fn item_names(spec: &Value) -> Option<CostNames> {
    let items = spec.get("items").filter(|items| items.is_array())?;
    serde_json::from_value(items.clone()).ok()
}

fn collect_references(
    value: &Value,
    path: &mut Vec<PathStep>,
    found: &mut Vec<(Vec<PathStep>, ColumnReference)>,
) {
    if let Some(reference) = ColumnReference::from_value(value) {
        found.push((path.clone(), reference));
        return;
    }
    match value {
        Value::Object(object) => {
            for (key, value) in object {
                path.push(PathStep::Key(key.clone()));
                collect_references(value, path, found);
                path.pop();
            }
        }
        Value::Array(values) => {
            for (index, value) in values.iter().enumerate() {
                path.push(PathStep::Index(index));
                collect_references(value, path, found);
                path.pop();
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Writes a value at a path that exists; `None` removes its key, and tables that are then empty.
fn replace(root: &mut Value, path: &[PathStep], value: Option<Value>) {
    let Some((last, parents)) = path.split_last() else {
        return;
    };
    let Some(parent) = step_to(root, parents) else {
        return;
    };
    match (last, value) {
        (PathStep::Key(key), None) => {
            if let Some(object) = parent.as_object_mut() {
                object.remove(key);
                if object.is_empty() {
                    replace(root, parents, None);
                }
            }
        }
        // A list with a number that is left out is left out as a whole.
        (PathStep::Index(_), None) => replace(root, parents, None),
        (PathStep::Key(key), Some(value)) => {
            if let Some(slot) = parent.get_mut(key) {
                *slot = value;
            }
        }
        (PathStep::Index(index), Some(value)) => {
            if let Some(slot) = parent.get_mut(index) {
                *slot = value;
            }
        }
    }
}

fn step_to<'v>(root: &'v mut Value, path: &[PathStep]) -> Option<&'v mut Value> {
    path.iter().try_fold(root, |value, step| match step {
        PathStep::Key(key) => value.get_mut(key),
        PathStep::Index(index) => value.get_mut(*index),
    })
}

/// Writes a value at a path of keys, creating the tables on the way.
fn insert(root: &mut Value, path: &[PathStep], value: Value) {
    let mut node = root;
    for step in path {
        let PathStep::Key(key) = step else { return };
        if !node.is_object() {
            *node = json!({});
        }
        let Some(object) = node.as_object_mut() else {
            return;
        };
        node = object.entry(key.clone()).or_insert(Value::Null);
    }
    *node = value;
}

/// Whether a place has patterns of names.
fn has_pattern(place: &Place) -> bool {
    let is_named = |step: &PathStep| matches!(step, PathStep::Key(name) if is_pattern(name));
    place.path.iter().any(is_named)
}

impl Place {
    /// Whether this is in the field of the problem file with this name.
    fn is_in_field(&self, name: &str) -> bool {
        self.path.first().map(PathStep::as_step) == Some(Step::Key(name))
    }

    /// A list with one number per cost of a linear problem: each cost has the column whose name has
    /// that of the cost in the place of `*`. Other places stay as they are.
    fn of_costs(mut self, base: &dyn ProblemKind) -> Vec<Self> {
        if self.field.size != FieldSize::Costs {
            return vec![self];
        }
        let names = base.cost_names();
        match names.filter(|_| self.columns.pattern.matches('*').count() == 1) {
            Some(names) => names
                .iter()
                .map(|name| Self {
                    path: [self.path.clone(), vec![PathStep::Key(name.to_string())]].concat(),
                    columns: ParameterColumns {
                        pattern: self.columns.pattern.replace('*', &name),
                        count: 1,
                        names: None,
                    },
                    field: Field {
                        size: FieldSize::One,
                        ..self.field.clone()
                    },
                })
                .collect(),
            None => {
                self.columns.count = base.num_costs();
                vec![self]
            }
        }
    }

    /// Whether these are weights of items.
    pub(super) fn has_weights(&self) -> bool {
        let key = self.path.first().map(PathStep::as_step);
        key == Some(Step::Key("weights"))
    }

    /// Whether this is one number of a row.
    pub(super) fn is_one_number(&self) -> bool {
        self.field.size == FieldSize::One
    }

    /// The name of the node that a number of this parameter stands for.
    fn node_name(&self, value: f64) -> Option<&str> {
        let names = self.columns.names.as_ref()?;
        let place = names.place_of_number(value)?;
        names.list().get(place as usize).map(String::as_str)
    }

    /// The column of the parameter and its numbers in a row, for messages.
    pub(super) fn describe(&self, values: &[f64]) -> String {
        let (path, column) = (ShownPath(&self.path), &self.columns.pattern);
        match values {
            [value] => match self.node_name(*value) {
                Some(name) => format!("{path} = '{name}' (column {column})"),
                None => format!("{path} = {value} (column {column})"),
            },
            _ => format!("{path} from {column}"),
        }
    }

    /// Checks the numbers of a row.
    ///
    /// # Errors
    /// When a number cannot stand in this place, as a message.
    pub(super) fn check(&self, values: &[f64]) -> std::result::Result<(), String> {
        // A lower bound that is infinite is −∞, an upper bound ∞.
        let is_lower = self
            .path
            .iter()
            .any(|step| matches!(step, PathStep::Key(key) if key == "lower" || key == "row_lower"));
        let impossible = if is_lower {
            f64::INFINITY
        } else {
            f64::NEG_INFINITY
        };
        let needed = |value: f64| match self.field.numbers {
            Numbers::Bound if value == impossible => Some("a bound of any number"),
            Numbers::Finite if !value.is_finite() => Some("a finite number"),
            Numbers::Whole if !(value >= 0.0 && value.fract() == 0.0 && value < 1e15) => {
                Some("a whole number of 0 or more")
            }
            Numbers::ZeroOrOne if value != 0.0 && value != 1.0 => Some("0 or 1"),
            _ => None,
        };
        for value in values {
            if let Some(kind) = needed(*value) {
                let (path, column) = (ShownPath(&self.path), &self.columns.pattern);
                return Err(format!("{path} = {value} (column {column}) is not {kind}"));
            }
        }
        Ok(())
    }

    /// Writes the numbers of a row into a problem file.
    ///
    /// # Errors
    /// When a file cannot hold a number, as a message.
    pub(super) fn write(
        &self,
        spec: &mut Value,
        values: &[f64],
    ) -> std::result::Result<(), String> {
        let mut numbers = Vec::with_capacity(values.len());
        for value in values {
            numbers.push(match self.field.numbers {
                // A missing bound is infinite.
                Numbers::Bound if value.is_infinite() => Value::Null,
                Numbers::Whole | Numbers::ZeroOrOne => json!(*value as u64),
                Numbers::Bound | Numbers::Finite => json!(*value),
            });
        }
        let value = match (self.field.size, numbers.pop()) {
            (FieldSize::One, Some(number)) => number,
            (_, Some(last)) => {
                numbers.push(last);
                Value::Array(numbers)
            }
            (_, None) => return Err("a parameter without values".into()),
        };
        replace(spec, &self.path, Some(value));
        Ok(())
    }
}

impl ProblemSpec {
    /// The columns of the table that the feasible set of a row and its known costs depend on; the
    /// count of one that has as many numbers as the table has items is 0. Empty for problems
    /// without parameters per row.
    ///
    /// # Errors
    /// When a reference is in a place that cannot differ per row.
    pub fn parameter_columns(&self) -> Result<Vec<ParameterColumns>> {
        let Self::Parametric { template } = self else {
            return Ok(Vec::new());
        };
        let mut template = Template::new(template)?;
        let mut columns: Vec<ParameterColumns> = template
            .places()
            .iter()
            .map(|place| place.columns.clone())
            .collect();
        if let Some(known) = template.take_known() {
            super::known::collect_columns(&known, &mut columns);
        }
        Ok(columns)
    }

    /// The problem with placeholders for the numbers of rows, which has the items, nodes and arcs
    /// of all rows. `None` for problems without parameters per row, and where rows have different
    /// items.
    pub fn with_placeholders(&self) -> Option<Self> {
        let Self::Parametric { template } = self else {
            return None;
        };
        let template = Template::new(template).ok()?;
        if template.has_present() {
            return None;
        }
        template.base_spec().ok()
    }

    /// Whether the number of items is not known before the table is.
    pub fn has_open_items(&self) -> bool {
        match self {
            Self::Parametric { template } => {
                Template::new(template).is_ok_and(|template| template.check_items().is_err())
            }
            _ => false,
        }
    }

    /// Whether the instances of a long table may have different items: those of a linear problem
    /// have names, and other problems have no number that belongs to an item in a fixed place.
    pub(crate) fn items_may_differ(&self) -> bool {
        match self {
            Self::Linear(_) => true,
            Self::TopK(top_k) => top_k.present_costs().is_none(),
            Self::Parametric { template } => {
                Template::new(template).is_ok_and(|template| match template.kind() {
                    "linear" => true,
                    "top_k" | "knapsack" => template.items_of_lists().is_none(),
                    _ => false,
                })
            }
            _ => false,
        }
    }

    /// The problem for the instances of a table: with its number of items, where the problem file
    /// does not state it, and with absent items, where the instances have different ones.
    ///
    /// # Errors
    /// When the instances have different items and the problem does not take its numbers from
    /// columns of the items.
    pub fn for_table(self, data: &Dataset) -> Result<Self> {
        let parameters = data.parameters();
        let items = data.cost_names().len();
        let has_absent_items =
            parameters.is_some_and(|table| table.width(RowParameters::PRESENT_ITEMS).is_some());
        let spec = self.for_items(items, has_absent_items)?;
        spec.with_named_columns(parameters.map(AsRef::as_ref), data.cost_names())
    }

    /// The same problem, whose patterns are replaced by the names of the columns that match in a
    /// table: a model finds them by name in other tables, whatever their order.
    ///
    /// # Errors
    /// When a reference is in a place that cannot differ per row.
    pub(crate) fn with_named_columns(
        self,
        parameters: Option<&RowParameters>,
        costs: &CostNames,
    ) -> Result<Self> {
        match (self, parameters) {
            (Self::Parametric { mut template }, Some(parameters)) => {
                name_columns(&mut template, parameters, costs)?;
                Ok(Self::Parametric { template })
            }
            (spec, _) => Ok(spec),
        }
    }

    /// As [`ProblemSpec::for_table`], for this many items, of which instances may lack some.
    pub(crate) fn for_items(self, items: usize, has_absent_items: bool) -> Result<Self> {
        let is_parametric = matches!(self, Self::Parametric { .. });
        if !is_parametric && !has_absent_items {
            return Ok(self);
        }
        let refused = |error: serde_json::Error| Error::setting(error.to_string());
        let mut template = match self {
            Self::Parametric { template } => template,
            other => serde_json::to_value(&other).map_err(refused)?,
        };
        let parsed = Template::new(&template)?;
        let listed_items = parsed.items_of_lists();
        let (kind, is_linear) = (parsed.kind.clone(), parsed.kind == "linear");
        let Some(object) = template.as_object_mut() else {
            return Ok(Self::Parametric { template });
        };
        let count_key = ITEM_COUNTS.iter().find(|(of_kind, _)| *of_kind == kind);
        let has_names = item_names(&parsed.spec).is_some();
        let is_open = |key: &str| {
            let is_stated = object.contains_key(key);
            listed_items.is_none() && !has_names && (has_absent_items || !is_stated)
        };
        if let Some((_, key)) = count_key.filter(|(_, key)| is_open(key)) {
            object.insert((*key).to_owned(), json!(items));
        }
        if has_absent_items && !object.contains_key("present") {
            let has_known_list = object.get(KNOWN).is_some_and(Value::is_array);
            if (listed_items.is_some() || has_known_list) && !is_linear {
                return Err(Error::data(
                    "the instances of the table have different items, but the problem file lists \
                     numbers of fixed items",
                )
                .with_remedy(format!(
                    "take them from a column of the items: {}",
                    fields_of(&kind)
                )));
            }
            let present = json!({ "column": RowParameters::PRESENT_ITEMS });
            object.insert("present".into(), present);
        }
        Ok(Self::Parametric { template })
    }

    /// The model file that the problem names.
    pub(crate) fn file(&self) -> Option<PathBuf> {
        match self {
            Self::Linear(linear) => Some(linear.file.clone()),
            Self::Parametric { template } => {
                let is_linear = template.get("kind").and_then(Value::as_str) == Some("linear");
                let file = template.get("file").filter(|_| is_linear)?;
                file.as_str().map(PathBuf::from)
            }
            _ => None,
        }
    }

    /// The same problem with another path of its model file.
    pub(crate) fn with_file(mut self, file: &Path) -> Self {
        match &mut self {
            Self::Linear(linear) => linear.file = file.to_path_buf(),
            Self::Parametric { template } => {
                if let Some(object) = template.as_object_mut() {
                    object.insert("file".into(), json!(file));
                }
            }
            _ => {}
        }
        self
    }

    /// The problem from the content of its model file, which need not exist any more.
    ///
    /// # Errors
    /// As [`ProblemSpec::build`].
    pub(in crate::problem) fn build_from(&self, content: Vec<u8>) -> Result<Arc<dyn ProblemKind>> {
        match self {
            Self::Linear(linear) => linear.build_from(content),
            Self::Parametric { template } => {
                Ok(Arc::new(ParametricProblem::new(template, Some(content))?))
            }
            _ => self.build(),
        }
    }
}
