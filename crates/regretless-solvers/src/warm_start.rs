//! Warm starts: the state that a solver keeps of one instance to solve it faster after a small
//! change of its costs.
//!
//! In training an instance is solved in every epoch with costs that drifted. The state of the last
//! solve (a tour and its multipliers, a simplex basis, cuts) is then nearly optimal. Only the
//! solver that wrote a state reads it. The rules for solvers:
//!
//! * The result is that of a cold start: the same objective, and the same decision wherever the
//!   optimum is unique by more than the solver's own tolerance. Among tied decisions the warm start
//!   may change which one is returned; of a relaxed point the last digits may differ.
//! * A warm search that ends at its node limit is repeated cold, and solvers with an allowed gap
//!   use no warm starts: suboptimal results would depend on them.
//! * Each solver states the drift up to which it starts warm (`CostSample::drift`); beyond that
//!   drift it starts cold.

use std::any::Any;
use std::fmt;

/// The state that a solver keeps.
pub trait WarmStartState: Any + Send + fmt::Debug {
    /// Approximate memory in bytes.
    fn bytes(&self) -> usize;

    /// Drops the large parts of the state and keeps the small ones; may do nothing.
    fn shrink(&mut self) {}
}

/// The warm start of one instance for one kind of solver call.
#[derive(Debug, Default)]
pub struct WarmStart {
    state: Option<Box<dyn WarmStartState>>,
    /// Whether solvers may spend work on certificates that can be reused.
    collect_certificates: bool,
}

impl WarmStart {
    /// An empty warm start; `collect_certificates` allows work on certificates that can be reused.
    pub fn new(collect_certificates: bool) -> Self {
        Self {
            state: None,
            collect_certificates,
        }
    }

    /// Whether solvers may spend work on certificates that can be reused.
    pub fn collects_certificates(&self) -> bool {
        self.collect_certificates
    }

    /// The state, if it is of this type.
    pub fn get<S: WarmStartState>(&self) -> Option<&S> {
        let state: &dyn Any = self.state.as_deref()?;
        state.downcast_ref()
    }

    /// Takes the state out, if it is of this type.
    pub fn take<S: WarmStartState>(&mut self) -> Option<Box<S>> {
        self.get::<S>()?;
        let state: Box<dyn Any> = self.state.take()?;
        state.downcast().ok()
    }

    /// Replaces the state.
    pub fn set(&mut self, state: impl WarmStartState) {
        self.state = Some(Box::new(state));
    }

    /// Drops the state.
    pub fn clear(&mut self) {
        self.state = None;
    }

    /// Whether there is no state.
    pub fn is_empty(&self) -> bool {
        self.state.is_none()
    }

    /// Approximate memory in bytes.
    pub fn bytes(&self) -> usize {
        self.state.as_ref().map_or(0, |state| state.bytes())
    }

    /// Shrinks the state to a memory limit, or drops it.
    pub fn shrink_to(&mut self, max_bytes: usize) {
        if self.bytes() > max_bytes
            && let Some(state) = &mut self.state
        {
            state.shrink();
        }
        if self.bytes() > max_bytes {
            self.state = None;
        }
    }
}

/// Maximum number of costs in a sample: enough to estimate the drift; they take 2 KB.
const MAX_SAMPLED_COSTS: usize = 512;

/// A few costs, evenly spaced, to measure later how far they drifted.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CostSample {
    /// Distance between sampled costs.
    step: usize,
    values: Box<[f32]>,
}

impl CostSample {
    /// A sample of these costs.
    pub fn new(costs: &[f64]) -> Self {
        let step = costs.len().div_ceil(MAX_SAMPLED_COSTS).max(1);
        let sampled = costs.iter().step_by(step);
        Self {
            step,
            values: sampled.map(|cost| *cost as f32).collect(),
        }
    }

    /// The relative change √(Σ(c − c_old)² / Σc_old²); infinite on overflow.
    pub fn drift(&self, costs: &[f64]) -> f64 {
        let (mut change, mut norm) = (0.0, 0.0);
        for (old, new) in self.values.iter().zip(costs.iter().step_by(self.step)) {
            let old = f64::from(*old);
            change += (new - old) * (new - old);
            norm += old * old;
        }
        let ratio = if change == 0.0 { 0.0 } else { change / norm };
        if ratio.is_finite() {
            ratio.sqrt()
        } else {
            f64::INFINITY
        }
    }

    /// Approximate memory in bytes.
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
    fn only_a_state_of_the_same_type_is_returned() {
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
    fn a_state_above_the_limit_is_shrunk_and_then_dropped() {
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
    fn drift_is_relative_and_handles_zero_and_overflow() {
        let costs: Vec<f64> = (0..2000).map(|j| f64::from(j) - 700.0).collect();
        let sample = CostSample::new(&costs);
        assert!(sample.values.len() <= 512 && sample.values.len() > 400);
        assert_eq!(sample.drift(&costs), 0.0);
        let moved: Vec<f64> = costs.iter().map(|cost| cost * 1.02).collect();
        assert!((sample.drift(&moved) - 0.02).abs() < 1e-6);
        assert_eq!(CostSample::new(&[0.0; 3]).drift(&[0.0; 3]), 0.0);
        assert_eq!(CostSample::new(&[0.0; 3]).drift(&[1.0; 3]), f64::INFINITY);
        assert_eq!(CostSample::new(&[1e300]).drift(&[1.0]), f64::INFINITY);
    }
}
