//! Which events open and close what: the grammar of the rows of a run.
//!
//! The rows are a well-nested language ([`strand`](crate::strand)), and here alone it is written down which event is which
//! bracket: [`Event::effect`]. Whoever reads rows keeps what is open in a [`Nesting`], with whatever it knows of each
//! construct, and decides by itself what to do with rows that do not fit.
//!
//! A new event needs its row in [`Event::effect`] and in [`Event::detail`]; then formats carry it, and readers that only
//! follow the nesting (which task, which depth) know it.
//!
//! Cost: constant for each event; recovering from rows that do not fit is linear in what is open.

use crate::context::ContextId;
use crate::strand::{Creation, Event};

/// Constructs that may be open at a time. Only a chain of tasks, each created by the one before, gets there.
pub const MOST_OPEN: usize = 1 << 21;

/// What has a begin and an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Construct {
    /// Branches, up to their join.
    Fork,
    /// Tasks that are waited for together.
    Group,
    /// An instance of a region of the source.
    Region,
    /// A task.
    Task,
    /// A team, its members one after the other.
    Team,
}

/// What an event does to what is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// A construct begins.
    Opens(Construct),
    /// One part of it ends, the next one begins.
    Divides(Construct),
    /// It ends. What ends a task ends a member where a team is open, which goes on.
    Closes(Construct),
    /// Nothing begins or ends.
    Inside,
}

/// What an event has beside its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// Nothing.
    None,
    /// A number: of iterations, of members, of a task, of a label.
    Count(u32),
    /// The context of what begins.
    Context(ContextId),
    /// How a task is created.
    Creation(Creation),
}

/// Where an event's detail comes from, for who reads events from somewhere. Only what the event has is read.
pub trait Details {
    /// The number.
    fn count(&mut self) -> Option<u32>;
    /// The context.
    fn context(&mut self) -> Option<ContextId>;
    /// The creation.
    fn creation(&mut self) -> Option<Creation>;
}

impl Event {
    /// What it does to what is open.
    #[inline(always)]
    pub fn effect(&self) -> Effect {
        match self {
            Event::Fork(_) => Effect::Opens(Construct::Fork),
            Event::Next(_) => Effect::Divides(Construct::Fork),
            Event::Join => Effect::Closes(Construct::Fork),
            Event::Group => Effect::Opens(Construct::Group),
            Event::Wait => Effect::Closes(Construct::Group),
            Event::Spawn(_) | Event::Call(_) => Effect::Opens(Construct::Task),
            Event::End => Effect::Closes(Construct::Task),
            Event::Enter(_) => Effect::Opens(Construct::Region),
            Event::Leave => Effect::Closes(Construct::Region),
            Event::Team(_) => Effect::Opens(Construct::Team),
            Event::TeamEnd => Effect::Closes(Construct::Team),
            Event::Sync | Event::After(_) | Event::Barrier | Event::Wake(_) | Event::Await(_) | Event::Locked(_) => {
                Effect::Inside
            }
        }
    }

    /// What it has beside its name.
    #[inline(always)]
    pub fn detail(&self) -> Detail {
        match *self {
            Event::Fork(number)
            | Event::Next(number)
            | Event::After(number)
            | Event::Team(number)
            | Event::Wake(number)
            | Event::Await(number)
            | Event::Locked(number) => Detail::Count(number),
            Event::Spawn(creation) | Event::Call(creation) => Detail::Creation(creation),
            Event::Enter(context) => Detail::Context(context),
            _ => Detail::None,
        }
    }

    /// The event of a [number](Event::number), with its detail. `None` if there is no such event, or no such detail.
    #[inline(always)]
    pub fn of(number: u8, details: &mut impl Details) -> Option<Event> {
        Some(match number {
            0 => Event::Fork(details.count()?),
            1 => Event::Next(details.count()?),
            2 => Event::Join,
            3 => Event::Group,
            4 => Event::Wait,
            5 => Event::Spawn(details.creation()?),
            6 => Event::Call(details.creation()?),
            7 => Event::End,
            8 => Event::Sync,
            9 => Event::After(details.count()?),
            10 => Event::Enter(details.context()?),
            11 => Event::Leave,
            12 => Event::Team(details.count()?),
            13 => Event::Barrier,
            14 => Event::TeamEnd,
            15 => Event::Wake(details.count()?),
            16 => Event::Await(details.count()?),
            17 => Event::Locked(details.count()?),
            _ => return None,
        })
    }

    /// The same event in contexts of other numbers.
    pub fn with_contexts(self, other: impl Fn(ContextId) -> ContextId) -> Event {
        let created = |creation: Creation| Creation { context: other(creation.context), ..creation };
        match self {
            Event::Spawn(creation) => Event::Spawn(created(creation)),
            Event::Call(creation) => Event::Call(created(creation)),
            Event::Enter(context) => Event::Enter(other(context)),
            same => same,
        }
    }
}

/// What is known of an open construct; a [`Construct`] is that, too.
pub trait Open {
    /// What it is.
    fn construct(&self) -> Construct;

    /// True if what ends `what` ends this: a member of a team ends as a task does.
    #[inline(always)]
    fn is(&self, what: Construct) -> bool {
        let own = self.construct();
        own == what || (own == Construct::Team && what == Construct::Task)
    }
}

impl Open for Construct {
    #[inline(always)]
    fn construct(&self) -> Construct {
        *self
    }
}

/// What is open, from the outside inward.
#[derive(Clone, Debug)]
pub struct Nesting<F> {
    open: Vec<F>,
    /// Constructs for which there was no room: they are skipped, with what is within.
    skipped: u64,
}

impl<F: Open> Nesting<F> {
    /// Nothing is open.
    pub fn new() -> Nesting<F> {
        Nesting { open: Vec::new(), skipped: 0 }
    }

    /// How much is open.
    #[inline(always)]
    pub fn depth(&self) -> usize {
        self.open.len()
    }

    /// Whether there is room for one construct more. If not, it is skipped, up to its end.
    #[inline(always)]
    pub fn has_room(&mut self) -> bool {
        let room = self.open.len() < MOST_OPEN;
        if !room {
            self.skipped = 1;
        }
        room
    }

    /// True if an event is within what is skipped.
    #[inline(always)]
    pub fn leaves_out(&mut self, event: &Event) -> bool {
        self.skipped > 0 && self.skip(event)
    }

    #[cold]
    fn skip(&mut self, event: &Event) -> bool {
        match event.effect() {
            Effect::Opens(_) => self.skipped += 1,
            Effect::Closes(_) => self.skipped -= 1,
            Effect::Divides(_) | Effect::Inside => {}
        }
        true
    }

    /// True if the innermost construct is what would be ended.
    #[inline(always)]
    pub fn ends(&self, what: Construct) -> bool {
        self.open.last().is_some_and(|open| open.is(what))
    }

    /// How many constructs are open within the innermost that would be ended; `None` if the running task has none.
    #[cold]
    pub fn within(&self, what: Construct) -> Option<usize> {
        let within = self.open.iter().rev().position(|open| open.is(what) || open.is(Construct::Task))?;
        self.open[self.open.len() - 1 - within].is(what).then_some(within)
    }

    /// Where the team is whose member the running strand is, or is part of.
    #[inline]
    pub fn team(&self) -> Option<usize> {
        self.open.iter().rposition(|open| open.construct() == Construct::Team)
    }

    /// Where the team is at whose barrier the running strand can arrive: nothing but regions may last over it.
    #[inline]
    pub fn team_at_barrier(&self) -> Option<usize> {
        let at = self.open.iter().rposition(|open| open.construct() != Construct::Region)?;
        (self.open[at].construct() == Construct::Team).then_some(at)
    }

    /// A construct begins, for which there [is room](Nesting::has_room).
    #[inline(always)]
    pub fn push(&mut self, open: F) {
        self.open.push(open);
    }

    /// The innermost one ends.
    #[inline(always)]
    pub fn pop(&mut self) -> Option<F> {
        self.open.pop()
    }

    /// The innermost one.
    #[inline(always)]
    pub fn last(&self) -> Option<&F> {
        self.open.last()
    }

    /// The innermost one.
    #[inline(always)]
    pub fn last_mut(&mut self) -> Option<&mut F> {
        self.open.last_mut()
    }

    /// One of them, counted from the outside.
    #[inline(always)]
    pub fn get_mut(&mut self, at: usize) -> Option<&mut F> {
        self.open.get_mut(at)
    }
}

impl<F: Open> Default for Nesting<F> {
    fn default() -> Nesting<F> {
        Nesting::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Nanos;

    struct Fixed;

    impl Details for Fixed {
        fn count(&mut self) -> Option<u32> {
            Some(7)
        }

        fn context(&mut self) -> Option<ContextId> {
            Some(ContextId(3))
        }

        fn creation(&mut self) -> Option<Creation> {
            Some(Creation { context: ContextId(3), group: None, overhead: Nanos(1) })
        }
    }

    fn all() -> impl Iterator<Item = Event> {
        (0..=u8::MAX).filter_map(|number| Event::of(number, &mut Fixed))
    }

    #[test]
    fn every_word_is_an_event_of_its_number() {
        let numbers: Vec<u8> = all().map(|event| event.number()).collect();
        assert_eq!(numbers, (0..18).collect::<Vec<u8>>());
        assert_eq!(all().map(|event| event.name()).collect::<Vec<_>>(), Event::NAMES);
    }

    #[test]
    fn details_come_back() {
        for event in all() {
            match event.detail() {
                Detail::None => {}
                Detail::Count(count) => assert_eq!(count, 7),
                Detail::Context(context) => assert_eq!(context, ContextId(3)),
                Detail::Creation(creation) => assert_eq!(Some(creation), Fixed.creation()),
            }
            let moved = event.with_contexts(|ContextId(at)| ContextId(at + 1));
            assert_eq!(moved.with_contexts(|ContextId(at)| ContextId(at - 1)), event);
        }
    }

    #[test]
    fn what_opens_is_closed_by_one_event() {
        use Construct::{Fork, Group, Region, Task, Team};
        for construct in [Fork, Group, Region, Task, Team] {
            let closing = all().filter(|event| event.effect() == Effect::Closes(construct)).count();
            let opening = all().filter(|event| event.effect() == Effect::Opens(construct)).count();
            assert_eq!((closing, opening), (1, if construct == Task { 2 } else { 1 }), "{construct:?}");
        }
    }

    #[test]
    fn ends_are_looked_for_within_the_running_task() {
        use Construct::{Fork, Group, Region, Task, Team};
        let mut open = Nesting::new();
        for construct in [Fork, Team, Group, Region] {
            open.push(construct);
        }
        assert!(open.ends(Region) && !open.ends(Group));
        assert_eq!([Region, Group, Team, Fork].map(|what| open.within(what)), [Some(0), Some(1), Some(2), None]);
        // What ends a task ends a member; a task hides all that is around it.
        assert_eq!(open.within(Task), Some(2));
        assert_eq!((open.team(), open.team_at_barrier()), (Some(1), None));
        open.push(Task);
        assert_eq!([Task, Team, Region].map(|what| open.within(what)), [Some(0), None, None]);
    }

    #[test]
    fn what_is_left_out_ends_where_it_does() {
        let mut open: Nesting<Construct> = Nesting { open: vec![Construct::Task; MOST_OPEN], skipped: 0 };
        assert!(!open.has_room());
        let within = [Event::Group, Event::Sync, Event::Wait, Event::End];
        assert_eq!(within.map(|event| open.leaves_out(&event)), [true; 4]);
        assert!(!open.leaves_out(&Event::End));
    }
}
