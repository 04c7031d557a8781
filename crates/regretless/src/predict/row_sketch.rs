//! A sketch of the rows that a model was trained on, to recognize them later.
//!
//! A row is identified by a hash of its features and costs. The sketch keeps the smallest hashes
//! (bottom-k sampling, Cohen and Kaplan 2007): all of them for small tables, a uniform sample of
//! the rows for large ones, because hashes are uniform.

/// Most hashes of a sketch: 32 KB of a model file. With a sample of this size, the fraction of rows
/// that were trained on is estimated within about a hundredth if as many rows are evaluated.
const MAX_HASHES: usize = 4096;

/// The smallest hashes of the rows, sorted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RowSketch {
    hashes: Vec<u64>,
    /// Whether these are the hashes of all rows.
    is_complete: bool,
}

impl RowSketch {
    /// The sketch of these rows.
    pub(crate) fn new(mut hashes: Vec<u64>) -> Self {
        hashes.sort_unstable();
        hashes.dedup();
        // The smallest hashes are a random sample of the rows, and the same one for every order of
        // them.
        let is_complete = hashes.len() <= MAX_HASHES;
        hashes.truncate(MAX_HASHES);
        hashes.shrink_to_fit();
        Self {
            hashes,
            is_complete,
        }
    }

    /// The sketch of an array in a model file; `None` if no sketch has these hashes.
    pub(crate) fn from_hashes(hashes: Vec<u64>, is_complete: bool) -> Option<Self> {
        let is_sorted = hashes.windows(2).all(|pair| pair[0] < pair[1]);
        let has_valid_length = if is_complete {
            hashes.len() <= MAX_HASHES
        } else {
            hashes.len() == MAX_HASHES
        };
        (is_sorted && has_valid_length).then_some(Self {
            hashes,
            is_complete,
        })
    }

    pub(crate) fn hashes(&self) -> &[u64] {
        &self.hashes
    }

    pub(crate) fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// Whether the row of this hash is among the rows; `None` if the sketch does not cover it.
    pub(crate) fn contains(&self, hash: u64) -> Option<bool> {
        // Above the largest hash the sample says nothing.
        let largest = self.hashes.last().copied().unwrap_or(0);
        (self.is_complete || hash <= largest).then(|| self.hashes.binary_search(&hash).is_ok())
    }
}

/// The hash of a row: its features and its costs, in the order of the model. `buffer` is scratch
/// space.
pub(crate) fn row_digest(
    features: &[f32],
    costs: impl Iterator<Item = f32>,
    buffer: &mut Vec<u8>,
) -> blake3::Hash {
    buffer.clear();
    // The length separates features from costs.
    buffer.extend_from_slice(&(features.len() as u64).to_le_bytes());
    for value in features.iter().copied().chain(costs) {
        // A sum turns -0 into 0: the costs of a maximization are negated, and so are its zeros.
        buffer.extend_from_slice(&(value + 0.0).to_le_bytes());
    }
    blake3::hash(buffer)
}

/// The first bytes of a hash as a number.
pub(crate) fn row_hash(digest: &blake3::Hash) -> u64 {
    let mut first = [0; 8];
    first.copy_from_slice(&digest.as_bytes()[..8]);
    u64::from_le_bytes(first)
}

#[cfg(test)]
mod tests {
    use super::{MAX_HASHES, RowSketch, row_digest, row_hash};

    fn hash(row: usize) -> u64 {
        row_hash(&row_digest(
            &[row as f32],
            [1.0, 2.0].into_iter(),
            &mut Vec::new(),
        ))
    }

    #[test]
    fn a_small_table_is_known_exactly() {
        let sketch = RowSketch::new((0..100).chain(0..100).map(hash).collect());
        assert!(sketch.is_complete());
        assert_eq!(sketch.hashes().len(), 100);
        for row in 0..200 {
            assert_eq!(sketch.contains(hash(row)), Some(row < 100), "row {row}");
        }
    }

    #[test]
    fn a_large_table_is_sampled() {
        let sketch = RowSketch::new((0..20_000).map(hash).collect());
        assert!(!sketch.is_complete());
        assert_eq!(sketch.hashes().len(), MAX_HASHES);
        // Half of these rows were trained on.
        let known: Vec<bool> = (10_000..30_000)
            .filter_map(|row| sketch.contains(hash(row)))
            .collect();
        let seen = known.iter().filter(|seen| **seen).count();
        let fraction = seen as f64 / known.len() as f64;
        assert!((fraction - 0.5).abs() < 0.05, "{seen} of {}", known.len());
    }

    #[test]
    fn negated_zeros_are_zeros_and_other_rows_differ() {
        let of = |features: &[f32], costs: &[f32]| {
            row_digest(features, costs.iter().copied(), &mut Vec::new())
        };
        assert_eq!(of(&[0.0], &[-0.0]), of(&[-0.0], &[0.0]));
        assert_ne!(of(&[1.0], &[2.0, 3.0]), of(&[1.0, 2.0], &[3.0]));
        assert_ne!(of(&[1.0], &[2.0, 3.0]), of(&[1.0], &[3.0, 2.0]));
    }

    #[test]
    fn forged_sketches_are_refused() {
        assert!(RowSketch::from_hashes(vec![1, 2], true).is_some());
        assert!(RowSketch::from_hashes(vec![2, 1], true).is_none());
        assert!(RowSketch::from_hashes(vec![1, 1], true).is_none());
        assert!(RowSketch::from_hashes(vec![1, 2], false).is_none());
        assert!(RowSketch::from_hashes((0..=MAX_HASHES as u64).collect(), true).is_none());
    }
}
