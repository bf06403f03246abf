//! Where a segment runs: calls and loops that begin, turn and end.

use workspan_trace::program::{flag, Access as Mode};

use super::arrival::Arrival;
use super::shape::Event;
use super::{Context, Engine, AT_ONCE, STATE};
use crate::journal::Step;
use crate::models::{Child, MODELS};
use crate::source::{small, PlaceId};
use crate::tree::{Ended, Frame};

impl Engine {
    /// Frames: where does the segment run?
    pub(super) fn arrive(&mut self, context: &mut Context, info: &Arrival, frame: Option<u64>) {
        if context.frames.is_empty() {
            context.push_node(0, 0);
            context.frames.push(Frame { address: u64::MAX, ..Frame::default() });
            context.levels.push([1; 9]);
            context.innermost_levels.push([1; 9]);
            context.tasks.push(u16::MAX);
        }
        if info.flags & flag::ENTRY != 0 {
            let address = frame.unwrap_or(0);
            while context.frames.len() > 1 && context.top().address <= address {
                self.abandon(context);
            }
            self.enter(context, info, address);
            return;
        }
        if let Some(address) = frame {
            while context.frames.len() > 1 && context.top().address < address {
                self.abandon(context);
            }
        }
        if context.top().function != info.function || context.frames.len() == 1 {
            let found = context.frames.iter().skip(1).rposition(|frame| frame.function == info.function);
            match found {
                Some(at) => {
                    while context.frames.len() > at + 2 {
                        self.abandon(context);
                    }
                }
                None => self.enter(context, info, frame.unwrap_or(0)),
            }
        }
        // Where nothing follows a call in its block, the next block shows that it has returned.
        self.after_call(context, info);
    }

    pub(super) fn after_call(&mut self, context: &mut Context, info: &Arrival) {
        let Some((place, callee, entered)) = context.top().pending else {
            return;
        };
        let state = match entered.checked_sub(1) {
            None => self.counts.outside(&self.source, callee),
            Some(entered) => self.counts.around(&self.source, callee, entered),
        };
        if let Some(state) = state {
            let site = self.source.state(place, state, info.function, info.in_loop);
            context.now += 1;
            context.grow(site);
            context.parts.begin(0, false);
            self.access(context, STATE + 8 * state as u64, 8, site, Mode::Update);
        }
        let now = context.now;
        context.top().returned(now);
        context.follows = place;
    }

    pub(super) fn enter(&mut self, context: &mut Context, info: &Arrival, address: u64) {
        let call = match &mut context.top().pending {
            Some((place, _, entered)) => {
                *entered = info.function + 1;
                *place
            }
            None => 0,
        };
        if context.frames.len() == 1 {
            context.root_address = context.root_address.max(address);
        }
        let number = context.frames.len();
        let around = (context.top().chain, context.nodes.last().map_or(0, |node| node.number));
        let chain = context.chain((around.0, around.1, call, info.function));
        let of_function = info.function as usize;
        if context.innermost.len() <= of_function {
            context.innermost.resize(of_function + 1, 0);
        }
        let outer = std::mem::replace(&mut context.innermost[of_function], number + 1);
        if let Some(outer) = outer.checked_sub(1).and_then(|outer| context.frames.get_mut(outer)) {
            outer.reenter(context.now);
        }
        let node = context.nodes.len();
        context.push_node(0, number);
        let function = info.function;
        // With the room that another one had.
        let mut frame = context.spare_frames.pop().unwrap_or_default();
        (frame.node, frame.address, frame.function, frame.call, frame.outer) = (node, address, function, call, outer);
        frame.chain = chain;
        context.frames.push(frame);
        self.note(context, Step::Call);
        self.push_level(context, ALL);
        self.counts.of(call).entered = info.function + 1;
        context.nodes[node].work = self.work;
        self.reshape(context, Event::Call(function));
    }

    /// The call on top has not returned.
    fn abandon(&mut self, context: &mut Context) {
        context.abandons = true;
        self.leave(context);
    }

    pub(super) fn leave(&mut self, context: &mut Context) {
        self.leave_loops(context, 0);
        let Some(mut frame) = context.frames.pop() else {
            return;
        };
        for cell in &mut frame.locals {
            context.local_readers.drop_list(cell.readers);
        }
        context.innermost[frame.function as usize] = frame.outer;
        context.version += 1;
        let call = frame.call;
        let mut is_small = false;
        if let Some(node) = context.nodes.pop() {
            let length = self.work - node.work;
            self.counts.of(call).work += length;
            is_small = self.granularity > 0 && context.is_first && self.is_small(call, length);
            context.spare_nodes.push(node);
        }
        frame.clear();
        context.spare_frames.push(frame);
        context.returns += 1;
        self.note(context, Step::Return(call));
        self.pop_level(context, Child::Call(call), is_small);
    }

    /// A call of a place ends: those that have ended so far are smaller on average than a task has to be.
    fn is_small(&mut self, place: PlaceId, length: u64) -> bool {
        let at = place as usize;
        if self.ended.len() <= at {
            self.ended.resize(at + 1, (0, 0));
        }
        let (calls, work) = &mut self.ended[at];
        (*calls, *work) = (*calls + 1, *work + length);
        *work / *calls < self.granularity
    }

    /// Loops: which are left, which are entered, does one turn?
    #[inline]
    pub(super) fn turn(&mut self, context: &mut Context, info: &Arrival) {
        let top = context.nodes.last().map_or(0, |node| node.number);
        let is_header = info.flags & flag::HEADER != 0;
        if top != info.in_loop {
            self.other_loop(context, info.in_loop, is_header);
        } else if is_header && top != 0 {
            self.next_iteration(context);
        }
        if info.body_of != 0 {
            self.body(context, info.body_of);
        }
    }

    fn other_loop(&mut self, context: &mut Context, in_loop: u32, is_header: bool) {
        self.leave_loops(context, in_loop);
        let inner = context.nodes.last().map_or(0, |node| node.number);
        let mut missing = Vec::new();
        let mut at = in_loop;
        while at != 0 && at != inner {
            missing.push(at);
            at = self.source.loops.get(at as usize - 1).map_or(0, |each| each.parent);
        }
        let entered = !missing.is_empty();
        for number in missing.into_iter().rev() {
            self.enter_loop(context, number);
        }
        if !entered && is_header {
            self.next_iteration(context);
        }
    }

    /// The body of a loop begins.
    #[inline]
    pub(super) fn body(&mut self, context: &mut Context, number: u32) {
        let depth = context.nodes.len();
        let of_parent = context.nodes.last().is_some_and(|node| node.number != number);
        let at = if of_parent { depth.checked_sub(2) } else { depth.checked_sub(1) };
        if let Some(node) = at.and_then(|at| context.nodes.get_mut(at)).filter(|node| node.number == number) {
            if !std::mem::replace(&mut node.in_body, true) {
                node.bodies += 1;
                self.loops[number as usize - 1].iterations += 1;
            }
        }
    }

    pub(super) fn enter_loop(&mut self, context: &mut Context, number: u32) {
        let frame = context.frames.len() - 1;
        context.push_node(number, frame);
        let (now, work) = (context.now + 1, self.work);
        if let Some(node) = context.nodes.last_mut() {
            node.iterations.begin(0, now);
            node.work = work;
        }
        self.loops[number as usize - 1].entries += 1;
        self.note(context, Step::Loop(number));
        self.push_level(context, LOOPS);
        self.reshape(context, Event::Loop(number));
        self.begin_iteration(context);
    }

    pub(super) fn begin_iteration(&mut self, context: &mut Context) {
        if context.is_first {
            self.iterated = 0;
            let mut tasks = context.tasks.last().copied().unwrap_or(0);
            while tasks != 0 {
                self.models[tasks.trailing_zeros() as usize].begin(self.clock.work);
                tasks &= tasks - 1;
            }
        }
    }

    pub(super) fn end_iteration(&mut self, context: &mut Context) {
        let mut tasks = context.tasks.last().copied().unwrap_or(0);
        while tasks != 0 {
            self.models[tasks.trailing_zeros() as usize].end(Child::Iteration, self.clock.work);
            tasks &= tasks - 1;
        }
    }

    pub(super) fn note(&mut self, context: &Context, step: Step) {
        if context.is_first {
            self.journal.note(step);
        }
    }

    pub(super) fn next_iteration(&mut self, context: &mut Context) {
        self.note(context, Step::Turn);
        self.iterated = 0;
        let mut tasks = context.tasks.last().copied().unwrap_or(0);
        while tasks != 0 {
            self.models[tasks.trailing_zeros() as usize].turn(self.clock.work);
            tasks &= tasks - 1;
        }
        let now = context.now + 1;
        if let Some(node) = context.nodes.last_mut() {
            node.iteration += 1;
            (node.former, node.turn) = (node.turn, now);
            node.iterations.begin(node.iteration, now);
            node.ended.clear();
            node.in_body = false;
        }
        self.reshape(context, Event::Turn);
    }

    /// Leaves loops of the frame on top that a loop does not lie in.
    pub(super) fn leave_loops(&mut self, context: &mut Context, stay: u32) {
        while let Some(node) = context.nodes.last() {
            if node.number == 0 || stay != 0 && self.source.is_within(stay, node.number) {
                return;
            }
            self.end_iteration(context);
            context.version += 1;
            let Some(node) = context.nodes.pop() else {
                return;
            };
            let count = &mut self.loops[node.number as usize - 1];
            count.most = count.most.max(node.bodies);
            count.work += self.work - node.work;
            count.abandoned |= context.abandons;
            // Where the condition is at the beginning, it has run once more than the body: the last turn is the one before.
            let last = if node.in_body { node.turn } else { node.former };
            let ended = Ended { number: node.number, start: node.start, end: context.now, last };
            if let Some(around) = context.nodes.last_mut() {
                around.ended.push(ended);
            }
            let (number, in_body) = (node.number, node.in_body);
            context.spare_nodes.push(node);
            self.note(context, Step::Leave(number));
            self.pop_level(context, Child::Loop(number), false);
            self.reshape(context, Event::Leave(in_body));
        }
    }

    /// A node of the tree is a task in some models: one bit each.
    pub(super) fn push_level(&mut self, context: &mut Context, tasks: u16) {
        let mut levels = [0; 9];
        if !context.is_first {
            context.levels.push(levels);
            context.tasks.push(0);
            return;
        }
        self.iterated = 0;
        let mut innermost = context.innermost_levels.last().copied().unwrap_or([1; 9]);
        let mut left = tasks;
        while left != 0 {
            let number = left.trailing_zeros() as usize;
            left &= left - 1;
            let run = &mut self.models[number];
            levels[number] = small(run.depth()) + 1;
            innermost[number] = levels[number];
            run.begin(self.clock.work);
        }
        context.levels.push(levels);
        context.tasks.push(tasks);
        context.innermost_levels.push(innermost);
    }

    /// A task ends; `is_small`: it is a call, and none where tasks are calls.
    pub(super) fn pop_level(&mut self, context: &mut Context, child: Child, is_small: bool) {
        context.levels.pop();
        let mut tasks = context.tasks.pop().unwrap_or(0);
        if !context.is_first {
            return;
        }
        context.innermost_levels.pop();
        self.iterated = 0;
        while tasks != 0 {
            let run = &mut self.models[tasks.trailing_zeros() as usize];
            if is_small && !run.model.lines {
                run.end_inline(child, self.clock.work);
            } else {
                run.end(child, self.clock.work);
            }
            tasks &= tasks - 1;
        }
    }
}

/// Models that run at once, and those of them in which loops are tasks: one bit each.
const ALL: u16 = models(false);
const LOOPS: u16 = models(true);

const fn models(only_loops: bool) -> u16 {
    let (mut found, mut at) = (0, 0);
    while at < AT_ONCE.len() {
        if !only_loops || MODELS[AT_ONCE[at]].loops {
            found |= 1 << AT_ONCE[at];
        }
        at += 1;
    }
    found
}
