//! Scratch buffers that each thread reuses, so evaluations of losses do not allocate.

use std::cell::RefCell;
use std::ops::{Deref, DerefMut};

thread_local! {
    static FREE_BUFFERS: RefCell<Vec<Vec<f64>>> = const { RefCell::new(Vec::new()) };
}

/// A buffer that returns to the free list of its thread when dropped.
#[derive(Debug)]
pub(crate) struct ScratchBuffer(Vec<f64>);

/// A buffer of `len` zeros.
pub(crate) fn zeros(len: usize) -> ScratchBuffer {
    let mut numbers = FREE_BUFFERS.with_borrow_mut(Vec::pop).unwrap_or_default();
    numbers.clear();
    numbers.resize(len, 0.0);
    ScratchBuffer(numbers)
}

/// A buffer of these values.
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
        // The free list of a thread that is ending may be gone; the buffer is then freed.
        let _ = FREE_BUFFERS.try_with(|free| free.borrow_mut().push(numbers));
    }
}
