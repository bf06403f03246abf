//! Who waited for whom in messages and collectives of a merged graph, and where.
//!
//! **Late sender:** a receive that began before its send did waits from its own beginning to that of the send. **Late
//! receiver:** a send that had not ended when its receive began has waited for that. **Late arrival:** a rank that needs what
//! all give waits, from when it arrives, for the last one. Each wait is at most as long as the call. **Cost:** a replay.

use std::collections::{BTreeMap, HashMap};

use workspan_trace::control::{Kind, Operation};
use workspan_trace::mpi::{is_shared, Passage};

use crate::events::{Access, Control};
use crate::replay::{Consumer, Executed};

/// Kinds of waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Late {
    /// A receive waited for its send.
    Sender,
    /// A send waited for its receive.
    Receiver,
    /// A rank waited in a collective for the last one.
    Arrival,
}

impl Late {
    /// As shown.
    pub fn name(self) -> &'static str {
        match self {
            Late::Sender => "late-sender",
            Late::Receiver => "late-receiver",
            Late::Arrival => "late-arrival",
        }
    }
}

/// A call: context, and the segment that ends in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Call {
    /// Context.
    pub context: u32,
    /// Segment.
    pub segment: u32,
}

/// Ticks waited, and how often.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waited {
    /// Ticks.
    pub ticks: u64,
    /// Waits.
    pub count: u64,
}

#[derive(Clone, Copy, Debug)]
struct End {
    call: Call,
    before: u64,
    after: u64,
    arrives: bool,
    waits: bool,
}

/// Finds waits in a replayed recording.
#[derive(Debug, Default)]
pub struct Waits {
    segments: HashMap<u32, u32>,
    messages: BTreeMap<u64, [Option<End>; 2]>,
    collectives: BTreeMap<u64, Vec<End>>,
}

impl Waits {
    /// Waits by kind, by who waited, and by whom they waited for.
    pub fn found(&self) -> BTreeMap<(Late, Call, Call), Waited> {
        let mut found: BTreeMap<(Late, Call, Call), Waited> = BTreeMap::new();
        let mut add = |late, waiting: &End, other: &End| {
            let ticks = other.before.min(waiting.after).saturating_sub(waiting.before);
            if ticks > 0 && waiting.call.context != other.call.context {
                let waited = found.entry((late, waiting.call, other.call)).or_default();
                waited.ticks += ticks;
                waited.count += 1;
            }
        };
        for ends in self.messages.values() {
            if let [Some(send), Some(receive)] = ends {
                add(Late::Sender, receive, send);
                if send.after > receive.before {
                    add(Late::Receiver, send, receive);
                }
            }
        }
        for ends in self.collectives.values() {
            if let Some(last) = ends.iter().filter(|end| end.arrives).max_by_key(|end| end.before) {
                ends.iter().filter(|end| end.waits).for_each(|end| add(Late::Arrival, end, last));
            }
        }
        found
    }
}

impl Consumer for Waits {
    fn segment(&mut self, executed: Executed<'_>, _: &[Access]) {
        self.segments.insert(executed.context, executed.id);
    }

    fn transfer(&mut self, _: Executed<'_>, _: &Access) {}

    fn control(&mut self, context: u32, control: Control) {
        let [before, after, object, _, last] = control.slots;
        if !is_shared(object) {
            return;
        }
        let call = Call { context, segment: self.segments.get(&context).copied().unwrap_or(0) };
        let end = End { call, before, after, arrives: true, waits: true };
        match (control.kind, Operation::of(last)) {
            (Kind::Sync, Some(Operation::Send)) => self.messages.entry(object).or_default()[0] = Some(end),
            (Kind::Sync, Some(Operation::Receive)) => self.messages.entry(object).or_default()[1] = Some(end),
            (Kind::Barrier, _) => {
                let Passage { arrives, waits, .. } = Passage::of(last);
                self.collectives.entry(object).or_default().push(End { arrives, waits, ..end });
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use workspan_trace::mpi::OBJECT;

    #[test]
    fn closed_forms() {
        let mut waits = Waits::default();
        let mut event = |context, kind, slots| waits.control(context, Control { kind, slots });
        let [send, receive] = [Operation::Send as u64, Operation::Receive as u64];
        // Receives at 10, sent at 25: 15. Sent at 30, received from 50 on, the send ends at 52: 20. A send that ended: none.
        event(1, Kind::Sync, [25, 26, OBJECT | 1, 0, send]);
        event(2, Kind::Sync, [10, 27, OBJECT | 1, 1, receive]);
        event(1, Kind::Sync, [30, 52, OBJECT | 2, 0, send]);
        event(2, Kind::Sync, [50, 53, OBJECT | 2, 1, receive]);
        event(1, Kind::Sync, [60, 61, OBJECT | 3, 0, send]);
        event(2, Kind::Sync, [70, 71, OBJECT | 3, 1, receive]);
        // Arrive at 80, 90 and 100, the second of whom does not wait.
        let passage = |waits| Passage { count: 3, arrives: true, waits }.slot();
        event(1, Kind::Barrier, [80, 101, OBJECT | 4, 0, passage(true)]);
        event(2, Kind::Barrier, [90, 91, OBJECT | 4, 1, passage(false)]);
        event(3, Kind::Barrier, [100, 102, OBJECT | 4, 2, passage(true)]);
        let found: Vec<_> = waits
            .found()
            .into_iter()
            .map(|((late, waiting, other), waited)| (late, waiting.context, other.context, waited.ticks, waited.count))
            .collect();
        let expected = [(Late::Sender, 2, 1, 15, 1), (Late::Receiver, 1, 2, 20, 1), (Late::Arrival, 1, 3, 20, 1)];
        assert_eq!(found, expected);
    }
}
