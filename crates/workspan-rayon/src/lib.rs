//! The hooks that `workspan-instrument` inserts into a copy of rayon-core and rayon.
//!
//! Each hook is a thin shell: it finds the calling thread's state ([`workspan_collect::thread`]) and calls one of the
//! collector's composition rules. With the collector asleep a hook tests a thread-local pointer and returns.
//!
//! | rayon | hook | rule |
//! |---|---|---|
//! | `join`, `join_context`, splits of parallel iterators | [`join::Join`] | `workspan_collect::join` |
//! | `scope`, `broadcast` | [`scope::Scope`] | `workspan_collect::group` |
//! | `spawn`, detached | [`scope::spawn`] | the same, without a group |
//! | work injected from outside, `install` across pools | [`registry::Handoff`] | `workspan_collect::handoff` |
//! | `par_bridge` | [`bridge::Resource`], [`bridge::Turns`] | `workspan_collect::resource` |
//! | public calls | [`region::region`] | `workspan_collect::region` |
//! | `workspan_probe::region` | [`marks::begin`] | the same |
//!
//! This crate is compiled twice, like the collector: as itself, and as a module of the instrumented rayon-core.

#![expect(unsafe_code, reason = "collector: links between a job and the frame of its creator")]

pub mod bridge;
pub mod join;
pub mod link;
pub mod marks;
pub mod probe;
pub mod region;
pub mod registry;
pub mod scope;
pub mod split;
pub mod start;
pub mod threads;
