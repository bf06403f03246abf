//! From bytes to the model.
//!
//! * [`snapshot`]: what a collector left in shared memory becomes a [`workspan_model::Run`].
//! * [`events`]: what threads have counted besides time.
//! * [`mod@idle`]: what threads waited, of a run that was watched for nothing else.
//! * [`log`]: what threads have logged becomes [`workspan_model::strand`]s.
//! * [`trouble`]: how often threads did not wait for others as they should have.
//! * [`mod@file`]: `.wspan` files, in both directions.
//!
//! **Invariant:** no input makes this crate panic, recurse without bound, or allocate more than a small multiple of the
//! input. What can be read is returned together with a list of what is wrong ([`Problem`]); an error is only for input
//! that is not a recording at all.

pub mod codec;
pub mod events;
pub mod file;
pub mod idle;
pub mod log;
pub mod request;
pub mod segments;
pub mod snapshot;
pub mod tool;
pub mod trouble;

mod accounts;
mod counts;
mod memory;
mod problem;

pub use events::read_events;
pub use file::{decode, encode, ReadError, MAGIC};
pub use idle::{read_busy, Busy};
pub use memory::Snapshot;
pub use problem::Problem;
pub use request::{first_page, AskedEvent, Request};
pub use snapshot::{attached, read_snapshot, Attached, Died};
