//! Matching of the costs of a table with those of a problem.
//!
//! Where both sides have names, costs are matched by name: the same set of names is reordered,
//! different sets are refused. Where only one side has names, costs are matched by position, with a
//! notice. No other module matches costs.

use std::collections::HashMap;

use super::CostNames;
use crate::error::{Error, Result};

/// Most names that an error shows of each side.
const MAX_NAMES_SHOWN: usize = 5;

/// One side of a matching: the owner of the costs, and their names.
#[derive(Debug, Clone, Copy)]
pub struct CostSide<'a> {
    /// The owner in messages, such as "the table".
    pub owner: &'a str,
    /// The names; placeholders count as none.
    pub names: Option<&'a CostNames>,
    /// Whether the user could have given names, so that a notice about missing ones helps.
    pub could_have_names: bool,
}

impl<'a> CostSide<'a> {
    /// Costs that could have names, with the names they have.
    pub fn new(owner: &'a str, names: &'a CostNames) -> Self {
        Self {
            owner,
            names: Some(names),
            could_have_names: true,
        }
    }

    fn given(&self) -> Option<&'a CostNames> {
        self.names.filter(|names| names.are_given())
    }
}

/// The order that brings the costs found into the order wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CostMatching {
    order: Option<Vec<usize>>,
    names: Option<CostNames>,
    notice: Option<String>,
}

impl CostMatching {
    /// Matches the costs found with those wanted.
    ///
    /// # Errors
    /// When both sides have names and the sets differ; the error shows what each side lacks.
    pub fn new(found: CostSide<'_>, wanted: CostSide<'_>) -> Result<Self> {
        match (found.given(), wanted.given()) {
            (Some(theirs), Some(ours)) => {
                let order = if theirs == ours {
                    None
                } else {
                    Some(order(found.owner, theirs, wanted.owner, ours)?)
                };
                Ok(Self {
                    order,
                    names: Some(ours.clone()),
                    notice: None,
                })
            }
            (None, Some(ours)) => {
                let notice = by_position(wanted.owner, ours, found.owner);
                Ok(Self {
                    order: None,
                    names: Some(ours.clone()),
                    notice: Some(notice),
                })
            }
            (Some(theirs), None) => {
                let notice = wanted
                    .could_have_names
                    .then(|| by_position(found.owner, theirs, wanted.owner));
                Ok(Self {
                    order: None,
                    names: None,
                    notice,
                })
            }
            (None, None) => Ok(Self {
                order: None,
                names: None,
                notice: None,
            }),
        }
    }

    /// For each wanted cost the index of the found one; `None` where the order is the same.
    pub fn order(&self) -> Option<&[usize]> {
        self.order.as_deref()
    }

    /// The wanted names, if there are any.
    pub fn names(&self) -> Option<&CostNames> {
        self.names.as_ref()
    }

    /// A message for the user if costs were matched by position.
    pub fn notice(&self) -> Option<&str> {
        self.notice.as_deref()
    }

    /// Reorders one row.
    pub fn apply_to_row<T: Copy>(&self, row: &mut Vec<T>) {
        if let Some(order) = &self.order {
            *row = order.iter().map(|old| row[*old]).collect();
        }
    }
}

/// For each of our names the index of theirs.
fn order(
    their_owner: &str,
    theirs: &CostNames,
    our_owner: &str,
    ours: &CostNames,
) -> Result<Vec<usize>> {
    let numbers: HashMap<_, usize> = theirs
        .iter()
        .enumerate()
        .map(|(number, name)| (name, number))
        .collect();
    let mut order = Vec::with_capacity(ours.len());
    let mut missing = Vec::new();
    for name in ours.iter() {
        match numbers.get(&name) {
            Some(number) => order.push(*number),
            None => missing.push(name.into_owned()),
        }
    }
    if missing.is_empty() && order.len() == theirs.len() {
        return Ok(order);
    }
    let mut used = vec![false; theirs.len()];
    for number in &order {
        used[*number] = true;
    }
    let unused = (0..theirs.len()).filter(|number| !used[*number]);
    let extra: Vec<String> = unused
        .map(|number| theirs.get(number).into_owned())
        .collect();
    let mut parts = Vec::new();
    for (owner, names) in [(their_owner, &extra), (our_owner, &missing)] {
        if !names.is_empty() {
            parts.push(format!("only {owner} has {}", listed(names)));
        }
    }
    Err(Error::data(format!(
        "costs are matched by name, and {their_owner} ({} costs) does not have the names of \
         {our_owner} ({} costs): {}; \
         rename them, or choose the costs that belong together",
        theirs.len(),
        ours.len(),
        parts.join(", ")
    )))
}

fn listed(names: &[String]) -> String {
    let shown: Vec<String> = names
        .iter()
        .take(MAX_NAMES_SHOWN)
        .map(|name| format!("'{name}'"))
        .collect();
    match names.len().saturating_sub(MAX_NAMES_SHOWN) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

fn by_position(named_owner: &str, names: &CostNames, unnamed_owner: &str) -> String {
    let (first, last) = (names.get(0), names.get(names.len().saturating_sub(1)));
    format!(
        "costs are matched by position: {named_owner} names them ('{first}' to '{last}'), \
         {unnamed_owner} does not"
    )
}

#[cfg(test)]
mod tests {
    use super::{CostMatching, CostSide};
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
            CostSide::new("the table", table),
            CostSide::new("the problem", problem),
        )
    }

    #[test]
    fn equal_sets_of_names_are_reordered() {
        let found = matched(&names(&["c", "a", "b"]), &names(&["a", "b", "c"])).unwrap();
        assert_eq!(
            (found.order(), found.notice()),
            (Some(&[1, 2, 0][..]), None)
        );
        assert_eq!(found.names(), Some(&names(&["a", "b", "c"])));
        let same = matched(&names(&["a", "b"]), &names(&["a", "b"])).unwrap();
        assert_eq!((same.order(), same.notice()), (None, None));
        let counted = matched(&names(&["c0", "c1"]), &names(&["c1", "c0"])).unwrap();
        assert_eq!(
            counted.order(),
            Some(&[1, 0][..]),
            "given names identify costs even where they are numbered"
        );
    }

    #[test]
    fn different_sets_are_refused_and_both_sides_are_shown() {
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
        let many: Vec<String> = (0..9).map(|number| format!("n{number}")).collect();
        let message = matched(&many.into(), &names(&["n0"]))
            .unwrap_err()
            .to_string();
        assert!(
            message.contains("'n5' and 3 more") && !message.contains("only the problem"),
            "{message}"
        );
    }

    #[test]
    fn costs_are_matched_by_position_with_a_notice_where_a_side_has_no_names() {
        let (unnamed, named) = (CostNames::numbered(2), names(&["a", "b"]));
        let by_problem = matched(&unnamed, &named).unwrap();
        assert!(
            by_problem
                .notice()
                .unwrap()
                .contains("the problem names them ('a' to 'b'), the table does not")
        );
        assert_eq!(
            (by_problem.order(), by_problem.names()),
            (None, Some(&named))
        );
        let by_table = matched(&named, &unnamed).unwrap();
        assert!(by_table.notice().unwrap().contains("the table names them"));
        assert_eq!(by_table.names(), None);
        let nameless = CostSide {
            owner: "the problem",
            names: None,
            could_have_names: false,
        };
        let silent = CostMatching::new(CostSide::new("the table", &named), nameless).unwrap();
        assert_eq!(silent.notice(), None);
        assert_eq!(matched(&unnamed, &unnamed).unwrap().notice(), None);
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
}
