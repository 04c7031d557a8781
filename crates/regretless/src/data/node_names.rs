//! Names of the nodes of a network, and the numbers that stand for them in row parameters.
//!
//! Row parameters are numbers. If all names are whole numbers, a node's number is its name, so
//! arrays of numbers need no translation; otherwise it is the node's place in the list. Readers of
//! tables turn a cell into that number and refuse what names no node.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use crate::text::first_names;

/// Largest whole number that is stored as a number: doubles hold all of them up to 2⁵³.
const MAX_NUMBER: i64 = 1 << 53;

/// The names of the nodes of a network, in order.
#[derive(Debug, Clone)]
pub struct NodeNames {
    names: Vec<String>,
    /// Place of each name.
    places: HashMap<String, u32>,
    /// Places by number, if all names are whole numbers.
    numbers: Option<HashMap<i64, u32>>,
}

/// The names alone: the others follow from them.
impl PartialEq for NodeNames {
    fn eq(&self, other: &Self) -> bool {
        self.names == other.names
    }
}

impl Eq for NodeNames {}

/// Adds names one by one.
#[derive(Debug, Default)]
pub(crate) struct NodeNamesBuilder {
    names: Vec<String>,
    places: HashMap<String, u32>,
}

impl NodeNamesBuilder {
    /// The place of a name, which is added if it is new.
    pub(crate) fn place(&mut self, name: &str) -> u32 {
        let next = self.names.len() as u32;
        match self.places.entry(canonical(name).to_owned()) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(new) => {
                self.names.push(new.key().clone());
                *new.insert(next)
            }
        }
    }

    /// Sorts names that are all whole numbers, so lists with a number for each node are in the
    /// order of these: the new place of each old one. `None` if there are other names.
    pub(crate) fn sort_numbers(&mut self) -> Option<Vec<u32>> {
        let numbers: Option<Vec<i64>> = self.names.iter().map(|name| whole_number(name)).collect();
        let numbers = numbers?;
        let mut order: Vec<usize> = (0..numbers.len()).collect();
        order.sort_by_key(|place| numbers[*place]);
        let mut new_places = vec![0; numbers.len()];
        let mut sorted = Vec::with_capacity(numbers.len());
        for (new, old) in (0..).zip(&order) {
            new_places[*old] = new;
            let name = std::mem::take(&mut self.names[*old]);
            self.places.insert(name.clone(), new);
            sorted.push(name);
        }
        self.names = sorted;
        Some(new_places)
    }

    /// The names in the order in which they were added.
    pub(crate) fn build(self) -> NodeNames {
        let mut numbers = Some(HashMap::with_capacity(self.names.len()));
        for (place, name) in (0..).zip(&self.names) {
            match (whole_number(name), &mut numbers) {
                (Some(number), Some(numbers)) => {
                    numbers.insert(number, place);
                }
                _ => numbers = None,
            }
        }
        NodeNames {
            names: self.names,
            places: self.places,
            numbers,
        }
    }
}

/// A name as it is compared: tables write the whole number 12 as 12.0 if the column has gaps.
fn canonical(name: &str) -> &str {
    match name.split_once('.') {
        Some((whole, zeros))
            if whole_number(whole).is_some()
                && !zeros.is_empty()
                && zeros.bytes().all(|byte| byte == b'0') =>
        {
            whole
        }
        _ => name,
    }
}

/// The whole number that a name is, if it is written in the usual way: not as 007.
fn whole_number(name: &str) -> Option<i64> {
    let number: i64 = name.parse().ok()?;
    (number.abs() <= MAX_NUMBER && number.to_string() == name).then_some(number)
}

impl NodeNames {
    /// All names, in order.
    pub fn list(&self) -> &[String] {
        &self.names
    }

    /// Whether all names are whole numbers.
    pub fn are_numbers(&self) -> bool {
        self.numbers.is_some()
    }

    /// The place of a name, if it names a node.
    pub fn place(&self, name: &str) -> Option<u32> {
        self.places.get(canonical(name)).copied()
    }

    /// The number that stands for a node in row parameters, if the name is that of one.
    pub fn number(&self, name: &str) -> Option<f64> {
        let place = self.place(name)?;
        if self.are_numbers() {
            whole_number(canonical(name)).map(|number| number as f64)
        } else {
            Some(f64::from(place))
        }
    }

    /// The place of the node that a number of the row parameters stands for, if there is one.
    pub(crate) fn place_of_number(&self, number: f64) -> Option<u32> {
        if number.fract() != 0.0 || number.abs() > MAX_NUMBER as f64 {
            return None;
        }
        match &self.numbers {
            Some(places) => places.get(&(number as i64)).copied(),
            None if number >= 0.0 && number < self.names.len() as f64 => Some(number as u32),
            None => None,
        }
    }

    /// The first names, for messages.
    pub fn first(&self) -> String {
        first_names(&self.names)
    }
}

#[cfg(test)]
mod tests {
    use super::{NodeNames, NodeNamesBuilder};

    fn names(list: &[&str]) -> NodeNames {
        let mut builder = NodeNamesBuilder::default();
        for name in list {
            builder.place(name);
        }
        builder.build()
    }

    #[test]
    fn whole_numbers_stand_for_themselves() {
        let nodes = names(&["12", "-3", "12.0", "40"]);
        assert_eq!(nodes.list(), ["12", "-3", "40"]);
        assert_eq!(nodes.number("40"), Some(40.0));
        assert_eq!(nodes.number("12.00"), Some(12.0));
        assert_eq!(nodes.place_of_number(-3.0), Some(1));
        assert_eq!(nodes.place_of_number(2.0), None);
        assert_eq!(nodes.place_of_number(12.5), None);
        assert_eq!(nodes.number("7"), None);
    }

    #[test]
    fn other_names_are_numbered_by_their_place() {
        let nodes = names(&["north", "007", "12"]);
        assert!(!nodes.are_numbers());
        assert_eq!(nodes.number("007"), Some(1.0));
        assert_eq!(nodes.number("7"), None, "007 is another name");
        assert_eq!(nodes.number("12.0"), Some(2.0));
        assert_eq!(nodes.place_of_number(2.0), Some(2));
        assert_eq!(nodes.place_of_number(3.0), None);
        assert_eq!(nodes.place_of_number(f64::NAN), None);
    }
}
