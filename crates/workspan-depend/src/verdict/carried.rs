//! Dependences that a loop carries, by variable, and how they disappear.

use std::collections::{BTreeMap, BTreeSet};

use super::chosen::is_scalar;
use super::judge::Judge;
use crate::shadow::Site;
use crate::source::{PlaceId, SiteInfo};
use crate::table::{Key, Kind, Record};

/// How glibc's `errno` is named: what the function that finds it returns.
const ERRNO: &str = "__errno_location()";

/// Dependences on one variable that a loop carries.
#[derive(Default)]
pub(super) struct Carried<'t> {
    pub(super) flows: Vec<&'t (Key, Record)>,
    pub(super) names: Vec<&'t (Key, Record)>,
}

/// Where an end of a dependence is, as the function of the loop sees it.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum End {
    Site(Site),
    Call(PlaceId),
}

impl<'t> Carried<'t> {
    /// True if iterations meet at several elements.
    fn varies(&self) -> bool {
        self.all().any(|(_, record)| record.varies)
    }

    fn push(&mut self, record: &'t (Key, Record)) {
        if record.0.kind == Kind::Raw {
            self.flows.push(record);
        } else {
            self.names.push(record);
        }
    }

    /// Those that share an end, directly or by others.
    fn connected<E: Ord>(&self, ends: impl Fn(&Key) -> [E; 2]) -> Vec<Carried<'t>> {
        let mut found: Vec<(BTreeSet<E>, Carried<'t>)> = Vec::new();
        for record in self.all() {
            let own = BTreeSet::from(ends(&record.0));
            let (meet, mut apart): (Vec<_>, Vec<_>) =
                found.into_iter().partition(|(other, _)| !other.is_disjoint(&own));
            let mut joined = (own, Carried::default());
            for (other, part) in meet {
                joined.0.extend(other);
                part.all().for_each(|record| joined.1.push(record));
            }
            joined.1.push(record);
            apart.push(joined);
            found = apart;
        }
        found.into_iter().map(|(_, part)| part).collect()
    }

    fn all(&self) -> impl Iterator<Item = &'t (Key, Record)> + use<'_, 't> {
        self.flows.iter().chain(&self.names).copied()
    }
}

impl Judge<'_> {
    /// Dependences that a loop carries, by variable.
    pub(super) fn by_variable(&self, carrier: u32) -> Vec<Carried<'_>> {
        self.by_name(carrier).into_values().flat_map(|carried| self.parts(carrier, carried)).collect()
    }

    /// The same, by what a variable is called.
    fn by_name(&self, carrier: u32) -> BTreeMap<(u32, u32, u8, bool), Carried<'_>> {
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
            found.entry(group).or_default().push(record);
        }
        found
    }

    /// What is one variable by name, but is several: what calls in different places are given is another variable each; and of `r[0] += x`
    /// and `r[1] = max(r[1], x)` each is a variable by itself.
    fn parts<'t>(&self, carrier: u32, carried: Carried<'t>) -> Vec<Carried<'t>> {
        if carried.all().any(|(key, _)| key.sink_call != 0) {
            let end = |site, call| if call == 0 { End::Site(site) } else { End::Call(call) };
            return carried.connected(|key| [end(key.source, key.source_call), end(key.sink, key.sink_call)]);
        }
        // What is read is where the operator's result is written.
        let stays = |site: &SiteInfo| site.update != 0 && (!site.writes || self.is_one_place(carrier, site));
        let has_one_operator = |(key, record): &(Key, Record)| {
            let (source, sink) = (self.site(key.source), self.site(key.sink));
            !record.varies && source.update == sink.update && stays(source) && stays(sink)
        };
        if !carried.all().all(has_one_operator) {
            return vec![carried];
        }
        let mut parts: BTreeMap<u8, Carried<'t>> = BTreeMap::new();
        carried.all().for_each(|record| parts.entry(self.site(record.0.sink).update).or_default().push(record));
        parts.into_values().collect()
    }

    /// True if a loop accesses several elements of an array: it was seen, an index changes, or it names several.
    pub(super) fn has_elements(&self, carrier: u32, carried: &Carried<'_>) -> bool {
        let function = self.engine.source.loops[carrier as usize - 1].function;
        let sites = || carried.all().flat_map(|(key, _)| [key.source, key.sink]).map(|site| self.site(site));
        let written = || sites().filter(|site| site.writes && !is_scalar(site));
        let moves = |site: &SiteInfo| site.moves && site.function == function && !self.is_one_place(carrier, site);
        let is_array = |site: &SiteInfo| site.function == function && !self.name_of(site).contains(['.', '%', '>']);
        let stays = |site: &SiteInfo| self.is_one_place(carrier, site) && site.variable != 0 && is_array(site);
        carried.varies()
            || written().any(moves)
            || written().next().is_some()
                && written().all(stays)
                && carried.connected(|key| [key.source, key.sink]).len() > 1
    }
}
