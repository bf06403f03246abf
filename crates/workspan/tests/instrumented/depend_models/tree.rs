//! The execution tree of a recording, whole, and all dependences between its lines, from the definition: nothing is forgotten or joined.

use std::collections::HashMap;

use workspan_depend::source::{SegmentInfo, Source};
use workspan_depend::table::Kind;
use workspan_depend::touches::Action;
use workspan_graph::events::Access;
use workspan_trace::program::{flag, operation, Access as Mode};

pub(super) type NodeId = usize;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// A call, of a place.
    Call(u32),
    /// A loop, by number + 1.
    Loop(u32),
    Iteration,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Item {
    Node(NodeId),
    Line(usize),
}

#[derive(Debug)]
pub(super) struct Node {
    pub(super) what: What,
    pub(super) function: u32,
    /// Nodes from the root to this one.
    pub(super) path: Vec<NodeId>,
    pub(super) items: Vec<Item>,
}

/// A line of a segment, as it was executed once.
#[derive(Clone, Debug)]
pub(super) struct Line {
    pub(super) node: NodeId,
    pub(super) segment: u32,
    pub(super) number: u32,
    pub(super) line: u32,
    pub(super) cost: u64,
    pub(super) branches: bool,
    /// The call on the same line whose result may be in use.
    pub(super) tail: u32,
    pub(super) dependences: Vec<Dependence>,
}

/// A dependence of a line on something before.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dependence {
    pub(super) kind: Kind,
    pub(super) source: u32,
    pub(super) sink: u32,
    /// Node that both lie in; of a loop that carries it, the loop.
    pub(super) common: NodeId,
    pub(super) carried: bool,
    /// The call of the common frame that the earlier access happened in, and the later one; 0: none.
    pub(super) source_call: u32,
    pub(super) sink_call: u32,
    /// The loop that ended in between, + 1.
    pub(super) ended: u32,
    /// Both are in the same run of the same line.
    pub(super) is_own: bool,
}

#[derive(Clone, Copy, Debug)]
struct Seen {
    site: u32,
    node: NodeId,
    line: usize,
}

#[derive(Default)]
struct Memory {
    write: Option<Seen>,
    reads: Vec<Seen>,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Place {
    Byte(u64),
    Local(NodeId, u32),
}

/// The tree, as it grows.
pub(super) struct Tree<'s> {
    source: &'s Source,
    pub(super) nodes: Vec<Node>,
    pub(super) lines: Vec<Line>,
    current: NodeId,
    memory: HashMap<Place, Memory>,
    /// Of each frame the call that it makes; the call that a line follows.
    pending: HashMap<NodeId, u32>,
    follows: u32,
}

impl<'s> Tree<'s> {
    pub(super) fn new(source: &'s Source) -> Tree<'s> {
        let root = Node { what: What::Call(0), function: u32::MAX, path: vec![0], items: Vec::new() };
        let (nodes, lines, memory, pending) = (vec![root], Vec::new(), HashMap::new(), HashMap::new());
        Tree { source, nodes, lines, current: 0, memory, pending, follows: 0 }
    }

    pub(super) fn segment(&mut self, id: u32, accesses: &[Access]) {
        let info = &self.source.segments[id as usize];
        self.arrive(info);
        let (mut next, mut operations, mut touches) = (0, 0, info.touches.iter());
        for (number, run) in (0..).zip(&info.runs) {
            let of_call = self.source.places[self.follows as usize].line;
            if self.follows != 0 && of_call != run.line {
                self.follows = 0;
            }
            let is_last = number as usize + 1 == info.runs.len();
            let branches = is_last && info.flags & flag::BRANCH != 0;
            let (node, tail) = (self.current, self.follows);
            self.nodes[node].items.push(Item::Line(self.lines.len()));
            let (line, cost) = (run.line, run.cost.into());
            self.lines.push(Line { node, segment: id, number, line, cost, branches, tail, dependences: Vec::new() });
            operations += run.operations;
            while let Some(access) = accesses.get(next).filter(|access| access.operation - info.first < operations) {
                next += 1;
                assert_eq!(
                    access.flags & (operation::SCOPE | operation::LIBRARY),
                    0,
                    "no such thing in these programs"
                );
                let site = info.sites + (access.operation - info.first);
                for byte in access.address..access.address + access.size {
                    self.access(Place::Byte(byte), access.mode == Mode::Store, site);
                }
            }
            for (local, deed, site) in touches.by_ref().take(run.touches as usize) {
                let place = Place::Local(self.frame(self.current), *local);
                match deed {
                    Action::Begin => drop(self.memory.remove(&place)),
                    Action::Read | Action::Look => self.access(place, false, *site),
                    Action::Write => self.access(place, true, *site),
                }
            }
        }
        if info.flags & flag::CALL != 0 {
            let frame = self.frame(self.current);
            self.pending.insert(frame, info.call);
        } else if info.flags & flag::RETURN != 0 {
            let frame = self.frame(self.current);
            let path = &self.nodes[frame].path;
            self.current = path[path.len().saturating_sub(2)];
            let around = self.frame(self.current);
            self.follows = self.pending.remove(&around).unwrap_or(0);
        }
    }

    /// The frame that a node lies in.
    pub(super) fn frame(&self, node: NodeId) -> NodeId {
        let is_call = |node: &&NodeId| matches!(self.nodes[**node].what, What::Call(_));
        *self.nodes[node].path.iter().rev().find(is_call).expect("the root is a call")
    }

    fn push(&mut self, what: What, function: u32) {
        let id = self.nodes.len();
        let mut path = self.nodes[self.current].path.clone();
        path.push(id);
        self.nodes.push(Node { what, function, path, items: Vec::new() });
        self.nodes[self.current].items.push(Item::Node(id));
        self.current = id;
    }

    fn pop(&mut self) {
        let path = &self.nodes[self.current].path;
        self.current = path[path.len() - 2];
    }

    fn arrive(&mut self, info: &SegmentInfo) {
        if info.flags & flag::ENTRY != 0 {
            let frame = self.frame(self.current);
            let place = self.pending.get(&frame).copied().unwrap_or(0);
            self.push(What::Call(place), info.function);
            self.follows = 0;
        }
        assert_eq!(self.nodes[self.frame(self.current)].function, info.function, "calls begin and end");
        let innermost = |tree: &Tree<'_>| {
            let node = &tree.nodes[tree.current];
            let around = node.path.len().checked_sub(2).map(|at| tree.nodes[node.path[at]].what);
            match (node.what, around) {
                (What::Iteration, Some(What::Loop(number))) => number,
                _ => 0,
            }
        };
        while innermost(self) != 0 && !self.source.is_within(info.in_loop, innermost(self)) {
            self.pop();
            self.pop();
        }
        let mut missing = Vec::new();
        let mut at = info.in_loop;
        while at != 0 && at != innermost(self) {
            missing.push(at);
            at = self.source.loops[at as usize - 1].parent;
        }
        for number in missing.iter().rev() {
            self.push(What::Loop(*number), info.function);
            self.push(What::Iteration, info.function);
        }
        if missing.is_empty() && info.in_loop != 0 && info.flags & flag::HEADER != 0 {
            self.pop();
            self.push(What::Iteration, info.function);
        }
    }

    fn access(&mut self, place: Place, is_write: bool, site: u32) {
        let mut memory = self.memory.remove(&place).unwrap_or_default();
        let now = Seen { site, node: self.current, line: self.lines.len() - 1 };
        let kind = if is_write { Kind::Waw } else { Kind::Raw };
        if let Some(before) = memory.write {
            self.depends(kind, before, now);
        }
        if is_write {
            for read in std::mem::take(&mut memory.reads) {
                self.depends(Kind::War, read, now);
            }
            memory.write = Some(now);
        } else {
            memory.reads.push(now);
        }
        self.memory.insert(place, memory);
    }

    fn depends(&mut self, kind: Kind, from: Seen, to: Seen) {
        let (a, b) = (&self.nodes[from.node].path, &self.nodes[to.node].path);
        let shared = a.iter().zip(b).take_while(|(a, b)| a == b).count();
        let common = a[shared - 1];
        let carried = matches!(self.nodes[common].what, What::Loop(_));
        let call = |path: &[NodeId]| {
            let place = |node: &NodeId| match self.nodes[*node].what {
                What::Call(place) => Some(place),
                _ => None,
            };
            path[shared..].iter().find_map(place).unwrap_or(0)
        };
        let ended = match a.get(shared).map(|node| self.nodes[*node].what) {
            Some(What::Loop(number)) => number,
            _ => 0,
        };
        let (source_call, sink_call) = (call(a), call(b));
        let (source, sink) = (from.site, to.site);
        let is_own = from.line == to.line;
        let found = Dependence { kind, source, sink, common, carried, source_call, sink_call, ended, is_own };
        let line = self.lines.len() - 1;
        self.lines[line].dependences.push(found);
    }
}
