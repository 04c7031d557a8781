//! Arcs or edges between named nodes: a list in the problem file, or the rows of a CSV file.
//!
//! A list has `[from, to]` or `[from, to, name]` for each arc; nodes are texts or whole numbers. An
//! arc without a name is called `from-to`. A file is named by
//! `{ file = "arcs.csv", from = "from", to = "to", name = "name" }`, relative to the problem file.
//! It is read once, when the problem file is read, and becomes a list in the specification, so
//! model files carry it and need no other file. Further keys of that table name columns of numbers
//! (`capacity = "vehicles"`): they become lists of the problem's field of this name, in the order
//! of the arcs, with `null` for empty cells.

use std::collections::HashMap;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use serde::de::{Error as _, SeqAccess, Visitor};
use serde::ser::SerializeSeq;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Value, json};

use crate::data::csv::{ArcColumns, read_arcs};
use crate::data::{CostNames, CsvDialect, NodeNames, NodeNamesBuilder};
use crate::error::{Error, Result};
use crate::size_limits;

/// The fields of problem files that hold arcs, and what one of them is.
const ARC_FIELDS: [(&str, &str); 2] = [("arcs", "arc"), ("edges", "edge")];

/// The arcs or edges of a network.
#[derive(Debug, Clone, PartialEq)]
pub struct ArcTable {
    nodes: Arc<NodeNames>,
    /// The places of the two nodes of each arc in the list of nodes.
    ends: Vec<[u32; 2]>,
    /// Whether the names were given; otherwise they follow from the nodes.
    has_own_names: bool,
    cost_names: Option<CostNames>,
}

impl ArcTable {
    /// Arcs by the names of their two nodes; `names` are those of the arcs, if they have some. An
    /// arc with an empty name among others is named `from-to`.
    ///
    /// # Errors
    /// When there is no arc, or too many, an arc leads from a node to itself, a node has no name,
    /// or two arcs have the same name.
    pub fn new<T: AsRef<str>>(
        arcs: impl IntoIterator<Item = [T; 2]>,
        names: Option<Vec<String>>,
    ) -> Result<Self> {
        let mut nodes = NodeNamesBuilder::default();
        let mut ends = Vec::new();
        for [from, to] in arcs {
            let number = ends.len();
            if from.as_ref().is_empty() || to.as_ref().is_empty() {
                return Err(Error::setting(format!(
                    "a node of arc {number} has no name (arcs are counted from 0)"
                )));
            }
            let arc = [nodes.place(from.as_ref()), nodes.place(to.as_ref())];
            if arc[0] == arc[1] {
                return Err(Error::setting(format!(
                    "arc {number} leads from node '{}' to itself (arcs are counted from 0)",
                    from.as_ref()
                ))
                .with_remedy("leave it out"));
            }
            ends.push(arc);
        }
        if ends.is_empty() {
            return Err(Error::setting("there is no arc"));
        }
        size_limits::checked_product("arcs", &[ends.len()], size_limits::MAX_COSTS)?;
        // Numbered nodes in numerical order, whatever the order of the arcs: files that list the
        // same arcs differently have the same nodes.
        if let Some(new_places) = nodes.sort_numbers() {
            for place in ends.iter_mut().flatten() {
                *place = new_places[*place as usize];
            }
        }
        let nodes = Arc::new(nodes.build());
        let names = names.filter(|names| names.iter().any(|name| !name.is_empty()));
        let has_own_names = names.is_some();
        let cost_names = match names {
            Some(names) if names.len() == ends.len() => {
                Some(completed_names(names, &nodes, &ends)?)
            }
            Some(names) => {
                return Err(Error::setting(format!(
                    "{} names for {} arcs",
                    names.len(),
                    ends.len()
                )));
            }
            None => names_of_ends(&nodes, &ends),
        };
        Ok(Self {
            nodes,
            ends,
            has_own_names,
            cost_names,
        })
    }

    /// The arcs of a problem file in JSON.
    ///
    /// # Errors
    /// When they are missing or invalid.
    pub(super) fn of_file(file: &Value) -> Result<Self> {
        let arcs = file.get("arcs").cloned().unwrap_or_default();
        serde_json::from_value(arcs).map_err(|error| Error::setting(error.to_string()))
    }

    /// Number of arcs.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// The names of the nodes: in increasing order if all are whole numbers, otherwise in the order
    /// in which the arcs name them.
    pub fn nodes(&self) -> &Arc<NodeNames> {
        &self.nodes
    }

    /// The places of the two nodes of each arc in the list of nodes.
    pub fn ends(&self) -> &[[u32; 2]] {
        &self.ends
    }

    /// The names of the arcs: their own, or else `from-to` if these differ.
    pub fn cost_names(&self) -> Option<&CostNames> {
        self.cost_names.as_ref()
    }

    /// The name of a node by its place.
    pub fn node(&self, place: u32) -> &str {
        &self.nodes.list()[place as usize]
    }

    /// An arc for messages.
    pub fn describe(&self, arc: usize) -> String {
        let [from, to] = self.ends[arc].map(|place| self.node(place));
        match &self.cost_names {
            Some(names) if self.has_own_names => {
                format!("arc {} ({from} to {to})", names.get(arc))
            }
            _ => format!("arc {arc} ({from} to {to})"),
        }
    }
}

/// The default name of an arc: `from-to`.
fn name_of_ends(nodes: &NodeNames, arc: [u32; 2]) -> String {
    let [from, to] = arc.map(|place| nodes.list()[place as usize].as_str());
    format!("{from}-{to}")
}

/// `from-to` for each arc; `None` if two are the same.
fn names_of_ends(nodes: &NodeNames, ends: &[[u32; 2]]) -> Option<CostNames> {
    let names = ends.iter().map(|arc| name_of_ends(nodes, *arc));
    let names = CostNames::from(names.collect::<Vec<String>>());
    // Parallel arcs cannot be told apart by their ends; they are matched by position.
    names.check("arc").is_ok().then_some(names)
}

/// The names of arcs, with `from-to` instead of empty ones.
fn completed_names(
    mut names: Vec<String>,
    nodes: &NodeNames,
    ends: &[[u32; 2]],
) -> Result<CostNames> {
    let mut unnamed = Vec::new();
    for (number, name) in names.iter_mut().enumerate() {
        if name.is_empty() {
            *name = name_of_ends(nodes, ends[number]);
            unnamed.push(number);
        }
    }
    let mut arcs_of_name: HashMap<&str, usize> = HashMap::with_capacity(names.len());
    for name in &names {
        *arcs_of_name.entry(name).or_default() += 1;
    }
    for number in unnamed {
        let name = names[number].as_str();
        if arcs_of_name[name] > 1 {
            return Err(Error::setting(format!(
                "arc {number} has no name (arcs are counted from 0), and '{name}', which it would \
                 be called by its nodes, is the name of another arc"
            ))
            .with_remedy("name it, or leave out all names"));
        }
    }
    let names = CostNames::from(names);
    names.check("arc")?;
    Ok(names)
}

impl Serialize for ArcTable {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let mut arcs = serializer.serialize_seq(Some(self.ends.len()))?;
        for (number, ends) in self.ends.iter().enumerate() {
            let mut arc: Vec<Value> = ends
                .iter()
                .map(|place| node_value(&self.nodes, *place))
                .collect();
            if self.has_own_names
                && let Some(names) = &self.cost_names
            {
                arc.push(json!(names.get(number)));
            }
            arcs.serialize_element(&arc)?;
        }
        arcs.end()
    }
}

/// A node as problem files write it: a whole number if all nodes are.
pub(super) fn node_value(nodes: &NodeNames, place: u32) -> Value {
    let name = &nodes.list()[place as usize];
    match name.parse::<i64>() {
        Ok(number) if nodes.are_numbers() => json!(number),
        _ => json!(name),
    }
}

impl<'de> Deserialize<'de> for ArcTable {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        deserializer.deserialize_any(ArcsVisitor)
    }
}

struct ArcsVisitor;

impl<'de> Visitor<'de> for ArcsVisitor {
    type Value = ArcTable;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "a list with [from, to] or [from, to, name] for each arc, or a file in a problem file",
        )
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> std::result::Result<ArcTable, A::Error> {
        let mut ends = Vec::new();
        let mut names = Vec::new();
        while let Some(arc) = list.next_element::<Vec<NodeName>>()? {
            let number = ends.len();
            let mut parts = arc.into_iter().map(|node| node.0);
            match (parts.next(), parts.next(), parts.next(), parts.next()) {
                (Some(from), Some(to), name, None) => {
                    ends.push([from, to]);
                    names.push(name.unwrap_or_default());
                }
                _ => {
                    return Err(A::Error::custom(format!(
                        "arc {number} is not [from, to] or [from, to, name] (arcs are counted \
                         from 0)"
                    )));
                }
            }
        }
        ArcTable::new(ends, Some(names)).map_err(A::Error::custom)
    }
}

/// The name of a node in a problem file: text or a whole number.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct NodeName(pub String);

impl<'de> Deserialize<'de> for NodeName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        deserializer.deserialize_any(NodeNameVisitor)
    }
}

struct NodeNameVisitor;

impl Visitor<'_> for NodeNameVisitor {
    type Value = NodeName;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a node, a text or a whole number")
    }

    fn visit_str<E: serde::de::Error>(self, name: &str) -> std::result::Result<NodeName, E> {
        Ok(NodeName(name.to_owned()))
    }

    fn visit_i64<E: serde::de::Error>(self, number: i64) -> std::result::Result<NodeName, E> {
        Ok(NodeName(number.to_string()))
    }

    fn visit_u64<E: serde::de::Error>(self, number: u64) -> std::result::Result<NodeName, E> {
        Ok(NodeName(number.to_string()))
    }

    fn visit_f64<E: serde::de::Error>(self, number: f64) -> std::result::Result<NodeName, E> {
        // TOML and JSON writers may write the node 3 as 3.0; below 1e15 such a number is exact.
        if number.fract() == 0.0 && number.abs() < 1e15 {
            return Ok(NodeName((number as i64).to_string()));
        }
        Err(E::custom(format!(
            "{number} is no node: nodes are texts or whole numbers"
        )))
    }
}

/// Whether a problem file names a file of arcs.
pub(super) fn names_arc_file(problem: &Value) -> bool {
    ARC_FIELDS
        .iter()
        .any(|(field, _)| problem.get(field).is_some_and(Value::is_object))
}

/// Reads the file of arcs that a problem file names: its rows and numbers take the place of the
/// file's name. Paths are relative to `folder`.
///
/// # Errors
/// When the file cannot be read, lacks a column or has a cell that cannot be used; when the table
/// has no `file`, or a field is stated twice.
pub(super) fn read_arc_files(problem: &mut Value, folder: &Path) -> Result<()> {
    for (field, item) in ARC_FIELDS {
        let Some(table) = problem.get(field).and_then(Value::as_object) else {
            continue;
        };
        let mut columns = ArcColumns {
            from: "from".into(),
            to: "to".into(),
            name: None,
            numbers: Vec::new(),
        };
        let (mut file, mut delimiter, mut decimal) = (None, ",".to_owned(), ".".to_owned());
        let mut number_fields = Vec::new();
        for (key, value) in table {
            let Some(text) = value.as_str().map(str::to_owned) else {
                return Err(
                    Error::setting(format!("{field}.{key} = {value} is no text"))
                        .with_remedy("it is the name of a file or of one of its columns"),
                );
            };
            match key.as_str() {
                "file" => file = Some(text),
                "from" => columns.from = text,
                "to" => columns.to = text,
                "name" => columns.name = Some(text),
                "delimiter" => delimiter = text,
                "decimal" => decimal = text,
                _ => {
                    number_fields.push(key.clone());
                    columns.numbers.push(text);
                }
            }
        }
        let Some(file) = file else {
            return Err(Error::setting(format!("{field} has no `file`")).with_remedy(format!(
                "write {field} = {{ file = \"{field}.csv\", from = \"from\", to = \"to\" }}, or a \
                 list"
            )));
        };
        if let Some(stated) = number_fields
            .iter()
            .find(|number_field| problem.get(number_field.as_str()).is_some())
        {
            return Err(Error::setting(format!(
                "`{stated}` is stated twice: by a column of {file}, and in the problem file"
            )));
        }
        let dialect = CsvDialect::new(&delimiter, &decimal)?;
        let path = folder.join(&file);
        let rows = read_arcs(&path, &columns, dialect, item)?;
        let Some(object) = problem.as_object_mut() else {
            return Ok(());
        };
        let table = ArcTable::new(rows.ends, rows.names).map_err(|error| error.with_file(&path))?;
        object.insert(field.to_owned(), json!(table));
        for (number_field, numbers) in number_fields.into_iter().zip(rows.numbers) {
            let stated = |number: &f64| number.is_finite().then_some(*number);
            let numbers: Vec<Option<f64>> = numbers.iter().map(stated).collect();
            object.insert(number_field, json!(numbers));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
