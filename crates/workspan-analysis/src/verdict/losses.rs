//! The time of P processors, split into useful work and what is lost to each cause.
//!
//! ```text
//! P · T_P = useful time + task overhead + too little parallelism + lock contention + scheduling
//! useful time = T_1 − cost of creating tasks
//! too little parallelism + lock contention = P · T_ideal − T_1      the others wait, in the best schedule
//! lock contention = of that, while code under a lock is what they wait for
//! scheduling = P · (T_P − T_ideal)                     what real schedules take longer
//! speedup = T_1 / T_P;  lost to a cause = P · its share:  P = speedup + Σ lost, but for task overhead
//! ```
//!
//! `T_1` is the time on one processor ([`mod@crate::laws`]), in which tasks are created as well: their cost is
//! part of the speedup, and keeps a program from scaling well.
//!
//! Work inflation and algorithmic overhead need runs to compare with: see [`mod@crate::factored`].

use workspan_model::{Clock, Nanos, Ratio, Recording, Run, SiteId};

use super::charged::Charged;
use super::evidence::{Basis, Blame, Evidence, Loops};
use super::headline::forks;
use super::reasons::{self, Known, Reason};
use crate::laws;
use crate::profile::Profile;
use crate::warnings::{self, Warning};

/// From this efficiency on a program scales well.
const SCALES_WELL: f64 = 0.8;

/// Parts of a loss that are distinguished: the rest is excluded.
const PARTS: usize = 2;

/// A part of less than this share of its loss is not worth a word.
const PART_MATTERS: f64 = 0.05;

/// A program on this number of processors.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    /// Their number.
    pub processors: u32,
    /// What is known of the time.
    pub basis: Basis,
    /// What it takes; with [`Basis::Bounds`] at least.
    pub time: Nanos,
    /// Time on one processor.
    pub on_one: Nanos,
    /// That, over `time`; with [`Basis::Bounds`] at most.
    pub speedup: Ratio,
    /// The same of the slowest schedule that there may be, where that is known.
    pub slowest: Ratio,
    /// `time` is that of loops with even iterations: chunks alone were seen.
    pub loops: Option<Loops>,
    /// `time` is that of the best order of locks, and the slowest schedule that of the order as it was.
    pub best_order: bool,
    /// In one word.
    pub outcome: Outcome,
    /// By falling time; none that is zero.
    pub losses: Vec<Loss>,
}

/// A verdict in one word.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// Nothing to say against this number of processors.
    ScalesWell,
    /// This costs most.
    Limited(Cause),
    /// Evidence does not suffice.
    Inconclusive(Why),
}

/// Why nothing can be said.
#[derive(Clone, Debug, PartialEq)]
pub enum Why {
    /// The program never forked.
    NeverForks,
    /// The run was too short for its clock.
    TooShort,
    /// Part of the run is missing.
    Incomplete,
    /// It may scale well, or not: only bounds are known, and they are far apart.
    OnlyBounds,
    /// It would with even iterations, but chunks show that those of this loop are not.
    UnevenLoop(SiteId),
}

/// What processor time is lost to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cause {
    /// The others have nothing to do.
    Parallelism,
    /// The others wait for code under a lock.
    Locks,
    /// Tasks are created.
    TaskOverhead,
    /// Tasks are distributed.
    Scheduling,
    /// Work takes longer beside other work.
    Inflation,
    /// The parallel algorithm does more.
    Algorithm,
}

impl Cause {
    /// Stable word for scripts.
    pub fn code(self) -> &'static str {
        match self {
            Cause::Parallelism => "parallelism",
            Cause::Locks => "lock-contention",
            Cause::TaskOverhead => "task-overhead",
            Cause::Scheduling => "scheduling",
            Cause::Inflation => "work-inflation",
            Cause::Algorithm => "algorithmic-overhead",
        }
    }
}

/// What is lost to one cause.
#[derive(Clone, Debug, PartialEq)]
pub struct Loss {
    /// The cause.
    pub cause: Cause,
    /// Processor time.
    pub time: Nanos,
    /// That, over all processor time.
    pub share: Ratio,
    /// In units of speedup: over all causes they add up to what is missing to linear speedup.
    pub speedup: Ratio,
    /// The sites behind most of it.
    pub parts: Vec<Part>,
}

/// A site's part of a loss.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// The site; none for code of the root that is in no region.
    pub site: Option<SiteId>,
    /// Its processor time.
    pub time: Nanos,
    /// That, over the loss.
    pub share: Ratio,
    /// Speedup if this were not lost, at most: of too little parallelism, if none of the code stayed on the critical path.
    pub without: Ratio,
    /// Share of the critical path that is the site's own code.
    pub of_path: Ratio,
    /// Why.
    pub reason: Reason,
}

/// Judges a run by evidence. `None` if it has no work.
pub fn judge(recording: &Recording, run: &Run, profile: &Profile, evidence: &Evidence) -> Option<Judged> {
    let all = i64::from(evidence.processors);
    let work = profile.program.work;
    let total = evidence.time * all;
    if work <= Nanos::ZERO || total <= Nanos::ZERO {
        return None;
    }
    let overhead = profile.program.overhead.at_least_zero().min(work);
    let on_one = profile.program.on_one.min(total);
    let charged = Charged::of(recording, run, profile);
    let processors = evidence.processors;
    let account = Account { profile, charged: &charged, least: evidence.least, on_one, total, processors };
    let waiting = (evidence.ideal * all - on_one).at_least_zero();
    let blamed = blamed(recording, run, profile, evidence, &charged);
    let (locks, others): (Times, Times) = blamed.into_iter().partition(|(_, reason, _)| *reason == Reason::Lock);
    let locked = locks.iter().map(|(_, _, time)| *time).sum::<Nanos>().min(waiting);
    let mut losses = vec![
        (Cause::Parallelism, waiting - locked, others),
        (Cause::Locks, locked, locks),
        (Cause::TaskOverhead, overhead, creators(profile)),
        (Cause::Scheduling, (evidence.time - evidence.ideal) * all, Vec::new()),
    ];
    losses.retain(|(_, time, _)| *time > Nanos::ZERO);
    losses.sort_by_key(|(cause, time, _)| (std::cmp::Reverse(*time), *cause));
    let losses: Vec<Loss> = losses.into_iter().map(|(cause, time, parts)| account.loss(cause, time, parts)).collect();
    let speedup = laws::speedup(on_one, evidence.time)?;
    // A schedule may leave all processors idle but one, as the curve of the page has it.
    let slowest = laws::speedup(on_one, evidence.longest.min(on_one.max(evidence.time))).unwrap_or(speedup);
    // The chunks that were seen are those of the team: smaller ones may be made of the same loop.
    let longest = evidence.loops.map_or(evidence.longest, |loops| loops.longest);
    let useful =
        [evidence.time, longest, evidence.least].map(|time| (on_one - overhead).over(time).unwrap_or_default());
    let outcome = outcome(recording, run, evidence, &losses, useful);
    let Evidence { processors, basis, time, loops, best_order, .. } = *evidence;
    Some(Judged { processors, basis, time, on_one, speedup, slowest, loops, best_order, outcome, losses })
}

fn outcome(recording: &Recording, run: &Run, evidence: &Evidence, losses: &[Loss], speedups: [Ratio; 3]) -> Outcome {
    if !forks(recording, run) {
        return Outcome::Inconclusive(Why::NeverForks);
    }
    let found = warnings::warnings(recording, run);
    if run.clock == Clock::Real && found.iter().any(|warning| matches!(warning, Warning::TooShort { .. })) {
        return Outcome::Inconclusive(Why::TooShort);
    }
    if run.losses.total() > 0 {
        return Outcome::Inconclusive(Why::Incomplete);
    }
    let [well, at_worst_well, at_best_well] =
        speedups.map(|speedup| speedup.0 >= SCALES_WELL * f64::from(evidence.processors));
    let uneven = evidence.loops.and_then(|loops| loops.uneven);
    // A schedule has the chunks of the loop, which may be made smaller: of such a loop it says no more than work and span do.
    let limited = if uneven.is_some() { !at_best_well } else { !well };
    match losses.first() {
        Some(loss) if limited => Outcome::Limited(loss.cause),
        _ if uneven.is_some() => {
            uneven.map_or(Outcome::ScalesWell, |site| Outcome::Inconclusive(Why::UnevenLoop(site)))
        }
        _ if evidence.basis == Basis::Bounds && !at_worst_well => Outcome::Inconclusive(Why::OnlyBounds),
        _ => Outcome::ScalesWell,
    }
}

/// Times of a loss by site and reason.
type Times = Vec<(Option<SiteId>, Reason, Nanos)>;

fn blamed(recording: &Recording, run: &Run, profile: &Profile, evidence: &Evidence, charged: &Charged) -> Times {
    let (mut times, mut known) = (Times::new(), Known::new(charged));
    for blame in &evidence.blame {
        let blame = &Blame { site: charged.site(blame.context), ..*blame };
        let reason = reasons::of_waiting(recording, run, profile, &mut known, blame, evidence.processors);
        match times.iter_mut().find(|(site, of, _)| *site == blame.site && of.is_like(&reason)) {
            Some((_, _, time)) => *time += blame.waiting,
            None => times.push((blame.site, reason, blame.waiting)),
        }
    }
    times
}

fn creators(profile: &Profile) -> Times {
    let rows = profile.sites.iter().filter(|row| row.overhead > Nanos::ZERO);
    rows.map(|row| (Some(row.site), reasons::of_overhead(row), row.overhead)).collect()
}

struct Account<'a> {
    profile: &'a Profile,
    charged: &'a Charged,
    /// No schedule is shorter.
    least: Nanos,
    /// Time on one processor.
    on_one: Nanos,
    total: Nanos,
    processors: u32,
}

impl Account<'_> {
    /// Speedup if this much of the loss were not lost, at most. Where all of a site's code becomes parallel, a chain that bounds
    /// every schedule is shorter by no more than what this code adds to the critical path: so the bound follows from numbers that
    /// reports show, with strands and without. A schedule that was found is no bound to start from: the code may also keep
    /// processors waiting beside the path.
    fn without(&self, cause: Cause, site: Option<SiteId>, part: Nanos) -> Ratio {
        let all = f64::from(self.processors);
        let most = match cause {
            Cause::Parallelism | Cause::Locks => {
                laws::speedup(self.on_one, self.least - self.on_path(site).at_least_zero())
            }
            _ => self.on_one.over(self.total - part).map(|share| Ratio(share.0 * all)),
        };
        Ratio(most.map_or(all, |most| most.0).min(all))
    }

    /// What code that counts for this site adds to the critical path.
    fn on_path(&self, site: Option<SiteId>) -> Nanos {
        self.profile.on_path(site) + self.charged.moved(site)
    }

    fn loss(&self, cause: Cause, time: Nanos, mut times: Times) -> Loss {
        times.sort_by_key(|(site, _, time)| (std::cmp::Reverse(*time), *site));
        let matters = |part: &Part| part.share.0 >= PART_MATTERS;
        let parts = times.into_iter().map(|(site, reason, part)| Part {
            site,
            time: part,
            share: part.over(time).unwrap_or_default(),
            without: self.without(cause, site, part),
            of_path: self.on_path(site).over(self.profile.program.span).unwrap_or_default(),
            reason,
        });
        let share = time.over(self.total).unwrap_or_default();
        let speedup = Ratio(share.0 * f64::from(self.processors));
        Loss { cause, time, share, speedup, parts: parts.filter(matters).take(PARTS).collect() }
    }
}
