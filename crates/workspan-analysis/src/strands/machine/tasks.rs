//! Tasks: created, ended, waited for by their creators.

use workspan_model::nesting::Construct;
use workspan_model::{ContextId, Creation};

use super::Machine;
use crate::strands::charge::Charge;
use crate::strands::frames::{Frame, Task};
use crate::strands::path::{Tail, OWNED};
use crate::strands::position::Position;
use crate::strands::problem::Problem;
use crate::strands::running::Before;
use crate::strands::tables::Role;

impl<C: Charge> Machine<C> {
    pub(super) fn spawn(&mut self, creation: Creation, call: bool, around: ContextId) {
        if !self.has_room() {
            return;
        }
        let context = self.known(creation.context);
        let account = self.accounts.of(context.index());
        account.overhead = account.overhead.saturating_add(creation.overhead.0);
        if self.now.at.tail.key != self.charge.expected(context) {
            // Once here, not once in each task.
            self.paths.settle(&mut self.now.at.tail);
        }
        let group = creation.group.and_then(|outward| self.group_named(usize::from(outward)));
        self.charge.spawn(&creation, group, call);
        let after = self.now.children.ends.as_mut().and_then(|ends| ends.take_after());
        let creator = self.now.suspend();
        self.creators.push(creator);
        self.now.at.tail = self.now.at.tail.borrowed();
        if let Some(after) = after {
            self.now.at.join(&mut self.paths, after);
        }
        if !call {
            self.now.at.delay(self.burden);
        }
        let outermost = !self.tables.is_recursion(around, context);
        let counted = C::CALLS && matches!(self.tables.get(context).role, Role::Each | Role::Pieces) && {
            let (calls, here) = self.calls();
            calls.begin(here, around, context, outermost)
        };
        self.open.push(Frame::Task(Task {
            context,
            group,
            call,
            outermost,
            counted,
            span: self.now.at.tail.span,
            uniform: self.now.at.uniform,
            work: self.work,
        }));
    }

    /// Where in the stack of groups the one is that a task names.
    fn group_named(&mut self, outward: usize) -> Option<u32> {
        let (group, known) = self.groups.find(outward);
        if !known {
            self.problem(Problem::UnknownGroup);
        }
        group
    }

    pub(super) fn end(&mut self) {
        if self.open.depth() == 0 && !self.ended {
            self.ended = true;
            return;
        }
        if !self.is_open(Construct::Task) {
            return;
        }
        match self.open.pop() {
            Some(Frame::Task(task)) => {
                self.count(&task);
                self.end_task(task);
            }
            Some(Frame::Team(team)) => self.end_member(team),
            Some(_) | None => {}
        }
    }

    /// Counts a task that has ended.
    fn count(&mut self, task: &Task) {
        let index = task.context.index();
        let entry = *self.tables.get(task.context);
        if entry.serial {
            // A thread of the program's own, or what a runtime does for itself.
            return;
        }
        self.accounts.count_task(index, self.now.own);
        let account = self.accounts.of(index);
        match entry.role {
            Role::Items => account.items += 1,
            Role::Chunks => {}
            Role::Each | Role::Pieces => {
                account.entries += 1;
                if !task.outermost {
                    return;
                }
                account.instances += 1;
                let (mut end, mut end_uniform) = (self.now.at.tail.span, self.now.at.uniform);
                if entry.lasting {
                    end = end.max(self.now.children.late);
                    end_uniform = end_uniform.max(self.now.children.late_uniform);
                }
                account.work = account.work.saturating_add(self.work.since(task.work));
                account.span = account.span.saturating_add(end.saturating_sub(task.span));
                account.uniform_span = account.uniform_span.saturating_add(end_uniform.saturating_sub(task.uniform));
            }
        }
    }

    /// The running task, `task`, has ended: its creator goes on.
    pub(super) fn end_task(&mut self, task: Task) {
        if C::CALLS {
            self.calls.settle_local(&mut self.paths, &mut self.now.at.tail);
            if task.counted {
                let latest = self.now.children.late;
                let (calls, here) = self.calls();
                let late = calls.end_task(here, latest);
                self.call_later(late);
            }
        }
        let end = self.now.at;
        let Some(mut creator) = self.creators.pop() else {
            return;
        };
        self.charge.end();
        if task.call {
            creator.at.tail = if end.tail.path & OWNED != 0 {
                self.paths.release(creator.at.tail.path);
                end.tail
            } else {
                Tail { path: creator.at.tail.path, ..end.tail }
            };
            creator.at.uniform = end.uniform;
        } else {
            let own = self.work.since(task.work);
            // Part of what waits for it, not of what lies between.
            self.work.unjoined = self.work.unjoined.saturating_add(own);
            // Whoever waits for it must learn of it.
            let mut back = end;
            back.delay(self.burden);
            match task.group.and_then(|at| self.groups.get_mut(at)) {
                Some(group) => {
                    group.work = group.work.saturating_add(own);
                    group.last.raise(&mut self.paths, &back);
                }
                None => self.detach(&end),
            }
            creator.children.last.raise(&mut self.paths, &back);
        }
        creator.children.end_one(&end, &self.now.children);
        if self.keep_ends {
            creator.children.ends.get_or_insert_default().keep(&mut self.paths, &end);
        }
        if !task.call {
            self.paths.release(end.tail.path);
        }
        self.now.resume(creator, &mut self.paths);
    }

    /// A task that nobody waits for has ended.
    fn detach(&mut self, end: &Position) {
        if self.teams == 0 {
            self.detached.raise(&mut self.paths, end);
            return;
        }
        let at = self.open.team();
        if let Some(Frame::Team(team)) = at.and_then(|at| self.open.get_mut(at)) {
            team.detach(self.member.round, end, &mut self.paths);
        }
    }

    pub(super) fn sync(&mut self) {
        self.charge.sync();
        // They are kept: another branch of this task may wait for them, too.
        self.now.at.raise(&mut self.paths, &self.now.children.last);
    }

    pub(super) fn after(&mut self, number: u32) {
        if !self.keep_ends {
            self.needs_ends = true;
            self.problem(Problem::UnknownTask);
            return;
        }
        let ends = self.now.children.ends.get_or_insert_default();
        match ends.after(&mut self.paths, number) {
            Before::Known(index) => self.charge.after(index),
            Before::Unknown => self.problem(Problem::UnknownTask),
            Before::Over => {}
        }
    }
}
