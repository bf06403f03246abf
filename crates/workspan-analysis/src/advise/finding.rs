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

/// What stands in the way of the target.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Left {
    /// Where it is.
    pub place: Place,
    /// Of the critical path that the steps leave.
    pub share: Option<Ratio>,
    /// The mean of its strands there.
    pub mean: Nanos,
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
    /// Tasks that could be divided further, and which of them.
    TooCoarse(Grain, Large),
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
    /// Mean cost of creating one; that of the program's tasks if none of the site's was measured.
    pub creation: Nanos,
    /// Cost of creating them all, over what they ran.
    pub overhead: Option<Ratio>,
    /// The smallest size that is worth a task: [`Goal::threshold`] creations.
    pub cutoff: Nanos,
    /// Tasks below that size.
    pub below: u64,
    /// Work that would be saved, if tasks were of that size.
    pub saved: Nanos,
}

/// The tasks of a site that are too long for the wanted parallelism.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Large {
    /// Their number, to the bucket of the histogram.
    pub count: u64,
    /// They are longer than this.
    pub limit: Nanos,
    /// Tasks of the site on the critical path.
    pub on_path: u64,
    /// Their mean size.
    pub mean_on_path: Nanos,
    /// The longest of the site takes at most this.
    pub longest: Nanos,
    /// Half of the site's tasks take at most this.
    pub median: Nanos,
    /// Into how many tasks the longest could be divided: none too small, and no more than the wanted parallelism has use for.
    pub pieces: f64,
}
