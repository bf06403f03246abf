//! What a loop notes beside the least or greatest value: where it was found.
//!
//! **Argument:** copies of the value find several candidates, so that a variable that is set beside it has the wrong one in the end. The
//! run need not show it: if the first iteration has the greatest value, the variable is written once.

use super::judge::Judge;
use crate::profile::{Blocker, Loop};

impl Judge<'_> {
    /// Local variables that keep a value of an iteration that is not the last, in a loop with a minimum or maximum.
    pub(super) fn chosen(&self, carrier: u32, found: &Loop) -> Vec<Blocker> {
        if !found.reductions.iter().any(|each| each.operator == "min" || each.operator == "max") {
            return Vec::new();
        }
        let all =
            self.engine.table.live_out.iter().filter(|((_, of), live)| *of == carrier && (live.other || live.unknown));
        let sites = all.map(|((site, _), _)| self.site(*site));
        let chosen =
            sites.filter(|site| site.local != 0 && site.update == 0 && self.induction(carrier, site.local).is_none());
        let blocker = |site: &crate::source::SiteInfo| Blocker {
            kind: "control".to_owned(),
            variable: self.engine.source.names.get(site.variable as usize).cloned().unwrap_or_default(),
            source: self.place(site.place),
            sink: self.place(site.place),
            distance: None,
            count: 1,
        };
        chosen.map(blocker).filter(|blocker| !blocker.variable.is_empty()).collect()
    }
}
