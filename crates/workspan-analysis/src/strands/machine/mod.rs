//! The stack machine that reads rows: the rules of [`workspan_model::strand`], one function for each.
//!
//! It is made of parts with states of their own, and composes them: the running task ([`Running`]) and what is open
//! ([`Nesting`] of [`Frame`]s), paths ([`Paths`]), work so far ([`Work`]), totals ([`Accounts`]), calls ([`Calls`]). Rules of
//! tasks and of teams are in files of their own, and so is what is done when no more rows come.
//!
//! Cost per row: constant, but for [`After`](Event::After) (a look-up) and the end of a team (its rounds). Memory: the
//! constructs that are open, with their paths; the rounds of open teams; ends of tasks only if requested
//! ([`Machine::keep_ends`]).

mod finish;
mod tasks;
mod teams;
mod waits;

use workspan_model::nesting::{Construct, Nesting};
use workspan_model::{ContextId, Event, Nanos, OpenRegion, Recording, Strand};

use super::accounts::Accounts;
use super::calls::{Calls, Here, LateCall, View};
use super::charge::{ByCall, ByContext, Charge};
use super::frames::{Fork, Frame, Groups, Region};
use super::path::Paths;
use super::position::{Position, Threads, Work};
use super::problem::{Problem, Problems};
use super::region::Point;
use super::running::Running;
use super::tables::{Role, Tables};
use super::teams::{Member, Share, Team};

/// The machine.
#[derive(Debug)]
pub(crate) struct Machine<C> {
    charge: C,
    tables: Tables,
    accounts: Accounts,
    paths: Paths,
    /// The running task, and those around it.
    now: Running,
    creators: Vec<Running>,
    open: Nesting<Frame>,
    groups: Groups,
    /// How many teams are open, and how far the running member of the innermost is.
    teams: usize,
    member: Member,
    work: Work,
    blocked: i64,
    /// The longest of the tasks that nobody waits for.
    detached: Position,
    /// What waits go on from, by label.
    labels: Vec<Position>,
    calls: Calls,
    threads: Threads,
    /// What a stolen branch or task costs more at its beginning, and again where it is waited for; in units of positions.
    burden: i64,
    keep_ends: bool,
    /// Ends were needed and not kept: the rest is worthless.
    needs_ends: bool,
    /// Some order is none that the program demands: there are loops with more than one iteration, or waits for locks.
    loops: bool,
    /// The root has ended.
    ended: bool,
    rows: u64,
    problems: Problems,
    /// Regions that had not ended when there were no more rows.
    left_open: Vec<OpenRegion>,
}

impl Machine<ByCall> {
    /// A machine that counts calls.
    pub(crate) fn of_calls(recording: &Recording, view: View) -> Machine<ByCall> {
        let machine = Machine::new(recording, ByContext);
        let calls = Calls::new(recording, &machine.tables, view);
        Machine { calls, ..machine }
    }
}

impl<C: Charge> Machine<C> {
    pub(crate) fn new(recording: &Recording, charge: C) -> Machine<C> {
        let tables = Tables::new(recording);
        Machine {
            charge,
            accounts: Accounts::new(tables.contexts.len()),
            tables,
            paths: Paths::new(),
            now: Running::root(),
            creators: Vec::new(),
            open: Nesting::new(),
            groups: Groups::default(),
            teams: 0,
            member: Member::default(),
            work: Work::default(),
            blocked: 0,
            detached: Position::NEVER,
            labels: Vec::new(),
            calls: Calls::default(),
            threads: Threads::new(),
            burden: 0,
            keep_ends: false,
            needs_ends: false,
            loops: false,
            ended: false,
            rows: 0,
            problems: Problems::default(),
            left_open: Vec::new(),
        }
    }

    /// Keeps the ends of all tasks of tasks that are open, since others may come after them.
    pub(crate) fn keep_ends(mut self) -> Machine<C> {
        self.keep_ends = true;
        self
    }

    /// Lets what is stolen cost so much more.
    pub(crate) fn with_burden(mut self, burden: Nanos) -> Machine<C> {
        self.burden = burden.0.saturating_mul(C::SCALE);
        self.calls.without_locals();
        self
    }

    /// True if some task comes after another, and ends were not kept.
    pub(crate) fn needs_ends(&self) -> bool {
        self.needs_ends
    }

    /// How it looks at strands.
    pub(crate) fn charge(&self) -> &C {
        &self.charge
    }

    /// The same, for who sets something between rows.
    pub(crate) fn charge_mut(&mut self) -> &mut C {
        &mut self.charge
    }

    /// Reads rows.
    pub(crate) fn feed(&mut self, rows: &[Strand]) {
        for row in rows {
            self.row(row);
            self.rows += 1;
        }
    }

    #[inline(always)]
    fn row(&mut self, row: &Strand) {
        let context = self.known(row.context);
        let after = if C::PLACES { self.place_after(row, context) } else { 0 };
        if C::PLACES && matches!(row.event, Event::After(_)) && row.cost == Nanos::ZERO {
            // No strand of its own.
            self.event(row, context);
            return;
        }
        let (mut key, cost) = self.charge.charge(row, context, self.now.place, after);
        if C::CALLS {
            key = self.calls.local_key().unwrap_or(key);
        }
        let tail = &mut self.now.at.tail;
        self.paths.turn(tail, key);
        tail.span = tail.span.saturating_add(cost);
        tail.secondary = tail.secondary.saturating_add(self.charge.secondary(cost));
        self.now.at.uniform = self.now.at.uniform.saturating_add(cost);
        let work = row.cost.0;
        self.work.done = self.work.done.saturating_add(work);
        self.now.own = self.now.own.saturating_add(work);
        let account = self.accounts.of(context.index());
        account.self_work = account.self_work.saturating_add(work);
        if C::CALLS {
            self.calls.add_local(work);
        }
        if row.blocked != Nanos::ZERO {
            self.block(row.blocked, context, key);
        }
        self.threads.see(row.thread);
        if C::PLACES {
            self.now.place = match row.event {
                Event::Fork(_) | Event::Next(_) => Point::Begin.code(),
                Event::Join | Event::Leave => self.tables.get(context).place,
                Event::Enter(_) => Point::Enter.code(),
                // What a scope does first.
                Event::Group if self.now.place == Point::Enter.code() => self.now.place,
                _ => after,
            };
        }
        self.event(row, context);
    }

    #[inline(always)]
    fn event(&mut self, row: &Strand, context: ContextId) {
        if self.open.leaves_out(&row.event) {
            return;
        }
        match row.event {
            Event::Fork(iterations) => self.fork(iterations, context),
            Event::Next(iterations) => self.next(iterations, context),
            Event::Join => self.join(context),
            Event::Group => self.group(),
            Event::Wait => self.wait(),
            Event::Spawn(creation) => self.spawn(creation, false, context),
            Event::Call(creation) => self.spawn(creation, true, context),
            Event::End => self.end(),
            Event::Sync => self.sync(),
            Event::After(number) => self.after(number),
            Event::Enter(inner) => self.enter(inner, row, context),
            Event::Leave => self.leave(row),
            Event::Team(members) => self.team(members),
            Event::Barrier => self.barrier(),
            Event::TeamEnd => self.team_end(),
            Event::Wake(label) => self.wake(label),
            Event::Await(label) => self.awaits(label),
            Event::Locked(label) => self.locked(label),
        }
    }

    /// The context, or the root for want of it.
    #[inline(always)]
    fn known(&mut self, context: ContextId) -> ContextId {
        if context.index() < self.tables.contexts.len() {
            context
        } else {
            self.problem(Problem::UnknownContext);
            ContextId::ROOT
        }
    }

    #[cold]
    fn problem(&mut self, problem: Problem) {
        self.problems.add(problem, self.rows);
    }

    fn place_after(&self, row: &Strand, context: ContextId) -> u32 {
        match row.event {
            Event::Spawn(creation) | Event::Call(creation) => self.tables.get(creation.context).place,
            Event::Enter(inner) => self.tables.get(inner).place,
            Event::End | Event::Next(_) | Event::Join => Point::End.code(),
            Event::Sync | Event::Wake(_) | Event::Await(_) | Event::Locked(_) => Point::Wait.code(),
            Event::Leave => Point::Leave.code(),
            Event::Wait | Event::Barrier | Event::TeamEnd => Point::Meet.code(),
            Event::After(_) => self.now.place,
            _ => self.tables.get(context).place,
        }
    }

    #[cold]
    fn block(&mut self, blocked: Nanos, context: ContextId, key: u32) {
        let account = self.accounts.of(context.index());
        account.blocked = account.blocked.saturating_add(blocked.0);
        self.blocked = self.blocked.saturating_add(blocked.0);
        self.paths.turn(&mut self.now.at.tail, self.charge.blocked(key));
        self.now.at.delay(blocked.0.saturating_mul(C::SCALE));
    }

    /// Room for one construct more? If not, it is skipped.
    #[inline(always)]
    fn has_room(&mut self) -> bool {
        let room = self.open.has_room();
        if !room {
            self.problem(Problem::TooDeep);
        }
        room
    }

    /// True if the innermost open construct is of this kind, or has been made so by ending what is within.
    #[inline(always)]
    fn is_open(&mut self, what: Construct) -> bool {
        self.open.ends(what) || self.recover(what)
    }

    #[cold]
    fn recover(&mut self, what: Construct) -> bool {
        let Some(within) = self.open.within(what) else {
            self.problem(Problem::NotOpen);
            return false;
        };
        self.problem(Problem::StillOpen);
        for _ in 0..within {
            self.close_inner();
        }
        true
    }

    /// Ends the innermost construct, which is not a task.
    fn close_inner(&mut self) {
        match self.open.pop() {
            Some(Frame::Fork(fork)) => self.join_branches(fork),
            Some(Frame::Group) => self.close_group(),
            Some(Frame::Region(region)) => self.leave_region(&region),
            Some(Frame::Task(_) | Frame::Team(_)) | None => {}
        }
    }

    /// Calls, and where they are.
    #[inline(always)]
    fn calls(&mut self) -> (&mut Calls, Here<'_>) {
        let Machine { calls, paths, now, work, member, .. } = self;
        (calls, Here { paths, tail: &mut now.at.tail, work: *work, round: member.round })
    }

    /// The span of a call is known when the rounds are.
    fn call_later(&mut self, call: Option<LateCall>) {
        let Some(call) = call else {
            return;
        };
        match self.innermost_team() {
            Some(team) => team.call_later(call),
            None => self.calls.end_late(&mut self.paths, &call, &[]),
        }
    }

    fn innermost_team(&mut self) -> Option<&mut Team> {
        match self.open.team().and_then(|at| self.open.get_mut(at)) {
            Some(Frame::Team(team)) => Some(team),
            _ => None,
        }
    }

    #[inline(always)]
    fn fork(&mut self, iterations: u32, context: ContextId) {
        if !self.has_room() {
            return;
        }
        self.loops |= iterations > 1;
        let tasks = self.tables.get(context).forks_tasks;
        self.charge.fork(context, tasks);
        let counted = C::CALLS && {
            let own = matches!(self.open.last(), Some(Frame::Region(region)) if region.context == context);
            let (calls, here) = self.calls();
            calls.begin_fork(here, context, own)
        };
        let from = self.now.at;
        self.now.at = from.borrowed();
        self.open.push(Frame::Fork(Fork::new(from, iterations, tasks, counted)));
    }

    #[inline(always)]
    fn next(&mut self, iterations: u32, context: ContextId) {
        if !self.is_open(Construct::Fork) {
            return;
        }
        let Some(Frame::Fork(fork)) = self.open.last_mut() else {
            return;
        };
        self.charge.next();
        if fork.tasks {
            if !fork.first {
                self.accounts.count_task(context.index(), self.now.own);
            } else {
                fork.own = self.now.own;
            }
            self.now.own = 0;
        }
        fork.end_branch(&mut self.paths, self.now.at, self.burden);
        self.loops |= iterations > 1;
        self.now.at = fork.next(iterations, self.burden);
    }

    #[inline(always)]
    fn join(&mut self, context: ContextId) {
        if !self.is_open(Construct::Fork) {
            return;
        }
        let Some(Frame::Fork(fork)) = self.open.pop() else {
            return;
        };
        if fork.tasks && !fork.first {
            self.accounts.count_task(context.index(), self.now.own);
            self.now.own = fork.own;
        }
        self.join_branches(fork);
    }

    #[inline(always)]
    fn join_branches(&mut self, mut fork: Fork) {
        self.charge.join();
        fork.end_branch(&mut self.paths, self.now.at, self.burden);
        self.now.at = fork.join(&mut self.paths);
        if C::CALLS && fork.counted {
            let (calls, here) = self.calls();
            let late = calls.end_fork(here);
            self.call_later(late);
        }
    }

    fn group(&mut self) {
        if self.has_room() {
            self.charge.group();
            self.groups.open(false);
            self.open.push(Frame::Group);
        }
    }

    fn wait(&mut self) {
        if self.is_open(Construct::Group) {
            self.open.pop();
            self.close_group();
        }
    }

    fn close_group(&mut self) {
        if let Some(group) = self.groups.close() {
            self.charge.wait();
            self.work.unjoined = self.work.unjoined.saturating_sub(group.work);
            self.now.at.join(&mut self.paths, group.last);
        }
    }

    fn enter(&mut self, inner: ContextId, row: &Strand, around: ContextId) {
        if !self.has_room() {
            return;
        }
        let inner = self.known(inner);
        if !self.is_shared(inner) {
            self.accounts.of(inner.index()).entries += 1;
        }
        let outermost = !self.tables.is_recursion(around, inner);
        let counted = C::CALLS && {
            let (calls, here) = self.calls();
            calls.begin(here, around, inner, outermost)
        };
        self.open.push(Frame::Region(Region {
            context: inner,
            outermost,
            counted,
            span: self.now.at.tail.span,
            uniform: self.now.at.uniform,
            work: self.work,
            round: self.member.round,
            entered: self.tables.get(around).serial.then(|| end_of(row)),
        }));
    }

    fn leave(&mut self, row: &Strand) {
        if !self.is_open(Construct::Region) {
            return;
        }
        let Some(Frame::Region(region)) = self.open.pop() else {
            return;
        };
        self.leave_region(&region);
        if let Some(entered) = region.entered {
            let account = self.accounts.of(region.context.index());
            account.wall = account.wall.saturating_add(end_of(row).saturating_sub(entered).max(0));
        }
    }

    /// A worksharing construct of a team: all members together are one instance.
    fn is_shared(&self, context: ContextId) -> bool {
        self.teams > 0 && self.tables.get(context).role == Role::Pieces
    }

    fn leave_region(&mut self, region: &Region) {
        let work = self.work.since(region.work);
        let span = self.now.at.tail.span.saturating_sub(region.span);
        let uniform = self.now.at.uniform.saturating_sub(region.uniform);
        if self.is_shared(region.context) {
            let (context, outermost) = (region.context, region.outermost);
            let call = if C::CALLS && region.counted { self.end_shared_call() } else { None };
            self.share(Share { context, outermost, call, span, uniform, work });
            return;
        }
        if C::CALLS && region.counted {
            let (calls, here) = self.calls();
            let late = calls.end_region(here, work, span);
            self.call_later(late);
        }
        if region.outermost {
            let account = self.accounts.of(region.context.index());
            account.instances += 1;
            account.work = account.work.saturating_add(work);
            account.span = account.span.saturating_add(span);
            account.uniform_span = account.uniform_span.saturating_add(uniform);
            let left = self.member.round;
            if region.round != left {
                if let Some(team) = self.innermost_team() {
                    team.leave_across(region.context, region.round, left);
                }
            }
        }
    }
}

/// When the strand of a row ended.
fn end_of(row: &Strand) -> i64 {
    row.start.0.saturating_add(row.cost.0).saturating_add(row.blocked.0)
}
