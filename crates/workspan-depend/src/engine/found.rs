//! A dependence has been found: its record, what models wait for, values that outlive a loop.

use workspan_trace::program::flag;

use super::shapes::Detail;
use super::waiting::{Waited, Waiting};
use super::{Context, Engine, Lived, Memo};
use crate::models::Child;
use crate::shadow::{Reader, Site};
use crate::source::small;
use crate::table::{Key, Kind};
use crate::tree::{distances, Common};

/// A dependence between locals becomes part of the step that is noted.
#[inline]
fn note_found(context: &mut Context, kind: Kind, record: u32, source: Reader, at: Common) {
    if context.shapes.noting.is_active {
        let (frame, function) = context.frames.last().map_or((0, 0), |frame| (frame.node, frame.function));
        let is_former =
            || context.shapes.detail(function) == Detail::Former && source.first >= context.nodes[at.node].former;
        let is_far = at.carried && !is_former();
        context.shapes.noting.found(kind, record, source, is_far.then(|| small(at.node - frame)));
    }
}

impl Engine {
    /// A dependence has been found; where it is remembered, if it has been found in this execution of its node before.
    pub(super) fn found(
        &mut self,
        context: &mut Context,
        kind: Kind,
        source: Reader,
        (sink, address): (Site, u64),
        at: Common,
    ) -> Option<usize> {
        let node = &context.nodes[at.node];
        let distances = distances(node, at.carried, source.first, source.last);
        let ended = if at.carried { 0 } else { node.ended_at(source.last).map_or(0, |ended| ended.number) };
        let frame = &context.frames[node.frame];
        let inner = context.frames.get(node.frame + 1);
        let (is_top, sink_call) = inner.map_or((true, 0), |inner| (false, inner.call));
        let (serial, start, number, function) = (node.serial, node.start, node.number, frame.function);
        let slot = context.slot(kind, source.site, sink, (at.node, number, at.carried, is_top, ended));
        let (frame, memo) = (&context.frames[context.nodes[at.node].frame], &mut context.memos[slot]);
        let is_own = memo.is_local || memo.is_direct && !frame.reentered;
        let is_same = memo.source == source.site
            && memo.place == (number, function)
            && memo.carried == at.carried
            && memo.is_top == is_top
            && memo.ended == ended
            && memo.sink_call == sink_call
            && memo.source_call
                == if is_own || memo.is_direct && frame.is_alone(source.last) { 0 } else { frame.call_at(source.last) };
        if !is_same {
            self.found_new(context, kind, source, (sink, address, distances), (at, slot));
            return None;
        }
        // Where the function runs several times, its lines are not in order.
        let is_quiet = is_own && memo.is_quiet;
        let is_again = memo.serial == serial;
        if !is_again {
            (memo.serial, memo.waited, memo.lived) = (serial, Waited::default(), Lived::default());
        }
        let (record, lived, any, in_loop) = (memo.record, memo.lived, memo.waiting.any(), memo.in_loop);
        let may_live = kind == Kind::Raw && in_loop != number;
        context.parts.count(&mut self.table, (record, at.node), (address, start), distances);
        note_found(context, kind, record, source, at);
        if may_live {
            let node = &context.nodes[at.node];
            let is_lived = lived.turn == node.turn && lived.range.0 <= source.last && source.last <= lived.range.1;
            if !is_lived {
                let lived = self.live_out(context, at, source, in_loop);
                context.memos[slot].lived = lived;
            }
        }
        if !is_quiet && any != 0 {
            let Memo { waiting, waited, .. } = context.memos[slot];
            let waited = self.wait(context, at, &waiting, waited);
            context.memos[slot].waited = waited;
        }
        is_again.then_some(slot)
    }

    /// A dependence has been found of which nothing is remembered.
    fn found_new(
        &mut self,
        context: &mut Context,
        kind: Kind,
        source: Reader,
        (sink, address, distances): (Site, u64, (u64, u64)),
        (at, slot): (Common, usize),
    ) {
        let node = &context.nodes[at.node];
        let frame = &context.frames[node.frame];
        let of_source = self.source.sites.get(source.site as usize);
        let (of_function, in_loop) = of_source.map_or((u32::MAX, 0), |site| (site.function, site.in_loop));
        let is_direct = frame.function == of_function;
        // A local without an address is accessed by its own call alone.
        let is_local = context.is_touch;
        let is_own = is_local || is_direct && frame.is_alone(source.last);
        let source_call = if is_own { 0 } else { frame.call_at(source.last) };
        // The loop of this function that it happened in.
        let in_loop = if source_call == 0 { in_loop } else { self.source.loop_of_call(source_call) };
        let sink_call = context.frames.get(node.frame + 1).map_or(0, |inner| inner.call);
        let is_top = node.frame + 1 == context.frames.len();
        let (carrier, place) = (if at.carried { node.number } else { 0 }, (node.number, frame.function));
        let (function, serial, start) = (frame.function, node.serial, node.start);
        let key = Key { kind, source: source.site, sink, source_call, sink_call, carrier, function };
        let known = self.table.all.len();
        let record = self.table.record(key, address, node.iteration);
        let ended = if at.carried { 0 } else { node.ended_at(source.last).map_or(0, |ended| ended.number) };
        context.parts.count(&mut self.table, (record, at.node), (address, start), distances);
        note_found(context, kind, record, source, at);
        if record as usize == known {
            let ended = context.nodes[at.node].ended_at(source.last);
            self.first_sight(&key, ended.map_or(0, |ended| ended.number));
        }
        let waiting = if context.is_first { self.waiting(context, at, &key, ended) } else { Waiting::default() };
        let is_quiet = is_top && is_direct && source_call == 0 && ended == 0 && self.is_quiet(context, at, &key);
        let lived = if kind == Kind::Raw { self.live_out(context, at, source, in_loop) } else { Lived::default() };
        let (carried, waited) = (at.carried, Waited::default());
        context.memos[slot] = Memo {
            source: source.site,
            serial,
            record,
            carried,
            place,
            ended,
            in_loop,
            is_direct,
            is_top,
            is_quiet,
            is_local,
            source_call,
            sink_call,
            waiting,
            waited,
            lived,
        };
        if waiting.any() != 0 && !is_quiet {
            let waited = self.wait(context, at, &waiting, waited);
            context.memos[slot].waited = waited;
        }
    }

    /// A dependence that was not known: what the aggregated models wait for, and which loops are serial.
    pub(super) fn first_sight(&mut self, key: &Key, ended: u32) {
        let site = |site: Site| self.source.sites.get(site as usize).cloned().unwrap_or_default();
        let (source, sink) = (site(key.source), site(key.sink));
        if key.carrier != 0 && key.kind == Kind::Raw {
            let number = key.carrier as usize - 1;
            let steps = self.source.loops.get(number).is_some_and(|each| {
                source.local != 0 && each.inductions.iter().any(|induction| induction.local + 1 == source.local)
            });
            if !steps {
                self.serial[number] = true;
            }
        }
        let call = if key.source_call != 0 { key.source_call } else { source.tail };
        if call == 0 && ended == 0 {
            return;
        }
        let places: Vec<(u32, u32)> = if key.sink_call == 0 {
            vec![sink.segment]
        } else {
            let all = self.source.segments.iter().enumerate();
            let calls = all.filter(|(_, info)| info.call == key.sink_call && info.flags & flag::CALL != 0);
            calls.map(|(id, info)| (small(id), small(info.runs.len().saturating_sub(1)))).collect()
        };
        for place in places {
            if self.awaited.len() <= place.0 as usize {
                self.awaited.resize(place.0 as usize + 1, false);
            }
            self.awaited[place.0 as usize] = true;
            let waits = self.waits.entry(place).or_default();
            waits.waited = (0, 0);
            self.epoch += 1;
            let waits = &mut waits.children;
            let children = [(call, Child::Call(call)), (ended, Child::Loop(ended))];
            for (_, child) in children.into_iter().filter(|(number, _)| *number != 0) {
                if !waits.contains(&child) {
                    waits.push(child);
                }
            }
        }
    }

    /// True for dependences between instructions of one iteration or of neighbouring ones that no model waits for twice: their lines are
    /// in order, and counters and private memory are taken away.
    pub(super) fn is_quiet(&self, context: &Context, at: Common, key: &Key) -> bool {
        let Some(site) = self.source.sites.get(key.source as usize) else {
            return false;
        };
        let node = &context.nodes[at.node];
        let steps = || {
            let inductions = self.source.loops.get((node.number as usize).wrapping_sub(1)).map(|each| &each.inductions);
            site.local != 0 && inductions.is_some_and(|all| all.iter().any(|each| each.local + 1 == site.local))
        };
        let free = !at.carried || key.kind != Kind::Raw || steps();
        let of_sink = self.source.sites.get(key.sink as usize).map(|sink| sink.segment);
        site.tail == 0 && free && (at.carried || of_sink == Some(site.segment))
    }

    /// A value that a loop has written is read after it; `in_loop`: the loop that it was written in, of the function where both meet.
    pub(super) fn live_out(&mut self, context: &Context, at: Common, source: Reader, in_loop: u32) -> Lived {
        let node = &context.nodes[at.node];
        let site = source.site;
        // Nothing has ended between, and no other loop lies there.
        if in_loop == node.number || in_loop == 0 && (at.carried || node.ended.is_empty()) {
            let range = if in_loop == node.number || at.carried { (0, u64::MAX) } else { (u64::MAX, 0) };
            return Lived { turn: node.turn, range };
        }
        let after = node.ended.partition_point(|ended| ended.start <= source.last);
        let ended = after.checked_sub(1).and_then(|at| node.ended.get(at)).filter(|ended| source.last <= ended.end);
        let mut range = (0, u64::MAX);
        let outermost = if at.carried {
            None
        } else if let Some(ended) = ended {
            let entry = self.table.live_out.entry((site, ended.number)).or_default();
            if source.last >= ended.last {
                entry.last = true;
                range = (ended.last, ended.end);
            } else {
                entry.other = true;
                range = (ended.start, ended.last - 1);
            }
            Some(ended.number)
        } else {
            return Lived::default();
        };
        // Loops in between: from which of their iterations it comes is not known any more.
        let (mut inner, stop) = (in_loop, outermost.unwrap_or(node.number));
        while inner != 0 && inner != stop && self.source.is_within(inner, stop) {
            self.table.live_out.entry((site, inner)).or_default().unknown = true;
            inner = self.source.loops.get(inner as usize - 1).map_or(0, |each| each.parent);
        }
        Lived { turn: node.turn, range }
    }
}
