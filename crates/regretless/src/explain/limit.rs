//! How many solves each part of an explanation may take.

use crate::solve::Solution;
use crate::text::duration;

/// Solves of one part unless another number is asked for. Untuned: enough for every edge of a tour
/// of 22 nodes.
pub const DEFAULT_MAX_SOLVES: usize = 250;

/// Estimated work in nanoseconds of these solves, one after the other: a minute. Untuned: who waits
/// longer for one decision has asked for it.
const MAX_DEFAULT_WORK: u64 = 60_000_000_000;

/// The limit of solves of each part.
#[derive(Debug, Clone, Copy)]
pub(super) struct SolveLimit {
    pub(super) solves: usize,
    /// Estimated work of a solve in nanoseconds; 0 if it is not known.
    work: u64,
}

impl SolveLimit {
    /// The number that was asked for; without one, as many as take a minute if each takes as long
    /// as the explained decision did.
    pub(super) fn new(wanted: Option<usize>, explained: &Solution) -> Self {
        let work = explained.work;
        let affordable = MAX_DEFAULT_WORK.checked_div(work).unwrap_or(u64::MAX);
        let affordable = usize::try_from(affordable).unwrap_or(usize::MAX);
        Self {
            solves: wanted.unwrap_or(DEFAULT_MAX_SOLVES.min(affordable)),
            work,
        }
    }

    /// That a part needs more solves: how many, how long they take and what allows them.
    pub(super) fn exceeded_by(&self, needed: usize) -> String {
        let seconds = 1e-9 * self.work as f64 * needed as f64;
        let time = if seconds >= 1.0 {
            format!(", which takes about {}", duration(seconds))
        } else {
            String::new()
        };
        format!(
            "more than the limit of {} (max_solves = {needed} allows them{time})",
            self.solves
        )
    }
}

#[cfg(test)]
mod tests {
    use super::SolveLimit;
    use crate::solve::Solution;

    #[test]
    fn slow_solves_lower_the_limit_unless_a_number_is_asked_for() {
        let mut explained = Solution::empty();
        assert_eq!(SolveLimit::new(None, &explained).solves, 250);
        // Ten seconds.
        explained.work = 10_000_000_000;
        let limit = SolveLimit::new(None, &explained);
        assert_eq!(limit.solves, 6);
        assert_eq!(
            limit.exceeded_by(90),
            "more than the limit of 6 (max_solves = 90 allows them, which takes about 15 min)"
        );
        assert_eq!(SolveLimit::new(Some(90), &explained).solves, 90);
    }
}
