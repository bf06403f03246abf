//! Programs with a closed-form answer.
//!
//! * `shapes list`: the names, with work and span in units, one a line; `P` is the number of workers.
//! * `shapes NAME`: runs one; a unit is a tick of the virtual clock.
//! * `shapes comparisons NAME`: the number of comparisons of a sort, which is its work in units.
//! * `shapes NAME NANOS`: runs one inside a scope; a unit is so many nanoseconds of CPU time.
//!
//! The answers stand beside the programs in `shapes.rs`.

mod shapes;

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};

use shapes::SHAPES;

/// Nanoseconds of CPU time per unit; 0 for the virtual clock.
static UNIT: AtomicU64 = AtomicU64::new(0);

fn main() {
    std::panic::set_hook(Box::new(|_| {}));
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.first().is_some_and(|a| a == "list") {
        let workers = rayon::current_num_threads() as u64;
        for shape in SHAPES {
            let (work, span) = (shape.answer)(workers);
            println!("{} {work} {span}", shape.name);
        }
        return;
    }
    let counting = arguments.first().is_some_and(|a| a == "comparisons");
    let arguments = &arguments[usize::from(counting)..];
    let Some(shape) = SHAPES.iter().find(|s| arguments.first().is_some_and(|a| a == s.name)) else {
        eprintln!("usage: shapes list | shapes NAME [NANOS]");
        std::process::exit(2);
    };
    match arguments.get(1) {
        None => (shape.run)(),
        Some(nanos) => {
            UNIT.store(nanos.parse().expect("a number of nanoseconds"), Ordering::Relaxed);
            // The pool, and the code that spins, are warm when the shape begins.
            rayon::join(|| cost(1), || cost(1));
            rayon::scope(|_| (shape.run)());
        }
    }
    if counting {
        println!("{}", shapes::COMPARISONS.load(Ordering::Relaxed));
    }
}

/// Takes `units` of CPU time, or ticks as often.
pub fn cost(units: u64) {
    let unit = UNIT.load(Ordering::Relaxed);
    if unit == 0 {
        workspan_probe::tick(units);
    } else {
        spin(units * unit);
    }
}

/// Computes until the thread has used so many nanoseconds of CPU time.
fn spin(nanos: u64) {
    let end = cpu() + nanos;
    thread_local!(static X: Cell<u64> = const { Cell::new(1) });
    while cpu() < end {
        for _ in 0..200 {
            X.with(|x| x.set(x.get().wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1)));
        }
    }
}

/// CPU time of this thread, in nanoseconds.
fn cpu() -> u64 {
    extern "C" {
        fn clock_gettime(clock: i32, at: *mut [i64; 2]) -> i32;
    }
    let mut at = [0i64; 2];
    // SAFETY: `at` has the layout of `struct timespec`; 3 is CLOCK_THREAD_CPUTIME_ID.
    unsafe { clock_gettime(3, &mut at) };
    at[0] as u64 * 1_000_000_000 + at[1] as u64
}
