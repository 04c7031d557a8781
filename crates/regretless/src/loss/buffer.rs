//! Buffers that a thread keeps from evaluation to evaluation, so that none allocates.

use std::cell::RefCell;
use std::ops::{Deref, DerefMut};

thread_local! {
    static FREE_BUFFERS: RefCell<Vec<Vec<f64>>> = const { RefCell::new(Vec::new()) };
}

/// Numbers that go back to their thread when dropped.
#[derive(Debug)]
pub(crate) struct ScratchBuffer(Vec<f64>);

/// This many zeros.
pub(crate) fn zeros(len: usize) -> ScratchBuffer {
    let mut numbers = FREE_BUFFERS.with_borrow_mut(Vec::pop).unwrap_or_default();
    numbers.clear();
    numbers.resize(len, 0.0);
    ScratchBuffer(numbers)
}

/// These numbers.
pub(crate) fn filled(values: impl Iterator<Item = f64>) -> ScratchBuffer {
    let mut buffer = zeros(0);
    buffer.0.extend(values);
    buffer
}

impl Deref for ScratchBuffer {
    type Target = [f64];

    fn deref(&self) -> &[f64] {
        &self.0
    }
}

impl DerefMut for ScratchBuffer {
    fn deref_mut(&mut self) -> &mut [f64] {
        &mut self.0
    }
}

impl Drop for ScratchBuffer {
    fn drop(&mut self) {
        let numbers = std::mem::take(&mut self.0);
        // A thread that is ending has no place left to keep it.
        let _ = FREE_BUFFERS.try_with(|kept| kept.borrow_mut().push(numbers));
    }
}
