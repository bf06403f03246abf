//! A tool of OpenMP runtimes, by OMPT: LLVM's libomp, also in place of gcc's libgomp.

pub mod abi;
mod alone;
pub mod copying;
pub mod idle;
pub mod start;

#[cfg(not(idle_only))]
mod asked;
#[cfg(not(idle_only))]
mod at_hand;
#[cfg(not(idle_only))]
mod bind;
#[cfg(all(not(idle_only), target_arch = "x86_64"))]
mod bodies;
#[cfg(not(idle_only))]
mod boundary;
#[cfg(not(idle_only))]
mod doacross;
#[cfg(not(idle_only))]
pub mod events;
#[cfg(not(idle_only))]
mod first_calls;
#[cfg(not(idle_only))]
mod first_use;
#[cfg(all(not(idle_only), target_arch = "x86_64"))]
mod inlined;
pub mod interpose;
#[cfg(not(idle_only))]
pub mod locks;
#[cfg(not(idle_only))]
pub mod noted;
#[cfg(not(idle_only))]
pub mod parts;
#[cfg(not(idle_only))]
mod rehearsal;
#[cfg(not(idle_only))]
mod shares;
#[cfg(not(idle_only))]
pub mod site;
#[cfg(all(not(idle_only), target_arch = "x86_64"))]
mod straight;
#[cfg(not(idle_only))]
pub mod tasks;
#[cfg(not(idle_only))]
pub mod waits;
#[cfg(not(idle_only))]
pub mod worksharing;
