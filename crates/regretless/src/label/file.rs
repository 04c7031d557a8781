//! Labels as bytes: a safetensors file whose every bit counts.
//!
//! Decisions are stored sparse: `indices` of the non-zero entries of all instances one after the
//! other, `offsets` where each instance begins, `values` only if one of them is not 1. The metadata
//! hold the key of the labels and a checksum of all sections. A file is believed only if writing
//! what was read from it gives the same bytes again, so that no damage goes unseen, wherever it is.

use std::collections::HashMap;

use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use serde::{Deserialize, Serialize};

use crate::data::archive;
use crate::decision::Decision;
use crate::solve::{Solution, Status};

/// Where the metadata stand; one entry, because the order of several is not fixed.
const ENTRY: &str = "regretless";
/// What the file says about itself.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Note {
    content: String,
    key: String,
    checksum: String,
}

/// One named list of numbers.
struct Section {
    name: &'static str,
    kind: Dtype,
    bytes: Vec<u8>,
}

impl Section {
    fn new<const N: usize>(name: &'static str, kind: Dtype, numbers: impl Iterator<Item = [u8; N]>) -> Self {
        Self { name, kind, bytes: numbers.flatten().collect() }
    }

    fn view(&self) -> Result<TensorView<'_>, String> {
        let count = self.bytes.len() * 8 / self.kind.bitsize();
        TensorView::new(self.kind, vec![count], &self.bytes).map_err(|error| error.to_string())
    }
}

/// The labels with this key as a file.
pub(super) fn encode(key: &str, labels: &[Solution]) -> Result<Vec<u8>, String> {
    let sections = sections(labels);
    let note = Note { content: "labels".into(), key: key.into(), checksum: checksum(&sections) };
    let note = serde_json::to_string(&note).map_err(|error| error.to_string())?;
    let views = sections.iter().map(|section| section.view().map(|view| (section.name, view)));
    let views = views.collect::<Result<Vec<_>, _>>()?;
    let notes = HashMap::from([(ENTRY.to_string(), note)]);
    safetensors::serialize(views, Some(notes)).map_err(|error| error.to_string())
}

/// The labels of a file, if it is whole, has this key, and fits `instances` of `num_costs` costs.
pub(super) fn decode(bytes: &[u8], key: &str, instances: usize, num_costs: usize) -> Result<Vec<Solution>, String> {
    let file = archive::open(bytes)?;
    check_note(bytes, key)?;
    let labels = Columns::read(&file, instances)?.labels(num_costs)?;
    if encode(key, &labels)? != bytes {
        return Err("its checksum does not match".into());
    }
    Ok(labels)
}

/// Most bytes that a file of labels can have.
pub(super) fn most_bytes(instances: usize, num_costs: usize) -> u64 {
    let (instances, num_costs) = (instances as u64, num_costs as u64);
    let entries = instances.saturating_mul(num_costs).saturating_mul(4 + 8);
    archive::LONGEST_HEADER.saturating_add(16).saturating_add(entries).saturating_add(instances.saturating_mul(33))
}

fn check_note(bytes: &[u8], key: &str) -> Result<(), String> {
    let (_, header) = SafeTensors::read_metadata(bytes).map_err(|error| error.to_string())?;
    let note = header.metadata().as_ref().and_then(|notes| notes.get(ENTRY)).ok_or("it is not a file of labels")?;
    let note: Note = serde_json::from_str(note).map_err(|_| "it is not a file of labels")?;
    if note.content != "labels" || note.key != key {
        return Err("it holds something else than the labels of this table".into());
    }
    Ok(())
}

fn checksum(sections: &[Section]) -> String {
    let mut hasher = blake3::Hasher::new();
    for section in sections {
        hasher.update(section.name.as_bytes()).update(&(section.bytes.len() as u64).to_le_bytes());
        hasher.update(&section.bytes);
    }
    hasher.finalize().to_hex().to_string()
}

fn sections(labels: &[Solution]) -> Vec<Section> {
    let decisions = || labels.iter().map(|label| &label.decision);
    let offsets = decisions().scan(0, |sum, decision| {
        *sum += decision.indices().len() as u64;
        Some(*sum)
    });
    let mut sections = vec![
        Section::new("indices", Dtype::U32, decisions().flat_map(|d| d.indices()).map(|j| j.to_le_bytes())),
        Section::new("offsets", Dtype::U64, std::iter::once(0).chain(offsets).map(u64::to_le_bytes)),
        Section::new("objectives", Dtype::F64, labels.iter().map(|label| label.objective.to_le_bytes())),
        Section::new("bounds", Dtype::F64, labels.iter().map(|label| label.bound.to_le_bytes())),
        Section::new("statuses", Dtype::U8, labels.iter().map(|label| [status_to_number(label.status).0])),
        Section::new("gaps", Dtype::F64, labels.iter().map(|label| status_to_number(label.status).1.to_le_bytes())),
    ];
    if !decisions().all(Decision::is_binary) {
        let values = decisions().flat_map(|decision| decision.iter().map(|(_, value)| value.to_le_bytes()));
        sections.push(Section::new("values", Dtype::F64, values));
    }
    sections
}

fn status_to_number(status: Status) -> (u8, f64) {
    match status {
        Status::Optimal => (0, 0.0),
        Status::WithinGap(gap) => (1, gap),
        Status::LimitReached => (2, 0.0),
    }
}

fn status_from_number(number: u8, gap: f64) -> Result<Status, String> {
    match number {
        0 => Ok(Status::Optimal),
        1 => Ok(Status::WithinGap(gap)),
        2 => Ok(Status::LimitReached),
        other => Err(format!("it has an unknown status {other}")),
    }
}

/// The sections of a file, their lengths checked.
struct Columns {
    indices: Vec<u32>,
    offsets: Vec<usize>,
    values: Option<Vec<f64>>,
    objectives: Vec<f64>,
    bounds: Vec<f64>,
    statuses: Vec<u8>,
    gaps: Vec<f64>,
}

impl Columns {
    fn read(file: &SafeTensors<'_>, instances: usize) -> Result<Self, String> {
        let of_instances = |name| doubles(file, name, instances);
        let offsets = numbers(file, "offsets", Dtype::U64, Some(instances + 1))?;
        let offsets = offsets.map(|bytes| usize::try_from(u64::from_le_bytes(bytes)));
        let indices: Vec<u32> = numbers(file, "indices", Dtype::U32, None)?.map(u32::from_le_bytes).collect();
        let entries = indices.len();
        let columns = Self {
            indices,
            offsets: offsets.collect::<Result<_, _>>().map_err(|error| error.to_string())?,
            values: file.tensor("values").is_ok().then(|| doubles(file, "values", entries)).transpose()?,
            objectives: of_instances("objectives")?,
            bounds: of_instances("bounds")?,
            statuses: numbers(file, "statuses", Dtype::U8, Some(instances))?.map(|[byte]| byte).collect(),
            gaps: of_instances("gaps")?,
        };
        let whole = columns.offsets[0] == 0 && columns.offsets[instances] == entries;
        if !whole || !columns.offsets.is_sorted() {
            return Err("its decisions do not follow each other".into());
        }
        Ok(columns)
    }

    fn labels(&self, num_costs: usize) -> Result<Vec<Solution>, String> {
        (0..self.objectives.len()).map(|instance| self.label(instance, num_costs)).collect()
    }

    fn label(&self, instance: usize, num_costs: usize) -> Result<Solution, String> {
        let range = self.offsets[instance]..self.offsets[instance + 1];
        let indices = &self.indices[range.clone()];
        if !indices.is_sorted_by(|a, b| a < b) || indices.last().is_some_and(|last| *last as usize >= num_costs) {
            return Err(format!("the decision of instance {instance} is damaged"));
        }
        let value = |entry: usize| self.values.as_ref().map_or(1.0, |values| values[entry]);
        Ok(Solution {
            decision: Decision::from_entries(range.map(|entry| (self.indices[entry], value(entry)))),
            objective: self.objectives[instance],
            bound: self.bounds[instance],
            status: status_from_number(self.statuses[instance], self.gaps[instance])?,
        })
    }
}

fn doubles(file: &SafeTensors<'_>, name: &str, count: usize) -> Result<Vec<f64>, String> {
    Ok(numbers(file, name, Dtype::F64, Some(count))?.map(f64::from_le_bytes).collect())
}

/// The numbers of a section; with `count`, there must be that many.
fn numbers<'a, const N: usize>(
    file: &SafeTensors<'a>,
    name: &str,
    kind: Dtype,
    count: Option<usize>,
) -> Result<impl Iterator<Item = [u8; N]> + use<'a, N>, String> {
    let section = file.tensor(name).map_err(|_| format!("its section '{name}' is missing"))?;
    let (numbers, rest) = section.data().as_chunks();
    if section.dtype() != kind || !rest.is_empty() || count.is_some_and(|count| count != numbers.len()) {
        return Err(format!("its section '{name}' has the wrong type or length"));
    }
    Ok(numbers.iter().copied())
}

#[cfg(test)]
mod tests {
    use super::{decode, encode};
    use crate::decision::Decision;
    use crate::solve::{Solution, Status};

    fn labels() -> Vec<Solution> {
        let label = |decision, status| Solution { decision, objective: -1.5, bound: -2.0, status };
        vec![
            label(Decision::choosing([0, 3]), Status::Optimal),
            label(Decision::choosing([]), Status::LimitReached),
            label(Decision::from_dense(&[0.0, 0.25, 0.0, 1.0]), Status::WithinGap(0.125)),
        ]
    }

    #[test]
    fn what_was_written_is_read_back() {
        for labels in [labels(), labels()[..2].to_vec(), vec![labels()[1].clone()]] {
            let bytes = encode("key", &labels).unwrap();
            assert_eq!(decode(&bytes, "key", labels.len(), 4).unwrap(), labels);
        }
    }

    #[test]
    fn labels_of_another_table_are_refused() {
        let bytes = encode("key", &labels()).unwrap();
        assert!(decode(&bytes, "other", 3, 4).unwrap_err().contains("something else"));
        assert!(decode(&bytes, "key", 4, 4).unwrap_err().contains("wrong type or length"));
        assert!(decode(&bytes, "key", 3, 3).unwrap_err().contains("instance 0 is damaged"));
    }

    #[test]
    fn every_flipped_bit_every_cut_and_every_added_byte_is_seen() {
        let whole = encode("key", &labels()).unwrap();
        for bit in 0..whole.len() * 8 {
            let mut bytes = whole.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert!(decode(&bytes, "key", 3, 4).is_err(), "bit {bit}");
        }
        for length in 0..whole.len() {
            assert!(decode(&whole[..length], "key", 3, 4).is_err(), "length {length}");
        }
        assert!(decode(&[&whole[..], &[0]].concat(), "key", 3, 4).is_err());
    }

    #[test]
    fn a_foreign_file_is_refused() {
        let foreign = safetensors::serialize(Vec::<(&str, safetensors::tensor::TensorView<'_>)>::new(), None).unwrap();
        assert!(decode(&foreign, "key", 3, 4).unwrap_err().contains("not a file of labels"));
        assert!(decode(b"instance,item,value\n0,1,1\n", "key", 3, 4).is_err());
    }
}
