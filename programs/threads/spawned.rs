//! Threads of Rust's standard library: each way to create one. The comments say which lines create threads.

use std::hint::black_box;
use std::thread::{self, JoinHandle};

fn work(steps: u64) -> u64 {
    (0..steps).fold(1, |sum, step| black_box(sum ^ step.wrapping_mul(0x9e37_79b9_7f4a_7c15)))
}

fn in_a_function() {
    black_box(work(2_000));
}

#[inline(never)]
fn start(steps: u64) -> JoinHandle<u64> {
    thread::spawn(move || work(steps)) // creates, in start
}

fn main() {
    let function = thread::spawn(in_a_function); // creates, in main
    let closure = thread::spawn(|| black_box(work(1_000))); // creates, in main
    let named = thread::Builder::new().name("with-a-name".to_owned());
    let named = named.spawn(|| black_box(work(3_000))); // creates, in main
    let started = [start(500), start(700)];
    thread::scope(|scope| {
        scope.spawn(|| black_box(work(1_500))); // creates, in main
        scope.spawn(in_a_function); // creates, in main
    });
    function.join().expect("it ends");
    closure.join().expect("it ends");
    named.expect("there is room for a thread").join().expect("it ends");
    for thread in started {
        thread.join().expect("it ends");
    }
}
