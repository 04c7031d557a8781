//! Steps of SPO+ and PFYL use the memory that the steps before them used.

#![allow(
    unsafe_code,
    reason = "counting allocations means standing in for the allocator, which is an unsafe trait"
)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use regretless::data::synthetic::SyntheticSpec;
use regretless::problem::Benchmark;
use regretless::settings::{SelectionCriterion, TrainingSettings};

use crate::tests::setting::Setting;

thread_local! {
    static TAKEN: Cell<u64> = const { Cell::new(0) };
}

/// The system's allocator, counting what each thread takes.
struct Counting;

fn count() {
    // A thread that is ending has nothing left to count with.
    let _ = TAKEN.try_with(|taken| taken.set(taken.get() + 1));
}

// SAFETY: every call is handed on to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        unsafe { System.dealloc(place, layout) };
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        unsafe { System.realloc(place, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Allocations of a whole training on the calling thread.
fn allocations(setting: &Setting, method: &str, epochs: usize) -> u64 {
    let settings = TrainingSettings {
        epochs,
        batch_size: 2,
        select: SelectionCriterion::Last,
        ..TrainingSettings::default()
    };
    let before = TAKEN.get();
    setting.train(method, settings).unwrap();
    TAKEN.get() - before
}

#[test]
fn no_step_allocates_once_training_is_under_way() {
    let (problem, data) = "SP5x5"
        .parse::<Benchmark>()
        .unwrap()
        .generate(SyntheticSpec::paper(200, 1))
        .unwrap();
    let setting = Setting::new(problem, data, [200, 0, 0], 1);
    for method in ["SPO+", "PFYL", "PFYL(mul)", "SPO+ cache 0%", "PG"] {
        let [few, more] = [3, 13].map(|epochs| allocations(&setting, method, epochs));
        let each = (more - few) as f64 / 10.0;
        assert!(
            each < 10.0,
            "{method}: {each} allocations per epoch of 100 steps"
        );
    }
}
