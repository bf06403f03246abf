//! Whether what a row ends is what is open, and what is done if not.

use workspan_model::Event;

use super::charge::Charge;
use super::frames::Frame;
use super::machine::Machine;
use super::problem::{Problem, MOST_OPEN};

/// What an event ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Opened {
    Fork,
    Group,
    Region,
    /// A task or a member of a team.
    Task,
    Team,
}

impl Opened {
    #[inline(always)]
    fn is(self, frame: &Frame) -> bool {
        matches!(
            (self, frame),
            (Opened::Fork, Frame::Fork(_))
                | (Opened::Group, Frame::Group)
                | (Opened::Region, Frame::Region(_))
                | (Opened::Task, Frame::Task(_) | Frame::Team(_))
                | (Opened::Team, Frame::Team(_))
        )
    }
}

impl<C: Charge> Machine<C> {
    /// Room for one frame more? If not, the construct is left out.
    #[inline(always)]
    pub(super) fn has_room(&mut self) -> bool {
        let room = self.frames.len() < MOST_OPEN;
        if !room {
            self.problem(Problem::TooDeep);
            self.skipped = 1;
        }
        room
    }

    /// An event within what is left out.
    #[cold]
    pub(super) fn skip(&mut self, event: Event) {
        match event {
            Event::Fork(_) | Event::Group | Event::Spawn(_) | Event::Call(_) | Event::Enter(_) | Event::Team(_) => {
                self.skipped += 1;
            }
            Event::Join | Event::Wait | Event::End | Event::Leave | Event::TeamEnd => self.skipped -= 1,
            Event::Next(_) | Event::Sync | Event::After(_) | Event::Barrier => {}
        }
    }

    /// True if the innermost open construct is of this kind, or has been made so by ending what is within.
    #[inline(always)]
    pub(super) fn is_open(&mut self, what: Opened) -> bool {
        self.frames.last().is_some_and(|frame| what.is(frame)) || self.recover(what)
    }

    #[cold]
    fn recover(&mut self, what: Opened) -> bool {
        let boundary = |frame: &Frame| matches!(frame, Frame::Task(_) | Frame::Team(_));
        let found = self.frames.iter().rev().find(|frame| what.is(frame) || boundary(frame));
        if !found.is_some_and(|frame| what.is(frame)) {
            self.problem(Problem::NotOpen);
            return false;
        }
        self.problem(Problem::StillOpen);
        while self.frames.last().is_some_and(|frame| !what.is(frame)) {
            self.close_inner();
        }
        true
    }

    /// Ends the innermost construct, which is not a task.
    pub(super) fn close_inner(&mut self) {
        match self.frames.pop() {
            Some(Frame::Fork(mut fork)) => self.join_branches(&mut fork),
            Some(Frame::Group) => {
                self.frames.push(Frame::Group);
                self.wait();
            }
            Some(Frame::Region(region)) => self.leave_region(&region),
            Some(Frame::Task(_) | Frame::Team(_)) | None => {}
        }
    }

    /// True if a task or member is running that could end.
    pub(super) fn is_task_open(&mut self) -> bool {
        self.is_open(Opened::Task)
    }

    /// True if a team is open, and no member's parts.
    pub(super) fn is_team_open(&mut self) -> bool {
        self.is_open(Opened::Team)
    }
}
