//! A buffer of events, taken strip by strip where they are known, and segment by segment elsewhere.

use workspan_graph::events::{slot, Access, Control, Events, Unknown};
use workspan_graph::program::Program;
use workspan_trace::control::Kind as ControlKind;
use workspan_trace::program::{flag, Access as Mode};
use workspan_trace::ID_BYTES;

use super::arrival::Arrival;
use super::{Context, Engine};
use crate::shadow::Shadow;

/// Takes a buffer of a context; buffers of one context come in their order.
pub fn analyse(engine: &mut Engine, program: &Program, context: u32, bytes: &[u8]) -> Result<(), Unknown> {
    let at = context as usize;
    if engine.contexts.len() <= at {
        engine.contexts.resize_with(at + 1, || None);
    }
    let new = || Box::new(Context { is_first: at == 0, ..Context::default() });
    let mut context = engine.contexts[at].take().unwrap_or_else(new);
    let result = engine.buffer(&mut context, program, bytes);
    engine.contexts[at] = Some(context);
    result
}

impl Engine {
    fn buffer(&mut self, context: &mut Context, program: &Program, bytes: &[u8]) -> Result<(), Unknown> {
        let mut accesses = Vec::new();
        let mut at = 0;
        loop {
            let id = bytes.get(at..).and_then(<[u8]>::first_chunk).map_or(0, |id| u32::from_le_bytes(*id));
            let arrival = self.arrivals.get(id as usize).copied().unwrap_or_default();
            let is_whole = arrival.bytes != 0 && at + arrival.bytes as usize <= bytes.len();
            if is_whole {
                self.arrived(context, &arrival, &bytes[at..]);
                if let Some((length, last)) = self.follow(context, program, id, &bytes[at..]) {
                    if self.arrivals[last as usize].is_end() {
                        self.depart(context, last);
                    }
                    at += length;
                    continue;
                }
            }
            let mut events = Events::new(program, &bytes[at..]);
            let Some((event, _)) = events.next_event().map_err(|unknown| Unknown { at: unknown.at + at, ..unknown })?
            else {
                return Ok(());
            };
            at += events.position();
            if let Some(control) = event.control() {
                self.control(context, control);
                continue;
            }
            let Some((module, segment)) = program.segment(id) else {
                continue;
            };
            if !arrival.is_known {
                self.learn(module);
            }
            if !is_whole {
                let Some(arrival) = self.arrivals.get(id as usize).copied() else {
                    continue;
                };
                self.arrived(context, &arrival, &bytes[at - events.position()..]);
            }
            event.accesses(module, segment, &mut accesses);
            self.segment(context, id, &accesses);
        }
    }

    /// A segment comes, whose event these bytes begin with.
    #[inline]
    fn arrived(&mut self, context: &mut Context, arrival: &Arrival, bytes: &[u8]) {
        let is_there = match context.frames.last() {
            Some(top) => {
                arrival.flags & (flag::FRAME | flag::ENTRY | flag::DEAD_END) == 0
                    && top.function == arrival.function
                    && top.pending.is_none()
                    && context.frames.len() > 1
            }
            None => false,
        };
        if !is_there {
            let frame = (arrival.flags & flag::FRAME != 0).then(|| slot(&bytes[ID_BYTES..], 0));
            context.abandons = arrival.flags & (flag::LANDING | flag::DEAD_END) != 0;
            self.arrive(context, arrival, frame);
            self.turn(context, arrival);
            context.abandons = false;
            return;
        }
        self.turn(context, arrival);
    }

    /// A segment that has arrived, line by line.
    fn segment(&mut self, context: &mut Context, id: u32, accesses: &[Access]) {
        let Some(slot) = self.source.segments.get_mut(id as usize) else {
            return;
        };
        // Taken out while it is used: nothing below looks at it.
        let info = std::mem::take(slot);
        self.executed[id as usize] = true;
        self.run(context, &info, id, accesses);
        self.source.segments[id as usize] = info;
        self.depart(context, id);
    }
}

impl Engine {
    fn control(&mut self, context: &mut Context, control: Control) {
        let [address, size, ..] = control.slots;
        match control.kind {
            ControlKind::Allocate => {
                context.shadow.release(address, size);
                let now = context.now + 1;
                context.objects.allocate(address, size, now);
            }
            // What it holds is gone for all who would use it later: a write of all of it, by the call that frees.
            ControlKind::Free => self.freed(context, address),
            _ => {}
        }
    }

    /// The call that waits to return has freed an object.
    fn freed(&mut self, context: &mut Context, address: u64) {
        let Some(end) = context.objects.end_of(address).filter(|_| context.frames.len() > 1) else { return };
        let top = context.top();
        let function = top.function;
        let Some((place, ..)) = top.pending else { return };
        let number = context.nodes.last().map_or(0, |node| node.number);
        let site = self.source.freeing(place, function, number);
        // Whole words: a rest would make cells smaller.
        let size = match (end - address).min(FREED) {
            small @ 0..8 => small,
            size => size & !7,
        };
        context.now += 1;
        context.grow(site);
        for (at, size) in Shadow::pieces(address, size) {
            if context.shadow.is_known(at) {
                context.parts.begin(address, true);
                self.access(context, at, size, site, Mode::Store);
            }
        }
        context.parts.end();
        context.shadow.release(address, end - address);
    }
}

/// Bytes of an object that is freed which are looked at: the others are mostly accessed by whoever accesses these.
const FREED: u64 = 1 << 12;
