//! How dependences that a loop carries disappear.

use std::collections::BTreeSet;

use workspan_trace::facts::Update;
use workspan_trace::program::flag;

use super::carried::Carried;
use super::judge::Judge;
use super::last::Afterwards;
use crate::shadow::Site;
use crate::source::{PlaceId, SiteInfo};
use crate::table::{Key, Kind, Record};

/// How dependences on a variable disappear.
pub(super) enum Remedy<'t> {
    /// The variable is computed from the iteration's number; the loop's own counter is that anyway.
    Step {
        /// By how much it advances.
        step: i64,
        /// It is the loop's counter.
        is_counter: bool,
    },
    /// An operator is applied to a copy for each thread.
    Operator(Update),
    /// Each iteration has a copy.
    Copies {
        /// The last one's is needed afterwards.
        last: bool,
    },
    /// They do not: values flow from one iteration to the next.
    NoneOfFlows,
    /// They do not: this one forbids copies.
    NoneOfNames(&'t (Key, Record)),
}

impl Judge<'_> {
    /// What takes dependences on one variable away; there is one at least.
    pub(super) fn remedy<'t>(&self, carrier: u32, carried: &Carried<'t>) -> Remedy<'t> {
        let first = carried.flows.first().or(carried.names.first());
        let local = first.map_or(0, |(key, _)| self.site(key.sink).local);
        let is_own = || carried.flows.iter().all(|(key, _)| self.advances(carrier, key.source));
        if let Some((step, is_counter)) = self.induction(carrier, local).filter(|_| is_own()) {
            return Remedy::Step { step, is_counter };
        }
        if !carried.flows.is_empty() {
            return self.reduction(carrier, carried).map_or(Remedy::NoneOfFlows, Remedy::Operator);
        }
        match self.privatizable(carrier, carried) {
            Ok(last) => Remedy::Copies { last },
            Err(record) => self.flag(carrier, carried).map_or(Remedy::NoneOfNames(record), Remedy::Operator),
        }
    }

    /// A variable that advances by a step; true if it is the loop's counter: the first one that the condition reads.
    pub(super) fn induction(&self, carrier: u32, local: u32) -> Option<(i64, bool)> {
        let info = &self.engine.source.loops[carrier as usize - 1];
        let counter = info.inductions.iter().find(|each| each.control).map(|each| each.local);
        let found = info.inductions.iter().find(|each| local != 0 && each.local + 1 == local);
        found.map(|each| (each.step, counter == Some(each.local)))
    }

    /// True for the counter of a `do`, in this loop or one within: the statement itself writes it, and OpenMP takes it for private anyway.
    pub(super) fn is_own_counter(&self, carrier: u32, carried: &Carried<'_>) -> bool {
        let source = &self.engine.source;
        let begin = self.place(source.loops[carrier as usize - 1].place);
        let is_fortran = is_fortran(&begin.file);
        let begins_a_loop = |site: Site| {
            let (info, place) = (self.site(site), self.place(self.site(site).place));
            let all = source.loops.iter().zip(1..).filter(|(each, _)| each.function == info.function);
            all.into_iter().any(|(each, number)| {
                source.is_within(number, carrier) && each.place != 0 && self.place(each.place).line == place.line
            })
        };
        let of_statement = |(key, _): &&(Key, Record)| {
            let sink = self.site(key.sink);
            (sink.whole || sink.local != 0) && sink.direct && key.sink_call == 0 && begins_a_loop(key.sink)
        };
        is_fortran && carried.flows.is_empty() && carried.names.iter().all(of_statement)
    }

    /// True if what a dependence comes from advances by a step.
    pub(super) fn steps(&self, carrier: u32, key: &Key) -> bool {
        self.advances(carrier, key.source)
    }

    /// True if a site accesses a variable that advances by a step, and that nobody else writes in the loop who knows its address.
    fn advances(&self, carrier: u32, site: Site) -> bool {
        let info = self.site(site);
        let foreign = |(key, _): &(Key, Record)| {
            key.kind == Kind::Raw
                && self.is_of_one_execution(carrier, key)
                && self.site(key.sink).local == info.local
                && self.site(key.source).local != info.local
                && self.is_inside(carrier, key.source, key.source_call)
        };
        self.induction(carrier, info.local).is_some()
            && !(info.has_address && self.engine.table.all.iter().any(foreign))
    }

    /// True for a dependence within one execution of a loop, not from one execution to another.
    fn is_of_one_execution(&self, carrier: u32, key: &Key) -> bool {
        key.carrier == 0 || self.engine.source.is_within(key.carrier, carrier)
    }

    /// True if an access, or the call that it happened in, lies in a loop.
    fn is_inside(&self, carrier: u32, site: Site, call: PlaceId) -> bool {
        let source = &self.engine.source;
        let info = self.site(site);
        let function = source.loops[carrier as usize - 1].function;
        let mut calls = source.segments.iter().filter(|info| info.call == call && info.flags & flag::CALL != 0);
        match call {
            0 => info.function != function || source.is_within(info.in_loop, carrier),
            _ => calls.any(|info| source.is_within(info.in_loop, carrier)),
        }
    }

    /// The operator of a variable that iterations set to a constant, and do nothing else with.
    fn flag(&self, carrier: u32, carried: &Carried<'_>) -> Option<Update> {
        let update = Update::of(self.site(carried.names.first()?.0.source).update)?;
        let is_written = carried.names.iter().all(|(key, values)| key.kind == Kind::Waw && !values.varies);
        self.applied(carrier, carried, update).filter(|_| update.is_of_constant() && is_written)
    }

    /// The operator, if all that the loop does with a variable, or with each element of an array, is to apply it.
    fn reduction(&self, carrier: u32, carried: &Carried<'_>) -> Option<Update> {
        let update = Update::of(self.site(carried.flows.first()?.0.source).update)?;
        self.applied(carrier, carried, update)
    }

    fn applied(&self, carrier: u32, carried: &Carried<'_>, update: Update) -> Option<Update> {
        let is_update = |site: Site| self.site(site).update == update as u8;
        let all = carried.flows.iter().chain(&carried.names);
        if !all.clone().all(|(key, _)| is_update(key.source) && is_update(key.sink)) {
            return None;
        }
        let first = self.site(carried.flows.first().or(carried.names.first())?.0.source);
        if !self.all_writes_are(carrier, first, update) {
            return None;
        }
        // A copy of an array for each thread does not have what the loop reads of it besides, and what it sets does not add up.
        if self.has_elements(carrier, carried) && self.accesses_besides(carrier, first, update) {
            return None;
        }
        // Nothing else in the loop may see what it has accumulated so far.
        let sites: BTreeSet<Site> = all.flat_map(|(key, _)| [key.source, key.sink]).collect();
        let in_calls = carried.flows.iter().chain(&carried.names).any(|(key, _)| key.is_of_calls());
        if in_calls && !self.is_applied_in_calls(carrier, &sites, self.has_elements(carrier, carried), update) {
            return None;
        }
        let function = self.engine.source.loops[carrier as usize - 1].function;
        let inside = |key: &Key| {
            self.is_inside(carrier, key.source, key.source_call) && self.is_inside(carrier, key.sink, key.sink_call)
        };
        let runs_inside = |key: &Key| match key.function == function {
            true => self.is_of_one_execution(carrier, key) && inside(key),
            false => in_calls && self.may_run_in(carrier, key.function),
        };
        // Of two objects, one of which is chosen, the other is another variable.
        let variable = first.variable;
        let elsewhere = |site: &SiteInfo| site.direct && site.variable != variable;
        // So it may be the loop's counter, which then steps on: `m[i % 16] = std::max(i, m[i % 16])`.
        let steps_on = |key: &Key| {
            let sink = self.site(key.sink);
            key.kind == Kind::War && elsewhere(sink) && self.induction(carrier, sink.local).is_some()
        };
        let seen = self.engine.table.all.iter().any(|(key, _)| {
            let (from, to) = (sites.contains(&key.source), sites.contains(&key.sink));
            let other = from && !is_update(key.sink) && !steps_on(key)
                || to && !is_update(key.source) && !elsewhere(self.site(key.source));
            other && runs_inside(key)
        });
        (!seen).then_some(update)
    }

    /// True if functions that the loop calls do nothing else with a variable, also where they have not run. A least or greatest value may have
    /// others beside it, which are not followed from here: there must be none.
    fn is_applied_in_calls(&self, carrier: u32, sites: &BTreeSet<Site>, varies: bool, update: Update) -> bool {
        let source = &self.engine.source;
        let function = source.loops[carrier as usize - 1].function;
        let is_plain = matches!(update, Update::Sum | Update::Product | Update::And | Update::Or | Update::Xor);
        let is_extreme = matches!(update, Update::Min | Update::Max);
        let applies = |site: &SiteInfo| site.update == update as u8 && (is_plain || site.alone || !site.writes);
        let alone = |of: &SiteInfo| {
            let is_same = |site: &&SiteInfo| {
                (site.function, site.variable, site.direct) == (of.function, of.variable, of.direct)
                    && (site.function != function || source.is_within(site.in_loop, carrier))
            };
            let mut others = source.sites.iter().filter(is_same);
            // A pointer to it has the same name.
            let leads = |site: &SiteInfo| site.pointer && !of.pointer;
            of.variable != 0 && others.all(|site| applies(site) || leads(site) || is_plain && !site.writes && !varies)
        };
        // What is read through the choice of two objects has no name.
        let chosen = |site: &SiteInfo| is_extreme && site.variable == 0 && !site.writes && applies(site);
        (is_plain || is_extreme) && sites.iter().map(|site| self.site(*site)).all(|site| chosen(site) || alone(site))
    }

    /// True if the loop reads or sets elements of an array whose other elements it accumulates.
    fn accesses_besides(&self, carrier: u32, first: &SiteInfo, update: Update) -> bool {
        let mut same = self.same_variable(carrier, first);
        first.variable != 0 && same.any(|(_, site)| !site.pointer && site.update != update as u8)
    }

    /// Sites in a loop that were executed, and reach memory by the same variable as another one of its function.
    fn same_variable<'s>(&'s self, carrier: u32, of: &'s SiteInfo) -> impl Iterator<Item = (Site, &'s SiteInfo)> {
        (0..).zip(&self.engine.source.sites).filter(move |(_, site)| {
            site.variable == of.variable
                && site.function == of.function
                && site.direct == of.direct
                // Two that optimisation has made of variables may have one name.
                && (site.local == of.local || site.local == 0 || of.local == 0)
                && self.engine.source.is_within(site.in_loop, carrier)
                && self.engine.executed.get(site.segment.0 as usize).copied().unwrap_or(false)
        })
    }

    /// True if the last iteration's value is needed afterwards; else the dependence that forbids private copies.
    fn privatizable<'t>(&self, carrier: u32, carried: &Carried<'t>) -> Result<bool, &'t (Key, Record)> {
        let mut last = false;
        let reads = carried.names.iter().any(|(key, _)| key.kind == Kind::War);
        if let Some(record) = carried.names.first().filter(|_| self.is_shared_too(carrier, carried)) {
            return Err(record);
        }
        if let Some(record) = carried.names.first().filter(|(key, _)| self.needs_value_before(carrier, key)) {
            return Err(record);
        }
        for record in &carried.names {
            let (key, values) = record;
            if self.site(key.sink).state != 0 || self.site(key.source).state != 0 {
                return Err(record);
            }
            if key.kind == Kind::War && self.engine.table.exposed.contains(&(key.source, carrier)) {
                return Err(record);
            }
            let mut read = self.read_afterwards(carrier, carried, key.sink, values);
            if key.kind == Kind::Waw {
                read = read.max(self.read_afterwards(carrier, carried, key.source, values));
            }
            // Elements that several iterations write, and no iteration reads: which one is left over depends on the order.
            let left_over = key.kind == Kind::Waw && values.varies && !reads && read < Afterwards::Last;
            if read == Afterwards::Any || left_over {
                return Err(record);
            }
            last |= read > Afterwards::Nothing;
        }
        // A loop within that ran once may have left over what is read.
        last |= carried.names.first().is_some_and(|(key, _)| self.leaves_last(carrier, self.site(key.sink)));
        match self.lost_by_the_last_copy(carrier, carried) {
            Some(record) if last => Err(record),
            _ => Ok(last),
        }
    }

    /// True if an iteration reads what a variable held before the loop: a private copy does not.
    fn needs_value_before(&self, carrier: u32, key: &Key) -> bool {
        let sink = self.site(key.sink);
        let exposed = &self.engine.table.exposed;
        sink.variable != 0
            && self.same_variable(carrier, sink).any(|(site, info)| !info.writes && exposed.contains(&(site, carrier)))
    }

    /// True if the loop also reaches memory by the same variable that no iteration shares with another: a part of an array cannot be
    /// private.
    fn is_shared_too(&self, carrier: u32, carried: &Carried<'_>) -> bool {
        let Some((key, _)) = carried.names.first() else {
            return false;
        };
        let sink = self.site(key.sink);
        if sink.local != 0 || sink.variable == 0 || key.sink_call != 0 || key.source_call != 0 {
            return false;
        }
        // A number by itself has no part, and nobody but Fortran's run-time sees those of a description.
        if sink.whole || sink.pointer && sink.writes {
            return false;
        }
        let mut known: BTreeSet<Site> = carried.names.iter().flat_map(|(key, _)| [key.source, key.sink]).collect();
        // What the same iteration writes again, each of them.
        let iterations = self.engine.loops[carrier as usize - 1].iterations;
        let again = self.engine.table.all.iter().filter(|(key, record)| {
            let in_iteration = key.carrier == 0 && key.kind == Kind::Waw && record.count >= iterations;
            in_iteration && known.contains(&key.sink) && self.is_inside(carrier, key.source, key.source_call)
        });
        let again: Vec<Site> = again.map(|(key, _)| key.source).collect();
        known.extend(again);
        // What an iteration reads of what it has itself written, it also reads in a copy.
        let exposed = &self.engine.table.exposed;
        let counts = |at: Site, site: &SiteInfo| site.local == 0 && (site.writes || exposed.contains(&(at, carrier)));
        self.same_variable(carrier, sink).any(|(at, site)| counts(at, site) && !known.contains(&at))
    }
}

/// True for a file of Fortran.
pub(super) fn is_fortran(file: &str) -> bool {
    file.rsplit_once('.').is_some_and(|(_, end)| end.to_ascii_lowercase().starts_with('f'))
}
