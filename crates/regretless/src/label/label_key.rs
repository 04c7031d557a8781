//! Keys of rows: a row's label is stored under a hash of the row's costs and parameters.

use std::collections::HashMap;

use crate::data::Matrix;
use crate::error::Result;
use crate::oracle::Oracle;

/// The first 128 bits of a BLAKE3 hash over the costs and the parameters of a row: enough that no
/// two rows of any realistic table share a key. Independent of the row's position, so rows can be
/// appended, reordered and removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct LabelKey {
    pub high: u64,
    pub low: u64,
}

impl LabelKey {
    /// The key of a row of costs; `oracle` has the row's parameters, if there are any.
    fn of(costs: &Matrix, oracle: &Oracle, row: usize, buffers: &mut KeyBuffers) -> Self {
        let mut hasher = blake3::Hasher::new();
        // The number of costs separates them from the parameters.
        hasher.update(&(costs.cols() as u64).to_le_bytes());
        buffers.bytes.clear();
        // The digits beyond single precision are part of the costs that are solved.
        if costs.has_f64_values() {
            costs.read(row, &mut buffers.values);
            for value in &buffers.values {
                buffers.bytes.extend_from_slice(&value.to_le_bytes());
            }
        } else {
            for value in costs.row(row) {
                buffers.bytes.extend_from_slice(&value.to_le_bytes());
            }
        }
        if oracle.read_parameters(row, &mut buffers.values).is_ok() {
            for value in &buffers.values {
                buffers.bytes.extend_from_slice(&value.to_le_bytes());
            }
        }
        hasher.update(&buffers.bytes);
        let mut halves = [[0; size_of::<u64>()]; 2];
        hasher.finalize_xof().fill(halves.as_flattened_mut());
        let [high, low] = halves.map(u64::from_le_bytes);
        Self { high, low }
    }
}

#[derive(Default)]
struct KeyBuffers {
    values: Vec<f64>,
    bytes: Vec<u8>,
}

/// The keys of all rows of a table. Rows with equal costs and parameters have equal keys and share
/// one label.
pub(super) struct LabelKeys {
    keys: Vec<LabelKey>,
    first_rows: HashMap<LabelKey, usize>,
}

impl LabelKeys {
    /// # Errors
    /// When the file of mapped costs or parameters was changed meanwhile.
    pub(super) fn of(costs: &Matrix, oracle: &Oracle) -> Result<Self> {
        let mut keys = vec![LabelKey { high: 0, low: 0 }; costs.rows()];
        let threads = oracle.threads();
        threads.fill_slots(&mut keys, KeyBuffers::default, |buffers, row, key| {
            *key = LabelKey::of(costs, oracle, row, buffers);
        });
        // Mapped files that were changed while hashing would give keys of no row.
        costs.check_unchanged()?;
        if let Some(parameters) = oracle.parameters() {
            parameters.check_unchanged()?;
        }
        let mut first_rows = HashMap::with_capacity(keys.len());
        for (row, key) in keys.iter().enumerate() {
            // The first row of equal ones represents them.
            first_rows.entry(*key).or_insert(row);
        }
        Ok(Self { keys, first_rows })
    }

    pub(super) fn key(&self, row: usize) -> LabelKey {
        self.keys[row]
    }

    /// The first row with this key.
    pub(super) fn first_row(&self, key: LabelKey) -> Option<usize> {
        self.first_rows.get(&key).copied()
    }

    /// The first row with the same costs and parameters as this one.
    pub(super) fn representative(&self, row: usize) -> usize {
        self.first_row(self.keys[row]).unwrap_or(row)
    }
}
