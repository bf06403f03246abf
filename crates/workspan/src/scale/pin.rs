//! Keeping a program on some processors: it inherits on which we may run.

use std::fs;

use anyhow::Context;
use nix::sched::{sched_getaffinity, sched_setaffinity, CpuSet};
use nix::unistd::Pid;

/// Processors that we may use, in the order in which programs get them.
#[derive(Debug)]
pub struct Processors {
    allowed: CpuSet,
    order: Vec<usize>,
}

/// The calling thread, moved for a while.
#[derive(Debug)]
pub struct Pinned<'p>(&'p Processors);

impl Processors {
    /// Those of this process. Of processors that share a core, the first of each come first.
    pub fn find() -> anyhow::Result<Processors> {
        let own = Pid::from_raw(0);
        let allowed = sched_getaffinity(own).context("cannot find the processors that --pin may use")?;
        let mut order: Vec<usize> = (0..CpuSet::count()).filter(|cpu| allowed.is_set(*cpu).unwrap_or(false)).collect();
        order.sort_by_key(|cpu| (!first_of_its_core(*cpu), *cpu));
        Ok(Processors { allowed, order })
    }

    /// Keeps the calling thread, and what it starts, on that many of them as long as the result lives.
    pub fn pin(&self, count: u32) -> anyhow::Result<Pinned<'_>> {
        let mut set = CpuSet::new();
        for cpu in self.order.iter().take(usize::try_from(count)?.max(1)) {
            set.set(*cpu)?;
        }
        sched_setaffinity(Pid::from_raw(0), &set).context("cannot pin the program to processors")?;
        Ok(Pinned(self))
    }
}

impl Drop for Pinned<'_> {
    fn drop(&mut self) {
        // It was allowed before.
        let _ = sched_setaffinity(Pid::from_raw(0), &self.0.allowed);
    }
}

fn first_of_its_core(cpu: usize) -> bool {
    let file = format!("/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list");
    let siblings = fs::read_to_string(file).unwrap_or_default();
    let first = siblings.split(|c: char| !c.is_ascii_digit()).next().and_then(|first| first.parse().ok());
    first.is_none_or(|first: usize| first == cpu)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_is_moved_and_moved_back() {
        let of_thread = || {
            let set = sched_getaffinity(Pid::from_raw(0)).expect("it can be read");
            (0..CpuSet::count()).filter(|cpu| set.is_set(*cpu).unwrap_or(false)).count()
        };
        let before = of_thread();
        let processors = Processors::find().expect("it can be read");
        let pinned = processors.pin(1).expect("one is allowed");
        assert_eq!(of_thread(), 1);
        drop(pinned);
        assert_eq!(of_thread(), before);
        let _all = processors.pin(100_000).expect("all are allowed");
        assert_eq!(of_thread(), before);
    }
}
