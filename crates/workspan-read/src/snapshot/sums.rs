//! What all threads together did in a context.

use std::mem::offset_of;

use workspan_model::histogram::Bucket;
use workspan_model::{Histogram, Lock, Nanos, OnPath, Totals};
use workspan_wire::histogram;
use workspan_wire::shm::Account;

use crate::memory::{Record, Ticks};

/// Sums of one context over all threads, in ticks.
#[derive(Clone, Default)]
pub(super) struct Sums {
    pub(super) self_work: i64,
    instances: u64,
    work: i64,
    span: i64,
    entries: u64,
    tasks: u64,
    items: u64,
    task_work: i64,
    overhead: i64,
    blocked: i64,
    polled: i64,
    wall: i64,
    uniform_span: i64,
    burdened_span: i64,
    contended: i64,
    lock: Lock,
    sizes: Vec<u64>,
}

impl Sums {
    /// An instance that took `span` ticks has ended.
    pub(super) fn end(&mut self, span: i64) {
        let span = span.max(0);
        self.instances = self.instances.saturating_add(1);
        for sum in [&mut self.span, &mut self.uniform_span, &mut self.burdened_span] {
            *sum = sum.wrapping_add(span);
        }
    }

    pub(super) fn add(&mut self, account: &Record) {
        let signed = |at: usize| account.i64(at);
        let add = |sum: &mut i64, at: usize| *sum = sum.wrapping_add(signed(at));
        add(&mut self.self_work, offset_of!(Account, self_work));
        add(&mut self.work, offset_of!(Account, work));
        add(&mut self.span, offset_of!(Account, span));
        add(&mut self.task_work, offset_of!(Account, task_work));
        add(&mut self.overhead, offset_of!(Account, overhead));
        add(&mut self.blocked, offset_of!(Account, blocked));
        add(&mut self.polled, offset_of!(Account, polled));
        add(&mut self.wall, offset_of!(Account, wall));
        add(&mut self.uniform_span, offset_of!(Account, uniform_span));
        add(&mut self.burdened_span, offset_of!(Account, burdened_span));
        add(&mut self.contended, offset_of!(Account, contended));
        self.lock = match (self.lock, account.u64(offset_of!(Account, lock))) {
            (lock, 0) => lock,
            (Lock::None, lock) if lock != 1 => Lock::One(lock),
            (Lock::One(one), lock) if lock == one => Lock::One(one),
            _ => Lock::Several,
        };
        for (sum, at) in [
            (&mut self.instances, offset_of!(Account, instances)),
            (&mut self.entries, offset_of!(Account, entries)),
            (&mut self.tasks, offset_of!(Account, tasks)),
            (&mut self.items, offset_of!(Account, items)),
        ] {
            *sum = sum.saturating_add(account.u64(at));
        }
        self.sizes.resize(histogram::BUCKETS, 0);
        let sizes = offset_of!(Account, sizes);
        for (i, size) in self.sizes.iter_mut().enumerate() {
            *size += u64::from(account.u32(sizes + 4 * i));
        }
    }

    pub(super) fn totals(&self, ticks: &Ticks) -> Totals {
        let buckets = self.sizes.iter().enumerate().filter(|(_, count)| **count > 0).map(|(i, count)| {
            let (low, high) = histogram::bounds(i);
            // With a value above it, for a bucket holds at least one.
            let low = Nanos(ticks.nanos_u(low).0.min(i64::MAX - 1));
            Bucket { low, high: Nanos(ticks.nanos_u(high).0.max(low.0 + 1)), count: *count }
        });
        let mut merged: Vec<Bucket> = Vec::new();
        for bucket in buckets {
            // Buckets narrower than a nanosecond fall together.
            match merged.last_mut() {
                Some(last) if last.high > bucket.low => {
                    last.high = last.high.max(bucket.high);
                    last.count = last.count.saturating_add(bucket.count);
                }
                _ => merged.push(bucket),
            }
        }
        Totals {
            // Known when the critical path is.
            on_path: OnPath::default(),
            self_work: ticks.nanos(self.self_work),
            instances: self.instances,
            work: ticks.nanos(self.work),
            span: ticks.nanos(self.span),
            entries: self.entries,
            tasks: self.tasks,
            items: self.items,
            task_work: ticks.nanos(self.task_work),
            overhead: ticks.nanos(self.overhead),
            blocked: ticks.nanos(self.blocked),
            polled: ticks.nanos(self.polled),
            wall: ticks.nanos(self.wall),
            uniform_span: ticks.nanos(self.uniform_span),
            burdened_span: ticks.nanos(self.burdened_span),
            contended: ticks.nanos(self.contended),
            lock: self.lock,
            sizes: Histogram::new(merged),
        }
    }
}
