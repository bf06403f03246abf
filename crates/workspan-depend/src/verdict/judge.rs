//! What a verdict looks up in the tables of an engine: names, places, variables.

use super::reach::Reach;
use crate::effects::{ASSEMBLY, STATES};
use crate::engine::Engine;
use crate::shadow::Site;
use crate::source::{small, Place, PlaceId, SiteInfo};
use crate::table::Key;

/// Looks at what an engine has found.
pub(super) struct Judge<'e> {
    pub(super) engine: &'e Engine,
    pub(super) reach: Reach,
}

impl Judge<'_> {
    pub(super) fn name(&self, name: u32) -> String {
        let name = self.engine.source.names.get(name as usize).cloned().unwrap_or_default();
        if name.is_empty() {
            "a function called by a pointer".to_owned()
        } else {
            name
        }
    }

    pub(super) fn place(&self, place: PlaceId) -> Place {
        self.engine.source.places.get(place as usize).cloned().unwrap_or_default()
    }

    pub(super) fn site(&self, site: Site) -> &SiteInfo {
        &self.engine.source.sites[site as usize]
    }

    pub(super) fn function(&self, number: u32) -> String {
        self.engine.source.functions.get(number as usize).map(|function| function.name.clone()).unwrap_or_default()
    }

    /// The variable of a dependence: as the function calls it that both places are in, if it has a name there.
    pub(super) fn variable(&self, key: &Key) -> String {
        let (source, sink) = (self.site(key.source), self.site(key.sink));
        if let Some(state) = sink.state.checked_sub(1) {
            let called = self.engine.calls.get(&sink.place).map(|count| self.name(count.callee));
            let name = || STATES[usize::from(state)].name().to_owned();
            return called.filter(|called| called == ASSEMBLY).unwrap_or_else(name);
        }
        let here = |site: &SiteInfo| site.function == key.function && site.variable != 0;
        let site = if here(sink) || !here(source) && sink.variable != 0 { sink } else { source };
        self.name_of(site).to_owned()
    }

    /// The variable that a site reaches memory by, as its own function calls it.
    pub(super) fn name_of(&self, site: &SiteInfo) -> &str {
        self.engine.source.names.get(site.variable as usize).map_or("", String::as_str)
    }

    pub(super) fn ends(&self, key: &Key) -> (Place, Place) {
        let at = |call: PlaceId, site: Site| self.place(if call == 0 { self.site(site).place } else { call });
        (at(key.source_call, key.source), at(key.sink_call, key.sink))
    }

    /// The last line of a loop.
    pub(super) fn end_of(&self, number: usize) -> u32 {
        match self.engine.source.loops[number].last_line {
            0 => self.last_line(number),
            line => line,
        }
    }

    /// The last line with code in a loop whose end the compiler does not name.
    fn last_line(&self, number: usize) -> u32 {
        let source = &self.engine.source;
        let (carrier, begin) = (small(number) + 1, self.place(source.loops[number].place));
        let inside = source.segments.iter().filter(|info| source.is_within(info.in_loop, carrier));
        let lines = inside.filter(|info| self.place(info.place).file == begin.file).flat_map(|info| info.runs.iter());
        lines.map(|run| run.line).max().unwrap_or(0).max(begin.line)
    }

    /// True if calls in a loop may lead to a function.
    pub(super) fn may_run_in(&self, carrier: u32, function: u32) -> bool {
        let source = &self.engine.source;
        let inside = self.reach.made(source.loops[carrier as usize - 1].function);
        let inside = inside.filter(|made| source.is_within(made.in_loop, carrier));
        self.reach.leads_to(inside.map(|made| made.entered), function)
    }

    /// True if a loop may run within a call of another function.
    pub(super) fn may_run_around(&self, carrier: u32, function: u32) -> bool {
        let own = self.engine.source.loops[carrier as usize - 1].function;
        own != function && self.reach.leads_to(self.reach.made(function).map(|made| made.entered), own)
    }
}
