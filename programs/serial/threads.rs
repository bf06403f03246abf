//! Threads, and serial code behind them, in functions that the report has to name.

use std::hint::black_box;
use std::thread;

const STEPS: u64 = 40_000_000;

fn mix(x: u64) -> u64 {
    let x = (x ^ (x >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    x ^ (x >> 29)
}

#[inline(never)]
fn search(seed: u64) -> u64 {
    (0..STEPS).fold(seed, |sum, step| mix(sum + step))
}

#[inline(never)]
fn write_output() -> u64 {
    (0..2 * STEPS).fold(2, |sum, step| mix(sum ^ step))
}

fn main() {
    let threads: Vec<_> = (0..2).map(|seed| thread::spawn(move || search(seed))).collect();
    threads.into_iter().for_each(|thread| drop(black_box(thread.join())));
    black_box(write_output());
}
