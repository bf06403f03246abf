//! Critical paths: how much of a position was spent where.
//!
//! As the collector keeps them (`workspan_collect::path`), for one thread: a path is a chain of nodes, newest first, shared
//! by all who have a common past. A [`Tail`] is a path, and a last stretch in one place (its *key*) that has no node yet; so
//! a row whose key is the one before touches no node, and neither does a fork or join within one key.
//!
//! **Ownership.** Nodes count their holders. A tail either owns a hold ([`OWNED`]) or borrows that of a suspended ancestor.
//! What only its owner holds is changed in place.
//!
//! **Bound.** A chain that has grown by as many nodes as it had, [`FOLD_AFTER`] at least, is folded: between two places that
//! others hold there is one node for each key. So it is as long as there are open constructs times keys, at most twice; the
//! cost is constant per node, amortised.
//!
//! **Tokens** are nodes that stand for an instance. When it has ended, its sums are known, and the next fold makes its node
//! one of the instance's key; so there are as many tokens on a chain as there are open instances and, since a chain is folded
//! before it is twice as long, as many again.
//!
//! **Local tokens** stand for strands whose row is not known yet, as of an instance whose height is not. Their nodes have a span
//! of their own, and fold as others do.

mod fold;
mod key;
mod tail;
mod tokens;

use self::key::NONE;
pub(super) use self::key::{LOCAL, OWNED, TOKEN};
pub(super) use self::tail::{OnPath, Stretch, Tail};
use self::tokens::Tokens;

/// A chain is folded no earlier.
const FOLD_AFTER: u32 = 32;

#[derive(Clone, Copy, Debug)]
struct Node {
    span: i64,
    work: i64,
    parent: u32,
    holders: u32,
    key: u32,
    secondary: i64,
    /// Nodes of the chain, and with how many it is folded.
    length: u32,
    fold_at: u32,
}

/// All nodes.
#[derive(Debug)]
pub(super) struct Paths {
    nodes: Vec<Node>,
    /// First of the unused ones.
    free: u32,
    /// By key: which node has it, in the fold of this number.
    seen: Vec<(u32, u32)>,
    /// The same by number of a local token.
    seen_local: Vec<(u32, u32)>,
    folds: u32,
    chain: Vec<u32>,
    /// What stands for instances.
    pub(super) tokens: Tokens,
    scratch: Vec<Stretch>,
}

impl Paths {
    pub(super) fn new() -> Paths {
        let none = Node {
            span: 0,
            work: 0,
            parent: NONE,
            holders: 1,
            key: u32::MAX,
            secondary: 0,
            length: 0,
            fold_at: FOLD_AFTER,
        };
        Paths {
            nodes: vec![none],
            free: NONE,
            seen: Vec::new(),
            seen_local: Vec::new(),
            folds: 0,
            chain: Vec::new(),
            tokens: Tokens::default(),
            scratch: Vec::new(),
        }
    }

    /// The path goes through what `mark` stands for: a token, or sums.
    pub(super) fn mark(&mut self, tail: &mut Tail, mark: Stretch) {
        self.settle(tail);
        tail.path = self.add(tail.path, mark);
    }

    /// The tail goes on in `key`.
    #[inline(always)]
    pub(super) fn turn(&mut self, tail: &mut Tail, key: u32) {
        if tail.key != key {
            self.settle(tail);
            tail.key = key;
        }
    }

    /// The tail's last stretch becomes part of its path.
    pub(super) fn settle(&mut self, tail: &mut Tail) {
        let span = tail.span.wrapping_sub(tail.since);
        if span != 0 || tail.secondary != 0 {
            tail.path = self.add(tail.path, Stretch { key: tail.key, span, secondary: tail.secondary, work: 0 });
            tail.secondary = 0;
        }
        tail.since = tail.span;
    }

    /// The path with one stretch more, owned.
    pub(super) fn add(&mut self, path: u32, stretch: Stretch) -> u32 {
        let id = path & !OWNED;
        if path & OWNED != 0 {
            // The newest nodes, as far as they are nobody else's: a strand often comes back to where it was.
            let mut at = id;
            for _ in 0..4 {
                let node = &mut self.nodes[at as usize];
                if at == NONE || node.holders != 1 {
                    break;
                }
                if node.key == stretch.key {
                    node.span = node.span.wrapping_add(stretch.span);
                    node.work = node.work.wrapping_add(stretch.work);
                    node.secondary = node.secondary.wrapping_add(stretch.secondary);
                    return path;
                }
                at = node.parent;
            }
        }
        let parent = &mut self.nodes[id as usize];
        if path & OWNED == 0 && id != NONE {
            parent.holders += 1;
        }
        let (length, fold_at) = (parent.length + 1, parent.fold_at);
        let Stretch { key, span, secondary, work } = stretch;
        self.tokens.hold(key);
        let node = Node { span, work, parent: id, holders: 1, key, secondary, length, fold_at };
        let new = self.place(node);
        if length >= fold_at {
            self.fold(new);
        }
        new | OWNED
    }

    #[inline]
    fn place(&mut self, node: Node) -> u32 {
        if self.free != NONE {
            let id = self.free;
            let slot = &mut self.nodes[id as usize];
            self.free = slot.parent;
            *slot = node;
            return id;
        }
        let id = u32::try_from(self.nodes.len()).unwrap_or(u32::MAX) & !OWNED;
        self.nodes.push(node);
        id
    }

    /// A hold more.
    #[inline]
    pub(super) fn own(&mut self, path: u32) -> u32 {
        let id = path & !OWNED;
        if id == NONE {
            return NONE;
        }
        self.nodes[id as usize].holders += 1;
        id | OWNED
    }

    /// A hold less.
    #[inline]
    pub(super) fn release(&mut self, path: u32) {
        if path & OWNED != 0 {
            self.let_go(path & !OWNED);
        }
    }

    fn let_go(&mut self, mut id: u32) {
        while id != NONE {
            let node = &mut self.nodes[id as usize];
            node.holders -= 1;
            if node.holders != 0 {
                return;
            }
            let (parent, key) = (node.parent, node.key);
            node.parent = self.free;
            self.free = id;
            if key & TOKEN != 0 {
                self.tokens.release(key);
            }
            id = parent;
        }
    }

    /// What goes on after branches from `from`, whose hold they borrowed: the longest of them. Both are used up.
    #[inline]
    pub(super) fn merge(&mut self, from: &Tail, longest: Tail) -> Tail {
        if longest.path & OWNED != 0 {
            self.release(from.path);
            return longest;
        }
        Tail { path: from.path, ..longest }
    }

    /// Replaces `best` by `other`, of which it gets a hold of its own, if that is longer.
    #[inline]
    pub(super) fn raise(&mut self, best: &mut Tail, other: &Tail) {
        if other.span > best.span {
            let path = self.own(other.path);
            self.release(best.path);
            *best = Tail { path, ..*other };
        }
    }

    /// `tail` goes on after `other`, which is used up, if that is longer.
    #[inline(always)]
    pub(super) fn join(&mut self, tail: &mut Tail, other: Tail) {
        if other.span > tail.span {
            self.release(tail.path);
            *tail = other;
        } else {
            self.release(other.path);
        }
    }

    /// `tail`, settled, goes on by what `part` has beyond `begin`; `part` is used up. `stays`: it is the team's own tail, which
    /// goes through an instance once, though several members had parts of it.
    pub(super) fn append(&mut self, tail: &mut Tail, part: &mut Tail, begin: i64, stays: bool) {
        self.settle(part);
        let mut scratch = std::mem::take(&mut self.scratch);
        scratch.clear();
        scratch.extend(self.stretches(part.path));
        for stretch in scratch.drain(..).rev() {
            if stretch.key & (TOKEN | LOCAL) != TOKEN || self.tokens.is_first(stretch.key, stays) {
                tail.path = self.add(tail.path, stretch);
            }
        }
        self.scratch = scratch;
        self.release(part.path);
        tail.span = tail.span.saturating_add(part.span.saturating_sub(begin));
        tail.since = tail.span;
    }

    /// What a path is made of, newest first; keys may occur several times.
    pub(super) fn stretches(&self, path: u32) -> impl Iterator<Item = Stretch> + '_ {
        let mut at = path & !OWNED;
        std::iter::from_fn(move || {
            let node = self.nodes.get(at as usize).filter(|_| at != NONE)?;
            at = node.parent;
            let own = Stretch { key: node.key, span: node.span, secondary: node.secondary, work: node.work };
            Some(match self.tokens.known(node.key) {
                Some(known) if node.key & LOCAL != 0 => Stretch { key: known.key, ..own },
                known => known.unwrap_or(own),
            })
        })
    }
}

#[cfg(test)]
mod tests;
