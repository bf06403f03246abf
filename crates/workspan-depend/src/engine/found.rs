//! A dependence has been found: its record, what models wait for, values that outlive a loop.

use workspan_trace::program::flag;

use super::steady::Find;
use super::{Context, Engine, Lived, Memo, Waited, Waiting, AT_ONCE};
use crate::models::{Child, MODELS};
use crate::shadow::{Reader, Site};
use crate::source::small;
use crate::table::{Key, Kind};
use crate::tree::{distances, Common};

/// Models with loops, and those with lines: one bit each.
const LOOPS: u16 = bits(true);
const LINES: u16 = bits(false);

/// A line that no segment of the function has.
const NO_LINE: u32 = u32::MAX >> 1;

const fn bits(loops: bool) -> u16 {
    let (mut found, mut at) = (0, 0);
    while at < MODELS.len() {
        if if loops { MODELS[at].loops } else { MODELS[at].lines } {
            found |= 1 << at;
        }
        at += 1;
    }
    found
}

fn find(kind: Kind, source: Reader, at: Common, record: u32) -> Find {
    Find { access: 0, kind, source: source.site, moment: source.last, at, record }
}

impl Engine {
    pub(super) fn found(
        &mut self,
        context: &mut Context,
        kind: Kind,
        source: (Site, u64),
        sink: (Site, u64),
        at: Common,
    ) {
        let reader = Reader { site: source.0, next: 0, first: source.1, last: source.1 };
        self.found_range(context, kind, reader, sink, at);
    }

    pub(super) fn found_range(
        &mut self,
        context: &mut Context,
        kind: Kind,
        source: Reader,
        (sink, address): (Site, u64),
        at: Common,
    ) {
        let node = &context.nodes[at.node];
        let distances = distances(node, at.carried, source.first, source.last);
        let top = context.nodes[context.frames[context.frames.len() - 1].node].serial;
        let is_top = context.frames.len() - 1 == node.frame;
        let slot = context.slot(kind, source.site, sink, (context.nodes[at.node].number, at.carried, is_top));
        let (node, memo) = (&context.nodes[at.node], &context.memos[slot]);
        let frame = &context.frames[node.frame];
        // In one node, and under one frame on top, only the call of the earlier access can be another one.
        let is_same = memo.source == source.site
            && memo.serial == node.serial
            && memo.top == top
            && memo.carried == at.carried
            && (memo.is_local
                || memo.is_direct && !frame.reentered
                || memo.waiting.source_call == frame.call_at(source.last));
        if is_same {
            self.seen_again(context, slot, (kind, source, at), address, distances);
            return;
        }
        let place = (node.number, frame.function);
        let is_known = memo.source == source.site && memo.place == place;
        let is_direct = if is_known { memo.is_direct } else { self.is_direct(context, node.frame, source.site) };
        // A local without an address is accessed by its own call alone.
        let is_local = context.steady.is_touch();
        let source_call = if is_local || is_direct && !frame.reentered { 0 } else { frame.call_at(source.last) };
        let sink_call = context.frames.get(node.frame + 1).map_or(0, |inner| inner.call);
        if is_known
            && memo.carried == at.carried
            && memo.is_top == is_top
            && memo.sink_call == sink_call
            && memo.waiting.source_call == source_call
        {
            let serial = node.serial;
            let memo = &mut context.memos[slot];
            memo.top = top;
            if memo.serial != serial {
                (memo.serial, memo.waited, memo.lived) = (serial, Waited::default(), Lived::default());
            }
            self.seen_again(context, slot, (kind, source, at), address, distances);
            return;
        }
        let carrier = if at.carried { node.number } else { 0 };
        let (function, serial) = (frame.function, node.serial);
        let key = Key { kind, source: source.site, sink, source_call, sink_call, carrier, function };
        let known = self.table.all.len();
        let record = self.table.record(key, address, node.iteration);
        let seen = (address, context.nodes[at.node].start);
        context.parts.count(&mut self.table, (record, at.node), seen, distances);
        context.steady.found(record, distances, || find(kind, source, at, record));
        context.shapes.found(record, !at.carried || source.first >= context.nodes[at.node].former);
        if record as usize == known {
            let ended = context.nodes[at.node].ended_at(source.last);
            self.first_sight(&key, ended.map_or(0, |ended| ended.number));
        }
        let waiting = if context.is_first { self.waiting(context, at, &key) } else { Waiting::default() };
        let is_quiet = is_top && is_direct && source_call == 0 && self.is_quiet(context, at, &key);
        let is_alone = at.carried || context.nodes[at.node].ended_at(source.last).is_none();
        let waited = if context.is_first && !(is_quiet && is_alone) {
            self.wait(context, at, source, waiting, Waited::default())
        } else {
            Waited::default()
        };
        let lived = if kind == Kind::Raw { self.live_out(context, at, source) } else { Lived::default() };
        context.memos[slot] = Memo {
            source: source.site,
            serial,
            top,
            record,
            carried: at.carried,
            place,
            is_direct,
            is_top,
            is_quiet,
            is_local,
            sink_call,
            waiting,
            waited,
            lived,
        };
    }

    /// A dependence that has been seen in this execution of its node.
    #[inline]
    fn seen_again(
        &mut self,
        context: &mut Context,
        slot: usize,
        (kind, source, at): (Kind, Reader, Common),
        address: u64,
        distances: (u64, u64),
    ) {
        let (node, memo) = (&context.nodes[at.node], &context.memos[slot]);
        let Memo { record, lived, waiting, waited, .. } = *memo;
        let is_own = memo.is_local || !context.frames[node.frame].reentered;
        let is_quiet = memo.is_quiet && is_own && (at.carried || node.ended_at(source.last).is_none());
        let is_lived = lived.turn == node.turn && lived.range.0 <= source.last && source.last <= lived.range.1;
        let is_near = !at.carried || source.first >= node.former;
        let seen = (address, context.nodes[at.node].start);
        context.parts.count(&mut self.table, (record, at.node), seen, distances);
        context.steady.found(record, distances, || find(kind, source, at, record));
        context.shapes.found(record, is_near);
        if kind == Kind::Raw && !is_lived {
            let lived = self.live_out(context, at, source);
            context.memos[slot].lived = lived;
        }
        if !is_quiet && waiting.models | waiting.ended != 0 {
            let now = self.wait(context, at, source, waiting, waited);
            if now != waited {
                context.memos[slot].waited = now;
            }
        }
    }

    pub(super) fn is_direct(&self, context: &Context, frame: usize, site: Site) -> bool {
        let function = self.source.sites.get(site as usize).map_or(u32::MAX, |site| site.function);
        context.frames.get(frame).is_some_and(|frame| frame.function == function)
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

    /// Which models wait for the source of a dependence, and for what.
    fn waiting(&self, context: &Context, at: Common, key: &Key) -> Waiting {
        let site = |site: Site| self.source.sites.get(site as usize);
        let (from, to) = (site(key.source), site(key.sink));
        let update = from.map_or(0, |site| site.update);
        let reduction = update != 0 && to.is_some_and(|site| site.update == update);
        let node = &context.nodes[at.node];
        let steps = at.carried
            && from.is_some_and(|from| {
                let inductions = self.source.loops.get(node.number as usize - 1).map(|each| &each.inductions);
                from.local != 0 && inductions.is_some_and(|all| all.iter().any(|each| each.local + 1 == from.local))
            });
        // Privatised: memory that is used again in each iteration.
        let names_only = at.carried && key.kind != Kind::Raw;
        let line = from.and_then(|site| self.source.places.get(site.place as usize)).map_or(0, |place| place.line);
        let of_frame = context.frames[node.frame].function;
        let line = self.source.line_of(of_frame, line).unwrap_or(NO_LINE);
        let tail = from.map_or(0, |site| site.tail);
        let source_call = key.source_call;
        let call = if source_call != 0 { source_call } else { tail };
        let mut waiting = Waiting { models: 0, ended: 0, own: 0, call, source_call, line };
        // In one run of a line.
        let is_one_line =
            !at.carried && key.sink_call == 0 && from.map(|site| site.segment) == to.map(|site| site.segment);
        let frame = context.frames[node.frame].node;
        for number in AT_ONCE {
            let run = &self.models[number];
            let model = run.model;
            if model.reductions && reduction && at.carried {
                continue;
            }
            let (waits, ended, own) = if !model.loops {
                // What the function itself did on other lines is ready by its own time.
                let is_top = context.levels[frame][number] as usize == run.depth();
                let is_free = steps || names_only || is_one_line;
                let own = source_call == 0 && model.hoist && (model.lines || !is_top) && !is_free;
                (call != 0 || own, false, own)
            } else if at.carried && context.levels[at.node][number] != 0 {
                (!steps && !names_only, false, false)
            } else {
                let own = source_call == 0 && model.hoist && !is_one_line;
                (call != 0 || own, true, own)
            };
            waiting.models |= u16::from(waits) << number;
            waiting.ended |= u16::from(ended) << number;
            waiting.own |= u16::from(own) << number;
        }
        waiting
    }

    /// Models wait for the source of a dependence.
    fn wait(&mut self, context: &mut Context, at: Common, source: Reader, waiting: Waiting, waited: Waited) -> Waited {
        if context.steady.has_waited() {
            return waited;
        }
        let node = &context.nodes[at.node];
        let Waiting { mut models, call, line, .. } = waiting;
        let mut ended = None;
        if waiting.ended != 0 {
            ended = node.ended_at(source.last);
            models |= if ended.is_some() { waiting.ended } else { 0 };
        }
        let inner = if at.carried { None } else { context.nodes.get(at.node + 1) };
        let inner = inner.map_or(0, |inner| inner.serial);
        let inner_frame = context.frames.get(node.frame + 1).and_then(|inner| context.nodes.get(inner.node));
        let now = Waited {
            serial: inner,
            ended: ended.map_or(0, |ended| ended.number),
            turn: node.turn,
            frame: inner_frame.map_or(0, |inner| inner.serial),
            returns: context.returns,
        };
        let tasks = context.tasks[at.node];
        if waited.ended == now.ended && !context.shapes.is_noting() {
            // In loops, iterations and calls that run, nothing is needed but what ended before they began.
            let around = if at.carried { waited.turn == now.turn } else { inner != 0 && waited.serial == inner };
            if around {
                models &= !(LOOPS & if at.carried { tasks } else { context.tasks[at.node + 1] });
            }
            if now.frame != 0 && waited.frame == now.frame {
                models &= LOOPS;
            } else if now.frame == 0 && waited.frame == 0 && waited.returns == now.returns {
                // On top, only lines begin anew.
                models &= LOOPS | LINES;
            }
        }
        let frame_levels = &context.levels[context.frames[node.frame].node];
        let innermost = context.innermost_levels.get(at.node).unwrap_or(frame_levels);
        let in_loop = node.number != 0;
        let is_noted = context.shapes.is_noting() || context.steady.is_recording();
        if at.carried && at.node + 1 == context.nodes.len() && !is_noted {
            // The innermost iteration waits for those before once.
            let iterations = models & tasks & LOOPS;
            models &= !(iterations & self.iterated);
            self.iterated |= iterations;
        }
        while models != 0 {
            let number = models.trailing_zeros() as usize;
            models &= models - 1;
            let run = &mut self.models[number];
            let is_task = tasks & 1 << number != 0;
            let own = if waiting.own & 1 << number != 0 { Some(Child::Line(line)) } else { None };
            let (level, child) = if !run.model.loops {
                (frame_levels[number], if call != 0 { Some(Child::Call(call)) } else { own })
            } else if at.carried && is_task {
                // The innermost level that the node is in, which may be transparent.
                (innermost[number], Some(Child::Iteration))
            } else {
                let ended = ended.map(|ended| Child::Loop(ended.number));
                let call = if call != 0 { Some(Child::Call(call)) } else { None };
                // In a loop, children belong to the iteration.
                (innermost[number] + u32::from(is_task && in_loop), ended.or(call).or(own))
            };
            let from_frame = level.saturating_sub(frame_levels[number]);
            let level = level.saturating_sub(1) as usize;
            // Beside a call, also what the function did itself on that line.
            let further = own.filter(|_| matches!(child, Some(Child::Call(_))));
            for child in child.into_iter().chain(further) {
                run.depend(level, child, self.clock);
                context.shapes.waits(number, from_frame, child);
                if level + 2 >= run.depth() {
                    context.steady.waits(number, level, child);
                }
            }
        }
        now
    }

    /// A value that a loop has written is read after it.
    pub(super) fn live_out(&mut self, context: &Context, at: Common, source: Reader) -> Lived {
        let node = &context.nodes[at.node];
        let site = source.site;
        let in_loop = self.source.sites.get(site as usize).map_or(0, |site| site.in_loop);
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
