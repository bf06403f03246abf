//! Takes segments as they come, and finds dependences.
//!
//! **Argument:** time advances with each line of a segment. A dependence is an access now, and the moment and site of an earlier one
//! that the shadow has kept; the execution tree tells the deepest call or loop that both lie in, and with that, on which
//! lines of which function they are, and whether a loop carries what connects them.
//!
//! **Not reported:** what lies in a frame that has been left (the memory belongs to a call that began later); what was freed and
//! allocated again; variables whose scope has begun again; input variables of a step (the verdict knows them).

use std::collections::{BTreeMap, BTreeSet, HashMap};

use workspan_graph::events::{Access, Control};
use workspan_graph::program::Loaded;
use workspan_graph::replay::{Consumer, Executed};
use workspan_trace::control::Kind as ControlKind;
use workspan_trace::facts::Deed;
use workspan_trace::program::{flag, operation, Access as Mode};

use crate::effects::{effect, STATES};
use crate::journal::{Journal, Step};
use crate::models::{Child, Run, MODELS};
use crate::shadow::{BuildHasher, Cell, Reader, Readers, Shadow, Site};
use crate::source::{small, PlaceId, SegmentInfo, Source};
use crate::table::{Key, Kind, Table};
use crate::tree::{common, Common, Ended, Frame, Node};

/// Bytes below the first frame that are taken for its stack.
const STACK: u64 = 64 << 20;
/// Where the state of libraries lies: no program has these addresses.
const STATE: u64 = 1 << 60;

/// How often a loop ran.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LoopCount {
    /// Executions.
    pub entries: u64,
    /// Iterations in all.
    pub iterations: u64,
    /// Iterations of its longest execution.
    pub most: u64,
    /// Instructions in it.
    pub work: u64,
}

/// How often a place made calls.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallCount {
    /// Function that the place is in.
    pub function: u32,
    /// Name of what is called.
    pub callee: u32,
    /// The function of the program that was entered, + 1.
    pub entered: u32,
    /// Calls.
    pub count: u64,
    /// Instructions in them.
    pub work: u64,
    /// Lines of the function that were executed right afterwards.
    pub next: BTreeSet<u32>,
}

/// Finds dependences.
#[derive(Debug)]
pub struct Engine {
    /// The program.
    pub source: Source,
    /// What was found.
    pub table: Table,
    /// By loop.
    pub loops: Vec<LoopCount>,
    /// By place of call.
    pub calls: BTreeMap<PlaceId, CallCount>,
    /// Segments that were executed, by id.
    pub executed: Vec<bool>,
    /// Models, of the first context.
    pub models: Vec<Run>,
    /// Instructions.
    pub work: u64,
    /// Functions outside instrumented code that were called, and how often.
    pub boxes: BTreeMap<u32, u64>,
    /// What ran, of the first context.
    pub journal: Journal,
    /// Lines of segments, by their number in the journal.
    pub lines: Vec<(u32, u32)>,
    line_numbers: Vec<u32>,
    runs_of_current: u32,
    /// Loops that carry a dependence that forbids parallel iterations, as far as known.
    pub serial: Vec<bool>,
    /// Calls that lines wait for: by segment and line.
    pub waits: HashMap<(u32, u32), Vec<Child>, BuildHasher>,
    awaited: Vec<bool>,
    contexts: Vec<Option<Box<Context>>>,
}

/// One thread.
#[derive(Debug, Default)]
struct Context {
    shadow: Shadow,
    local_readers: Readers,
    nodes: Vec<Node>,
    frames: Vec<Frame>,
    now: u64,
    serials: u64,
    /// The innermost frame of each function, + 1.
    innermost: HashMap<u32, usize, BuildHasher>,
    /// What the last dependence of a site was: record, source, node, whether carried.
    memo: Vec<[Memo; 3 * WAYS]>,
    exposure: Vec<(u64, usize)>,
    groups: Vec<(Reader, Common)>,
    root_address: u64,
    /// A line of the frame on top follows a call.
    follows: PlaceId,
    is_first: bool,
    /// Levels of models: for each node, for each model, the level of the call or loop, + 1.
    levels: Vec<[u32; 9]>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Memo {
    source: Site,
    serial: u64,
    record: u32,
    carried: bool,
    /// No model looks at it again.
    quiet: bool,
}

/// Sources that are remembered for each later access and kind.
const WAYS: usize = 8;

fn way(kind: Kind, source: Site) -> usize {
    kind as usize * WAYS + source as usize % WAYS
}

impl Default for Engine {
    fn default() -> Engine {
        Engine::new()
    }
}

impl Engine {
    /// Nothing seen.
    pub fn new() -> Engine {
        Engine {
            source: Source::new(),
            table: Table::default(),
            loops: Vec::new(),
            calls: BTreeMap::new(),
            executed: Vec::new(),
            models: MODELS.map(Run::new).into(),
            work: 0,
            boxes: BTreeMap::new(),
            journal: Journal::default(),
            lines: Vec::new(),
            line_numbers: Vec::new(),
            runs_of_current: 0,
            serial: Vec::new(),
            waits: HashMap::default(),
            awaited: Vec::new(),
            contexts: Vec::new(),
        }
    }

    /// Bytes of shadow memory.
    pub fn bytes(&self) -> usize {
        self.contexts.iter().flatten().map(|context| context.shadow.bytes()).sum()
    }

    /// The program has ended.
    pub fn finish(&mut self) {
        let mut contexts = std::mem::take(&mut self.contexts);
        for context in contexts.iter_mut().flatten() {
            while context.frames.len() > 1 {
                self.leave(context);
            }
        }
        self.contexts = contexts;
    }

    /// Takes a module in, executed or not.
    pub fn learn(&mut self, loaded: &Loaded) {
        self.source.learn(loaded);
        self.loops.resize(self.source.loops.len(), LoopCount::default());
        self.serial.resize(self.source.loops.len(), false);
        self.executed.resize(self.source.segments.len(), false);
    }

    fn step(&mut self, context: &mut Context, executed: &Executed<'_>, accesses: &[Access]) {
        let id = executed.id as usize;
        if self.source.segments.get(id).is_none_or(|info| info.place == 0 && info.runs.is_empty() && info.flags == 0) {
            self.learn(executed.module);
        }
        let Some(slot) = self.source.segments.get_mut(id) else {
            return;
        };
        // Taken out while it is used: nothing below looks at it.
        let info = std::mem::take(slot);
        self.executed[id] = true;
        self.arrive(context, &info, executed.frame);
        self.turn(context, &info);
        self.run(context, &info, executed.id, accesses);
        self.depart(context, &info);
        self.source.segments[id] = info;
    }

    /// Frames: where does the segment run?
    fn arrive(&mut self, context: &mut Context, info: &SegmentInfo, frame: Option<u64>) {
        if context.frames.is_empty() {
            context.push_node(0, 0);
            context.frames.push(Frame { address: u64::MAX, ..Frame::default() });
            context.levels.push([1; 9]);
        }
        if info.flags & flag::ENTRY != 0 {
            let address = frame.unwrap_or(0);
            while context.frames.len() > 1 && context.top().address <= address {
                self.leave(context);
            }
            self.enter(context, info, address);
            return;
        }
        if let Some(address) = frame {
            while context.frames.len() > 1 && context.top().address < address {
                self.leave(context);
            }
        }
        if context.top().function != info.function || context.frames.len() == 1 {
            let found = context.frames.iter().skip(1).rposition(|frame| frame.function == info.function);
            match found {
                Some(at) => {
                    while context.frames.len() > at + 2 {
                        self.leave(context);
                    }
                }
                None => self.enter(context, info, frame.unwrap_or(0)),
            }
        }
        // Where nothing follows a call in its block, the next block shows that it has returned.
        self.after_call(context, info);
    }

    fn after_call(&mut self, context: &mut Context, info: &SegmentInfo) {
        let Some((place, callee, entered)) = context.top().pending else {
            return;
        };
        if entered == 0 {
            *self.boxes.entry(callee).or_default() += 1;
            let name = self.source.names.get(callee as usize).map_or("", String::as_str);
            if let Some(state) = effect(name).state() {
                let site = self.source.state(place, state, info.function, info.in_loop);
                context.now += 1;
                context.grow(site);
                self.access(context, STATE + 8 * state as u64, 8, site, Mode::Update);
            }
        }
        let now = context.now;
        context.top().returned(now);
        context.follows = place;
    }

    fn enter(&mut self, context: &mut Context, info: &SegmentInfo, address: u64) {
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
        let outer = context.innermost.insert(info.function, number + 1).unwrap_or(0);
        if let Some(outer) = outer.checked_sub(1).and_then(|outer| context.frames.get_mut(outer)) {
            outer.reentered = true;
        }
        let node = context.nodes.len();
        context.push_node(0, number);
        let locals = self.source.functions.get(info.function as usize).map_or(0, |function| function.locals);
        let locals = vec![Cell::default(); locals as usize];
        let function = info.function;
        context.frames.push(Frame { node, address, function, call, locals, outer, ..Frame::default() });
        self.note(context, Step::Call);
        self.push_level(context, |_| true);
        let counted = self.calls.entry(call).or_default();
        counted.entered = info.function + 1;
        context.nodes[node].work = self.work;
    }

    fn leave(&mut self, context: &mut Context) {
        self.leave_loops(context, 0);
        let Some(mut frame) = context.frames.pop() else {
            return;
        };
        for cell in &mut frame.locals {
            context.local_readers.drop_list(cell.readers);
        }
        let node = context.nodes.pop();
        if frame.outer == 0 {
            context.innermost.remove(&frame.function);
        } else {
            context.innermost.insert(frame.function, frame.outer);
        }
        let work = node.map_or(0, |node| self.work - node.work);
        self.calls.entry(frame.call).or_default().work += work;
        self.note(context, Step::Return(frame.call));
        self.pop_level(context, Child::Call(frame.call));
    }

    /// Loops: which are left, which are entered, does one turn?
    fn turn(&mut self, context: &mut Context, info: &SegmentInfo) {
        let top = context.nodes.last().map_or(0, |node| node.number);
        let is_header = info.flags & flag::HEADER != 0;
        if top != info.in_loop {
            self.leave_loops(context, info.in_loop);
            let inner = context.nodes.last().map_or(0, |node| node.number);
            let mut missing = Vec::new();
            let mut at = info.in_loop;
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
        } else if is_header && top != 0 {
            self.next_iteration(context);
        }
        if info.body_of != 0 {
            let depth = context.nodes.len();
            let of_parent = context.nodes.last().is_some_and(|node| node.number != info.body_of);
            let at = if of_parent { depth.checked_sub(2) } else { depth.checked_sub(1) };
            if let Some(node) = at.and_then(|at| context.nodes.get_mut(at)).filter(|node| node.number == info.body_of) {
                if !std::mem::replace(&mut node.in_body, true) {
                    node.bodies += 1;
                    self.loops[info.body_of as usize - 1].iterations += 1;
                }
            }
        }
    }

    fn enter_loop(&mut self, context: &mut Context, number: u32) {
        let frame = context.frames.len() - 1;
        context.push_node(number, frame);
        let (now, work) = (context.now + 1, self.work);
        if let Some(node) = context.nodes.last_mut() {
            node.iterations.begin(0, now);
            node.work = work;
        }
        self.loops[number as usize - 1].entries += 1;
        let serial = self.serial[number as usize - 1];
        self.note(context, Step::Loop(number));
        self.push_level(context, |run| run.model.loops && !(run.model.parallel_only && serial));
        self.begin_iteration(context);
    }

    fn begin_iteration(&mut self, context: &mut Context) {
        if context.is_first {
            let levels = context.levels.last().copied().unwrap_or([0; 9]);
            for (run, level) in self.models.iter_mut().zip(levels) {
                if level != 0 {
                    run.begin();
                }
            }
        }
    }

    fn end_iteration(&mut self, context: &mut Context) {
        if context.is_first {
            let levels = context.levels.last().copied().unwrap_or([0; 9]);
            for (run, level) in self.models.iter_mut().zip(levels) {
                if level != 0 {
                    run.end(Child::Iteration);
                }
            }
        }
    }

    fn note(&mut self, context: &Context, step: Step) {
        if context.is_first {
            self.journal.note(step);
        }
    }

    fn next_iteration(&mut self, context: &mut Context) {
        self.note(context, Step::Turn);
        self.end_iteration(context);
        let now = context.now + 1;
        if let Some(node) = context.nodes.last_mut() {
            node.iteration += 1;
            (node.former, node.turn) = (node.turn, now);
            node.iterations.begin(node.iteration, now);
            node.ended.clear();
            node.in_body = false;
        }
        self.begin_iteration(context);
    }

    /// Leaves loops of the frame on top that a loop does not lie in.
    fn leave_loops(&mut self, context: &mut Context, stay: u32) {
        while let Some(node) = context.nodes.last() {
            if node.number == 0 || stay != 0 && self.source.is_within(stay, node.number) {
                return;
            }
            self.end_iteration(context);
            let Some(node) = context.nodes.pop() else {
                return;
            };
            let count = &mut self.loops[node.number as usize - 1];
            count.most = count.most.max(node.bodies);
            count.work += self.work - node.work;
            // Where the condition is at the beginning, it has run once more than the body: the last turn is the one before.
            let last = if node.in_body { node.turn } else { node.former };
            let ended = Ended { number: node.number, start: node.start, end: context.now, last };
            if let Some(around) = context.nodes.last_mut() {
                around.ended.push(ended);
            }
            self.note(context, Step::Leave(node.number));
            self.pop_level(context, Child::Loop(node.number));
        }
    }

    /// A node of the tree is a task in some models.
    fn push_level(&mut self, context: &mut Context, is_task: impl Fn(&Run) -> bool) {
        if !context.is_first {
            context.levels.push([0; 9]);
            return;
        }
        let mut levels = [0; 9];
        for (run, level) in self.models.iter_mut().zip(&mut levels) {
            if is_task(run) {
                *level = small(run.depth()) + 1;
                run.begin();
            }
        }
        context.levels.push(levels);
    }

    fn pop_level(&mut self, context: &mut Context, child: Child) {
        let levels = context.levels.pop().unwrap_or([0; 9]);
        if !context.is_first {
            return;
        }
        for (run, level) in self.models.iter_mut().zip(levels) {
            if level != 0 {
                run.end(child);
            }
        }
    }

    /// Executes a segment, line by line.
    fn run(&mut self, context: &mut Context, info: &SegmentInfo, id: u32, accesses: &[Access]) {
        let (mut next, mut operations) = (0, 0);
        let (mut touches, last) = (0_usize, info.runs.len().saturating_sub(1));
        self.runs_of_current = small(info.runs.len());
        for (number, run) in info.runs.iter().enumerate() {
            context.now += 1;
            self.work += u64::from(run.cost);
            let branches = number == last && info.flags & flag::BRANCH != 0;
            self.line(context, info, id, small(number), branches);
            operations += run.operations;
            while let Some(access) = accesses.get(next).filter(|access| access.operation - info.first < operations) {
                next += 1;
                let site = info.sites + (access.operation - info.first);
                self.operation(context, site, access);
            }
            let end = (touches + run.touches as usize).min(info.touches.len());
            for (local, deed, site) in &info.touches[touches..end] {
                self.touch(context, *local, *deed, *site);
            }
            touches = end;
        }
        // Without lines: instrumented after optimisation.
        if info.runs.is_empty() {
            context.now += 1;
            self.work += 1 + accesses.len() as u64;
            for access in accesses {
                self.operation(context, info.sites + (access.operation - info.first), access);
            }
        }
    }

    /// A line begins: models, and what follows a call.
    fn line(&mut self, context: &mut Context, info: &SegmentInfo, id: u32, number: u32, branches: bool) {
        let run = info.runs[number as usize];
        let follows = std::mem::take(&mut context.follows);
        if follows != 0 {
            let line = self.source.places.get(follows as usize).map_or(0, |place| place.line);
            if line == run.line {
                context.follows = follows;
            } else {
                self.calls.entry(follows).or_default().next.insert(run.line);
            }
        }
        if !context.is_first {
            return;
        }
        let at = self.line_number(id, number);
        self.journal.note(Step::Line(at));
        let tail = if context.follows == 0 { 0 } else { follows };
        let is_awaited = self.awaited.get(id as usize).copied().unwrap_or(false);
        let waits = if is_awaited { self.waits.get(&(id, number)) } else { None };
        let levels = context.levels.last().copied().unwrap_or_default();
        let frame_levels =
            context.frames.last().and_then(|frame| context.levels.get(frame.node)).copied().unwrap_or_default();
        for ((run_of, level), frame_level) in self.models.iter_mut().zip(levels).zip(frame_levels) {
            run_of.line(run.line, branches);
            run_of.work(run.cost.into());
            if tail != 0 {
                run_of.tail(tail);
                if branches && run_of.model.control {
                    let level = run_of.depth() - 1;
                    run_of.depend(level, Child::Call(tail));
                }
            }
            if run_of.model.aggregated && !run_of.model.loops {
                for child in waits.into_iter().flatten() {
                    run_of.depend(frame_level.saturating_sub(1) as usize, *child);
                }
            }
            let _ = level;
        }
    }

    /// Number of a line of a segment in the journal.
    fn line_number(&mut self, id: u32, number: u32) -> u32 {
        let at = id as usize;
        if self.line_numbers.len() <= at {
            self.line_numbers.resize(at + 1, u32::MAX);
        }
        if self.line_numbers[at] == u32::MAX {
            self.line_numbers[at] = small(self.lines.len());
            // Its segment has been taken out: lines are as many as anybody asks for.
            for line in 0..=number.max(self.runs_of_current) {
                self.lines.push((id, line));
            }
        }
        self.line_numbers[at] + number
    }

    fn depart(&mut self, context: &mut Context, info: &SegmentInfo) {
        if info.flags & flag::CALL != 0 {
            let now = context.now + 1;
            let top = context.top();
            (top.pending, top.pending_since) = (Some((info.call, info.callee, 0)), now);
            let counted = self.calls.entry(info.call).or_default();
            (counted.function, counted.callee) = (info.function, info.callee);
            counted.count += 1;
        }
        if info.flags & flag::RETURN != 0 && info.flags & flag::CALL == 0 && context.frames.len() > 1 {
            self.leave(context);
        }
    }

    fn operation(&mut self, context: &mut Context, site: Site, access: &Access) {
        context.grow(site);
        if access.flags & operation::SCOPE != 0 {
            context.shadow.forget(access.address, access.size);
            return;
        }
        for (address, size) in Shadow::pieces(access.address, access.size) {
            self.access(context, address, size, site, access.mode);
        }
    }

    fn access(&mut self, context: &mut Context, address: u64, size: u64, site: Site, mode: Mode) {
        let floor = context.floor(address);
        let span = context.shadow.span(address, size);
        let mut before = (0, 0, 0);
        for place in span.cells() {
            let mut cell = *context.shadow.cell(place).0;
            if cell.writer != 0 && cell.written < floor {
                let readers = cell.readers;
                context.shadow.readers.drop_list(readers);
                cell = Cell::default();
            }
            // What neighbouring bytes have in common counts once.
            let same = before == (cell.written, cell.writer, 1) && cell.readers == 0;
            before = (cell.written, cell.writer, 1);
            let mut readers = std::mem::take(&mut context.shadow.readers);
            self.cell(context, &mut readers, &mut cell, floor, (site, mode, address), same);
            context.shadow.readers = readers;
            *context.shadow.cell(place).0 = cell;
        }
    }

    fn touch(&mut self, context: &mut Context, local: u32, deed: Deed, site: Site) {
        context.grow(site);
        let Some(cell) = context.top().locals.get_mut(local as usize) else {
            return;
        };
        let mut cell = std::mem::take(cell);
        let mut readers = std::mem::take(&mut context.local_readers);
        match deed {
            Deed::Begin => {
                readers.drop_list(cell.readers);
                cell = Cell::default();
            }
            Deed::Read => self.cell(context, &mut readers, &mut cell, 0, (site, Mode::Load, 0), false),
            Deed::Write => self.cell(context, &mut readers, &mut cell, 0, (site, Mode::Store, 0), false),
        }
        context.local_readers = readers;
        if let Some(place) = context.top().locals.get_mut(local as usize) {
            *place = cell;
        }
    }

    /// One access to one cell.
    fn cell(
        &mut self,
        context: &mut Context,
        readers: &mut Readers,
        cell: &mut Cell,
        floor: u64,
        (site, mode, address): (Site, Mode, u64),
        same: bool,
    ) {
        if mode != Mode::Store {
            let at = if cell.writer == 0 {
                self.expose(context, site, None);
                None
            } else if same {
                None
            } else {
                let at = common(&context.nodes, cell.written);
                self.found(context, Kind::Raw, (cell.writer, cell.written), (site, address), at);
                Some(at)
            };
            if at.is_some() {
                self.expose(context, site, at);
            }
            let function = self.source.sites.get(site as usize).map_or(u32::MAX, |site| site.function);
            note_read(context, readers, cell, (site, function));
        }
        if mode != Mode::Load {
            if cell.writer != 0 && !same {
                let at = common(&context.nodes, cell.written);
                self.found(context, Kind::Waw, (cell.writer, cell.written), (site, address), at);
            }
            let own = (mode == Mode::Update).then_some(site);
            self.readers(context, readers, cell.readers, (floor, own), (site, address));
            readers.drop_list(cell.readers);
            *cell = Cell { written: context.now, writer: site, readers: 0 };
        }
    }

    /// Write after read: reads of one site that lie in the same node of the tree are one.
    fn readers(
        &mut self,
        context: &mut Context,
        readers: &Readers,
        first: u32,
        (floor, own): (u64, Option<Site>),
        sink: (Site, u64),
    ) {
        let mut groups = std::mem::take(&mut context.groups);
        groups.clear();
        let mut at = first;
        while at != 0 {
            let reader = readers.get(at);
            at = reader.next;
            // Its own read in the same moment, and what is in frames that have been left, is none.
            if reader.last < floor || own == Some(reader.site) && reader.first == context.now {
                continue;
            }
            let node = common(&context.nodes, reader.last);
            let function = self.source.sites.get(reader.site as usize).map_or(u32::MAX, |site| site.function);
            let call = context.call_of(node, function, reader.last);
            let is_same = |(other, of): &&mut (Reader, Common)| {
                other.site == reader.site && *of == node && context.call_of(node, function, other.last) == call
            };
            match groups.iter_mut().find(is_same) {
                Some((other, _)) => {
                    other.first = other.first.min(reader.first);
                    other.last = other.last.max(reader.last);
                }
                None => groups.push((reader, node)),
            }
        }
        for (reader, node) in &groups {
            self.found_range(context, Kind::War, *reader, sink, *node);
        }
        context.groups = groups;
    }

    /// A read of a value from before the iterations that run.
    fn expose(&mut self, context: &mut Context, site: Site, at: Option<Common>) {
        let serial = context.nodes.last().map_or(0, |node| node.serial);
        let first = at.map_or(0, |at| if at.carried { at.node } else { at.node + 1 });
        let memo = &mut context.exposure[site as usize];
        if memo.0 == serial && memo.1 <= first {
            return;
        }
        *memo = (serial, first);
        for node in context.nodes.iter().skip(first).filter(|node| node.number != 0) {
            self.table.exposed.insert((site, node.number));
        }
    }

    fn found(&mut self, context: &mut Context, kind: Kind, source: (Site, u64), sink: (Site, u64), at: Common) {
        let reader = Reader { site: source.0, next: 0, first: source.1, last: source.1 };
        self.found_range(context, kind, reader, sink, at);
    }

    fn found_range(
        &mut self,
        context: &mut Context,
        kind: Kind,
        source: Reader,
        (sink, address): (Site, u64),
        at: Common,
    ) {
        let node = &context.nodes[at.node];
        let distances = if at.carried {
            let now = node.iteration;
            (now - node.iterations.at(source.last), now - node.iterations.at(source.first))
        } else {
            (0, 0)
        };
        let serial = node.serial;
        let memo = context.memo[sink as usize][way(kind, source.site)];
        let direct_only = context.frames.len() - 1 == node.frame && self.is_direct(context, node.frame, source.site);
        if memo.source == source.site
            && memo.serial == serial
            && memo.carried == at.carried
            && direct_only
            && !context.frames[node.frame].reentered
        {
            let instance = context.nodes[at.node].start;
            self.table.count(memo.record, (address, instance), distances);
            if context.is_first {
                if !memo.quiet {
                    let key = self.table.all[memo.record as usize].0;
                    self.wait(context, at, source, 0, &key);
                }
            }
            if kind == Kind::Raw {
                self.live_out(context, at, source);
            }
            return;
        }
        let frame = &context.frames[node.frame];
        let is_direct = self.is_direct(context, node.frame, source.site);
        let is_direct = is_direct && (!frame.reentered || frame.call_at(source.last) == 0);
        let source_call = if is_direct { 0 } else { frame.call_at(source.last) };
        let sink_call = context.frames.get(node.frame + 1).map_or(0, |inner| inner.call);
        let carrier = if at.carried { node.number } else { 0 };
        let function = frame.function;
        let key = Key { kind, source: source.site, sink, source_call, sink_call, carrier, function };
        let known = self.table.all.len();
        let record = self.table.record(key, address, node.iteration);
        self.table.count(record, (address, node.start), distances);
        if record as usize == known {
            let ended = &context.nodes[at.node].ended;
            let ended = ended.iter().rev().find(|ended| ended.start <= source.last && source.last <= ended.end);
            self.first_sight(&key, ended.map_or(0, |ended| ended.number));
        }
        if direct_only && is_direct {
            context.memo[sink as usize][way(kind, source.site)] = Memo {
                source: source.site,
                serial,
                record,
                carried: at.carried,
                quiet: self.is_quiet(context, at, &key),
            };
        }
        if kind == Kind::Raw {
            self.live_out(context, at, source);
        }
        if context.is_first {
            self.wait(context, at, source, source_call, &key);
        }
    }

    fn is_direct(&self, context: &Context, frame: usize, site: Site) -> bool {
        let function = self.source.sites.get(site as usize).map_or(u32::MAX, |site| site.function);
        context.frames.get(frame).is_some_and(|frame| frame.function == function)
    }

    /// A dependence that was not known: what the aggregated models wait for, and which loops are serial.
    fn first_sight(&mut self, key: &Key, ended: u32) {
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
    fn is_quiet(&self, context: &Context, at: Common, key: &Key) -> bool {
        let Some(site) = self.source.sites.get(key.source as usize) else {
            return false;
        };
        let node = &context.nodes[at.node];
        let steps = || {
            let inductions = self.source.loops.get((node.number as usize).wrapping_sub(1)).map(|each| &each.inductions);
            site.local != 0 && inductions.is_some_and(|all| all.iter().any(|each| each.local + 1 == site.local))
        };
        let free = !at.carried || key.kind != Kind::Raw || steps();
        let line = |site: Site| {
            let place = self.source.sites.get(site as usize).map_or(0, |site| site.place);
            self.source.places.get(place as usize).map_or(0, |place| place.line)
        };
        site.tail == 0 && free && node.ended.is_empty() && (at.carried || line(key.source) == line(key.sink))
    }

    /// Models wait for the source of a dependence.
    fn wait(&mut self, context: &Context, at: Common, source: Reader, source_call: PlaceId, key: &Key) {
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
        let tail = from.map_or(0, |site| site.tail);
        let call = if source_call != 0 { source_call } else { tail };
        let ended = node.ended.iter().rev().find(|ended| ended.start <= source.last && source.last <= ended.end);
        let frame = context.frames[node.frame].node;
        for (number, run) in self.models.iter_mut().enumerate() {
            if run.model.reductions && reduction && at.carried {
                continue;
            }
            if !run.model.loops {
                let level = context.levels[frame][number].saturating_sub(1) as usize;
                if call != 0 {
                    run.depend(level, Child::Call(call));
                }
                if source_call == 0 && run.model.hoist {
                    run.depend(level, Child::Line(line));
                }
                continue;
            }
            // The innermost level that the node is in, which may be transparent.
            let own = context.levels[at.node][number];
            let is_task = own != 0;
            let level = context.levels[..=at.node].iter().rev().map(|levels| levels[number]).find(|level| *level != 0);
            let level = level.unwrap_or(1).saturating_sub(1) as usize;
            if at.carried && is_task {
                if !steps && !names_only {
                    run.depend(level, Child::Iteration);
                }
                continue;
            }
            // In a loop, children belong to the iteration.
            let level = if is_task && node.number != 0 { level + 1 } else { level };
            if call != 0 {
                run.depend(level, Child::Call(call));
            } else if let Some(ended) = ended {
                run.depend(level, Child::Loop(ended.number));
            } else if run.model.hoist {
                run.depend(level, Child::Line(line));
            }
        }
    }

    /// A value that a loop has written is read after it.
    fn live_out(&mut self, context: &Context, at: Common, source: Reader) {
        let node = &context.nodes[at.node];
        let site = source.site;
        let in_loop = self.source.sites.get(site as usize).map_or(0, |site| site.in_loop);
        if in_loop == 0 && node.ended.is_empty() || !at.carried && in_loop == node.number {
            return;
        }
        let after = node.ended.partition_point(|ended| ended.start <= source.last);
        let ended = after.checked_sub(1).and_then(|at| node.ended.get(at)).filter(|ended| source.last <= ended.end);
        let outermost = if at.carried {
            None
        } else if let Some(ended) = ended {
            let entry = self.table.live_out.entry((site, ended.number)).or_default();
            if source.last >= ended.last {
                entry.last = true;
            } else {
                entry.other = true;
            }
            Some(ended.number)
        } else {
            return;
        };
        // Loops in between: from which of their iterations it comes is not known any more.
        let (mut inner, stop) = (in_loop, outermost.unwrap_or(node.number));
        while inner != 0 && inner != stop && self.source.is_within(inner, stop) {
            self.table.live_out.entry((site, inner)).or_default().other = true;
            inner = self.source.loops.get(inner as usize - 1).map_or(0, |each| each.parent);
        }
    }
}

impl Context {
    fn top(&mut self) -> &mut Frame {
        let last = self.frames.len() - 1;
        &mut self.frames[last]
    }

    fn push_node(&mut self, number: u32, frame: usize) {
        self.serials += 1;
        let now = self.now + 1;
        let now = if self.nodes.is_empty() { 0 } else { now };
        let serial = self.serials;
        self.nodes.push(Node { start: now, turn: now, former: now, number, frame, serial, ..Node::default() });
    }

    fn grow(&mut self, site: Site) {
        let needed = site as usize + 1;
        if self.memo.len() < needed {
            self.memo.resize(needed + 64, Default::default());
            self.exposure.resize(needed + 64, (0, 0));
        }
    }

    /// The call of a node's frame that was running at a moment.
    fn call_of(&self, at: Common, function: u32, moment: u64) -> PlaceId {
        let frame = self.nodes.get(at.node).and_then(|node| self.frames.get(node.frame));
        let frame = frame.filter(|frame| frame.function != function || frame.reentered);
        frame.map_or(0, |frame| frame.call_at(moment))
    }

    /// What an address held before this moment belongs to a frame that has been left.
    fn floor(&self, address: u64) -> u64 {
        if address >= self.root_address || self.root_address - address > STACK {
            return 0;
        }
        for frame in self.frames.iter().rev() {
            if frame.address > address {
                return self.nodes.get(frame.node).map_or(0, |node| node.start);
            }
        }
        0
    }
}

/// Adds a read to those since the last write.
fn note_read(context: &Context, readers: &mut Readers, cell: &mut Cell, (site, function): (Site, u32)) {
    let now = context.now;
    let turn = context.nodes.last().map_or(0, |node| node.turn);
    // The list is in the order of time, the latest first; three groups of the site at most matter.
    let (mut latest, mut older, mut before_older) = (0, 0, 0);
    let (mut at, mut before) = (cell.readers, 0);
    while at != 0 {
        let reader = readers.get(at);
        if reader.site == site {
            if latest == 0 {
                if reader.first >= turn {
                    readers.set(at, Reader { last: now, ..reader });
                    return;
                }
                latest = at;
            } else {
                (older, before_older) = (at, before);
                break;
            }
        }
        (before, at) = (at, reader.next);
    }
    if older != 0 {
        let (new, old) = (readers.get(latest), readers.get(older));
        let at = common(&context.nodes, new.first);
        if at == common(&context.nodes, old.last)
            && context.call_of(at, function, new.first) == context.call_of(at, function, old.last)
        {
            readers.set(latest, Reader { first: old.first, ..new });
            readers.unlink(before_older, older, cell);
        }
    }
    cell.readers = readers.add(Reader { site, next: cell.readers, first: now, last: now });
}

impl Consumer for Engine {
    fn segment(&mut self, executed: Executed<'_>, accesses: &[Access]) {
        let at = executed.context as usize;
        if self.contexts.len() <= at {
            self.contexts.resize_with(at + 1, || None);
        }
        let new = || Box::new(Context { is_first: at == 0, ..Context::default() });
        let mut context = self.contexts[at].take().unwrap_or_else(new);
        self.step(&mut context, &executed, accesses);
        self.contexts[at] = Some(context);
    }

    fn control(&mut self, context: u32, control: Control) {
        if control.kind == ControlKind::Allocate {
            let [address, size, ..] = control.slots;
            if let Some(context) = self.contexts.get_mut(context as usize).and_then(Option::as_mut) {
                context.shadow.forget(address, size);
            }
        }
    }
}

const _: () = assert!(STATES.len() < 8);
