//! Communicators and windows by handle: number, identity, members; and the functions that make and free communicators.

use core::ffi::c_int;
use core::sync::atomic::{
    AtomicU32, AtomicU64,
    Ordering::{AcqRel, Relaxed},
};

use workspan_trace::control::Kind;
use workspan_trace::mpi::{Collective, NOBODY};

use crate::define;
use crate::groups::{members, Members, Of};
use crate::handles::{first, plain, Handle, Handles};
use crate::library::library;
use crate::sink::{self, now};
use crate::table::Table;

/// A communicator or a window.
#[derive(Debug)]
pub struct Communicator {
    /// In this process.
    pub number: u16,
    /// Who is in it.
    pub members: Members,
    collectives: AtomicU64,
}

const MOST: usize = 1 << 12;
static COMMUNICATORS: Table<&'static Communicator, MOST> = Table::new();
static WINDOWS: Table<&'static Communicator, MOST> = Table::new();
static NUMBERS: AtomicU32 = AtomicU32::new(0);

fn table(of: Of) -> &'static Table<&'static Communicator, MOST> {
    match of {
        Of::Communicator => &COMMUNICATORS,
        Of::Window => &WINDOWS,
    }
}

/// Takes in one that has just been made.
pub fn add(handle: Handle, of: Of) -> &'static Communicator {
    let handle = plain(handle);
    // Numbers beyond the last one are one: what is in them is matched by identity of that.
    let number = u16::try_from(NUMBERS.fetch_add(1, AcqRel)).unwrap_or(u16::MAX);
    let members = members(handle, of);
    let made: &'static Communicator =
        Box::leak(Box::new(Communicator { number, members, collectives: AtomicU64::new(0) }));
    sink::event(Kind::Communicator, [number.into(), members.identity, members.ranks.len() as u64]);
    table(of).insert(handle, made);
    made
}

/// Finds one. One that was made where nobody saw it is taken in now.
pub fn find(handle: Handle, of: Of) -> &'static Communicator {
    let handle = plain(handle);
    match table(of).find(handle, |_| 0) {
        Some(place) => table(of).get(place),
        None => add(handle, of),
    }
}

/// Finds a communicator.
pub fn communicator(handle: Handle) -> &'static Communicator {
    find(handle, Of::Communicator)
}

/// Forgets one that is freed.
pub fn forget(handle: usize, of: Of) {
    if let Some(place) = table(of).find(handle, |_| 0) {
        table(of).free(place);
    }
}

impl Communicator {
    /// The rank of the world that a member is.
    pub fn world(&self, rank: c_int) -> u32 {
        usize::try_from(rank).ok().and_then(|rank| self.members.ranks.get(rank)).copied().unwrap_or(NOBODY)
    }

    /// How many there are that data comes from or goes to.
    pub fn size(&self) -> i64 {
        self.members.ranks.len() as i64
    }

    /// The number of a collective call that begins.
    pub fn next(&self) -> u64 {
        self.collectives.fetch_add(1, Relaxed)
    }

    /// Notes a collective call, or a part of one.
    pub fn collective(&self, (before, after): (u64, u64), sequence: u64, roles: Roles) {
        let Roles { arrives, waits } = roles;
        let call = Collective { before, after, communicator: self.number, sequence, arrives, waits };
        sink::event(Kind::Collective, call.slots());
    }
}

/// What a rank does in a collective call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Roles {
    /// Others wait for it.
    pub arrives: bool,
    /// It waits for others.
    pub waits: bool,
}

impl Roles {
    /// Of a call in which all wait for all.
    pub const ALL: Roles = Roles { arrives: true, waits: true };
    /// Of one whose data others need.
    pub const GIVES: Roles = Roles { arrives: true, waits: false };
    /// Of one who needs the others' data.
    pub const TAKES: Roles = Roles { arrives: false, waits: true };

    /// Of a call in which one gives to all.
    pub fn from_root(own: c_int, root: c_int, between: bool) -> Roles {
        Roles::of(is_root(own, root, between), Roles::GIVES, Roles::TAKES)
    }

    /// Of a call in which all give to one.
    pub fn to_root(own: c_int, root: c_int, between: bool) -> Roles {
        Roles::of(is_root(own, root, between), Roles::ALL, Roles::GIVES)
    }

    fn of(root: bool, at_root: Roles, elsewhere: Roles) -> Roles {
        if root {
            at_root
        } else {
            elsewhere
        }
    }
}

/// True if this process is the root; between two groups it is named in another way.
pub fn is_root(own: c_int, root: c_int, between: bool) -> bool {
    if between {
        root == library().root()
    } else {
        own == root
    }
}

/// A call that makes a communicator, and is one of all members of the former one.
fn made(former: Handle, place: Handles, call: impl FnOnce() -> c_int) -> c_int {
    let around = communicator(former);
    let (before, sequence) = (now(), around.next());
    let result = call();
    if result == 0 {
        around.collective((before, now()), sequence, Roles::ALL);
        made_here(place);
    }
    result
}

/// The handle at a place is that of a new communicator, or of none.
pub fn made_here(place: Handles) {
    let handle = first(place);
    if handle != library().no_communicator() {
        add(handle, Of::Communicator);
    }
}

type C = *const c_int;

define! {
    /// Makes a communicator of the same members.
    MPI_Comm_dup PMPI_Comm_dup(former: Handle, new: Handles) |call| {
        made(former, new, || call(former, new))
    }

    /// Makes a communicator of the same members.
    MPI_Comm_dup_with_info PMPI_Comm_dup_with_info(former: Handle, info: Handle, new: Handles) |call| {
        made(former, new, || call(former, info, new))
    }

    /// Makes a communicator of some members.
    MPI_Comm_create PMPI_Comm_create(former: Handle, group: Handle, new: Handles) |call| {
        made(former, new, || call(former, group, new))
    }

    /// Makes a communicator of some members, without the others.
    MPI_Comm_create_group PMPI_Comm_create_group(former: Handle, group: Handle, tag: c_int, new: Handles) |call| {
        let result = call(former, group, tag, new);
        if result == 0 {
            made_here(new);
        }
        result
    }

    /// Makes several.
    MPI_Comm_split PMPI_Comm_split(former: Handle, colour: c_int, key: c_int, new: Handles) |call| {
        made(former, new, || call(former, colour, key, new))
    }

    /// Makes several.
    MPI_Comm_split_type PMPI_Comm_split_type(former: Handle, kind: c_int, key: c_int, info: Handle, new: Handles) |call| {
        made(former, new, || call(former, kind, key, info, new))
    }

    /// Makes a grid.
    MPI_Cart_create PMPI_Cart_create(former: Handle, dimensions: c_int, sizes: C, periods: C, reorder: c_int, new: Handles) |call| {
        made(former, new, || call(former, dimensions, sizes, periods, reorder, new))
    }

    /// Makes parts of a grid.
    MPI_Cart_sub PMPI_Cart_sub(former: Handle, remain: C, new: Handles) |call| {
        made(former, new, || call(former, remain, new))
    }

    /// Makes a graph.
    MPI_Graph_create PMPI_Graph_create(former: Handle, nodes: c_int, index: C, edges: C, reorder: c_int, new: Handles) |call| {
        made(former, new, || call(former, nodes, index, edges, reorder, new))
    }

    /// Makes a graph, each its own part.
    MPI_Dist_graph_create_adjacent PMPI_Dist_graph_create_adjacent(
        former: Handle,
        ins: c_int,
        sources: C,
        source_weights: C,
        outs: c_int,
        destinations: C,
        weights: C,
        info: Handle,
        reorder: c_int,
        new: Handles,
    ) |call| {
        made(former, new, || {
            call(former, ins, sources, source_weights, outs, destinations, weights, info, reorder, new)
        })
    }

    /// Makes a communicator between two groups.
    MPI_Intercomm_create PMPI_Intercomm_create(near: Handle, leader: c_int, peer: Handle, far: c_int, tag: c_int, new: Handles) |call| {
        made(near, new, || call(near, leader, peer, far, tag, new))
    }

    /// Makes one group of two.
    MPI_Intercomm_merge PMPI_Intercomm_merge(between: Handle, high: c_int, new: Handles) |call| {
        made(between, new, || call(between, high, new))
    }

    /// Frees a communicator.
    MPI_Comm_free PMPI_Comm_free(place: Handles) |call| {
        let handle = first(place);
        let around = communicator(handle);
        let (before, sequence) = (now(), around.next());
        let result = call(place);
        if result == 0 {
            around.collective((before, now()), sequence, Roles::ALL);
            forget(handle, Of::Communicator);
        }
        result
    }

    /// Leaves a communicator.
    MPI_Comm_disconnect PMPI_Comm_disconnect(place: Handles) |call| {
        let handle = first(place);
        let result = call(place);
        if result == 0 {
            forget(handle, Of::Communicator);
        }
        result
    }
}
