//! Serial code in functions that the report has to name.
//!
//! * `serial`: around parallel iterators of rayon;
//! * `serial install`: in a pool of the program's own, so that the serial code of `main` moves to another thread.

use std::hint::black_box;

use rayon::prelude::*;

const STEPS: u64 = 40_000_000;

fn mix(x: u64) -> u64 {
    let x = (x ^ (x >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    x ^ (x >> 29)
}

#[inline(never)]
fn spin(steps: u64) -> u64 {
    (0..steps).fold(1, |sum, step| mix(sum ^ step))
}

#[inline(never)]
fn parse_header() -> u64 {
    let first = spin(STEPS / 2);
    (0..STEPS / 2).fold(first, |sum, step| mix(sum.rotate_left(7) ^ step))
}

#[inline(never)]
fn write_output() -> u64 {
    let first = spin(STEPS / 4);
    (0..STEPS).fold(first, |sum, step| mix(sum + step))
}

fn parallel_part() {
    black_box((0..16_u64).into_par_iter().map(|part| spin(STEPS / 16) ^ part).sum::<u64>());
}

fn phases() {
    black_box(parse_header());
    parallel_part();
    black_box(write_output());
}

fn main() {
    match std::env::args().nth(1).as_deref() {
        None => phases(),
        Some("install") => {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().expect("it has room for two threads");
            pool.install(phases);
        }
        Some(other) => {
            eprintln!("{other}? usage: serial [install]");
            std::process::exit(2);
        }
    }
}
