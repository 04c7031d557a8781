//! Reader of knapsack files of the OR-Library (Beasley 1990): several problems in one file of
//! numbers.
//!
//! Two layouts. In `mknap1` and `mknapcb1` to `mknapcb9`: the number of problems, then for each:
//! items, dimensions and the best known value (0 if unknown), the values of the items, one row of
//! weights per dimension, and the capacities. In `mknap2`: for each problem, after at least one
//! line of text (but for the first), dimensions, items, the values of the items, the capacities,
//! one row of weights per dimension, and the best known value. Lines of text may stand anywhere
//! there, and text may follow numbers in their line. Other line breaks are ignored. The published
//! file explains its format by an example, which is none of its problems: it reaches from the line
//! `EXAMPLE` to the next line of plus signs.

use std::collections::HashSet;
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
    if !starts_with_number(text) && !text.trim().is_empty() {
        return parse_annotated(text, place);
    }
    let counted = parse_counted(text, place);
    // A single problem of `mknap2`, cut out of the file, begins with a number too.
    if !looks_annotated(text) {
        return counted;
    }
    match (counted, parse_annotated(text, place)) {
        (Ok(_), Ok(_)) => {
            let message = "the numbers fit both layouts of knapsack files";
            Err(Error::input(place.clone(), message)
                .with_remedy("put the first number, or a word, on a line of its own"))
        }
        (Ok(instances), Err(_)) | (Err(_), Ok(instances)) => Ok(instances),
        (Err(error), Err(_)) => Err(error),
    }
}

/// Whether a text without other marks has the layout of `mknap2`: its first line of numbers has the
/// dimensions and the items of a problem.
pub fn looks_annotated(text: &str) -> bool {
    let first = annotated_lines(text).find(|(_, line)| starts_with_number(line));
    first.is_some_and(|(_, line)| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let is_count = |word: &&str| word.parse::<usize>().is_ok_and(|count| count > 0);
        words.len() >= 2
            && words[..2].iter().all(is_count)
            && !words[2..].iter().any(|word| word.parse::<f64>().is_ok())
    })
}

/// The lines of a file like `mknap2` with their numbers, without those of an example.
fn annotated_lines(text: &str) -> impl Iterator<Item = (u64, &str)> {
    let mut is_example = false;
    (1..).zip(text.lines()).filter(move |(_, line)| {
        let line = line.trim();
        if line == "EXAMPLE" {
            is_example = true;
        } else if line.starts_with("++") && line.trim_matches('+').is_empty() {
            is_example = false;
        }
        !is_example
    })
}

fn starts_with_number(text: &str) -> bool {
    let first = text.split_whitespace().next();
    first.is_some_and(|word| word.parse::<f64>().is_ok())
}

/// The layout of `mknap2`.
fn parse_annotated(text: &str, place: &InputPlace) -> Result<Vec<OrLibInstance>> {
    if !looks_annotated(text) {
        let message = "the first line of numbers is neither the number of problems nor the \
            dimensions and the items of the first problem";
        return Err(Error::input(place.clone(), message));
    }
    let mut words = Vec::new();
    // Words that are the first number behind a line of text.
    let mut follows_text = HashSet::new();
    let mut is_behind_text = true;
    for (number, line) in annotated_lines(text) {
        if !starts_with_number(line) {
            is_behind_text |= !line.trim().is_empty();
            continue;
        }
        if is_behind_text {
            follows_text.insert(words.len());
        }
        let mut numbers = line.split_whitespace();
        let is_number = |word: &&str| word.parse::<f64>().is_ok();
        let before = words.len();
        words.extend(
            numbers
                .by_ref()
                .take_while(is_number)
                .map(|word| (number, word)),
        );
        is_behind_text = words.len() - before < line.split_whitespace().count();
        if let Some(word) = numbers.find(is_number) {
            let message = format!("the number '{word}' follows text in its line");
            return Err(Error::input(place.clone().row(number), message));
        }
    }
    let total = words.len();
    let mut reader = OrLibReader {
        place,
        words: words.into_iter().peekable(),
        line: 1,
        left: text.len(),
    };
    let mut instances = Vec::new();
    while let Some((line, word)) = reader.words.peek().copied() {
        if !follows_text.contains(&(total - reader.words.len())) {
            let message = format!("'{word}' follows a problem; a line of text is expected first");
            return Err(Error::input(place.clone().row(line), message));
        }
        instances.push(reader.annotated_instance()?);
    }
    Ok(instances)
}

/// The layout of `mknap1`.
fn parse_counted(text: &str, place: &InputPlace) -> Result<Vec<OrLibInstance>> {
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

    fn annotated_instance(&mut self) -> Result<OrLibInstance> {
        let dimensions = self.count("the number of dimensions")?;
        let items = self.count("the number of items")?;
        let values = self.list(items, "the value of an item")?;
        let capacity = self.list(dimensions, "a capacity")?;
        let weights = (0..dimensions)
            .map(|_| self.list(items, "the weight of an item"))
            .collect::<Result<_>>()?;
        let best = self.number("the best known value")?;
        Ok(OrLibInstance {
            values,
            weights,
            capacity,
            best_known: (best != 0.0).then_some(best),
        })
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
    use super::{OrLibInstance, looks_annotated, parse};
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

    /// Two problems as in `mknap2`, with text in every place where it may stand.
    const ANNOTATED: &str = "\
About 0/1 knapsacks with several dimensions.

++++++++++++++++
problem FIRST.DAT
2 3            // dimensions, items
  the values
10 20
30
capacities:
5 6
1 2 3
  4 5 6
  the best known value
40   = optimum
++++++++++++++++
problem SECOND.DAT
1 1

7
1
1
0
";

    #[test]
    fn lines_of_text_stand_between_numbers() {
        let read = parse(ANNOTATED, &InputPlace::default()).unwrap();
        let first = OrLibInstance {
            values: vec![10.0, 20.0, 30.0],
            weights: vec![vec![1.0, 2.0, 3.0], vec![4.0, 5.0, 6.0]],
            capacity: vec![5.0, 6.0],
            best_known: Some(40.0),
        };
        assert_eq!(read[0], first);
        assert_eq!((read.len(), read[1].best_known), (2, None));
        assert!(looks_annotated(ANNOTATED));
        let alone =
            &ANNOTATED[ANNOTATED.find("2 3").unwrap()..ANNOTATED.find("++++\nproblem S").unwrap()];
        let alone = parse(&alone.replace("++", ""), &InputPlace::default()).unwrap();
        assert_eq!(alone, [first]);
    }

    #[test]
    fn an_example_is_none_of_the_problems() {
        let example = "\
EXAMPLE
 2 3 // 2 knapsacks, 3 objects
 1 2 3
 4 5
 1 2 3 4 5 6
 7
";
        let read = |text: &str| parse(text, &InputPlace::default()).unwrap();
        let with_example = ANNOTATED.replacen("+++", &format!("{example}+++"), 1);
        assert_eq!(read(&with_example), read(ANNOTATED));
        let unfinished = parse(&format!("text\n{example}"), &InputPlace::default());
        assert!(unfinished.is_err(), "{unfinished:?}");
        // Lines of text do not begin an example by accident.
        let mentioned = ANNOTATED.replacen("problem FIRST", "for EXAMPLE\nproblem FIRST", 1);
        assert_eq!(read(&mentioned), read(ANNOTATED));
    }

    #[test]
    fn numbers_that_do_not_fit_the_layout_are_refused() {
        let message = |from: &str, to: &str| {
            let text = ANNOTATED.replace(from, to);
            parse(&text, &InputPlace::default())
                .unwrap_err()
                .to_string()
        };
        assert!(message("40   = optimum", "40 = optimum 41").contains("row 14: the number '41'"));
        assert!(message("5 6\n", "5 6 7\n").contains("a line of text is expected first"));
        assert!(message("7\n1\n1\n0\n", "7\n1\n1\n").contains("the file ends before the best"));
        assert!(message("2 3 ", "2 0 ").contains("the first line of numbers"));
        assert!(
            message("1 1\n\n7", "1 0\n\n7").contains("row 17: 0 cannot be the number of items")
        );
        assert!(parse("only text\n", &InputPlace::default()).is_err());
        assert!(!looks_annotated("a,b\n1,2\n") && !looks_annotated("text\n1 2 3\n"));
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
