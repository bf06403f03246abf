//! Events of hardware and kernel: their names, and how often they came.
//!
//! **Invariant:** names, groups and scaling are pure, and know the machine only by [`Devices`] and [`Source`], which tests
//! replace; the kernel is behind [`perf`] alone. What a machine does not count is reported as [`Refused`], with the reason; it is
//! never a zero.
//!
//! * [`name`]: from `cycles`, `r01c2` or `cpu/event=0xd2,umask=4/` to what is requested of the kernel.
//! * [`counters`]: several events in a group, and what was counted, scaled where counters took turns.
//! * [`perf`]: the kernel's interface.
//!
//! * [`sampling`]: where the threads of a program are, from time to time; [`record`]: what the kernel writes about it.
//!
//! By these names collectors count, too, each thread for itself: `workspan_collect::counters`.
//!
//! Definition: `docs/methods/differential.md`, `docs/methods/events.md`.

pub mod counters;
pub mod name;
#[cfg(target_os = "linux")]
pub mod perf;
pub mod record;
#[cfg(target_os = "linux")]
pub mod sampling;

pub use counters::{Count, Counters, Reading, Refused, Source};
pub use name::{parse, Attributes, Devices, Event, NameError};
