//! What called functions write, by the name that it has in the function of the loop: where that reads it itself. Rust and C++ have functions
//! return objects into variables, and change objects that they are given by reference.

use std::collections::BTreeSet;

use super::carried::Carried;
use super::judge::Judge;
use crate::shadow::Site;
use crate::source::PlaceId;
use crate::table::Kind;

/// A variable of a called function without its members: the call, the function, its name.
type Parameter<'n> = (PlaceId, u32, &'n str);

impl Judge<'_> {
    /// Names of what a loop applies an operator to.
    pub(super) fn names_here(&self, carrier: u32, carried: &Carried<'_>) -> BTreeSet<String> {
        let names = self.names(carried);
        if !carried.flows.iter().all(|(key, _)| self.is_foreign(key)) {
            return names;
        }
        let here = self.read_as(carrier, carried.flows.iter().map(|(key, _)| (key.source, key.source_call)));
        match (here.len(), here.into_iter().next()) {
            (1, Some(here)) => names.iter().map(|name| format!("{here}{}", parted(name).1)).collect(),
            _ => names,
        }
    }

    /// Variables of the loop's function that it reads after these sites, in these calls, have written them.
    pub(super) fn read_as(&self, carrier: u32, written: impl Iterator<Item = (Site, PlaceId)>) -> BTreeSet<String> {
        let written: BTreeSet<Parameter<'_>> = written.filter_map(|(site, call)| self.parameter(site, call)).collect();
        if written.is_empty() {
            return BTreeSet::new();
        }
        let function = self.engine.source.loops[carrier as usize - 1].function;
        let reads = self.engine.table.all.iter().map(|(key, _)| key).filter(|key| {
            let sink = self.site(key.sink);
            key.kind == Kind::Raw
                && (sink.function == function && sink.direct && sink.variable != 0)
                && self.parameter(key.source, key.source_call).is_some_and(|source| written.contains(&source))
                && !self.is_declared_inside(carrier, key.sink)
        });
        reads.map(|key| parted(self.name_of(self.site(key.sink))).0.to_owned()).collect()
    }

    fn parameter(&self, site: Site, call: PlaceId) -> Option<Parameter<'_>> {
        let info = self.site(site);
        (call != 0).then(|| (call, info.function, parted(self.name_of(info)).0))
    }
}

/// A variable and its member: `self` and `.y`.
fn parted(name: &str) -> (&str, &str) {
    name.split_at(name.find('.').unwrap_or(name.len()))
}
