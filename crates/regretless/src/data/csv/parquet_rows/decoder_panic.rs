//! Panics of the Parquet decoder become errors.
//!
//! This is the only place of the library that catches panics. The decoder is the code of others, it
//! panics on some damaged files, and a file must not end the process. A decoder that panicked is not
//! used again.

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

#[cfg(not(panic = "unwind"))]
compile_error!("Parquet files need `panic = \"unwind\"`: their decoder panics on damaged ones");

thread_local! {
    /// Whether the decoder runs on this thread.
    static IS_DECODING: Cell<bool> = const { Cell::new(false) };
}

/// Runs the decoder; the error is the message of its panic, which is not printed.
pub(super) fn catch_panic<T>(decode: impl FnOnce() -> T) -> Result<T, String> {
    silence_decoder();
    IS_DECODING.set(true);
    let result = catch_unwind(AssertUnwindSafe(decode));
    IS_DECODING.set(false);
    result.map_err(|panic| message(panic.as_ref()).to_owned())
}

/// Installs a hook, once per process, that leaves out the panics of the decoder and passes all
/// others to the hook before it: otherwise users would see the message of a crash above the error.
fn silence_decoder() {
    static INSTALLATION: Once = Once::new();
    // A thread that panics cannot change the hook.
    if std::thread::panicking() {
        return;
    }
    INSTALLATION.call_once(|| {
        let previous = take_hook();
        set_hook(Box::new(move |panic| {
            if !IS_DECODING.try_with(Cell::get).unwrap_or(false) {
                previous(panic);
            }
        }));
    });
}

fn message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("no message")
}

#[cfg(test)]
mod tests {
    use super::{IS_DECODING, catch_panic};

    #[test]
    fn a_panic_of_the_decoder_is_an_error_with_its_message() {
        assert_eq!(catch_panic(|| 5), Ok(5));
        let column = 3;
        let texts: [fn(i32) -> i32; 2] =
            [|_| panic!("damaged"), |column| panic!("column {column}")];
        for (decode, expected) in texts.into_iter().zip(["damaged", "column 3"]) {
            assert_eq!(catch_panic(|| decode(column)), Err(expected.to_owned()));
        }
        assert!(!IS_DECODING.get(), "other panics are printed");
    }
}
