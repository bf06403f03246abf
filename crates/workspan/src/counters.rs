//! What is counted besides time, in programs that are run.
//!
//! Of the whole program, for whoever compares: faults and switches, which the kernel counts for every process, and
//! migrations. Others by name; those the collectors count, too, by context.

use anyhow::ensure;
use nix::sys::resource::{getrusage, Usage, UsageWho};
use workspan_events::perf::{Children, Machine};
use workspan_events::{parse, Counters, Event, Refused};
use workspan_report::inflation::Counted;
use workspan_wire::events::MAX_EVENTS;

/// What is to be counted.
#[derive(Debug, Default)]
pub struct Wanted {
    events: Vec<Event>,
    /// How many of these, the last ones, were named.
    named: usize,
}

/// What was counted in one run, in the order of the names: how often, and in what share of the time.
pub type Counts = Vec<Result<(f64, f64), Refused>>;

/// A number that the kernel has of processes.
type Of = fn(&Usage) -> i64;

/// What the kernel counts for every process.
const OF_PROCESSES: [(&str, Of); 4] = [
    ("minor-faults", Usage::minor_page_faults),
    ("major-faults", Usage::major_page_faults),
    ("voluntary-switches", Usage::voluntary_context_switches),
    ("involuntary-switches", Usage::involuntary_context_switches),
];

impl Wanted {
    /// By names with commas between, besides what is always counted.
    pub fn new(names: &str) -> anyhow::Result<Wanted> {
        let named = named(Some(names))?;
        let mut events = parse("migrations", &Machine)?;
        let count = named.len();
        events.extend(named);
        Ok(Wanted { events, named: count })
    }

    /// These, and nothing else.
    pub fn only(events: Vec<Event>) -> Wanted {
        Wanted { named: events.len(), events }
    }

    /// True if nothing is.
    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// Of what was counted, the events that were named.
    pub fn named_of<'c>(&self, counts: &'c Counts) -> impl Iterator<Item = &'c Result<(f64, f64), Refused>> {
        counts.iter().skip(counts.len().saturating_sub(self.named))
    }

    /// Counts while `run` starts a program on this thread and waits for it.
    pub fn during<R>(&self, run: impl FnOnce() -> R) -> (R, Counts) {
        let before = of_processes();
        let mut counters = Counters::open(Children, &self.events);
        let result = run();
        let mut counts: Counts = match (before, of_processes()) {
            (Some(before), Some(after)) => {
                after.iter().zip(before).map(|(after, before)| Ok((after - before, 1.0))).collect()
            }
            _ => OF_PROCESSES.map(|_| Err(Refused::NotThere)).into(),
        };
        counts.extend(counters.read().into_iter().map(|count| count.map(|count| (count.value, count.share))));
        (result, counts)
    }

    /// What was counted, by event.
    pub fn counted(&self, base: &[Counts], new: &[Counts]) -> Vec<Counted> {
        let names =
            OF_PROCESSES.iter().map(|(name, _)| *name).chain(self.events.iter().map(|event| event.name.as_str()));
        let of_event = |(at, name): (usize, &str)| {
            let all = || base.iter().chain(new).filter_map(|counts| counts.get(at));
            let values = |runs: &[Counts]| -> Vec<f64> {
                runs.iter().filter_map(|counts| counts.get(at)?.as_ref().ok()).map(|(value, _)| *value).collect()
            };
            Counted {
                name: name.to_owned(),
                base: values(base),
                new: values(new),
                share: all().filter_map(|count| count.as_ref().ok()).map(|(_, share)| *share).fold(1.0, f64::min),
                refused: all().find_map(|count| count.as_ref().err()).map(ToString::to_string),
            }
        };
        names.enumerate().map(of_event).collect()
    }
}

/// The events of a list with commas between.
pub fn named(names: Option<&str>) -> anyhow::Result<Vec<Event>> {
    let events = parse(names.unwrap_or_default(), &Machine)?;
    ensure!(events.len() <= MAX_EVENTS, "--events: {} events; at most {MAX_EVENTS} can be counted", events.len());
    Ok(events)
}

/// So far, in all children that have ended.
#[expect(clippy::cast_precision_loss, reason = "counts")]
fn of_processes() -> Option<[f64; 4]> {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).ok()?;
    Some(OF_PROCESSES.map(|(_, of)| of(&usage) as f64))
}
