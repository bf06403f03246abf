//! Makes an instrumented copy of the rayon sources that cargo resolved for a project.
//!
//! The copy is the project's own version, with our modules added and calls to them inserted ([`rayon_core`],
//! [`rayon`]). Insertions are anchored in short snippets of the original ([`edit`]); an anchor that is not found exactly
//! as often as expected is an error that names the version, never a silent omission.
//!
//! Reading order: [`copy`] (what a driver calls), [`edit`], the recipes, those for task graphs in [`graph`], [`embed`] (our modules as text).

pub mod copy;
pub mod edit;
pub mod embed;
pub mod graph;
pub mod hooks;
pub mod rayon;
pub mod rayon_core;
pub mod source;

pub use copy::{check_version, instrument, InstrumentError, Instrumented, Package, Runtime};
pub use embed::fingerprint;
pub use hooks::{Hooks, GRAPH_FOLDER, IDLE_ONLY_FOLDER};
