//! When serial code ran, as far as threads have said so: to find the row of a sample.
//!
//! **Invariant:** a segment whose row is not known in the recording is skipped; no number in it is trusted.

use std::collections::BTreeMap;
use std::io;
use std::mem::{offset_of, size_of};

use workspan_model::{ContextId, ContextTree, Recording, SiteKind};
use workspan_wire::segment::{Segment, ThreadSegments, PENDING, RING};
use workspan_wire::shm::{self, Config, Header, Instant, Thread, ThreadArea};

use crate::memory::{Record, Snapshot};

/// When serial code ran, by thread.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Segments(BTreeMap<u32, Vec<Ran>>);

/// A segment, in nanoseconds of `CLOCK_MONOTONIC`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Ran {
    from: u64,
    to: u64,
    row: ContextId,
}

impl Segments {
    /// The row of which the thread ran serial code then.
    pub fn row(&self, tid: u32, time: u64) -> Option<ContextId> {
        let own = self.0.get(&tid)?;
        let after = own.partition_point(|segment| segment.from <= time);
        let last = own.get(after.checked_sub(1)?)?;
        (time < last.to).then_some(last.row)
    }
}

/// A segment as it was written.
struct Raw {
    from: u64,
    to: u64,
    row: u32,
    tid: u32,
}

/// Reads them. `contexts`: by the collector's number, those of `recording`.
pub fn read(
    snapshot: &(impl Snapshot + ?Sized),
    contexts: &[ContextId],
    recording: &Recording,
) -> io::Result<Segments> {
    let header = Record::read(snapshot, 0, size_of::<Header>())?;
    let clock = Clock::of(&header);
    let slots = (header.u32(offset_of!(Header, thread_slots)) as usize).min(shm::MAX_THREADS);
    let mut raw = Vec::new();
    for slot in 0..slots {
        read_thread(snapshot, slot, &mut raw)?;
    }
    raw.sort_unstable_by_key(|segment| (segment.from, segment.to));
    let mut segments = Segments::default();
    for (index, segment) in raw.iter().enumerate() {
        let row = match segment.row & PENDING {
            0 => contexts.get(segment.row as usize).copied(),
            _ => continued(&raw[index + 1..], contexts, &recording.contexts, recording),
        };
        let Some(row) = row.filter(|row| *row != ContextId::ROOT) else { continue };
        let own = segments.0.entry(segment.tid).or_default();
        own.push(Ran { from: clock.nanos(segment.from), to: clock.nanos(segment.to), row });
    }
    // The rings have long segments of late twice.
    segments.0.values_mut().for_each(Vec::dedup);
    Ok(segments)
}

/// The row of a strand that went on elsewhere: that of the serial code which comes next.
fn continued(later: &[Raw], contexts: &[ContextId], tree: &ContextTree, recording: &Recording) -> Option<ContextId> {
    let row = |segment: &Raw| contexts.get(segment.row as usize).copied();
    let is_serial = |id: &ContextId| {
        let site = tree.site(*id).and_then(|site| recording.sites.get(site.0 as usize));
        site.is_some_and(|site| matches!(site.kind, SiteKind::Serial { .. }))
    };
    later.iter().take(RING).filter(|segment| segment.row & PENDING == 0).filter_map(row).find(is_serial)
}

fn read_thread(snapshot: &(impl Snapshot + ?Sized), slot: usize, into: &mut Vec<Raw>) -> io::Result<()> {
    let base = shm::SEGMENTS + slot * size_of::<ThreadSegments>();
    let counts = Record::read(snapshot, base, 16)?;
    let rings = [
        (offset_of!(ThreadSegments, recent), counts.u64(offset_of!(ThreadSegments, recent_written))),
        (offset_of!(ThreadSegments, long), counts.u64(offset_of!(ThreadSegments, long_written))),
    ];
    let size = size_of::<Segment>();
    for (at, written) in rings {
        let count = usize::try_from(written).unwrap_or(RING).min(RING);
        let bytes = Record::read(snapshot, base + at, count * size)?;
        into.extend((0..count).map(|index| {
            let segment = bytes.part(index * size, size);
            Raw {
                from: segment.u64(offset_of!(Segment, from)),
                to: segment.u64(offset_of!(Segment, to)),
                row: segment.u32(offset_of!(Segment, row)),
                tid: segment.u32(offset_of!(Segment, tid)),
            }
        }));
    }
    // One that was open when the program was killed.
    let area = Record::read(snapshot, shm::THREADS + slot * size_of::<ThreadArea>(), size_of::<Thread>())?;
    let since = area.u64(offset_of!(Thread, segment_since));
    if area.u32(offset_of!(Thread, state)) == 1 && since != 0 {
        let home = area.u32(offset_of!(Thread, home));
        let row = if home == 0 { PENDING } else { home };
        into.push(Raw { from: since, to: u64::MAX, row, tid: area.u32(offset_of!(Thread, tid)) });
    }
    Ok(())
}

/// Both clocks, at the start of the program and at its end.
struct Clock {
    started: (u64, u64),
    ticks: u64,
    nanos: u64,
}

impl Clock {
    fn of(header: &Record) -> Clock {
        let at = |field: usize| {
            (header.u64(field + offset_of!(Instant, ticks)), header.u64(field + offset_of!(Instant, nanos)))
        };
        let (started, finished) = (at(offset_of!(Header, started)), at(offset_of!(Header, finished)));
        let (ticks, nanos) = (finished.0.saturating_sub(started.0), finished.1.saturating_sub(started.1));
        if ticks > 0 && nanos > 0 {
            return Clock { started, ticks, nanos };
        }
        let per_second = header.u64(offset_of!(Header, config) + offset_of!(Config, ticks_per_second));
        Clock { started, ticks: per_second.max(1), nanos: 1_000_000_000 }
    }

    fn nanos(&self, ticks: u64) -> u64 {
        let since = i128::from(ticks) - i128::from(self.started.0);
        let nanos = i128::from(self.started.1) + since * i128::from(self.nanos) / i128::from(self.ticks);
        u64::try_from(nanos.max(0)).unwrap_or(u64::MAX)
    }
}
