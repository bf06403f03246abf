//! Dependences that a loop carries, by variable, and how they disappear.

use std::collections::BTreeMap;

use super::judge::Judge;
use crate::source::SiteInfo;
use crate::table::{Key, Kind, Record};

/// How glibc's `errno` is named: what the function that finds it returns.
const ERRNO: &str = "__errno_location()";

/// Dependences on one variable that a loop carries.
#[derive(Default)]
pub(super) struct Carried<'t> {
    pub(super) flows: Vec<&'t (Key, Record)>,
    pub(super) names: Vec<&'t (Key, Record)>,
}

impl Carried<'_> {
    /// True if iterations meet at several elements.
    pub(super) fn varies(&self) -> bool {
        self.flows.iter().chain(&self.names).any(|(_, record)| record.varies)
    }
}

impl Judge<'_> {
    /// Dependences that a loop carries, by variable.
    pub(super) fn by_variable(&self, carrier: u32) -> BTreeMap<(u32, u32, u8, bool), Carried<'_>> {
        let mut found: BTreeMap<(u32, u32, u8, bool), Carried<'_>> = BTreeMap::new();
        for record in self.engine.table.all.iter().filter(|(key, _)| key.carrier == carrier) {
            let sink = self.site(record.0.sink);
            // Each thread has its own.
            if self.engine.source.names.get(sink.variable as usize).is_some_and(|name| name == ERRNO) {
                continue;
            }
            // One with an address is also reached by it.
            let local = if sink.has_address { 0 } else { sink.local };
            let group = (local, sink.variable, sink.state, sink.direct);
            let group = found.entry(group).or_default();
            if record.0.kind == Kind::Raw {
                group.flows.push(record);
            } else {
                group.names.push(record);
            }
        }
        found
    }

    /// By operator, what is one variable by name but several places that the loop does not leave: of `r[0] += x` and `r[1] = max(r[1], x)`
    /// each is a variable by itself. Empty unless there are several operators, and nothing else.
    pub(super) fn by_operator<'t>(&self, carrier: u32, carried: &Carried<'t>) -> Vec<Carried<'t>> {
        let mut found: BTreeMap<u8, Carried<'t>> = BTreeMap::new();
        for record in carried.flows.iter().chain(&carried.names) {
            let (source, sink) = (self.site(record.0.source), self.site(record.0.sink));
            // What is read is where the operator's result is written.
            let stays = |site: &SiteInfo| site.update != 0 && (!site.writes || self.is_one_place(carrier, site));
            if record.1.varies || source.update != sink.update || !(stays(source) && stays(sink)) {
                return Vec::new();
            }
            let part = found.entry(sink.update).or_default();
            if record.0.kind == Kind::Raw {
                part.flows.push(record)
            } else {
                part.names.push(record)
            }
        }
        if found.len() > 1 {
            found.into_values().collect()
        } else {
            Vec::new()
        }
    }
}
