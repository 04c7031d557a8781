//! The format of label files: a checksummed file with the keys of rows and sparse decisions.
//!
//! `keys` contains two numbers for the key of each row, in ascending order. `indices` contains the
//! nonzero entries of all decisions in sequence, `offsets` the first entry of each row; `values`
//! exists only if one of them is not 1, `fixed` only if a decision has a fixed cost, `work` only if
//! the solver counts its work. The reasons why rows could not be solved are in the header; the
//! status of such a row is `FIRST_FAILURE_STATUS` plus the index of its reason.

use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize};

use super::label_key::LabelKey;
use crate::checksummed_file::ChecksummedFile;
use crate::decision::Decision;
use crate::oracle::{Heuristic, SolveResult};
use crate::solve::{Solution, SolveFailure, SolveStatus};

/// Kind and version of the file.
pub(super) const LABEL_FILE_FORMAT: &str = "labels 3";
/// The status of rows with the first reason of failure in the header.
const FIRST_FAILURE_STATUS: u32 = 3;

/// The header of a label file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct LabelFileHeader {
    /// Hash over problem and limits.
    key: String,
    /// The heuristic that computed the decisions, which then need not be optimal; none for exact
    /// solves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    heuristic: Option<Heuristic>,
    /// Reasons why rows could not be solved.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    failures: Vec<SolveFailure>,
}

/// What labels belong to: a problem with limits, and the heuristic.
#[derive(Debug, Clone, Copy)]
pub(super) struct LabelContext<'a> {
    /// Hash over problem and limits.
    pub key: &'a str,
    pub heuristic: Option<Heuristic>,
}

/// Labels as the bytes of a file.
pub(super) fn encode(
    context: LabelContext<'_>,
    results: &BTreeMap<LabelKey, SolveResult>,
) -> Result<Vec<u8>, String> {
    // Failed rows have an empty decision, so all arrays have an entry per row.
    let empty = Solution::optimal(Decision::from_indices([]), 0.0);
    let mut failures: Vec<SolveFailure> = Vec::new();
    let mut failure_indices: HashMap<String, usize> = HashMap::new();
    let mut keys = Vec::with_capacity(2 * results.len());
    let mut labels: Vec<&Solution> = Vec::with_capacity(results.len());
    let mut statuses = Vec::with_capacity(results.len());
    let mut gaps = Vec::with_capacity(results.len());
    for (key, result) in results {
        keys.extend([key.high, key.low]);
        let (label, status, gap) = match result {
            Ok(label) => {
                let (status, gap) = status_to_number(label.status);
                (label, status, gap)
            }
            Err(failure) => {
                // Reasons are listed once: many rows fail for the same one.
                let index = *failure_indices
                    .entry(failure.to_string())
                    .or_insert_with(|| {
                        failures.push(failure.clone());
                        failures.len() - 1
                    });
                (&empty, FIRST_FAILURE_STATUS + index as u32, 0.0)
            }
        };
        labels.push(label);
        statuses.push(status);
        gaps.push(gap);
    }
    let header = LabelFileHeader {
        key: context.key.into(),
        heuristic: context.heuristic,
        failures,
    };
    let file = ChecksummedFile::new(header).with_array("keys", keys);
    with_solutions(file, &labels)
        .with_array("statuses", statuses)
        .with_array("gaps", gaps)
        .to_bytes(LABEL_FILE_FORMAT)
        .map_err(|error| error.to_string())
}

/// Adds decisions, objectives and bounds.
fn with_solutions(
    file: ChecksummedFile<LabelFileHeader>,
    labels: &[&Solution],
) -> ChecksummedFile<LabelFileHeader> {
    let mut indices: Vec<u32> = Vec::new();
    let mut values: Vec<f64> = Vec::new();
    // Offsets begin with 0, so a row's entries lie between two neighbors.
    let mut offsets: Vec<u64> = vec![0];
    for label in labels {
        indices.extend(label.decision.indices());
        values.extend(label.decision.iter().map(|(_, value)| value));
        offsets.push(indices.len() as u64);
    }
    let column = |number: fn(&Solution) -> f64| {
        labels
            .iter()
            .map(|label| number(label))
            .collect::<Vec<f64>>()
    };
    let mut file = file
        .with_array("indices", indices)
        .with_array("offsets", offsets)
        .with_array("objectives", column(|label| label.objective))
        .with_array("bounds", column(|label| label.bound));
    // Arrays of one value are left out: most decisions are binary without fixed costs.
    if labels.iter().any(|label| label.decision.fixed() != 0.0) {
        file = file.with_array("fixed", column(|label| label.decision.fixed()));
    }
    if labels.iter().any(|label| label.work != 0) {
        file = file.with_array(
            "work",
            labels.iter().map(|label| label.work).collect::<Vec<u64>>(),
        );
    }
    if values.iter().any(|value| *value != 1.0) {
        file = file.with_array("values", values);
    }
    file
}

/// The labels in a file, if it is intact and belongs to the context; decisions are for `num_costs`
/// costs.
pub(super) fn decode(
    bytes: &[u8],
    context: LabelContext<'_>,
    num_costs: usize,
) -> Result<Vec<(LabelKey, SolveResult)>, String> {
    let mut file = ChecksummedFile::<LabelFileHeader>::from_bytes(bytes, LABEL_FILE_FORMAT)?;
    // The file of another problem is not damaged, but of no use.
    if (file.header.key.as_str(), file.header.heuristic) != (context.key, context.heuristic) {
        return Err("it does not contain labels of this problem with these limits".into());
    }
    let columns =
        LabelColumns::take(&mut file).ok_or("its arrays have the wrong type or length")?;
    let mut results = Vec::with_capacity(columns.keys.len());
    for (i, key) in columns.keys.iter().enumerate() {
        let failure = columns.statuses[i].checked_sub(FIRST_FAILURE_STATUS);
        let result = match failure {
            Some(index) => Err(file
                .header
                .failures
                .get(index as usize)
                .ok_or("a row has a status without a reason")?
                .clone()),
            None => Ok(columns.label(i, num_costs)?),
        };
        results.push((*key, result));
    }
    Ok(results)
}

fn status_to_number(status: SolveStatus) -> (u32, f64) {
    match status {
        SolveStatus::Optimal => (0, 0.0),
        SolveStatus::WithinGap(gap) => (1, gap),
        SolveStatus::LimitReached => (2, 0.0),
    }
}

fn status_from_number(number: u32, gap: f64) -> Result<SolveStatus, String> {
    match number {
        0 => Ok(SolveStatus::Optimal),
        1 => Ok(SolveStatus::WithinGap(gap)),
        2 => Ok(SolveStatus::LimitReached),
        other => Err(format!("it has an unknown status {other}")),
    }
}

/// The arrays of a file, their lengths checked.
struct LabelColumns {
    keys: Vec<LabelKey>,
    indices: Vec<u32>,
    offsets: Vec<usize>,
    values: Option<Vec<f64>>,
    fixed: Option<Vec<f64>>,
    objectives: Vec<f64>,
    bounds: Vec<f64>,
    statuses: Vec<u32>,
    gaps: Vec<f64>,
    work: Option<Vec<u64>>,
}

impl LabelColumns {
    fn take(file: &mut ChecksummedFile<LabelFileHeader>) -> Option<Self> {
        let offsets = file.take_array::<Vec<u64>>("offsets")?;
        let offsets: Vec<usize> = offsets
            .into_iter()
            .map(usize::try_from)
            .collect::<Result<_, _>>()
            .ok()?;
        let numbers = file.take_array::<Vec<u64>>("keys")?;
        let (pairs, rest) = numbers.as_chunks::<2>();
        // The header is trusted as little as the arrays: a forged file must not make later code
        // panic.
        let keys: Vec<LabelKey> = pairs
            .iter()
            .map(|[high, low]| LabelKey {
                high: *high,
                low: *low,
            })
            .collect();
        let columns = Self {
            indices: file.take_array("indices")?,
            offsets,
            values: file.take_array("values"),
            fixed: file.take_array("fixed"),
            objectives: file.take_array("objectives")?,
            bounds: file.take_array("bounds")?,
            statuses: file.take_array("statuses")?,
            gaps: file.take_array("gaps")?,
            work: file.take_array("work"),
            keys,
        };
        let rows = columns.keys.len();
        let lengths = [
            columns.objectives.len(),
            columns.bounds.len(),
            columns.statuses.len(),
            columns.gaps.len(),
        ];
        let entries = columns.indices.len();
        // Sorted keys are what a writer produces, and exclude doubles.
        let consistent = rest.is_empty()
            && columns.keys.is_sorted_by(|a, b| a < b)
            && lengths == [rows; 4]
            && columns.offsets.len() == rows + 1
            && columns
                .values
                .as_ref()
                .is_none_or(|values| values.len() == entries)
            && columns
                .fixed
                .as_ref()
                .is_none_or(|fixed| fixed.len() == rows)
            && columns.work.as_ref().is_none_or(|work| work.len() == rows)
            && columns.offsets.is_sorted()
            && (columns.offsets[0], columns.offsets[rows]) == (0, entries);
        consistent.then_some(columns)
    }

    fn label(&self, instance: usize, num_costs: usize) -> Result<Solution, String> {
        let range = self.offsets[instance]..self.offsets[instance + 1];
        let indices = &self.indices[range.clone()];
        // Indices of a decision increase; others are forged.
        if !indices.is_sorted_by(|a, b| a < b)
            || indices
                .last()
                .is_some_and(|last| *last as usize >= num_costs)
        {
            return Err(format!("the decision of row {instance} is damaged"));
        }
        let value = |entry: usize| self.values.as_ref().map_or(1.0, |values| values[entry]);
        let fixed = self.fixed.as_ref().map_or(0.0, |fixed| fixed[instance]);
        Ok(Solution {
            decision: Decision::from_entries(
                range.map(|entry| (self.indices[entry], value(entry))),
            )
            .with_fixed(fixed),
            objective: self.objectives[instance],
            bound: self.bounds[instance],
            status: status_from_number(self.statuses[instance], self.gaps[instance])?,
            work: self.work.as_ref().map_or(0, |work| work[instance]),
        })
    }
}

/// Access of the fuzzing tests to this format.
#[cfg(test)]
pub(crate) mod fuzzing {
    use super::tests::{CONTEXT, labels, labels_and_failures};
    use super::{ChecksummedFile, LABEL_FILE_FORMAT, LabelFileHeader, decode, encode};

    /// Files that mutants are made of.
    pub(crate) fn examples() -> Vec<Vec<u8>> {
        let solved = encode(CONTEXT, &labels()).unwrap();
        let failed = encode(CONTEXT, &labels_and_failures()).unwrap();
        vec![solved, failed]
    }

    pub(crate) fn with_matching_checksum(bytes: &[u8]) -> Option<Vec<u8>> {
        ChecksummedFile::<LabelFileHeader>::with_matching_checksum(bytes, LABEL_FILE_FORMAT)
    }

    /// Reads labels of a table with four costs.
    pub(crate) fn read(bytes: &[u8]) -> Result<String, String> {
        decode(bytes, CONTEXT, 4).map(|labels| format!("{labels:?}"))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{LabelContext, LabelKey, decode, encode};
    use crate::decision::Decision;
    use crate::oracle::{Heuristic, SolveResult};
    use crate::solve::{Solution, SolveFailure, SolveStatus};

    pub(super) const CONTEXT: LabelContext<'static> = LabelContext {
        key: "key",
        heuristic: None,
    };

    fn with_keys(results: Vec<SolveResult>) -> BTreeMap<LabelKey, SolveResult> {
        let mut labels = BTreeMap::new();
        for (i, result) in results.into_iter().enumerate() {
            let key = LabelKey {
                high: 10 * i as u64,
                low: u64::MAX - i as u64,
            };
            labels.insert(key, result);
        }
        labels
    }

    fn results() -> Vec<SolveResult> {
        let label = |decision, status| {
            Ok(Solution {
                decision,
                objective: -1.5,
                bound: -2.0,
                status,
                work: 7,
            })
        };
        vec![
            label(Decision::from_indices([0, 3]), SolveStatus::Optimal),
            label(
                Decision::from_indices([]).with_fixed(2.5),
                SolveStatus::LimitReached,
            ),
            label(
                Decision::from_dense(&[0.0, 0.25, 0.0, 1.0]),
                SolveStatus::WithinGap(0.125),
            ),
        ]
    }

    pub(super) fn labels() -> BTreeMap<LabelKey, SolveResult> {
        with_keys(results())
    }

    pub(super) fn labels_and_failures() -> BTreeMap<LabelKey, SolveResult> {
        let limit = || Err(SolveFailure::LimitReached { nodes: 7 });
        let [first, _, third] = results().try_into().unwrap();
        with_keys(vec![
            third,
            limit(),
            first,
            Err(SolveFailure::Infeasible),
            limit(),
        ])
    }

    #[test]
    fn what_was_written_is_read_back() {
        for labels in [
            labels(),
            with_keys(results()[..2].to_vec()),
            with_keys(Vec::new()),
            labels_and_failures(),
        ] {
            let bytes = encode(CONTEXT, &labels).unwrap();
            let found = decode(&bytes, CONTEXT, 4).unwrap();
            for (_, result) in &found {
                assert!(result.as_ref().is_ok_and(|label| label.work == 7) || result.is_err());
            }
            assert_eq!(found, labels.into_iter().collect::<Vec<_>>());
        }
    }

    #[test]
    fn labels_of_another_problem_are_refused() {
        let bytes = encode(CONTEXT, &labels()).unwrap();
        let other = LabelContext {
            key: "other",
            ..CONTEXT
        };
        assert!(
            decode(&bytes, other, 4)
                .unwrap_err()
                .contains("labels of this problem")
        );
        assert!(
            decode(&bytes, CONTEXT, 3)
                .unwrap_err()
                .contains("row 0 is damaged")
        );
    }

    #[test]
    fn labels_of_a_heuristic_are_not_those_of_an_exact_solver() {
        let by_local_search = LabelContext {
            heuristic: Some(Heuristic::LocalSearch),
            ..CONTEXT
        };
        let bytes = encode(by_local_search, &labels()).unwrap();
        assert!(decode(&bytes, by_local_search, 4).is_ok());
        assert!(
            decode(&bytes, CONTEXT, 4)
                .unwrap_err()
                .contains("labels of this problem")
        );
        assert!(
            String::from_utf8_lossy(&bytes).contains(r#"heuristic\":\"local-search"#),
            "the header is plain text"
        );
    }

    #[test]
    fn every_flipped_bit_truncation_and_added_byte_is_detected() {
        let intact = encode(CONTEXT, &labels_and_failures()).unwrap();
        for bit in 0..intact.len() * 8 {
            let mut bytes = intact.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert!(decode(&bytes, CONTEXT, 4).is_err(), "bit {bit}");
        }
        for length in 0..intact.len() {
            assert!(decode(&intact[..length], CONTEXT, 4).is_err(), "{length}");
        }
        assert!(decode(&[&intact[..], &[0]].concat(), CONTEXT, 4).is_err());
    }

    #[test]
    fn a_foreign_file_is_refused() {
        let foreign = safetensors::serialize(
            Vec::<(&str, safetensors::tensor::TensorView<'_>)>::new(),
            None,
        )
        .unwrap();
        assert!(
            decode(&foreign, CONTEXT, 4)
                .unwrap_err()
                .contains("no checksum")
        );
        assert!(decode(b"instance,item,value\n0,1,1\n", CONTEXT, 4).is_err());
    }
}
