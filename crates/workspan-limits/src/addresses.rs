//! Instructions that compute nothing but addresses: what a model that knows addresses beforehand removes.
//!
//! An instruction is one from the moment on at which one of its values was seen to reach an address. **Cost**: a store for each
//! register of an address, and for each value of an instruction that is removed.

use crate::engine::{Engine, Thread};
use crate::model::Kind;
use crate::op::{register, Op};
use crate::step::Cells;

impl<K: Kind, const N: usize, const T: usize> Engine<K, N, T> {
    /// Learns which values are parts of addresses; true if the instruction does nothing but compute such.
    #[inline(always)]
    pub(crate) fn marked(&mut self, thread: &Thread<K::Lane, N>, op: &Op, cells: &Cells) -> bool {
        if op.memory {
            for address in op.addresses.iter() {
                self.mark(thread.by(*address));
            }
            if op.allocates {
                self.mark(thread.by(register::STACK));
            }
        }
        self.is_marked(op.id) && self.mark_all(thread, op, cells)
    }

    #[inline(always)]
    fn mark_all(&mut self, thread: &Thread<K::Lane, N>, op: &Op, cells: &Cells) -> bool {
        for source in op.sources.iter() {
            self.mark(thread.by(*source));
        }
        if let Some(rest) = &op.rest {
            rest.sources.iter().for_each(|source| self.mark(thread.by(*source)));
        }
        if op.allocates {
            self.mark(thread.by(register::STACK));
        }
        match cells {
            Cells::None => {}
            Cells::One(one) if one.load => {
                let by = self.shadow.cell(one.cell as usize).by;
                self.mark(by);
            }
            Cells::One(_) => {}
            Cells::Many => {
                for n in 0..self.found.loads.len() {
                    let by = self.shadow.cell(self.found.loads[n].0 as usize).by;
                    self.mark(by);
                }
            }
        }
        !op.memory
    }

    #[inline(always)]
    fn mark(&mut self, id: u32) {
        if let Some(mark) = self.marks.get_mut(id as usize) {
            *mark = 1;
        }
    }
}
