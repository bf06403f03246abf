//! Threads that decode row groups.

use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};

use workspan_model::Strand;

use super::group::{Decoder, Wanted};
use super::part::Part;

/// A row group to decode.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) part: Arc<Part>,
    pub(super) group: usize,
    pub(super) wanted: Wanted,
}

/// Where the strands of a job will come; `None` instead of them if it makes no sense.
pub(super) type Ticket = Receiver<Option<Vec<Strand>>>;

type Order = (Job, Vec<Strand>, Sender<Option<Vec<Strand>>>);

/// The threads, and the memory that goes round.
#[derive(Debug)]
pub(super) struct Workers {
    /// `None` when it is time to end, or there are no threads.
    orders: Option<Sender<Order>>,
    threads: Vec<JoinHandle<()>>,
    /// Decodes where there are no threads.
    here: Option<Decoder>,
    free: Vec<Vec<Strand>>,
}

impl Workers {
    /// This number of threads; with none, jobs are done where they are begun.
    pub(super) fn new(threads: usize) -> Workers {
        let (orders, taken) = mpsc::channel::<Order>();
        let taken = Arc::new(Mutex::new(taken));
        let spawn = |_| {
            let taken = taken.clone();
            thread::Builder::new().name("decode".to_owned()).spawn(move || work(&taken)).ok()
        };
        let threads: Vec<_> = (0..threads).map_while(spawn).collect();
        let orders = (!threads.is_empty()).then_some(orders);
        Workers { orders, threads, here: None, free: Vec::new() }
    }

    pub(super) fn threads(&self) -> usize {
        self.threads.len()
    }

    /// Gives memory back that is not needed any more.
    pub(super) fn recycle(&mut self, strands: Vec<Strand>) {
        if strands.capacity() > 0 {
            self.free.push(strands);
        }
    }

    pub(super) fn begin(&mut self, job: Job) -> Ticket {
        let (done, ticket) = mpsc::channel();
        let order = (job, self.free.pop().unwrap_or_default(), done);
        match &self.orders {
            // A thread that is gone leaves a ticket without an answer.
            Some(orders) => drop(orders.send(order)),
            None => {
                if self.here.is_none() {
                    self.here = Decoder::new();
                }
                if let Some(decoder) = &mut self.here {
                    fulfil(decoder, order);
                }
            }
        }
        ticket
    }

    /// Waits for the strands of a job.
    pub(super) fn finish(&mut self, ticket: Ticket) -> Option<Vec<Strand>> {
        ticket.recv().ok()?
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        self.orders = None;
        for thread in self.threads.drain(..) {
            // One that has panicked has said so.
            let _ = thread.join();
        }
    }
}

fn work(orders: &Mutex<Receiver<Order>>) {
    let Some(mut decoder) = Decoder::new() else {
        return;
    };
    loop {
        let order = orders.lock().map(|orders| orders.recv());
        let Ok(Ok(order)) = order else {
            return;
        };
        fulfil(&mut decoder, order);
    }
}

fn fulfil(decoder: &mut Decoder, (job, mut strands, done): Order) {
    let decoded = decoder.decode(&job.part, job.group, job.wanted, &mut strands);
    // Nobody may be waiting any more.
    let _ = done.send(decoded.map(|()| strands));
}
