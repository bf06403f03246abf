//! One-sided communication: fences are collective, locks are locks of the target's part, post and complete are messages to
//! those who start and wait. What a call reads or writes on its own side is an access; the other side's memory is not its own.

use core::ffi::{c_int, c_void};

use workspan_trace::mpi::Deed;

use crate::communicators::{add, communicator, find, forget, Communicator, Roles};
use crate::groups::Of;
use crate::handles::{first, plain, Handle, Handles};
use crate::library::library;
use crate::memory::{data, note, Mode};
use crate::requests::message;
use crate::sink::{now, ticket};
use crate::table::Table;
use crate::{define, groups};

type P = *mut c_void;
type B = *const c_void;

/// Tags of what a post and a complete say.
const POSTED: i32 = -11;
const COMPLETED: i32 = -12;
/// All targets of a window.
const ALL: u32 = u32::MAX;

/// Groups of a window's epochs that are open: of the accesses, and of the exposure.
#[derive(Clone, Copy, Debug, Default)]
struct Epochs {
    access: &'static [u32],
    exposure: &'static [u32],
}

static EPOCHS: Table<Epochs, 1024> = Table::new();

fn epochs(window: Handle, change: impl FnOnce(&mut Epochs)) {
    let window = plain(window);
    if EPOCHS.find(window, |_| 0).is_none() {
        EPOCHS.insert(window, Epochs::default());
    }
    if let Some(place) = EPOCHS.find(window, |_| 0) {
        let mut value = EPOCHS.get(place);
        change(&mut value);
        EPOCHS.set(place, value);
    }
}

fn open(window: Handle) -> Epochs {
    EPOCHS.find(plain(window), |_| 0).map_or(Epochs::default(), |place| EPOCHS.get(place))
}

fn window(handle: Handle) -> &'static Communicator {
    find(handle, Of::Window)
}

/// A call that makes a window, of all members of a communicator.
fn made(within: Handle, place: Handles, call: impl FnOnce() -> c_int) -> c_int {
    let around = communicator(within);
    let (before, sequence) = (now(), around.next());
    let result = call();
    if result == 0 {
        around.collective((before, now()), sequence, Roles::ALL);
        add(first(place), Of::Window);
    }
    result
}

/// A call on the target's part of a window.
fn locked(handle: Handle, target: Option<c_int>, deed: Deed, call: impl FnOnce() -> c_int) -> c_int {
    let around = window(handle);
    let before = now();
    let result = call();
    if result == 0 {
        let peer = target.map_or(ALL, |target| around.world(target));
        message(deed, (before, now()), (peer, 0), around, ticket());
    }
    result
}

/// Messages to or from a group.
fn exchanged(handle: Handle, group: &[u32], deed: Deed, tag: i32, call: impl FnOnce() -> c_int) -> c_int {
    let around = window(handle);
    let (before, first) = (now(), ticket());
    let result = call();
    if result == 0 {
        let mut times = (before, now());
        for (number, peer) in group.iter().enumerate() {
            let order = if number == 0 { first } else { ticket() };
            message(deed, times, (*peer, tag), around, order);
            times.0 = times.1;
        }
    }
    result
}

/// What an operation on another's memory does here.
fn remote(
    given: (B, c_int, Handle),
    got: Option<(P, c_int, Handle)>,
    target: c_int,
    call: impl FnOnce() -> c_int,
) -> c_int {
    if target == library().nobody() {
        return call();
    }
    if given.1 > 0 {
        note(data(given.0, given.1, given.2), Mode::Read);
    }
    let result = call();
    if let Some((buffer, count, kind)) = got.filter(|_| result == 0) {
        note(data(buffer, count, kind), Mode::Write);
    }
    result
}

define! {
    /// Makes a window of memory.
    MPI_Win_create PMPI_Win_create(base: P, size: isize, unit: c_int, info: Handle, within: Handle, new: Handles) |call| {
        made(within, new, || call(base, size, unit, info, within, new))
    }

    /// Makes a window and its memory.
    MPI_Win_allocate PMPI_Win_allocate(size: isize, unit: c_int, info: Handle, within: Handle, base: P, new: Handles) |call| {
        made(within, new, || call(size, unit, info, within, base, new))
    }

    /// Makes a window whose memory is shared.
    MPI_Win_allocate_shared PMPI_Win_allocate_shared(size: isize, unit: c_int, info: Handle, within: Handle, base: P, new: Handles) |call| {
        made(within, new, || call(size, unit, info, within, base, new))
    }

    /// Makes a window without memory.
    MPI_Win_create_dynamic PMPI_Win_create_dynamic(info: Handle, within: Handle, new: Handles) |call| {
        made(within, new, || call(info, within, new))
    }

    /// Frees a window.
    MPI_Win_free PMPI_Win_free(place: Handles) |call| {
        let handle = first(place);
        let around = window(handle);
        let (before, sequence) = (now(), around.next());
        let result = call(place);
        if result == 0 {
            around.collective((before, now()), sequence, Roles::ALL);
            forget(handle, Of::Window);
            if let Some(place) = EPOCHS.find(handle, |_| 0) {
                EPOCHS.free(place);
            }
        }
        result
    }

    /// Ends an epoch of all, and begins another.
    MPI_Win_fence PMPI_Win_fence(assertion: c_int, handle: Handle) |call| {
        let around = window(handle);
        let (before, sequence) = (now(), around.next());
        let result = call(assertion, handle);
        if result == 0 {
            around.collective((before, now()), sequence, Roles::ALL);
        }
        result
    }

    /// Locks a target's part.
    MPI_Win_lock PMPI_Win_lock(kind: c_int, target: c_int, assertion: c_int, handle: Handle) |call| {
        // 1 in Open MPI, 234 in MPICH: exclusive.
        let deed = if kind == 1 || kind == 234 { Deed::Lock } else { Deed::ReadLock };
        locked(handle, Some(target), deed, || call(kind, target, assertion, handle))
    }

    /// Unlocks it.
    MPI_Win_unlock PMPI_Win_unlock(target: c_int, handle: Handle) |call| {
        locked(handle, Some(target), Deed::Unlock, || call(target, handle))
    }

    /// Locks all parts, with others.
    MPI_Win_lock_all PMPI_Win_lock_all(assertion: c_int, handle: Handle) |call| {
        locked(handle, None, Deed::ReadLock, || call(assertion, handle))
    }

    /// Unlocks them.
    MPI_Win_unlock_all PMPI_Win_unlock_all(handle: Handle) |call| {
        locked(handle, None, Deed::Unlock, || call(handle))
    }

    /// Exposes memory to a group.
    MPI_Win_post PMPI_Win_post(group: Handle, assertion: c_int, handle: Handle) |call| {
        let exposure = groups::of_group(group);
        epochs(handle, |epochs| epochs.exposure = exposure);
        exchanged(handle, exposure, Deed::Send, POSTED, || call(group, assertion, handle))
    }

    /// Begins accesses to memory that a group exposes.
    MPI_Win_start PMPI_Win_start(group: Handle, assertion: c_int, handle: Handle) |call| {
        let access = groups::of_group(group);
        epochs(handle, |epochs| epochs.access = access);
        exchanged(handle, access, Deed::Receive, POSTED, || call(group, assertion, handle))
    }

    /// Ends them.
    MPI_Win_complete PMPI_Win_complete(handle: Handle) |call| {
        exchanged(handle, open(handle).access, Deed::Send, COMPLETED, || call(handle))
    }

    /// Waits until all have ended theirs.
    MPI_Win_wait PMPI_Win_wait(handle: Handle) |call| {
        exchanged(handle, open(handle).exposure, Deed::Receive, COMPLETED, || call(handle))
    }

    /// Writes another's memory.
    MPI_Put PMPI_Put(from: B, count: c_int, kind: Handle, target: c_int, at: isize, there: c_int, kind2: Handle, handle: Handle) |call| {
        remote((from, count, kind), None, target, || call(from, count, kind, target, at, there, kind2, handle))
    }

    /// Reads another's memory.
    MPI_Get PMPI_Get(to: P, count: c_int, kind: Handle, target: c_int, at: isize, there: c_int, kind2: Handle, handle: Handle) |call| {
        remote((to, 0, kind), Some((to, count, kind)), target, || {
            call(to, count, kind, target, at, there, kind2, handle)
        })
    }

    /// Changes another's memory.
    MPI_Accumulate PMPI_Accumulate(
        from: B, count: c_int, kind: Handle, target: c_int, at: isize, there: c_int, kind2: Handle, operation: Handle,
        handle: Handle,
    ) |call| {
        remote((from, count, kind), None, target, || {
            call(from, count, kind, target, at, there, kind2, operation, handle)
        })
    }

    /// Reads and changes another's memory.
    MPI_Get_accumulate PMPI_Get_accumulate(
        from: B, count: c_int, kind: Handle, to: P, count1: c_int, kind1: Handle, target: c_int, at: isize, there: c_int,
        kind2: Handle, operation: Handle, handle: Handle,
    ) |call| {
        remote((from, count, kind), Some((to, count1, kind1)), target, || {
            call(from, count, kind, to, count1, kind1, target, at, there, kind2, operation, handle)
        })
    }

    /// Reads and changes an element of another's memory.
    MPI_Fetch_and_op PMPI_Fetch_and_op(from: B, to: P, kind: Handle, target: c_int, at: isize, operation: Handle, handle: Handle) |call| {
        remote((from, 1, kind), Some((to, 1, kind)), target, || call(from, to, kind, target, at, operation, handle))
    }

    /// Replaces an element of another's memory if it has a value.
    MPI_Compare_and_swap PMPI_Compare_and_swap(from: B, with: B, to: P, kind: Handle, target: c_int, at: isize, handle: Handle) |call| {
        remote((from, 1, kind), Some((to, 1, kind)), target, || call(from, with, to, kind, target, at, handle))
    }
}
