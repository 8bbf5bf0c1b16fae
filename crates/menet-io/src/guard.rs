//! Decoders of others that panic on damaged bytes instead of saying so.
//!
//! Arrow's reader does (version 60, where a buffer claims to lie beyond the end of the file). What a guarded call panics with
//! becomes an error; a program that prints panics can leave out those that were [`expected`].

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

thread_local! {
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Whether a panic on this thread will be caught and told as an error.
pub fn expected() -> bool {
    GUARDED.get()
}

/// What `decode` gives, or none if it panics.
pub(crate) fn guarded<T>(decode: impl FnOnce() -> T) -> Option<T> {
    let before = GUARDED.replace(true);
    // What a decoder leaves behind is not used again.
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
