//! Who did what, and which tasks a wait joins: control events by context, which a thread's buffers hold in any order.
//!
//! A thread's events belong to one context after the other ([`Kind::Switch`]); a context may go on in another thread. A wait
//! for tasks names none: it joins those that its context has created and not joined yet, a group and a barrier also what
//! these created and did not join. A wait for a gather joins the tasks that name it. Dependences order tasks of one creator, item by item, in the order of creation.
//!
//! **Cost:** linear in the control events, but for tasks of one `mutexinoutset`, whose pairs are looked at.

use std::collections::{BTreeMap, HashMap};

use workspan_trace::control::{Awaited, Kind, Use};
use workspan_trace::mpi::is_shared;

use crate::events::Control;
use crate::file::Recording;
use crate::summary::Tally;

/// Barriers of parallel regions have this bit in their object.
const REGION: u64 = 1 << 47;

/// A control event's place: thread, chunk, events of the chunk before it.
pub type Position = (u32, u32, u64);

/// What a context did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// It executed code.
    Executed(Tally),
    /// A control event.
    Control(Control, Position),
}

/// An item that a task depends on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Need {
    /// Its address.
    pub object: u64,
    /// Contexts that must have ended.
    pub contexts: Vec<u32>,
}

/// All contexts.
#[derive(Clone, Debug, Default)]
pub struct Structure {
    /// Steps of each, in its order.
    pub steps: BTreeMap<u32, Vec<Step>>,
    /// In how many pieces each came.
    pub pieces: HashMap<u32, usize>,
    /// Which of its context's pieces begins at a switch.
    pub numbers: HashMap<Position, usize>,
    /// Contexts that are joined at a position.
    pub joins: HashMap<Position, Vec<u32>>,
    /// Items that a context needs before it begins.
    pub needs: HashMap<u32, Vec<Need>>,
    /// Items that a wait with dependences needs.
    pub awaited: HashMap<Position, Vec<Need>>,
}

/// The task that another is named by: its number less one.
pub fn other(number: u64) -> Option<u32> {
    u32::try_from(number).ok().and_then(|number| number.checked_sub(1))
}

impl Structure {
    /// Of a recording.
    pub fn of(recording: &Recording) -> Structure {
        let mut structure = Structure::default();
        let mut pieces: Vec<(u32, u64, Position, Vec<Step>)> = Vec::new();
        for thread in recording.contexts() {
            let mut piece = (thread, 0, (thread, 0, 0), Vec::new());
            for chunk in recording.chunks_of(thread) {
                let mut fragments = chunk.summary.fragments.iter();
                for mark in &chunk.summary.marks {
                    execute(&mut piece.3, fragments.next());
                    let at = (thread, chunk.sequence, mark.at);
                    let [time, next, ..] = mark.control.slots;
                    match (mark.control.kind, other(next)) {
                        (Kind::Switch, Some(next)) => {
                            pieces.push(std::mem::replace(&mut piece, (next, time, at, Vec::new())));
                        }
                        _ => piece.3.push(Step::Control(mark.control, at)),
                    }
                }
                execute(&mut piece.3, fragments.next());
            }
            pieces.push(piece);
        }
        pieces.sort_by_key(|piece| (piece.0, piece.1, piece.2));
        for (context, _, at, steps) in pieces {
            structure.steps.entry(context).or_default().extend(steps);
            let count = structure.pieces.entry(context).or_default();
            structure.numbers.insert(at, *count);
            *count += 1;
        }
        structure.drop_idle_threads();
        structure.join();
        structure
    }

    /// Threads of a runtime, which only run tasks, are no contexts.
    fn drop_idle_threads(&mut self) {
        let created = |step: &Step| match step {
            Step::Control(control, _) if matches!(control.kind, Kind::Create | Kind::Task | Kind::Spawn) => {
                other(control.slots[2])
            }
            _ => None,
        };
        let created: std::collections::HashSet<u32> = self.steps.values().flatten().filter_map(created).collect();
        let does_nothing = |step: &Step| match step {
            Step::Control(control, _) => matches!(control.kind, Kind::Begin | Kind::End | Kind::Gap),
            Step::Executed(_) => false,
        };
        self.steps
            .retain(|context, steps| *context == 0 || created.contains(context) || !steps.iter().all(does_nothing));
    }

    fn join(&mut self) {
        let times: HashMap<u32, (u64, u64)> =
            self.steps.iter().map(|(context, steps)| (*context, begin_and_end(steps))).collect();
        let steps = std::mem::take(&mut self.steps);
        let gathers = gathers(&steps);
        let mut left: HashMap<u32, Vec<u32>> = HashMap::new();
        // Who creates has the lower number: what a task has left is known when its creator's turn comes.
        for (context, steps) in steps.iter().rev() {
            let rest = self.join_of(steps, &mut left, &times, &gathers);
            if !rest.is_empty() {
                left.insert(*context, rest);
            }
        }
        self.steps = steps;
    }

    /// Finds what a context joins. What it leaves unjoined.
    fn join_of(
        &mut self,
        steps: &[Step],
        left: &mut HashMap<u32, Vec<u32>>,
        times: &HashMap<u32, (u64, u64)>,
        gathers: &Gathers,
    ) -> Vec<u32> {
        // Its tasks, and those that its joined tasks have left.
        let (mut children, mut orphans): (Vec<u32>, Vec<u32>) = Default::default();
        let mut groups: Vec<(usize, usize)> = Vec::new();
        let mut items = Items::default();
        let mut pending = Vec::new();
        let mut families =
            |joined: &[u32]| joined.iter().filter_map(|child| left.remove(child)).flatten().collect::<Vec<u32>>();
        for step in steps {
            let Step::Control(Control { kind, slots }, at) = step else { continue };
            let mut joined = Vec::new();
            match kind {
                Kind::Task => children.extend(other(slots[2])),
                Kind::Join => {
                    let Some(one) = other(slots[2]) else { continue };
                    joined = vec![one];
                    let more = families(&joined);
                    match children.iter().rposition(|child| *child == one) {
                        Some(place) => {
                            children.remove(place);
                            orphans.extend(more);
                        }
                        None => joined.extend(more),
                    }
                }
                Kind::Gather => {
                    let created = gathers.get(&slots[2]).map_or(&[][..], Vec::as_slice);
                    // Those that came when the wait was over are another wait's.
                    joined.extend(created.iter().filter(|(_, when)| *when <= slots[1]).map(|(task, _)| *task));
                }
                Kind::Group => groups.push((children.len(), orphans.len())),
                Kind::Barrier if slots[2] & REGION != 0 && !is_shared(slots[2]) && slots[1] != 0 => {
                    joined = std::mem::take(&mut children);
                    let more = families(&joined);
                    joined.extend(more);
                    joined.append(&mut orphans);
                }
                Kind::Wait => match Awaited::of(slots[2]) {
                    Some(Awaited::Children) => {
                        joined = std::mem::take(&mut children);
                        orphans.extend(families(&joined));
                        groups.iter_mut().for_each(|group| group.0 = 0);
                    }
                    Some(Awaited::Group) => {
                        let (from, orphans_from) = groups.pop().unwrap_or_default();
                        joined = children.split_off(from.min(children.len()));
                        let more = families(&joined);
                        joined.extend(more);
                        joined.extend(orphans.split_off(orphans_from.min(orphans.len())));
                    }
                    Some(Awaited::Items) => {
                        self.awaited.insert(*at, std::mem::take(&mut pending));
                    }
                    None => {}
                },
                Kind::Depend => {
                    let Some(how) = Use::of(slots[2]) else { continue };
                    let depending = other(slots[0]);
                    for (context, need) in items.depend(depending, slots[1], how, times) {
                        if depending.is_some() {
                            add(self.needs.entry(context).or_default(), need);
                        } else {
                            pending.push(need);
                        }
                    }
                }
                _ => {}
            }
            if !joined.is_empty() {
                joined.sort_unstable();
                self.joins.insert(*at, joined);
            }
        }
        let more = families(&children);
        children.extend(more);
        children.append(&mut orphans);
        children
    }
}

/// Tasks of each gather, with the time of their creation.
type Gathers = HashMap<u64, Vec<(u32, u64)>>;

fn gathers(steps: &BTreeMap<u32, Vec<Step>>) -> Gathers {
    let mut gathers = Gathers::new();
    for step in steps.values().flatten() {
        if let Step::Control(Control { kind: Kind::Spawn, slots: [before, _, task, gather, _] }, _) = step {
            if let Some(task) = other(*task).filter(|_| *gather != 0) {
                gathers.entry(*gather).or_default().push((task, *before));
            }
        }
    }
    gathers
}

/// One need for each item.
fn add(needs: &mut Vec<Need>, need: Need) {
    match needs.iter_mut().find(|known| known.object == need.object) {
        Some(known) => known.contexts.extend(need.contexts),
        None => needs.push(need),
    }
}

fn execute(steps: &mut Vec<Step>, tally: Option<&Tally>) {
    if let Some(tally) = tally.filter(|tally| **tally != Tally::default()) {
        steps.push(Step::Executed(*tally));
    }
}

fn begin_and_end(steps: &[Step]) -> (u64, u64) {
    let mut times = (0, u64::MAX);
    for step in steps {
        match step {
            Step::Control(Control { kind: Kind::Begin, slots }, _) => times.0 = slots[0],
            Step::Control(Control { kind: Kind::End, slots }, _) => times.1 = slots[0],
            _ => {}
        }
    }
    times
}

/// Tasks that use an item in a way that leaves them unordered, and those before them.
#[derive(Clone, Debug, Default)]
struct Item {
    how: Option<Use>,
    now: Vec<u32>,
    before: Vec<u32>,
}

/// Items that tasks of one creator depend on.
#[derive(Debug, Default)]
struct Items {
    items: BTreeMap<u64, Item>,
    /// The last task that depends on all memory.
    all: Item,
}

impl Items {
    /// A task depends on an item: which tasks need what therefore. Nobody: a wait does.
    fn depend(
        &mut self,
        task: Option<u32>,
        address: u64,
        how: Use,
        times: &HashMap<u32, (u64, u64)>,
    ) -> Vec<(u32, Need)> {
        if how == Use::All {
            let mut contexts: Vec<u32> = self.items.values().flat_map(|item| item.now.iter().copied()).collect();
            contexts.extend(&self.all.now);
            contexts.sort_unstable();
            contexts.dedup();
            if task.is_some() {
                self.items.clear();
                self.all = Item { how: Some(Use::Write), now: task.into_iter().collect(), before: Vec::new() };
            }
            return vec![(task.unwrap_or(u32::MAX), Need { object: 0, contexts })];
        }
        let item = self.items.entry(address).or_insert_with(|| self.all.clone());
        let joins = item.how == Some(how) && how != Use::Write;
        let Some(task) = task else {
            let contexts = if joins { item.before.clone() } else { item.now.clone() };
            return vec![(u32::MAX, Need { object: address, contexts })];
        };
        if item.now.contains(&task) {
            // It names the item twice.
            return Vec::new();
        }
        if !joins {
            item.before = std::mem::take(&mut item.now);
            item.how = Some(how);
        }
        let mut contexts = item.before.clone();
        item.now.push(task);
        let mut needs = Vec::new();
        if how == Use::Exclusive {
            // As they happened to come: the one that was created later may have run first.
            let time = |one: &u32| times.get(one).copied().unwrap_or((0, u64::MAX));
            for one in item.now.iter().filter(|one| **one != task) {
                if time(one).1 <= time(&task).0 {
                    contexts.push(*one);
                } else if time(&task).1 <= time(one).0 {
                    needs.push((*one, Need { object: address, contexts: vec![task] }));
                }
            }
        }
        needs.push((task, Need { object: address, contexts }));
        needs
    }
}
