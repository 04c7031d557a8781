//! Labels as bytes: a sealed file, its decisions sparse.
//!
//! `indices` holds the non-zero entries of all instances one after the other, `offsets` where each
//! instance begins, `values` is there only if one of them is not 1, `fixed` only if a decision has
//! a fixed cost, `work` only where the solver counted what a label took. Instances without a
//! decision are listed in the file's description, with the reason.

use serde::{Deserialize, Serialize};

use crate::checksummed_file::{ChecksummedFile, MAX_HEADER_BYTES};
use crate::decision::Decision;
use crate::oracle::{Heuristic, SolveResult};
use crate::solve::{Solution, SolveFailure, SolveStatus};

/// Kind and version of the file.
const LABEL_FILE_FORMAT: &str = "labels 1";

/// What the file says about itself.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct LabelFileHeader {
    /// Hash over all that the labels depend on.
    key: String,
    /// The heuristic that made the decisions, which then need not be the best; missing where a
    /// search did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    heuristic: Option<Heuristic>,
    /// Instances without a decision.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    failed: Vec<(usize, SolveFailure)>,
    /// The rows of the table, if the file holds only some.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rows: Option<Vec<usize>>,
}

/// What labels belong to: a table, a problem, and who decided.
#[derive(Debug, Clone, Copy)]
pub(super) struct LabelContext<'a> {
    /// Hash over all that the labels depend on.
    pub key: &'a str,
    pub heuristic: Option<Heuristic>,
}

/// The answers as a file: those of the whole table in its order, or of some rows.
pub(super) fn encode(
    to: LabelContext<'_>,
    rows: Option<&[usize]>,
    answers: &[SolveResult],
) -> Result<Vec<u8>, String> {
    let failed = answers.iter().enumerate();
    let failed = failed
        .filter_map(|(i, answer)| answer.as_ref().err().map(|failure| (i, failure.clone())))
        .collect();
    let note = LabelFileHeader {
        key: to.key.into(),
        heuristic: to.heuristic,
        failed,
        rows: rows.map(<[usize]>::to_vec),
    };
    let nothing = Solution::optimal(Decision::from_indices([]), 0.0);
    let labels: Vec<&Solution> = answers
        .iter()
        .map(|answer| answer.as_ref().unwrap_or(&nothing))
        .collect();
    let decisions = || labels.iter().map(|label| &label.decision);
    let ends = decisions().scan(0, |sum, decision| {
        *sum += decision.indices().len() as u64;
        Some(*sum)
    });
    let each = |number: fn(&Solution) -> f64| {
        labels
            .iter()
            .map(|label| number(label))
            .collect::<Vec<f64>>()
    };
    let mut sealed = ChecksummedFile::new(note)
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
        .with_array("objectives", each(|label| label.objective))
        .with_array("bounds", each(|label| label.bound))
        .with_array(
            "statuses",
            labels
                .iter()
                .map(|label| status_to_number(label.status).0)
                .collect::<Vec<u32>>(),
        )
        .with_array("gaps", each(|label| status_to_number(label.status).1));
    if decisions().any(|decision| decision.fixed() != 0.0) {
        sealed = sealed.with_array("fixed", each(|label| label.decision.fixed()));
    }
    if labels.iter().any(|label| label.work != 0) {
        sealed = sealed.with_array(
            "work",
            labels.iter().map(|label| label.work).collect::<Vec<u64>>(),
        );
    }
    if !decisions().all(Decision::is_binary) {
        sealed = sealed.with_array(
            "values",
            decisions()
                .flat_map(Decision::iter)
                .map(|(_, v)| v)
                .collect::<Vec<f64>>(),
        );
    }
    sealed
        .to_bytes(LABEL_FILE_FORMAT)
        .map_err(|error| error.to_string())
}

/// The rows and answers of a file, if it is whole, belongs here, and fits a table of `instances`
/// with `num_costs` costs.
pub(super) fn decode(
    bytes: &[u8],
    to: LabelContext<'_>,
    instances: usize,
    num_costs: usize,
) -> Result<Vec<(usize, SolveResult)>, String> {
    let mut sealed = ChecksummedFile::<LabelFileHeader>::from_bytes(bytes, LABEL_FILE_FORMAT)?;
    if (sealed.about.key.as_str(), sealed.about.heuristic) != (to.key, to.heuristic) {
        return Err("it holds something else than the labels of this table".into());
    }
    let rows = sealed
        .about
        .rows
        .take()
        .unwrap_or_else(|| (0..instances).collect());
    if rows.iter().any(|row| *row >= instances) {
        return Err("it holds rows that the table does not have".into());
    }
    let columns = LabelColumns::take(&mut sealed, rows.len())
        .ok_or("its lists have the wrong type or length")?;
    let failed = std::mem::take(&mut sealed.about.failed);
    let failure = |place: usize| {
        failed
            .iter()
            .find(|(at, _)| *at == place)
            .map(|(_, failure)| failure.clone())
    };
    let answer = |(place, row)| match failure(place) {
        Some(failure) => Ok((row, Err(failure))),
        None => columns
            .label(place, num_costs)
            .map(|label| (row, Ok(label))),
    };
    rows.into_iter().enumerate().map(answer).collect()
}

/// Most bytes that a file of labels can have.
pub(super) fn most_bytes(instances: usize, num_costs: usize) -> u64 {
    let (instances, num_costs) = (instances as u64, num_costs as u64);
    let entries = instances.saturating_mul(num_costs).saturating_mul(4 + 8);
    MAX_HEADER_BYTES
        .saturating_add(16)
        .saturating_add(entries)
        .saturating_add(instances.saturating_mul(52))
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

/// The lists of a file, their lengths checked.
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
    fn take(sealed: &mut ChecksummedFile<LabelFileHeader>, instances: usize) -> Option<Self> {
        let offsets = sealed.take_array::<Vec<u64>>("offsets")?;
        let offsets: Vec<usize> = offsets
            .into_iter()
            .map(usize::try_from)
            .collect::<Result<_, _>>()
            .ok()?;
        let columns = Self {
            indices: sealed.take_array("indices")?,
            offsets,
            values: sealed.take_array("values"),
            fixed: sealed.take_array("fixed"),
            objectives: sealed.take_array("objectives")?,
            bounds: sealed.take_array("bounds")?,
            statuses: sealed.take_array("statuses")?,
            gaps: sealed.take_array("gaps")?,
            work: sealed.take_array("work"),
        };
        let of_instances = [
            columns.objectives.len(),
            columns.bounds.len(),
            columns.statuses.len(),
            columns.gaps.len(),
        ];
        let entries = columns.indices.len();
        let whole = of_instances == [instances; 4]
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
        whole.then_some(columns)
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

#[cfg(test)]
mod tests {
    use super::{LabelContext, decode, encode};
    use crate::decision::Decision;
    use crate::oracle::{Heuristic, SolveResult};
    use crate::solve::{Solution, SolveFailure, SolveStatus};

    const KEY: LabelContext<'static> = LabelContext {
        key: "key",
        heuristic: None,
    };

    fn labels() -> Vec<SolveResult> {
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
                    .all(|(_, answer)| answer.as_ref().is_ok_and(|label| label.work == 7))
            );
        }
    }

    #[test]
    fn some_rows_and_reasons_of_failure_are_read_back() {
        let answers = [
            labels().remove(2),
            Err(SolveFailure::LimitReached { nodes: 7 }),
            labels().remove(0),
        ];
        let bytes = encode(KEY, Some(&[5, 0, 3]), &answers).unwrap();
        let [third, failed, first] = answers;
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
            .contains("something else")
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
    fn labels_of_a_heuristic_are_none_of_a_search() {
        let by_local_search = LabelContext {
            heuristic: Some(Heuristic::LocalSearch),
            ..KEY
        };
        let bytes = encode(by_local_search, None, &labels()).unwrap();
        assert!(decode(&bytes, by_local_search, 3, 4).is_ok());
        assert!(
            decode(&bytes, KEY, 3, 4)
                .unwrap_err()
                .contains("something else")
        );
        assert!(
            String::from_utf8_lossy(&bytes).contains(r#"heuristic\":\"local-search"#),
            "the file says so in plain text"
        );
    }

    #[test]
    fn every_flipped_bit_every_cut_and_every_added_byte_is_seen() {
        let whole = encode(KEY, None, &labels()).unwrap();
        for bit in 0..whole.len() * 8 {
            let mut bytes = whole.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert!(decode(&bytes, KEY, 3, 4).is_err(), "bit {bit}");
        }
        for length in 0..whole.len() {
            assert!(
                decode(&whole[..length], KEY, 3, 4).is_err(),
                "length {length}"
            );
        }
        assert!(decode(&[&whole[..], &[0]].concat(), KEY, 3, 4).is_err());
    }

    #[test]
    fn a_foreign_file_is_refused() {
        let foreign = safetensors::serialize(
            Vec::<(&str, safetensors::tensor::TensorView<'_>)>::new(),
            None,
        )
        .unwrap();
        assert!(decode(&foreign, KEY, 3, 4).unwrap_err().contains("no seal"));
        assert!(decode(b"instance,item,value\n0,1,1\n", KEY, 3, 4).is_err());
    }
}
