//! Members of a communicator or window, as ranks of the world, and its identity.

use core::ffi::c_int;
use std::sync::{Mutex, PoisonError};

use crate::handles::{first, Handle, Handles};
use crate::library::library;
use crate::own;

/// What a group is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Of {
    /// A communicator.
    Communicator,
    /// A window.
    Window,
}

/// Members and identity.
#[derive(Clone, Copy, Debug)]
pub struct Members {
    /// Ranks of the world, of those that messages go to.
    pub ranks: &'static [u32],
    /// This process among those that it makes collective calls with.
    pub own: u32,
    /// The same in all members.
    pub identity: u64,
    /// Messages go to another group than one's own.
    pub is_between: bool,
}

/// How many there were of the same members.
static FORMER: Mutex<Vec<(u64, u64)>> = Mutex::new(Vec::new());
/// Groups that the program named: each is kept once, for good.
static KNOWN: Mutex<Vec<&'static [u32]>> = Mutex::new(Vec::new());

fn mix(hash: u64, word: u64) -> u64 {
    (hash ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29)
}

/// A handle that the library fills in.
fn filled(fill: impl FnOnce(Handles)) -> usize {
    let mut room = 0_usize;
    let place: Handles = (&raw mut room).cast();
    fill(place);
    first(place)
}

/// Ranks of the world of a group, which is freed.
fn ranks(mut group: usize) -> Vec<u32> {
    let world = filled(|place| {
        own!(PMPI_Comm_group(library().world() => Handle, place => Handles));
    });
    let mut size: c_int = 0;
    own!(PMPI_Group_size(group => Handle, &raw mut size => *mut c_int));
    let numbers: Vec<c_int> = (0..size).collect();
    let mut found = numbers.clone();
    own!(PMPI_Group_translate_ranks(
        group => Handle,
        size => c_int,
        numbers.as_ptr() => *const c_int,
        world => Handle,
        found.as_mut_ptr() => *mut c_int,
    ));
    let mut world = world;
    for group in [&mut group, &mut world] {
        own!(PMPI_Group_free((&raw mut *group).cast() => Handles));
    }
    // Processes of another world have no number.
    found.into_iter().map(|rank| u32::try_from(rank).unwrap_or(workspan_trace::mpi::NOBODY)).collect()
}

/// Members of a communicator or window that has just been made.
pub fn members(handle: Handle, of: Of) -> Members {
    let group = filled(|place| {
        match of {
            Of::Communicator => own!(PMPI_Comm_group(handle => Handle, place => Handles)),
            Of::Window => own!(PMPI_Win_get_group(handle => Handle, place => Handles)),
        };
    });
    let mut own: c_int = 0;
    own!(PMPI_Group_rank(group => Handle, &raw mut own => *mut c_int));
    let near = ranks(group);
    let mut is_between: c_int = 0;
    if of == Of::Communicator {
        own!(PMPI_Comm_test_inter(handle => Handle, &raw mut is_between => *mut c_int));
    }
    let salt = if of == Of::Window { 7 } else { 5 };
    let hash = |ranks: &[u32]| ranks.iter().fold(salt, |hash, rank| mix(hash, u64::from(*rank)));
    let mut identity = hash(&near);
    let ranks = if is_between == 0 {
        near
    } else {
        let group = filled(|place| {
            own!(PMPI_Comm_remote_group(handle => Handle, place => Handles));
        });
        let far = ranks(group);
        // The same from either side.
        identity = identity.wrapping_add(hash(&far));
        far
    };
    let identity = mix(identity, ordinal(identity)) >> 16;
    let own = u32::try_from(own).unwrap_or(0);
    Members { ranks: Box::leak(ranks.into_boxed_slice()), own, identity, is_between: is_between != 0 }
}

/// All members make those that they share in the same order.
fn ordinal(identity: u64) -> u64 {
    let mut former = FORMER.lock().unwrap_or_else(PoisonError::into_inner);
    match former.iter_mut().find(|known| known.0 == identity) {
        Some(known) => {
            known.1 += 1;
            known.1
        }
        None => {
            former.push((identity, 0));
            0
        }
    }
}

/// Ranks of the world of the program's group, which stays.
pub fn of_group(group: Handle) -> &'static [u32] {
    let copy = filled(|place| {
        // The union of a group with itself is a group of its own.
        own!(PMPI_Group_union(group => Handle, group => Handle, place => Handles));
    });
    let found = ranks(copy);
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(former) = known.iter().find(|former| ***former == *found) {
        return former;
    }
    let kept: &'static [u32] = Box::leak(found.into_boxed_slice());
    known.push(kept);
    kept
}
