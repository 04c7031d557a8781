//! Training steps reuse the buffers of earlier steps: they allocate no memory.

#![allow(
    unsafe_code,
    reason = "counting allocations requires an implementation of the unsafe trait GlobalAlloc"
)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use regretless::data::synthetic::SyntheticSpec;
use regretless::problem::Benchmark;
use regretless::settings::{SelectionCriterion, TrainingSettings};

use crate::tests::fixture::TrainingFixture;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

/// The allocator of the system, with a count of allocations per thread.
struct CountingAllocator;

fn count() {
    // In a thread that is ending, the counter may no longer exist.
    let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
}

// SAFETY: every call is passed to the allocator of the system with the same arguments.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        unsafe { System.dealloc(pointer, layout) };
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// Allocations of one training run on the calling thread.
fn allocations(fixture: &TrainingFixture, method: &str, epochs: usize) -> u64 {
    let settings = TrainingSettings {
        epochs,
        batch_size: 2,
        select: SelectionCriterion::Last,
        ..TrainingSettings::default()
    };
    let before = ALLOCATIONS.get();
    fixture.train(method, settings).unwrap();
    ALLOCATIONS.get() - before
}

#[test]
fn training_steps_do_not_allocate_after_the_first_epochs() {
    let (problem, data) = "SP5x5"
        .parse::<Benchmark>()
        .unwrap()
        .generate(SyntheticSpec::paper(200, 1))
        .unwrap();
    let fixture = TrainingFixture::new(problem, data, [200, 0, 0], 1);
    // PFYL(mul): with multiplicative noise.
    for method in ["SPO+", "PFYL", "PFYL(mul)", "SPO+ cache 0%", "PG"] {
        let [after_3_epochs, after_13_epochs] =
            [3, 13].map(|epochs| allocations(&fixture, method, epochs));
        let per_epoch = (after_13_epochs - after_3_epochs) as f64 / 10.0;
        assert!(
            per_epoch < 10.0,
            "{method}: {per_epoch} allocations per epoch of 100 steps"
        );
    }
}
