//! A pool of threads behind a channel, whose tasks are marked (`workspan_probe`): eight of 10, 20 … 80 ticks, between 5 and 7 of `main`.
//!
//!     queues THREADS

use std::sync::{mpsc, Arc, Mutex};
use std::{env, thread};

use workspan_probe::{tick, wait, Task};

fn main() {
    let threads = env::args().nth(1).and_then(|count| count.parse().ok()).unwrap_or(1);
    let (sender, receiver) = mpsc::channel::<(Task, u64, mpsc::Sender<u64>)>();
    let receiver = Arc::new(Mutex::new(receiver));
    let pool: Vec<_> = (0..threads)
        .map(|_| {
            let receiver = Arc::clone(&receiver);
            thread::spawn(move || loop {
                let next = receiver.lock().expect("nobody panics").recv();
                let Ok((task, ticks, done)) = next else { break };
                task.run(|| tick(ticks));
                done.send(ticks).expect("main listens");
            })
        })
        .collect();
    tick(5);
    let (done, dones) = mpsc::channel();
    for number in 1..=8 {
        sender.send((Task::new(&sender), 10 * number, done.clone())).expect("threads listen"); // site
    }
    let sum: u64 = wait(&sender, || dones.iter().take(8).sum());
    tick(7);
    assert_eq!(sum, 360);
    drop(sender);
    for thread in pool {
        thread.join().expect("it does not panic");
    }
}
