//! What lies before or after a strand.

use workspan_model::ContextId;

/// A strand's region, places as numbers of sites: what was before it, and after it.
pub type Place = (Spot, Spot);

/// What lies before or after a strand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Spot {
    /// A task's or a branch's beginning.
    Begin,
    /// A task's or a branch's end.
    End,
    /// A wait without a site.
    Wait,
    /// The begin of the context's instance.
    Enter,
    /// Its end.
    Leave,
    /// A barrier, or the end of a group or a team.
    Meet,
    /// An event of a context.
    At(ContextId),
}
