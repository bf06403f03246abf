//! Profiles of several runs as one.
//!
//! **Argument:** a dependence can only be seen where code ran. What any run forbids, is forbidden; a variable needs every clause that any
//! run needs, and where two runs need different ones of the same variable, none will do.

use std::collections::BTreeMap;

use crate::profile::{Blocker, Call, Dependence, Loop, Parallel, Profile};

/// The profile of both.
pub fn merge(earlier: Profile, later: Profile) -> Profile {
    let mut found = earlier;
    found.runs.extend(later.runs);
    if found.status == 0 {
        found.status = later.status;
    }
    found.problems.extend(later.problems);
    if found.granularity != later.granularity {
        let (one, other) = (found.granularity, later.granularity);
        found.problems.push(format!(
            "the task models mix runs of different --granularity ({one} and {other}): record them with the same"
        ));
    }
    found.problems.sort();
    found.problems.dedup();
    let key = |each: &Loop| (each.place.clone(), each.function.clone());
    found.loops = by_key(found.loops, later.loops, key, merge_loop);
    let key = |each: &Call| (each.place.clone(), each.callee.clone());
    found.calls = by_key(found.calls, later.calls, key, merge_call);
    // Runs follow one another, and so do their critical paths.
    for model in later.models {
        match found.models.iter_mut().find(|each| each.name == model.name) {
            Some(each) => (each.work, each.span) = (each.work + model.work, each.span + model.span),
            None => found.models.push(model),
        }
    }
    let key = |each: &Dependence| Dependence { distance: (0, 0), count: 0, ..each.clone() };
    found.dependences = by_key(found.dependences, later.dependences, key, |one, other| {
        one.distance = (one.distance.0.min(other.distance.0), one.distance.1.max(other.distance.1));
        one.count += other.count;
    });
    for (file, lines) in later.lines {
        let own = found.lines.entry(file).or_default();
        lines.into_iter().for_each(|(line, executed)| *own.entry(line).or_default() |= executed);
    }
    let key = |each: &(String, u64)| each.0.clone();
    found.boxes = by_key(found.boxes, later.boxes, key, |one, other| one.1 += other.1);
    found.paths = crate::paths::merge::merge(found.paths, later.paths);
    found
}

/// Both lists, in order; what has the same key becomes one.
fn by_key<T, K: Ord>(one: Vec<T>, other: Vec<T>, key: impl Fn(&T) -> K, join: impl Fn(&mut T, T)) -> Vec<T> {
    let mut found: BTreeMap<(K, usize), T> = BTreeMap::new();
    for list in [one, other] {
        // Several of one key in a list are several: instances of a template, for example.
        let mut seen: BTreeMap<K, usize> = BTreeMap::new();
        for each in list {
            let number = seen.entry(key(&each)).or_default();
            *number += 1;
            match found.entry((key(&each), *number)) {
                std::collections::btree_map::Entry::Occupied(mut old) => join(old.get_mut(), each),
                std::collections::btree_map::Entry::Vacant(new) => {
                    new.insert(each);
                }
            }
        }
    }
    found.into_values().collect()
}

fn merge_loop(one: &mut Loop, other: Loop) {
    one.entries += other.entries;
    one.iterations += other.iterations;
    one.work += other.work;
    one.last_line = one.last_line.max(other.last_line);
    let executed = [one.parallel, other.parallel].iter().any(|found| *found != Parallel::NotExecuted);
    one.reductions.extend(other.reductions);
    one.private.extend(other.private);
    one.join_clauses();
    one.inductions.extend(other.inductions);
    one.inductions.sort();
    one.inductions.dedup();
    let key = |each: &Blocker| Blocker { distance: None, count: 0, ..each.clone() };
    let blockers = std::mem::take(&mut one.blockers);
    one.blockers = by_key(blockers, other.blockers, key, |one, other| {
        one.distance = match (one.distance, other.distance) {
            (Some(one), Some(other)) => Some((one.0.min(other.0), one.1.max(other.1))),
            (one, other) => one.or(other),
        };
        one.count += other.count;
    });
    contradictions(one);
    let clauses = !one.reductions.is_empty() || !one.private.is_empty() || !one.inductions.is_empty();
    one.parallel = match () {
        () if !one.blockers.is_empty() => Parallel::No,
        () if !executed => Parallel::NotExecuted,
        () if clauses => Parallel::WithClauses,
        () => Parallel::Yes,
    };
}

/// Variables that need different clauses in different runs.
fn contradictions(found: &mut Loop) {
    let mut names: Vec<&String> = found.reductions.iter().map(|each| &each.variable).collect();
    names.extend(found.private.iter().map(|private| &private.variable));
    names.sort();
    let twice: Vec<String> =
        names.windows(2).filter(|pair| pair[0] == pair[1] && !pair[0].is_empty()).map(|pair| pair[0].clone()).collect();
    for variable in twice {
        let (source, sink) = (found.place.clone(), found.place.clone());
        found.blockers.push(Blocker { kind: "RAW".to_owned(), variable, source, sink, distance: None, count: 1 });
    }
    found.blockers.sort();
    found.blockers.dedup();
}

fn merge_call(one: &mut Call, other: Call) {
    one.count += other.count;
    one.work += other.work;
    one.spawn &= other.spawn;
    one.awaited += other.awaited;
    one.continuation += other.continuation;
    one.longest = (one.longest.0.max(other.longest.0), one.longest.1.max(other.longest.1));
    one.expected = one.expected.zip(other.expected).map(|(one, other)| one + other);
    let waits = [one.sync, other.sync].into_iter().filter(|line| *line != 0);
    let later = waits.clone().filter(|line| *line > one.place.line).min();
    one.sync = later.or(waits.min()).unwrap_or(0);
}
