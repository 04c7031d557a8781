//! Folds of the rows for training and validation.

use crate::data::SplitIndices;
use crate::random::{Purpose, RandomStream};

/// Rows that a candidate is trained on, and rows that it is scored on.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Fold {
    /// The rows to train on; without validation and test rows.
    pub(super) split: SplitIndices,
    /// The other rows.
    pub(super) held_out: Vec<usize>,
    /// Those of them that are scored.
    pub(super) scored: Vec<usize>,
}

impl Fold {
    fn new(
        split: &SplitIndices,
        train: Vec<usize>,
        held_out: Vec<usize>,
        max_scored: usize,
    ) -> Self {
        // The first rows that are held out: in a random split they are a random sample.
        let scored = held_out[..held_out.len().min(max_scored)].to_vec();
        let split = SplitIndices {
            train,
            validation: Vec::new(),
            test: Vec::new(),
            ..split.clone()
        };
        Self {
            split,
            held_out,
            scored,
        }
    }
}

/// The folds of a cross-validation over all rows for training and validation; one fold is the split
/// itself. Rows of a random split are shuffled; others keep their order, so a fold is a block of
/// time. At most `max_scored` rows of a fold are scored.
pub(super) fn folds(
    split: &SplitIndices,
    num_folds: usize,
    max_scored: usize,
    seed: u64,
) -> Vec<Fold> {
    // A single fold is the user's own split.
    if num_folds <= 1 {
        let [train, held_out] = [&split.train, &split.validation].map(Vec::clone);
        return vec![Fold::new(split, train, held_out, max_scored)];
    }
    let mut rows = [split.train.as_slice(), &split.validation].concat();
    if split.is_random() {
        RandomStream::new(Purpose::Folds, seed, [0, 0]).shuffle(&mut rows);
    }
    let mut folds = Vec::with_capacity(num_folds);
    for number in 0..num_folds {
        // Sizes differ by one row at most.
        let first = number * rows.len() / num_folds;
        let end = (number + 1) * rows.len() / num_folds;
        let train = [&rows[..first], &rows[end..]].concat();
        let held_out = rows[first..end].to_vec();
        folds.push(Fold::new(split, train, held_out, max_scored));
    }
    folds
}

#[cfg(test)]
mod tests {
    use super::folds;
    use crate::data::SplitIndices;

    #[test]
    fn folds_of_ordered_rows_are_blocks_that_cover_all_rows() {
        let split = SplitIndices::in_order(30, [17, 6, 7]).unwrap();
        let folds = folds(&split, 5, usize::MAX, 0);
        let scored: Vec<usize> = folds.iter().flat_map(|fold| fold.scored.clone()).collect();
        assert_eq!(scored, (0..23).collect::<Vec<_>>());
        for fold in &folds {
            assert!(fold.scored.is_sorted() && (4..=5).contains(&fold.scored.len()));
            assert_eq!(fold.split.train.len() + fold.scored.len(), 23);
            assert!(
                fold.scored
                    .iter()
                    .all(|row| !fold.split.train.contains(row))
            );
        }
    }

    #[test]
    fn one_fold_is_the_split_itself() {
        let split = SplitIndices::in_order(30, [17, 6, 7]).unwrap();
        let [fold] = folds(&split, 1, 4, 0).try_into().unwrap();
        assert_eq!(fold.split.train, split.train);
        assert_eq!(fold.scored, [17, 18, 19, 20]);
    }
}
