//! Reader of knapsack files of the OR-Library (Beasley 1990): several problems in one file of
//! numbers.
//!
//! The number of problems, then for each: items, dimensions and the best known value (0 if
//! unknown), the values of the items, one row of weights per dimension, and the capacities. Line
//! breaks are ignored.

use std::path::Path;

use crate::error::{Error, InputPlace, Result};
use crate::size_limits::{MAX_ABS_COST, read_text_file};

/// A knapsack with several dimensions.
#[derive(Debug, Clone, PartialEq)]
pub struct OrLibInstance {
    /// Value of each item.
    pub values: Vec<f64>,
    /// One row of item weights per dimension.
    pub weights: Vec<Vec<f64>>,
    /// Capacity of each dimension.
    pub capacity: Vec<f64>,
    /// The best known objective, if the file has it.
    pub best_known: Option<f64>,
}

/// Reads all problems of a file.
///
/// # Errors
/// When the file cannot be read or is invalid; the error has the line.
pub fn read(path: &Path) -> Result<Vec<OrLibInstance>> {
    let text = read_text_file(path)?;
    parse(&text, &InputPlace::file(path))
}

/// Reads all problems of a text that came from the given place.
///
/// # Errors
/// When the text is invalid; the error has the line.
pub fn parse(text: &str, place: &InputPlace) -> Result<Vec<OrLibInstance>> {
    let words = text
        .lines()
        .zip(1..)
        .flat_map(|(line, number)| line.split_whitespace().map(move |word| (number, word)));
    let mut reader = OrLibReader {
        place,
        words,
        line: 1,
        left: text.len(),
    };
    let count = reader.count("the number of problems")?;
    let instances = (0..count)
        .map(|_| reader.instance())
        .collect::<Result<Vec<_>>>()?;
    match reader.words.next() {
        Some((line, word)) => {
            let message = format!("'{word}' follows the last of {count} problems");
            Err(Error::input(place.clone().row(line), message))
        }
        None => Ok(instances),
    }
}

struct OrLibReader<'a, W> {
    place: &'a InputPlace,
    words: W,
    line: u64,
    /// No list can be longer than the text.
    left: usize,
}

impl<'t, W: Iterator<Item = (u64, &'t str)>> OrLibReader<'_, W> {
    fn error<T>(&self, message: String) -> Result<T> {
        Err(Error::input(self.place.clone().row(self.line), message))
    }

    fn number(&mut self, what: &str) -> Result<f64> {
        let Some((line, word)) = self.words.next() else {
            return self.error(format!("the file ends before {what}"));
        };
        self.line = line;
        match word.parse::<f64>() {
            Ok(number) if number.abs() <= MAX_ABS_COST => Ok(number),
            Ok(number) if number.is_finite() => self.error(format!(
                "'{word}' is too large; numbers here go up to {MAX_ABS_COST:e}"
            )),
            _ => self.error(format!("'{word}' is not a number; {what} is expected")),
        }
    }

    fn count(&mut self, what: &str) -> Result<usize> {
        let number = self.number(what)?;
        if number.fract() != 0.0 || number < 1.0 || number > self.left as f64 {
            return self.error(format!("{number} cannot be {what}"));
        }
        Ok(number as usize)
    }

    fn list(&mut self, length: usize, what: &str) -> Result<Vec<f64>> {
        (0..length).map(|_| self.number(what)).collect()
    }

    fn instance(&mut self) -> Result<OrLibInstance> {
        let items = self.count("the number of items")?;
        let dimensions = self.count("the number of dimensions")?;
        let best = self.number("the best known value")?;
        let values = self.list(items, "the value of an item")?;
        let weights = (0..dimensions)
            .map(|_| self.list(items, "the weight of an item"))
            .collect::<Result<_>>()?;
        let capacity = self.list(dimensions, "a capacity")?;
        Ok(OrLibInstance {
            values,
            weights,
            capacity,
            best_known: (best != 0.0).then_some(best),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{OrLibInstance, parse};
    use crate::error::InputPlace;

    #[test]
    fn line_breaks_are_ignored() {
        let read = parse(
            " 2\n\n3 2 10.5\n1 2\n3 4 5 6\n7 8 9\n 20 21\n1 1 0 5 1 1\n",
            &InputPlace::default(),
        )
        .unwrap();
        let first = OrLibInstance {
            values: vec![1.0, 2.0, 3.0],
            weights: vec![vec![4.0, 5.0, 6.0], vec![7.0, 8.0, 9.0]],
            capacity: vec![20.0, 21.0],
            best_known: Some(10.5),
        };
        let second = OrLibInstance {
            values: vec![5.0],
            weights: vec![vec![1.0]],
            capacity: vec![1.0],
            best_known: None,
        };
        assert_eq!(read, [first, second]);
    }

    #[test]
    fn errors_name_the_line_and_what_is_missing() {
        let message = |text: &str| parse(text, &InputPlace::default()).unwrap_err().to_string();
        assert!(message("").contains("row 1: the file ends before the number of problems"));
        assert!(
            message("1\n2 1 0\n5 x\n").contains("row 3: 'x' is not a number; the value of an item")
        );
        assert!(message("1\n2 1 0\n5 6\n1 1\n").contains("row 4: the file ends before a capacity"));
        assert!(
            message("1\n1 1 0\n5\n1\n1\n9\n").contains("row 6: '9' follows the last of 1 problems")
        );
        assert!(message("1\n2.5 1 0\n").contains("row 2: 2.5 cannot be the number of items"));
        assert!(message("1\n1e90 1 0\n").contains("cannot be the number of items"));
        assert!(message("1\n1 1 0\n1e300\n").contains("row 3: '1e300' is too large"));
    }
}
