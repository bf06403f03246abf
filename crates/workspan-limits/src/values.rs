//! Profiles, and how long values in registers wait: what an engine notes of each instruction besides its depth.

use crate::engine::{Engine, Thread};
use crate::model::Kind;
use crate::op::{register, Op};
use crate::row::{Lane, Row};

impl<K: Kind, const N: usize, const T: usize> Engine<K, N, T> {
    /// Profiles, and first uses of values.
    #[inline(always)]
    pub(crate) fn profile_of(&mut self, thread: &mut Thread<K::Lane, N>, op: &Op, here: &Row<K::Lane, N>) {
        for (lane, profile) in &mut self.profiles {
            profile.add(here[*lane].depth());
        }
        let Some((tru, _)) = self.profiles.get(1) else { return };
        let now = here[*tru].depth() as u32;
        let mut uses = |register: u8| {
            let used = &mut thread.used[usize::from(register) % register::COUNT];
            *used = if *used == 0 { now } else { now.min(*used) };
        };
        op.sources.iter().copied().for_each(&mut uses);
        if let Some(rest) = &op.rest {
            rest.sources.iter().copied().for_each(&mut uses);
        }
        op.addresses.iter().copied().for_each(&mut uses);
        if op.allocates {
            uses(register::STACK);
        }
        // Pointers that move wait for themselves alone.
        for one in op.moves.iter() {
            let next = thread.registers[usize::from(one.from) % register::COUNT][*tru].depth() as u32 + 1;
            let used = &mut thread.used[usize::from(one.from) % register::COUNT];
            *used = if *used == 0 { next } else { next.min(*used) };
        }
    }

    /// The value of a register is gone.
    #[inline(always)]
    pub(crate) fn value_is_gone(&mut self, thread: &Thread<K::Lane, N>, register: u8) {
        if matches!(register, register::CARRY | register::OVERFLOW | register::FLAGS) {
            return;
        }
        let Some((tru, _)) = self.profiles.get(1) else { return };
        let made = thread.at(register)[*tru].depth();
        let used = thread.used[usize::from(register) % register::COUNT];
        if made > 0 {
            self.slack.add(made, (used > 0).then_some(u64::from(used)));
        }
    }
}
