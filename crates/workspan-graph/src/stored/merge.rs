//! One recording of several ranks.
//!
//! An empty context 0 creates each rank's first context, and joins it. Contexts of a rank keep their order, after those of
//! the ranks before. Ids of segments change where ranks have other modules; modules that are the same are there once. Events
//! of MPI become operations and barriers of all ranks ([`crate::messages`]).
//!
//! **Cost:** each chunk is decoded and encoded once, one after the other; memory: a chunk, and the control events.

use std::collections::{BTreeMap, HashMap, HashSet};

use workspan_trace::control::{Kind, FIRST_SEGMENT};
use workspan_trace::{ID_BYTES, SLOT_BYTES};

use crate::codec::{Decoder, Encoder};
use crate::events::{slot, Control};
use crate::file::{ChunkInfo, End, Host, Meta, Problem, Recorder, Recording};
use crate::messages::{identity, marks, matched, Identity, Matched};
use crate::program::Program;
use crate::ranks::{Rank, Ranks, MOST};
use crate::sample::Sample;
use crate::structure::other;

/// Why recordings are no ranks of one run. Numbers are places in the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unfit {
    /// There are none.
    None,
    /// It was merged already.
    Merged(usize),
    /// Its program did not start MPI.
    NoRank(usize),
    /// The second is of another run than the first.
    OtherRun(usize, usize),
    /// The second has another sample of the accesses than the first.
    OtherSample(usize, usize),
    /// Both are of the same rank.
    Twice(usize, usize),
    /// Ranks that are missing, and how many there were.
    Missing(Vec<u32>, u32),
    /// Too many ranks.
    TooMany,
}

/// Ranks of one run, by rank.
#[derive(Debug)]
pub struct Merger<'r> {
    ranks: Vec<(Identity, &'r Recording)>,
    shifts: Vec<u64>,
    firsts: Vec<u32>,
    end: u64,
    /// Ranks that ran on another machine than the first one: their times are only about right.
    pub elsewhere: usize,
}

impl<'r> Merger<'r> {
    /// Looks whether recordings belong together. `partial`: ranks may be missing.
    pub fn new(recordings: &'r [Recording], partial: bool) -> Result<Merger<'r>, Unfit> {
        let mut ranks: Vec<(Identity, &Recording)> = Vec::new();
        let mut places: HashMap<u32, usize> = HashMap::new();
        for (number, recording) in recordings.iter().enumerate() {
            if !recording.ranks.ranks.is_empty() {
                return Err(Unfit::Merged(number));
            }
            let own = identity(recording).ok_or(Unfit::NoRank(number))?;
            let first = ranks.first().map_or(own, |first| first.0);
            if (own.run, own.size) != (first.run, first.size) {
                return Err(Unfit::OtherRun(0, number));
            }
            if recordings.first().is_some_and(|first| first.sample != recording.sample) {
                return Err(Unfit::OtherSample(0, number));
            }
            if let Some(former) = places.insert(own.rank, number) {
                return Err(Unfit::Twice(former, number));
            }
            ranks.push((own, recording));
        }
        let size = ranks.first().ok_or(Unfit::None)?.0.size;
        let missing: Vec<u32> = (0..size).filter(|rank| !places.contains_key(rank)).collect();
        if !missing.is_empty() && !partial {
            return Err(Unfit::Missing(missing, size));
        }
        ranks.sort_by_key(|rank| rank.0.rank);
        if ranks.last().is_some_and(|rank| rank.0.rank >= MOST) {
            return Err(Unfit::TooMany);
        }
        let (shifts, elsewhere) = shifts(&ranks);
        let mut firsts = Vec::new();
        let mut next = 1;
        for (_, recording) in &ranks {
            firsts.push(next);
            next += contexts(recording);
        }
        let ends = ranks.iter().zip(&shifts).map(|((_, recording), shift)| last(recording) + shift);
        let end = ends.max().unwrap_or(0);
        Ok(Merger { ranks, shifts, firsts, end, elsewhere })
    }

    /// Which accesses they have, if not all.
    pub fn sample(&self) -> Option<&Sample> {
        self.ranks.first()?.1.sample.as_ref()
    }

    /// What is known before.
    pub fn meta(&self, made_by: &str) -> Meta {
        let first = self.ranks.first().map_or_else(Meta::default, |rank| rank.1.meta.clone());
        let made_at = self.ranks.iter().map(|rank| rank.1.meta.made_at).min().unwrap_or(0);
        Meta { made_at, made_by: made_by.to_owned(), ..first }
    }

    /// Writes all.
    pub fn write(&self, mut recorder: Recorder) -> Result<Ranks, Problem> {
        let Matched { events, messages, sent_only, received_only } = matched(&self.ranks, &self.shifts);
        let size = self.ranks.first().map_or(0, |rank| rank.0.size);
        let mut ranks = Ranks { ranks: Vec::new(), size, matched: messages, sent_only, received_only };
        let mut modules = Modules { program: Program::new(), known: HashMap::new(), next: FIRST_SEGMENT };
        let mut ids = Vec::new();
        for ((own, recording), first) in self.ranks.iter().zip(&self.firsts) {
            let (map, variables) = modules.add(recording, &mut recorder)?;
            ids.push(map);
            ranks.ranks.push(Rank { rank: own.rank, first: *first, complete: recording.complete(), variables });
        }
        recorder.ranks(&ranks)?;
        let mut encoder = Encoder::default();
        let (root, _) = encoder.encode(&modules.program, &self.root())?;
        recorder.events(0, 0, false, &root)?;
        for (number, (_, recording)) in self.ranks.iter().enumerate() {
            let (shift, first) = (self.shifts[number], self.firsts[number]);
            let rewrite =
                Rewrite { program: &recording.program, ids: &ids[number], shift, first, events: &events[number] };
            let mut decoder = Decoder::default();
            for chunk in &recording.chunks {
                let Ok(mut raw) = decoder.decode(&recording.program, &recording.encoded(chunk)?) else {
                    continue;
                };
                rewrite.chunk(chunk, &mut raw);
                let (encoded, _) = encoder.encode(&modules.program, &raw)?;
                recorder.events(chunk.context + first, chunk.sequence, chunk.unfinished, &encoded)?;
            }
        }
        recorder.host(Host { processors: self.processors(), ..Host::default() })?;
        recorder.finish(&self.ending())?;
        Ok(ranks)
    }

    /// Processors of all machines; 0 if those of one are unknown.
    fn processors(&self) -> u32 {
        let mut machines = BTreeMap::new();
        for (_, recording) in &self.ranks {
            let Some(host) = recording.host.filter(|host| host.machine != 0 && host.processors != 0) else {
                return 0;
            };
            machines.insert(host.machine, host.processors);
        }
        machines.values().fold(0, |sum: u32, processors| sum.saturating_add(*processors))
    }

    fn ending(&self) -> End {
        let ends = || self.ranks.iter().filter_map(|rank| rank.1.end.as_ref());
        let sum = |field: fn(&End) -> u32| ends().map(field).fold(0, u32::saturating_add);
        End {
            status: ends().map(|end| end.status).find(|status| *status != 0).unwrap_or(0),
            signal: ends().map(|end| end.signal).find(|signal| *signal != 0).unwrap_or(0),
            ticks: self.end,
            gave_up: sum(|end| end.gave_up),
            untracked: sum(|end| end.untracked),
            refused: sum(|end| end.refused),
            unknown: sum(|end| end.unknown),
        }
    }

    /// Events of the context that creates the ranks.
    fn root(&self) -> Vec<u8> {
        let begin = self.shifts.iter().copied().min().unwrap_or(0);
        let mut raw = Vec::new();
        let mut put = |kind: Kind, slots: &[u64]| {
            raw.extend_from_slice(&(kind as u32).to_le_bytes());
            slots.iter().for_each(|value| raw.extend_from_slice(&value.to_le_bytes()[..SLOT_BYTES]));
        };
        put(Kind::Begin, &[begin, 0]);
        for first in &self.firsts {
            put(Kind::Create, &[begin, begin, u64::from(*first) + 1]);
        }
        for first in &self.firsts {
            put(Kind::Join, &[self.end, self.end, u64::from(*first) + 1]);
        }
        put(Kind::End, &[self.end]);
        raw
    }
}

/// What is added to each rank's times, so that they are those of one clock; how many ranks ran elsewhere.
fn shifts(ranks: &[(Identity, &Recording)]) -> (Vec<u64>, usize) {
    let host = |recording: &Recording| recording.host.filter(|host| host.machine != 0);
    let machine = ranks.first().and_then(|rank| host(rank.1)).map(|host| host.machine);
    let is_here = |recording: &Recording| machine.is_some() && host(recording).map(|host| host.machine) == machine;
    let elsewhere = ranks.iter().filter(|rank| !is_here(rank.1)).count();
    if elsewhere == 0 {
        let start = |recording: &Recording| recording.host.map_or(0, |host| host.start);
        let first = ranks.iter().map(|rank| start(rank.1)).min().unwrap_or(0);
        return (ranks.iter().map(|rank| start(rank.1) - first).collect(), 0);
    }
    // All left one barrier when MPI started.
    let last = ranks.iter().map(|rank| rank.0.at).max().unwrap_or(0);
    (ranks.iter().map(|rank| last - rank.0.at).collect(), elsewhere)
}

/// Contexts that a recording has or names.
fn contexts(recording: &Recording) -> u32 {
    let named = marks(recording).filter_map(|(_, control)| match control.kind {
        Kind::Create | Kind::Task | Kind::Spawn => other(control.slots[2]),
        Kind::Switch => other(control.slots[1]),
        _ => None,
    });
    let all = named.chain(recording.chunks.iter().map(|chunk| chunk.context));
    all.max().map_or(1, |last| last.saturating_add(1))
}

/// The latest time of a recording.
fn last(recording: &Recording) -> u64 {
    recording.end.as_ref().map_or(0, |end| end.ticks)
}

/// Addresses of variables, by module.
type Variables = HashMap<u32, Vec<u64>>;

/// Modules of all ranks.
struct Modules {
    program: Program,
    known: HashMap<Vec<u8>, u32>,
    next: u32,
}

impl Modules {
    /// Adds those of a rank: new ids by old, and the variables that lie elsewhere.
    fn add(&mut self, recording: &Recording, recorder: &mut Recorder) -> Result<(Vec<u32>, Variables), Problem> {
        let mut ids = vec![0; recording.program.ids()];
        let mut variables = HashMap::new();
        let mut used: HashSet<u32> = HashSet::new();
        for loaded in &recording.program.modules {
            let description = loaded.module.encode();
            let known = self.known.get(&description).copied().filter(|number| used.insert(*number));
            let number = match known {
                Some(number) => {
                    variables.insert(number, loaded.variables.clone());
                    number
                }
                None => {
                    let bytes = Program::encoded(loaded);
                    let base = self.next;
                    let segments = u32::try_from(loaded.module.segments.len()).unwrap_or(u32::MAX);
                    self.next = base.saturating_add(segments);
                    self.program.add(base, &bytes).map_err(|_| Problem::Other)?;
                    recorder.module(base, &bytes)?;
                    let number = u32::try_from(self.program.modules.len() - 1).unwrap_or(u32::MAX);
                    used.insert(number);
                    self.known.insert(description, number);
                    number
                }
            };
            let base = self.program.modules.get(number as usize).map_or(0, |merged| merged.base);
            for segment in 0..loaded.module.segments.len() {
                if let (Some(place), Ok(offset)) = (ids.get_mut(loaded.base as usize + segment), u32::try_from(segment))
                {
                    *place = base + offset;
                }
            }
        }
        Ok((ids, variables))
    }
}

/// How the events of a rank change.
struct Rewrite<'m> {
    program: &'m Program,
    ids: &'m [u32],
    shift: u64,
    first: u32,
    events: &'m HashMap<(u32, u32, u64), Control>,
}

impl Rewrite<'_> {
    fn chunk(&self, chunk: &ChunkInfo, raw: &mut [u8]) {
        let mut at = 0;
        for number in 0.. {
            let Some(id) = raw.get(at..at + ID_BYTES).and_then(|id| id.try_into().ok()).map(u32::from_le_bytes) else {
                return;
            };
            let Some(entry) = self.program.entry(id) else { return };
            let slots = at + ID_BYTES;
            let end = slots + entry.slots as usize * SLOT_BYTES;
            let Some(bytes) = raw.get_mut(slots..end) else { return };
            let new = match Kind::of(id) {
                Some(kind) => {
                    let control = self.control(kind, bytes, (chunk.context, chunk.sequence, number));
                    for (place, value) in bytes.chunks_exact_mut(SLOT_BYTES).zip(control.slots) {
                        place.copy_from_slice(&value.to_le_bytes()[..SLOT_BYTES]);
                    }
                    control.kind as u32
                }
                None => self.ids.get(id as usize).copied().unwrap_or(0),
            };
            raw[at..slots].copy_from_slice(&new.to_le_bytes());
            at = end;
        }
    }

    fn control(&self, kind: Kind, bytes: &[u8], at: (u32, u32, u64)) -> Control {
        if let Some(control) = self.events.get(&at) {
            return *control;
        }
        let mut slots = [0; 5];
        for (number, value) in slots.iter_mut().take(kind.slots()).enumerate() {
            *value = slot(bytes, number);
        }
        let time = |value: &mut u64| *value += self.shift;
        // 0 has a meaning of its own.
        let time_if_there = |value: &mut u64| *value += if *value == 0 { 0 } else { self.shift };
        let context = |value: &mut u64| *value += if *value == 0 { 0 } else { u64::from(self.first) };
        let [first, second, third, ..] = &mut slots;
        match kind {
            Kind::Begin => {
                time(first);
                context(second);
                if at == (0, 0, 0) {
                    // The rank itself, which context 0 creates.
                    *second = 1;
                }
            }
            Kind::End | Kind::Gap | Kind::Group => time(first),
            Kind::Create | Kind::Task | Kind::Spawn => {
                time(first);
                time(second);
                context(third);
            }
            Kind::Join => {
                time_if_there(first);
                time(second);
                context(third);
            }
            Kind::Sync | Kind::Wait | Kind::Gather | Kind::Message | Kind::Collective => {
                time(first);
                time(second);
            }
            Kind::Barrier => {
                time(first);
                time_if_there(second);
            }
            Kind::Switch => {
                time(first);
                context(second);
            }
            Kind::Depend => context(first),
            Kind::Allocate | Kind::Free | Kind::Atomic | Kind::Frame | Kind::Local | Kind::Semaphore => {}
            Kind::Rank | Kind::Communicator | Kind::Transfer => {}
        }
        Control { kind, slots }
    }
}
