//! Waits for what other tasks do.

use super::Machine;
use crate::strands::charge::Charge;
use crate::strands::path::Tail;
use crate::strands::position::Position;
use crate::strands::problem::Problem;

impl<C: Charge> Machine<C> {
    /// Whoever awaits the label goes on from here.
    pub(super) fn wake(&mut self, label: u32) {
        let index = label as usize;
        // Labels are given in order: no row makes room for more than one.
        if index > self.labels.len() {
            self.problem(Problem::UnknownLabel);
            return;
        }
        self.charge.wake(label);
        self.paths.settle(&mut self.now.at.tail);
        let path = self.paths.own(self.now.at.tail.path);
        let here = Position { tail: Tail { path, ..self.now.at.tail }, ..self.now.at };
        match self.labels.get_mut(index) {
            Some(known) => {
                let before = std::mem::replace(known, here);
                self.paths.release(before.tail.path);
            }
            None => self.labels.push(here),
        }
    }

    /// What the label stands for is waited for.
    pub(super) fn awaits(&mut self, label: u32) {
        let Some(known) = self.labels.get(label as usize) else {
            self.problem(Problem::UnknownLabel);
            return;
        };
        self.charge.awaits(label);
        self.now.at.raise(&mut self.paths, known);
    }

    /// The same, and what has come since the label was the order of locks.
    pub(super) fn locked(&mut self, label: u32) {
        let from = self.labels.get(label as usize).map(|known| known.uniform);
        self.awaits(label);
        if let Some(from) = from {
            self.loops = true;
            self.now.at.uniform = from;
        }
    }
}
