//! Loops and calls, from what was found.
//!
//! **Argument:** iterations may run in parallel if the number of iterations is known when the loop begins, and every dependence that the loop
//! carries disappears: a counter is computed from the iteration's number; an operator that may be applied in any order is
//! applied to a copy for each thread; a variable that each iteration writes before it reads it becomes private, with the
//! last iteration's value if a value is read afterwards. Anything else forbids it.

mod called;
mod carried;
mod chosen;
mod expected;
mod judge;
mod last;
mod paths;
mod reach;
mod remedy;
mod unbounded;

use std::collections::{BTreeMap, BTreeSet};

use workspan_trace::facts::loop_flag;
use workspan_trace::program::flag;
use workspan_trace::{cpp_library, rust_names};

use self::carried::Carried;
use self::expected::Expected;
use self::judge::Judge;
use self::reach::Reach;
use self::remedy::{is_fortran, Remedy};
use crate::effects::{Effect, STATES};
use crate::engine::Engine;
use crate::profile::{Blocker, Call, Dependence, Loop, Model, Parallel, Private, Profile, Reduction};
use crate::shadow::Site;
use crate::source::{Place, PlaceId, SiteInfo};
use crate::table::{Key, Record};

/// The profile of what an engine saw.
pub fn profile(engine: &mut Engine) -> Profile {
    engine.finish();
    crate::second::again(engine);
    engine.continuations.finish();
    let (work, clock) = (engine.work, engine.clock.work);
    let models = engine
        .models
        .iter_mut()
        .map(|run| Model {
            name: run.model.name.to_owned(),
            work,
            span: run.finish(clock).clamp(u64::from(work > 0), work.max(1)),
        })
        .collect();
    let judge = Judge { engine, reach: Reach::of(engine) };
    let own = (0..judge.engine.loops.len()).filter(|number| !judge.engine.source.loops[*number].of_library);
    let all = own.map(|number| judge.of_loop(number));
    // What stands nowhere is none of the source: rustc fills `[x; N]` by a loop.
    let is_of_source = |each: &Loop| each.place.line != 0 && !is_of_library(&each.place.file);
    let mut loops: Vec<Loop> = all.filter(|each| is_of_source(each) && !each.function.starts_with(OURS)).collect();
    loops.sort_by(|a, b| (&a.place, &a.function).cmp(&(&b.place, &b.function)));
    let lines = judge.lines();
    // Variables that the compiler made up are nobody's business.
    let is_made_up = |site: &SiteInfo| site.local != 0 && site.variable == 0;
    let all = judge.engine.table.all.iter().filter(|(key, _)| !is_made_up(judge.site(key.sink)));
    let mut dependences: Vec<Dependence> = all.map(|(key, record)| judge.dependence(key, record)).collect();
    dependences.sort();
    let boxes = judge.engine.boxes.iter().map(|(name, count)| (judge.name(*name), *count)).collect();
    let (paths, granularity) = (judge.paths(), judge.engine.granularity);
    Profile { granularity, loops, calls: judge.calls(), models, dependences, lines, boxes, paths, ..Profile::default() }
}

/// What is said of a variable that has no name.
fn without_name(written: &Place) -> String {
    format!("what line {} writes without naming it", written.line)
}

/// True for a file of Rust's or C++'s library: nobody changes what stands there.
fn is_of_library(file: &str) -> bool {
    rust_names::is_library_file(file) || cpp_library::is_library_file(file)
}

/// What the names of functions begin with that the pass has added.
const OURS: &str = "workspan.";

/// A line that depends on what happened in a call.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Waiting {
    line: u32,
    /// The loop, + 1, that carries the dependence; 0: it is within one iteration.
    carrier: u32,
}

impl Judge<'_> {
    fn dependence(&self, key: &Key, record: &Record) -> Dependence {
        let (source, sink) = self.ends(key);
        let carrier = (key.carrier as usize).checked_sub(1).and_then(|at| self.engine.source.loops.get(at));
        Dependence {
            kind: key.kind.name().to_owned(),
            variable: self.variable(key),
            source,
            sink,
            function: self.function(key.function),
            carrier: carrier.map(|each| self.place(each.place)),
            distance: (record.least, record.most),
            count: record.count,
        }
    }

    fn blocker(&self, key: &Key, record: &Record) -> Blocker {
        let (source, sink) = self.ends(key);
        let kind = match self.site(key.sink).state.checked_sub(1).map(|state| STATES[usize::from(state)]) {
            Some(Effect::Io) => "io",
            Some(Effect::Unknown) => "black-box",
            Some(_) => "state",
            None => key.kind.name(),
        };
        let variable = self.variable(key);
        Blocker {
            kind: kind.to_owned(),
            variable,
            source,
            sink,
            distance: Some((record.least, record.most)),
            count: record.count,
        }
    }

    fn of_loop(&self, number: usize) -> Loop {
        let (info, count) = (&self.engine.source.loops[number], self.engine.loops[number]);
        let mut found = Loop {
            place: self.place(info.place),
            last_line: self.end_of(number),
            function: self.function(info.function),
            entries: count.entries,
            iterations: count.iterations,
            work: count.work,
            ..Loop::default()
        };
        if count.entries == 0 || !info.judged {
            return found;
        }
        let here = |kind: &str| Blocker {
            kind: kind.to_owned(),
            variable: String::new(),
            source: found.place.clone(),
            sink: found.place.clone(),
            distance: None,
            count: count.entries,
        };
        let mut blockers = Vec::new();
        let leaves = info.flags & (loop_flag::EARLY_EXIT | loop_flag::DATA_EXIT | loop_flag::ENDLESS) != 0;
        if leaves || count.abandoned {
            blockers.push(here("control"));
        }
        let carrier = crate::source::small(number) + 1;
        for carried in self.by_variable(carrier) {
            self.judge(carrier, &carried, &mut found, &mut blockers);
        }
        blockers.extend(self.unbounded(carrier));
        blockers.extend(self.chosen(carrier, &found));
        let flags = self.flags(carrier, &found);
        found.reductions.extend(flags);
        self.counters(number, &mut found);
        blockers.sort();
        blockers.dedup();
        found.join_clauses();
        let clauses = !found.reductions.is_empty() || !found.private.is_empty() || !found.inductions.is_empty();
        found.parallel = if !blockers.is_empty() {
            Parallel::No
        } else if count.most < 2 {
            Parallel::NotExecuted
        } else if clauses {
            Parallel::WithClauses
        } else {
            Parallel::Yes
        };
        found.blockers = blockers;
        found
    }

    fn judge(&self, carrier: u32, carried: &Carried<'_>, found: &mut Loop, blockers: &mut Vec<Blocker>) {
        let Some((key, _)) = carried.flows.first().or(carried.names.first()) else {
            return;
        };
        match self.remedy(carrier, carried) {
            Remedy::Step { step, is_counter } => {
                let name = self.name_of(self.site(key.sink)).to_owned();
                if !is_counter && !name.is_empty() && !self.is_made_by_loop(carrier, key.sink) {
                    found.inductions.push((name, step));
                }
            }
            Remedy::Operator(update) => {
                let elements = self.has_elements(carrier, carried);
                let all = || carried.flows.iter().chain(&carried.names);
                let part = !elements && all().any(|(key, _)| self.is_part(key));
                let in_calls = all().any(|(key, _)| key.is_of_calls());
                let reached = self.is_reached(carrier, carried);
                for variable in self.names_here(carrier, carried) {
                    // No clause, and nobody, can name these: bits of one word, as a `std::vector<bool>` packs them.
                    if elements && variable.is_empty() {
                        blockers.extend(all().map(|(key, record)| self.blocker(key, record)));
                        continue;
                    }
                    let operator = update.sign().to_owned();
                    found.reductions.push(Reduction { operator, variable, elements, part, in_calls, reached });
                }
            }
            Remedy::Copies { last } => {
                let is_own = self.is_declared_inside(carrier, key.sink)
                    || !last && (self.is_own_counter(carrier, carried) || self.site(key.sink).thread_local);
                let all = self.names(carried).into_iter().filter(|name| !name.is_empty() && !is_own);
                let is_foreign = carried.names.iter().all(|(key, _)| self.is_foreign(key));
                // Named in words: the name is one of the functions that the loop calls.
                let all =
                    all.map(|name| if is_foreign { format!("what {name} leads to in called functions") } else { name });
                // What has no name needs a copy as well, unless the compiler has made it up.
                let nameless = carried.names.iter().find(|(key, _)| self.is_nameless(key));
                let nameless = nameless.filter(|_| !is_own);
                let nameless = nameless.map(|(key, _)| without_name(&self.place(self.site(key.sink).place)));
                let global = carried.names.iter().find(|(key, _)| self.is_global_of_calls(key));
                let in_calls = global.is_some();
                // The last value of a copy that no clause names is lost.
                blockers.extend(global.filter(|_| last).map(|(key, record)| self.blocker(key, record)));
                let mut all: Vec<String> = all.collect();
                let mut nameless = nameless.filter(|_| all.is_empty());
                if all.is_empty() && !is_own {
                    let written = carried.names.iter().map(|(key, _)| (key.sink, key.sink_call));
                    all.extend(self.read_as(carrier, written));
                }
                if all.is_empty() && nameless.is_none() && !is_own && is_fortran(&found.place.file) {
                    let given = carried.names.iter().find(|(key, _)| key.sink_call != 0);
                    nameless = given.map(|(key, _)| without_name(&self.place(key.sink_call)));
                }
                let reached = self.is_reached(carrier, carried);
                let all = all.into_iter().chain(nameless);
                found.private.extend(all.map(|variable| Private { variable, last, in_calls, reached }));
            }
            Remedy::NoneOfFlows => {
                let blocking = carried.flows.iter().filter(|(key, _)| !self.steps(carrier, key));
                blockers.extend(blocking.map(|(key, record)| self.blocker(key, record)));
            }
            Remedy::NoneOfNames(record) => blockers.push(self.blocker(&record.0, &record.1)),
        }
    }

    /// True if the function of the loop accesses where a variable leads to, and not the variable.
    fn is_reached(&self, carrier: u32, carried: &Carried<'_>) -> bool {
        let function = self.engine.source.loops[carrier as usize - 1].function;
        let all = carried.flows.iter().chain(&carried.names).flat_map(|(key, _)| [key.source, key.sink]);
        let mut own = all.map(|site| self.site(site)).filter(|site| site.function == function).peekable();
        own.peek().is_some() && own.all(|site| !site.direct && site.local == 0)
    }

    /// True if what is written is no variable by itself.
    fn is_part(&self, key: &Key) -> bool {
        [key.source, key.sink].into_iter().any(|site| {
            let site = self.site(site);
            site.writes && site.local == 0 && !(site.direct && site.whole)
        })
    }

    /// True if an address that has no name leads to memory of the program's own.
    fn is_nameless(&self, key: &Key) -> bool {
        let site = self.site(key.sink);
        site.local == 0 && !site.direct && site.state == 0 && self.variable(key).is_empty() && key.sink_call == 0
    }

    /// True if a variable has a name only in functions that are called, or in what of C++'s library was inlined.
    fn is_foreign(&self, key: &Key) -> bool {
        [key.source, key.sink].into_iter().map(|site| self.site(site)).all(|site| {
            let of_library = self.name_of(site).starts_with("__") && site.local == 0;
            // What the pass has added for a call has the name of the variable where the call is.
            let is_called = site.function != key.function && !self.function(site.function).starts_with(OURS);
            !site.direct && (is_called || of_library)
        })
    }

    /// True if a function that is called accesses a variable that is not its own, by name.
    fn is_global_of_calls(&self, key: &Key) -> bool {
        let is = |site: Site, call: PlaceId| {
            let site = self.site(site);
            call != 0 && site.direct && site.local == 0 && site.function != key.function && !site.thread_local
        };
        is(key.source, key.source_call) || is(key.sink, key.sink_call)
    }

    /// Names of the variables: those that have none by themselves may have one where the loop is.
    fn names(&self, carried: &Carried<'_>) -> BTreeSet<String> {
        // What the compiler makes up for a call has the name of the parameter there.
        let is_made_up = |key: &Key| {
            let own = [key.source, key.sink].map(|site| self.site(site));
            own.iter().any(|site| site.function == key.function && site.direct && site.variable == 0 && site.state == 0)
        };
        let all = || carried.flows.iter().chain(&carried.names).filter(|(key, _)| !is_made_up(key));
        let has_own = all().any(|(key, _)| !self.is_foreign(key));
        let all = all().filter(|(key, _)| !has_own || !self.is_foreign(key));
        let all: BTreeSet<String> = all.map(|(key, _)| self.variable(key)).collect();
        let named: BTreeSet<String> = all.into_iter().filter(|name| !name.is_empty()).collect();
        if named.is_empty() {
            BTreeSet::from([String::new()])
        } else {
            named
        }
    }

    /// True for a variable that the loop declares, or for the variable of a `do` whose end the compiler counts by itself.
    fn is_made_by_loop(&self, carrier: u32, site: Site) -> bool {
        let source = &self.engine.source;
        let (local, number) = (self.site(site).local, carrier as usize - 1);
        let begin = self.place(source.loops[number].place);
        let begins = |site: &SiteInfo| {
            site.writes && site.local == local && self.place(site.place).line == begin.line && local != 0
        };
        let is_of_do = || is_fortran(&begin.file) && source.sites.iter().any(begins);
        self.is_declared_inside(carrier, site) || is_of_do()
    }

    /// True for a variable of Rust that the loop itself declares: optimisation has taken its scope away.
    fn is_declared_inside(&self, carrier: u32, site: Site) -> bool {
        let source = &self.engine.source;
        let local = (self.site(site).local as usize).checked_sub(1);
        let line = local.and_then(|local| source.declared.get(local)).copied().unwrap_or(0);
        let number = carrier as usize - 1;
        let begin = self.place(source.loops[number].place);
        begin.file.ends_with(".rs") && line >= begin.line && line <= self.end_of(number)
    }

    /// Counters of the loop whose value is read afterwards.
    fn counters(&self, number: usize, found: &mut Loop) {
        let info = &self.engine.source.loops[number];
        let carrier = crate::source::small(number) + 1;
        for each in info.inductions.iter().filter(|each| each.control) {
            let live = self.engine.table.live_out.iter().any(|((site, of), live)| {
                *of == carrier && self.site(*site).local == each.local + 1 && (live.last || live.other || live.unknown)
            });
            let name = self.engine.source.locals.get(each.local as usize).copied().unwrap_or(0);
            let name = self.engine.source.names.get(name as usize).cloned().unwrap_or_default();
            if live && !name.is_empty() {
                found.private.push(Private { variable: name, last: true, ..Private::default() });
            }
        }
    }

    fn lines(&self) -> BTreeMap<String, BTreeMap<u32, bool>> {
        let source = &self.engine.source;
        let mut found: BTreeMap<String, BTreeMap<u32, bool>> = BTreeMap::new();
        for (id, info) in source.segments.iter().enumerate() {
            let Some(file) = source.places.get(info.place as usize).filter(|place| place.line != 0) else {
                continue;
            };
            if is_of_library(&file.file) {
                continue;
            }
            let executed = self.engine.executed.get(id).copied().unwrap_or(false);
            let lines = info.runs.iter().map(|run| run.line).filter(|line| *line != 0);
            let of_file = found.entry(file.file.clone()).or_default();
            for line in lines.chain(info.runs.is_empty().then_some(file.line)) {
                *of_file.entry(line).or_default() |= executed;
            }
        }
        found
    }

    /// The line that waits first for a call in line `call`: one behind it in the same iteration, one in the next iteration, or one
    /// behind the loop.
    fn first_waiting(&self, call: u32, all: &BTreeSet<Waiting>) -> u32 {
        let end = |wait: &Waiting| {
            let number = (wait.carrier as usize).checked_sub(1)?;
            Some(self.end_of(number))
        };
        let innermost = all.iter().filter_map(|wait| Some((end(wait)?, wait.line))).min();
        let mut behind = all.iter().filter(|wait| wait.carrier == 0 && wait.line > call).map(|wait| wait.line);
        match (behind.next(), innermost) {
            (Some(line), Some((end, _))) if line <= end => line,
            (_, Some((_, next))) => next,
            (Some(line), None) => line,
            (None, None) => all.first().map_or(0, |wait| wait.line),
        }
    }

    fn calls(&self) -> Vec<Call> {
        let source = &self.engine.source;
        // Lines that depend on what happened in a call, by place.
        let mut waits: BTreeMap<PlaceId, BTreeSet<Waiting>> = BTreeMap::new();
        for (key, _) in &self.engine.table.all {
            let site = self.site(key.source);
            let call = if key.source_call != 0 { key.source_call } else { site.tail };
            if call == 0 || site.function != key.function && key.source_call == 0 {
                continue;
            }
            let (_, sink) = self.ends(key);
            let to = if key.sink_call == 0 { self.site(key.sink).tail } else { key.sink_call };
            if to == call && key.carrier == 0 {
                continue;
            }
            waits.entry(call).or_default().insert(Waiting { line: sink.line, carrier: key.carrier });
        }
        let mut found = Vec::new();
        let expected = Expected::new(self.engine);
        for (place, count) in self.engine.calls.iter().filter(|(place, count)| **place != 0 && count.entered != 0) {
            let at = self.place(*place);
            let callee = self.name(count.callee);
            if at.line == 0 || is_of_library(&at.file) || callee.starts_with(OURS) {
                continue;
            }
            let (line, sizes) = (at.line, self.engine.continuations.of(*place));
            // Its own line goes on with the result.
            let at_once = Waiting { line: at.line, carrier: 0 };
            let is_at_once = waits.get(place).is_some_and(|all| all.contains(&at_once));
            let later = || waits.get(place).map_or(0, |all| self.first_waiting(at.line, all));
            let sync = if is_at_once { at.line } else { later() };
            let mut spawn = !is_at_once && count.next.iter().any(|line| *line != sync);
            // A condition on its result waits at once.
            spawn &= !source.segments.iter().any(|info| {
                info.flags & flag::BRANCH != 0
                    && info.flags & flag::AFTER_CALL != 0
                    && info.runs.len() == 1
                    && info.place != 0
                    && info.function == count.function
                    && info.runs[0].line == at.line
            });
            found.push(Call {
                place: at,
                function: self.function(count.function),
                callee,
                count: count.count,
                work: count.work,
                spawn,
                sync,
                awaited: sizes.awaited,
                continuation: sizes.continuation,
                expected: expected.of(*place, count.function, line),
                longest: (sizes.longest, sizes.longest_continuation),
            });
        }
        found.sort_by(|a, b| (&a.place, &a.callee).cmp(&(&b.place, &b.callee)));
        found
    }
}
