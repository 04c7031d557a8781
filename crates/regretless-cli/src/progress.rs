//! Progress bars on standard error, and Ctrl-C.
//!
//! Bars appear after a short delay, and only on a terminal. The first Ctrl-C requests cancellation,
//! which keeps finished results. A second one, or a solve that does not react in time, ends the
//! program at once. Files are written atomically, so nothing stored is lost.

use std::io::{IsTerminal, stderr};
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use regretless::cancellation::Cancellation;
use regretless::observer::Observer;

use crate::text::escaped;

/// Whether the user pressed Ctrl-C; solvers check it too.
static INTERRUPTED: LazyLock<Cancellation> = LazyLock::new(Cancellation::new);

/// Tasks shorter than this show no bar. Untuned: shorter delays flicker.
const PROGRESS_BAR_DELAY: Duration = Duration::from_millis(500);

/// The program ends this long after Ctrl-C even if the work has not stopped: just below one second,
/// which users perceive as immediate, and long enough to finish a write.
const MAX_INTERRUPT_DELAY: Duration = Duration::from_millis(900);

/// Turns Ctrl-C into a cancellation request that long computations poll.
pub fn listen_for_interrupts() {
    let handler = || {
        if INTERRUPTED.is_requested() {
            std::process::exit(130);
        }
        INTERRUPTED.request();
        std::thread::spawn(|| {
            std::thread::sleep(MAX_INTERRUPT_DELAY);
            crate::output::print_error(&regretless::Error::Interrupted);
            std::process::exit(130);
        });
    };
    if ctrlc::set_handler(handler).is_err() {
        crate::output::print_warning("note: Ctrl-C will end the program at once");
    }
}

/// Cancels the work of the calling thread after Ctrl-C, solves included.
#[must_use = "the scope ends when it is dropped"]
pub fn enter_cancellation_scope() -> impl Drop {
    INTERRUPTED.enter()
}

/// Shows one progress bar for the current task.
pub struct ProgressObserver {
    shown: bool,
    quiet: bool,
    bar: Mutex<Option<ProgressBarState>>,
}

struct ProgressBarState {
    bar: ProgressBar,
    begun: Instant,
    drawn: bool,
}

impl ProgressObserver {
    /// Bars on a terminal, unless `quiet`.
    pub fn new(quiet: bool) -> Self {
        Self {
            shown: !quiet && stderr().is_terminal(),
            quiet,
            bar: Mutex::new(None),
        }
    }

    fn with_bar(&self, work: impl FnOnce(&ProgressBar)) {
        let mut kept = self.bar.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(bar) = kept.as_mut() {
            bar.draw_when_due();
            work(&bar.bar);
        }
    }
}

impl ProgressBarState {
    fn new(task: &str, steps: u64) -> Self {
        let bar = ProgressBar::with_draw_target(Some(steps), ProgressDrawTarget::hidden());
        let form =
            "{prefix} {bar:30.cyan/dim} {human_pos}/{human_len}  {elapsed}, {eta} left  {msg:.dim}";
        if let Ok(style) = ProgressStyle::with_template(form) {
            bar.set_style(style.progress_chars("━╸─"));
        }
        bar.set_prefix(escaped(task).into_owned());
        Self {
            bar,
            begun: Instant::now(),
            drawn: false,
        }
    }

    fn draw_when_due(&mut self) {
        if !self.drawn && self.begun.elapsed() > PROGRESS_BAR_DELAY {
            self.drawn = true;
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
            self.bar.enable_steady_tick(Duration::from_millis(200));
        }
    }
}

impl Observer for ProgressObserver {
    fn begin(&self, task: &str, steps: u64) {
        if self.shown {
            *self.bar.lock().unwrap_or_else(PoisonError::into_inner) =
                Some(ProgressBarState::new(task, steps));
        }
    }

    fn advance(&self, steps: u64) {
        if self.shown {
            self.with_bar(|bar| bar.inc(steps));
        }
    }

    fn message(&self, text: &str) {
        if self.shown {
            self.with_bar(|bar| bar.set_message(escaped(text).into_owned()));
        }
    }

    fn inform(&self, text: &str) {
        self.warn(text);
    }

    fn warn(&self, text: &str) {
        if self.quiet {
            return;
        }
        let print = || crate::output::print_warning(&format!("note: {text}"));
        let bar = self.bar.lock().unwrap_or_else(PoisonError::into_inner);
        match bar.as_ref() {
            // Clears the bar for the time of the output.
            Some(state) => state.bar.suspend(print),
            None => print(),
        }
    }

    fn end(&self) {
        if let Some(bar) = self
            .bar
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take()
        {
            bar.bar.finish_and_clear();
        }
    }

    fn interrupted(&self) -> bool {
        INTERRUPTED.is_requested()
    }
}
