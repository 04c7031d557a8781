//! Progress, messages and cancellation of long work.

/// Receives the progress of long work and may interrupt it: a progress bar, a log, a signal
/// handler.
pub trait Observer: Sync {
    /// A task with `_steps` steps begins.
    fn begin(&self, _task: &str, _steps: u64) {}
    /// Steps were completed; called on any thread.
    fn advance(&self, _steps: u64) {}
    /// The state of the running task, such as its present loss.
    fn message(&self, _text: &str) {}
    /// Information for the user that is no warning, such as that an interrupted run resumes.
    fn inform(&self, _text: &str) {}
    /// A warning for the user: a result may be worse or less reproducible than expected.
    fn warn(&self, _text: &str) {}
    /// The last task that began has ended.
    fn end(&self) {}
    /// Whether work should stop; all long work polls it at least once a second.
    fn interrupted(&self) -> bool {
        false
    }
}

/// Ignores everything and never interrupts.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoopObserver;

impl Observer for NoopObserver {}

/// Forwards interruption only: work within a task does not report progress of its own.
pub struct InterruptOnlyObserver<'a>(pub &'a dyn Observer);

impl Observer for InterruptOnlyObserver<'_> {
    fn interrupted(&self) -> bool {
        self.0.interrupted()
    }
}
