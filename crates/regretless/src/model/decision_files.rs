//! Files of decisions: CSV (dense or sparse), NPY and JSON lines.
//!
//! Each function checks what it writes and returns a writer, so nothing is written if the content
//! cannot be.

use std::borrow::Cow;
use std::collections::HashSet;
use std::io::{self, Write};

use serde::{Serialize, Serializer};

use super::PredictedDecisions;
use crate::data::csv::{name_cell, shortest};
use crate::data::{InstanceKeys, RowParameters, npy};
use crate::error::{Error, Result};

/// Columns of a CSV file of decisions beside the key and the values.
const OBJECTIVE: &str = "objective";
const STATUS: &str = "status";

impl PredictedDecisions {
    /// Decisions as CSV. Dense: one row per instance with its key, predicted objective, status and
    /// the value of every column. Sparse: one row per value that is not zero with key, objective,
    /// status, column and value; an instance whose values are all zero has one row with the first
    /// column and the value 0. A name or key that a spreadsheet would take for a formula (`=1+2`)
    /// is written with a single quote in front.
    ///
    /// If instances have items of their own, a column is an item of the instance: dense files also
    /// have one row per value, of all items that exist.
    ///
    /// # Errors
    /// When two columns would have the same name, or there is not one key per instance.
    pub fn csv<'a>(
        &'a self,
        keys: &'a InstanceKeys,
        sparse: bool,
    ) -> Result<impl Fn(&mut dyn Write) -> io::Result<()> + 'a> {
        keys.check_count(self.solutions.len())?;
        let is_by_value = sparse || self.have_own_items();
        let mut header = vec![name_cell(keys.name()), OBJECTIVE.into(), STATUS.into()];
        if is_by_value {
            header.extend(["column", "value"].map(String::from));
        } else {
            header.extend(self.columns.iter().map(|name| name_cell(&name)));
        }
        check_unique(&header)?;
        Ok(move |out: &mut dyn Write| {
            let mut writer = csv::Writer::from_writer(out);
            writer.write_record(&header).map_err(io_error)?;
            let mut values = vec![0.0; self.columns.len()];
            for (instance, key) in keys.values().iter().enumerate() {
                let beginning = [
                    name_cell(key),
                    shortest(self.solutions[instance].objective),
                    self.status(instance),
                ];
                if is_by_value {
                    for (column, value) in self.values(instance, sparse) {
                        let name = self.column_name(instance, column);
                        let entry = [name_cell(&name), shortest(value)];
                        writer
                            .write_record(beginning.iter().chain(&entry))
                            .map_err(io_error)?;
                    }
                } else {
                    self.complete[instance].write_dense(&mut values);
                    let cells = values.iter().map(|value| shortest(*value));
                    writer
                        .write_record(beginning.into_iter().chain(cells))
                        .map_err(io_error)?;
                }
            }
            writer.flush()
        })
    }

    /// The values of every column as an NPY array in double precision, one row per instance. It
    /// holds numbers only: no keys, objectives, statuses or names.
    pub fn npy(&self) -> impl Fn(&mut dyn Write) -> io::Result<()> + '_ {
        |out: &mut dyn Write| {
            npy::write_f64_rows(
                out,
                self.complete.len(),
                self.columns.len(),
                |instance, row| self.complete[instance].write_dense(row),
            )
        }
    }

    /// Decisions as JSON lines: one object per instance with `key`, `objective`, `bound`, `status`
    /// and `values`, an object of values by column; only those that are not zero if `sparse`.
    ///
    /// # Errors
    /// When two columns have the same name, or there is not one key per instance.
    pub fn json_lines<'a>(
        &'a self,
        keys: &'a InstanceKeys,
        sparse: bool,
    ) -> Result<impl Fn(&mut dyn Write) -> io::Result<()> + 'a> {
        keys.check_count(self.solutions.len())?;
        let names = self.columns.to_vec();
        check_unique(&names)?;
        Ok(move |out: &mut dyn Write| {
            let mut dense = vec![0.0; names.len()];
            for (instance, key) in keys.values().iter().enumerate() {
                let complete = &self.complete[instance];
                let values = if sparse {
                    complete.iter().collect()
                } else if self.have_own_items() {
                    self.existing_values(instance)
                } else {
                    complete.write_dense(&mut dense);
                    dense.iter().copied().enumerate().collect()
                };
                let own_names = self.parameters.as_deref().filter(|_| self.have_own_items());
                let own_names = own_names.map(|parameters| (parameters, instance));
                let solution = &self.solutions[instance];
                let line = DecisionLine {
                    key,
                    objective: solution.objective,
                    bound: solution.bound.is_finite().then_some(solution.bound),
                    status: self.status(instance),
                    values: ColumnValues {
                        names: &names,
                        own_names,
                        values,
                    },
                };
                serde_json::to_writer(&mut *out, &line)?;
                out.write_all(b"\n")?;
            }
            Ok(())
        })
    }

    /// The proven quality of a decision: `optimal`, `within 0.50 %`, `limit reached`, or
    /// `heuristic` if nothing is proven.
    pub fn status(&self, instance: usize) -> String {
        self.solutions[instance]
            .status
            .describe(self.heuristic.is_some())
    }

    /// Columns and values of an instance: those that are not zero, or the first column if all are;
    /// or those of all items that exist.
    fn values(&self, instance: usize, sparse: bool) -> Vec<(usize, f64)> {
        if !sparse {
            return self.existing_values(instance);
        }
        let entries: Vec<(usize, f64)> = self.complete[instance].iter().collect();
        if !entries.is_empty() {
            return entries;
        }
        let existing = self.existing_values(instance);
        existing.into_iter().take(1).collect()
    }

    fn existing_values(&self, instance: usize) -> Vec<(usize, f64)> {
        let mut dense = vec![0.0; self.columns.len()];
        self.complete[instance].write_dense(&mut dense);
        let parameters = self.parameters.as_deref();
        let exists = |column: usize| {
            parameters.is_none_or(|parameters| parameters.has_item(instance, column))
        };
        let values = dense.into_iter().enumerate();
        values.filter(|(column, _)| exists(*column)).collect()
    }

    /// Whether the items of each instance are its own: named by it, or fewer than those of others
    /// without names.
    fn have_own_items(&self) -> bool {
        let parameters = self.parameters.as_deref();
        parameters.is_some_and(|parameters| {
            parameters.name_items() || (parameters.may_lack_items() && self.names.are_numbered())
        })
    }

    /// The name of a column of an instance.
    fn column_name(&self, instance: usize, column: usize) -> Cow<'_, str> {
        let parameters = self.parameters.as_deref();
        let own = parameters.and_then(|parameters| parameters.item_name(instance, column));
        own.map_or_else(|| self.columns.get(column), Cow::Borrowed)
    }
}

/// One line of a file of JSON lines.
#[derive(Serialize)]
struct DecisionLine<'a> {
    key: &'a str,
    objective: f64,
    /// The dual bound; none if nothing is proven.
    bound: Option<f64>,
    status: String,
    values: ColumnValues<'a>,
}

/// Values by the name of their column, in the order of the columns.
struct ColumnValues<'a> {
    names: &'a [String],
    /// The parameters that name the items of an instance, and the instance.
    own_names: Option<(&'a RowParameters, usize)>,
    values: Vec<(usize, f64)>,
}

impl ColumnValues<'_> {
    fn name(&self, column: usize) -> &str {
        let own = self.own_names;
        let own = own.and_then(|(parameters, instance)| parameters.item_name(instance, column));
        own.unwrap_or(&self.names[column])
    }
}

impl Serialize for ColumnValues<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let entries = self.values.iter();
        serializer.collect_map(entries.map(|(column, value)| (self.name(*column), value)))
    }
}

/// The error of the operating system, whose kind the conversion of the csv crate would lose.
fn io_error(error: csv::Error) -> io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        other => io::Error::other(format!("{other:?}")),
    }
}

fn check_unique(names: &[String]) -> Result<()> {
    let mut seen = HashSet::with_capacity(names.len());
    match names.iter().find(|name| !seen.insert(name.as_str())) {
        Some(duplicate) => Err(
            Error::data(format!("two columns would be named '{duplicate}'"))
                .with_remedy("rename one of them, or choose another format"),
        ),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::PredictedDecisions;
    use crate::data::{CostNames, InstanceKeys, Matrix, RowParameters};
    use crate::decision::Decision;
    use crate::evaluate::UnpredictedCosts;
    use crate::oracle::Heuristic;
    use crate::solve::{Solution, SolveStatus};

    /// Two instances of a problem with two predicted costs and one other column.
    fn decided(names: [&str; 3]) -> PredictedDecisions {
        let solution = |objective: f64, status: SolveStatus| Solution {
            status,
            bound: f64::NEG_INFINITY,
            ..Solution::optimal(Decision::default(), objective)
        };
        PredictedDecisions {
            names: CostNames::numbered(2),
            costs: Matrix::zeros(2, 2),
            solutions: vec![
                solution(7.25, SolveStatus::WithinGap(0.005)),
                solution(0.0, SolveStatus::LimitReached),
            ],
            columns: CostNames::from(names.map(String::from).to_vec()),
            complete: vec![
                Decision::from_dense(&[0.0, 0.1, -3.0]),
                Decision::from_dense(&[0.0; 3]),
            ],
            heuristic: None,
            parameters: None,
            rows: Vec::new(),
            failed: Vec::new(),
            unpredicted: UnpredictedCosts::default(),
        }
    }

    fn keys() -> InstanceKeys {
        InstanceKeys::new("date", vec!["2026-01-02".into(), "=A1".into()])
    }

    fn csv(decided: &PredictedDecisions, sparse: bool) -> String {
        let mut text = Vec::new();
        decided.csv(&keys(), sparse).unwrap()(&mut text).unwrap();
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn rows_have_key_objective_status_and_every_column() {
        let decided = decided(["ship, a", "=b", "open"]);
        assert_eq!(
            csv(&decided, false),
            "date,objective,status,\"ship, a\",'=b,open\n\
             2026-01-02,7.25,within 0.50 %,0,0.1,-3\n\
             '=A1,0,limit reached,0,0,0\n"
        );
        assert_eq!(
            csv(&decided, true),
            "date,objective,status,column,value\n\
             2026-01-02,7.25,within 0.50 %,'=b,0.1\n\
             2026-01-02,7.25,within 0.50 %,open,-3\n\
             '=A1,0,limit reached,\"ship, a\",0\n"
        );
    }

    #[test]
    fn json_lines_keep_names_and_order() {
        let mut text = Vec::new();
        let mut decided = decided(["z", "=b", "a"]);
        decided.solutions[0].bound = 7.0;
        decided.json_lines(&keys(), false).unwrap()(&mut text).unwrap();
        decided.json_lines(&keys(), true).unwrap()(&mut text).unwrap();
        let lines: Vec<&str> = std::str::from_utf8(&text).unwrap().lines().collect();
        let first = r#"{"key":"2026-01-02","objective":7.25,"bound":7.0,"status":"within 0.50 %""#;
        let second = r#"{"key":"=A1","objective":0.0,"bound":null,"status":"limit reached""#;
        assert_eq!(
            lines,
            [
                format!(r#"{first},"values":{{"z":0.0,"=b":0.1,"a":-3.0}}}}"#),
                format!(r#"{second},"values":{{"z":0.0,"=b":0.0,"a":0.0}}}}"#),
                format!(r#"{first},"values":{{"=b":0.1,"a":-3.0}}}}"#),
                format!(r#"{second},"values":{{}}}}"#),
            ]
        );
    }

    #[test]
    fn items_of_an_instance_have_its_names_and_absent_ones_are_not_written() {
        let present = Arc::new(vec![1.0, 1.0, 1.0, 1.0, 0.0, 0.0]);
        let parameters = RowParameters::new(2)
            .with_item_column(RowParameters::PRESENT_ITEMS, 3, present)
            .unwrap();
        let mut decided = decided(["c0", "c1", "c2"]);
        decided.parameters = Some(Arc::new(parameters.clone()));
        let unnamed = "date,objective,status,column,value\n\
            2026-01-02,7.25,within 0.50 %,c0,0\n2026-01-02,7.25,within 0.50 %,c1,0.1\n\
            2026-01-02,7.25,within 0.50 %,c2,-3\n'=A1,0,limit reached,c0,0\n";
        assert_eq!(csv(&decided, false), unnamed);
        let names = ["h1", "h2", "=h9"].map(String::from).to_vec();
        let indices = [Some(0), Some(1), Some(2), Some(2), None, None];
        decided.parameters = Some(Arc::new(parameters.with_item_names(
            names,
            3,
            indices.into_iter(),
        )));
        let named = unnamed.replace("A1,0,limit reached,c0", "A1,0,limit reached,'=h9");
        let named = named
            .replace("c0", "h1")
            .replace("c1", "h2")
            .replace("c2", "'=h9");
        assert_eq!(csv(&decided, false), named);
        let sparse: Vec<&str> = named.lines().filter(|line| !line.contains("h1")).collect();
        assert_eq!(csv(&decided, true).lines().collect::<Vec<_>>(), sparse);
        let mut text = Vec::new();
        decided.json_lines(&keys(), false).unwrap()(&mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        for values in [r#"{"h1":0.0,"h2":0.1,"=h9":-3.0}"#, r#"{"=h9":0.0}"#] {
            assert!(text.contains(values), "{text}");
        }
    }

    #[test]
    fn arrays_hold_values_in_double_precision() {
        let mut bytes = Vec::new();
        decided(["a", "b", "c"]).npy()(&mut bytes).unwrap();
        let header = String::from_utf8_lossy(&bytes);
        assert!(
            header.contains("'<f8'") && header.contains("(2, 3"),
            "{header}"
        );
        let numbers: Vec<f64> = bytes[bytes.len() - 48..]
            .chunks(8)
            .map(|number| f64::from_le_bytes(number.try_into().unwrap()))
            .collect();
        assert_eq!(numbers, [0.0, 0.1, -3.0, 0.0, 0.0, 0.0]);
    }

    #[test]
    fn equal_names_and_missing_keys_are_refused() {
        let clash = decided(["a", "objective", "c"]);
        let error = clash.csv(&keys(), false).err().unwrap();
        assert!(error.to_string().contains("'objective'"), "{error}");
        assert!(clash.csv(&keys(), true).is_ok());
        assert!(clash.json_lines(&keys(), false).is_ok());
        assert!(decided(["a", "b", "a"]).json_lines(&keys(), true).is_err());
        let decided = decided(["a", "b", "c"]);
        assert!(decided.csv(&InstanceKeys::numbered(3), false).is_err());
        assert!(
            decided
                .json_lines(&InstanceKeys::numbered(1), false)
                .is_err()
        );
    }

    #[test]
    fn unproven_decisions_of_a_heuristic_are_marked() {
        let mut decided = decided(["a", "b", "c"]);
        decided.heuristic = Some(Heuristic::LocalSearch);
        decided.solutions[1].status = SolveStatus::Optimal;
        assert_eq!(
            [0, 1].map(|row| decided.status(row)),
            ["heuristic", "optimal"]
        );
    }
}
