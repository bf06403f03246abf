//! Page faults at a known place: one loop is the first to touch memory, another computes on memory that is there.
//!
//! `faults [ROUNDS]`: each round takes 2000 pages anew. Printed is how many faults the kernel has counted for the process
//! while the first loop ran, in all rounds: at least a page each, 2000 a round.

use std::ffi::{c_int, c_long, c_void};

use rayon::prelude::*;

const PAGE: usize = 4096;
const PAGES: usize = 2000;

extern "C" {
    fn mmap(at: *mut c_void, length: usize, protection: c_int, flags: c_int, fd: c_int, offset: i64) -> *mut c_void;
    fn munmap(at: *mut c_void, length: usize) -> c_int;
    fn madvise(at: *mut c_void, length: usize, advice: c_int) -> c_int;
    fn getrusage(who: c_int, usage: *mut c_long) -> c_int;
}

fn main() {
    let rounds: u64 = std::env::args().nth(1).map_or(3, |rounds| rounds.parse().expect("a number"));
    // The pool is there before anything is counted.
    rayon::join(|| (), || ());
    let there = vec![1u8; PAGE * 16];
    let mut counted = 0;
    let mut sum = 0;
    for round in 0..rounds {
        let before = faults();
        let fresh = Fresh::new(PAGES);
        touch(fresh.0);
        counted += faults() - before;
        sum += compute(&there, round);
        drop(fresh);
    }
    println!("{counted} {sum}");
}

fn touch(memory: &mut [u8]) {
    memory.par_chunks_mut(PAGE * 8).for_each(|pages| {
        for page in pages.chunks_mut(PAGE) {
            page[0] = 1;
        }
    });
}

fn compute(memory: &[u8], round: u64) -> u64 {
    (0..256u64).into_par_iter().map(|i| memory.iter().map(|byte| u64::from(*byte) ^ i ^ round).sum::<u64>() % 7).sum()
}

/// Memory that nobody has touched, in small pages.
struct Fresh(&'static mut [u8]);

impl Fresh {
    fn new(pages: usize) -> Fresh {
        const NO_HUGE_PAGES: c_int = 15;
        let length = pages * PAGE;
        // SAFETY: requests private memory at an address of the kernel's choice, which is given back by `drop`.
        let memory = unsafe {
            let at = mmap(std::ptr::null_mut(), length, 3, 0x22, -1, 0);
            assert_ne!(at as isize, -1);
            madvise(at, length, NO_HUGE_PAGES);
            std::slice::from_raw_parts_mut(at.cast(), length)
        };
        Fresh(memory)
    }
}

impl Drop for Fresh {
    fn drop(&mut self) {
        // SAFETY: made by `new`, and used no more.
        unsafe { munmap(self.0.as_mut_ptr().cast(), self.0.len()) };
    }
}

/// Of this process so far.
fn faults() -> i64 {
    let mut usage: [c_long; 18] = [0; 18];
    // SAFETY: the array has the size of `struct rusage` on 64-bit Linux.
    unsafe { getrusage(0, usage.as_mut_ptr()) };
    usage[8] + usage[9]
}
