//! Collective calls that return when they are done. Each is a barrier of those who give data and those who need it.

use core::ffi::{c_int, c_void};

use crate::communicators::{communicator, is_root, Communicator, Roles};
use crate::define;
use crate::handles::Handle;
use crate::library::library;
use crate::memory::{data, elements, note, part, shape, Bytes, Mode};
use crate::sink::now;

type P = *mut c_void;
type B = *const c_void;
type C = *const c_int;

/// What a rank gives and gets in a collective call.
#[derive(Clone, Copy, Debug, Default)]
pub struct Data {
    /// What it gives.
    pub given: Bytes,
    /// What it gets.
    pub got: Bytes,
}

/// This process in a communicator, as a number of the program.
pub fn own_rank(around: &Communicator) -> c_int {
    c_int::try_from(around.members.own).unwrap_or(0)
}

/// A call whose buffers are whole.
fn whole(around: &Communicator, roles: Roles, moved: Data, call: impl FnOnce() -> c_int) -> c_int {
    in_parts(around, roles, |mode| note(if mode == Mode::Read { moved.given } else { moved.got }, mode), call)
}

/// A call whose buffers are noted by a function.
fn in_parts(around: &Communicator, roles: Roles, moved: impl Fn(Mode), call: impl FnOnce() -> c_int) -> c_int {
    moved(Mode::Read);
    let (before, sequence) = (now(), around.next());
    let result = call();
    if result == 0 {
        around.collective((before, now()), sequence, roles);
        moved(Mode::Write);
    }
    result
}

/// Notes the parts of a buffer that belong to the ranks.
pub fn parts(around: &Communicator, buffer: B, counts: C, distances: C, kind: Handle, mode: Mode) {
    let shape = shape(kind);
    for rank in 0..around.members.ranks.len() {
        note(part(buffer, number(distances, rank), number(counts, rank), shape), mode);
    }
}

/// The same with a datatype for each rank, and distances in bytes.
fn typed_parts(around: &Communicator, buffer: B, counts: C, distances: C, kinds: P, mode: Mode) {
    for rank in 0..around.members.ranks.len() {
        let from = buffer.wrapping_byte_offset(number(distances, rank) as isize);
        if buffer as usize != library().in_place() {
            note(elements(from, number(counts, rank).into(), shape(crate::handles::at(kinds, rank))), mode);
        }
    }
}

/// One of the program's numbers.
pub fn number(numbers: C, index: usize) -> c_int {
    let place = numbers.wrapping_add(index);
    // SAFETY: the program passes one for each rank.
    unsafe { place.read() }
}

/// Nothing where a rank is not the root.
pub fn at_root(root: bool, bytes: impl FnOnce() -> Bytes) -> Bytes {
    if root {
        bytes()
    } else {
        Bytes::default()
    }
}

/// What a broadcast moves.
pub fn broadcast(root: bool, bytes: Bytes) -> Data {
    if root {
        Data { given: bytes, got: Bytes::default() }
    } else {
        Data { given: Bytes::default(), got: bytes }
    }
}

/// True if this rank is the root.
pub fn is_at_root(around: &Communicator, root: c_int) -> bool {
    is_root(own_rank(around), root, around.members.is_between)
}

/// Roles where the root gives.
pub fn from_root(around: &Communicator, root: c_int) -> Roles {
    Roles::from_root(own_rank(around), root, around.members.is_between)
}

/// Roles where the root gets.
pub fn to_root(around: &Communicator, root: c_int) -> Roles {
    Roles::to_root(own_rank(around), root, around.members.is_between)
}

/// The sum of a number for each rank.
pub fn sum(around: &Communicator, counts: C) -> i64 {
    (0..around.members.ranks.len()).map(|rank| i64::from(number(counts, rank))).sum()
}

define! {
    /// All wait for all.
    MPI_Barrier PMPI_Barrier(within: Handle) |call| {
        whole(communicator(within), Roles::ALL, Data::default(), || call(within))
    }

    /// One gives to all.
    MPI_Bcast PMPI_Bcast(buffer: P, count: c_int, kind: Handle, root: c_int, within: Handle) |call| {
        let around = communicator(within);
        let moved = broadcast(is_at_root(around, root), data(buffer, count, kind));
        whole(around, from_root(around, root), moved, || call(buffer, count, kind, root, within))
    }

    /// All give to one.
    MPI_Reduce PMPI_Reduce(from: B, to: P, count: c_int, kind: Handle, operation: Handle, root: c_int, within: Handle) |call| {
        let around = communicator(within);
        let got = at_root(is_at_root(around, root), || data(to, count, kind));
        let moved = Data { given: data(from, count, kind), got };
        whole(around, to_root(around, root), moved, || call(from, to, count, kind, operation, root, within))
    }

    /// All give to all.
    MPI_Allreduce PMPI_Allreduce(from: B, to: P, count: c_int, kind: Handle, operation: Handle, within: Handle) |call| {
        let moved = Data { given: data(from, count, kind), got: data(to, count, kind) };
        whole(communicator(within), Roles::ALL, moved, || call(from, to, count, kind, operation, within))
    }

    /// Each gets what those before it gave, and its own.
    MPI_Scan PMPI_Scan(from: B, to: P, count: c_int, kind: Handle, operation: Handle, within: Handle) |call| {
        let moved = Data { given: data(from, count, kind), got: data(to, count, kind) };
        whole(communicator(within), Roles::ALL, moved, || call(from, to, count, kind, operation, within))
    }

    /// Each gets what those before it gave.
    MPI_Exscan PMPI_Exscan(from: B, to: P, count: c_int, kind: Handle, operation: Handle, within: Handle) |call| {
        let around = communicator(within);
        let got = at_root(around.members.own != 0, || data(to, count, kind));
        let moved = Data { given: data(from, count, kind), got };
        whole(around, Roles::ALL, moved, || call(from, to, count, kind, operation, within))
    }

    /// One gets from all.
    MPI_Gather PMPI_Gather(from: B, count: c_int, kind: Handle, to: P, each: c_int, kind2: Handle, root: c_int, within: Handle) |call| {
        let around = communicator(within);
        let got = at_root(is_at_root(around, root), || data(to, i64::from(each) * around.size(), kind2));
        let moved = Data { given: data(from, count, kind), got };
        whole(around, to_root(around, root), moved, || call(from, count, kind, to, each, kind2, root, within))
    }

    /// One gets from all, of each as much as it has.
    MPI_Gatherv PMPI_Gatherv(
        from: B, count: c_int, kind: Handle, to: P, counts: C, distances: C, kind2: Handle, root: c_int, within: Handle,
    ) |call| {
        let around = communicator(within);
        let moved = |mode| match mode {
            Mode::Read => note(data(from, count, kind), mode),
            Mode::Write if is_at_root(around, root) => parts(around, to, counts, distances, kind2, mode),
            Mode::Write => {}
        };
        in_parts(around, to_root(around, root), moved, || {
            call(from, count, kind, to, counts, distances, kind2, root, within)
        })
    }

    /// One gives each a part.
    MPI_Scatter PMPI_Scatter(from: B, each: c_int, kind: Handle, to: P, count: c_int, kind2: Handle, root: c_int, within: Handle) |call| {
        let around = communicator(within);
        let given = at_root(is_at_root(around, root), || data(from, i64::from(each) * around.size(), kind));
        let moved = Data { given, got: data(to, count, kind2) };
        whole(around, from_root(around, root), moved, || call(from, each, kind, to, count, kind2, root, within))
    }

    /// One gives each a part of its own size.
    MPI_Scatterv PMPI_Scatterv(
        from: B, counts: C, distances: C, kind: Handle, to: P, count: c_int, kind2: Handle, root: c_int, within: Handle,
    ) |call| {
        let around = communicator(within);
        let moved = |mode| match mode {
            Mode::Read if is_at_root(around, root) => parts(around, from, counts, distances, kind, mode),
            Mode::Read => {}
            Mode::Write => note(data(to, count, kind2), mode),
        };
        in_parts(around, from_root(around, root), moved, || {
            call(from, counts, distances, kind, to, count, kind2, root, within)
        })
    }

    /// All get from all.
    MPI_Allgather PMPI_Allgather(from: B, count: c_int, kind: Handle, to: P, each: c_int, kind2: Handle, within: Handle) |call| {
        let around = communicator(within);
        let moved = Data { given: data(from, count, kind), got: data(to, i64::from(each) * around.size(), kind2) };
        whole(around, Roles::ALL, moved, || call(from, count, kind, to, each, kind2, within))
    }

    /// All get from all, of each as much as it has.
    MPI_Allgatherv PMPI_Allgatherv(
        from: B, count: c_int, kind: Handle, to: P, counts: C, distances: C, kind2: Handle, within: Handle,
    ) |call| {
        let around = communicator(within);
        let moved = |mode| match mode {
            Mode::Read => note(data(from, count, kind), mode),
            Mode::Write => parts(around, to, counts, distances, kind2, mode),
        };
        in_parts(around, Roles::ALL, moved, || call(from, count, kind, to, counts, distances, kind2, within))
    }

    /// Each gives each another part.
    MPI_Alltoall PMPI_Alltoall(from: B, count: c_int, kind: Handle, to: P, each: c_int, kind2: Handle, within: Handle) |call| {
        let around = communicator(within);
        let size = around.size();
        let moved = Data { given: data(from, i64::from(count) * size, kind), got: data(to, i64::from(each) * size, kind2) };
        whole(around, Roles::ALL, moved, || call(from, count, kind, to, each, kind2, within))
    }

    /// Each gives each another part of its own size.
    MPI_Alltoallv PMPI_Alltoallv(
        from: B, counts: C, distances: C, kind: Handle, to: P, counts2: C, distances2: C, kind2: Handle, within: Handle,
    ) |call| {
        let around = communicator(within);
        let moved = |mode| match mode {
            Mode::Read if from as usize == library().in_place() => {}
            Mode::Read => parts(around, from, counts, distances, kind, mode),
            Mode::Write => parts(around, to, counts2, distances2, kind2, mode),
        };
        in_parts(around, Roles::ALL, moved, || {
            call(from, counts, distances, kind, to, counts2, distances2, kind2, within)
        })
    }

    /// Each gives each another part, of its own size and datatype.
    MPI_Alltoallw PMPI_Alltoallw(
        from: B, counts: C, distances: C, kinds: P, to: P, counts2: C, distances2: C, kinds2: P, within: Handle,
    ) |call| {
        let around = communicator(within);
        let moved = |mode| match mode {
            Mode::Read if from as usize == library().in_place() => {}
            Mode::Read => typed_parts(around, from, counts, distances, kinds, mode),
            Mode::Write => typed_parts(around, to, counts2, distances2, kinds2, mode),
        };
        in_parts(around, Roles::ALL, moved, || {
            call(from, counts, distances, kinds, to, counts2, distances2, kinds2, within)
        })
    }

    /// All give to all, each gets a part.
    MPI_Reduce_scatter PMPI_Reduce_scatter(from: B, to: P, counts: C, kind: Handle, operation: Handle, within: Handle) |call| {
        let around = communicator(within);
        let own = number(counts, around.members.own as usize);
        let moved = Data { given: data(from, sum(around, counts), kind), got: data(to, own, kind) };
        whole(around, Roles::ALL, moved, || call(from, to, counts, kind, operation, within))
    }

    /// All give to all, each gets a part of the same size.
    MPI_Reduce_scatter_block PMPI_Reduce_scatter_block(from: B, to: P, count: c_int, kind: Handle, operation: Handle, within: Handle) |call| {
        let around = communicator(within);
        let moved = Data { given: data(from, i64::from(count) * around.size(), kind), got: data(to, count, kind) };
        whole(around, Roles::ALL, moved, || call(from, to, count, kind, operation, within))
    }
}
