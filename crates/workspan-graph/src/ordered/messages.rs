//! Which receive belongs to which send, and which calls of the ranks are one collective.
//!
//! MPI delivers messages of one sender, receiver, communicator and tag in the order in which they were sent, to receives in
//! the order in which these were posted. So the n-th of one side belongs to the n-th of the other. A receive from any source
//! knows its sender from its status. Collective calls on a communicator have the same order in all its members.
//!
//! What belongs together becomes operations on an object of its own, or passages of one barrier, so that no analysis needs
//! to know MPI. **Invariant:** nobody waits at a collective for one who arrives after it has left, by the clock: the library has
//! let it go without, and the graph stays acyclic. Locks of windows are ordered by the clock.

use std::collections::{BTreeMap, HashMap};

use workspan_trace::control::{Kind, Operation};
use workspan_trace::mpi::{Collective, Deed, Message, Passage, OBJECT};

use crate::events::Control;
use crate::file::Recording;
use crate::structure::Position;

/// How an operation is called.
pub fn operation(deed: Deed) -> Operation {
    match deed {
        Deed::Send => Operation::Send,
        Deed::Receive => Operation::Receive,
        Deed::Sent => Operation::Sent,
        Deed::Probe => Operation::Probe,
        Deed::Lock => Operation::Lock,
        Deed::ReadLock => Operation::ReadLock,
        Deed::Unlock => Operation::Unlock,
    }
}

/// What a process knows of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Its rank.
    pub rank: u32,
    /// Ranks of the run.
    pub size: u32,
    /// A number of the run.
    pub run: u64,
    /// Ticks when all ranks had started.
    pub at: u64,
}

/// All marks of a recording.
pub fn marks(recording: &Recording) -> impl Iterator<Item = (Position, &Control)> {
    recording.chunks.iter().flat_map(|chunk| {
        let place = move |at| (chunk.context, chunk.sequence, at);
        chunk.summary.marks.iter().map(move |mark| (place(mark.at), &mark.control))
    })
}

/// Which rank a recording is of, if its program has started MPI.
pub fn identity(recording: &Recording) -> Option<Identity> {
    let (_, control) = marks(recording).find(|(_, control)| control.kind == Kind::Rank)?;
    let [rank, size, run, at, _] = control.slots;
    Some(Identity { rank: u32::try_from(rank).ok()?, size: u32::try_from(size).ok()?, run, at })
}

/// Events that take the place of those of MPI, and how many messages there are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Matched {
    /// Of each recording, by position. Their times are the merged ones.
    pub events: Vec<HashMap<Position, Control>>,
    /// Messages.
    pub messages: u64,
    /// Sends that no receive belongs to.
    pub sent_only: u64,
    /// Receives that no send belongs to.
    pub received_only: u64,
}

/// One end of a message.
struct End {
    recording: usize,
    at: Position,
    message: Message,
}

/// Both ends of the messages of one sender, receiver, communicator and tag.
#[derive(Default)]
struct Channel {
    sent: Vec<End>,
    received: Vec<End>,
}

struct Part {
    recording: usize,
    at: Position,
    call: Collective,
}

#[derive(Default)]
struct Matcher {
    matched: Matched,
    objects: u64,
}

impl Matcher {
    fn object(&mut self) -> u64 {
        self.objects += 1;
        OBJECT | self.objects
    }

    fn put(&mut self, recording: usize, at: Position, kind: Kind, slots: [u64; 5]) {
        self.matched.events[recording].insert(at, Control { kind, slots });
    }

    fn sync(&mut self, end: &End, object: u64, ticket: u64) {
        let Message { before, after, deed, .. } = end.message;
        self.put(end.recording, end.at, Kind::Sync, [before, after, object, ticket, operation(deed) as u64]);
    }

    fn channel(&mut self, mut channel: Channel) {
        for ends in [&mut channel.sent, &mut channel.received] {
            ends.sort_by_key(|end| end.message.ticket);
        }
        let pairs = channel.sent.len().min(channel.received.len());
        self.matched.messages += pairs as u64;
        self.matched.sent_only += (channel.sent.len() - pairs) as u64;
        self.matched.received_only += (channel.received.len() - pairs) as u64;
        for number in 0..channel.sent.len().max(channel.received.len()) {
            let object = self.object();
            for (ticket, ends) in [(0, &channel.sent), (1, &channel.received)] {
                if let Some(end) = ends.get(number) {
                    self.sync(end, object, ticket);
                }
            }
        }
    }

    /// Locks of a target: as the clock has them.
    fn locks(&mut self, mut ends: Vec<End>) {
        let object = self.object();
        ends.sort_by_key(|end| match end.message.deed {
            Deed::Unlock => end.message.before,
            _ => end.message.after,
        });
        for (ticket, end) in (0..).zip(&ends) {
            self.sync(end, object, ticket);
        }
    }

    fn collective(&mut self, mut parts: Vec<Part>) {
        let object = self.object();
        parts.sort_by_key(|part| (part.call.before, part.recording));
        let last = parts.iter().filter(|part| part.call.arrives).map(|part| part.call.before).max();
        let count = parts.iter().filter(|part| part.call.arrives).count() as u64;
        let mut arrival = 0;
        for part in &parts {
            let Collective { before, after, arrives, waits, .. } = part.call;
            let passage = Passage { count, arrives, waits: waits && last.is_some_and(|last| last <= after) };
            self.put(part.recording, part.at, Kind::Barrier, [before, after, object, arrival, passage.slot()]);
            arrival += u64::from(arrives);
        }
    }
}

/// Matches all of the recordings' events. `shifts`: what is added to the times of each.
pub fn matched(recordings: &[(Identity, &Recording)], shifts: &[u64]) -> Matched {
    let mut channels: BTreeMap<(u64, u32, u32, u32), Channel> = BTreeMap::new();
    let mut locks: BTreeMap<(u64, u32), Vec<End>> = BTreeMap::new();
    let mut collectives: BTreeMap<(u64, u64), Vec<Part>> = BTreeMap::new();
    let mut matcher = Matcher::default();
    matcher.matched.events.resize(recordings.len(), HashMap::new());
    for (number, ((own, recording), shift)) in recordings.iter().zip(shifts).enumerate() {
        let identities: HashMap<u64, u64> = marks(recording)
            .filter(|(_, control)| control.kind == Kind::Communicator)
            .map(|(_, control)| (control.slots[0], control.slots[1]))
            .collect();
        // One that is not known is nobody else's.
        let identity = |communicator: u16| {
            let unknown = u64::MAX - u64::from(own.rank);
            identities.get(&u64::from(communicator)).copied().unwrap_or(unknown)
        };
        for (at, control) in marks(recording) {
            if let Some(mut message) = Message::of(control.slots).filter(|_| control.kind == Kind::Message) {
                (message.before, message.after) = (message.before + shift, message.after + shift);
                let within = identity(message.communicator);
                let (peer, tag) = (message.peer, message.tag);
                let end = End { recording: number, at, message };
                match message.deed {
                    Deed::Send => channels.entry((within, own.rank, peer, tag)).or_default().sent.push(end),
                    Deed::Receive => channels.entry((within, peer, own.rank, tag)).or_default().received.push(end),
                    Deed::Sent | Deed::Probe => {
                        let object = matcher.object();
                        matcher.sync(&end, object, 0);
                    }
                    Deed::Lock | Deed::ReadLock | Deed::Unlock => locks.entry((within, peer)).or_default().push(end),
                }
            } else if let Some(mut call) = Collective::of(control.slots).filter(|_| control.kind == Kind::Collective) {
                (call.before, call.after) = (call.before + shift, call.after + shift);
                let key = (identity(call.communicator), call.sequence);
                collectives.entry(key).or_default().push(Part { recording: number, at, call });
            }
        }
    }
    channels.into_values().for_each(|channel| matcher.channel(channel));
    locks.into_values().for_each(|ends| matcher.locks(ends));
    collectives.into_values().for_each(|parts| matcher.collective(parts));
    matcher.matched
}
