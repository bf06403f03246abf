//! Work and span of the task models by recursion over the whole tree, from the definitions in `docs/methods/dependences.md`.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use workspan_depend::models::{Model, LATER, MODELS};
use workspan_depend::source::Source;
use workspan_depend::table::Kind;
use workspan_trace::program::flag;

use super::tree::{Dependence, Item, NodeId, Tree, What};

/// What a task waits for within a task around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Child {
    Call(u32),
    Loop(u32),
    Iterations,
    Line(u32),
}

#[derive(Default)]
struct State {
    own: u64,
    end: u64,
    need: u64,
    condition: u64,
    ready: BTreeMap<Child, u64>,
    line_start: u64,
    /// When all was ready that the line waited for.
    line_need: u64,
    /// Line, when it is ready, whether it ends with a condition.
    open: Option<(u32, u64, bool)>,
}

impl State {
    fn close(&mut self) {
        if let Some((line, finish, branches)) = self.open.take() {
            self.raise(Child::Line(line), finish);
            if branches {
                self.condition = self.condition.max(finish);
            }
        }
    }

    fn raise(&mut self, child: Child, finish: u64) {
        let ready = self.ready.entry(child).or_default();
        *ready = finish.max(*ready);
        self.end = self.end.max(finish);
    }
}

struct Slow<'t> {
    tree: &'t Tree<'t>,
    source: &'t Source,
    serial: BTreeSet<u32>,
    model: Model,
    waits: Vec<BTreeSet<(NodeId, Child)>>,
    states: HashMap<NodeId, State>,
    granularity: u64,
    /// By place, calls and instructions in them: of the whole run, or of those that have ended.
    sizes: BTreeMap<u32, Size>,
    is_later: bool,
}

/// Calls of a place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Size {
    pub(super) calls: u64,
    pub(super) length: u64,
    /// Instructions that follow before something waits, of all together.
    pub(super) continuation: u64,
    /// The largest of either.
    pub(super) longest: (u64, u64),
}

/// What calls take and what follows them, by place.
pub(super) fn sizes(tree: &Tree<'_>, source: &Source) -> BTreeMap<u32, Size> {
    let waits = Slow::new(tree, source, 0, BTreeSet::new()).aggregated();
    let mut found: BTreeMap<u32, Size> = BTreeMap::new();
    for (id, node) in tree.nodes.iter().enumerate() {
        let What::Call(place) = node.what else { continue };
        let is_within = |at: usize| tree.nodes[tree.lines[at].node].path.contains(&id);
        let Some(first) = (0..tree.lines.len()).find(|at| is_within(*at)) else { continue };
        let end = (first..tree.lines.len()).find(|at| !is_within(*at)).unwrap_or(tree.lines.len());
        let size = found.entry(place).or_default();
        size.calls += 1;
        let length = tree.lines[first..end].iter().map(|line| line.cost).sum::<u64>();
        size.length += length;
        size.longest.0 = size.longest.0.max(length);
        let Some(around) = node.path.len().checked_sub(2).map(|at| tree.frame(node.path[at])) else { continue };
        let follows = (end..tree.lines.len()).take_while(|at| {
            let runs = tree.nodes[tree.lines[*at].node].path.contains(&around);
            runs && !waits[*at].contains(&(around, Child::Call(place)))
        });
        let continuation = follows.map(|at| tree.lines[at].cost).sum::<u64>();
        size.continuation += continuation;
        size.longest.1 = size.longest.1.max(continuation);
    }
    found
}

/// The span of each model.
pub(super) fn spans(tree: &Tree<'_>, source: &Source, granularity: u64) -> Vec<u64> {
    let serial: BTreeSet<u32> = all(tree)
        .filter(|found| found.carried && found.kind == Kind::Raw && !steps(tree, source, found))
        .map(|found| loop_of(tree, found.common))
        .collect();
    let sizes = if granularity > 0 { sizes(tree, source) } else { BTreeMap::new() };
    let span = |(number, model): (usize, &Model)| {
        let mut slow = Slow::new(tree, source, number, serial.clone());
        slow.granularity = if model.lines { 0 } else { granularity };
        slow.waits = if slow.is_later { slow.aggregated() } else { slow.at_once() };
        if slow.is_later {
            slow.sizes.clone_from(&sizes);
        }
        slow.span(0)
    };
    MODELS.iter().enumerate().map(span).collect()
}

fn all<'t>(tree: &'t Tree<'_>) -> impl Iterator<Item = &'t Dependence> {
    tree.lines.iter().flat_map(|line| &line.dependences)
}

fn loop_of(tree: &Tree<'_>, node: NodeId) -> u32 {
    match tree.nodes[node].what {
        What::Loop(number) => number,
        _ => 0,
    }
}

/// The source is a counter of the loop that carries it.
fn steps(tree: &Tree<'_>, source: &Source, found: &Dependence) -> bool {
    let local = source.sites[found.source as usize].local;
    let inductions = &source.loops[loop_of(tree, found.common) as usize - 1].inductions;
    local != 0 && inductions.iter().any(|each| each.local + 1 == local)
}

impl<'t> Slow<'t> {
    fn new(tree: &'t Tree<'t>, source: &'t Source, number: usize, serial: BTreeSet<u32>) -> Slow<'t> {
        let (waits, states, sizes) = (Vec::new(), HashMap::new(), BTreeMap::new());
        let (model, is_later) = (MODELS[number], LATER & 1 << number != 0);
        Slow { tree, source, serial, model, waits, states, granularity: 0, sizes, is_later }
    }

    /// A call of a place, which ends, is too small to be a task.
    fn is_small(&mut self, place: u32, node: NodeId) -> bool {
        if self.granularity == 0 {
            return false;
        }
        if !self.is_later {
            let own = self.tree.lines.iter().filter(|line| self.tree.nodes[line.node].path.contains(&node));
            let length: u64 = own.map(|line| line.cost).sum();
            let size = self.sizes.entry(place).or_default();
            (size.calls, size.length) = (size.calls + 1, size.length + length);
            return size.length / size.calls < self.granularity;
        }
        let size = self.sizes[&place];
        (size.length / size.calls).min(size.continuation / size.calls) < self.granularity
    }

    fn is_task(&self, node: NodeId) -> bool {
        let path = &self.tree.nodes[node].path;
        let number = match self.tree.nodes[node].what {
            What::Call(_) => return true,
            What::Loop(number) => number,
            What::Iteration => loop_of(self.tree, path[path.len() - 2]),
        };
        self.model.loops && !(self.model.parallel_only && self.serial.contains(&number))
    }

    /// Tasks that a node lies in, or is.
    fn tasks(&self, node: NodeId) -> Vec<NodeId> {
        self.tree.nodes[node].path.iter().copied().filter(|node| self.is_task(*node)).collect()
    }

    fn call(&self, found: &Dependence) -> u32 {
        if found.source_call != 0 {
            return found.source_call;
        }
        self.source.sites[found.source as usize].tail
    }

    /// What a line waits for because of a dependence.
    fn of(&self, found: &Dependence) -> Vec<(NodeId, Child)> {
        let (tree, model, call) = (self.tree, self.model, self.call(found));
        let site = |site: u32| &self.source.sites[site as usize];
        let update = site(found.source).update;
        if model.reductions && found.carried && update != 0 && site(found.sink).update == update {
            return Vec::new();
        }
        let line = self.source.places[site(found.source).place as usize].line;
        let frame = tree.frame(found.common);
        if model.loops && found.carried {
            let counts = found.kind == Kind::Raw && !steps(tree, self.source, found);
            return if counts { vec![(found.common, Child::Iterations)] } else { Vec::new() };
        }
        let mut waits = Vec::new();
        let around = if model.loops { found.common } else { frame };
        if model.loops && found.ended != 0 {
            return vec![(around, Child::Loop(found.ended))];
        }
        if call != 0 {
            waits.push((around, Child::Call(call)));
        }
        // Of lines, counters and names that iterations share do not count.
        let is_private = found.carried && (found.kind != Kind::Raw || steps(tree, self.source, found));
        if model.hoist && found.source_call == 0 && !is_private && !found.is_own {
            waits.push((around, Child::Line(line)));
        }
        waits
    }

    /// Lines of the program that have a dependence when they run: segment and number.
    fn sinks(&self, found: &Dependence) -> Vec<(u32, u32)> {
        if found.sink_call == 0 {
            return vec![self.source.sites[found.sink as usize].segment];
        }
        let all = (0..).zip(&self.source.segments);
        let calls = all.filter(|(_, info)| info.call == found.sink_call && info.flags & flag::CALL != 0);
        calls.map(|(id, info)| (id, u32::try_from(info.runs.len()).expect("few") - 1)).collect()
    }

    /// Models that take dependences as they come.
    fn at_once(&self) -> Vec<BTreeSet<(NodeId, Child)>> {
        let mut known: BTreeMap<(u32, u32), BTreeSet<Child>> = BTreeMap::new();
        let mut all = Vec::new();
        for line in &self.tree.lines {
            let innermost = *self.tasks(line.node).last().expect("the root");
            let mut waits: BTreeSet<(NodeId, Child)> =
                line.dependences.iter().flat_map(|found| self.of(found)).collect();
            if line.tail != 0 && (self.model.lines || line.branches && self.model.control) {
                waits.insert((innermost, Child::Call(line.tail)));
            }
            if self.model.aggregated && !self.model.loops {
                let frame = self.tree.frame(line.node);
                let seen = known.get(&(line.segment, line.number)).into_iter().flatten();
                waits.extend(seen.map(|child| (frame, *child)));
                for found in line.dependences.iter().filter(|found| self.call(found) != 0) {
                    for sink in self.sinks(found) {
                        known.entry(sink).or_default().insert(Child::Call(self.call(found)));
                    }
                }
            }
            all.push(waits);
        }
        all
    }

    /// Models that know all dependences before they begin.
    fn aggregated(&self) -> Vec<BTreeSet<(NodeId, Child)>> {
        let mut known: BTreeMap<(u32, u32), BTreeSet<Child>> = BTreeMap::new();
        for found in all(self.tree) {
            for sink in self.sinks(found) {
                let children = known.entry(sink).or_default();
                if self.call(found) != 0 {
                    children.insert(Child::Call(self.call(found)));
                }
                if found.ended != 0 && self.model.loops {
                    children.insert(Child::Loop(found.ended));
                }
            }
        }
        let waits = self.tree.lines.iter().map(|line| {
            let frame = self.tree.frame(line.node);
            let tasks = self.tasks(line.node);
            let mut waits = BTreeSet::new();
            for child in known.get(&(line.segment, line.number)).into_iter().flatten() {
                waits.extend(tasks.iter().filter(|task| **task >= frame).map(|task| (*task, *child)));
            }
            if line.tail != 0 && line.branches && self.model.control {
                waits.insert((tasks[tasks.len() - 1], Child::Call(line.tail)));
            }
            waits
        });
        waits.collect()
    }

    /// The span of a task.
    fn span(&mut self, task: NodeId) -> u64 {
        self.states.insert(task, State::default());
        self.items(task, task);
        let state = self.states.get_mut(&task).expect("it runs");
        state.close();
        state.own.max(state.end)
    }

    fn items(&mut self, task: NodeId, node: NodeId) {
        let tree = self.tree;
        for item in &tree.nodes[node].items {
            match *item {
                Item::Line(line) => self.line(task, line),
                Item::Node(inner) if self.is_task(inner) => self.child(task, inner),
                Item::Node(inner) => self.items(task, inner),
            }
        }
    }

    fn line(&mut self, task: NodeId, number: usize) {
        let (line, model) = (&self.tree.lines[number], self.model);
        let tasks = self.tasks(line.node);
        let state = self.states.get_mut(&task).expect("it runs");
        state.close();
        let mut start = match () {
            () if !model.lines => state.own,
            () if model.control => state.condition,
            () => 0,
        };
        let mut need = 0;
        for (around, child) in std::mem::take(&mut self.waits[number]) {
            let ready = self.states[&around].ready.get(&child).copied().unwrap_or(0);
            if around == task {
                (start, need) = (start.max(ready), need.max(ready));
            } else {
                let below = tasks.iter().position(|each| *each == around).expect("around") + 1;
                let below = self.states.get_mut(&tasks[below]).expect("it runs");
                below.need = below.need.max(ready);
            }
        }
        let state = self.states.get_mut(&task).expect("it runs");
        if line.tail != 0 {
            // The line of the call before it goes on: what it has waited for is needed still.
            need = need.max(state.line_need);
            start = if model.lines { start.max(state.line_start) } else { start };
        }
        let finish = start + line.cost;
        (state.line_start, state.line_need) = (start, need);
        if model.hoist && (line.line != 0 || line.branches) {
            state.open = Some((line.line, finish, line.branches));
        }
        state.own = if model.lines { state.end.max(finish) } else { finish };
    }

    fn child(&mut self, task: NodeId, inner: NodeId) {
        let (span, model) = (self.span(inner), self.model);
        let need = self.states.remove(&inner).expect("it ran").need;
        let child = match self.tree.nodes[inner].what {
            What::Call(place) => Child::Call(place),
            What::Loop(number) => Child::Loop(number),
            What::Iteration => Child::Iterations,
        };
        let is_small = matches!(child, Child::Call(place) if self.is_small(place, inner));
        let state = self.states.get_mut(&task).expect("it runs");
        if is_small {
            state.own = state.own.max(need) + span;
            let finish = state.own;
            if let Some((_, ready, _)) = &mut state.open {
                // The line has not ended before.
                *ready = finish;
            }
            state.raise(child, finish);
            return;
        }
        let started = if model.hoist {
            // No call begins before the values are there that its line gives it.
            let line = if model.lines { state.line_start } else { state.line_need };
            need.max(line).max(if model.control { state.condition } else { 0 })
        } else {
            state.own = state.own.max(need);
            state.own
        };
        state.raise(child, started + span);
    }
}
