//! The performance model as values: what a run amounts to, per context and source place.
//!
//! **Invariant:** no input or output, no serialisation, no threads, no clock. Everything is plain data with public
//! fields, so that analyses are pure functions and every format is a counterpart elsewhere.
//!
//! A [`Recording`] holds one or more [`Run`]s of a command. A run charges time to *contexts* ([`ContextTree`]): a site
//! below the sites around it, recursion folded. Per context there are [`Totals`], the share of the critical path,
//! and [`EventCounts`].
//! Sites that turn out to be one place become one ([`merge_sites`]).
//!
//! Beyond totals, a run can be recorded strand by strand ([`strand`]), and contexts be recognised by calls ([`calls`]).

pub mod calls;
pub mod context;
pub mod events;
pub mod hash;
pub mod histogram;
pub mod kind;
pub mod merge;
pub mod nesting;
pub mod ran;
pub mod recording;
pub mod run;
pub mod site;
pub mod strand;
pub mod units;
pub mod wait;

pub use calls::CallMetrics;
pub use context::{Context, ContextId, ContextTree};
pub use events::EventCounts;
pub use histogram::Histogram;
pub use merge::merge_sites;
pub use ran::Ran;
pub use recording::{Machine, Recording, UnseenLock};
pub use run::{
    AskedBy, AskedThreads, Clock, Ending, Exit, Feature, Lock, Losses, OnPath, OpenRegion, Run, Totals, LARGEST_TEAM,
};
pub use site::{Function, Site, SiteId, SiteIdentity, SiteKind};
pub use strand::{Creation, Event, Strand};
pub use units::{Nanos, Ratio};
pub use wait::{Role, WaitFor};
