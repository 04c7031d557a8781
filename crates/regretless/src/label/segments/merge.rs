//! Merging of segments: small ones while rows are solved, all of them in the end.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::super::label_key::LabelKey;
use super::{LabelSegments, SegmentContent};
use crate::data::atomic_write::{fail_point, lock_file, remove_stale_temp_files, temp_file_path};
use crate::oracle::SolveResult;

/// A segment is merged with smaller ones if it is at most this many times as large as they are
/// together. Untuned: 2 keeps fewer than twenty segments for 10 million rows, and rewrites a row
/// about as often.
const MAX_MERGED_SIZE_RATIO: u64 = 2;
/// Segments of a finished table are merged into one up to this many bytes: reading and writing them
/// takes a fraction of a second, and the one file depends on the labels alone, not on the runs that
/// computed them.
pub(super) const MAX_SINGLE_SEGMENT_BYTES: u64 = 64 << 20;
/// Attempts to lock, and the time between them: together five seconds, longer than any merge of
/// small segments.
const MAX_LOCK_ATTEMPTS: usize = 500;
const LOCK_RETRY_DELAY: Duration = Duration::from_millis(10);

/// How far segments are merged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::label) enum MergeRule {
    /// Small ones only, while rows are still being solved.
    WhileSolving,
    /// Into one, unless they are large.
    Finished,
}

impl LabelSegments<'_> {
    /// Merges segments by the rule. Without effect if another process merges: it does not matter
    /// who does.
    pub(in crate::label) fn merge(&self, rule: MergeRule) {
        if rule == MergeRule::Finished {
            remove_stale_temp_files(self.folder);
        }
        if select_for_merge(&self.files(), rule).len() < 2 {
            return;
        }
        let lock_path = temp_file_path(self.folder, self.name_prefix());
        let Some(lock) = wait_for_lock(&lock_path, rule) else {
            return;
        };
        self.merge_locked(rule);
        let _ = fs::remove_file(&lock_path);
        drop(lock);
    }

    fn merge_locked(&self, rule: MergeRule) {
        let mut labels: BTreeMap<LabelKey, SolveResult> = BTreeMap::new();
        let mut sources = Vec::new();
        for path in select_for_merge(&self.files(), rule) {
            // What cannot be read stays: the next run reports it.
            if let SegmentContent::Labels(content) = self.read(&path) {
                for (key, result) in content {
                    let known = labels.entry(key).or_insert_with(|| result.clone());
                    // Limits may end one run without a decision and another with one.
                    if known.is_err() && result.is_ok() {
                        *known = result;
                    }
                }
                sources.push(path);
            }
        }
        if sources.len() < 2 {
            return;
        }
        // If the merged segment cannot be written, its sources stay and nothing is lost.
        let Ok(merged) = self.write(&labels) else {
            return;
        };
        for path in sources {
            if path != merged {
                let _ = fs::remove_file(&path);
                fail_point();
            }
        }
    }
}

/// Locks the merging of segments; `None` if the folder cannot be written, or if another process
/// merges. A finished table waits for that process: it may have listed the files before the last
/// one was written.
fn wait_for_lock(path: &Path, rule: MergeRule) -> Option<File> {
    let attempts = match rule {
        MergeRule::WhileSolving => 1,
        MergeRule::Finished => MAX_LOCK_ATTEMPTS,
    };
    for attempt in 0..attempts {
        if attempt > 0 {
            std::thread::sleep(LOCK_RETRY_DELAY);
        }
        if let Some(lock) = lock_file(path).ok()? {
            return Some(lock);
        }
    }
    None
}

/// The segments that are merged into one, of those sorted by size.
pub(super) fn select_for_merge(files: &[(u64, PathBuf)], rule: MergeRule) -> Vec<PathBuf> {
    let total: u64 = files.iter().map(|(bytes, _)| bytes).sum();
    let merges_all = rule == MergeRule::Finished && total <= MAX_SINGLE_SEGMENT_BYTES;
    let mut selected = Vec::new();
    let mut selected_bytes: u64 = 0;
    for (bytes, path) in files {
        let is_small = *bytes <= MAX_MERGED_SIZE_RATIO.saturating_mul(selected_bytes);
        if !merges_all && !selected.is_empty() && !is_small {
            break;
        }
        selected.push(path.clone());
        selected_bytes += bytes;
    }
    selected
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::{MAX_SINGLE_SEGMENT_BYTES, MergeRule, select_for_merge};

    fn files(sizes: &[u64]) -> Vec<(u64, PathBuf)> {
        let named = |size: &u64| (*size, PathBuf::from(size.to_string()));
        sizes.iter().map(named).collect()
    }

    #[test]
    fn small_segments_are_merged_and_large_ones_stay() {
        let merged = |sizes: &[u64], rule| select_for_merge(&files(sizes), rule).len();
        assert_eq!(merged(&[10, 10, 40, 200], MergeRule::WhileSolving), 3);
        assert_eq!(merged(&[10, 21, 1000], MergeRule::WhileSolving), 1);
        assert_eq!(merged(&[10, 10, 40, 200], MergeRule::Finished), 4);
        let large = MAX_SINGLE_SEGMENT_BYTES;
        assert_eq!(merged(&[10, 10, large], MergeRule::Finished), 2);
    }

    #[test]
    fn the_number_of_segments_grows_with_the_logarithm_of_the_rows() {
        let mut sizes: Vec<u64> = Vec::new();
        let mut written_again = 0;
        let appended = 10_000;
        for _ in 0..appended {
            sizes.push(100);
            sizes.sort_unstable();
            let count = select_for_merge(&files(&sizes), MergeRule::WhileSolving).len();
            if count > 1 {
                let merged: u64 = sizes.drain(..count).sum();
                written_again += merged;
                sizes.push(merged);
                sizes.sort_unstable();
            }
            assert!(sizes.len() <= 12, "{sizes:?}");
        }
        let average = written_again / (100 * appended);
        assert!(average <= 20, "every row was written {average} times");
    }
}
