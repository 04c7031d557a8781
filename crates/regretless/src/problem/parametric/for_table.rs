//! Problem files with references to columns, and the tables that have these columns.

use serde_json::{Value, json};

use super::json::replace;
use super::known::collect_columns;
use super::template::{KNOWN, Template};
use crate::data::{CostNames, Dataset, ParameterColumns, RowParameters, in_order_of_costs};
use crate::error::{Error, Result};
use crate::problem::ProblemSpec;
use crate::problem::family::{KindDefinition, ProblemFamily};
use crate::text::matches_pattern;

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
            collect_columns(&known, &mut columns);
        }
        Ok(columns)
    }

    /// The problem with placeholders for the numbers of rows, which has the items, nodes and arcs
    /// of all rows. `None` for problems without parameters per row, and if rows have different
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

    /// Whether costs are those of steps in time, such as hours: their order in the table matters.
    pub fn has_costs_of_steps(&self) -> bool {
        self.family().template.costs_are_steps
    }

    /// Whether quantities such as demands are predicted, not costs.
    pub fn predicts_quantities(&self) -> bool {
        self.family().template.predicts_quantities
    }

    fn family(&self) -> &'static ProblemFamily {
        match self {
            Self::Parametric { template } => ProblemFamily::of_file(template),
            spec => ProblemFamily::of_file(&json!(spec)),
        }
    }

    /// Whether the instances of a long table may have different items: those of a linear problem
    /// have names, and other problems have no number that belongs to an item in a fixed place.
    pub(crate) fn items_may_differ(&self) -> bool {
        match self {
            Self::Parametric { template } => {
                Template::new(template).is_ok_and(|template| template.items_may_differ())
            }
            _ => self
                .definition()
                .is_some_and(KindDefinition::items_may_differ),
        }
    }

    /// The problem for the instances of a table: with its number of items, if the problem file does
    /// not state it, and with absent items, if the instances have different ones.
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
        let listed_items = parsed.listed_items();
        let family = parsed.family();
        let Some(object) = template.as_object_mut() else {
            return Ok(Self::Parametric { template });
        };
        let has_names = parsed.item_names().is_some();
        let is_open = |key: &str| {
            let is_stated = object.contains_key(key);
            listed_items.is_none() && !has_names && (has_absent_items || !is_stated)
        };
        if let Some(key) = family.template.items_key.filter(|key| is_open(key)) {
            object.insert(key.to_owned(), json!(items));
        }
        if has_absent_items && !object.contains_key("present") {
            let has_known_list = object.get(KNOWN).is_some_and(Value::is_array);
            let has_model_file = family.template.file_key.is_some();
            if (listed_items.is_some() || has_known_list) && !has_model_file {
                return Err(Error::data(
                    "the instances of the table have different items, but the problem file lists \
                     numbers of fixed items",
                )
                .with_remedy(format!(
                    "take them from a column of the items: {}",
                    family.columns_text()
                )));
            }
            let present = json!({ "column": RowParameters::PRESENT_ITEMS });
            object.insert("present".into(), present);
        }
        Ok(Self::Parametric { template })
    }
}

/// Replaces patterns by the names of the columns that match, in the order of the table: a model
/// then finds its columns by name in other tables, whatever their order.
///
/// If the columns have the names of the costs with another beginning or end, they are in the order
/// of the costs.
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
    let own_names = parsed.item_names();
    let costs = own_names.as_ref().unwrap_or(costs);
    let rules = &parsed.family().template;
    let ordered = |names: Vec<String>| {
        let of_costs = in_order_of_costs(&names, costs).filter(|_| rules.has_order_of_costs);
        of_costs.unwrap_or(names)
    };
    if rules.file_key.is_some() {
        // Its patterns stand for names of the model.
        return Ok(());
    }
    for place in parsed.places() {
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
