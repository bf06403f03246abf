//! Threads that wait for each other at random times, and how much each waits for whom: tick by tick, from the definition.

use std::collections::BTreeMap;

use crate::random::Random;

/// A wait of a thread, from one tick to another, which another thread has ended; `None`: nobody that is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait {
    /// Who waits.
    pub thread: u32,
    /// First tick.
    pub from: u64,
    /// The tick after the last one.
    pub to: u64,
    /// Who ends it, and does not wait itself then.
    pub by: Option<u32>,
}

/// Ticks that threads have waited for others themselves, and those in which others waited for them meanwhile.
pub type Waited = BTreeMap<(u32, Option<u32>), (u64, u64)>;

/// Waits of `threads` threads, in the order of their ends, from tick `begin` on; none waits more often than `most`.
pub fn generate(seed: u64, threads: u32, most: usize, begin: u64) -> Vec<Wait> {
    let mut random = Random::new(seed);
    let mut since: Vec<Option<u64>> = vec![None; threads as usize];
    let mut counts = vec![0; threads as usize];
    let (mut now, mut waits) = (begin, Vec::new());
    while counts.iter().all(|count| *count < most) {
        now += random.below(6);
        let thread = random.index(threads as usize);
        match since[thread] {
            None => since[thread] = Some(now),
            Some(from) => {
                let by = random.index(threads as usize + 1);
                let is_there = by < threads as usize;
                if is_there && since[by].is_some() {
                    continue;
                }
                since[thread] = None;
                counts[thread] += 1;
                let by = is_there.then(|| u32::try_from(by).expect("few threads"));
                if from < now {
                    waits.push(Wait { thread: u32::try_from(thread).expect("few threads"), from, to: now, by });
                }
            }
        }
    }
    waits
}

/// Who has waited for whom. In each tick of a wait: for who ends it; if that one waits in this tick, it waits once more for this one, and so
/// on.
pub fn redistributed(waits: &[Wait]) -> Waited {
    let mut waited = Waited::new();
    for wait in waits {
        for tick in wait.from..wait.to {
            waited.entry((wait.thread, wait.by)).or_default().0 += 1;
            let mut next = wait.by;
            while let Some(thread) = next {
                let theirs = waits.iter().find(|w| w.thread == thread && (w.from..w.to).contains(&tick));
                let Some(theirs) = theirs else { break };
                waited.entry((thread, theirs.by)).or_default().1 += 1;
                next = theirs.by;
            }
        }
    }
    waited
}
