//! The format of label files: a checksummed file with sparse decisions.
//!
//! `indices` contains the nonzero entries of all instances in sequence, `offsets` the first entry
//! of each instance; `values` exists only if one of them is not 1, `fixed` only if a decision has a
//! fixed cost, `work` only if the solver counts its work. Instances that could not be solved are
//! listed in the header, with the reason.

use serde::{Deserialize, Serialize};

use crate::checksummed_file::{ChecksummedFile, MAX_HEADER_BYTES};
use crate::decision::Decision;
use crate::oracle::{Heuristic, SolveResult};
use crate::solve::{Solution, SolveFailure, SolveStatus};

/// Kind and version of the file.
const LABEL_FILE_FORMAT: &str = "labels 2";
/// Bytes of a nonzero entry: its index and its value.
const BYTES_PER_ENTRY: u64 = 4 + 8;
/// Bytes of an instance: offset, objective, bound, status, gap, fixed cost and work.
const BYTES_PER_INSTANCE: u64 = 8 + 8 + 8 + 4 + 8 + 8 + 8;
/// Bytes of a file besides header, instances and entries: the length of the header and one more
/// offset.
const FIXED_BYTES: u64 = 8 + 8;

/// The header of a label file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct LabelFileHeader {
    /// Hash over everything the labels depend on.
    key: String,
    /// The heuristic that computed the decisions, which then need not be optimal; none for exact
    /// solves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    heuristic: Option<Heuristic>,
    /// Instances that could not be solved.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    failed: Vec<(usize, SolveFailure)>,
    /// The rows of the table in the file, if not all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rows: Option<Vec<usize>>,
}

/// What labels belong to: a table with a problem, and the heuristic.
#[derive(Debug, Clone, Copy)]
pub(super) struct LabelContext<'a> {
    /// Hash over everything the labels depend on.
    pub key: &'a str,
    pub heuristic: Option<Heuristic>,
}

/// Results as the bytes of a file: those of the whole table in its order, or of some rows.
pub(super) fn encode(
    context: LabelContext<'_>,
    rows: Option<&[usize]>,
    results: &[SolveResult],
) -> Result<Vec<u8>, String> {
    let mut failed = Vec::new();
    for (i, result) in results.iter().enumerate() {
        if let Err(failure) = result {
            failed.push((i, failure.clone()));
        }
    }
    let header = LabelFileHeader {
        key: context.key.into(),
        heuristic: context.heuristic,
        failed,
        rows: rows.map(<[usize]>::to_vec),
    };
    let empty = Solution::optimal(Decision::from_indices([]), 0.0);
    let labels: Vec<&Solution> = results
        .iter()
        .map(|result| result.as_ref().unwrap_or(&empty))
        .collect();
    let decisions = || labels.iter().map(|label| &label.decision);
    let ends = decisions().scan(0, |sum, decision| {
        *sum += decision.indices().len() as u64;
        Some(*sum)
    });
    let column = |number: fn(&Solution) -> f64| {
        labels
            .iter()
            .map(|label| number(label))
            .collect::<Vec<f64>>()
    };
    let mut file = ChecksummedFile::new(header)
        .with_array(
            "indices",
            decisions()
                .flat_map(|d| d.indices())
                .copied()
                .collect::<Vec<u32>>(),
        )
        .with_array(
            "offsets",
            std::iter::once(0).chain(ends).collect::<Vec<u64>>(),
        )
        .with_array("objectives", column(|label| label.objective))
        .with_array("bounds", column(|label| label.bound))
        .with_array(
            "statuses",
            labels
                .iter()
                .map(|label| status_to_number(label.status).0)
                .collect::<Vec<u32>>(),
        )
        .with_array("gaps", column(|label| status_to_number(label.status).1));
    if decisions().any(|decision| decision.fixed() != 0.0) {
        file = file.with_array("fixed", column(|label| label.decision.fixed()));
    }
    if labels.iter().any(|label| label.work != 0) {
        file = file.with_array(
            "work",
            labels.iter().map(|label| label.work).collect::<Vec<u64>>(),
        );
    }
    if !decisions().all(Decision::is_binary) {
        file = file.with_array(
            "values",
            decisions()
                .flat_map(Decision::iter)
                .map(|(_, v)| v)
                .collect::<Vec<f64>>(),
        );
    }
    file.to_bytes(LABEL_FILE_FORMAT)
        .map_err(|error| error.to_string())
}

/// The rows and results in a file, if it is intact, belongs to the context, and fits a table of
/// `instances` with `num_costs` costs.
pub(super) fn decode(
    bytes: &[u8],
    context: LabelContext<'_>,
    instances: usize,
    num_costs: usize,
) -> Result<Vec<(usize, SolveResult)>, String> {
    let mut file = ChecksummedFile::<LabelFileHeader>::from_bytes(bytes, LABEL_FILE_FORMAT)?;
    if (file.header.key.as_str(), file.header.heuristic) != (context.key, context.heuristic) {
        return Err("it does not contain the labels of this table".into());
    }
    let rows = file
        .header
        .rows
        .take()
        .unwrap_or_else(|| (0..instances).collect());
    if rows.iter().any(|row| *row >= instances) {
        return Err("it contains rows that the table does not have".into());
    }
    let columns = LabelColumns::take(&mut file, rows.len())
        .ok_or("its arrays have the wrong type or length")?;
    let mut results = Vec::with_capacity(rows.len());
    for (i, row) in rows.into_iter().enumerate() {
        let failure = file.header.failed.iter().find(|(failed, _)| *failed == i);
        let result = match failure {
            Some((_, failure)) => Err(failure.clone()),
            None => Ok(columns.label(i, num_costs)?),
        };
        results.push((row, result));
    }
    Ok(results)
}

/// Maximum number of bytes of a label file.
pub(super) fn max_bytes(instances: usize, num_costs: usize) -> u64 {
    let (instances, num_costs) = (instances as u64, num_costs as u64);
    let entries = instances
        .saturating_mul(num_costs)
        .saturating_mul(BYTES_PER_ENTRY);
    MAX_HEADER_BYTES
        .saturating_add(FIXED_BYTES)
        .saturating_add(entries)
        .saturating_add(instances.saturating_mul(BYTES_PER_INSTANCE))
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
    fn take(file: &mut ChecksummedFile<LabelFileHeader>, instances: usize) -> Option<Self> {
        let offsets = file.take_array::<Vec<u64>>("offsets")?;
        let offsets: Vec<usize> = offsets
            .into_iter()
            .map(usize::try_from)
            .collect::<Result<_, _>>()
            .ok()?;
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
        };
        let lengths = [
            columns.objectives.len(),
            columns.bounds.len(),
            columns.statuses.len(),
            columns.gaps.len(),
        ];
        let entries = columns.indices.len();
        let consistent = lengths == [instances; 4]
            && columns.offsets.len() == instances + 1
            && columns
                .values
                .as_ref()
                .is_none_or(|values| values.len() == entries)
            && columns
                .fixed
                .as_ref()
                .is_none_or(|fixed| fixed.len() == instances)
            && columns
                .work
                .as_ref()
                .is_none_or(|work| work.len() == instances)
            && columns.offsets.is_sorted()
            && (columns.offsets[0], columns.offsets[instances]) == (0, entries);
        consistent.then_some(columns)
    }

    fn label(&self, instance: usize, num_costs: usize) -> Result<Solution, String> {
        let range = self.offsets[instance]..self.offsets[instance + 1];
        let indices = &self.indices[range.clone()];
        if !indices.is_sorted_by(|a, b| a < b)
            || indices
                .last()
                .is_some_and(|last| *last as usize >= num_costs)
        {
            return Err(format!("the decision of instance {instance} is damaged"));
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
    use super::tests::{KEY, labels};
    use super::{ChecksummedFile, LABEL_FILE_FORMAT, LabelFileHeader, decode, encode};

    /// Files that mutants are made of.
    pub(crate) fn examples() -> Vec<Vec<u8>> {
        let all = encode(KEY, None, &labels()).unwrap();
        let some = encode(KEY, Some(&[5, 0, 3]), &labels()).unwrap();
        vec![all, some]
    }

    pub(crate) fn with_matching_checksum(bytes: &[u8]) -> Option<Vec<u8>> {
        ChecksummedFile::<LabelFileHeader>::with_matching_checksum(bytes, LABEL_FILE_FORMAT)
    }

    /// Reads the labels of a table with six rows and four costs.
    pub(crate) fn read(bytes: &[u8]) -> Result<String, String> {
        decode(bytes, KEY, 6, 4).map(|labels| format!("{labels:?}"))
    }
}

#[cfg(test)]
mod tests {
    use super::{LabelContext, decode, encode};
    use crate::decision::Decision;
    use crate::oracle::{Heuristic, SolveResult};
    use crate::solve::{Solution, SolveFailure, SolveStatus};

    pub(super) const KEY: LabelContext<'static> = LabelContext {
        key: "key",
        heuristic: None,
    };

    pub(super) fn labels() -> Vec<SolveResult> {
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

    #[test]
    fn what_was_written_is_read_back() {
        for labels in [labels(), labels()[..2].to_vec(), vec![labels()[1].clone()]] {
            let bytes = encode(KEY, None, &labels).unwrap();
            let expected: Vec<(usize, SolveResult)> = labels.into_iter().enumerate().collect();
            let found = decode(&bytes, KEY, expected.len(), 4).unwrap();
            assert_eq!(found, expected);
            assert!(
                found
                    .iter()
                    .all(|(_, result)| result.as_ref().is_ok_and(|label| label.work == 7))
            );
        }
    }

    #[test]
    fn some_rows_and_reasons_of_failure_are_read_back() {
        let results = [
            labels().remove(2),
            Err(SolveFailure::LimitReached { nodes: 7 }),
            labels().remove(0),
        ];
        let bytes = encode(KEY, Some(&[5, 0, 3]), &results).unwrap();
        let [third, failed, first] = results;
        assert_eq!(
            decode(&bytes, KEY, 6, 4).unwrap(),
            [(5, third), (0, failed), (3, first)]
        );
        assert!(
            decode(&bytes, KEY, 5, 4)
                .unwrap_err()
                .contains("rows that the table does not have")
        );
    }

    #[test]
    fn labels_of_another_table_are_refused() {
        let bytes = encode(KEY, None, &labels()).unwrap();
        assert!(
            decode(
                &bytes,
                LabelContext {
                    key: "other",
                    ..KEY
                },
                3,
                4
            )
            .unwrap_err()
            .contains("not contain the labels of this table")
        );
        assert!(
            decode(&bytes, KEY, 4, 4)
                .unwrap_err()
                .contains("wrong type or length")
        );
        assert!(
            decode(&bytes, KEY, 3, 3)
                .unwrap_err()
                .contains("instance 0 is damaged")
        );
    }

    #[test]
    fn labels_of_a_heuristic_are_not_those_of_an_exact_solver() {
        let by_local_search = LabelContext {
            heuristic: Some(Heuristic::LocalSearch),
            ..KEY
        };
        let bytes = encode(by_local_search, None, &labels()).unwrap();
        assert!(decode(&bytes, by_local_search, 3, 4).is_ok());
        assert!(
            decode(&bytes, KEY, 3, 4)
                .unwrap_err()
                .contains("not contain the labels of this table")
        );
        assert!(
            String::from_utf8_lossy(&bytes).contains(r#"heuristic\":\"local-search"#),
            "the header is plain text"
        );
    }

    #[test]
    fn every_flipped_bit_truncation_and_added_byte_is_detected() {
        let intact = encode(KEY, None, &labels()).unwrap();
        for bit in 0..intact.len() * 8 {
            let mut bytes = intact.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert!(decode(&bytes, KEY, 3, 4).is_err(), "bit {bit}");
        }
        for length in 0..intact.len() {
            assert!(
                decode(&intact[..length], KEY, 3, 4).is_err(),
                "length {length}"
            );
        }
        assert!(decode(&[&intact[..], &[0]].concat(), KEY, 3, 4).is_err());
    }

    #[test]
    fn a_foreign_file_is_refused() {
        let foreign = safetensors::serialize(
            Vec::<(&str, safetensors::tensor::TensorView<'_>)>::new(),
            None,
        )
        .unwrap();
        assert!(
            decode(&foreign, KEY, 3, 4)
                .unwrap_err()
                .contains("no checksum")
        );
        assert!(decode(b"instance,item,value\n0,1,1\n", KEY, 3, 4).is_err());
    }
}
