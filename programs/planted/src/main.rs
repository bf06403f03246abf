//! Programs that do not scale, each for one known reason, and the same with that reason removed.
//!
//! * `planted list`: the names;
//! * `planted NAME [fixed]`: runs one; a unit is a tick of the virtual clock;
//! * `planted NAME [fixed] NANOS`: a unit is so many nanoseconds of CPU time.
//!
//! The reasons are those of the case studies of TaskProf, and stand with the programs in `causes.rs`.

mod causes;

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};

use causes::CAUSES;

/// Nanoseconds of CPU time per unit; 0 for the virtual clock.
static UNIT: AtomicU64 = AtomicU64::new(0);

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let mut words = arguments.iter().map(String::as_str);
    let name = words.next().unwrap_or_default();
    if name == "list" {
        CAUSES.iter().for_each(|cause| println!("{}", cause.name));
        return;
    }
    let Some(cause) = CAUSES.iter().find(|cause| cause.name == name) else {
        eprintln!("usage: planted list | planted NAME [fixed] [NANOS]");
        std::process::exit(2);
    };
    let mut next = words.next();
    let fixed = next == Some("fixed");
    if fixed {
        next = words.next();
    }
    if let Some(nanos) = next {
        UNIT.store(nanos.parse().expect("a number of nanoseconds"), Ordering::Relaxed);
        // The pool, and the code that spins, are warm when the program begins.
        rayon::join(|| cost(1), || cost(1));
    }
    if fixed {
        (cause.fixed)();
    } else {
        (cause.run)();
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
