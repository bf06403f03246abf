//! Folding: a chain gets one node for each key between two places that others hold.

use super::key::{LOCAL, NONE, TOKEN};
use super::tokens::index_of;
use super::{Paths, FOLD_AFTER};

impl Paths {
    /// Folds the chain that ends with `newest`. What is behind a node that several hold can be moved into it as long as it is
    /// seen by way of that node alone: so the chain is cut at such nodes, and each piece gets one node for each key.
    #[cold]
    pub(super) fn fold(&mut self, newest: u32) {
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
                        self.tokens.release(node.key);
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

    /// A token's node whose sums are known becomes one of these.
    fn resolve(&mut self, id: u32) {
        let key = self.nodes[id as usize].key;
        if let Some(sums) = self.tokens.known(key) {
            let node = &mut self.nodes[id as usize];
            node.key = sums.key;
            if key & LOCAL == 0 {
                (node.span, node.work) = (sums.span, sums.work);
            }
            self.tokens.hold(sums.key);
            self.tokens.release(key);
        }
    }
}
