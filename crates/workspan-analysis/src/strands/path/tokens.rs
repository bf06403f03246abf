//! Tokens: nodes that stand for an instance until its sums are known.

use super::key::{LOCAL, TOKEN};
use super::tail::Stretch;

/// What stands for an instance.
#[derive(Clone, Copy, Debug)]
struct Token {
    /// Nodes, and one more until the sums are known.
    holders: u32,
    known: Option<Stretch>,
    /// It is on the path of the team in which it is open.
    placed: bool,
    /// Of an unused one: the next.
    next: u32,
}

/// All tokens.
#[derive(Debug, Default)]
pub(in crate::strands) struct Tokens {
    all: Vec<Token>,
    /// First of the unused ones, from 1.
    free: u32,
}

impl Tokens {
    /// A token. It is the caller's until its sums are [known](Tokens::make_known).
    pub(in crate::strands) fn create(&mut self) -> u32 {
        let new = Token { holders: 1, known: None, placed: false, next: 0 };
        if let Some(index) = self.free.checked_sub(1) {
            let slot = &mut self.all[index as usize];
            self.free = slot.next;
            *slot = new;
            return TOKEN | index;
        }
        let index = index_of(u32::try_from(self.all.len()).unwrap_or(u32::MAX));
        self.all.push(new);
        TOKEN | index
    }

    /// A local token, the caller's until the key of its strands is [known](Tokens::make_key_known).
    pub(in crate::strands) fn create_local(&mut self) -> u32 {
        self.create() | LOCAL
    }

    /// The sums of a token, which its owner gives up.
    pub(in crate::strands) fn make_known(&mut self, token: u32, sums: Stretch) {
        self.all[index_of(token) as usize].known = Some(sums);
        self.release(token);
    }

    /// The key of a local token's strands: another local token's, or none's. Its owner gives it up.
    pub(in crate::strands) fn make_key_known(&mut self, token: u32, key: u32) {
        self.make_known(token, Stretch { key, ..Stretch::default() });
    }

    /// A token stands for the same as another one, and is its owner's no more.
    pub(in crate::strands) fn make_alias(&mut self, token: u32, of: u32) {
        self.make_known(token, Stretch { key: of, span: 0, secondary: 1, work: 0 });
    }

    /// The sums of the token that this key is, if it is one and they are known.
    pub(super) fn known(&self, key: u32) -> Option<Stretch> {
        (key & TOKEN != 0).then(|| self.all[index_of(key) as usize].known).flatten()
    }

    /// True if the path of a team does not go through what the token stands for yet; from now on it does, if `stays`.
    pub(super) fn is_first(&mut self, token: u32, stays: bool) -> bool {
        let token = &mut self.all[index_of(token) as usize];
        let first = !token.placed;
        token.placed |= stays;
        first
    }

    /// A node has this key.
    #[inline]
    pub(super) fn hold(&mut self, key: u32) {
        if key & TOKEN != 0 {
            self.all[index_of(key) as usize].holders += 1;
        }
    }

    /// A node with this token's key less.
    #[cold]
    pub(super) fn release(&mut self, key: u32) {
        let index = index_of(key);
        let token = &mut self.all[index as usize];
        token.holders -= 1;
        if token.holders == 0 {
            token.next = self.free;
            self.free = index + 1;
        }
    }

    /// How many there were at a time.
    #[cfg(test)]
    pub(super) fn most(&self) -> usize {
        self.all.len()
    }
}

/// The number of a token; of another key, itself.
#[inline(always)]
pub(super) fn index_of(key: u32) -> u32 {
    key & !(TOKEN | LOCAL)
}
