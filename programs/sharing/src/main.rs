//! False sharing: two tasks count, each in a word of its own, and the words are in one cache line. Beside it, as much work
//! that shares nothing, and a twentieth of it that always shares.
//!
//! * `sharing [ROUNDS]`: both words in one line;
//! * `sharing fixed [ROUNDS]`: each in a line of its own.
//!
//! Known answer: with one worker both take the same. With two, what `count` does is inflated in the first, in the second not;
//! `mix` never is, and `lesser` always: so what costs most for running in parallel is `count` in the first, `lesser` in the
//! second. The counts are printed, so that nothing is optimised away: 2 * ROUNDS * COUNTS, whatever the layout.

use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Times that a task counts.
const COUNTS: u64 = 200_000;
/// Steps of arithmetic that take about as long.
const STEPS: u64 = 400_000;
/// Words of two cache lines: neighbouring lines are fetched in pairs.
const APART: usize = 16;

#[repr(align(128))]
struct Words([AtomicU64; 2 * APART]);

fn main() {
    let mut words = std::env::args().skip(1).peekable();
    let fixed = words.next_if(|word| word == "fixed").is_some();
    let rounds: u64 = words.next().map_or(60, |rounds| rounds.parse().expect("a number of rounds"));
    let memory = Words([const { AtomicU64::new(0) }; 2 * APART]);
    let second = if fixed { APART } else { 1 };
    let (first, second) = (&memory.0[0], &memory.0[second]);
    let shared = Words([const { AtomicU64::new(0) }; 2 * APART]);
    for round in 0..rounds {
        rayon::join(|| count(first), || count(second));
        rayon::join(|| mix(round), || mix(round + 1));
        rayon::join(|| lesser(&shared.0[0]), || lesser(&shared.0[1]));
    }
    println!("{}", first.load(Relaxed) + second.load(Relaxed));
}

fn lesser(word: &AtomicU64) {
    for _ in 0..COUNTS / 20 {
        word.fetch_add(1, Relaxed);
    }
}

/// An addition that nobody else may see half done: with the line in the own cache some 20 cycles.
fn count(word: &AtomicU64) {
    for _ in 0..COUNTS {
        word.fetch_add(1, Relaxed);
    }
}

fn mix(seed: u64) {
    let mut state = seed | 1;
    for _ in 0..STEPS {
        state = black_box(state ^ state << 13);
        state ^= state >> 7;
    }
    black_box(state);
}
