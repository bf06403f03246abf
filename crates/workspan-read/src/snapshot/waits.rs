//! Who waited for whom.

use std::io;
use std::mem::{offset_of, size_of};

use workspan_model::wait::unite;
use workspan_model::{Role, SiteId, WaitFor};
use workspan_wire::shm::{self, WaitEdge, MAX_WAIT_EDGES, WAIT_MAIN, WAIT_OUTSIDE, WAIT_SITES};

use crate::memory::{Record, Snapshot, Ticks};

/// What threads waited for; `sites`: by the collector's number, those of the recording.
pub(super) fn read(
    snapshot: &(impl Snapshot + ?Sized),
    sites: &[Option<SiteId>],
    ticks: &Ticks,
) -> io::Result<Vec<WaitFor>> {
    let size = size_of::<WaitEdge>();
    let bytes = Record::read(snapshot, shm::WAIT_EDGES, MAX_WAIT_EDGES * size)?;
    let role = |number: u32| match number {
        WAIT_MAIN => Some(Role::Main),
        WAIT_OUTSIDE => Some(Role::Outside),
        _ => sites.get(number.checked_sub(WAIT_SITES)? as usize).copied().flatten().map(Role::Threads),
    };
    let edge = |index: usize| {
        let record = bytes.part(index * size, size);
        let key = record.u64(offset_of!(WaitEdge, key));
        let nanos = |at| ticks.nanos(record.i64(at).max(0));
        let half = |shift: u32| u32::try_from(key >> shift & u64::from(u32::MAX)).ok().and_then(role);
        Some(WaitFor {
            waiter: half(32)?,
            on: half(0)?,
            count: record.u64(offset_of!(WaitEdge, count)).min(1 << 40),
            waited: nanos(offset_of!(WaitEdge, waited)),
            locked: nanos(offset_of!(WaitEdge, locked)),
            passed_on: nanos(offset_of!(WaitEdge, passed_on)),
        })
    };
    let mut waits: Vec<WaitFor> = (0..MAX_WAIT_EDGES).filter_map(edge).collect();
    unite(&mut waits);
    Ok(waits)
}
