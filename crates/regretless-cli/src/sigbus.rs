//! A file that is cut off while its numbers are read in place: the operating system has no other
//! way to say so than a signal, which would end the program without a word.

#![allow(
    unsafe_code,
    reason = "a signal handler is installed; it does nothing but write a line and end the program"
)]

use std::ffi::c_int;

const SIGBUS_MESSAGE: &str = "error: a file was cut off while it was in use (a table of costs, most \
    likely); files written so \
                     far are whole. Replace files by renaming instead of writing over them, and \
                     start again\n";

extern "C" fn handle_sigbus(_: c_int) {
    // SAFETY: both calls are allowed in a handler; the words live as long as the program.
    unsafe {
        libc::write(
            libc::STDERR_FILENO,
            SIGBUS_MESSAGE.as_ptr().cast(),
            SIGBUS_MESSAGE.len(),
        );
        libc::_exit(3);
    }
}

/// From now on such a file is an error in words, with the exit code of bad input.
pub fn install_handler() {
    let handler: extern "C" fn(c_int) = handle_sigbus;
    // SAFETY: the handler keeps to what a handler may do.
    unsafe { libc::signal(libc::SIGBUS, handler as libc::sighandler_t) };
}
