//! Several events counted together.
//!
//! Events of the hardware go into one group, so that the kernel counts all of them at the same time. One that does not fit
//! counts by itself: the kernel lets such counters take turns, and what was counted is scaled by the time that it was.

use std::fmt;

use crate::name::{Attributes, Event, SOFTWARE};

/// Who counts.
pub trait Source {
    /// A counter.
    type Counter;
    /// Begins to count, in the group of another counter if one is given.
    fn open(&mut self, event: &Attributes, group: Option<&Self::Counter>) -> Result<Self::Counter, Refused>;
    /// What has been counted.
    fn read(&mut self, counter: &Self::Counter) -> Result<Reading, Refused>;
}

/// Why an event is not counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// The machine, or the kernel, does not have it.
    NotThere,
    /// The kernel does not permit it.
    NotPermitted,
    /// It does not fit beside the others, or its terms make no sense.
    DoesNotFit,
    /// All of its counters were taken by others all the time.
    NeverRan,
    /// The program had no file descriptor left for it.
    NoDescriptor,
    /// The program has closed it.
    Closed,
    /// Another error of the system, by its number.
    Failed(i32),
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refused::NotThere => f.write_str("this machine has no such counter: most virtual machines have none"),
            Refused::NotPermitted => {
                f.write_str("not permitted: lower kernel.perf_event_paranoid, or run with CAP_PERFMON")
            }
            Refused::DoesNotFit => f.write_str("the processor cannot count it"),
            Refused::NeverRan => f.write_str("its counter was taken by others all the time"),
            Refused::NoDescriptor => f.write_str("the program has as many files open as it may"),
            Refused::Closed => f.write_str("the program has closed its counter"),
            Refused::Failed(code) => write!(f, "error {code} of the system"),
        }
    }
}

impl Refused {
    /// By an error number of the system's.
    pub fn of_code(code: i32) -> Refused {
        match code {
            libc::ENOENT | libc::ENODEV | libc::EOPNOTSUPP | libc::ENOSYS => Refused::NotThere,
            libc::EACCES | libc::EPERM => Refused::NotPermitted,
            libc::EINVAL | libc::ENOSPC | libc::E2BIG => Refused::DoesNotFit,
            libc::EMFILE | libc::ENFILE => Refused::NoDescriptor,
            libc::EBADF => Refused::Closed,
            code => Refused::Failed(code),
        }
    }
}

/// What a counter says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// Events.
    pub value: u64,
    /// Time that it was wanted, in nanoseconds.
    pub enabled: u64,
    /// Time that it counted.
    pub running: u64,
}

/// How often an event came.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Count {
    /// Events: as counted, if it counted all the time; otherwise scaled.
    pub value: f64,
    /// Share of the time in which it counted.
    pub share: f64,
}

impl Reading {
    /// `value · enabled / running`: as if it had come as often while it was not counted.
    #[expect(clippy::cast_precision_loss, reason = "exact below 2^53; counts are reported with four digits")]
    pub fn count(&self) -> Result<Count, Refused> {
        match (self.enabled, self.running) {
            // The program was over before it was wanted.
            (0, _) => Ok(Count { value: self.value as f64, share: 1.0 }),
            (_, 0) => Err(Refused::NeverRan),
            (enabled, running) if running >= enabled => Ok(Count { value: self.value as f64, share: 1.0 }),
            (enabled, running) => {
                let share = running as f64 / enabled as f64;
                Ok(Count { value: self.value as f64 / share, share })
            }
        }
    }
}

/// Counters of several events, in their order.
#[derive(Debug)]
pub struct Counters<S: Source> {
    source: S,
    opened: Vec<Result<S::Counter, Refused>>,
}

impl<S: Source> Counters<S> {
    /// Begins to count.
    pub fn open(mut source: S, events: &[Event]) -> Counters<S> {
        let mut opened: Vec<Result<S::Counter, Refused>> = Vec::with_capacity(events.len());
        // Position of the group's first.
        let mut first: Option<usize> = None;
        for event in events {
            let alone = event.attributes.device == SOFTWARE;
            let leader = first.filter(|_| !alone).and_then(|at| opened.get(at)?.as_ref().ok());
            let counter = match source.open(&event.attributes, leader) {
                // No more counters of the processor's are free beside those of the group.
                Err(Refused::DoesNotFit) if leader.is_some() => source.open(&event.attributes, None),
                other => other,
            };
            if counter.is_ok() && !alone && first.is_none() {
                first = Some(opened.len());
            }
            opened.push(counter);
        }
        Counters { source, opened }
    }

    /// What has come of each.
    pub fn read(&mut self) -> Vec<Result<Count, Refused>> {
        let Counters { source, opened } = self;
        let read = |counter: &Result<S::Counter, Refused>| match counter {
            Ok(counter) => source.read(counter)?.count(),
            Err(refused) => Err(*refused),
        };
        opened.iter().map(read).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::name::{parse, Devices, Folder};

    struct NoDevices;

    impl Devices for NoDevices {
        fn number(&self, _: &str) -> Option<u32> {
            None
        }

        fn describe(&self, _: &str, _: Folder, _: &str) -> Option<String> {
            None
        }
    }

    /// A processor with this number of counters: a group has them all the time, everything else half of it.
    #[derive(Default)]
    struct Made {
        free: usize,
        absent: Option<u64>,
        /// Which group each counter is in.
        groups: Vec<Option<usize>>,
        alone: Vec<bool>,
    }

    impl Source for Made {
        type Counter = usize;

        fn open(&mut self, event: &Attributes, group: Option<&usize>) -> Result<usize, Refused> {
            if self.absent == Some(event.config[0]) {
                return Err(Refused::NotThere);
            }
            if event.device != SOFTWARE && group.is_some() {
                self.free = self.free.checked_sub(1).ok_or(Refused::DoesNotFit)?;
            }
            self.groups.push(group.copied());
            self.alone.push(event.device != SOFTWARE && group.is_none() && self.groups.len() > 1);
            Ok(self.groups.len() - 1)
        }

        fn read(&mut self, counter: &usize) -> Result<Reading, Refused> {
            let value = 100 * (*counter as u64 + 1);
            Ok(Reading { value, enabled: 50, running: if self.alone[*counter] { 25 } else { 50 } })
        }
    }

    #[test]
    fn hardware_is_one_group_and_the_rest_takes_turns() {
        let events = parse("cycles,page-faults,instructions,branches,LLC-misses", &NoDevices).unwrap();
        let mut counters = Counters::open(Made { free: 2, ..Made::default() }, &events);
        assert_eq!(counters.source.groups, [None, None, Some(0), Some(0), None]);
        let read: Vec<_> =
            counters.read().into_iter().map(|count| count.map(|count| (count.value, count.share))).collect();
        let all = [(100.0, 1.0), (200.0, 1.0), (300.0, 1.0), (400.0, 1.0), (1000.0, 0.5)];
        assert_eq!(read, all.map(Ok));
    }

    #[test]
    fn what_is_refused_is_no_zero() {
        let events = parse("cycles,instructions,branches", &NoDevices).unwrap();
        let mut counters = Counters::open(Made { free: 9, absent: Some(0), ..Made::default() }, &events);
        // The next one begins the group.
        assert_eq!(counters.source.groups, [None, Some(0)]);
        let read = counters.read();
        assert_eq!(read[0], Err(Refused::NotThere));
        assert!(read[1].is_ok() && read[2].is_ok());
    }

    #[track_caller]
    fn check(value: u64, enabled: u64, running: u64, expected: Result<(f64, f64), Refused>) {
        let count = Reading { value, enabled, running }.count();
        assert_eq!(count.map(|count| (count.value, count.share)), expected);
    }

    #[test]
    fn counts_are_scaled_by_time() {
        check(7, 100, 100, Ok((7.0, 1.0)));
        check(7, 100, 25, Ok((28.0, 0.25)));
        check(7, 100, 101, Ok((7.0, 1.0)));
        check(0, 0, 0, Ok((0.0, 1.0)));
        check(0, 100, 0, Err(Refused::NeverRan));
        check(1 << 52, 2, 1, Ok((2f64.powi(53), 0.5)));
    }
}
