//! What a collector left in shared memory, as a run.
//!
//! The program may have died at any moment, so nothing is taken for granted: every number is bounded by its table, every
//! chain by its length.

mod open;
mod sites;
mod sums;
mod waits;

use std::io;
use std::mem::{offset_of, size_of};

use workspan_model::{
    AskedBy, AskedThreads, Clock, ContextId, Ending, Exit, Feature, Losses, Nanos, OnPath, OpenRegion, Recording, Run,
    SiteId, SiteKind, Totals,
};
use workspan_wire::shm::{
    self, Call, Candidate, Config, ContextRecord, Header, Instant, Latest, PathNode, Position, Thread, ThreadArea,
    NODE, NODE_ENTRIES, PREFIXED,
};

pub use crate::memory::Snapshot;
use crate::memory::{Record, Ticks};
use crate::{accounts, counts, idle};
use open::Open;
use sums::Sums;

/// What only the runner knows.
#[derive(Clone, Copy, Debug, Default)]
pub struct Died {
    /// How the process ended.
    pub exit: Exit,
    /// Cycle counter when the runner learnt of it; 0 if it has none.
    pub ticks: u64,
    /// CPU time of the process.
    pub cpu: Nanos,
}

/// Whether a collector has attached, before anything else is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attached {
    /// Yes.
    Yes,
    /// No process with hooks has run.
    No,
    /// One has, of another wire version.
    OtherVersion(u32),
}

/// Looks at the header.
pub fn attached(snapshot: &(impl Snapshot + ?Sized)) -> io::Result<Attached> {
    let header = Record::read(snapshot, 0, size_of::<Header>())?;
    Ok(match header.u32(offset_of!(Header, collector_version)) {
        0 => Attached::No,
        shm::WIRE_VERSION if header.u32(offset_of!(Header, owner)) != 0 => Attached::Yes,
        other => Attached::OtherVersion(other),
    })
}

/// Adds the run in `snapshot` to `recording`, with its sites and contexts. Returns, by the collector's number, the
/// recording's contexts.
pub fn read_snapshot(
    snapshot: &(impl Snapshot + ?Sized),
    died: &Died,
    recording: &mut Recording,
) -> io::Result<Vec<ContextId>> {
    let header = Record::read(snapshot, 0, size_of::<Header>())?;
    let ticks = Ticks::new(header.u64(offset_of!(Header, config) + offset_of!(Config, ticks_per_second)));
    let site_map = sites::read(snapshot, &header, recording)?;
    let context_map = read_contexts(snapshot, &header, &site_map, recording)?;
    let contexts = recording.contexts.len();
    let mut run = Run {
        exit: died.exit,
        cpu: died.cpu,
        totals: vec![Totals::default(); contexts],
        critical: vec![Nanos::ZERO; contexts],
        ..Run::default()
    };
    read_header(&header, &ticks, &mut run);
    let finished = header.u64(offset_of!(Header, finished) + offset_of!(Instant, ticks));
    let started = header.u64(offset_of!(Header, started) + offset_of!(Instant, ticks));
    let end = if finished != 0 { finished } else { died.ticks.max(started) };
    run.wall = ticks.nanos_u(end.saturating_sub(started));
    let real_end = (run.clock == Clock::Real).then_some(end);
    let is_thread = |id: ContextId| {
        let site = recording.contexts.site(id).and_then(|site| recording.sites.get(site.0 as usize));
        site.is_some_and(|site| site.kind == SiteKind::Thread)
    };
    let threads = read_threads(snapshot, &header, &context_map, &ticks, real_end, is_thread, &mut run)?;
    read_critical_path(snapshot, &header, &context_map, &ticks, &threads, &mut run)?;
    run.waits = waits::read(snapshot, &site_map, &ticks)?;
    // Earlier runs know nothing of contexts that came later.
    for earlier in &mut recording.runs {
        earlier.totals.resize(contexts, Totals::default());
        earlier.critical.resize(contexts, Nanos::ZERO);
        earlier.events.iter_mut().for_each(|event| event.counts.resize(contexts, 0));
    }
    counts::limit(&mut run);
    recording.runs.push(run);
    Ok(context_map)
}

fn read_header(header: &Record, ticks: &Ticks, run: &mut Run) {
    let config = offset_of!(Header, config);
    run.clock = match header.u32(config + offset_of!(Config, clock)) {
        c if c == shm::Clock::Virtual as u32 => Clock::Virtual,
        _ => Clock::Real,
    };
    run.logical_cores = Some(header.u32(config + offset_of!(Config, logical_cores))).filter(|n| *n > 0);
    run.asked = read_asked(header);
    run.ending = match header.u32(offset_of!(Header, ending)) {
        e if e == shm::Ending::Clean as u32 => Ending::Clean,
        e if e == shm::Ending::InsideRegion as u32 => Ending::InsideRegion,
        _ => Ending::Unseen,
    };
    run.workers = header.u32(offset_of!(Header, workers));
    run.pools = header.u32(offset_of!(Header, pools));
    run.threads = header.u32(offset_of!(Header, threads));
    run.other_processes = header.u32(offset_of!(Header, other_processes));
    if run.ending == Ending::Unseen && run.exit == Exit::Code(0) && run.other_processes == 0 {
        // A daemon: the process that was started leaves the work to one that it has forked, and ends without a word.
        run.other_processes = header.u32(offset_of!(Header, forks));
    }
    run.losses = Losses {
        sites: header.u64(offset_of!(Header, dropped_sites)),
        contexts: header.u64(offset_of!(Header, dropped_contexts)),
        threads: header.u64(offset_of!(Header, dropped_threads)),
        path_nodes: header.u64(offset_of!(Header, dropped_nodes)),
    };
    run.join_cost_ps = ticks.fine_picos(header.i64(offset_of!(Header, join_cost)));
    run.probe_cost_ps = ticks.fine_picos(header.i64(offset_of!(Header, probe_ticks)).saturating_mul(1024));
    let batch = header.i64(offset_of!(Header, batch_probe_ticks)).saturating_mul(1024 / i64::from(shm::BATCH));
    run.batched_probe_cost_ps = ticks.fine_picos(batch);
    let bits = header.u32(offset_of!(Header, features));
    run.features = [
        (shm::Feature::SwitchWitness, Feature::SwitchWitness),
        (shm::Feature::InterruptWitness, Feature::InterruptWitness),
        (shm::Feature::RunDelay, Feature::RunDelay),
        (shm::Feature::SteadyCounter, Feature::SteadyCounter),
    ]
    .into_iter()
    .filter(|(bit, _)| bits & *bit as u32 != 0)
    .map(|(_, feature)| feature)
    .collect();
}

fn read_asked(header: &Record) -> Option<AskedThreads> {
    let bits = header.u32(offset_of!(Header, asked_by));
    let by: Vec<_> = [
        (shm::Asked::CurrentNumThreads, AskedBy::CurrentNumThreads),
        (shm::Asked::OmpGetMaxThreads, AskedBy::OmpGetMaxThreads),
        (shm::Asked::OmpGetNumProcs, AskedBy::OmpGetNumProcs),
        (shm::Asked::MaxConcurrency, AskedBy::MaxConcurrency),
    ]
    .into_iter()
    .filter(|(bit, _)| bits & *bit as u32 != 0)
    .map(|(_, by)| by)
    .collect();
    let answer = u32::MAX - header.u32(offset_of!(Header, asked_least));
    (!by.is_empty()).then_some(AskedThreads { answer, by })
}

/// Adds the contexts to the recording. Returns, by the collector's number, the recording's; the root for those that
/// make no sense.
fn read_contexts(
    snapshot: &(impl Snapshot + ?Sized),
    header: &Record,
    sites: &[Option<SiteId>],
    recording: &mut Recording,
) -> io::Result<Vec<ContextId>> {
    let count = (header.u32(offset_of!(Header, contexts)) as usize).min(shm::MAX_CONTEXTS);
    let size = size_of::<ContextRecord>();
    let bytes = Record::read(snapshot, shm::CONTEXTS, count * size)?;
    let mut map = vec![ContextId::ROOT; count];
    for index in 1..count {
        let record = bytes.part(index * size, size);
        let parent = record.u32(offset_of!(ContextRecord, parent)) as usize;
        let site = record.u32(offset_of!(ContextRecord, site)) as usize;
        let ready = record.u32(offset_of!(ContextRecord, ready)) != 0;
        let (Some(parent), Some(Some(site))) = (map.get(parent).copied(), sites.get(site)) else {
            continue;
        };
        // A parent is always made before its children.
        if ready {
            if let Some(id) = recording.contexts.intern(parent, *site) {
                map[index] = id;
            }
        }
    }
    Ok(map)
}

/// The longest chain among the threads' running strands.
struct Longest {
    span: i64,
    path: u32,
    since: i64,
    context: u32,
    prefix: Option<(u32, i64)>,
    thread_is_root: bool,
    last_region: u32,
}

fn read_threads(
    snapshot: &(impl Snapshot + ?Sized),
    header: &Record,
    contexts: &[ContextId],
    ticks: &Ticks,
    end: Option<u64>,
    is_thread: impl Fn(ContextId) -> bool,
    run: &mut Run,
) -> io::Result<Vec<Longest>> {
    let count = (header.u32(offset_of!(Header, thread_slots)) as usize).min(shm::MAX_THREADS);
    let mut running = Vec::new();
    let [mut idle, mut lived] = [0i64; 2];
    let [mut preempted, mut blocked, mut interrupted, mut first_use, mut displaced] = [0i64; 5];
    let mut sums = vec![Sums::default(); run.totals.len()];
    for slot in 0..count {
        let area = accounts::read(snapshot, slot, contexts.len(), |index, account| {
            sums[contexts[index].index()].add(account);
        })?;
        let thread = |field: usize| area.i64(offset_of!(ThreadArea, thread) + field);
        let small = |field: usize| area.u32(offset_of!(ThreadArea, thread) + field);
        for (sum, field) in [
            (&mut idle, offset_of!(Thread, idle)),
            (&mut preempted, offset_of!(Thread, preempted)),
            (&mut blocked, offset_of!(Thread, blocked)),
            (&mut interrupted, offset_of!(Thread, interrupted)),
            (&mut first_use, offset_of!(Thread, first_use)),
            (&mut displaced, offset_of!(Thread, displaced)),
        ] {
            *sum = sum.saturating_add(thread(field));
        }
        let since = |field: usize| end.map_or(0, |end| end.wrapping_sub(thread(field) as u64) as i64).max(0);
        lived = lived.saturating_add(idle::lived(thread, small, since));
        let interrupts = area.u64(offset_of!(ThreadArea, thread) + offset_of!(Thread, interrupts));
        run.interrupts = run.interrupts.saturating_add(interrupts);
        let position = offset_of!(Thread, task.position);
        let live = small(offset_of!(Thread, state)) == 1;
        if !live {
            continue;
        }
        let waiting = small(offset_of!(Thread, task.waiting)) != 0;
        if waiting && small(offset_of!(Thread, is_worker)) != 0 {
            idle = idle.saturating_add(since(offset_of!(Thread, idle_since)));
        }
        let context = small(position + offset_of!(Position, context));
        let work = thread(offset_of!(Thread, task.work));
        let pending = work.wrapping_sub(thread(offset_of!(Thread, task.flushed)));
        let id = contexts.get(context as usize).copied().unwrap_or(ContextId::ROOT);
        if run.ending == Ending::Clean {
            let threads: Vec<Open> =
                open::regions(&area, contexts).filter(|open| open.outermost && is_thread(open.context)).collect();
            if !threads.is_empty() {
                // Of a thread that nobody joins, this is what its last hook saw.
                let self_work = &mut sums[id.index()].self_work;
                *self_work = self_work.wrapping_add(pending);
            }
            match waiting {
                // It waits until the process is over: it has ended for all that it does.
                true => threads.iter().for_each(|open| sums[open.context.index()].end(open.span)),
                false => run.open.extend(threads.iter().map(|open| open.in_nanos(ticks))),
            }
            // Not seen to end: its last strand is missing.
            if !waiting && id != ContextId::ROOT && !run.open.iter().any(|open| open.context == id) {
                run.open.push(OpenRegion { context: id, outermost: false, span: Nanos::ZERO });
            }
        }
        // A clean end has charged everything else; after any other, this is what the last hook saw.
        if run.ending != Ending::Clean {
            let self_work = &mut sums[id.index()].self_work;
            *self_work = self_work.wrapping_add(pending);
            let path = small(position + offset_of!(Position, path));
            running.push(Longest {
                span: work.wrapping_add(thread(offset_of!(Thread, task.offsets.actual))),
                path,
                since: thread(position + offset_of!(Position, since)),
                context,
                prefix: (path & PREFIXED != 0)
                    .then(|| (small(offset_of!(Thread, task.prefix_context)), thread(offset_of!(Thread, task.prefix)))),
                thread_is_root: slot == 0,
                last_region: small(offset_of!(Thread, task.last_region)),
            });
            run.open.extend(open::regions(&area, contexts).map(|open| open.in_nanos(ticks)));
        }
    }
    for (totals, sums) in run.totals.iter_mut().zip(sums) {
        *totals = sums.totals(ticks);
    }
    run.idle = ticks.nanos(idle);
    run.preempted = ticks.nanos(preempted);
    run.blocked = ticks.nanos(blocked);
    run.interrupted = ticks.nanos(interrupted);
    run.first_use = ticks.nanos(first_use);
    run.displaced = ticks.nanos(displaced);
    // What a thread did while it lived and did not wait was either a strand, or taken out of one.
    let strands = run.work() + run.preempted + run.blocked + run.interrupted + run.first_use;
    run.collector = match run.clock {
        Clock::Real => (ticks.nanos(lived) - strands).at_least_zero(),
        Clock::Virtual => Nanos::ZERO,
    };
    Ok(running)
}

/// Walks the longest chain and charges it to contexts.
fn read_critical_path(
    snapshot: &(impl Snapshot + ?Sized),
    header: &Record,
    contexts: &[ContextId],
    ticks: &Ticks,
    running: &[Longest],
    run: &mut Run,
) -> io::Result<()> {
    let detached = offset_of!(Header, detached) + offset_of!(Latest, candidate);
    let ended = header.i64(detached + offset_of!(Candidate, span));
    let mut span = if ended > 0 { ended } else { 0 };
    let mut path = header.u32(detached + offset_of!(Candidate, path));
    let mut ticks_of = vec![0i64; run.critical.len()];
    let mut called = vec![(0i64, 0i64, 0u64); run.critical.len()];
    let index = |context: u32| contexts.get(context as usize).copied().unwrap_or(ContextId::ROOT).index();
    if let Some(longest) = running.iter().max_by_key(|l| l.span).filter(|l| l.span > span) {
        span = longest.span;
        path = longest.path;
        let own = &mut ticks_of[index(longest.context)];
        *own = own.wrapping_add(longest.span.wrapping_sub(longest.since));
        if let Some((context, prefix)) = longest.prefix {
            let own = &mut ticks_of[index(context)];
            *own = own.wrapping_add(prefix);
        }
        let _ = (longest.thread_is_root, longest.last_region);
    }
    let mut node = path & NODE;
    let mut left = shm::MAX_NODES;
    while node != 0 && (node as usize) < shm::MAX_NODES && left > 0 {
        let at = shm::NODES + node as usize * size_of::<PathNode>();
        let record = Record::read(snapshot, at, size_of::<PathNode>())?;
        let entries = (record.u32(offset_of!(PathNode, len)) as usize).min(NODE_ENTRIES);
        for i in 0..entries {
            let context = record.u32(offset_of!(PathNode, contexts) + 4 * i);
            if context == shm::AWAITED {
                let call = record.u32(offset_of!(PathNode, calls) + 4 * i);
                if let Some((context, call_work, call_span)) = read_call(snapshot, call)? {
                    let (work, span, calls) = &mut called[index(context)];
                    *work = work.wrapping_add(call_work);
                    *span = span.wrapping_add(call_span);
                    *calls = calls.wrapping_add(1);
                }
                continue;
            }
            let value = record.i64(offset_of!(PathNode, ticks) + 8 * i);
            let context = index(context);
            ticks_of[context] = ticks_of[context].wrapping_add(value);
            let (work, span, calls) = &mut called[context];
            *work = work.wrapping_add(record.i64(offset_of!(PathNode, work) + 8 * i));
            *span = span.wrapping_add(record.i64(offset_of!(PathNode, span) + 8 * i));
            *calls = calls.wrapping_add(u64::from(record.u32(offset_of!(PathNode, calls) + 4 * i)));
        }
        node = record.u32(offset_of!(PathNode, parent));
        left -= 1;
    }
    run.span = ticks.nanos(span);
    let uniform = header.i64(offset_of!(Header, detached) + offset_of!(Latest, uniform));
    run.uniform_span = ticks.nanos(uniform.max(0));
    read_burdened(header, ticks, run);
    for (critical, ticks_on) in run.critical.iter_mut().zip(&ticks_of) {
        *critical = ticks.nanos(*ticks_on);
    }
    for (totals, (work, span, instances)) in run.totals.iter_mut().zip(called) {
        totals.on_path = OnPath { instances, work: ticks.nanos(work), span: ticks.nanos(span) };
    }
    let accounted: i64 = ticks_of.iter().fold(0, |sum, t| sum.wrapping_add(*t));
    run.lost_path = ticks.nanos(span.wrapping_sub(accounted));
    Ok(())
}

/// Context, work and span of a call on the longest chain, if that was over when the program ended.
fn read_call(snapshot: &(impl Snapshot + ?Sized), call: u32) -> io::Result<Option<(u32, i64, i64)>> {
    if call as usize >= shm::MAX_CALLS {
        return Ok(None);
    }
    let record = Record::read(snapshot, shm::CALLS + call as usize * size_of::<Call>(), size_of::<Call>())?;
    let known = record.u32(offset_of!(Call, known)) != 0;
    Ok(known.then(|| {
        let sum = |at| record.i64(at);
        let context = record.u32(offset_of!(Call, context));
        (context, sum(offset_of!(Call, work)), sum(offset_of!(Call, span)))
    }))
}

/// The longest chain with steals, if these were to cost anything. After a death nobody has reported it.
fn read_burdened(header: &Record, ticks: &Ticks, run: &mut Run) {
    run.steal = ticks.nanos(header.i64(offset_of!(Header, config) + offset_of!(Config, steal_ticks))).at_least_zero();
    let burdened = ticks.nanos(header.i64(offset_of!(Header, detached) + offset_of!(Latest, burdened)).max(0));
    let is_told = run.steal > Nanos::ZERO && burdened >= run.span;
    run.burdened_span = if is_told { burdened } else { Nanos::ZERO };
    for totals in run.totals.iter_mut().filter(|_| run.steal == Nanos::ZERO) {
        totals.burdened_span = Nanos::ZERO;
    }
}
