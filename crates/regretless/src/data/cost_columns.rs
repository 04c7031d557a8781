//! Columns of features that belong to one cost each, such as a forecast of every hour.
//!
//! Names tell them: they are those of the costs between the same beginning and end
//! (`forecast_h07` and `price_h07`). Where names do not tell, correlations do: as many columns with
//! names that are alike, each of which is correlated with a cost of its own far more than with any
//! other.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::encoding::FeatureSourceKind;
use super::{Dataset, FeatureShape};
use crate::text::common_ends;

/// Least difference between the correlation of a column with its own cost and with the next one.
const MIN_CORRELATION_MARGIN: f64 = 0.1;
/// The same in standard errors of a correlation of 0.
const MIN_MARGIN_ERRORS: f64 = 3.0;
/// Most costs whose columns are found by correlation: their number grows with the square.
const MAX_CORRELATED_COSTS: usize = 200;

/// Columns of a wide table by the cost that they belong to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CostColumnGroups {
    /// Groups with a column for each cost, in the order of the costs.
    pub groups: Vec<Vec<usize>>,
    /// All other columns.
    pub common: Vec<usize>,
}

impl Dataset {
    /// Groups of features with a column for each cost, by name and in the order of the costs; a
    /// column that names do not tell about is compared with the costs of these rows.
    pub fn columns_of_costs(&self, rows: &[usize]) -> Vec<Vec<String>> {
        let names = self.features.names();
        let name = |column: usize| names[column].clone();
        let groups = CostColumnGroups::of(self, rows).map_or(Vec::new(), |columns| columns.groups);
        let named = groups.into_iter();
        named
            .map(|group| group.into_iter().map(name).collect())
            .collect()
    }
}

impl CostColumnGroups {
    /// The columns of a table; `None` where none belong to one cost each, or rows lack some costs.
    pub fn of(data: &Dataset, rows: &[usize]) -> Option<Self> {
        let costs = data.costs.cols();
        let is_wide = data.features.shape == FeatureShape::Wide;
        if !is_wide || costs < 2 || data.features.names.len() < costs || data.has_absent_costs() {
            return None;
        }
        let sources = data.features.sources();
        let mut finder = GroupFinder {
            data,
            rows,
            is_free: sources
                .iter()
                .map(|source| source.kind == FeatureSourceKind::Number)
                .collect(),
            groups: Vec::new(),
        };
        let names = data.cost_names.to_vec();
        finder.find_named(&stems(&names));
        finder.find_named(&names);
        if costs <= MAX_CORRELATED_COSTS {
            finder.find_correlated();
        }
        let groups = finder.groups;
        let grouped: HashSet<usize> = groups.iter().flatten().copied().collect();
        let all = 0..data.features.names.len();
        (!groups.is_empty()).then(|| Self {
            groups,
            common: all.filter(|column| !grouped.contains(column)).collect(),
        })
    }
}

/// The parts in which names differ, as whole words.
fn stems(names: &[String]) -> Vec<String> {
    let (start, end) = common_ends(names);
    let first = names[0].as_str();
    let is_separator = |c: char| !c.is_alphanumeric();
    let start = first[..start].rfind(is_separator).map_or(0, |at| {
        at + first[at..].chars().next().map_or(1, char::len_utf8)
    });
    let suffix = &first[first.len() - end..];
    let end = suffix.find(is_separator).map_or(0, |at| suffix.len() - at);
    let stem = |name: &String| name[start..name.len() - end].to_owned();
    names.iter().map(stem).collect()
}

struct GroupFinder<'a> {
    data: &'a Dataset,
    rows: &'a [usize],
    /// Whether a feature is a number in no group yet.
    is_free: Vec<bool>,
    groups: Vec<Vec<usize>>,
}

impl GroupFinder<'_> {
    fn names(&self) -> &[String] {
        &self.data.features.names
    }

    fn add(&mut self, group: Vec<usize>) {
        for column in &group {
            self.is_free[*column] = false;
        }
        self.groups.push(group);
    }

    /// Groups with a column for each of these words, between the same beginning and end.
    fn find_named(&mut self, words: &[String]) {
        let Some(first) = words
            .first()
            .filter(|_| !words.iter().any(String::is_empty))
        else {
            return;
        };
        let positions: HashMap<String, usize> = self
            .names()
            .iter()
            .cloned()
            .zip(0..self.names().len())
            .collect();
        for name in self.names().to_vec() {
            for (start, _) in name.match_indices(first.as_str()) {
                let (prefix, suffix) = (&name[..start], &name[start + first.len()..]);
                let is_inside = prefix.ends_with(char::is_alphanumeric)
                    || suffix.starts_with(char::is_alphanumeric);
                let place = |word: &String| {
                    let column = positions.get(&format!("{prefix}{word}{suffix}")).copied()?;
                    self.is_free[column].then_some(column)
                };
                let group: Option<Vec<usize>> = words.iter().map(place).collect();
                if let Some(group) = group.filter(|_| !is_inside) {
                    self.add(group);
                }
            }
        }
    }

    /// Groups of as many columns as costs, each of which belongs to the cost it is correlated with.
    fn find_correlated(&mut self) {
        let costs = self.data.costs.cols();
        let mut alike: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (column, name) in self.names().iter().enumerate() {
            let without_digits = name.trim_end_matches(|c: char| c.is_ascii_digit());
            let first_word = name.split_once('_').map_or(name.as_str(), |(word, _)| word);
            let mut starts = vec![without_digits, first_word];
            starts.dedup();
            for start in starts {
                alike.entry(start).or_default().push(column);
            }
        }
        let alike: Vec<Vec<usize>> = alike.into_values().collect();
        for columns in alike {
            let is_possible =
                columns.len() == costs && columns.iter().all(|column| self.is_free[*column]);
            if is_possible && let Some(group) = self.by_correlation(&columns) {
                self.add(group);
            }
        }
    }

    /// The columns in the order of the costs that they are correlated with, if that is clear.
    fn by_correlation(&self, columns: &[usize]) -> Option<Vec<usize>> {
        let costs = self.data.predicted_part();
        let of_rows = |value: &dyn Fn(usize) -> f32| -> Vec<f64> {
            let values: Vec<f64> = self.rows.iter().map(|row| f64::from(value(*row))).collect();
            standardized(values)
        };
        let costs: Vec<Vec<f64>> = (0..costs.cols())
            .map(|cost| of_rows(&|row| costs.row(row)[cost]))
            .collect();
        let error = (self.rows.len().max(1) as f64).sqrt().recip();
        let margin = MIN_CORRELATION_MARGIN.max(MIN_MARGIN_ERRORS * error);
        let mut owners = vec![None; costs.len()];
        for column in columns {
            let values = of_rows(&|row| self.data.features.instance(row)[*column]);
            let product = |cost: &Vec<f64>| -> f64 {
                cost.iter()
                    .zip(&values)
                    .map(|(a, b)| a * b)
                    .sum::<f64>()
                    .abs()
            };
            let correlations: Vec<f64> = costs.iter().map(product).collect();
            let mut order: Vec<usize> = (0..costs.len()).collect();
            order.sort_by(|a, b| correlations[*b].total_cmp(&correlations[*a]));
            let is_clear = correlations[order[0]] - correlations[order[1]] >= margin;
            if !is_clear || owners[order[0]].replace(*column).is_some() {
                return None;
            }
        }
        owners.into_iter().collect()
    }
}

/// Values with mean 0 and a sum of squares of 1; zeros where they are constant.
fn standardized(mut values: Vec<f64>) -> Vec<f64> {
    let mean = values.iter().sum::<f64>() / values.len().max(1) as f64;
    for value in &mut values {
        *value -= mean;
    }
    let norm = values.iter().map(|value| value * value).sum::<f64>().sqrt();
    for value in &mut values {
        *value /= if norm > 0.0 { norm } else { 1.0 };
    }
    values
}

#[cfg(test)]
mod tests {
    use super::CostColumnGroups;
    use crate::data::{Dataset, FeatureShape, Features, Matrix};

    /// Rows of two costs and some features, each the negated first or second cost, or noise.
    fn table(features: &[(&str, char)], costs: [&str; 2]) -> Dataset {
        let rows = 40;
        let value = |row: usize, stream: usize| ((row * 37 + stream * 101) % 23) as f32;
        let mut values = Vec::new();
        let mut targets = Vec::new();
        for row in 0..rows {
            for (column, (_, source)) in features.iter().enumerate() {
                values.push(match source {
                    'a' => -value(row, 1),
                    'b' => -value(row * row, 2),
                    _ => value(row * row * row, 5 + column),
                });
            }
            targets.extend([value(row, 1), value(row * row, 2)]);
        }
        let names = features
            .iter()
            .map(|(name, _)| (*name).to_owned())
            .collect();
        let values = Matrix::new(rows, features.len(), values).unwrap();
        let features = Features::new(values, FeatureShape::Wide, Some(names)).unwrap();
        let costs = costs.map(str::to_owned).to_vec();
        Dataset::new(
            features,
            Matrix::new(rows, 2, targets).unwrap(),
            Some(costs.into()),
        )
        .unwrap()
    }

    fn groups(features: &[(&str, char)], costs: [&str; 2]) -> Vec<Vec<usize>> {
        let rows: Vec<usize> = (0..40).collect();
        let found = CostColumnGroups::of(&table(features, costs), &rows);
        found.map_or(Vec::new(), |columns| columns.groups)
    }

    #[test]
    fn names_tell_which_cost_a_column_belongs_to() {
        let features = [
            ("wind_h1", '-'),
            ("wind_h2", '-'),
            ("load", '-'),
            ("price_h2_lag7", '-'),
            ("price_h1_lag7", '-'),
        ];
        assert_eq!(
            groups(&features, ["price_h1", "price_h2"]),
            [vec![0, 1], vec![4, 3]]
        );
        assert_eq!(groups(&features, ["h1", "h2"]), [vec![0, 1], vec![4, 3]]);
        // Numbers within words do not belong to the costs.
        let numbered = [("x0", '-'), ("x1", '-')];
        assert!(groups(&numbered, ["c0", "c1"]).is_empty());
        assert!(groups(&numbered, ["cost_0", "cost_1"]).is_empty());
    }

    #[test]
    fn where_names_do_not_tell_each_column_belongs_to_the_cost_it_is_correlated_with() {
        let features = [("f1", 'b'), ("f2", 'a'), ("z", '-')];
        assert_eq!(groups(&features, ["fish", "meat"]), [vec![1, 0]]);
        let same = [("f1", 'a'), ("f2", 'a')];
        assert!(groups(&same, ["fish", "meat"]).is_empty());
        let noise = [("f1", '-'), ("f2", '-')];
        assert!(groups(&noise, ["fish", "meat"]).is_empty());
    }
}
