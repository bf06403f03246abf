//! What an access of a strip is expected to find: what it has found before.
//!
//! **Argument:** as long as the same calls and loops run, and in the same iteration of the one that two accesses have in common, all earlier
//! accesses of a site between certain moments are the same dependence: in the same call and loop that have ended, alive for the same
//! reason, waited for by the same models ([`interval`]). Only how often and how far is new. In the innermost loop the moments move with each
//! turn.
//!
//! **Cost:** some comparisons, and a count.

use workspan_trace::program::Access as Mode;

use super::expected::{Bounds, Expected, Met, GROUPS};
use super::strip::{Habit, Together};
use super::waiting::Waiting;
use super::{Context, Engine};
use crate::shadow::{Cell, Reader, Site};
use crate::source::PlaceId;
use crate::table::Kind;
use crate::tree::{distances, Common};

/// What an access expects at most.
const MOST: usize = 6;
/// The call that an access was made in: the function on top has made it itself.
const OWN: PlaceId = PlaceId::MAX;

/// The call of a node's frame that the function on top runs in.
#[inline]
fn sink_call(context: &Context, frame: usize) -> PlaceId {
    context.frames.get(frame + 1).map_or(OWN, |inner| inner.call)
}

impl Expected {
    /// True if an earlier access is that dependence; `turn`: when the iteration began that runs.
    #[inline]
    fn is(&mut self, context: &Context, (kind, source): (Kind, Site), moment: u64, turn: u64) -> bool {
        self.source == source
            && self.kind == kind
            && self.low <= moment
            && moment <= self.high
            && match self.bounds {
                Bounds::Fixed => true,
                Bounds::Carried => moment < turn,
                Bounds::Here => turn <= moment,
            }
            && (self.version == context.version || self.is_valid(context))
    }

    /// Kind, site, and first and last moment of what it is before the iteration that runs began; nothing: it is not valid.
    pub(super) fn before(&mut self, context: &Context, turn: u64) -> Option<(Kind, Site, u64, u64)> {
        let high = match self.bounds {
            Bounds::Fixed => self.high,
            Bounds::Carried => self.high.min(turn - 1),
            Bounds::Here => return None,
        };
        let is_valid = self.version == context.version || self.is_valid(context);
        is_valid.then_some((self.kind, self.source, self.low, high))
    }

    /// What models wait for in an iteration of the innermost loop, which has this number of its own, if they have to.
    #[inline]
    pub(super) fn waits_in(&mut self, innermost: u64) -> Option<(Common, Waiting)> {
        let again = std::mem::replace(&mut self.done, innermost) == innermost;
        (self.waits && (self.each || !again)).then_some((self.at, self.waiting))
    }

    /// Record and node; whether distances are computed in the innermost loop.
    pub(super) fn place(&self) -> (u32, Common, bool) {
        (self.record, self.at, self.bounds != Bounds::Fixed)
    }

    /// The same calls and loops run.
    fn is_valid(&mut self, context: &Context) -> bool {
        let Some(node) = context.nodes.get(self.at.node).filter(|node| node.serial == self.serial) else {
            return false;
        };
        let is_valid = context.frames[node.frame].reentered == self.reentered
            && sink_call(context, node.frame) == self.sink_call
            && match self.bounds {
                Bounds::Fixed => node.turn == self.turn && self.at.node + 1 < context.nodes.len(),
                Bounds::Carried => self.at.node + 1 == context.nodes.len(),
                Bounds::Here => self.at.node + 1 == context.nodes.len() && node.ended.is_empty(),
            };
        if is_valid {
            self.version = context.version;
        }
        is_valid
    }

    /// Its node runs no more, or another iteration of it.
    fn is_over(&self, context: &Context) -> bool {
        let node = context.nodes.get(self.at.node).filter(|node| node.serial == self.serial);
        node.is_none_or(|node| self.bounds == Bounds::Fixed && node.turn != self.turn)
    }
}

/// Moments around one between which nothing changes: the node, the loop that has ended in it, its last iteration, the call.
fn interval(context: &Context, at: Common, moment: u64) -> (u64, u64) {
    let node = &context.nodes[at.node];
    let (mut low, mut high) = match context.nodes.get(at.node + 1) {
        _ if at.carried => (node.start, node.turn - 1),
        None => (node.turn, context.now),
        Some(inner) => (node.turn, inner.start - 1),
    };
    let mut narrow = |start: u64, end: u64| {
        if moment < start {
            high = high.min(start - 1);
        } else if moment > end {
            low = low.max(end + 1);
        } else {
            (low, high) = (low.max(start), high.min(end));
        }
    };
    if !at.carried {
        let after = node.ended.partition_point(|ended| ended.start <= moment);
        for ended in node.ended.iter().skip(after.saturating_sub(1)).take(2) {
            narrow(ended.start, ended.end);
            narrow(ended.last, u64::MAX);
        }
    }
    if let Some(frame) = context.frames.get(node.frame) {
        let after = frame.calls.partition_point(|span| span.start <= moment);
        for span in frame.calls.iter().skip(after.saturating_sub(1)).take(2) {
            narrow(span.start, span.end);
        }
    }
    (low, high)
}

/// Adds a read to those since the last write, as [`note_read`](super::reads::note_read) does, if the site has two groups of them at most.
#[inline]
pub(super) fn quick_read(context: &mut Context, habit: &Habit, (cell, place): (Cell, (u32, u32)), turn: u64) -> bool {
    let (site, now) = (habit.site, context.now);
    let readers = &mut context.shadow.readers;
    let new = Reader { site, next: cell.readers, first: now, last: now };
    // The latest group of the site, the one before, and what comes before that in the list.
    let (mut latest, mut former, mut before) = (0, 0, 0);
    let (mut at, mut last, mut count) = (cell.readers, 0, 0);
    while at != 0 {
        let reader = readers.get(at);
        if reader.site == site {
            if latest == 0 {
                latest = at;
                if reader.first >= turn {
                    // In the iteration or call that runs, once more.
                    let is_own = context.frames.last().is_some_and(|frame| !frame.reentered);
                    if is_own {
                        readers.change(at, |reader| reader.last = now);
                    }
                    return is_own;
                }
            } else if former == 0 {
                (former, before) = (at, last);
            } else {
                return false;
            }
        }
        (last, at, count) = (at, reader.next, count + 1);
        if count > GROUPS {
            let has_room = readers.room(cell.readers) > 1;
            if has_room {
                context.shadow.cell(place).0.readers = readers.add(new);
            }
            return has_room;
        }
    }
    if former == 0 {
        context.shadow.cell(place).0.readers = readers.add(new);
        return true;
    }
    // In an iteration or call after the former two, which become one.
    let (later, old) = (readers.get(latest), readers.get(former));
    let is_together = |together: &Together| {
        let (low, high) = context.moments_together(together);
        low <= old.last && later.last <= high
    };
    if !habit.together.iter().any(is_together) {
        return false;
    }
    let readers = &mut context.shadow.readers;
    if latest == cell.readers && before == latest && old.next == 0 {
        readers.set(former, Reader { last: later.last, ..old });
        readers.set(latest, Reader { first: now, last: now, ..later });
        return true;
    }
    readers.change(latest, |reader| reader.first = old.first);
    readers.change(before, |reader| reader.next = old.next);
    readers.set_first(former, new);
    context.shadow.cell(place).0.readers = former;
    true
}

impl Engine {
    #[inline]
    fn count_expected(
        &mut self,
        context: &mut Context,
        known: &mut Expected,
        source: Reader,
        (site, address): (Site, u64),
    ) {
        let node = &context.nodes[known.at.node];
        let distances = distances(node, known.at.carried, source.first, source.last);
        self.table.count(known.record, (address, node.start), distances);
        if known.waits {
            self.wait_again(context, known);
        }
        let chain = context.frames.last().map_or(0, |frame| frame.chain);
        if chain != known.chain && known.kind == Kind::Raw {
            known.chain = chain;
            self.expose(context, site, Some(known.at));
        }
    }

    /// Does an access that finds only what it has found before; false: it does not, and nothing is done.
    #[inline]
    pub(super) fn quick(&mut self, context: &mut Context, habit: &mut Habit, (address, shift): (u64, u32)) -> bool {
        let Some(place) = context.shadow.whole(address, shift, &mut habit.page) else {
            return false;
        };
        let cell = *context.shadow.cell(place).0;
        // On the stack, only what frames that run have written.
        if context.is_stack(address) && (cell.writer == 0 || cell.written < context.floor(address)) {
            return false;
        }
        let turn = context.nodes.last().map_or(0, |node| node.turn);
        if habit.mode == Mode::Load {
            self.quick_load(context, habit, (cell, place), (address, turn))
        } else if habit.mode == Mode::Store {
            self.quick_store(context, habit, (cell, place), (address, turn))
        } else {
            false
        }
    }

    #[inline]
    fn quick_load(
        &mut self,
        context: &mut Context,
        habit: &mut Habit,
        (cell, place): (Cell, (u32, u32)),
        (address, turn): (u64, u64),
    ) -> bool {
        let site = habit.site;
        let mut known = None;
        if cell.writer != 0 {
            let is = |known: &mut Expected| known.is(context, (Kind::Raw, cell.writer), cell.written, turn);
            known = habit.expected.iter_mut().position(is);
            if known.is_none() {
                return false;
            }
        }
        if !quick_read(context, habit, (cell, place), turn) {
            return false;
        }
        habit.met = Met::all(known.into_iter());
        match known {
            Some(known) => self.count_expected(context, &mut habit.expected[known], cell.write(), (site, address)),
            None => self.expose(context, site, None),
        }
        true
    }

    #[inline]
    fn quick_store(
        &mut self,
        context: &mut Context,
        habit: &mut Habit,
        (cell, place): (Cell, (u32, u32)),
        (address, turn): (u64, u64),
    ) -> bool {
        let mut found = [(0, Reader::default()); GROUPS];
        let mut count = 0;
        let mut at = cell.readers;
        let mut next = cell.write();
        let mut kind = Kind::Waw;
        // The last write, then the reads since.
        loop {
            if next.site != 0 {
                let is = |known: &mut Expected| known.is(context, (kind, next.site), next.last, turn);
                let Some(known) = habit.expected.iter_mut().position(is) else {
                    return false;
                };
                let is_new = found[..count].iter().all(|(_, other)| kind == Kind::Waw || other.site != next.site);
                if count == GROUPS || !is_new && count > 0 {
                    return false;
                }
                found[count] = (known, next);
                count += 1;
            }
            if at == 0 {
                break;
            }
            kind = Kind::War;
            next = context.shadow.readers.get(at);
            at = next.next;
        }
        habit.met = Met::all(found[..count].iter().map(|(known, _)| *known));
        for (known, source) in &found[..count] {
            self.count_expected(context, &mut habit.expected[*known], *source, (habit.site, address));
        }
        context.shadow.readers.drop_list(cell.readers);
        *context.shadow.cell(place).0 = Cell { written: context.now, writer: habit.site, readers: 0 };
        true
    }

    fn wait_again(&mut self, context: &mut Context, known: &mut Expected) {
        if !self.repeats.gathers {
            let Expected { at, waiting, .. } = *known;
            known.waited = self.wait(context, at, &waiting, known.waited);
            return;
        }
        let innermost = context.nodes.last().map_or(0, |node| node.serial);
        if let Some((at, waiting)) = known.waits_in(innermost) {
            self.repeats.find(self.line_of_strip, at, &waiting);
        }
    }

    /// What was found and is remembered at a slot will be expected, if it can.
    pub(super) fn expect(
        &mut self,
        context: &Context,
        all: &mut Vec<Expected>,
        (kind, source): (Kind, Reader),
        at: Common,
        slot: usize,
    ) {
        let (memo, node) = (&context.memos[slot], &context.nodes[at.node]);
        let reentered = context.frames[node.frame].reentered;
        let is_own = memo.is_direct && !reentered;
        let is_innermost = at.node + 1 == context.nodes.len();
        let turn = context.nodes.last().map_or(0, |node| node.turn);
        let is_known = |known: &mut Expected| known.is(context, (kind, source.site), source.last, turn);
        if is_innermost && !(is_own && memo.is_top) || memo.source != source.site || all.iter_mut().any(is_known) {
            return;
        }
        let waiting = if is_own && memo.is_quiet { Waiting::default() } else { memo.waiting };
        let (bounds, (low, high)) = match (is_innermost, at.carried) {
            (false, _) => (Bounds::Fixed, interval(context, at, source.last)),
            (true, true) => (Bounds::Carried, (node.start, u64::MAX)),
            (true, false) => (Bounds::Here, (node.start, u64::MAX)),
        };
        let new = Expected {
            kind,
            source: source.site,
            bounds,
            low,
            high,
            version: 0,
            record: memo.record,
            at,
            serial: node.serial,
            turn: node.turn,
            sink_call: sink_call(context, node.frame),
            chain: context.frames.last().map_or(0, |frame| frame.chain),
            reentered,
            waits: waiting.any() != 0,
            waiting,
            waited: memo.waited,
            done: 0,
            each: self.waits_each_time(context, at, &waiting),
        };
        if let Some(place) = all.iter_mut().find(|known| known.is_over(context)) {
            *place = new;
        } else if all.len() < MOST {
            all.push(new);
        } else {
            all.rotate_left(1);
            all[MOST - 1] = new;
        }
    }
}
