//! Where the ways of a branch merge again: post-dominators of the control flow that was seen so far.
//!
//! The graph has the instructions that ran as nodes, and an edge where one followed the other in the same call; from a call
//! an edge leads to where it returned. An instruction that no edge leaves ends its function, as far as anybody knows. The
//! first instruction that is on all ways from a branch to such an end is where its ways merge. Of a branch in code that has
//! not been seen to end, everything up to the end of its call is taken to depend.
//!
//! Dependences are those at the time: what a branch holds back can only grow as new ways are seen. The first times that a
//! branch runs may therefore hold back too little, once for each edge of the program's code.
//!
//! **Cost**: an edge that is new makes the answers of its function's branches out of date; each is computed again when its
//! branch runs next, in time that is linear in the function, but for loops in loops.

use std::collections::HashMap;

use crate::op::{Flow, Op};
use crate::row::{Lane, Row};

/// No instruction.
const NONE: u32 = 0;

/// The graph, and what is known of its branches.
#[derive(Debug, Default)]
pub struct Merges {
    nodes: Vec<Node>,
    /// For each instruction, true if ways of some branch merge there.
    ends: Vec<bool>,
    /// Third and later successors.
    more: HashMap<u32, Vec<u32>>,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    next: [u32; 2],
    /// Another node of the same function, or itself.
    group: u32,
    /// Edges of the function, if this stands for it.
    version: u32,
    /// Where its ways merge, when the function had this number of edges.
    merge: u32,
    merged_at: u32,
}

const UNKNOWN: u32 = u32::MAX;

impl Merges {
    /// Instructions that follow one another, unless they change control.
    pub fn learn(&mut self, ops: &[Op]) {
        for pair in ops.windows(2) {
            if pair[0].flow == Flow::Next {
                self.add(pair[0].id, pair[1].id);
            }
        }
    }

    /// True if ways of some branch merge at an instruction.
    #[inline(always)]
    pub fn is_end(&self, id: u32) -> bool {
        self.ends.get(id as usize).is_some_and(|end| *end)
    }

    /// Control went from one instruction to another; a branch opens a region, unless its ways merge right there. True if
    /// what holds back has changed.
    #[inline(always)]
    pub fn edge<L: Lane, const N: usize>(
        &mut self,
        from: u32,
        flow: Flow,
        to: u32,
        regions: &mut Regions<L, N>,
        row: &Row<L, N>,
    ) -> bool {
        match flow {
            Flow::Call | Flow::IndirectCall => {
                regions.calls.push(from);
                return false;
            }
            Flow::Return => {
                let level = regions.calls.len();
                while regions.open.last().is_some_and(|region| region.level >= level) {
                    regions.open.pop();
                }
                if let Some(call) = regions.calls.pop() {
                    self.add(call, to);
                }
                return true;
            }
            Flow::Next | Flow::Branch | Flow::Indirect => self.add(from, to),
        }
        if flow == Flow::Next || self.nodes[from as usize].next[1] == NONE {
            return false;
        }
        let end = self.merge(from);
        if end != to {
            regions.open(end, row);
        }
        end != to
    }

    #[inline(always)]
    fn add(&mut self, from: u32, to: u32) {
        if let Some(node) = self.nodes.get(from as usize) {
            if node.next[0] == to || node.next[1] == to {
                return;
            }
        }
        self.add_slowly(from, to);
    }

    #[cold]
    fn add_slowly(&mut self, from: u32, to: u32) {
        let most = from.max(to) as usize;
        for id in self.nodes.len()..=most {
            let group = u32::try_from(id).unwrap_or(0);
            self.nodes.push(Node { next: [NONE; 2], group, version: 0, merge: NONE, merged_at: UNKNOWN });
            self.ends.push(false);
        }
        let node = &mut self.nodes[from as usize];
        if let Some(place) = node.next.iter_mut().find(|place| **place == NONE) {
            *place = to;
        } else {
            let more = self.more.entry(from).or_default();
            if more.contains(&to) {
                return;
            }
            more.push(to);
        }
        let (a, b) = (self.group(from), self.group(to));
        let version = self.nodes[a as usize].version.max(self.nodes[b as usize].version) + 1;
        self.nodes[a as usize].group = b;
        self.nodes[b as usize].version = version;
    }

    #[inline]
    fn group(&mut self, mut id: u32) -> u32 {
        while self.nodes[id as usize].group != id {
            let above = self.nodes[self.nodes[id as usize].group as usize].group;
            self.nodes[id as usize].group = above;
            id = above;
        }
        id
    }

    /// Where the ways of a branch merge; [`NONE`] if not before its call ends.
    fn merge(&mut self, branch: u32) -> u32 {
        let group = self.group(branch);
        let version = self.nodes[group as usize].version;
        let node = &self.nodes[branch as usize];
        if node.merged_at == version {
            return node.merge;
        }
        self.compute(branch, version);
        self.nodes[branch as usize].merge
    }

    fn successors(&self, id: u32) -> impl Iterator<Item = u32> + '_ {
        let near = self.nodes[id as usize].next;
        let more = self.more.get(&id).filter(|_| near[1] != NONE);
        near.into_iter().filter(|next| *next != NONE).chain(more.into_iter().flatten().copied())
    }

    /// Post-dominators of everything that can be reached from a branch (Cooper, Harvey and Kennedy).
    fn compute(&mut self, branch: u32, version: u32) {
        // All that can be reached; place 0 is the end.
        let mut place: HashMap<u32, usize> = HashMap::from([(branch, 1)]);
        let mut ids = vec![NONE, branch];
        let mut before: Vec<Vec<usize>> = vec![Vec::new(), Vec::new()];
        let mut after: Vec<Vec<usize>> = vec![Vec::new(), Vec::new()];
        let mut at = 1;
        while at < ids.len() {
            let next: Vec<u32> = self.successors(ids[at]).collect();
            if next.is_empty() {
                before[0].push(at);
                after[at].push(0);
            }
            for id in next {
                let to = *place.entry(id).or_insert_with(|| {
                    ids.push(id);
                    before.push(Vec::new());
                    after.push(Vec::new());
                    ids.len() - 1
                });
                before[to].push(at);
                after[at].push(to);
            }
            at += 1;
        }
        // From the end backwards, deepest first.
        let mut order = Vec::with_capacity(ids.len());
        let mut number = vec![usize::MAX; ids.len()];
        let mut seen = vec![false; ids.len()];
        let mut open = vec![(0, 0)];
        seen[0] = true;
        while let Some((node, edge)) = open.pop() {
            if let Some(from) = before[node].get(edge) {
                open.push((node, edge + 1));
                if !std::mem::replace(&mut seen[*from], true) {
                    open.push((*from, 0));
                }
            } else {
                number[node] = order.len();
                order.push(node);
            }
        }
        let mut up = vec![usize::MAX; ids.len()];
        up[0] = 0;
        let mut changed = true;
        while changed {
            changed = false;
            for &node in order.iter().rev().filter(|node| **node != 0) {
                let mut new = usize::MAX;
                for &next in after[node].iter().filter(|next| up[**next] != usize::MAX) {
                    new = if new == usize::MAX { next } else { common(&up, &number, new, next) };
                }
                if new != up[node] {
                    up[node] = new;
                    changed = true;
                }
            }
        }
        for (at, id) in ids.iter().enumerate().skip(1) {
            let several = self.nodes[*id as usize].next[1] != NONE;
            if !several {
                continue;
            }
            let merge = ids.get(up[at]).copied().unwrap_or(NONE);
            self.ends[merge as usize] |= merge != NONE;
            let node = &mut self.nodes[*id as usize];
            (node.merge, node.merged_at) = (merge, version);
        }
    }
}

/// The first node that is above both.
fn common(up: &[usize], number: &[usize], mut a: usize, mut b: usize) -> usize {
    while a != b {
        while number[a] < number[b] {
            a = up[a];
        }
        while number[b] < number[a] {
            b = up[b];
        }
    }
    a
}

/// Regions of a thread: branches whose ways have not merged yet.
#[derive(Debug)]
pub struct Regions<L, const N: usize> {
    open: Vec<Region<L, N>>,
    /// Calls that are active.
    calls: Vec<u32>,
    /// What holds back where none is open.
    none: Row<L, N>,
}

#[derive(Clone, Copy, Debug)]
struct Region<L, const N: usize> {
    end: u32,
    level: usize,
    row: Row<L, N>,
}

impl<L: Lane, const N: usize> Default for Regions<L, N> {
    fn default() -> Regions<L, N> {
        Regions { open: Vec::new(), calls: Vec::new(), none: [L::START; N] }
    }
}

impl<L: Lane, const N: usize> Regions<L, N> {
    fn open(&mut self, end: u32, row: &Row<L, N>) {
        let level = self.calls.len();
        match self.open.last_mut() {
            // The branch ran within the region that it opens again: a loop.
            Some(region) if region.level == level && region.end == end => region.row = *row,
            _ => self.open.push(Region { end, level, row: *row }),
        }
    }

    /// What holds back.
    #[inline(always)]
    pub fn last(&self) -> &Row<L, N> {
        self.open.last().map_or(&self.none, |region| &region.row)
    }

    /// Control comes to an instruction; returns what holds it back.
    #[inline(always)]
    pub fn enter(&mut self, id: u32, merges: &Merges) -> &Row<L, N> {
        if merges.is_end(id) {
            let level = self.calls.len();
            // Regions above it are over, too: when they were opened, this way out of them had not been seen.
            let mine = self.open.iter().rposition(|region| region.level < level).map_or(0, |below| below + 1);
            if let Some(place) = self.open[mine..].iter().position(|region| region.end == id) {
                self.open.truncate(mine + place);
            }
        }
        self.last()
    }
}
