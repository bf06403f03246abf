//! Threads that take a mutex and a read-write lock of the standard library.

use std::sync::{Mutex, RwLock};
use std::thread;

fn work(units: u64) -> u64 {
    let mut state = 88_172_645_463_325_252u64;
    for _ in 0..units * 10_000 {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
    }
    std::hint::black_box(state)
}

fn main() {
    let (sum, limit) = (Mutex::new(0u64), RwLock::new(3u64));
    thread::scope(|scope| {
        for number in 0..3 {
            let (sum, limit) = (&sum, &limit);
            scope.spawn(move || {
                for _ in 0..10 {
                    let units = *limit.read().unwrap(); // locked
                    *sum.lock().unwrap() ^= work(units); // locked
                }
                *limit.write().unwrap() += number; // locked
            });
        }
    });
    println!("{:x}", sum.into_inner().unwrap());
}
