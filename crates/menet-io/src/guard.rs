//! Catches panics of third-party decoders on damaged bytes.
//!
//! Arrow's reader panics (version 60, if a buffer claims to lie beyond the end of the file). A panic in a guarded call
//! becomes an error. A program that prints panics can skip those that were [`expected`].

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

thread_local! {
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Whether a panic on this thread will be caught and reported as an error.
pub fn expected() -> bool {
    GUARDED.get()
}

/// The result of `decode`, or none if it panics.
pub(crate) fn guarded<T>(decode: impl FnOnce() -> T) -> Option<T> {
    let before = GUARDED.replace(true);
    // The state of the decoder is not used after a panic.
    let outcome = catch_unwind(AssertUnwindSafe(decode));
    GUARDED.set(before);
    outcome.ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panics_are_caught_and_known() {
        assert!(!expected());
        assert_eq!(guarded(expected), Some(true));
        assert_eq!(
            guarded(|| if expected() {
                panic!("a damaged file")
            }),
            None
        );
        assert!(!expected());
    }
}
