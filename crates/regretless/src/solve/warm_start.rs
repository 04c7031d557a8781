//! What an engine keeps of one instance, to be faster when its costs have moved a little.
//!
//! In training an instance comes back every epoch with costs that drifted. What was found last time
//! (a tour and its multipliers, a simplex basis, cuts) is then nearly right. Only the engine that
//! wrote a memory understands it. The rules for whoever uses one:
//!
//! * The answer is as good as without: the same objective, and the same decision wherever the
//!   optimum is unique by more than the engine's own tolerance. Among equal decisions the memory
//!   may decide which is given; of a relaxed point the last digits may differ.
//! * A warm search that ends at its limit of nodes is done again without memory, and where a gap is
//!   allowed memories are not used at all: answers that need not be best would depend on them.
//! * Each engine states the drift up to which it starts warm ([`CostSample::drift`]); beyond it starts
//!   cold.

use std::any::Any;
use std::fmt;

/// What an engine leaves behind.
pub trait WarmStartState: Any + Send + fmt::Debug {
    /// Memory it takes, in bytes, roughly.
    fn bytes(&self) -> usize;

    /// Drops what is large and keeps what is cheap; may leave everything as it is.
    fn shrink(&mut self) {}
}

/// The memory of one instance for one purpose.
#[derive(Debug, Default)]
pub struct WarmStart {
    kept: Option<Box<dyn WarmStartState>>,
    /// Whether a proof that can be used again is worth some work.
    prove: bool,
}

impl WarmStart {
    /// An empty memory; `prove` says whether proofs that can be used again are worth some work.
    pub fn new(prove: bool) -> Self {
        Self { kept: None, prove }
    }

    /// Whether a proof that can be used again is worth some work.
    pub fn wants_proof(&self) -> bool {
        self.prove
    }

    /// What an engine of this kind kept.
    pub fn get<K: WarmStartState>(&self) -> Option<&K> {
        let kept: &dyn Any = self.kept.as_deref()?;
        kept.downcast_ref()
    }

    /// Takes out what an engine of this kind kept.
    pub fn take<K: WarmStartState>(&mut self) -> Option<Box<K>> {
        self.get::<K>()?;
        let kept: Box<dyn Any> = self.kept.take()?;
        kept.downcast().ok()
    }

    /// Keeps this and forgets what was kept before.
    pub fn set(&mut self, keepsake: impl WarmStartState) {
        self.kept = Some(Box::new(keepsake));
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.kept = None;
    }

    /// Whether nothing is kept.
    pub fn is_empty(&self) -> bool {
        self.kept.is_none()
    }

    /// Bytes taken.
    pub fn bytes(&self) -> usize {
        self.kept.as_ref().map_or(0, |kept| kept.bytes())
    }

    /// Keeps within an allowance: the cheap part only, or nothing, where the whole is too large.
    pub fn shrink_to(&mut self, allowance: usize) {
        if self.bytes() > allowance {
            self.kept.iter_mut().for_each(|kept| kept.shrink());
        }
        if self.bytes() > allowance {
            self.kept = None;
        }
    }
}

/// Most costs kept to tell how far they moved.
const MAX_SAMPLED_COSTS: usize = 512;

/// A few costs, evenly spread, to tell later how far they moved.
#[derive(Debug, Clone, PartialEq)]
pub struct CostSample {
    step: usize,
    values: Box<[f32]>,
}

impl CostSample {
    /// A sample of these costs.
    pub fn of(costs: &[f64]) -> Self {
        let step = costs.len().div_ceil(MAX_SAMPLED_COSTS).max(1);
        Self {
            step,
            values: costs
                .iter()
                .step_by(step)
                .map(|cost| *cost as f32)
                .collect(),
        }
    }

    /// The relative change √(Σ(c − c_old)² / Σc_old²); infinite where costs are too large for it.
    pub fn drift(&self, costs: &[f64]) -> f64 {
        let (mut moved, mut size) = (0.0, 0.0);
        for (old, new) in self.values.iter().zip(costs.iter().step_by(self.step)) {
            let old = f64::from(*old);
            moved += (new - old) * (new - old);
            size += old * old;
        }
        let ratio = if moved == 0.0 { 0.0 } else { moved / size };
        if ratio.is_finite() {
            ratio.sqrt()
        } else {
            f64::INFINITY
        }
    }

    /// Bytes taken.
    pub fn bytes(&self) -> usize {
        size_of::<Self>() + size_of_val(&*self.values)
    }
}

#[cfg(test)]
mod tests {
    use super::{CostSample, WarmStart, WarmStartState};

    #[derive(Debug)]
    struct TestState(Vec<u8>, Vec<u8>);

    impl WarmStartState for TestState {
        fn bytes(&self) -> usize {
            self.0.len() + self.1.len()
        }

        fn shrink(&mut self) {
            self.1.clear();
        }
    }

    #[derive(Debug)]
    struct OtherTestState;

    impl WarmStartState for OtherTestState {
        fn bytes(&self) -> usize {
            0
        }
    }

    #[test]
    fn only_the_kind_that_was_kept_is_recalled() {
        let mut warm_start = WarmStart::new(false);
        assert!(warm_start.is_empty() && warm_start.get::<TestState>().is_none());
        warm_start.set(TestState(vec![1], vec![]));
        assert!(
            warm_start.get::<OtherTestState>().is_none()
                && warm_start.take::<OtherTestState>().is_none()
        );
        assert_eq!(warm_start.get::<TestState>().unwrap().0, [1]);
        assert_eq!(warm_start.take::<TestState>().unwrap().0, [1]);
        assert!(warm_start.is_empty());
    }

    #[test]
    fn what_is_too_large_goes_first_and_the_rest_if_need_be() {
        let mut warm_start = WarmStart::new(true);
        warm_start.set(TestState(vec![0; 10], vec![0; 90]));
        warm_start.shrink_to(100);
        assert_eq!(warm_start.bytes(), 100);
        warm_start.shrink_to(99);
        assert_eq!(warm_start.bytes(), 10);
        warm_start.shrink_to(9);
        assert!(warm_start.is_empty());
    }

    #[test]
    fn drift_is_relative_and_safe_at_the_edges() {
        let costs: Vec<f64> = (0..2000).map(|j| f64::from(j) - 700.0).collect();
        let sample = CostSample::of(&costs);
        assert!(sample.values.len() <= 512 && sample.values.len() > 400);
        assert_eq!(sample.drift(&costs), 0.0);
        let moved: Vec<f64> = costs.iter().map(|cost| cost * 1.02).collect();
        assert!((sample.drift(&moved) - 0.02).abs() < 1e-6);
        assert_eq!(CostSample::of(&[0.0; 3]).drift(&[0.0; 3]), 0.0);
        assert_eq!(CostSample::of(&[0.0; 3]).drift(&[1.0; 3]), f64::INFINITY);
        assert_eq!(CostSample::of(&[1e300]).drift(&[1.0]), f64::INFINITY);
    }
}
