//! Nodes of paths: what an instruction waited for, in each lane.

use workspan_wire::trace;

use crate::engine::{Engine, Thread};
use crate::model::Kind;
use crate::op::{register, Move, Op};
use crate::path::{Link, Memory};
use crate::row::{Lane, Row};
use crate::step::Cells;

impl<K: Kind, const N: usize, const T: usize> Engine<K, N, T> {
    /// A node for an instruction.
    #[cold]
    pub(crate) fn sample(
        &mut self,
        thread: &Thread<K::Lane, N>,
        op: &Op,
        row: &Row<K::Lane, N>,
        cells: &Cells,
        words: &[u64],
    ) -> u32 {
        let mut link = [None; N];
        let mut waits = |other: &[K::Lane], why: Link| {
            for ((link, lane), other) in link.iter_mut().zip(row).zip(other) {
                if link.is_none() && lane.is(*other) {
                    *link = Some(why);
                }
            }
        };
        let of_register = |register: u8, other: Link| match register {
            register::STACK => Link::StackPointer,
            _ => other,
        };
        waits(&[K::Lane::START; N], Link::Begin);
        for source in op.all_sources() {
            waits(thread.at(source), of_register(source, Link::Register));
        }
        let (loads, stores) = match cells {
            Cells::None => (Vec::new(), Vec::new()),
            Cells::One(one) => {
                let load = one.load.then_some((one.cell, one.owner));
                let store = one.store.then_some((one.cell, one.owner));
                (load.into_iter().collect(), store.into_iter().collect())
            }
            Cells::Many => {
                (self.found.loads.clone(), self.found.stores.iter().map(|(cell, owner, _)| (*cell, *owner)).collect())
            }
        };
        for (cell, owner) in &loads {
            let why = if *owner == 0 { Link::MemoryValue } else { Link::StackValue };
            waits(&self.shadow.cell(*cell as usize).written, why);
        }
        for address in op.addresses.iter() {
            waits(thread.at(*address), of_register(*address, Link::Address));
        }
        if op.allocates {
            waits(thread.at(register::STACK), Link::StackPointer);
        }
        for (cell, owner) in &stores {
            let why = if *owner == 0 { Link::MemoryName } else { Link::StackName };
            waits(&self.shadow.cell(*cell as usize).touched, why);
        }
        let first = |store: bool| words.iter().find(|word| (**word & trace::STORE != 0) == store);
        let address = |word: Option<&u64>| word.map_or(0, |word| trace::address(*word));
        // What updates memory may have its store alone in the trace.
        let memory = Memory { load: address(first(false).or(first(true))), store: address(first(true)) };
        self.paths.push(op.id, row.map(Lane::node), link.map(|link| link.unwrap_or(Link::Control)), memory)
    }

    /// A node for a pointer that an instruction moves.
    #[cold]
    pub(crate) fn sample_move(&mut self, one: &Move, id: u32, row: &Row<K::Lane, N>, from: &Row<K::Lane, N>) -> u32 {
        let link = |lane: usize| match () {
            () if row[lane].depth() == 0 => Link::Begin,
            () if row[lane].is(from[lane]) && one.from == register::STACK => Link::StackPointer,
            () if row[lane].is(from[lane]) => Link::Address,
            () => Link::Control,
        };
        self.paths.push(id, row.map(Lane::node), std::array::from_fn(link), Memory::default())
    }
}
