//! Requests that become complete: waits and tests, starts of persistent ones, and their end.
//!
//! Handles are read before the library's call, which replaces those of what is complete.

use core::ffi::{c_int, c_void};

use crate::define;
use crate::handles::{at, first, Handles};
use crate::requests::{find, Request, What, REQUESTS};
use crate::sink::{now, ticket};
use crate::status::{is_ignored, read, size, Room, Status, Statuses};

extern "C" {
    fn __libc_malloc(size: usize) -> *mut c_void;
    fn __libc_free(pointer: *mut c_void);
}

/// Requests that a call looks at: those that are known.
struct Looked {
    /// Place in the table + 1, for each request of the call; 0: not known, or not active.
    few: [u32; Looked::FEW],
    many: *mut u32,
    count: usize,
}

impl Looked {
    const FEW: usize = 64;

    fn new(handles: Handles, count: c_int) -> Looked {
        let count = usize::try_from(count).unwrap_or(0);
        let mut looked = Looked { few: [0; Looked::FEW], many: core::ptr::null_mut(), count };
        if count > Looked::FEW {
            // SAFETY: as any allocation.
            looked.many = unsafe { __libc_malloc(count * size_of::<u32>()) }.cast();
            if looked.many.is_null() {
                looked.count = 0;
            }
        }
        for index in 0..looked.count {
            let place = find(at(handles, index)).filter(|place| REQUESTS.get(*place).active);
            if let Some(place) = place {
                REQUESTS.set(place, Request { claimed: true, ..REQUESTS.get(place) });
            }
            let number = place.map_or(0, |place| u32::try_from(place + 1).unwrap_or(0));
            looked.set(index, number);
        }
        looked
    }

    fn set(&mut self, index: usize, number: u32) {
        if self.many.is_null() {
            self.few[index] = number;
            return;
        }
        let place = self.many.wrapping_add(index);
        // SAFETY: below the count.
        unsafe { place.write(number) };
    }

    /// The request at an index, if it is known.
    fn get(&self, index: usize) -> Option<usize> {
        if index >= self.count {
            return None;
        }
        let number = if self.many.is_null() {
            self.few[index]
        } else {
            let place = self.many.wrapping_add(index);
            // SAFETY: below the count, and written.
            unsafe { place.read() }
        };
        (number as usize).checked_sub(1)
    }
}

impl Drop for Looked {
    fn drop(&mut self) {
        for place in (0..self.count).filter_map(|index| self.get(index)) {
            let request = REQUESTS.get(place);
            if request.claimed && request.active {
                REQUESTS.set(place, Request { claimed: false, ..request });
            }
        }
        if !self.many.is_null() {
            // SAFETY: allocated above.
            unsafe { __libc_free(self.many.cast()) };
        }
    }
}

/// Statuses of a call: the program's, or ours.
struct Answers {
    place: Statuses,
    ours: bool,
}

impl Answers {
    /// Room for some statuses, where the program wants none.
    fn new(theirs: Statuses, count: c_int) -> Answers {
        if !is_ignored(theirs) {
            return Answers { place: theirs, ours: false };
        }
        let count = usize::try_from(count).unwrap_or(0).max(1);
        // SAFETY: as any allocation.
        let place = unsafe { __libc_malloc(count * size()) };
        if place.is_null() {
            return Answers { place: theirs, ours: false };
        }
        Answers { place, ours: true }
    }

    fn read(&self, index: usize) -> Status {
        if is_ignored(self.place) {
            return Status { source: -1, tag: 0, bytes: 0, cancelled: false };
        }
        read(self.place, index)
    }
}

impl Drop for Answers {
    fn drop(&mut self) {
        if self.ours {
            // SAFETY: allocated above.
            unsafe { __libc_free(self.place) };
        }
    }
}

/// A request is complete.
fn complete(place: Option<usize>, status: Status, times: (u64, u64)) -> bool {
    let Some(place) = place else { return false };
    let request: Request = REQUESTS.get(place);
    if !request.active {
        return false;
    }
    request.complete(status, times);
    REQUESTS.set(place, Request { active: false, claimed: false, ..request });
    if !request.persistent {
        REQUESTS.free(place);
    }
    true
}

/// Several are: the wait is that of the first.
fn complete_all(which: impl Iterator<Item = (Option<usize>, Status)>, before: u64) {
    let after = now();
    let mut from = before;
    for (place, status) in which {
        if complete(place, status, (from, after)) {
            from = after;
        }
    }
}

/// An index that a call has answered; nothing for `MPI_UNDEFINED`.
fn index(place: *const c_int) -> Option<usize> {
    // SAFETY: the library has filled it in.
    usize::try_from(unsafe { place.read() }).ok()
}

fn is_set(flag: *const c_int) -> bool {
    // SAFETY: as above.
    unsafe { flag.read() != 0 }
}

/// Starts a persistent request.
fn start(handle: usize) -> Option<(usize, Request)> {
    let place = find(handle)?;
    let request = Request { active: true, ticket: ticket(), ..REQUESTS.get(place) };
    REQUESTS.set(place, request);
    Some((place, request))
}

fn some(handles: &Looked, outcome: *const c_int, indices: *const c_int, answers: &Answers, before: u64) {
    let count = index(outcome).unwrap_or(0);
    let which = (0..count).map(|number| {
        let place = index(indices.wrapping_add(number)).and_then(|index| handles.get(index));
        (place, answers.read(number))
    });
    complete_all(which, before);
}

fn all(handles: &Looked, answers: &Answers, before: u64) {
    complete_all((0..handles.count).map(|index| (handles.get(index), answers.read(index))), before);
}

fn any(handles: &Looked, which: *const c_int, answers: &Answers, before: u64) {
    let place = index(which).and_then(|index| handles.get(index));
    complete_all(core::iter::once((place, answers.read(0))), before);
}

type I = *mut c_int;

/// Runs `call`, which waits for requests or looks at them, with room for statuses; `then` completes those that are, if it succeeded.
fn look(
    (requests, count): (Handles, c_int),
    statuses: (Statuses, c_int),
    call: impl FnOnce(Statuses) -> c_int,
    then: impl FnOnce(&Looked, &Answers, u64),
) -> c_int {
    let (handles, answers) = (Looked::new(requests, count), Answers::new(statuses.0, statuses.1));
    let before = now();
    let result = call(answers.place);
    if result == 0 {
        then(&handles, &answers, before);
    }
    result
}

define! {
    /// Waits for one.
    MPI_Wait PMPI_Wait(request: Handles, status: Statuses) |call| {
        let place = find(first(request));
        let before = now();
        let mut room = Room::new();
        let status = if is_ignored(status) && place.is_some() { room.place() } else { status };
        let result = call(request, status);
        if result == 0 && place.is_some() {
            complete_all(core::iter::once((place, read(status, 0))), before);
        }
        result
    }

    /// Waits for all.
    MPI_Waitall PMPI_Waitall(count: c_int, requests: Handles, statuses: Statuses) |call| {
        look((requests, count), (statuses, count), |place| call(count, requests, place), all)
    }

    /// Waits for any.
    MPI_Waitany PMPI_Waitany(count: c_int, requests: Handles, which: I, status: Statuses) |call| {
        look((requests, count), (status, 1), |place| call(count, requests, which, place), |handles, answers, before| {
            any(handles, which, answers, before);
        })
    }

    /// Waits for some.
    MPI_Waitsome PMPI_Waitsome(count: c_int, requests: Handles, outcome: I, indices: I, statuses: Statuses) |call| {
        look((requests, count), (statuses, count), |place| call(count, requests, outcome, indices, place), |handles, answers, before| {
            some(handles, outcome, indices, answers, before);
        })
    }

    /// Looks at one.
    MPI_Test PMPI_Test(request: Handles, flag: I, status: Statuses) |call| {
        let place = find(first(request));
        let before = now();
        let mut room = Room::new();
        let status = if is_ignored(status) && place.is_some() { room.place() } else { status };
        let result = call(request, flag, status);
        if result == 0 && place.is_some() && is_set(flag) {
            complete_all(core::iter::once((place, read(status, 0))), before);
        }
        result
    }

    /// Looks at all.
    MPI_Testall PMPI_Testall(count: c_int, requests: Handles, flag: I, statuses: Statuses) |call| {
        look((requests, count), (statuses, count), |place| call(count, requests, flag, place), |handles, answers, before| {
            if is_set(flag) {
                all(handles, answers, before);
            }
        })
    }

    /// Looks at any.
    MPI_Testany PMPI_Testany(count: c_int, requests: Handles, which: I, flag: I, status: Statuses) |call| {
        look((requests, count), (status, 1), |place| call(count, requests, which, flag, place), |handles, answers, before| {
            if is_set(flag) {
                any(handles, which, answers, before);
            }
        })
    }

    /// Looks at some.
    MPI_Testsome PMPI_Testsome(count: c_int, requests: Handles, outcome: I, indices: I, statuses: Statuses) |call| {
        look((requests, count), (statuses, count), |place| call(count, requests, outcome, indices, place), |handles, answers, before| {
            some(handles, outcome, indices, answers, before);
        })
    }

    /// Starts a persistent request.
    MPI_Start PMPI_Start(request: Handles) |call| {
        let started = start(first(request));
        let before = now();
        let result = call(request);
        if let Some((_, request)) = started.filter(|_| result == 0) {
            request.begin((before, now()));
        }
        result
    }

    /// Starts several.
    MPI_Startall PMPI_Startall(count: c_int, requests: Handles) |call| {
        let count_here = usize::try_from(count).unwrap_or(0);
        for index in 0..count_here {
            start(at(requests, index));
        }
        let before = now();
        let result = call(count, requests);
        if result == 0 {
            let after = now();
            let mut from = before;
            for index in 0..count_here {
                if let Some(place) = find(at(requests, index)) {
                    let request = REQUESTS.get(place);
                    request.begin((from, after));
                    if matches!(request.what, What::Send { .. }) {
                        from = after;
                    }
                }
            }
        }
        result
    }

    /// Frees a request: nobody waits for it.
    MPI_Request_free PMPI_Request_free(request: Handles) |call| {
        let place = find(first(request));
        let result = call(request);
        if let Some(place) = place.filter(|_| result == 0) {
            REQUESTS.free(place);
        }
        result
    }
}
