//! What is to be run, and in which order.
//!
//! All kinds of runs take turns, so that what changes on a machine meanwhile changes all of them alike; every other round
//! goes backwards.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use crate::args::ScaleOptions;

/// What a run is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// T_s.
    Baseline,
    /// T_elision.
    Elision,
    /// T_P and I_P.
    Parallel,
    /// T_1 of the work that this P has; with P = 1, also T_P and I_P.
    OneWorker(u32),
}

/// A kind of run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    /// What it is for.
    pub kind: Kind,
    /// The program and its arguments.
    pub command: Vec<OsString>,
    /// How many workers it is given.
    pub workers: u32,
}

impl Task {
    /// In a message.
    pub fn name(&self) -> String {
        match self.kind {
            Kind::Baseline => "the baseline".to_owned(),
            Kind::Elision => "the elision".to_owned(),
            Kind::OneWorker(p) if p > 1 => format!("one worker, with the work of {p}"),
            Kind::OneWorker(_) => "one worker".to_owned(),
            Kind::Parallel => format!("{} workers", self.workers),
        }
    }
}

/// Everything that is to be run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Kinds of runs.
    pub tasks: Vec<Task>,
    /// The numbers of workers, rising.
    pub workers: Vec<u32>,
    /// True if the work depends on P.
    pub varies: bool,
}

/// Stands for P in arguments.
const P: &str = "{P}";
/// Stands for the number of workers that a run really has.
const WORKERS: &str = "{workers}";

impl Plan {
    /// For `command` on a machine with this number of processors.
    pub fn new(command: &[OsString], options: &ScaleOptions, cpus: u32) -> Plan {
        let mut workers = options.workers.clone();
        if workers.is_empty() {
            let cpus = cpus.clamp(1, MOST);
            workers = std::iter::successors(Some(1), |p| Some(p * 2)).take_while(|p| *p < cpus).collect();
            workers.push(cpus);
        }
        workers.sort_unstable();
        workers.dedup();
        let varies = command.iter().any(|word| contains(word, P));
        let mut tasks = Vec::new();
        for (kind, given) in [(Kind::Baseline, &options.baseline), (Kind::Elision, &options.elision)] {
            tasks.extend(given.as_ref().map(|given| Task { kind, command: given.words.clone(), workers: 1 }));
        }
        let mut add = |kind, p: u32, workers: u32| {
            let p = p.to_string();
            let fill = |word: &OsString| replace(&replace(word, P, &p), WORKERS, &workers.to_string());
            tasks.push(Task { kind, command: command.iter().map(fill).collect(), workers });
        };
        if !varies || workers.contains(&1) {
            add(Kind::OneWorker(1), 1, 1);
        }
        for p in workers.iter().copied().filter(|p| *p > 1) {
            if varies {
                add(Kind::OneWorker(p), p, 1);
            }
            add(Kind::Parallel, p, p);
        }
        Plan { tasks, workers, varies }
    }

    /// The tasks of a round, by their positions.
    pub fn round(&self, round: u32) -> Vec<usize> {
        let forth = 0..self.tasks.len();
        if round.is_multiple_of(2) {
            forth.collect()
        } else {
            forth.rev().collect()
        }
    }

    /// The task with this number of workers, or with one and the work of this number.
    pub fn find(&self, kind: Kind, workers: u32) -> Option<&Task> {
        self.tasks.iter().find(|task| task.kind == kind && task.workers == workers)
    }
}

/// The collector distinguishes this number of threads, but for main and one of its own.
const MOST: u32 = 253;

fn contains(word: &OsStr, part: &str) -> bool {
    word.as_bytes().windows(part.len()).any(|window| window == part.as_bytes())
}

fn replace(word: &OsStr, part: &str, with: &str) -> OsString {
    let (mut out, mut rest) = (Vec::new(), word.as_bytes());
    while !rest.is_empty() {
        if let Some(after) = rest.strip_prefix(part.as_bytes()) {
            out.extend_from_slice(with.as_bytes());
            rest = after;
        } else {
            out.push(rest[0]);
            rest = &rest[1..];
        }
    }
    OsString::from_vec(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `expected`: of each task its name, workers and command.
    #[track_caller]
    fn check(command: &str, options: &ScaleOptions, expected: &[&str]) {
        let command: Vec<OsString> = command.split(' ').map(OsString::from).collect();
        let plan = Plan::new(&command, options, 6);
        let line = |task: &Task| {
            let command: Vec<_> = task.command.iter().map(|word| word.to_string_lossy().into_owned()).collect();
            format!("{}; {}: {}", task.name(), task.workers, command.join(" "))
        };
        assert_eq!(plan.tasks.iter().map(line).collect::<Vec<_>>(), expected);
        let forth: Vec<usize> = (0..plan.tasks.len()).collect();
        assert_eq!(plan.round(0), forth);
        assert_eq!(plan.round(1).into_iter().rev().collect::<Vec<_>>(), forth);
    }

    #[test]
    fn no_more_workers_are_planned_than_can_be_told_apart() {
        for (cpus, most) in [(0, 1), (6, 6), (253, 253), (254, 253), (512, 253)] {
            let plan = Plan::new(&["p".into()], &ScaleOptions::default(), cpus);
            assert_eq!(plan.workers.iter().max(), Some(&most), "{cpus}");
        }
    }

    #[test]
    fn every_time_has_its_runs() {
        let with = |workers: &[u32]| ScaleOptions { workers: workers.to_vec(), ..ScaleOptions::default() };
        check("p", &with(&[4, 1, 4]), &["one worker; 1: p", "4 workers; 4: p"]);
        // T_1 is needed even if it is not requested.
        check("p", &with(&[2]), &["one worker; 1: p", "2 workers; 2: p"]);
        check("p {workers}", &with(&[2]), &["one worker; 1: p 1", "2 workers; 2: p 2"]);
        check(
            "p c={P},{P} {workers}",
            &with(&[1, 2, 4]),
            &[
                "one worker; 1: p c=1,1 1",
                "one worker, with the work of 2; 1: p c=2,2 1",
                "2 workers; 2: p c=2,2 2",
                "one worker, with the work of 4; 1: p c=4,4 1",
                "4 workers; 4: p c=4,4 4",
            ],
        );
        check("p {P}", &with(&[2]), &["one worker, with the work of 2; 1: p 2", "2 workers; 2: p 2"]);
        // By default powers of two, up to the processors.
        check(
            "p",
            &ScaleOptions { baseline: "s {P} x".parse().ok(), elision: "e".parse().ok(), ..with(&[]) },
            &[
                "the baseline; 1: s {P} x",
                "the elision; 1: e",
                "one worker; 1: p",
                "2 workers; 2: p",
                "4 workers; 4: p",
                "6 workers; 6: p",
            ],
        );
    }
}
