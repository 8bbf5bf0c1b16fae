//! Memory that is not there: one clear line and exit code 1, in place of an abort.
//!
//! What input controls is checked against the memory that is available before it is taken ([`menet_io::memory`]); this is for what
//! a computation asks for beyond that. A message from here must not itself need memory.
//!
//! This is the only unsafe code of the workspace. Without it the standard library says how many bytes it could not get, adds a note
//! about backtraces or a backtrace, and aborts. The hook that would replace this is not stable (rust-lang/rust#51245), and a handler of
//! SIGABRT comes after these lines are printed.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::io::Write;

struct ReportingAllocator;

#[global_allocator]
static ALLOCATOR: ReportingAllocator = ReportingAllocator;

// SAFETY: every call is passed on to the system's allocator as it is; where that has nothing to give, the process ends.
unsafe impl GlobalAlloc for ReportingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as this function's own contract.
        given(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as this function's own contract.
        given(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as this function's own contract.
        given(unsafe { System.realloc(memory, layout, size) }, size)
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as this function's own contract.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[inline]
fn given(memory: *mut u8, size: usize) -> *mut u8 {
    if memory.is_null() {
        end(size);
    }
    memory
}

#[cold]
fn end(size: usize) -> ! {
    let mut line = [0; 256];
    let mut out = &mut line[..];
    let megabytes = size.div_ceil(1_000_000);
    // While a file is decoded, the file says how much is needed.
    let decoding = menet_io::guard::expected();
    let written = if decoding {
        writeln!(
            out,
            "menet: a part of the data claims {megabytes} MB, and there is no memory for it: the file is damaged or too large"
        )
    } else {
        writeln!(
            out,
            "menet: out of memory: {megabytes} MB more are needed and cannot be had; use fewer variables or samples, fewer \
             --threads, or a machine with more memory"
        )
    };
    let left = out.len();
    if written.is_ok() {
        let _ = std::io::stderr().write_all(&line[..256 - left]);
    }
    std::process::exit(if decoding { 2 } else { 1 });
}

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
