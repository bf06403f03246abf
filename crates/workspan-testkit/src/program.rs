//! Fork-join programs as trees.

use crate::random::Random;

/// Number of textual copies that an interpreter has of each construct, so that there are several sites.
pub const COPIES: u8 = 4;

/// A program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Node {
    /// This number of ticks of serial work.
    Work(u64),
    /// One after the other.
    Seq(Vec<Node>),
    /// `join(left, right)` at a textual copy.
    Join(u8, Box<Node>, Box<Node>),
    /// A scope with a body.
    Scope(ScopeKind, u8, Box<Node>),
    /// Spawns a task into the innermost plain scope around it.
    Spawn(u8, Box<Node>),
    /// A parallel iterator over items, in pieces of one.
    ParIter(u8, Vec<Node>),
    /// A parallel bridge: a serial iterator that takes this number of ticks per item, each item in parallel.
    ParBridge(u8, Vec<(u64, Node)>),
    /// Runs in another pool.
    Install(Box<Node>),
    /// A detached task.
    Detach(u8, Box<Node>),
    /// Offers the thread to other tasks.
    Yield,
    /// Panics.
    Panic,
    /// Catches a panic.
    Catch(Box<Node>),
}

/// Flavours of scopes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScopeKind {
    /// `scope`: may be spawned into.
    Plain,
    /// `scope_fifo`: its body spawns nothing of its own here.
    Fifo,
    /// `in_place_scope`: may be spawned into.
    InPlace,
}

/// Makes a program. The same seed makes the same program; every sixtieth is as small as can be, the next a little larger.
pub fn generate(seed: u64) -> Node {
    let mut maker = Maker { random: Random::new(seed), left: 1 + seed % 60 };
    let mut parts = vec![maker.work()];
    while maker.left > 0 && parts.len() < 12 {
        parts.push(maker.node(5, false));
        parts.push(maker.work());
    }
    Node::Seq(parts)
}

struct Maker {
    random: Random,
    /// Constructs still to be made.
    left: u64,
}

impl Maker {
    fn work(&mut self) -> Node {
        // Wide enough that two chains are hardly ever of equal length.
        Node::Work(1 + self.random.below(1_000_000_007))
    }

    fn node(&mut self, depth: u32, in_scope: bool) -> Node {
        if depth == 0 || self.left == 0 {
            return self.work();
        }
        self.left -= 1;
        #[expect(clippy::cast_possible_truncation, reason = "below COPIES")]
        let site = self.random.below(u64::from(COPIES)) as u8;
        match self.random.below(if in_scope { 26 } else { 22 }) {
            0..=6 => {
                let left = self.seq(depth - 1, in_scope);
                let right = self.seq(depth - 1, in_scope);
                Node::Join(site, Box::new(left), Box::new(right))
            }
            7..=9 => {
                let kind = match self.random.below(3) {
                    0 => ScopeKind::Plain,
                    1 => ScopeKind::Fifo,
                    _ => ScopeKind::InPlace,
                };
                let body = self.seq(depth - 1, kind != ScopeKind::Fifo);
                Node::Scope(kind, site, Box::new(body))
            }
            10..=12 => {
                let count = 1 + self.random.below(6);
                Node::ParIter(site, (0..count).map(|_| self.seq(depth - 1, false)).collect())
            }
            13..=14 => {
                let count = 1 + self.random.below(5);
                let mut item = || (self.random.below(1_000_003), Node::Work(0));
                let mut items: Vec<(u64, Node)> = (0..count).map(|_| item()).collect();
                for (_, node) in &mut items {
                    *node = self.seq(depth - 1, false);
                }
                Node::ParBridge(site, items)
            }
            15..=16 => Node::Install(Box::new(self.seq(depth - 1, false))),
            17 => Node::Detach(site, Box::new(self.seq(depth - 1, false))),
            18 => Node::Yield,
            19..=20 => {
                let inner = self.seq(depth - 1, false);
                let panicking = self.random.once_in(2);
                let inner = if panicking { self.with_panic(inner) } else { inner };
                Node::Catch(Box::new(inner))
            }
            21 => self.seq(depth - 1, in_scope),
            _ => Node::Spawn(site, Box::new(self.seq(depth - 1, true))),
        }
    }

    fn seq(&mut self, depth: u32, in_scope: bool) -> Node {
        let count = 1 + self.random.below(3);
        let mut parts = Vec::new();
        for _ in 0..count {
            if self.random.once_in(2) {
                parts.push(self.work());
            }
            parts.push(self.node(depth, in_scope));
        }
        parts.push(self.work());
        Node::Seq(parts)
    }

    /// Lets some branch of `node` panic at its end.
    fn with_panic(&mut self, node: Node) -> Node {
        let work = self.work();
        match self.random.below(4) {
            0 => Node::Join(0, Box::new(Node::Seq(vec![node, Node::Panic])), Box::new(work)),
            1 => Node::Join(1, Box::new(work), Box::new(Node::Seq(vec![node, Node::Panic]))),
            2 => Node::ParIter(2, vec![node, Node::Seq(vec![work, Node::Panic])]),
            _ => {
                let body = vec![Node::Spawn(3, Box::new(node)), work, Node::Panic];
                Node::Scope(ScopeKind::Plain, 3, Box::new(Node::Seq(body)))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_makes_one_program() {
        assert_eq!(generate(7), generate(7));
        assert_ne!(generate(7), generate(8));
    }
}
