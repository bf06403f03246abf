//! What is looked for, and what can be found.

use workspan_model::{Nanos, Ratio, SiteId};

use crate::strands::Place;

/// What advice is to reach.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Goal {
    /// The parallelism that is wanted.
    pub target: f64,
    /// By what a region becomes faster in each step; above 1.
    pub factor: f64,
    /// A task must be at least this many times as long as its creation.
    pub threshold: f64,
}

impl Default for Goal {
    /// TaskProf's (7.1): 128, 128, 10.
    fn default() -> Goal {
        Goal { target: 128.0, factor: 128.0, threshold: 10.0 }
    }
}

/// What was found.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// A region that must be parallelised.
    Parallelise {
        /// The region.
        place: Place,
        /// By what factor in all.
        factor: f64,
        /// What it adds to the critical path as recorded.
        critical: Nanos,
        /// Its strands there.
        strands: u64,
    },
    /// Tasks that are too small.
    TooFine(Grain),
    /// Tasks that could be divided further.
    TooCoarse(Grain),
}

/// Tasks of a site.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Grain {
    /// The site.
    pub site: SiteId,
    /// Its tasks.
    pub tasks: u64,
    /// Their mean size: what they ran themselves.
    pub mean: Nanos,
    /// Mean cost of creating one.
    pub creation: Nanos,
    /// Cost of creating them all, over what they ran.
    pub overhead: Option<Ratio>,
    /// The smallest size at which creating tasks costs less than 10 % of them.
    pub cutoff: Nanos,
    /// Tasks below that size.
    pub below: u64,
    /// Work that would be saved, if the overhead came down to 10 %.
    pub saved: Nanos,
    /// Into how many tasks one could be divided: none too small, and no more than the wanted parallelism has use for.
    pub pieces: f64,
}
