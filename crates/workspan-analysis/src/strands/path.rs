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

/// Keys of tokens: what a path goes through, and whose sums are not known yet.
pub(super) const TOKEN: u32 = 1 << 31;
/// Of these: keys of local ones.
pub(super) const LOCAL: u32 = 1 << 30;

/// A tail's path is a hold of its own.
pub(super) const OWNED: u32 = 1 << 31;

/// A chain is folded no earlier.
const FOLD_AFTER: u32 = 32;

/// No node.
const NONE: u32 = 0;

/// A position and the path to it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tail {
    /// Absolute span.
    pub(super) span: i64,
    /// The path accounts up to here; the rest was spent in `key`.
    pub(super) since: i64,
    /// Where.
    pub(super) key: u32,
    /// The path, and [`OWNED`].
    pub(super) path: u32,
    /// What the rest has [besides](super::Charge::secondary) its span.
    pub(super) secondary: i64,
}

impl Tail {
    /// Before everything: no maximum.
    pub(super) const NEVER: Tail = Tail { span: i64::MIN, since: i64::MIN, key: 0, path: NONE, secondary: 0 };

    /// A position without a past.
    pub(super) fn at(span: i64, key: u32) -> Tail {
        Tail { span, since: span, key, path: NONE, secondary: 0 }
    }

    /// The same, without a hold.
    pub(super) fn borrowed(self) -> Tail {
        Tail { path: self.path & !OWNED, ..self }
    }

    /// Goes on in `key`.
    #[inline(always)]
    pub(super) fn turn(&mut self, paths: &mut Paths, key: u32) {
        if self.key != key {
            paths.settle(self);
            self.key = key;
        }
    }
}

/// What a path spent in one key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Stretch {
    pub(super) key: u32,
    pub(super) span: i64,
    /// What it has beside that: how many strands, unless the analysis counts something else.
    pub(super) secondary: i64,
    /// Of instances: their work.
    pub(super) work: i64,
}

/// A key's part of the critical path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OnPath {
    pub(crate) key: u32,
    pub(crate) span: i64,
    /// What it has [besides](super::Charge::secondary) that.
    pub(crate) secondary: i64,
    /// Of calls: their work.
    pub(crate) work: i64,
}

/// What stands for an instance.
#[derive(Clone, Copy, Debug)]
struct Token {
    /// Nodes, and one more until the sums are known.
    holders: u32,
    /// `None` as long as the sums are not known; next unused one for such.
    known: Option<Stretch>,
    /// It is on the path of the team in which it is open.
    placed: bool,
    next: u32,
}

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
    tokens: Vec<Token>,
    /// First of the unused ones, from 1.
    free_token: u32,
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
            tokens: Vec::new(),
            free_token: 0,
            scratch: Vec::new(),
        }
    }

    /// A token. It is the caller's until its sums are [known](Paths::make_known).
    pub(super) fn token(&mut self) -> u32 {
        let new = Token { holders: 1, known: None, placed: false, next: 0 };
        if let Some(index) = self.free_token.checked_sub(1) {
            let slot = &mut self.tokens[index as usize];
            self.free_token = slot.next;
            *slot = new;
            return TOKEN | index;
        }
        let index = index_of(u32::try_from(self.tokens.len()).unwrap_or(u32::MAX));
        self.tokens.push(new);
        TOKEN | index
    }

    /// A local token, the caller's until the key of its strands is [known](Paths::make_key_known).
    pub(super) fn local_token(&mut self) -> u32 {
        self.token() | LOCAL
    }

    /// The key of a local token's strands: another local token's, or none's. Its owner gives it up.
    pub(super) fn make_key_known(&mut self, token: u32, key: u32) {
        self.make_known(token, Stretch { key, ..Stretch::default() });
    }

    /// The path goes through what `mark` stands for: a token, or sums.
    pub(super) fn mark(&mut self, tail: &mut Tail, mark: Stretch) {
        self.settle(tail);
        tail.path = self.add(tail.path, mark);
    }

    /// A token stands for the same as another one, and is its owner's no more.
    pub(super) fn make_alias(&mut self, token: u32, of: u32) {
        self.tokens[index_of(token) as usize].known = Some(Stretch { key: of, span: 0, secondary: 1, work: 0 });
        self.drop_token(token);
    }

    /// True if the path of a team does not go through what the token stands for yet; from now on it does, if `stays`.
    fn is_first(&mut self, token: u32, stays: bool) -> bool {
        let token = &mut self.tokens[index_of(token) as usize];
        let first = !token.placed;
        token.placed |= stays;
        first
    }

    /// The sums of a token, which its owner gives up.
    pub(super) fn make_known(&mut self, token: u32, sums: Stretch) {
        self.tokens[index_of(token) as usize].known = Some(sums);
        self.drop_token(token);
    }

    /// A node has this key.
    #[inline]
    fn hold_token(&mut self, key: u32) {
        if key & TOKEN != 0 {
            self.tokens[index_of(key) as usize].holders += 1;
        }
    }

    #[cold]
    fn drop_token(&mut self, key: u32) {
        let index = index_of(key);
        let token = &mut self.tokens[index as usize];
        token.holders -= 1;
        if token.holders == 0 {
            token.next = self.free_token;
            self.free_token = index + 1;
        }
    }

    /// A token's node whose sums are known becomes one of these.
    fn resolve(&mut self, id: u32) {
        let key = self.nodes[id as usize].key;
        if key & TOKEN == 0 {
            return;
        }
        if let Some(sums) = self.tokens[index_of(key) as usize].known {
            let node = &mut self.nodes[id as usize];
            node.key = sums.key;
            if key & LOCAL == 0 {
                (node.span, node.work) = (sums.span, sums.work);
            }
            self.hold_token(sums.key);
            self.drop_token(key);
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
        self.hold_token(key);
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
                self.drop_token(key);
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
            if stretch.key & (TOKEN | LOCAL) != TOKEN || self.is_first(stretch.key, stays) {
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
            let known = (node.key & TOKEN != 0).then(|| self.tokens[index_of(node.key) as usize].known).flatten();
            Some(match known {
                Some(known) if node.key & LOCAL != 0 => Stretch { key: known.key, ..own },
                known => known.unwrap_or(own),
            })
        })
    }

    /// Folds the chain that ends with `newest`. What is behind a node that several hold can be moved into it as long as it is
    /// seen by way of that node alone: so the chain is cut at such nodes, and each piece gets one node for each key.
    #[cold]
    fn fold(&mut self, newest: u32) {
        let mut kept = std::mem::take(&mut self.chain);
        kept.clear();
        let mut at = newest;
        while at != NONE {
            self.folds = self.folds.wrapping_add(1);
            let mut last = at;
            self.resolve(at);
            self.see(at);
            kept.push(at);
            at = self.nodes[at as usize].parent;
            while at != NONE && self.nodes[at as usize].holders == 1 {
                self.resolve(at);
                let node = self.nodes[at as usize];
                let into = self.see(at);
                if into == at {
                    self.nodes[last as usize].parent = at;
                    last = at;
                    kept.push(at);
                } else {
                    let into = &mut self.nodes[into as usize];
                    into.span = into.span.wrapping_add(node.span);
                    into.work = into.work.wrapping_add(node.work);
                    into.secondary = into.secondary.wrapping_add(node.secondary);
                    self.nodes[at as usize].parent = self.free;
                    self.free = at;
                    if node.key & TOKEN != 0 {
                        self.drop_token(node.key);
                    }
                }
                at = node.parent;
            }
            self.nodes[last as usize].parent = at;
        }
        let total = u32::try_from(kept.len()).unwrap_or(u32::MAX / 2);
        for (id, length) in kept.iter().rev().zip(1..) {
            let node = &mut self.nodes[*id as usize];
            node.length = length;
            node.fold_at = length.saturating_add(FOLD_AFTER.max(total));
        }
        self.chain = kept;
    }

    /// The node that has the key of this one in the piece that is being folded: this one, if there was none.
    fn see(&mut self, id: u32) -> u32 {
        let key = self.nodes[id as usize].key;
        let seen = match key & (TOKEN | LOCAL) {
            0 => &mut self.seen,
            TOKEN => return id,
            _ => &mut self.seen_local,
        };
        let key = index_of(key) as usize;
        if key >= seen.len() {
            seen.resize(key + 1, (0, NONE));
        }
        let (fold, into) = seen[key];
        if fold == self.folds && into != NONE {
            return into;
        }
        seen[key] = (self.folds, id);
        id
    }
}

/// The number of a token; of another key, itself.
#[inline(always)]
fn index_of(key: u32) -> u32 {
    key & !(TOKEN | LOCAL)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stretch(key: u32) -> Stretch {
        Stretch { key, span: 1, secondary: 1, work: 0 }
    }

    #[test]
    fn a_long_chain_stays_short_though_somebody_always_holds_its_end() {
        let mut paths = Paths::new();
        let (mut path, mut held) = (0, 0);
        for n in 0..100_000 {
            path = paths.add(path, stretch(n % 3));
            paths.release(held);
            held = paths.own(path);
        }
        assert!(paths.nodes.len() < 300, "{} nodes", paths.nodes.len());
        let mut sums = [0; 3];
        paths.stretches(path).for_each(|part| sums[part.key as usize] += part.span);
        assert_eq!(sums, [33_334, 33_333, 33_333]);
    }

    #[test]
    fn tokens_whose_sums_are_known_become_one_node() {
        let mut paths = Paths::new();
        let mut tail = Tail::at(0, 0);
        let outer = paths.token();
        paths.mark(&mut tail, stretch(outer));
        for n in 0..100_000 {
            let token = paths.token();
            paths.mark(&mut tail, stretch(token));
            // Somebody else's, which is not taken.
            let mut other = tail.borrowed();
            let lost = paths.token();
            paths.mark(&mut other, stretch(lost));
            paths.release(other.path);
            for token in [token, lost] {
                paths.make_known(token, Stretch { key: 1 + n % 2, span: 3, secondary: 1, work: 5 });
            }
        }
        paths.make_known(outer, Stretch { key: 3, span: 7, secondary: 1, work: 9 });
        assert!(paths.nodes.len() < 300 && paths.tokens.len() < 300, "{} {}", paths.nodes.len(), paths.tokens.len());
        let mut sums = [(0, 0, 0); 4];
        for Stretch { key, span, secondary, work } in paths.stretches(tail.path) {
            let sum = &mut sums[key as usize];
            *sum = (sum.0 + span, sum.1 + secondary, sum.2 + work);
        }
        let each = (150_000, 50_000, 250_000);
        assert_eq!(sums, [(0, 0, 0), each, each, (7, 1, 9)]);
    }

    #[test]
    fn what_others_hold_stays_as_it_is() {
        let mut paths = Paths::new();
        let mut path = 0;
        let mut held = Vec::new();
        for n in 0..500u32 {
            path = paths.add(path, stretch(n % 7));
            if n % 50 == 0 {
                held.push((paths.own(path), n));
            }
        }
        for (path, n) in held {
            let sum: i64 = paths.stretches(path).map(|part| part.span).sum();
            assert_eq!(sum, i64::from(n) + 1);
            paths.release(path);
        }
        paths.release(path);
        // All free.
        let mut free = 0;
        let mut at = paths.free;
        while at != NONE {
            free += 1;
            at = paths.nodes[at as usize].parent;
        }
        assert_eq!(free, paths.nodes.len() - 1);
    }
}
