//! The stack machine that reads rows: the rules of [`workspan_model::strand`], one function for each.
//!
//! The running strand's state is in fields; what is suspended is on a stack of frames. Cost per row: constant, but for
//! [`After`](Event::After) (a look-up) and the end of a team (its rounds). Memory: the constructs that are open, with
//! their paths; the rounds of open teams; ends of tasks only if asked for ([`Machine::keep_ends`]).

use workspan_model::{ContextId, Event, Nanos, OpenRegion, Recording, Strand};

use super::accounts::Accounts;
use super::calls::Calls;
use super::charge::Charge;
use super::frames::{Children, Creator, Fork, Frame, Group, Region, Share};
use super::nesting::Opened;
use super::path::{Paths, Stretch, Tail};
use super::problem::{Problem, Problems};
use super::region::Point;
use super::tables::{Role, Tables};

/// The machine.
#[derive(Debug)]
pub(crate) struct Machine<C> {
    pub(crate) charge: C,
    pub(crate) tables: Tables,
    pub(super) accounts: Accounts,
    pub(super) paths: Paths,
    /// The running strand.
    pub(super) tail: Tail,
    pub(super) uniform: i64,
    /// What the running task ran itself.
    pub(super) own: i64,
    /// What was before the strand ([`Point`]).
    pub(super) place: u32,
    pub(super) children: Children,
    /// Work so far; of it, what instances around it do not wait for.
    pub(super) work: i64,
    pub(super) apart: i64,
    pub(super) blocked: i64,
    pub(super) frames: Vec<Frame>,
    pub(super) groups: Vec<Group>,
    /// Of the open tasks.
    pub(super) creators: Vec<Creator>,
    /// Open teams, and of the innermost: the member's round, and how many shared constructs it has left.
    pub(super) teams: usize,
    pub(super) round: usize,
    pub(super) shared: usize,
    /// The longest of the tasks that nobody waits for.
    pub(super) detached: Tail,
    pub(super) detached_uniform: i64,
    pub(super) open: Vec<OpenRegion>,
    /// There are loops with more than one iteration.
    pub(super) loops: bool,
    pub(super) keep_ends: bool,
    /// The root has ended.
    pub(super) ended: bool,
    /// Constructs that are left out, with what is within: code of what is around them.
    pub(super) skipped: u64,
    /// Ends were needed and not kept: the rest is worthless.
    pub(super) needs_ends: bool,
    pub(super) rows: u64,
    pub(super) problems: Problems,
    /// What a stolen branch or task costs more at its beginning, and again where it is waited for; in units of positions.
    pub(super) burden: i64,
    pub(super) calls: Calls,
    threads: Vec<u64>,
    thread: u32,
    pub(super) scratch: Vec<Stretch>,
}

impl<C: Charge> Machine<C> {
    pub(crate) fn new(recording: &Recording, charge: C) -> Machine<C> {
        let tables = Tables::new(recording);
        Machine {
            charge,
            accounts: Accounts::new(tables.contexts.len()),
            tables,
            paths: Paths::new(),
            tail: Tail::at(0, 0),
            uniform: 0,
            own: 0,
            place: Point::Begin.code(),
            children: Children::NONE,
            work: 0,
            apart: 0,
            blocked: 0,
            frames: Vec::new(),
            groups: Vec::new(),
            creators: Vec::new(),
            teams: 0,
            round: 0,
            shared: 0,
            detached: Tail::NEVER,
            detached_uniform: i64::MIN,
            open: Vec::new(),
            loops: false,
            keep_ends: false,
            ended: false,
            skipped: 0,
            needs_ends: false,
            rows: 0,
            problems: Problems::default(),
            burden: 0,
            calls: Calls::default(),
            threads: vec![0; 1024],
            thread: u32::MAX,
            scratch: Vec::new(),
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
        let (mut key, cost) = self.charge.charge(row, context, self.place, after);
        if C::CALLS {
            key = self.calls.local_key().unwrap_or(key);
        }
        self.tail.turn(&mut self.paths, key);
        self.tail.span = self.tail.span.saturating_add(cost);
        self.tail.beside = self.tail.beside.saturating_add(self.charge.beside(cost));
        self.uniform = self.uniform.saturating_add(cost);
        let work = row.cost.0;
        self.work = self.work.saturating_add(work);
        self.own = self.own.saturating_add(work);
        let account = self.accounts.of(context.index());
        account.self_work = account.self_work.saturating_add(work);
        if C::CALLS {
            self.calls.add_local(work);
        }
        if row.blocked != Nanos::ZERO {
            self.block(row.blocked, context, key);
        }
        if u32::from(row.thread) != self.thread {
            self.thread = u32::from(row.thread);
            self.threads[usize::from(row.thread >> 6)] |= 1 << (row.thread & 63);
        }
        if C::PLACES {
            self.place = match row.event {
                Event::Fork(_) | Event::Next(_) => Point::Begin.code(),
                Event::Join => self.tables.get(context).place,
                _ => after,
            };
        }
        self.event(row, context);
    }

    #[inline(always)]
    fn event(&mut self, row: &Strand, context: ContextId) {
        if self.skipped > 0 {
            self.skip(row.event);
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
        }
    }

    /// The context, or the root for want of it.
    #[inline(always)]
    pub(super) fn known(&mut self, context: ContextId) -> ContextId {
        if context.index() < self.tables.contexts.len() {
            context
        } else {
            self.problem(Problem::UnknownContext);
            ContextId::ROOT
        }
    }

    #[cold]
    pub(super) fn problem(&mut self, problem: Problem) {
        self.problems.add(problem, self.rows);
    }

    fn place_after(&self, row: &Strand, context: ContextId) -> u32 {
        match row.event {
            Event::Spawn(creation) | Event::Call(creation) => self.tables.get(creation.context).place,
            Event::Enter(inner) => self.tables.get(inner).place,
            Event::End | Event::Next(_) | Event::Join => Point::End.code(),
            Event::Sync => Point::Wait.code(),
            Event::After(_) => self.place,
            _ => self.tables.get(context).place,
        }
    }

    #[cold]
    fn block(&mut self, blocked: Nanos, context: ContextId, key: u32) {
        let account = self.accounts.of(context.index());
        account.blocked = account.blocked.saturating_add(blocked.0);
        self.blocked = self.blocked.saturating_add(blocked.0);
        self.tail.turn(&mut self.paths, self.charge.blocked(key));
        let span = blocked.0.saturating_mul(C::SCALE);
        self.tail.span = self.tail.span.saturating_add(span);
        self.uniform = self.uniform.saturating_add(span);
    }

    #[inline(always)]
    fn fork(&mut self, iterations: u32, context: ContextId) {
        if !self.has_room() {
            return;
        }
        self.loops |= iterations > 1;
        self.charge.fork(context, self.tables.get(context).forks_tasks);
        let counted = C::CALLS && self.begin_fork_call(context);
        let from = self.tail;
        self.tail = from.borrowed();
        self.frames.push(Frame::Fork(Fork {
            from,
            from_uniform: self.uniform,
            // Also a branch that is shorter than nothing, what hooks take being taken out, is as long as it is.
            best: Tail::NEVER,
            best_uniform: i64::MIN,
            iterations,
            first: true,
            tasks: self.tables.get(context).forks_tasks,
            own: 0,
            counted,
        }));
    }

    #[inline(always)]
    fn next(&mut self, iterations: u32, context: ContextId) {
        if !self.is_open(Opened::Fork) {
            return;
        }
        let Some(Frame::Fork(fork)) = self.frames.last_mut() else {
            return;
        };
        self.charge.next();
        if fork.tasks {
            if !fork.first {
                self.accounts.count_task(context.index(), self.own);
            } else {
                fork.own = self.own;
            }
            self.own = 0;
        }
        fork.end(&mut self.paths, self.tail, self.uniform, self.burden);
        fork.first = false;
        fork.iterations = iterations;
        self.loops |= iterations > 1;
        self.tail = fork.from.borrowed();
        self.uniform = fork.from_uniform;
        if fork.tasks {
            self.tail.span = self.tail.span.saturating_add(self.burden);
            self.uniform = self.uniform.saturating_add(self.burden);
        }
    }

    #[inline(always)]
    fn join(&mut self, context: ContextId) {
        if !self.is_open(Opened::Fork) {
            return;
        }
        let Some(Frame::Fork(mut fork)) = self.frames.pop() else {
            return;
        };
        if fork.tasks && !fork.first {
            self.accounts.count_task(context.index(), self.own);
            self.own = fork.own;
        }
        self.join_branches(&mut fork);
    }

    #[inline(always)]
    pub(super) fn join_branches(&mut self, fork: &mut Fork) {
        self.charge.join();
        fork.end(&mut self.paths, self.tail, self.uniform, self.burden);
        self.tail = self.paths.merge(&fork.from, fork.best);
        self.uniform = fork.best_uniform;
        if C::CALLS && fork.counted {
            self.end_fork_call();
        }
    }

    fn group(&mut self) {
        if self.has_room() {
            self.charge.group();
            self.groups.push(Group { last: Tail::NEVER, last_uniform: i64::MIN, work: 0, round: false });
            self.frames.push(Frame::Group);
        }
    }

    pub(super) fn wait(&mut self) {
        if !self.is_open(Opened::Group) {
            return;
        }
        self.frames.pop();
        if let Some(group) = self.groups.pop() {
            self.charge.wait();
            self.apart = self.apart.saturating_sub(group.work);
            self.paths.join(&mut self.tail, group.last);
            self.uniform = self.uniform.max(group.last_uniform);
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
        let counted = C::CALLS && self.begin_call(around, inner, outermost);
        self.frames.push(Frame::Region(Region {
            context: inner,
            outermost,
            counted,
            span: self.tail.span,
            uniform: self.uniform,
            work: self.work,
            apart: self.apart,
            round: self.round,
            entered: self.tables.get(around).serial.then(|| end_of(row)),
        }));
    }

    fn leave(&mut self, row: &Strand) {
        if !self.is_open(Opened::Region) {
            return;
        }
        let Some(Frame::Region(region)) = self.frames.pop() else {
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

    pub(super) fn leave_region(&mut self, region: &Region) {
        let work = self.work.saturating_sub(region.work).saturating_sub(self.apart.saturating_sub(region.apart));
        let span = self.tail.span.saturating_sub(region.span);
        let uniform = self.uniform.saturating_sub(region.uniform);
        if self.is_shared(region.context) {
            let (context, outermost) = (region.context, region.outermost);
            let call = if C::CALLS && region.counted { self.end_shared_call() } else { None };
            self.share(Share { context, outermost, call, span, uniform, work });
            return;
        }
        if C::CALLS && region.counted {
            self.end_region_call(work, span);
        }
        if region.outermost {
            let account = self.accounts.of(region.context.index());
            account.instances += 1;
            account.work = account.work.saturating_add(work);
            account.span = account.span.saturating_add(span);
            account.uniform_span = account.uniform_span.saturating_add(uniform);
            if region.round != self.round {
                self.across(region.context, region.round);
            }
        }
    }

    /// Threads that ran strands.
    pub(super) fn threads(&self) -> u32 {
        self.threads.iter().map(|word| word.count_ones()).sum()
    }
}

impl Fork {
    /// A branch ends; its tail is used up.
    #[inline(always)]
    fn end(&mut self, paths: &mut Paths, mut tail: Tail, mut uniform: i64, burden: i64) {
        if self.tasks && !self.first {
            tail.span = tail.span.saturating_add(burden);
            uniform = uniform.saturating_add(burden);
        }
        if tail.span > self.best.span {
            paths.release(self.best.path);
            self.best = tail;
        } else {
            paths.release(tail.path);
        }
        let each = uniform.saturating_sub(self.from_uniform) / i64::from(self.iterations.max(1));
        self.best_uniform = self.best_uniform.max(self.from_uniform.saturating_add(each));
    }
}

/// When the strand of a row ended.
fn end_of(row: &Strand) -> i64 {
    row.start.0.saturating_add(row.cost.0).saturating_add(row.blocked.0)
}
