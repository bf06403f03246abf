//! Replay of what a recording has: everything, or the accesses to the lines of a [`Sample`].

use crate::events::{Access, Control};
use crate::file::{Problem, Recording};
use crate::replay::{self, Consumer, Executed, Iterations};
use crate::sample::Sample;

/// Replays what a recording has of the accesses: of a sample those to drawn lines, each part in a line by itself.
pub fn replay(recording: &Recording, consumer: &mut impl Consumer) -> Result<(), Problem> {
    match recording.sample {
        None => replay::replay(recording, consumer),
        Some(sample) => replay::replay(recording, &mut parts(sample, consumer)),
    }
}

/// A consumer that passes on to another what lies in drawn lines.
pub fn parts<C>(sample: Sample, consumer: &mut C) -> Parts<'_, C> {
    Parts { sample, consumer, accesses: Vec::new() }
}

/// Keeps accesses to other lines from a consumer.
#[derive(Debug)]
pub struct Parts<'c, C> {
    sample: Sample,
    consumer: &'c mut C,
    accesses: Vec<Access>,
}

impl<C: Consumer> Consumer for Parts<'_, C> {
    fn segment(&mut self, executed: Executed<'_>, accesses: &[Access]) {
        self.sample.part(accesses, &mut self.accesses);
        self.consumer.segment(executed, &self.accesses);
    }

    fn repeated(&mut self, executed: Executed<'_>, iterations: Iterations<'_>, list: &mut Vec<Access>) {
        self.consumer.segment(executed, &[]);
        iterations.each(list, |accesses| {
            self.sample.part(accesses, &mut self.accesses);
            if !self.accesses.is_empty() {
                self.consumer.segment(executed, &self.accesses);
            }
        });
    }

    fn transfer(&mut self, executed: Executed<'_>, access: &Access) {
        self.sample.part(std::slice::from_ref(access), &mut self.accesses);
        for part in &self.accesses {
            self.consumer.transfer(executed, part);
        }
    }

    fn control(&mut self, context: u32, control: Control) {
        self.consumer.control(context, control);
    }

    fn after(&mut self, context: u32, before: u32) {
        self.consumer.after(context, before);
    }

    fn arrive(&mut self, context: u32, barrier: Control) {
        self.consumer.arrive(context, barrier);
    }
}
