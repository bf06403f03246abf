//! Strands: the whole model of a run, one row for each strand and the event that ends it.
//!
//! The rows of a run stand in *serial order*: as one thread would run the program depth first, a task where it is created.
//! So they are a well-nested language, and every analysis is a stack machine that reads them once: its memory is bounded
//! by the depth of the tree, not by the length of the run. TaskProf's performance model (ch. 2.2) is the same tree with a
//! node for each of its steps, finishes and asyncs; here the inner nodes are the events between the strands.
//!
//! A **position** is an absolute span: the time at which a strand would end on infinitely many processors. The rules of the
//! events, with `s` for the position of the running task:
//!
//! | event | rule |
//! |---|---|
//! | every row | `s += cost + blocked` before its event; `work += cost` |
//! | [`Fork`](Event::Fork) | pushes a fork: `from = s`, `best = -∞` |
//! | [`Next`](Event::Next) | of the innermost fork: `best = max(best, s)`, `s = from` |
//! | [`Join`](Event::Join) | pops the fork: `s = max(best, s)` |
//! | [`Group`](Event::Group) | pushes a group: `last = -∞` |
//! | [`Wait`](Event::Wait) | pops the group: `s = max(s, last)` |
//! | [`Spawn`](Event::Spawn) | a task begins at `max(s, what it comes After)`; its creator goes on from `s` at the task's `End` |
//! | [`Call`](Event::Call) | the same, but its creator goes on from the task's end |
//! | [`End`](Event::End) | the creator's `children = max(children, s)`; the group's `last = max(last, s)` |
//! | [`Sync`](Event::Sync) | `s = max(s, children)` of this task |
//! | [`After`](Event::After) | the next task also waits for the end of an earlier task of the same creator |
//! | [`Enter`](Event::Enter), [`Leave`](Event::Leave) | none: an instance of a region begins, ends |
//! | [`Team`](Event::Team) | a team begins at `s`; its members follow, each up to its `End`; round 0 |
//! | [`Barrier`](Event::Barrier) | of a member: its next round begins where the longest of this round ends, tasks of the round included |
//! | [`TeamEnd`](Event::TeamEnd) | `s` = begin + the sum over rounds of the longest |
//! | [`Wake`](Event::Wake) | the label's position becomes `s` |
//! | [`Await`](Event::Await) | `s = max(s, the label's position)` |
//! | [`Locked`](Event::Locked) | the same; without the order of locks, the strand goes on from the label's position alone |
//!
//! **Waits.** What one task waits for that another does — a lock, a channel, a condition, the end of a thread — is an edge
//! between two rows: a `Wake` with a *label*, a number, and an `Await` with the same label behind it. A label may be used
//! again for another wait once nobody awaits it any more, so that there are as many as waits that are open. A row cannot await
//! what comes later: a thread, or a task of a group, that waits for what its creator does afterwards ends there, and goes on as a task in the root's
//! context, and in the same group, that whoever woke it creates, and that begins with an `Await` of its end. Both rows lie in the same round of
//! a team, or outside all teams, whose positions are their own.
//!
//! **Locks.** Who takes a lock first is accident. What a strand waits for because of a lock stands between a `Wake` and a `Locked` of
//! one label, without cost; a thread that goes on elsewhere after such a wait begins there with `Locked` in place of `Await`. So the span without
//! the order of locks follows from the same rows ([`Run::uniform_span`](crate::Run::uniform_span)).
//!
//! Groups are counted outward through the tasks around: a task that its creator hands to an outer scope names that.
//!
//! A task in the root's context is none of a site's: a thread of the program's own, or what a runtime does for itself.
//!
//! The root ends with an `End` of its own. A barrier waits for all tasks of the round, so a group named from within a team is
//! the team's round at the outermost; what a member waits for after a barrier, of tasks before it, is over. The cost of a
//! `TeamEnd` follows the team.

use crate::context::ContextId;
use crate::units::Nanos;

/// A strand, and the event that ends it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Strand {
    /// The event that ends it.
    pub event: Event,
    /// Where its cost is charged.
    pub context: ContextId,
    /// What it cost: part of work and span.
    pub cost: Nanos,
    /// Time that it was blocked: part of span, not of work.
    pub blocked: Nanos,
    /// When it began, after the program did.
    pub start: Nanos,
    /// The thread that ran it.
    pub thread: u16,
}

/// What ends a strand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// Branches fork off; the first one follows. Of a loop: iterations in this one; otherwise 1.
    Fork(u32),
    /// A branch ends; the next one begins. Of a loop: iterations in it; otherwise 1.
    Next(u32),
    /// The last branch ends, all join.
    Join,
    /// A group of tasks begins: a scope, a task group.
    Group,
    /// Its tasks are waited for, with all that they created in it.
    Wait,
    /// A task is created; its strands follow.
    Spawn(Creation),
    /// A task is created that its creator waits for at once, as part of its own chain; its strands follow.
    Call(Creation),
    /// A task, or a member of a team, ends.
    End,
    /// The tasks that this one has created so far are waited for; not what they created in turn.
    Sync,
    /// The next task that this one creates comes after an earlier one, given by its number among this task's creations,
    /// from 0. Such rows have no cost.
    After(u32),
    /// An instance of a region begins: what follows, up to its `Leave`, is charged to the context given or below.
    Enter(ContextId),
    /// It ends.
    Leave,
    /// A team of this number of members begins; the first one follows.
    Team(u32),
    /// A member arrives at a barrier of its team.
    Barrier,
    /// A team has ended, after its last member's `End`.
    TeamEnd,
    /// Whoever awaits this label goes on from here.
    Wake(u32),
    /// What this label stands for is waited for.
    Await(u32),
    /// The same, and what has come since that label was the order of locks.
    Locked(u32),
}

impl Event {
    /// Words by number. They are part of formats: new ones come last.
    pub const NAMES: [&str; 18] = [
        "fork", "next", "join", "group", "wait", "spawn", "call", "end", "sync", "after", "enter", "leave", "team",
        "barrier", "team-end", "wake", "await", "locked",
    ];

    /// The number of its word.
    #[inline]
    pub fn number(&self) -> u8 {
        match self {
            Event::Fork(_) => 0,
            Event::Next(_) => 1,
            Event::Join => 2,
            Event::Group => 3,
            Event::Wait => 4,
            Event::Spawn(_) => 5,
            Event::Call(_) => 6,
            Event::End => 7,
            Event::Sync => 8,
            Event::After(_) => 9,
            Event::Enter(_) => 10,
            Event::Leave => 11,
            Event::Team(_) => 12,
            Event::Barrier => 13,
            Event::TeamEnd => 14,
            Event::Wake(_) => 15,
            Event::Await(_) => 16,
            Event::Locked(_) => 17,
        }
    }

    /// Its word.
    pub fn name(&self) -> &'static str {
        Event::NAMES[usize::from(self.number())]
    }
}

/// How a task is created.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Creation {
    /// The task's context.
    pub context: ContextId,
    /// Who waits for it: groups outward from the innermost one, which is 0; `None` for a task that nobody waits for.
    /// A team's round counts as a group.
    pub group: Option<u16>,
    /// Cost of its creation, as far as it was measured; part of the strand that ends here.
    pub overhead: Nanos,
}
