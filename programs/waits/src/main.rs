//! Threads that wait for one another, and for the outside world: `waits NAME`.
//!
//! Each is a way in which Rust programs wait. What is computed is the same busy loop, in units of some milliseconds.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{channel, sync_channel, RecvTimeoutError};
use std::sync::{Arc, Barrier, Condvar, Mutex};
use std::thread;
use std::time::Duration;

use rayon::prelude::*;

/// So much work.
fn work(units: u64) -> u64 {
    let mut state = 88_172_645_463_325_252u64;
    for _ in 0..units * 1_000_000 {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
    }
    std::hint::black_box(state)
}

/// Four workers take jobs from a queue; `main` waits for all answers: parallelism of about four.
fn queue() {
    let (jobs, queue) = channel::<u64>();
    let queue = Arc::new(Mutex::new(queue));
    let (answers, answered) = channel();
    let workers: Vec<_> = (0..4)
        .map(|_| {
            let (queue, answers) = (Arc::clone(&queue), answers.clone());
            thread::spawn(move || loop {
                let job = queue.lock().unwrap().recv();
                let Ok(units) = job else { return };
                answers.send(work(units)).unwrap();
            })
        })
        .collect();
    for _ in 0..16 {
        jobs.send(5).unwrap();
    }
    let sum = (0..16).fold(0u64, |sum, _| sum ^ answered.recv().unwrap());
    drop(jobs);
    workers.into_iter().for_each(|worker| worker.join().unwrap());
    println!("{sum:x}");
}

/// Most of each task is under one lock, for which nobody waits on one worker: parallelism of little more than one.
fn locked() {
    let sum = Mutex::new(0u64);
    (0..64u64).into_par_iter().for_each(|_| {
        let mut sum = sum.lock().unwrap(); // locked
        *sum ^= work(1);
    });
    println!("{:x}", sum.into_inner().unwrap());
}

/// Two threads hand one value back and forth: nothing runs beside anything.
fn ping_pong() {
    let (there, from_here) = sync_channel::<u64>(0);
    let (back, from_there) = sync_channel::<u64>(0);
    let other = thread::spawn(move || {
        while let Ok(units) = from_here.recv() {
            back.send(work(units)).unwrap();
        }
    });
    for _ in 0..8 {
        there.send(3).unwrap();
        from_there.recv().unwrap();
        work(3);
    }
    drop(there);
    other.join().unwrap();
}

/// Tasks of rayon beside a thread that waits for a condition.
fn condition() {
    let ready = Arc::new((Mutex::new(false), Condvar::new()));
    let other = {
        let ready = Arc::clone(&ready);
        thread::spawn(move || {
            let (lock, condition) = &*ready;
            let mut go = lock.lock().unwrap();
            while !*go {
                go = condition.wait(go).unwrap();
            }
            work(20)
        })
    };
    let sum: u64 = (0..16u64).into_par_iter().map(|_| work(5)).reduce(|| 0, |a, b| a ^ b);
    *ready.0.lock().unwrap() = true;
    ready.1.notify_all();
    println!("{:x}", sum ^ other.join().unwrap());
}

/// A loop over one item, whose task spawns others and waits for their answers by a channel: as image tools do.
fn channel_in_task() {
    let sum: u64 = (0..1u64)
        .into_par_iter()
        .map(|_| {
            let first = work(20);
            let (answers, answered) = channel();
            for _ in 0..6 {
                let answers = answers.clone();
                rayon::spawn(move || answers.send(work(15)).unwrap());
            }
            drop(answers);
            first ^ answered.into_iter().fold(0, |sum, answer| sum ^ answer)
        })
        .sum();
    println!("{sum:x}");
}

/// Two threads meet at a barrier, round after round: one has twice the work.
fn barrier() {
    let meet = Arc::new(Barrier::new(2));
    let other = {
        let meet = Arc::clone(&meet);
        thread::spawn(move || {
            for _ in 0..6 {
                work(4);
                meet.wait();
            }
        })
    };
    for _ in 0..6 {
        work(8);
        meet.wait();
    }
    other.join().unwrap();
}

/// `main` sleeps before it works in parallel, and beside a thread that only sleeps.
fn sleeps() {
    let helper = thread::spawn(|| thread::sleep(Duration::from_millis(30)));
    thread::sleep(Duration::from_millis(50));
    (0..16u64).into_par_iter().for_each(|_| drop(work(5)));
    helper.join().unwrap();
}

/// A progress display, as tools for the terminal have it: it waits for the end of the work, and draws whenever a tenth of a
/// second is over. It is never what the program waits for.
fn display() {
    let (stop, stopped) = channel::<()>();
    let display = thread::spawn(move || {
        while let Err(RecvTimeoutError::Timeout) = stopped.recv_timeout(Duration::from_millis(20)) {
            eprint!(".");
        }
    });
    (0..32u64).into_par_iter().for_each(|_| drop(work(6)));
    stop.send(()).unwrap();
    display.join().unwrap();
}

/// The same with a flag, at which it looks when it has slept.
fn ticker() {
    let done = Arc::new(AtomicBool::new(false));
    let ticker = {
        let done = Arc::clone(&done);
        thread::spawn(move || loop {
            thread::sleep(Duration::from_millis(5));
            if done.load(Ordering::Relaxed) {
                return;
            }
            eprint!(".");
        })
    };
    (0..32u64).into_par_iter().for_each(|_| drop(work(6)));
    done.store(true, Ordering::Relaxed);
    ticker.join().unwrap();
}

/// `main` waits for a message that does not come, and then works: that was a wait for time.
fn late() {
    let (_never, nothing) = channel::<()>();
    assert_eq!(nothing.recv_timeout(Duration::from_millis(100)), Err(RecvTimeoutError::Timeout));
    (0..16u64).into_par_iter().for_each(|_| drop(work(5)));
}

fn main() {
    let name = std::env::args().nth(1).unwrap_or_default();
    match name.as_str() {
        "queue" => queue(),
        "ping-pong" => ping_pong(),
        "condition" => condition(),
        "channel-in-task" => channel_in_task(),
        "barrier" => barrier(),
        "sleeps" => sleeps(),
        "display" => display(),
        "ticker" => ticker(),
        "late" => late(),
        "locked" => locked(),
        _ => {
            eprintln!("waits: queue, ping-pong, condition, channel-in-task, barrier, sleeps, display, ticker, late");
            std::process::exit(2);
        }
    }
}
