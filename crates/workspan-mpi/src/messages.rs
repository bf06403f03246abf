//! Messages: sends and receives that return when they are done, and those that a request stands for.

use core::ffi::{c_int, c_void};

use workspan_trace::mpi::Deed;

use crate::communicators::{communicator, Communicator};
use crate::define;
use crate::handles::{first, Handle, Handles};
use crate::library::library;
use crate::memory::{data, note, shape, Bytes, Mode, Shape};
use crate::requests::{self, message, posted, received, Request, What};
use crate::sink::{now, ticket};
use crate::status::{is_ignored, read, Room, Status, Statuses};
use crate::table::Table;

type P = *mut c_void;
type B = *const c_void;

/// Sends, and returns when it is done.
fn send(sent: Bytes, to: c_int, tag: c_int, within: Handle, call: impl FnOnce() -> c_int) -> c_int {
    if to == library().nobody() {
        return call();
    }
    let around = communicator(within);
    note(sent, Mode::Read);
    let (before, ticket) = (now(), ticket());
    let result = call();
    if result == 0 {
        message(Deed::Send, (before, now()), (around.world(to), tag), around, ticket);
    }
    result
}

/// Sends, and returns a request.
fn begin_send(
    sent: Bytes,
    to: c_int,
    tag: c_int,
    within: Handle,
    place: Handles,
    call: impl FnOnce() -> c_int,
) -> c_int {
    if to == library().nobody() {
        return call();
    }
    let around = communicator(within);
    let request = posted(What::Send { peer: around.world(to), tag, data: sent }, around, ticket());
    let before = now();
    let result = call();
    if result == 0 {
        request.begin((before, now()));
        requests::add(first(place), request);
    }
    result
}

/// Makes a request that may be started.
fn prepare(what: What, around: &'static Communicator, place: Handles, call: impl FnOnce() -> c_int) -> c_int {
    let result = call();
    if result == 0 {
        requests::add(first(place), Request { persistent: true, active: false, ..posted(what, around, ticket()) });
    }
    result
}

fn prepare_send(
    sent: Bytes,
    to: c_int,
    tag: c_int,
    within: Handle,
    place: Handles,
    call: impl FnOnce() -> c_int,
) -> c_int {
    if to == library().nobody() {
        return call();
    }
    let around = communicator(within);
    prepare(What::Send { peer: around.world(to), tag, data: sent }, around, place, call)
}

/// Runs a call with Workspan's own status where the program wants none.
pub fn with_status(place: Statuses, call: impl FnOnce(Statuses) -> c_int) -> (c_int, Status) {
    let mut room = Room::new();
    let place = if is_ignored(place) { room.place() } else { place };
    let result = call(place);
    (result, read(place, 0))
}

fn receive(to: (u64, Shape), within: Handle, place: Statuses, call: impl FnOnce(Statuses) -> c_int) -> c_int {
    let around = communicator(within);
    let (before, ticket) = (now(), ticket());
    let (result, status) = with_status(place, call);
    if result == 0 {
        received(status, (before, now()), around, ticket, to);
    }
    result
}

fn begin_receive(
    buffer: P,
    kind: Handle,
    from: c_int,
    within: Handle,
    place: Handles,
    call: impl FnOnce() -> c_int,
) -> c_int {
    if from == library().nobody() {
        return call();
    }
    let (around, ticket) = (communicator(within), ticket());
    let address = (buffer as u64).wrapping_add_signed(shape(kind).first);
    let result = call();
    if result == 0 {
        requests::add(first(place), posted(What::Receive { address }, around, ticket));
    }
    result
}

/// A message that a probe has taken, and nobody has received yet.
#[derive(Clone, Copy, Debug)]
struct Taken {
    around: &'static Communicator,
    ticket: u64,
}

static TAKEN: Table<Taken, 1024> = Table::new();

fn take(place: Handles) -> Option<Taken> {
    let at = TAKEN.find(first(place), |taken| taken.ticket)?;
    let taken = TAKEN.get(at);
    TAKEN.free(at);
    Some(taken)
}

/// Sends and receives at once.
fn exchange(
    sent: (Bytes, c_int, c_int),
    to: (u64, Shape),
    within: Handle,
    place: Statuses,
    call: impl FnOnce(Statuses) -> c_int,
) -> c_int {
    let around = communicator(within);
    let (data, peer, tag) = sent;
    let sends = peer != library().nobody();
    if sends {
        note(data, Mode::Read);
    }
    let (before, of_send, of_receive) = (now(), ticket(), ticket());
    let (result, status) = with_status(place, call);
    if result == 0 {
        if sends {
            message(Deed::Send, (before, before), (around.world(peer), tag), around, of_send);
        }
        received(status, (before, now()), around, of_receive, to);
    }
    result
}

macro_rules! sends {
    ($count:ty: $($name:ident $profiled:ident)*) => {
        define! {$(
            /// Sends.
            $name $profiled(buffer: B, count: $count, kind: Handle, to: c_int, tag: c_int, within: Handle) |call| {
                send(data(buffer, count, kind), to, tag, within, || call(buffer, count, kind, to, tag, within))
            }
        )*}
    };
}

macro_rules! requested {
    ($count:ty: $($how:ident $name:ident $profiled:ident)*) => {
        define! {$(
            /// Sends, by a request.
            $name $profiled(buffer: B, count: $count, kind: Handle, to: c_int, tag: c_int, within: Handle, request: Handles) |call| {
                $how(data(buffer, count, kind), to, tag, within, request, || {
                    call(buffer, count, kind, to, tag, within, request)
                })
            }
        )*}
    };
}

sends! { c_int:
    MPI_Send PMPI_Send
    MPI_Bsend PMPI_Bsend
    MPI_Ssend PMPI_Ssend
    MPI_Rsend PMPI_Rsend
}

requested! { c_int:
    begin_send MPI_Isend PMPI_Isend
    begin_send MPI_Ibsend PMPI_Ibsend
    begin_send MPI_Issend PMPI_Issend
    begin_send MPI_Irsend PMPI_Irsend
    prepare_send MPI_Send_init PMPI_Send_init
    prepare_send MPI_Bsend_init PMPI_Bsend_init
    prepare_send MPI_Ssend_init PMPI_Ssend_init
    prepare_send MPI_Rsend_init PMPI_Rsend_init
}

define! {
    /// Receives.
    MPI_Recv PMPI_Recv(buffer: P, count: c_int, kind: Handle, from: c_int, tag: c_int, within: Handle, status: Statuses) |call| {
        receive((buffer as u64, shape(kind)), within, status, |status| {
            call(buffer, count, kind, from, tag, within, status)
        })
    }

    /// Receives, by a request.
    MPI_Irecv PMPI_Irecv(buffer: P, count: c_int, kind: Handle, from: c_int, tag: c_int, within: Handle, request: Handles) |call| {
        begin_receive(buffer, kind, from, within, request, || call(buffer, count, kind, from, tag, within, request))
    }

    /// Makes a request that receives.
    MPI_Recv_init PMPI_Recv_init(buffer: P, count: c_int, kind: Handle, from: c_int, tag: c_int, within: Handle, request: Handles) |call| {
        if from == library().nobody() {
            return call(buffer, count, kind, from, tag, within, request);
        }
        let address = (buffer as u64).wrapping_add_signed(shape(kind).first);
        prepare(What::Receive { address }, communicator(within), request, || {
            call(buffer, count, kind, from, tag, within, request)
        })
    }

    /// Sends and receives.
    MPI_Sendrecv PMPI_Sendrecv(
        buffer: B,
        count: c_int,
        kind: Handle,
        to: c_int,
        tag: c_int,
        buffer2: P,
        count2: c_int,
        kind2: Handle,
        from: c_int,
        tag2: c_int,
        within: Handle,
        status: Statuses,
    ) |call| {
        exchange((data(buffer, count, kind), to, tag), (buffer2 as u64, shape(kind2)), within, status, |status| {
            call(buffer, count, kind, to, tag, buffer2, count2, kind2, from, tag2, within, status)
        })
    }

    /// Sends and receives in the same place.
    MPI_Sendrecv_replace PMPI_Sendrecv_replace(
        buffer: P,
        count: c_int,
        kind: Handle,
        to: c_int,
        tag: c_int,
        from: c_int,
        tag2: c_int,
        within: Handle,
        status: Statuses,
    ) |call| {
        exchange((data(buffer, count, kind), to, tag), (buffer as u64, shape(kind)), within, status, |status| {
            call(buffer, count, kind, to, tag, from, tag2, within, status)
        })
    }

    /// Waits for a message.
    MPI_Probe PMPI_Probe(from: c_int, tag: c_int, within: Handle, status: Statuses) |call| {
        let around = communicator(within);
        let before = now();
        let (result, found) = with_status(status, |status| call(from, tag, within, status));
        if result == 0 && found.source >= 0 {
            message(Deed::Probe, (before, now()), (around.world(found.source), found.tag), around, 0);
        }
        result
    }

    /// Waits for a message, and takes it.
    MPI_Mprobe PMPI_Mprobe(from: c_int, tag: c_int, within: Handle, taken: Handles, status: Statuses) |call| {
        let (around, ticket, before) = (communicator(within), ticket(), now());
        let (result, found) = with_status(status, |status| call(from, tag, within, taken, status));
        if result == 0 && found.source >= 0 {
            message(Deed::Probe, (before, now()), (around.world(found.source), found.tag), around, 0);
            TAKEN.insert(first(taken), Taken { around, ticket });
        }
        result
    }

    /// Takes a message if there is one.
    MPI_Improbe PMPI_Improbe(from: c_int, tag: c_int, within: Handle, flag: *mut c_int, taken: Handles, status: Statuses) |call| {
        let (around, ticket) = (communicator(within), ticket());
        let (result, found) = with_status(status, |status| call(from, tag, within, flag, taken, status));
        // SAFETY: the library has filled it in.
        if result == 0 && unsafe { *flag } != 0 && found.source >= 0 {
            TAKEN.insert(first(taken), Taken { around, ticket });
        }
        result
    }

    /// Receives a message that was taken.
    MPI_Mrecv PMPI_Mrecv(buffer: P, count: c_int, kind: Handle, place: Handles, status: Statuses) |call| {
        let (taken, before) = (take(place), now());
        let (result, found) = with_status(status, |status| call(buffer, count, kind, place, status));
        if let Some(Taken { around, ticket }) = taken.filter(|_| result == 0) {
            received(found, (before, now()), around, ticket, (buffer as u64, shape(kind)));
        }
        result
    }

    /// Receives a message that was taken, by a request.
    MPI_Imrecv PMPI_Imrecv(buffer: P, count: c_int, kind: Handle, place: Handles, request: Handles) |call| {
        let taken = take(place);
        let address = (buffer as u64).wrapping_add_signed(shape(kind).first);
        let result = call(buffer, count, kind, place, request);
        if let Some(Taken { around, ticket }) = taken.filter(|_| result == 0) {
            requests::add(first(request), posted(What::Receive { address }, around, ticket));
        }
        result
    }
}
