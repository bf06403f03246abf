//! What becomes one piece: where a run has more strands than pieces are wanted, and where tasks are run by their creators.
//!
//! The pieces of a construct are the last ones, and all edges but those named here are among them. So they are replaced by a
//! single one with their work and their longest path: on few processors or many it takes what it took, as long as nothing
//! outside waits for a part of it. Cost: each piece is taken away at most once.

use super::build::{Builder, Bundle, Chain, Fork, Mark, LABEL};
use super::graph::kind;
use super::scratch::Scratch;

/// How two pieces lie to each other that become one.
#[derive(Clone, Copy)]
enum Beside {
    /// One after the other.
    InTurn,
    /// They may run at the same time.
    Together,
}

impl Chain {
    /// Pieces from `start` have become part of another one.
    fn replace(&mut self, start: u32, by: u32) {
        if self.children.last().is_some_and(|child| *child >= start) {
            while self.children.pop_if(|child| *child >= start).is_some() {}
            self.children.push(by);
        }
        for end in self.created.iter_mut().rev().take_while(|end| **end >= start) {
            *end = by;
        }
        if self.gathered.is_some_and(|all| all >= start) {
            self.gathered = Some(by);
        }
    }
}

impl Builder {
    /// Whether a construct with so much work is to be one piece. It may be less than nothing, by errors of calibration.
    pub(super) fn is_foldable(&self, work: i64, mark: &Mark) -> bool {
        self.threshold > 0 && work < self.threshold && !self.has_met(mark)
    }

    /// Whether something behind the mark waits for what is elsewhere, or is waited for there.
    pub(super) fn has_met(&self, mark: &Mark) -> bool {
        self.met > mark.node
    }

    /// Makes one piece of all that lies behind the mark, and appends it to `from` if nothing else hangs on it.
    pub(super) fn fold(&mut self, from: u32, mark: &Mark) -> u32 {
        let piece = self.collapse(from, mark, false);
        self.clear(from, kind::FORKS);
        self.clear(piece, kind::FIRST);
        let alone = self.edges.len() == mark.edge + 1 && from + 1 == piece;
        let [before, time] = [from, piece].map(|at| self.time[at as usize]);
        if !alone || self.kind[from as usize] & kind::NOT_LAST != 0 || before.saturating_add(time) >= self.threshold {
            return piece;
        }
        self.edges.truncate(mark.edge);
        self.pop_into(piece, from, Beside::InTurn);
        from
    }

    /// Makes one strand of the task or the fork behind the mark: its creator runs it, and saves its creation.
    pub(super) fn inline(&mut self, from: u32, mark: &Mark, saved: i64) -> u32 {
        let piece = self.collapse(from, mark, true);
        self.clear(from, kind::FORKS | kind::SPAWNS);
        self.clear(piece, kind::FIRST);
        let at = from as usize;
        let saved = saved.clamp(0, self.time[at].max(0));
        self.time[at] -= saved;
        self.extent[at] -= saved;
        self.total -= saved;
        self.saved = self.saved.saturating_add(saved);
        piece
    }

    fn clear(&mut self, node: u32, flags: u16) {
        if let Some(kind) = self.kind.get_mut(node as usize) {
            *kind &= !flags;
        }
    }

    /// Whether nothing outside a branch waits for anything within.
    pub(super) fn is_one_way(&self, branch: &Mark, end: u32) -> bool {
        branch.node <= end
            && (branch.node == end || self.chain.children.last().is_none_or(|child| *child < branch.node))
    }

    /// Makes one piece of a branch, and of several of them.
    pub(super) fn fold_branch(&mut self, fork: &mut Fork, end: u32) -> u32 {
        let end = if fork.branch.node == end { end } else { self.collapse(fork.from, &fork.branch, false) };
        let alone = self.edges.len() == fork.branch.edge + 1;
        let before = fork.before.filter(|before| alone && before + 1 == end);
        if fork.number > 0 {
            fork.before = Some(end);
        }
        let Some(before) = before else {
            return end;
        };
        let [first, second] = [before, end].map(|at| self.time[at as usize]);
        // The edge of the one before to the label is the last one but ours.
        let known = fork.branch.edge > 0 && self.edges[fork.branch.edge - 1] == (before, fork.label);
        if !known || first.saturating_add(second) >= self.threshold {
            return end;
        }
        self.edges.truncate(fork.branch.edge);
        self.pop_into(end, before, Beside::Together);
        fork.before = Some(before);
        before
    }

    /// A task, which is the piece `end`, joins those that were created before it. False if it does not go with them.
    pub(super) fn bundle(&mut self, from: u32, end: u32, group: Option<u32>, edge: usize) -> bool {
        let Some(Bundle { creator, group: of }) = self.chain.bundle else {
            return false;
        };
        let (tasks, at) = (creator + 1, from as usize);
        let adjacent = from == creator + 2 && end == from + 1 && of == group;
        let alone = edge > 0 && self.edges.len() == edge + 1 && self.edges[edge - 1] == (creator, from);
        if !adjacent || !alone || self.kind[at] != kind::SPAWNS {
            return false;
        }
        let sum = |a: u32, b: u32| self.time[a as usize].saturating_add(self.time[b as usize]);
        if sum(creator, from) >= self.threshold || sum(tasks, end) >= self.threshold {
            return false;
        }
        self.edges.truncate(edge - 1);
        self.pop_into(end, tasks, Beside::Together);
        self.pop_into(from, creator, Beside::InTurn);
        if let Some(created) = self.chain.created.last_mut() {
            *created = tasks;
        }
        self.chain.at = creator;
        true
    }

    /// Takes the last piece away; `into` has it now.
    fn pop_into(&mut self, last: u32, into: u32, beside: Beside) {
        let delay = self.take_delay(last);
        let (Some(time), Some(extent)) = (self.time.pop(), self.extent.pop()) else {
            return;
        };
        let region = self.region.pop().unwrap_or(0);
        self.kind.pop();
        let at = into as usize;
        if time > self.time[at] {
            self.region[at] = region;
        }
        self.time[at] = self.time[at].saturating_add(time);
        self.folded += 1;
        match beside {
            Beside::InTurn => {
                self.extent[at] = self.extent[at].saturating_add(extent);
                self.delay(into, delay);
            }
            Beside::Together => {
                let before = self.take_delay(into);
                let longest = self.extent[at].saturating_add(before).max(extent.saturating_add(delay));
                self.last(into, longest, before != 0 || delay != 0);
            }
        }
        self.chain.replace(last, into);
    }

    /// The rest of the last piece.
    pub(super) fn append(&mut self, time: i64, blocked: i64, region: u32) {
        let at = self.chain.at;
        let index = at as usize;
        if time > self.time[index] {
            self.region[index] = region;
        }
        self.time[index] = self.time[index].saturating_add(time);
        self.extent[index] = self.extent[index].saturating_add(time);
        self.total = self.total.saturating_add(time);
        self.folded += 1;
        self.delay(at, blocked);
    }

    /// Whatever comes behind a piece comes so much later.
    pub(super) fn delay(&mut self, piece: u32, by: i64) {
        if by == 0 {
            return;
        }
        self.set(piece, kind::DELAYED);
        let behind = self.delays.iter().rev().take_while(|(at, _)| *at > piece).count();
        let at = self.delays.len() - behind;
        match at.checked_sub(1).and_then(|last| self.delays.get_mut(last)).filter(|(known, _)| *known == piece) {
            Some((_, sum)) => *sum = sum.saturating_add(by),
            None => self.delays.insert(at, (piece, by)),
        }
    }

    /// The delay of one of the last pieces, which it has no more.
    fn take_delay(&mut self, piece: u32) -> i64 {
        let behind = self.delays.iter().rev().take_while(|(at, _)| *at > piece).count();
        let at = self.delays.len() - behind;
        match at.checked_sub(1).filter(|at| self.delays[*at].0 == piece) {
            Some(at) => {
                self.clear(piece, kind::DELAYED);
                self.delays.remove(at).1
            }
            None => 0,
        }
    }

    /// A piece is so long on the longest path, of which what it has no time for is delay.
    fn last(&mut self, piece: u32, longest: i64, delayed: bool) {
        let at = piece as usize;
        self.extent[at] = if delayed { longest.min(self.time[at]) } else { longest };
        self.delay(piece, longest.saturating_sub(self.extent[at]));
    }

    /// Makes one piece of all that lies behind the mark; `from` is what it comes after. `serial`: one strand.
    pub(super) fn collapse(&mut self, from: u32, mark: &Mark, serial: bool) -> u32 {
        let start = mark.node;
        let count = self.len().saturating_sub(start);
        let mut scratch = std::mem::take(&mut self.scratch);
        self.sort_edges(&mut scratch, from, mark);
        let total = self.time[start as usize..].iter().fold(0, |sum: i64, time| sum.saturating_add(*time));
        let mut extents = self.extent.split_off(start as usize);
        let mut delay = 0i64;
        while let Some((piece, by)) = self.delays.pop_if(|(piece, _)| *piece >= start) {
            let extent = &mut extents[(piece - start) as usize];
            *extent = extent.saturating_add(by);
            delay = delay.saturating_add(by);
        }
        let longest = if serial { total.saturating_add(delay) } else { scratch.longest(&extents, start) };
        let heaviest = (start..self.len()).max_by_key(|piece| self.time[*piece as usize]);
        let region = heaviest.map_or(0, |piece| self.region[piece as usize]);
        let flags = self.kind.get(start as usize).copied().unwrap_or(0) & kind::FIRST;
        self.time.truncate(start as usize);
        self.region.truncate(start as usize);
        self.kind.truncate(start as usize);
        self.labels.truncate(mark.label);
        self.edges.truncate(mark.edge);
        self.total = self.total.saturating_sub(total);
        let piece = self.push(total, longest, region, flags);
        self.last(piece, longest, delay != 0);
        self.folded += u64::from(count.saturating_sub(1));
        self.edges.append(&mut scratch.others);
        self.edges.push((from, piece));
        self.edges.extend(scratch.from.drain(..).map(|from| (from, piece)));
        self.edges.extend(scratch.to.drain(..).map(|to| (piece, to)));
        self.scratch = scratch;
        self.chain.replace(start, piece);
        piece
    }

    /// Which edges are within, which come in, which go out.
    fn sort_edges(&self, scratch: &mut Scratch, via: u32, mark: &Mark) {
        let start = mark.node;
        scratch.inner.clear();
        for (from, to) in self.edges.iter().skip(mark.edge).copied() {
            let label = (to & LABEL != 0).then_some((to ^ LABEL) as usize);
            let resolved = match label {
                None => to,
                Some(label) if label >= mark.label => match self.labels.get(label) {
                    Some(node) if *node & LABEL == 0 => *node,
                    // Where the construct ends.
                    _ => continue,
                },
                Some(_) => to,
            };
            let inside = |node: u32| node & LABEL == 0 && node >= start;
            match (inside(from), inside(resolved)) {
                (true, true) => scratch.inner.push((from, resolved)),
                (true, false) if !scratch.to.contains(&resolved) => scratch.to.push(resolved),
                (false, true) if from != via && !scratch.from.contains(&from) => scratch.from.push(from),
                (false, false) => scratch.others.push((from, to)),
                _ => {}
            }
        }
    }
}
