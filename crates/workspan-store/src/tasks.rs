//! Which task a strand belongs to.

use workspan_model::nesting::{Construct, Detail, Effect};
use workspan_model::Event;

/// Numbers tasks in serial order, from the root, which is 0. A branch of a fork is a task, but for the first, which its
/// creator runs itself; so is every member of a team.
///
/// **Memory:** bounded by the depth of the tree.
#[derive(Debug, Default)]
pub(crate) struct Tasks {
    current: i64,
    last: i64,
    ended: bool,
    around: Vec<Frame>,
}

/// A fork, a task or a team; nothing else changes which task runs.
#[derive(Clone, Copy, Debug)]
struct Frame {
    creator: i64,
    construct: Construct,
    /// Of a team: members to come.
    left: u32,
}

impl Tasks {
    /// Tasks so far, the root included.
    pub(crate) fn count(&self) -> i64 {
        self.last + 1
    }

    /// The task of the next strand, which this event ends.
    pub(crate) fn step(&mut self, event: &Event) -> i64 {
        let task = self.current;
        self.ended = false;
        match (event.effect(), event.detail()) {
            (Effect::Opens(Construct::Fork), _) => self.push(Construct::Fork, 0),
            (Effect::Divides(construct), _) => {
                let fork = self.around.last().filter(|frame| frame.construct == construct);
                // The creator goes on after the join.
                self.ended = fork.is_some_and(|frame| frame.creator != task);
                self.begin();
            }
            (Effect::Opens(Construct::Task), _) => {
                self.push(Construct::Task, 0);
                self.begin();
            }
            (Effect::Opens(Construct::Team), Detail::Count(members)) => {
                self.push(Construct::Team, members.saturating_sub(1));
                if members > 0 {
                    self.begin();
                }
            }
            (Effect::Closes(Construct::Task), _) => self.end(),
            (Effect::Closes(construct @ (Construct::Fork | Construct::Team)), _) => self.pop(construct),
            _ => {}
        }
        task
    }

    /// True if no other strand belongs to the task of the last one. The root does not end before the rows do.
    pub(crate) fn has_ended(&self) -> bool {
        self.ended
    }

    fn push(&mut self, construct: Construct, left: u32) {
        self.around.push(Frame { creator: self.current, construct, left });
    }

    fn begin(&mut self) {
        self.last += 1;
        self.current = self.last;
    }

    fn end(&mut self) {
        let Some(frame) = self.around.last_mut() else {
            return;
        };
        if frame.construct != Construct::Team {
            return self.pop(Construct::Task);
        }
        self.ended = self.current != frame.creator;
        match frame.left.checked_sub(1) {
            Some(left) => {
                frame.left = left;
                self.begin();
            }
            None => self.current = frame.creator,
        }
    }

    /// Rows that are not well nested leave a frame that does not fit; it stays.
    fn pop(&mut self, construct: Construct) {
        if let Some(frame) = self.around.pop_if(|frame| frame.construct == construct) {
            self.ended = self.current != frame.creator;
            self.current = frame.creator;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use workspan_model::{ContextId, Creation, Nanos};

    fn tasks(events: &[Event]) -> Vec<i64> {
        let mut tasks = Tasks::default();
        events.iter().map(|event| tasks.step(event)).collect()
    }

    #[test]
    fn tasks_are_numbered_in_serial_order() {
        let new = Creation { context: ContextId::ROOT, group: Some(0), overhead: Nanos::ZERO };
        let forks =
            [Event::Fork(1), Event::Fork(1), Event::Next(1), Event::Join, Event::Next(1), Event::Join, Event::End];
        assert_eq!(tasks(&forks), [0, 0, 0, 1, 0, 2, 0]);
        let spawns =
            [Event::Spawn(new), Event::Call(new), Event::End, Event::End, Event::Spawn(new), Event::End, Event::End];
        assert_eq!(tasks(&spawns), [0, 1, 2, 1, 0, 3, 0]);
        let team =
            [Event::Team(2), Event::Barrier, Event::End, Event::Spawn(new), Event::End, Event::End, Event::TeamEnd];
        assert_eq!(tasks(&team), [0, 1, 1, 2, 3, 2, 0]);
    }

    #[test]
    fn what_is_not_nested_does_no_harm() {
        assert_eq!(tasks(&[Event::Join, Event::End, Event::Fork(1), Event::End, Event::TeamEnd, Event::Join]), [0; 6]);
    }
}
