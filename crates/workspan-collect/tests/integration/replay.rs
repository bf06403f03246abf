//! What the threads have logged, by the rules of the model.

use std::collections::BTreeMap;

use workspan_collect::drain::Drain;
use workspan_model::strand::{Creation, Event, Strand};
use workspan_model::ContextId;
use workspan_read::log::{convert, Converted, Setting};

use crate::machine::Machine;

/// What a run amounts to.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Replayed {
    pub(crate) work: i64,
    pub(crate) span: i64,
    pub(crate) tasks: u64,
    /// By context.
    pub(crate) self_work: BTreeMap<ContextId, i64>,
}

/// Empties the logs and converts them.
pub(crate) fn strands(machine: &Machine, contexts: &[ContextId]) -> (Vec<Strand>, Converted) {
    let drain = Drain::of(machine.shared);
    let logs: Vec<_> = (0..machine.threads.len())
        .map(|slot| {
            let mut log = Vec::new();
            drain.take(slot, |record| log.push(record));
            log
        })
        .collect();
    let setting = Setting { contexts, ticks_per_second: 1_000_000_000, started: 0, complete: true };
    let mut strands = Vec::new();
    let take = |some: &[Strand]| {
        strands.extend_from_slice(some);
        Ok::<(), ()>(())
    };
    let converted = convert(&*logs, &setting, take).expect("vectors can be read and written");
    (strands, converted)
}

#[derive(Debug)]
enum Open {
    Fork { from: i64, best: i64 },
    Group { last: i64 },
    Task { from: i64, group: Option<usize> },
    Region,
}

/// The table in [`workspan_model::strand`].
pub(crate) fn replay(strands: &[Strand]) -> Replayed {
    let mut found = Replayed::default();
    let mut open: Vec<Open> = Vec::new();
    let mut s = 0;
    for strand in strands {
        s += strand.cost.0 + strand.blocked.0;
        found.work += strand.cost.0;
        *found.self_work.entry(strand.context).or_default() += strand.cost.0;
        match strand.event {
            Event::Fork(_) => open.push(Open::Fork { from: s, best: s }),
            Event::Next(_) => {
                found.tasks += 1;
                let Some(Open::Fork { from, best }) = open.last_mut() else { panic!("a branch outside of a fork") };
                *best = s.max(*best);
                s = *from;
            }
            Event::Join => {
                let Some(Open::Fork { best, .. }) = open.pop() else { panic!("a join without a fork") };
                s = s.max(best);
            }
            Event::Group => open.push(Open::Group { last: i64::MIN }),
            Event::Wait => {
                let Some(Open::Group { last }) = open.pop() else { panic!("a wait without a group") };
                s = s.max(last);
            }
            Event::Spawn(Creation { group, .. }) => {
                found.tasks += 1;
                let groups = open.iter().enumerate().rev().filter(|(_, open)| matches!(open, Open::Group { .. }));
                let place = group.map(|outward| groups.map(|(i, _)| i).nth(usize::from(outward)).expect("a group"));
                open.push(Open::Task { from: s, group: place });
            }
            Event::End => match open.pop() {
                None => found.span = found.span.max(s),
                Some(Open::Task { from, group: None }) => {
                    found.span = found.span.max(s);
                    s = from;
                }
                Some(Open::Task { from, group: Some(group) }) => {
                    let Some(Open::Group { last }) = open.get_mut(group) else { panic!("a task without its group") };
                    *last = s.max(*last);
                    s = from;
                }
                Some(other) => panic!("a task ends within {other:?}"),
            },
            Event::Enter(_) => open.push(Open::Region),
            Event::Leave => assert!(matches!(open.pop(), Some(Open::Region)), "a region that is not open"),
            other => panic!("rayon has no {other:?}"),
        }
    }
    assert!(open.is_empty(), "{open:?}");
    found
}
