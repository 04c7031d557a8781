//! How long work tells where it is and asks whether to go on.

/// Someone who watches long work: a progress bar, a log, a signal handler, or nobody.
pub trait Observer: Sync {
    /// A task with this many steps begins.
    fn begin(&self, _task: &str, _steps: u64) {}
    /// Steps were done, on whichever thread.
    fn advance(&self, _steps: u64) {}
    /// A word about the running task, such as its present loss.
    fn message(&self, _text: &str) {}
    /// Something the user should know, whatever is running.
    fn warn(&self, _text: &str) {}
    /// The task begun last is over.
    fn end(&self) {}
    /// Whether the user asked to stop; polled at least once a second by all long work.
    fn interrupted(&self) -> bool {
        false
    }
}

/// Nobody watches.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoopObserver;

impl Observer for NoopObserver {}
