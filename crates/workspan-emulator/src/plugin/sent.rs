//! The chunk of code: what was translated, published before anything that ran.

use std::collections::BTreeSet;
use std::sync::atomic::Ordering;
use std::sync::Mutex;

use workspan_wire::trace;

use super::state::ring;
use crate::ring::{CODE, WORDS};

/// What was sent.
pub(super) struct Sent {
    /// Blocks so far.
    pub(super) blocks: u64,
    /// First address and address behind the last of files that code came from.
    pub(super) files: BTreeSet<(u64, u64)>,
    /// The chunk that is being filled, and how far.
    chunk: Option<(usize, usize)>,
}

/// What was sent, of all threads.
pub(super) static SENT: Mutex<Sent> = Mutex::new(Sent { blocks: 0, files: BTreeSet::new(), chunk: None });

/// Publishes what was translated.
pub(super) fn publish() {
    if let Ok(mut sent) = SENT.lock() {
        sent.publish();
    }
}

impl Sent {
    fn publish(&mut self) {
        if let Some((chunk, len)) = self.chunk.take() {
            ring().publish(chunk, len);
        }
    }

    /// A record.
    pub(super) fn write(&mut self, kind: u64, words: &[u64]) {
        if self.chunk.is_some_and(|(_, len)| len + words.len() + 1 > WORDS) {
            self.publish();
        }
        self.chunk = self.chunk.or_else(|| Some((ring().take(CODE)?, 0)));
        let Some((chunk, len)) = &mut self.chunk else { return };
        let into = &ring().words(*chunk)[*len..];
        let all = [trace::record(kind, words.len() as u64)];
        for (word, value) in into.iter().zip(all.iter().chain(words)) {
            word.store(*value, Ordering::Relaxed);
        }
        *len += words.len() + 1;
    }
}
