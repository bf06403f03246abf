//! What the engine does for each instruction: the hot path.
//!
//! Most instructions access one cell of memory, or none; for these nothing is collected in lists. **Invariant**: the order in
//! which an instruction waits (values, addresses, names) is that in which a path names its links ([`crate::sample`]).

use workspan_wire::trace;

use crate::engine::{choose, Engine, Found, Range, Thread};
use crate::frames::Frames;
use crate::model::{Kind, Reuse};
use crate::op::{register, Flow, Move, Op};
use crate::row::{deeper, next, raise, raise_masked, Lane, Row};

/// The cells that an instruction accesses.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Cells {
    /// None.
    None,
    /// One cell, as a whole.
    One(One),
    /// Those of [`Found`].
    Many,
}

/// A cell that an instruction accesses.
#[derive(Clone, Copy, Debug)]
pub(crate) struct One {
    pub(crate) cell: u32,
    pub(crate) owner: u32,
    pub(crate) address: u64,
    pub(crate) load: bool,
    pub(crate) store: bool,
}

impl<K: Kind, const N: usize, const T: usize> Engine<K, N, T> {
    #[inline(always)]
    pub(crate) fn step(&mut self, thread: &mut Thread<K::Lane, N>, op: &Op, words: &[u64], ranges: &[Range]) {
        if K::MERGE && self.merges.is_end(op.id) {
            self.enter(thread, op.id);
        }
        let mut row = thread.control;
        if K::BEYOND {
            self.windows.begin(&mut row);
        }
        for source in op.sources.iter() {
            raise(&mut row, thread.at(*source));
        }
        if let Some(rest) = &op.rest {
            rest.sources.iter().for_each(|source| raise(&mut row, thread.at(*source)));
        }
        let cells = match op.memory {
            true => self.wait_for_memory(thread, op, words, ranges, &mut row),
            false => {
                if op.allocates {
                    raise_masked(&mut row, thread.at(register::STACK), &self.masks.one_stack);
                }
                Cells::None
            }
        };
        let removed = K::ADDRESSES && self.marked(thread, op, &cells);
        let mut here = next(&row);
        if K::BEYOND {
            self.machine(op, &mut here);
        }
        let mut sample = false;
        if K::PATHS && self.count >= self.paths.next() && self.follow {
            let node = self.sample(thread, op, &row, &cells, words);
            self.paths.advance(self.count);
            here = here.map(|lane| lane.with_node(node));
            sample = true;
        }
        if removed {
            here[N - 1] = K::Lane::START;
        }
        self.count += 1;
        raise(&mut self.deepest, &here);
        if K::PROFILE {
            self.profile_of(thread, op, &here);
        }
        match &cells {
            Cells::None => {}
            Cells::One(one) => self.leave_trace(one, &here, if K::BEYOND { thread.allocator.0 } else { op.id }),
            Cells::Many => self.leave_traces(&here, if K::BEYOND { thread.allocator.0 } else { op.id }),
        }
        if op.moves.is_empty() && op.turn == 0 {
            for target in op.targets.iter() {
                self.set(thread, *target, &here, op.id);
            }
        } else {
            self.write(thread, op, &here, sample);
        }
        if let Some(rest) = &op.rest {
            rest.targets.iter().for_each(|target| self.set(thread, *target, &here, op.id));
        }
        if K::BEYOND {
            self.windows.end(&here);
            if op.flow == Flow::Return && words.iter().any(|word| trace::address(*word) >= thread.allocator.1) {
                thread.allocator = (0, 0);
            }
        }
        if op.flow != Flow::Next {
            thread.left_row = here;
        }
    }

    /// What the machines of the lanes make of an instruction: its latency, and a cycle with room.
    #[inline(always)]
    fn machine(&mut self, op: &Op, here: &mut Row<K::Lane, N>) {
        if op.cycles > 1 {
            for (lane, slow) in here.iter_mut().zip(&self.slow) {
                if *slow {
                    *lane = lane.deeper(u32::from(op.cycles) - 1);
                }
            }
        }
        self.windows.place(here);
    }

    /// Memory that an instruction accesses: it waits for values and addresses, and stores for what was there.
    #[inline(always)]
    fn wait_for_memory(
        &mut self,
        thread: &mut Thread<K::Lane, N>,
        op: &Op,
        words: &[u64],
        ranges: &[Range],
        row: &mut Row<K::Lane, N>,
    ) -> Cells {
        if op.flow == Flow::Return {
            for word in words {
                let active = thread.frames.leave(trace::address(*word));
                if K::SPAGHETTI {
                    thread.caller = active.and_then(|active| thread.callers.get(active)).copied();
                }
            }
        } else if op.flow.calls() {
            if let Some(word) = words.iter().find(|word| **word & trace::STORE != 0) {
                self.frames = self.frames.wrapping_add(1).max(2);
                thread.frames.call(trace::address(*word), self.frames);
                if K::SPAGHETTI {
                    thread.callers.truncate(thread.frames.depth() - 1);
                    thread.callers.push(*thread.at(register::STACK));
                }
            }
        }
        let cells = self.find(&thread.frames, op, words, ranges);
        match &cells {
            Cells::None => {}
            Cells::One(one) if one.load => self.load(one.cell, thread.allocator.0, row),
            Cells::One(_) => {}
            Cells::Many => {
                for n in 0..self.found.loads.len() {
                    self.load(self.found.loads[n].0, thread.allocator.0, row);
                }
            }
        }
        let known = row[N - 1];
        for address in op.addresses.iter() {
            raise(row, thread.at(*address));
        }
        if op.allocates {
            raise_masked(row, thread.at(register::STACK), &self.masks.one_stack);
        }
        if K::ADDRESSES {
            row[N - 1] = known;
        }
        if T > 0 {
            match &cells {
                Cells::One(one) if one.store => self.reuse(one.cell, one.owner, one.address, row),
                Cells::Many => {
                    for n in 0..self.found.stores.len() {
                        let (cell, owner, address) = self.found.stores[n];
                        self.reuse(cell, owner, address, row);
                    }
                }
                _ => {}
            }
        }
        cells
    }

    /// It waits for the value of a cell.
    #[inline(always)]
    fn load(&mut self, cell: u32, allocator: u32, row: &mut Row<K::Lane, N>) {
        let cell = self.shadow.cell(cell as usize);
        if K::BEYOND && allocator != 0 && cell.by != 0 && cell.by != allocator {
            return raise_masked(row, &cell.written, &self.masks.allocator);
        }
        raise(row, &cell.written);
    }

    /// It waits for earlier accesses to a cell that it writes.
    #[inline(always)]
    fn reuse(&mut self, cell: u32, owner: u32, address: u64, row: &mut Row<K::Lane, N>) {
        let cell = self.shadow.cell(cell as usize);
        if !K::BEYOND && cell.owner == owner {
            for (lane, touched) in row.iter_mut().zip(&cell.touched) {
                *lane = deeper(*lane, *touched);
            }
            return;
        }
        let reuse = match () {
            () if cell.owner != owner => Reuse::Stack,
            () if owner != 0 => Reuse::Spill,
            () if K::BEYOND && self.heap.contains(address) => Reuse::Heap,
            () => Reuse::Global,
        };
        for ((lane, touched), mask) in row.iter_mut().zip(&cell.touched).zip(&self.masks.names[reuse as usize]) {
            *lane = deeper(*lane, touched.masked(*mask));
        }
    }

    /// The cells that an instruction accesses.
    #[inline(always)]
    fn find(&mut self, frames: &Frames, op: &Op, words: &[u64], ranges: &[Range]) -> Cells {
        let all = match words {
            [] if ranges.is_empty() => return Cells::None,
            [word] => Some((*word, *word)),
            // The same place, read and written.
            [a, b] if (a ^ b) & !trace::STORE == 0 => Some((*a, *b)),
            _ => None,
        };
        if let Some((a, b)) = all.filter(|_| ranges.is_empty()) {
            let address = trace::address(a);
            if let Some(cell) = self.shadow.one(address, trace::size(a)) {
                let store = (a | b) & trace::STORE != 0;
                let load = a & b & trace::STORE == 0 || op.updates;
                let owner = if T > 0 { frames.owner(address) } else { 0 };
                return Cells::One(One { cell, owner, address, load, store });
            }
        }
        self.find_many(frames, op, words, ranges);
        Cells::Many
    }

    #[inline(never)]
    fn find_many(&mut self, frames: &Frames, op: &Op, words: &[u64], ranges: &[Range]) {
        let Found { loads, stores } = &mut self.found;
        let shadow = &mut self.shadow;
        loop {
            loads.clear();
            stores.clear();
            let splits = shadow.splits();
            let mut access = |address: u64, size: u64, load: bool, store: bool| {
                let owner = if T > 0 { frames.owner(address) } else { 0 };
                shadow.each(address, size, |cell| {
                    if load {
                        loads.push((cell, owner));
                    }
                    if store {
                        stores.push((cell, owner, address));
                    }
                });
            };
            for word in words {
                let store = word & trace::STORE != 0;
                access(trace::address(*word), trace::size(*word), !store || op.updates, store);
            }
            for range in ranges {
                access(range.address & trace::ADDRESS, range.len, !range.store, range.store);
            }
            // A cell that was found may have been split by a later access.
            if shadow.splits() == splits {
                return;
            }
        }
    }

    /// Notes an instruction's depth in the cell that it accessed.
    #[inline(always)]
    fn leave_trace(&mut self, one: &One, here: &Row<K::Lane, N>, by: u32) {
        if one.store {
            self.shadow.write(one.cell as usize, here, by, one.owner);
        } else if T > 0 {
            self.touch(one.cell, one.owner, here);
        }
    }

    fn leave_traces(&mut self, here: &Row<K::Lane, N>, by: u32) {
        if T > 0 {
            for n in 0..self.found.loads.len() {
                let (cell, owner) = self.found.loads[n];
                self.touch(cell, owner, here);
            }
        }
        for n in 0..self.found.stores.len() {
            let (cell, owner, _) = self.found.stores[n];
            self.shadow.write(cell as usize, here, by, owner);
        }
    }

    /// A cell was read.
    #[inline(always)]
    fn touch(&mut self, cell: u32, owner: u32, here: &Row<K::Lane, N>) {
        let cell = self.shadow.cell(cell as usize);
        if cell.owner != owner {
            cell.owner = owner;
            for (touched, mask) in cell.touched.iter_mut().zip(&self.masks.kept) {
                *touched = touched.masked(*mask);
            }
        }
        for (touched, lane) in cell.touched.iter_mut().zip(here) {
            *touched = deeper(*touched, *lane);
        }
    }

    /// Writes a register.
    #[inline(always)]
    fn set(&mut self, thread: &mut Thread<K::Lane, N>, register: u8, row: &Row<K::Lane, N>, by: u32) {
        let at = usize::from(register) % register::COUNT;
        if K::PROFILE {
            self.value_is_gone(thread, register);
            thread.used[at] = 0;
        }
        thread.registers[at] = *row;
        if K::ADDRESSES {
            thread.by[at] = by;
        }
    }

    /// Writes registers of an instruction that also moves pointers, or turns the floating-point stack.
    fn write(&mut self, thread: &mut Thread<K::Lane, N>, op: &Op, here: &Row<K::Lane, N>, sample: bool) {
        // Pointers move without waiting for the rest.
        let mut moved = [(0, [K::Lane::START; N]); 3];
        for (place, one) in moved.iter_mut().zip(op.moves.iter()) {
            *place = (one.to, self.moved(thread, one, op.id, sample));
            if let Some(caller) = thread.caller.take() {
                choose(&mut place.1, &caller, &self.masks.given_back);
            }
            raise(&mut self.deepest, &place.1);
        }
        if op.turn < 0 {
            thread.turn(op.turn);
        }
        for target in op.targets.iter() {
            self.set(thread, *target, here, op.id);
        }
        for (to, row) in &moved[..op.moves.len()] {
            self.set(thread, *to, row, 0);
            if K::BEYOND {
                self.windows.moved(row);
            }
        }
        if op.turn > 0 {
            thread.turn(op.turn);
        }
    }

    /// The depth of a pointer that an instruction moves.
    #[inline(always)]
    fn moved(&mut self, thread: &Thread<K::Lane, N>, one: &Move, id: u32, sample: bool) -> Row<K::Lane, N> {
        let mut row = thread.control;
        if K::BEYOND {
            self.windows.begin(&mut row);
        }
        let from = thread.at(one.from);
        if one.allocates {
            raise_masked(&mut row, from, &self.masks.one_stack);
        } else {
            raise(&mut row, from);
        }
        let mut here = next(&row);
        if K::PATHS && sample {
            let node = self.sample_move(one, id, &row, from);
            here = here.map(|lane| lane.with_node(node));
        }
        if K::ADDRESSES && one.address {
            here[N - 1] = K::Lane::START;
        }
        here
    }
}

impl<L: Lane, const N: usize> Thread<L, N> {
    #[inline(always)]
    pub(crate) fn at(&self, register: u8) -> &Row<L, N> {
        &self.registers[usize::from(register) % register::COUNT]
    }

    #[inline(always)]
    pub(crate) fn by(&self, register: u8) -> u32 {
        self.by[usize::from(register) % register::COUNT]
    }

    /// Turns the floating-point stack: its top is always the same register here.
    fn turn(&mut self, by: i8) {
        let stack = usize::from(register::FLOAT)..usize::from(register::FLOAT) + 8;
        let places = usize::from(by.unsigned_abs()) % 8;
        if by < 0 {
            self.registers[stack.clone()].rotate_right(places);
            self.by[stack.clone()].rotate_right(places);
            self.used[stack].rotate_right(places);
        } else {
            self.registers[stack.clone()].rotate_left(places);
            self.by[stack.clone()].rotate_left(places);
            self.used[stack].rotate_left(places);
        }
    }
}
