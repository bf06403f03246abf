//! Collective calls that return a request: a rank arrives when it makes the call, and waits when it waits for the request.
//!
//! Of calls with a count for each rank, what a rank gets is noted when it makes the call.

use core::ffi::{c_int, c_void};

use crate::collectives::{at_root, broadcast, from_root, is_at_root, number, parts, sum, to_root, Data};
use crate::communicators::{communicator, Communicator, Roles};
use crate::define;
use crate::handles::{first, Handle, Handles};
use crate::memory::{data, note, Bytes, Mode};
use crate::requests::{self, posted, What};
use crate::sink::{now, ticket};

type P = *mut c_void;
type B = *const c_void;
type C = *const c_int;

fn begin(
    around: &'static Communicator,
    roles: Roles,
    moved: Data,
    place: Handles,
    call: impl FnOnce() -> c_int,
) -> c_int {
    note(moved.given, Mode::Read);
    let (before, sequence, ticket) = (now(), around.next(), ticket());
    let result = call();
    if result == 0 {
        if roles.arrives {
            around.collective((before, now()), sequence, Roles { waits: false, ..roles });
        }
        requests::add(first(place), posted(What::Collective { sequence, roles, data: moved.got }, around, ticket));
    }
    result
}

define! {
    /// All wait for all.
    MPI_Ibarrier PMPI_Ibarrier(within: Handle, request: Handles) |call| {
        begin(communicator(within), Roles::ALL, Data::default(), request, || call(within, request))
    }

    /// One gives to all.
    MPI_Ibcast PMPI_Ibcast(buffer: P, count: c_int, kind: Handle, root: c_int, within: Handle, request: Handles) |call| {
        let around = communicator(within);
        let moved = broadcast(is_at_root(around, root), data(buffer, count, kind));
        begin(around, from_root(around, root), moved, request, || call(buffer, count, kind, root, within, request))
    }

    /// All give to one.
    MPI_Ireduce PMPI_Ireduce(
        from: B, to: P, count: c_int, kind: Handle, operation: Handle, root: c_int, within: Handle, request: Handles,
    ) |call| {
        let around = communicator(within);
        let got = at_root(is_at_root(around, root), || data(to, count, kind));
        let moved = Data { given: data(from, count, kind), got };
        begin(around, to_root(around, root), moved, request, || {
            call(from, to, count, kind, operation, root, within, request)
        })
    }

    /// All give to all.
    MPI_Iallreduce PMPI_Iallreduce(
        from: B, to: P, count: c_int, kind: Handle, operation: Handle, within: Handle, request: Handles,
    ) |call| {
        let moved = Data { given: data(from, count, kind), got: data(to, count, kind) };
        begin(communicator(within), Roles::ALL, moved, request, || {
            call(from, to, count, kind, operation, within, request)
        })
    }

    /// Each gets what those before it gave, and its own.
    MPI_Iscan PMPI_Iscan(
        from: B, to: P, count: c_int, kind: Handle, operation: Handle, within: Handle, request: Handles,
    ) |call| {
        let moved = Data { given: data(from, count, kind), got: data(to, count, kind) };
        begin(communicator(within), Roles::ALL, moved, request, || {
            call(from, to, count, kind, operation, within, request)
        })
    }

    /// Each gets what those before it gave.
    MPI_Iexscan PMPI_Iexscan(
        from: B, to: P, count: c_int, kind: Handle, operation: Handle, within: Handle, request: Handles,
    ) |call| {
        let around = communicator(within);
        let got = at_root(around.members.own != 0, || data(to, count, kind));
        let moved = Data { given: data(from, count, kind), got };
        begin(around, Roles::ALL, moved, request, || call(from, to, count, kind, operation, within, request))
    }

    /// One gets from all.
    MPI_Igather PMPI_Igather(
        from: B, count: c_int, kind: Handle, to: P, each: c_int, kind2: Handle, root: c_int, within: Handle, request: Handles,
    ) |call| {
        let around = communicator(within);
        let got = at_root(is_at_root(around, root), || data(to, i64::from(each) * around.size(), kind2));
        let moved = Data { given: data(from, count, kind), got };
        begin(around, to_root(around, root), moved, request, || {
            call(from, count, kind, to, each, kind2, root, within, request)
        })
    }

    /// One gets from all, of each as much as it has.
    MPI_Igatherv PMPI_Igatherv(
        from: B, count: c_int, kind: Handle, to: P, counts: C, distances: C, kind2: Handle, root: c_int, within: Handle,
        request: Handles,
    ) |call| {
        let around = communicator(within);
        if is_at_root(around, root) {
            parts(around, to, counts, distances, kind2, Mode::Write);
        }
        let moved = Data { given: data(from, count, kind), got: Bytes::default() };
        begin(around, to_root(around, root), moved, request, || {
            call(from, count, kind, to, counts, distances, kind2, root, within, request)
        })
    }

    /// One gives each a part.
    MPI_Iscatter PMPI_Iscatter(
        from: B, each: c_int, kind: Handle, to: P, count: c_int, kind2: Handle, root: c_int, within: Handle, request: Handles,
    ) |call| {
        let around = communicator(within);
        let given = at_root(is_at_root(around, root), || data(from, i64::from(each) * around.size(), kind));
        let moved = Data { given, got: data(to, count, kind2) };
        begin(around, from_root(around, root), moved, request, || {
            call(from, each, kind, to, count, kind2, root, within, request)
        })
    }

    /// One gives each a part of its own size.
    MPI_Iscatterv PMPI_Iscatterv(
        from: B, counts: C, distances: C, kind: Handle, to: P, count: c_int, kind2: Handle, root: c_int, within: Handle,
        request: Handles,
    ) |call| {
        let around = communicator(within);
        if is_at_root(around, root) {
            parts(around, from, counts, distances, kind, Mode::Read);
        }
        let moved = Data { given: Bytes::default(), got: data(to, count, kind2) };
        begin(around, from_root(around, root), moved, request, || {
            call(from, counts, distances, kind, to, count, kind2, root, within, request)
        })
    }

    /// All get from all.
    MPI_Iallgather PMPI_Iallgather(
        from: B, count: c_int, kind: Handle, to: P, each: c_int, kind2: Handle, within: Handle, request: Handles,
    ) |call| {
        let around = communicator(within);
        let moved = Data { given: data(from, count, kind), got: data(to, i64::from(each) * around.size(), kind2) };
        begin(around, Roles::ALL, moved, request, || call(from, count, kind, to, each, kind2, within, request))
    }

    /// All get from all, of each as much as it has.
    MPI_Iallgatherv PMPI_Iallgatherv(
        from: B, count: c_int, kind: Handle, to: P, counts: C, distances: C, kind2: Handle, within: Handle, request: Handles,
    ) |call| {
        let around = communicator(within);
        parts(around, to, counts, distances, kind2, Mode::Write);
        let moved = Data { given: data(from, count, kind), got: Bytes::default() };
        begin(around, Roles::ALL, moved, request, || {
            call(from, count, kind, to, counts, distances, kind2, within, request)
        })
    }

    /// Each gives each another part.
    MPI_Ialltoall PMPI_Ialltoall(
        from: B, count: c_int, kind: Handle, to: P, each: c_int, kind2: Handle, within: Handle, request: Handles,
    ) |call| {
        let around = communicator(within);
        let size = around.size();
        let moved = Data { given: data(from, i64::from(count) * size, kind), got: data(to, i64::from(each) * size, kind2) };
        begin(around, Roles::ALL, moved, request, || call(from, count, kind, to, each, kind2, within, request))
    }

    /// Each gives each another part of its own size.
    MPI_Ialltoallv PMPI_Ialltoallv(
        from: B, counts: C, distances: C, kind: Handle, to: P, counts2: C, distances2: C, kind2: Handle, within: Handle,
        request: Handles,
    ) |call| {
        let around = communicator(within);
        if from as usize != crate::library::library().in_place() {
            parts(around, from, counts, distances, kind, Mode::Read);
        }
        parts(around, to, counts2, distances2, kind2, Mode::Write);
        begin(around, Roles::ALL, Data::default(), request, || {
            call(from, counts, distances, kind, to, counts2, distances2, kind2, within, request)
        })
    }

    /// All give to all, each gets a part.
    MPI_Ireduce_scatter PMPI_Ireduce_scatter(
        from: B, to: P, counts: C, kind: Handle, operation: Handle, within: Handle, request: Handles,
    ) |call| {
        let around = communicator(within);
        let own = number(counts, around.members.own as usize);
        let moved = Data { given: data(from, sum(around, counts), kind), got: data(to, own, kind) };
        begin(around, Roles::ALL, moved, request, || call(from, to, counts, kind, operation, within, request))
    }

    /// All give to all, each gets a part of the same size.
    MPI_Ireduce_scatter_block PMPI_Ireduce_scatter_block(
        from: B, to: P, count: c_int, kind: Handle, operation: Handle, within: Handle, request: Handles,
    ) |call| {
        let around = communicator(within);
        let moved = Data { given: data(from, i64::from(count) * around.size(), kind), got: data(to, count, kind) };
        begin(around, Roles::ALL, moved, request, || call(from, to, count, kind, operation, within, request))
    }
}
