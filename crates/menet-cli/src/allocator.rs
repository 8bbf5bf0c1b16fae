//! Memory that is not there: one line and exit code 1, in place of an abort and a core dump.
//!
//! What input controls is checked against the memory that is available before it is taken ([`menet_io::memory`]), with a message
//! that says what to do. This is for what a computation asks for beyond that. The standard library then says how many bytes it
//! could not get, and raises SIGABRT.

/// Makes SIGABRT end the program with exit code 1. Where the signal cannot be had, the program aborts.
#[cfg(unix)]
pub(crate) fn end_without_abort() {
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;
    let always = Arc::new(AtomicBool::new(true));
    let _ = signal_hook::flag::register_conditional_shutdown(signal_hook::consts::SIGABRT, 1, always);
}

#[cfg(not(unix))]
pub(crate) fn end_without_abort() {}

/// Lets all threads share one part of memory where the address space is limited (`ulimit -v`): glibc sets 64 MB of it aside for
/// every thread otherwise, used or not. It reads its settings when a program starts, so the program starts once more, in the same
/// process. Where that fails, it goes on as it is.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub(crate) fn share_limited_space() {
    use std::os::unix::process::CommandExt;
    const ARENAS: &str = "MALLOC_ARENA_MAX";
    if menet_io::memory::address_space() == u64::MAX || std::env::var_os(ARENAS).is_some() {
        return;
    }
    let mut arguments = std::env::args_os();
    if let (Ok(program), Some(name)) = (std::env::current_exe(), arguments.next()) {
        let _ = std::process::Command::new(program).arg0(name).args(arguments).env(ARENAS, "1").exec();
    }
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(crate) fn share_limited_space() {}
