//! Matching of the costs of a table with those of a problem.
//!
//! Two lists of costs are compared: the actual ones and the expected ones. Where both have names,
//! costs are matched by name: the same set of names is reordered, and the actual names may all have
//! one beginning and one end around the expected ones (`margin_fish` belongs to `fish`); other sets
//! are refused. Where only one list has names, costs are matched by position, with a warning.
//!
//! Columns that belong to costs, such as weights and decisions, have names of their own: `w_beer`
//! belongs to `profit_beer`. No other module matches costs.

use std::collections::HashMap;

use super::CostNames;
use crate::error::{Error, Result};
use crate::text::{common_ends, distinct_parts, first_names};

/// The costs of a table, problem or model, with their names if they have any.
#[derive(Debug, Clone, Copy)]
pub struct NamedCosts<'a> {
    /// What the costs belong to, in messages: for example "the table".
    pub name: &'a str,
    /// The names of the costs; placeholders count as none.
    pub cost_names: Option<&'a CostNames>,
    /// Whether the user is warned if the expected costs have no names and the actual ones do: false
    /// if the user cannot name them.
    pub warn_if_unnamed: bool,
}

impl<'a> NamedCosts<'a> {
    /// Costs that the user can name, with their names.
    pub fn new(name: &'a str, cost_names: &'a CostNames) -> Self {
        Self {
            name,
            cost_names: Some(cost_names),
            warn_if_unnamed: true,
        }
    }

    fn explicit_names(&self) -> Option<&'a CostNames> {
        self.cost_names.filter(|names| names.are_explicit())
    }
}

/// The permutation from the actual order of costs to the expected one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CostMatching {
    order: Option<Vec<usize>>,
    names: Option<CostNames>,
    warning: Option<String>,
}

impl CostMatching {
    /// Matches actual costs with the expected ones.
    ///
    /// # Errors
    /// When both have names and the sets differ; the error shows the names that only one has.
    pub fn new(actual: NamedCosts<'_>, expected: NamedCosts<'_>) -> Result<Self> {
        match (actual.explicit_names(), expected.explicit_names()) {
            (Some(actual_names), Some(expected_names)) => {
                let order = if actual_names == expected_names {
                    None
                } else {
                    Some(order(
                        actual.name,
                        actual_names,
                        expected.name,
                        expected_names,
                    )?)
                };
                Ok(Self {
                    order,
                    names: Some(expected_names.clone()),
                    warning: None,
                })
            }
            (None, Some(expected_names)) => {
                let warning = position_warning(expected.name, expected_names, actual.name);
                Ok(Self {
                    order: None,
                    names: Some(expected_names.clone()),
                    warning: Some(warning),
                })
            }
            (Some(actual_names), None) => {
                let warning = expected
                    .warn_if_unnamed
                    .then(|| position_warning(actual.name, actual_names, expected.name));
                Ok(Self {
                    order: None,
                    names: None,
                    warning,
                })
            }
            (None, None) => Ok(Self {
                order: None,
                names: None,
                warning: None,
            }),
        }
    }

    /// Matches columns that belong to costs, such as decisions, by their names: those of the costs,
    /// followed by the other columns of the problem, with another beginning and end that all of
    /// them share. `None` if the names are not alike in this way.
    pub fn by_similar_names(
        columns: &[String],
        costs: &CostNames,
        auxiliary: &[String],
    ) -> Option<Self> {
        let costs = costs.to_vec();
        if auxiliary.is_empty() {
            return Some(Self::of_order(order_by_parts(columns, &costs)?));
        }
        // The costs `c_north` and `c_south` may be `north` and `south` beside `stock`.
        let (start, end) = common_ends(&costs);
        for cut_start in 0..=start {
            for cut_end in 0..=end {
                let names = costs
                    .iter()
                    .map(|name| name.get(cut_start..name.len() - cut_end));
                let Some(mut names) = names.collect::<Option<Vec<&str>>>() else {
                    // Within a character.
                    continue;
                };
                names.extend(auxiliary.iter().map(String::as_str));
                if let Some(order) = order_by_parts(columns, &names) {
                    return Some(Self::of_order(order));
                }
            }
        }
        None
    }

    /// Matches columns that belong to costs by position. The warning shows which belongs to which,
    /// unless both are numbered in order. `what` is what the columns hold, such as "decisions".
    pub fn by_position(what: &str, columns: &[String], costs: &CostNames) -> Self {
        let are_evident =
            columns.len() < 2 || (are_consecutive(&costs.to_vec()) && are_consecutive(columns));
        let pairs = || {
            costs
                .iter()
                .zip(columns)
                .map(|(cost, column)| format!("{cost} from {column}"))
        };
        Self {
            order: None,
            names: None,
            warning: (!are_evident).then(|| position_message(what, pairs())),
        }
    }

    fn of_order(order: Vec<usize>) -> Self {
        let is_same = order.iter().enumerate().all(|(to, from)| to == *from);
        Self {
            order: (!is_same).then_some(order),
            names: None,
            warning: None,
        }
    }

    /// For each expected cost the index of the actual one; `None` if the order is the same.
    pub fn order(&self) -> Option<&[usize]> {
        self.order.as_deref()
    }

    /// The expected names, if there are any.
    pub fn names(&self) -> Option<&CostNames> {
        self.names.as_ref()
    }

    /// A message for the user if costs were matched by position.
    pub fn warning(&self) -> Option<&str> {
        self.warning.as_deref()
    }

    /// Reorders one row.
    pub fn apply_to_row<T: Clone>(&self, row: &mut Vec<T>) {
        if let Some(order) = &self.order {
            *row = order.iter().map(|index| row[*index].clone()).collect();
        }
    }
}

/// For each expected name its index among the actual names.
fn order(
    actual_label: &str,
    actual: &CostNames,
    expected_label: &str,
    expected: &CostNames,
) -> Result<Vec<usize>> {
    let indices: HashMap<_, usize> = actual
        .iter()
        .enumerate()
        .map(|(index, name)| (name, index))
        .collect();
    let mut order = Vec::with_capacity(expected.len());
    let mut missing = Vec::new();
    for name in expected.iter() {
        match indices.get(&name) {
            Some(index) => order.push(*index),
            None => missing.push(name.into_owned()),
        }
    }
    if missing.is_empty() && order.len() == actual.len() {
        return Ok(order);
    }
    if let Some(order) = order_within(&actual.to_vec(), &expected.to_vec()) {
        return Ok(order);
    }
    let mut used = vec![false; actual.len()];
    for index in &order {
        used[*index] = true;
    }
    let unused = (0..actual.len()).filter(|index| !used[*index]);
    let extra: Vec<String> = unused.map(|index| actual.get(index).into_owned()).collect();
    let mut differences = Vec::new();
    for (label, names) in [(actual_label, &extra), (expected_label, &missing)] {
        if !names.is_empty() {
            let quoted = names.iter().map(|name| format!("'{name}'"));
            differences.push(format!("only {label} has {}", first_names(quoted)));
        }
    }
    Err(Error::data(format!(
        "costs are matched by name, and {actual_label} ({} costs) does not have the names of \
         {expected_label} ({} costs): {}",
        actual.len(),
        expected.len(),
        differences.join(", ")
    ))
    .with_remedy("rename them, or choose the costs that belong together"))
}

/// For each expected name the index of the actual name that has it between one beginning and one
/// end, the same for all. `None` where they do not, and for one name, which says nothing about its
/// beginning and end.
fn order_within(actual: &[String], expected: &[String]) -> Option<Vec<usize>> {
    if actual.len() != expected.len() || actual.len() < 2 {
        return None;
    }
    let indices: HashMap<&str, usize> = actual
        .iter()
        .enumerate()
        .map(|(index, name)| (name.as_str(), index))
        .collect();
    let first = actual.first()?;
    for name in expected {
        for (start, _) in first.match_indices(name.as_str()) {
            let (beginning, end) = (&first[..start], &first[start + name.len()..]);
            let index = |name: &String| {
                let wanted = format!("{beginning}{name}{end}");
                indices.get(wanted.as_str()).copied()
            };
            let order: Option<Vec<usize>> = expected.iter().map(index).collect();
            if order.is_some() {
                return order;
            }
        }
    }
    None
}

/// The message for costs that are matched by position.
fn position_warning(named_label: &str, names: &CostNames, unnamed_label: &str) -> String {
    let (first, last) = (names.get(0), names.get(names.len().saturating_sub(1)));
    format!(
        "costs are matched by position: {named_label} names them ('{first}' to '{last}'), \
         {unnamed_label} does not; both must have the same order"
    )
}

/// The message for numbers of a problem, such as weights, that belong to named costs by position.
/// `None` if the costs have no names, or are numbered in order.
pub(crate) fn matched_by_position(
    what: &str,
    costs: &CostNames,
    describe: impl Fn(usize) -> String,
) -> Option<String> {
    if costs.are_numbered() || are_consecutive(&costs.to_vec()) {
        return None;
    }
    let matched = costs.iter().enumerate();
    let matched = matched.map(|(item, name)| format!("{name} {}", describe(item)));
    Some(position_message(what, matched))
}

/// That numbers belong to costs by position, with the pairs.
fn position_message(what: &str, pairs: impl Iterator<Item = String>) -> String {
    format!(
        "{what} are matched to costs by position: {}",
        first_names(pairs)
    )
}

/// Whether names differ only by a number that counts them.
fn are_consecutive(names: &[String]) -> bool {
    let numbers = distinct_parts(names).into_iter().map(str::parse::<usize>);
    let Ok(numbers) = numbers.collect::<std::result::Result<Vec<usize>, _>>() else {
        return false;
    };
    numbers.windows(2).all(|pair| pair[1] == pair[0] + 1)
}

/// The columns in the order of the costs that they belong to, if their names differ from those of
/// the costs only by what all of them begin and end with: `w_beer` belongs to `profit_beer`. `None`
/// if they do not.
pub(crate) fn in_order_of_costs(columns: &[String], costs: &CostNames) -> Option<Vec<String>> {
    let order = order_by_parts(columns, &costs.to_vec())?;
    Some(
        order
            .into_iter()
            .map(|index| columns[index].clone())
            .collect(),
    )
}

/// For each name the index of the column whose name differs only by what all columns begin and end
/// with. One name says nothing about its beginning and end.
fn order_by_parts<T: AsRef<str>>(columns: &[String], names: &[T]) -> Option<Vec<usize>> {
    if columns.len() != names.len() || columns.len() < 2 {
        return None;
    }
    let parts = distinct_parts(columns).into_iter().enumerate();
    let indices: HashMap<&str, usize> = parts.map(|(index, part)| (part, index)).collect();
    let found = distinct_parts(names).into_iter();
    found.map(|part| indices.get(part).copied()).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::{CostMatching, NamedCosts, in_order_of_costs, matched_by_position};
    use crate::data::{CostNames, Dataset, FeatureShape, Features, Matrix};

    fn names(list: &[&str]) -> CostNames {
        CostNames::from(
            list.iter()
                .map(|name| (*name).to_string())
                .collect::<Vec<_>>(),
        )
    }

    fn matched(table: &CostNames, problem: &CostNames) -> crate::error::Result<CostMatching> {
        CostMatching::new(
            NamedCosts::new("the table", table),
            NamedCosts::new("the problem", problem),
        )
    }

    #[test]
    fn equal_sets_of_names_are_reordered() {
        let matching = matched(&names(&["c", "a", "b"]), &names(&["a", "b", "c"])).unwrap();
        assert_eq!(
            (matching.order(), matching.warning()),
            (Some(&[1, 2, 0][..]), None)
        );
        assert_eq!(matching.names(), Some(&names(&["a", "b", "c"])));
        let same = matched(&names(&["a", "b"]), &names(&["a", "b"])).unwrap();
        assert_eq!((same.order(), same.warning()), (None, None));
        let counted = matched(&names(&["c0", "c1"]), &names(&["c1", "c0"])).unwrap();
        assert_eq!(
            counted.order(),
            Some(&[1, 0][..]),
            "explicit names identify costs even if they are numbered"
        );
    }

    #[test]
    fn different_sets_are_refused_and_both_differences_are_shown() {
        let message = matched(&names(&["a", "b", "bonus"]), &names(&["a", "b", "d"]))
            .unwrap_err()
            .to_string();
        for words in [
            "only the table has 'bonus'",
            "only the problem has 'd'",
            "(3 costs)",
        ] {
            assert!(message.contains(words), "{message}");
        }
        let many: Vec<String> = (0..12).map(|number| format!("n{number}")).collect();
        let message = matched(&many.into(), &names(&["n0"]))
            .unwrap_err()
            .to_string();
        assert!(
            message.contains("'n8' and 3 more") && !message.contains("only the problem"),
            "{message}"
        );
    }

    #[test]
    fn costs_are_matched_by_position_with_a_warning_where_one_list_has_no_names() {
        let (unnamed, named) = (CostNames::numbered(2), names(&["a", "b"]));
        let by_problem = matched(&unnamed, &named).unwrap();
        assert!(
            by_problem
                .warning()
                .unwrap()
                .contains("the problem names them ('a' to 'b'), the table does not")
        );
        assert_eq!(
            (by_problem.order(), by_problem.names()),
            (None, Some(&named))
        );
        let by_table = matched(&named, &unnamed).unwrap();
        assert!(by_table.warning().unwrap().contains("the table names them"));
        assert_eq!(by_table.names(), None);
        let nameless = NamedCosts {
            name: "the problem",
            cost_names: None,
            warn_if_unnamed: false,
        };
        let silent = CostMatching::new(NamedCosts::new("the table", &named), nameless).unwrap();
        assert_eq!(silent.warning(), None);
        assert_eq!(matched(&unnamed, &unnamed).unwrap().warning(), None);
    }

    #[test]
    fn columns_have_the_order_of_the_costs_whose_names_they_have() {
        let ordered = |columns: &[&str], costs: &[&str]| {
            in_order_of_costs(&names(columns).to_vec(), &names(costs))
        };
        let weights = ["w_cola", "w_beer", "w_water"];
        let costs = ["profit_beer", "profit_water", "profit_cola"];
        let expected = ["w_beer", "w_water", "w_cola"].map(String::from).to_vec();
        assert_eq!(ordered(&weights, &costs), Some(expected));
        let others = ["profit_beer", "profit_water", "profit_wine"];
        assert_eq!(ordered(&weights, &others), None);
        assert_eq!(ordered(&weights, &costs[..2]), None);
        // The parts may begin alike, and one may be empty.
        let found = ordered(&["w_ab", "w_a"], &["a_kg", "ab_kg"]);
        assert_eq!(found, Some(vec!["w_a".into(), "w_ab".into()]));
    }

    #[test]
    fn columns_of_costs_and_of_other_columns_are_matched_by_similar_names() {
        let matched = |columns: &[&str], costs: &[&str], auxiliary: &[&str]| {
            let lists = [columns, auxiliary].map(|list| names(list).to_vec());
            let matching = CostMatching::by_similar_names(&lists[0], &names(costs), &lists[1])?;
            let mut columns = lists[0].clone();
            matching.apply_to_row(&mut columns);
            Some(columns.join(" "))
        };
        let costs = ["é€_nord", "é€_süd"];
        let columns = ["x_lager", "x_süd", "x_nord"];
        let expected = Some("x_nord x_süd x_lager".to_owned());
        assert_eq!(matched(&columns, &costs, &["lager"]), expected);
        assert_eq!(matched(&columns, &costs, &["stock"]), None);
        assert_eq!(matched(&columns, &costs, &[]), None);
        let same = matched(&costs, &costs, &[]);
        assert_eq!(same, Some("é€_nord é€_süd".to_owned()));
    }

    #[test]
    fn numbers_that_belong_to_costs_by_position_are_shown_unless_costs_are_counted() {
        let weights = [12.0, 10.0, 9.0];
        let note = |costs: &[&str]| {
            let weight = |item: usize| f64::to_string(&weights[item]);
            matched_by_position("weights", &names(costs), weight)
        };
        assert_eq!(
            note(&["beer", "water", "cola"]).unwrap(),
            "weights are matched to costs by position: beer 12, water 10, cola 9"
        );
        assert_eq!(note(&["c0", "c1", "c2"]), None);
        assert_eq!(note(&["gain_9", "gain_10", "gain_11"]), None);
        assert!(note(&["gain_2", "gain_1", "gain_3"]).is_some());
    }

    #[test]
    fn costs_and_items_of_a_long_table_move_together() {
        let features = Matrix::new(4, 1, vec![10.0, 11.0, 20.0, 21.0]).unwrap();
        let features = Features::new(features, FeatureShape::Long { items: 2 }, None).unwrap();
        let costs = Matrix::new(2, 2, vec![1.0, 2.0, 3.0, 4.0]).unwrap();
        let mut data = Dataset::new(features, costs, Some(names(&["b", "a"]))).unwrap();
        data.apply(&matched(data.cost_names(), &names(&["a", "b"])).unwrap())
            .unwrap();
        assert_eq!(data.costs().as_slice(), [2.0, 1.0, 4.0, 3.0]);
        assert_eq!(
            data.features().values().as_slice(),
            [11.0, 10.0, 21.0, 20.0]
        );
        assert_eq!(data.cost_names(), &names(&["a", "b"]));
    }

    #[test]
    fn names_may_have_one_beginning_and_end_around_those_of_the_problem() {
        let expected = names(&["fish", "milk", "bread"]);
        let around = names(&["margin_milk_eur", "margin_fish_eur", "margin_bread_eur"]);
        let found = matched(&around, &expected).expect("the names belong together");
        assert_eq!(found.order(), Some(&[1, 0, 2][..]));
        assert_eq!(found.names(), Some(&expected));
        for other in [
            ["margin_milk", "margin_fish", "cost_bread"],
            ["margin_milk", "margin_fish", "margin_cake"],
        ] {
            assert!(matched(&names(&other), &expected).is_err(), "{other:?}");
        }
        // The other direction is refused: names of the problem are what is printed.
        assert!(matched(&expected, &around).is_err());
    }
}
