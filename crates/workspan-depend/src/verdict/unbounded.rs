//! Library functions that write more than the first byte: what nobody has seen must not pass for independent.

use super::judge::Judge;
use crate::effects::is_unbounded;
use crate::profile::Blocker;

impl Judge<'_> {
    /// Library functions whose writes in several iterations may overlap.
    pub(super) fn unbounded(&self, carrier: u32) -> impl Iterator<Item = Blocker> + '_ {
        let source = &self.engine.source;
        let all = self.engine.table.unbounded.iter().filter(move |((_, of), _)| *of == carrier);
        all.filter_map(|((site, _), count)| {
            let info = self.site(*site);
            let callee = source.segments.get(info.segment.0 as usize).map_or(0, |segment| segment.callee);
            let place = self.place(info.place);
            is_unbounded(source.names.get(callee as usize)?).then(|| Blocker {
                kind: "unknown-call".to_owned(),
                variable: source.names.get(info.variable as usize).cloned().unwrap_or_default(),
                source: place.clone(),
                sink: place,
                distance: None,
                count: *count,
            })
        })
    }
}
