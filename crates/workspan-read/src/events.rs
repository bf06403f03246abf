//! Events that threads have counted by context.

use std::io;
use std::mem::{offset_of, size_of};

use workspan_model::{ContextId, EventCounts, Run};
use workspan_wire::events::{Events, Found, Means, ThreadEvents, MAX_EVENTS};
use workspan_wire::shm::{self, Account, Header, Thread, ThreadArea};

use crate::accounts;
use crate::memory::{Record, Snapshot};

/// Adds what was counted to `run`, which was read from the same snapshot. `contexts`: by the collector's number, the
/// recording's, of which there are `known`; `names`: of the events, as they were requested; `words`: what an error number of the
/// system means.
pub fn read_events(
    snapshot: &(impl Snapshot + ?Sized),
    contexts: &[ContextId],
    known: usize,
    names: &[&str],
    words: impl Fn(u32) -> String,
    run: &mut Run,
) -> io::Result<()> {
    let header = Record::read(snapshot, 0, size_of::<Header>())?;
    let at = offset_of!(Header, events);
    let count = (header.u32(at + offset_of!(Events, count)) as usize).min(MAX_EVENTS).min(names.len());
    if count == 0 {
        return Ok(());
    }
    let sums = Sums::read(snapshot, &header, contexts, known, count)?;
    let found = |i: usize| at + offset_of!(Events, found) + i * size_of::<Found>();
    run.events = names
        .iter()
        .zip(sums.counts)
        .enumerate()
        .map(|(i, (name, counts))| {
            let field = |field: usize| header.u32(found(i) + field);
            let missing_threads = field(offset_of!(Found, refused));
            let means = field(offset_of!(Found, means));
            let has = |which: Means| means & which as u32 != 0;
            EventCounts {
                name: (*name).to_owned(),
                counts,
                whole: None,
                // What the kernel keeps of every thread it keeps all the time.
                counted_ppm: if has(Means::Read) || has(Means::Page) { sums.counted_ppm } else { 1_000_000 },
                threads: field(offset_of!(Found, threads)),
                missing_threads,
                refused: (missing_threads > 0).then(|| words(field(offset_of!(Found, error)))),
                outside_kernel: has(Means::Outside),
            }
        })
        .collect();
    Ok(())
}

/// Over all threads.
struct Sums {
    /// By event, then by context.
    counts: Vec<Vec<u64>>,
    counted_ppm: u32,
}

impl Sums {
    fn read(
        snapshot: &(impl Snapshot + ?Sized),
        header: &Record,
        contexts: &[ContextId],
        known: usize,
        events: usize,
    ) -> io::Result<Sums> {
        let slots = (header.u32(offset_of!(Header, thread_slots)) as usize).min(shm::MAX_THREADS);
        let mut counts = vec![vec![0u64; known]; events];
        let mut times = [0u64; 2];
        for slot in 0..slots {
            let area = accounts::read(snapshot, slot, contexts.len(), |index, account| {
                for (event, counts) in counts.iter_mut().enumerate() {
                    if let Some(sum) = counts.get_mut(contexts[index].index()) {
                        *sum = sum.saturating_add(account.u64(offset_of!(Account, events) + 8 * event));
                    }
                }
            })?;
            let mine = offset_of!(ThreadArea, thread) + offset_of!(Thread, events);
            let fields = [offset_of!(ThreadEvents, enabled), offset_of!(ThreadEvents, running)];
            for (sum, field) in times.iter_mut().zip(fields) {
                *sum = sum.saturating_add(area.u64(mine + field));
            }
        }
        let [enabled, running] = times.map(u128::from);
        let ppm = (running.min(enabled) * 1_000_000).checked_div(enabled);
        Ok(Sums { counts, counted_ppm: ppm.and_then(|ppm| u32::try_from(ppm).ok()).unwrap_or(1_000_000) })
    }
}
