//! Memory that is not there: one clear line and exit code 1, in place of an abort.
//!
//! What input controls is checked against the memory that is available before it is taken ([`menet_io::memory`]); this is for what
//! a computation asks for beyond that. A message from here must not itself need memory.

use std::alloc::{GlobalAlloc, Layout, System};
use std::io::Write;

struct Told;

#[global_allocator]
static ALLOCATOR: Told = Told;

// SAFETY: every call is passed on to the system's allocator as it is; where that has nothing to give, the process ends.
unsafe impl GlobalAlloc for Told {
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
    let written = writeln!(
        out,
        "menet: out of memory: {} MB more are needed and cannot be had; use fewer variables or samples, or a machine with more \
         memory (an absurd number comes from a damaged file)",
        size.div_ceil(1_000_000)
    );
    let left = out.len();
    if written.is_ok() {
        let _ = std::io::stderr().write_all(&line[..256 - left]);
    }
    std::process::exit(1);
}
