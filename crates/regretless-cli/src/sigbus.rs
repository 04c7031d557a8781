//! SIGBUS handler: a memory-mapped file that is truncated while it is read raises this signal,
//! which would otherwise end the program silently.

#![allow(
    unsafe_code,
    reason = "installs a signal handler, which only writes a line and ends the program"
)]

use std::ffi::c_int;

const SIGBUS_MESSAGE: &str = "error: a file was truncated while it was in use (probably a table \
    of costs); files written so far are complete. Replace files by renaming instead of \
    overwriting them, and start again\n";

extern "C" fn handle_sigbus(_: c_int) {
    // SAFETY: both calls are async-signal-safe; the message is static.
    unsafe {
        libc::write(
            libc::STDERR_FILENO,
            SIGBUS_MESSAGE.as_ptr().cast(),
            SIGBUS_MESSAGE.len(),
        );
        libc::_exit(3);
    }
}

/// Installs the handler: such a file becomes an error message with the exit code of bad input.
pub fn install_handler() {
    let handler: extern "C" fn(c_int) = handle_sigbus;
    // SAFETY: the handler calls async-signal-safe functions only.
    unsafe { libc::signal(libc::SIGBUS, handler as libc::sighandler_t) };
}
