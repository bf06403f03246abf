//! Why a site makes others wait: from the kind of its construct, and from number and sizes of its tasks.
//!
//! | reason | evidence |
//! |---|---|
//! | serial code | code of the root strand, outside of all regions |
//! | a lock | code under it is the critical path, and serial or waited for |
//! | waits | its strands were blocked for longer than they ran |
//! | polls | the same, and most of it they looked again and again |
//! | shared iterator | its items come from an iterator that one thread at a time can ask |
//! | few threads | threads of the site run beside each other, fewer at a time than there are processors |
//! | few tasks | an instance creates fewer tasks than there are processors, or they run out: sizes are alike |
//! | a long task | one task takes at least half of an instance's span, and twice the mean |
//! | in turn | enough tasks of like sizes, that nevertheless wait for each other: dependences |
//! | chunks | of a loop of which strands were not recorded: few or uneven chunks, which one is not known |
//! | own code | what a task does before, between or after what it forks |

use std::collections::BTreeMap;

use workspan_model::{ContextId, Nanos, Ratio, Recording, Run, SiteId, SiteKind};

use super::charged::Charged;
use super::evidence::{Blame, Code};
use crate::profile::{Profile, SiteRow};

/// Why a site costs processor time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reason {
    /// Serial code before the first region.
    SerialStart,
    /// Between regions.
    SerialBetween,
    /// After the last one.
    SerialEnd,
    /// A lock is held.
    Lock,
    /// Time blocked.
    Waits,
    /// The same, by looking again and again whether another strand has come so far.
    Polls,
    /// Items come from one iterator.
    SharedIterator,
    /// Fewer threads run at a time than there are processors.
    FewThreads {
        /// Their number.
        threads: u64,
        /// How many of them run at a time.
        at_a_time: Ratio,
    },
    /// There are too few tasks at a time.
    FewTasks {
        /// An instance has this number of on average, the creator's own branch included.
        tasks: f64,
        /// What they are.
        of: Unit,
    },
    /// One takes much longer than others.
    LongTask {
        /// The longest.
        longest: Nanos,
        /// The mean.
        mean: Nanos,
    },
    /// Tasks wait for one another.
    InTurn,
    /// Chunks of a loop are few or uneven.
    Chunks,
    /// Serial code of tasks that also fork.
    OwnCode,
    /// Tasks are small against the cost of creating them.
    SmallTasks {
        /// Mean of what they ran.
        mean: Nanos,
        /// Mean cost of creating one.
        creation: Nanos,
    },
}

/// What there is a number of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Tasks.
    Tasks,
    /// Chunks of a loop, as the program or the runtime divides it.
    Chunks,
    /// Iterations of a loop, of which there are no more.
    Iterations,
}

impl Reason {
    /// Stable word for scripts.
    pub fn code(&self) -> &'static str {
        match self {
            Reason::SerialStart => "serial-start",
            Reason::SerialBetween => "serial-between",
            Reason::SerialEnd => "serial-end",
            Reason::Lock => "lock",
            Reason::Waits => "waits",
            Reason::Polls => "polls",
            Reason::SharedIterator => "shared-iterator",
            Reason::FewThreads { .. } => "few-threads",
            Reason::FewTasks { .. } => "few-tasks",
            Reason::LongTask { .. } => "long-task",
            Reason::InTurn => "in-turn",
            Reason::Chunks => "chunks",
            Reason::OwnCode => "own-code",
            Reason::SmallTasks { .. } => "small-tasks",
        }
    }

    /// The same, but for its figures.
    pub(super) fn is_like(&self, other: &Reason) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other)
    }
}

/// Why others wait for `blame`.
pub(super) fn of_waiting(
    recording: &Recording,
    run: &Run,
    profile: &Profile,
    known: &mut Known<'_>,
    blame: &Blame,
    processors: u32,
) -> Reason {
    let kind = |site: SiteId| recording.sites.get(site.0 as usize).map(|site| site.kind);
    match blame.site.and_then(kind) {
        Some(SiteKind::Serial { .. }) if blame.site.is_some_and(|site| profile.waits(site)) => {
            return waiting(profile, blame.site)
        }
        Some(SiteKind::Serial { from: None, .. }) => return Reason::SerialStart,
        Some(SiteKind::Serial { to: None, .. }) => return Reason::SerialEnd,
        None | Some(SiteKind::Serial { .. }) => return Reason::SerialBetween,
        Some(kind) if kind.is_lock() => return Reason::Lock,
        Some(SiteKind::Thread | SiteKind::Marked) if blame.site.is_some_and(|site| profile.waits(site)) => {
            return waiting(profile, blame.site)
        }
        Some(_) => {}
    }
    let row = blame.site.and_then(|site| profile.sites.iter().find(|row| row.site == site));
    let Some(row) = row else {
        return Reason::OwnCode;
    };
    match blame.site.and_then(kind) {
        Some(SiteKind::Thread) => return of_threads(row, known.charged, processors),
        Some(SiteKind::Marked) => return Reason::OwnCode,
        Some(kind) if kind.is_body() => return Reason::OwnCode,
        _ => {}
    }
    let tasks = known.tasks.entry(row.site).or_insert_with(|| Tasks::of(recording, run, row));
    of_tasks(recording, row, tasks, blame, run.span, processors)
}

/// What `site`, which was blocked for longer than it ran, waited for.
fn waiting(profile: &Profile, site: Option<SiteId>) -> Reason {
    match site.is_some_and(|site| profile.polls(site)) {
        true => Reason::Polls,
        false => Reason::Waits,
    }
}

/// Why others wait for threads of the program.
fn of_threads(row: &SiteRow, charged: &Charged, processors: u32) -> Reason {
    // Threads whose work is mostly on the critical path run one after the other: more of them would wait, too.
    match charged.at_a_time(row.site) {
        Some(at_a_time) if at_a_time.0 < f64::from(processors) => {
            Reason::FewThreads { threads: row.instances, at_a_time }
        }
        _ => Reason::OwnCode,
    }
}

/// What the contexts of sites amount to: looked at once for each site.
#[derive(Debug)]
pub(super) struct Known<'c> {
    charged: &'c Charged,
    tasks: BTreeMap<SiteId, Tasks>,
}

impl Known<'_> {
    /// Nothing yet.
    pub(super) fn new(charged: &Charged) -> Known<'_> {
        Known { charged, tasks: BTreeMap::new() }
    }
}

#[derive(Debug)]
struct Tasks {
    sets: Sets,
    /// Items of a shared iterator.
    items: u64,
    /// Its tasks fork nothing.
    leaves: bool,
}

impl Tasks {
    fn of(recording: &Recording, run: &Run, row: &SiteRow) -> Tasks {
        let all = run.totals.iter().zip(recording.contexts.ids());
        let own = all.filter(|(_, id)| recording.contexts.site(*id) == Some(row.site));
        let items = own.map(|(totals, _)| totals.items).sum();
        Tasks { sets: sets(recording, run, row), items, leaves: are_leaves(recording, row.site) }
    }
}

/// Items of a shared iterator in a turn, from which on turns are long because of their number.
const SEVERAL: u64 = 2;

fn of_tasks(
    recording: &Recording,
    row: &SiteRow,
    known: &Tasks,
    blame: &Blame,
    span: Nanos,
    processors: u32,
) -> Reason {
    if row.blocked > row.self_work.at_least_zero() {
        return if row.polled > row.blocked - row.polled { Reason::Polls } else { Reason::Waits };
    }
    let kind = recording.sites.get(row.site.0 as usize).map(|site| site.kind);
    let is_loop = kind.is_some_and(|kind| kind.row().tasks == workspan_model::kind::Tasks::Pieces);
    let Tasks { sets, items, leaves } = known;
    // The creator runs a branch of a join itself.
    let own = kind.is_some_and(|kind| kind.row().runs_one);
    let pieces = if is_loop { blame.strands } else { Some(row.tasks).filter(|tasks| *tasks > 0) };
    let Some(pieces) = pieces else {
        return if is_loop { Reason::Chunks } else { Reason::OwnCode };
    };
    let tasks = count(pieces) / sets.instances + f64::from(u8::from(own));
    // Where even iterations could run beside each other, chunks say less of a loop than their number does.
    let iterations =
        row.uniform.filter(|_| is_loop).and_then(|even| even.parallelism).map_or(0.0, |most| most.0.round());
    let (tasks, of) = match is_loop {
        false => (tasks, Unit::Tasks),
        true if iterations > tasks => (iterations, Unit::Iterations),
        true => (tasks, Unit::Chunks),
    };
    let mean = match row.task_mean {
        Some(mean) if !is_loop => mean,
        _ => average(row.self_work, pieces),
    };
    let longest = blame.longest.unwrap_or_else(|| row.longest_task(span));
    let most_of_span = longest.as_f64() * 2.0 >= sets.span;
    let uneven = most_of_span && longest.as_f64() >= mean.as_f64() * 2.0;
    let few = tasks < f64::from(processors);
    // What is ordered among themselves, as stages and nodes are, is not made parallel by more tasks.
    let ordered = kind.is_some_and(|kind| !kind.row().remedy.is_empty());
    match blame.code {
        // Whoever takes many items has one long turn, which is no long task; and a task forks others between items.
        _ if *items > 0 && (!most_of_span || *items >= SEVERAL * row.tasks) => Reason::SharedIterator,
        Code::Part => Reason::OwnCode,
        _ if ordered && !uneven => Reason::OwnCode,
        // The only one is known exactly.
        _ if uneven || tasks <= 1.0 => Reason::LongTask { longest: if row.tasks == 1 { mean } else { longest }, mean },
        Code::Whole if !few && kind == Some(SiteKind::Task) => Reason::InTurn,
        // The span is that of several such tasks, and they do not wait for any of their own.
        Code::Any if !few && !most_of_span && *leaves && kind == Some(SiteKind::Task) => Reason::InTurn,
        Code::Any if !few => Reason::OwnCode,
        Code::Whole | Code::Any => Reason::FewTasks { tasks, of },
    }
}

/// True if nothing forks off the site's tasks.
fn are_leaves(recording: &Recording, site: SiteId) -> bool {
    let tree = &recording.contexts;
    let kind = |id: ContextId| Some(recording.sites.get(tree.site(id)?.0 as usize)?.kind);
    let mut inside = tree.ids().filter(|id| tree.path(*id).skip(1).any(|around| tree.site(around) == Some(site)));
    inside.all(|id| kind(id).is_some_and(SiteKind::is_lock))
}

/// Sets of tasks that belong together: what was created in one instance.
#[derive(Debug)]
struct Sets {
    /// At least 1.
    instances: f64,
    /// Mean of their spans.
    span: f64,
}

/// Instances of the site, or, where it creates one task at a time, of what is around it.
fn sets(recording: &Recording, run: &Run, row: &SiteRow) -> Sets {
    let tree = &recording.contexts;
    let kind = |id: ContextId| Some(recording.sites.get(tree.site(id)?.0 as usize)?.kind);
    let one_by_one =
        |id: &ContextId| matches!(kind(*id), Some(SiteKind::ScopeSpawn | SiteKind::Spawn | SiteKind::Task));
    let mut around: Vec<ContextId> = tree
        .ids()
        .filter(|id| tree.site(*id) == Some(row.site))
        .map(|id| tree.path(id).find(|around| !one_by_one(around)).unwrap_or(ContextId::ROOT))
        .collect();
    around.sort_unstable();
    around.dedup();
    let (mut instances, mut span) = (0, Nanos::ZERO);
    for id in around {
        match run.totals.get(id.index()) {
            // Tasks of the root: one set.
            Some(_) if id == ContextId::ROOT => (instances, span) = (instances + 1, span + run.span),
            Some(totals) => (instances, span) = (instances + totals.instances, span + totals.span),
            None => {}
        }
    }
    let instances = count(instances.max(1));
    Sets { instances, span: span.as_f64() / instances }
}

/// Why creating its tasks matters.
pub(super) fn of_overhead(row: &SiteRow) -> Reason {
    let creation = average(row.overhead, row.tasks);
    Reason::SmallTasks { mean: row.task_mean.unwrap_or_default(), creation }
}

#[expect(clippy::cast_possible_truncation, reason = "a mean; saturates")]
fn average(sum: Nanos, number: u64) -> Nanos {
    Nanos((sum.as_f64() / count(number.max(1))).round() as i64)
}

#[expect(clippy::cast_precision_loss, reason = "a mean is made of it")]
fn count(number: u64) -> f64 {
    number as f64
}
