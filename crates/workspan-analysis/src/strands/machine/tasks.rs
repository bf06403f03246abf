//! Tasks: created, ended, waited for by their creators.

use workspan_model::{ContextId, Creation};

use super::charge::Charge;
use super::frames::{Children, Creator, Frame, Task};
use super::machine::Machine;
use super::path::{Tail, OWNED};
use super::problem::Problem;
use super::region::Point;
use super::tables::Role;

impl<C: Charge> Machine<C> {
    pub(super) fn spawn(&mut self, creation: Creation, call: bool, around: ContextId) {
        if !self.has_room() {
            return;
        }
        let context = self.known(creation.context);
        let account = self.accounts.of(context.index());
        account.overhead = account.overhead.saturating_add(creation.overhead.0);
        if self.tail.key != self.charge.expected(context) {
            // Once here, not once in each task.
            self.paths.settle(&mut self.tail);
        }
        let group = creation.group.and_then(|outward| self.group_at(usize::from(outward)));
        let group = group.and_then(|at| u32::try_from(at).ok());
        self.charge.spawn(&creation, group, call);
        let after = self.children.ends.as_mut().and_then(|ends| ends.after.take());
        let creator = self.suspend();
        self.creators.push(creator);
        self.tail = self.tail.borrowed();
        if let Some((after, uniform)) = after {
            self.paths.join(&mut self.tail, after);
            self.uniform = self.uniform.max(uniform);
        }
        if !call {
            self.tail.span = self.tail.span.saturating_add(self.burden);
            self.uniform = self.uniform.saturating_add(self.burden);
        }
        let outermost = !self.tables.is_recursion(around, context);
        let counted = C::CALLS && self.begin_task_call(around, context, outermost);
        self.frames.push(Frame::Task(Task {
            context,
            group,
            call,
            outermost,
            counted,
            span: self.tail.span,
            uniform: self.uniform,
            work: self.work,
            apart: self.apart,
        }));
    }

    /// The running task's state, put aside; what follows is a new task.
    #[inline(always)]
    pub(super) fn suspend(&mut self) -> Creator {
        let creator = Creator {
            tail: self.tail,
            uniform: self.uniform,
            own: self.own,
            place: self.place,
            children: std::mem::replace(&mut self.children, Children::NONE),
        };
        self.own = 0;
        self.place = Point::Begin.code();
        creator
    }

    /// Where in the stack of groups the one is that a task names.
    fn group_at(&mut self, outward: usize) -> Option<usize> {
        let visible = self.groups.iter().rev().take(outward + 1);
        // A team ends at its rounds.
        let crossed = visible.take(outward).position(|group| group.round);
        let open = self.groups.len();
        match crossed {
            None if outward < open => Some(open - 1 - outward),
            None => {
                self.problem(Problem::UnknownGroup);
                // The outermost; none at all if nothing is open.
                (open > 0).then_some(0)
            }
            Some(at) => {
                self.problem(Problem::UnknownGroup);
                Some(open - 1 - at)
            }
        }
    }

    pub(super) fn end(&mut self) {
        if self.frames.is_empty() && !self.ended {
            self.ended = true;
            return;
        }
        if !self.is_task_open() {
            return;
        }
        match self.frames.pop() {
            Some(Frame::Task(task)) => {
                self.count(&task);
                self.end_task(task);
            }
            Some(team) => {
                self.frames.push(team);
                self.end_member();
            }
            None => {}
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
        self.accounts.count_task(index, self.own);
        let account = self.accounts.of(index);
        match entry.role {
            Role::Items => account.items += 1,
            Role::Chunks => {}
            Role::Tasks | Role::Pieces => {
                account.entries += 1;
                if !task.outermost {
                    return;
                }
                account.instances += 1;
                let (mut end, mut end_uniform) = (self.tail.span, self.uniform);
                if entry.lasting {
                    end = end.max(self.children.late);
                    end_uniform = end_uniform.max(self.children.late_uniform);
                }
                let work = self.work.saturating_sub(task.work).saturating_sub(self.apart.saturating_sub(task.apart));
                account.work = account.work.saturating_add(work);
                account.span = account.span.saturating_add(end.saturating_sub(task.span));
                account.uniform_span = account.uniform_span.saturating_add(end_uniform.saturating_sub(task.uniform));
            }
        }
    }

    /// The running task, `task`, has ended: its creator goes on.
    pub(super) fn end_task(&mut self, task: Task) {
        if C::CALLS {
            self.settle_local();
            if task.counted {
                self.end_task_call();
            }
        }
        let (end, end_uniform) = (self.tail, self.uniform);
        let Some(mut creator) = self.creators.pop() else {
            return;
        };
        self.charge.end();
        if task.call {
            creator.tail = if end.path & OWNED != 0 {
                self.paths.release(creator.tail.path);
                end
            } else {
                Tail { path: creator.tail.path, ..end }
            };
            creator.uniform = end_uniform;
        } else {
            let own = self.work.saturating_sub(task.work).saturating_sub(self.apart.saturating_sub(task.apart));
            // Part of what waits for it, not of what lies between.
            self.apart = self.apart.saturating_add(own);
            // Whoever waits for it has to be told.
            let back = Tail { span: end.span.saturating_add(self.burden), ..end };
            let back_uniform = end_uniform.saturating_add(self.burden);
            match task.group.and_then(|at| self.groups.get_mut(at as usize)) {
                Some(group) => {
                    group.work = group.work.saturating_add(own);
                    self.paths.raise(&mut group.last, &back);
                    group.last_uniform = group.last_uniform.max(back_uniform);
                }
                None => self.detach(&end, end_uniform),
            }
            self.paths.raise(&mut creator.children.last, &back);
            creator.children.last_uniform = creator.children.last_uniform.max(back_uniform);
        }
        let late = end.span.max(self.children.late);
        creator.children.late = creator.children.late.max(late);
        let late_uniform = end_uniform.max(self.children.late_uniform);
        creator.children.late_uniform = creator.children.late_uniform.max(late_uniform);
        if self.keep_ends {
            let path = self.paths.own(end.path);
            let ends = creator.children.ends.get_or_insert_default();
            ends.ends.push((Tail { path, ..end }, end_uniform));
        }
        if !task.call {
            self.paths.release(end.path);
        }
        self.resume(creator);
    }

    /// A suspended task goes on.
    pub(super) fn resume(&mut self, creator: Creator) {
        self.forget_children();
        self.tail = creator.tail;
        self.uniform = creator.uniform;
        self.own = creator.own;
        self.place = creator.place;
        self.children = creator.children;
    }

    /// Nobody asks any more for the tasks that the running one created.
    pub(super) fn forget_children(&mut self) {
        let children = &mut self.children;
        self.paths.release(children.last.path);
        children.last = Tail::NEVER;
        children.last_uniform = i64::MIN;
        children.late = i64::MIN;
        children.late_uniform = i64::MIN;
        let Some(ends) = &mut children.ends else {
            return;
        };
        ends.forgotten += ends.ends.len();
        for (end, _) in ends.ends.drain(..).chain(ends.after.take()) {
            self.paths.release(end.path);
        }
    }

    /// A task that nobody waits for has ended.
    pub(super) fn detach(&mut self, end: &Tail, end_uniform: i64) {
        if self.teams > 0 {
            self.detach_in_team(end, end_uniform);
        } else {
            self.paths.raise(&mut self.detached, end);
            self.detached_uniform = self.detached_uniform.max(end_uniform);
        }
    }

    pub(super) fn sync(&mut self) {
        self.charge.sync();
        // They are kept: another branch of this task may wait for them, too.
        self.paths.raise(&mut self.tail, &self.children.last);
        self.uniform = self.uniform.max(self.children.last_uniform);
    }

    pub(super) fn after(&mut self, number: u32) {
        if !self.keep_ends {
            self.needs_ends = true;
            self.problem(Problem::UnknownTask);
            return;
        }
        let ends = self.children.ends.get_or_insert_default();
        let Some(index) = (number as usize).checked_sub(ends.forgotten) else {
            return;
        };
        let Some((end, uniform)) = ends.ends.get(index).copied() else {
            self.problem(Problem::UnknownTask);
            return;
        };
        self.charge.after(index);
        let (after, after_uniform) = ends.after.get_or_insert((Tail::NEVER, i64::MIN));
        self.paths.raise(after, &end);
        *after_uniform = (*after_uniform).max(uniform);
    }
}
