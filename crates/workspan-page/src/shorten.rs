//! Fewer rows for a page: what is small is merged.
//!
//! A construct that is over — a fork and its join, a group and its wait, a task — and has less than a *threshold* of work
//! becomes one strand, as long as the construct's span. So the span of the program stays, and so does the length of
//! every other chain. Work that was beside the span of what was merged is *elsewhere*: it is reported, not carried.
//!
//! Merged strands are charged to a context of their own. Nobody knows which part of them a scenario names; but a span can only
//! grow with the cost of any strand, so it lies between the one with merged strands that cost nothing, and the one with
//! merged strands as they are.
//!
//! Not merged: what other strands depend on in other ways. A construct in which a task is created that outlasts it, or that
//! waits for tasks which were created before it, or in which tasks come after others; where tasks do, or
//! creators wait for them, a fork or group in which a task creates some; teams and whatever is around them.
//!
//! Cost per row: constant. Memory: rows of constructs that are open and still below the threshold.

use workspan_model::nesting::{Construct, Detail, Effect};
use workspan_model::{ContextId, Event, Nanos, Strand};

/// What was merged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Merged {
    /// Constructs with less work than this.
    pub threshold: Nanos,
    /// Rows that are not there any more.
    pub rows: u64,
    /// Work that is not in any row any more; less than nothing where strands were blocked.
    pub elsewhere: Nanos,
}

/// Passes rows on, merged.
#[derive(Debug)]
pub(crate) struct Shortener {
    merged: Merged,
    context: ContextId,
    /// Rows that may still be merged.
    out: Vec<Strand>,
    open: Vec<Open>,
    /// Positions of open groups and teams in `open`.
    groups: Vec<usize>,
    position: i64,
    /// What waits go on from, by label.
    labels: Vec<i64>,
    /// The longest of the tasks that the running one has created, and whether there are any.
    children: Option<i64>,
    work: i64,
    /// What the running task has created so far.
    created: u64,
    /// Tasks come after others, which are named by their number, or branches wait for what their siblings created: what a
    /// task has created itself must stay.
    ordered: bool,
    /// There are such.
    met_order: bool,
    /// Something had too much work.
    refused: bool,
    /// Something does not fit: from here on, rows are passed on as they are.
    broken: bool,
}

#[derive(Clone, Copy, Debug)]
struct Open {
    kind: Construct,
    /// Of a task: its creator waits.
    call: bool,
    /// The row that opened it, in `out`.
    row: usize,
    begin: i64,
    /// The longest branch, or the longest task of the group.
    longest: i64,
    work: i64,
    elsewhere: Nanos,
    /// The end of the longest task that was created within and is waited for outside, and the innermost group that does.
    leaves: i64,
    leaves_to: Option<usize>,
    /// Of a task: the group that waits for it, as its position in `open`; of a team, itself.
    waits: Option<usize>,
    /// It stays as it is.
    kept: bool,
    /// Of the creator, or of the task that went on.
    children: Option<i64>,
    created: u64,
}

impl Shortener {
    /// Merges constructs of less work than this into strands of `context`.
    pub(crate) fn new(threshold: Nanos, context: ContextId) -> Shortener {
        Shortener {
            merged: Merged { threshold, ..Merged::default() },
            context,
            out: Vec::new(),
            open: Vec::new(),
            groups: Vec::new(),
            position: 0,
            labels: Vec::new(),
            children: None,
            work: 0,
            created: 0,
            ordered: false,
            met_order: false,
            refused: false,
            broken: false,
        }
    }

    /// For rows in which tasks come [after](Event::After) others, or are [waited for](Event::Sync) by their creator.
    pub(crate) fn with_order(self) -> Shortener {
        Shortener { ordered: true, ..self }
    }

    /// True if there are such, and nobody said so: what was handed over is worthless.
    pub(crate) fn needs_order(&self) -> bool {
        self.met_order && !self.ordered
    }

    /// True if nothing that has been read had too much work: a larger threshold merges no more.
    pub(crate) fn refused_none(&self) -> bool {
        !self.refused
    }

    /// Takes a row, and hands over those that stay.
    pub(crate) fn push(&mut self, row: &Strand, take: &mut impl FnMut(&Strand)) {
        self.position = self.position.saturating_add(row.cost.0).saturating_add(row.blocked.0);
        self.work = self.work.saturating_add(row.cost.0);
        let at = self.out.len();
        self.out.push(*row);
        if !self.broken {
            self.event(row, at);
        }
        // What has too much work is kept, and so is all that was before it.
        for open in &mut self.open {
            if open.kept {
                continue;
            }
            if self.work.saturating_sub(open.work) < self.merged.threshold.0 {
                break;
            }
            open.kept = true;
            self.refused = true;
        }
        let from = self.open.iter().find(|open| !open.kept).map_or(self.out.len(), |open| open.row);
        if self.broken || from > 4096 || self.open.iter().all(|open| open.kept) {
            let from = if self.broken { self.out.len() } else { from };
            self.out.drain(..from).for_each(|row| take(&row));
            for open in &mut self.open {
                open.row = open.row.saturating_sub(from);
            }
        }
    }

    /// No more rows.
    pub(crate) fn finish(mut self, take: &mut impl FnMut(&Strand)) -> Merged {
        self.out.drain(..).for_each(|row| take(&row));
        self.merged
    }

    fn event(&mut self, row: &Strand, at: usize) {
        match row.event.effect() {
            Effect::Opens(Construct::Fork) => self.begin(Construct::Fork, at),
            Effect::Divides(construct) => {
                let position = self.position;
                match self.innermost(construct) {
                    Some(fork) => {
                        fork.longest = fork.longest.max(position);
                        self.position = fork.begin;
                    }
                    None => self.broken = true,
                }
            }
            Effect::Closes(kind @ (Construct::Fork | Construct::Group)) => {
                if self.innermost(kind).is_none() {
                    self.broken = true;
                } else if let Some(done) = self.open.pop() {
                    if kind == Construct::Group {
                        self.groups.pop();
                    }
                    self.position = self.position.max(done.longest);
                    self.close(done, row);
                }
            }
            Effect::Opens(Construct::Group) => {
                self.groups.push(self.open.len());
                self.begin(Construct::Group, at);
            }
            Effect::Opens(Construct::Task) => {
                let group = match row.event.detail() {
                    Detail::Creation(creation) => creation.group,
                    _ => None,
                };
                let group = group.and_then(|group| self.groups.len().checked_sub(usize::from(group) + 1));
                let waits = group.and_then(|group| self.groups.get(group)).copied();
                self.created += 1;
                self.begin(Construct::Task, at);
                (self.children, self.created) = (None, 0);
                if let Some(task) = self.open.last_mut() {
                    task.call = matches!(row.event, Event::Call(_));
                    task.waits = waits;
                }
                if waits.is_none() {
                    // Nobody waits for it.
                    self.keep_all();
                }
            }
            Effect::Closes(Construct::Task) => self.end(row),
            Effect::Opens(Construct::Team) => {
                let team = self.open.len();
                self.groups.push(team);
                self.begin(Construct::Team, at);
                self.open[team].waits = Some(team);
                (self.children, self.created) = (None, 0);
                self.keep_all();
            }
            Effect::Closes(Construct::Team) => {
                if self.innermost(Construct::Team).is_none() {
                    self.broken = true;
                } else {
                    // The creator goes on.
                    let team = self.open.pop();
                    (self.children, self.created) = team.map_or((None, 0), |team| (team.children, team.created));
                    self.groups.pop();
                }
            }
            Effect::Opens(Construct::Region) | Effect::Closes(Construct::Region) => {}
            Effect::Inside => self.inside(row.event),
        }
    }

    /// An event that ends nothing.
    fn inside(&mut self, event: Event) {
        match event {
            Event::Sync => {
                self.met_order = true;
                // What was created before a construct is waited for within it.
                let task = self.open.iter().rposition(|open| !matches!(open.kind, Construct::Fork | Construct::Group));
                let within = task.map_or(0, |task| task + 1);
                if self.children.is_some() {
                    self.open[within..].iter_mut().for_each(|open| open.kept = true);
                }
                self.position = self.position.max(self.children.unwrap_or(i64::MIN));
            }
            Event::After(_) => {
                self.met_order = true;
                self.keep_all();
            }
            Event::Barrier => self.keep_all(),
            // What others wait for, or what waits for them, stays as it is.
            Event::Wake(label) => {
                self.keep_all();
                match self.labels.get_mut(label as usize) {
                    Some(known) => *known = self.position,
                    None => self.labels.push(self.position),
                }
            }
            Event::Await(label) | Event::Locked(label) => {
                self.keep_all();
                let before = self.labels.get(label as usize).copied();
                self.position = self.position.max(before.unwrap_or(i64::MIN));
            }
            _ => {}
        }
    }

    fn begin(&mut self, kind: Construct, row: usize) {
        self.open.push(Open {
            kind,
            call: false,
            row,
            begin: self.position,
            longest: i64::MIN,
            work: self.work,
            elsewhere: self.merged.elsewhere,
            leaves: i64::MIN,
            leaves_to: None,
            waits: None,
            kept: false,
            children: self.children,
            created: self.created,
        });
    }

    fn innermost(&mut self, kind: Construct) -> Option<&mut Open> {
        self.open.last_mut().filter(|open| open.kind == kind)
    }

    fn keep_all(&mut self) {
        self.open.iter_mut().for_each(|open| open.kept = true);
    }

    /// A task ends, or a member of a team, or the program.
    fn end(&mut self, row: &Strand) {
        let Some(task) = self.open.last().copied() else {
            return;
        };
        match task.kind {
            Construct::Team => {
                self.position = task.begin;
                (self.children, self.created) = (None, 0);
                return;
            }
            Construct::Task | Construct::Region => {}
            Construct::Fork | Construct::Group => {
                self.broken = true;
                return;
            }
        }
        self.open.pop();
        let end = self.position;
        if let Some(waits) = task.waits {
            self.open[waits].longest = self.open[waits].longest.max(end);
            // It outlasts what is open within the group.
            for open in &mut self.open[waits + 1..] {
                open.leaves = open.leaves.max(end);
                open.leaves_to = open.leaves_to.max(Some(waits));
            }
        }
        self.close(task, row);
        if !task.call {
            self.position = task.begin;
        }
        self.children = Some(task.children.unwrap_or(i64::MIN).max(end));
        self.created = task.created;
    }

    /// A construct is over, with this row, which is the last one in `out`.
    fn close(&mut self, done: Open, row: &Strand) {
        let rows = self.out.len().saturating_sub(done.row + 1);
        let becomes = match done.kind {
            Construct::Fork => 2,
            Construct::Group => 4,
            _ => 1,
        };
        // What was created within, and is waited for elsewhere, must be over: then whoever waits for what comes after waits
        // for it, too. Of a task, that is who waits for the task itself.
        let inner = matches!(done.kind, Construct::Fork | Construct::Group);
        let outlasts = done.leaves > self.position || inner && self.children > Some(self.position);
        let named = inner && self.ordered && self.created != done.created;
        if done.kept || outlasts || named || rows <= becomes || !self.is_waited_for(&done, inner) {
            return;
        }
        let (span, work) = (self.position.saturating_sub(done.begin), self.work.saturating_sub(done.work));
        self.out.truncate(done.row + 1);
        let strand = |event, context, cost| Strand { event, context, cost: Nanos(cost), blocked: Nanos::ZERO, ..*row };
        match done.kind {
            Construct::Fork => {
                if let Some(fork) = self.out.last_mut() {
                    fork.event = Event::Fork(1);
                }
                self.out.push(strand(Event::Next(1), self.context, span));
                self.out.push(strand(Event::Join, row.context, 0));
            }
            Construct::Group => {
                self.out.push(strand(Event::Fork(1), row.context, 0));
                self.out.push(strand(Event::Next(1), self.context, span));
                self.out.push(strand(Event::Join, row.context, 0));
                self.out.push(strand(Event::Wait, row.context, 0));
            }
            _ => self.out.push(strand(Event::End, self.context, span)),
        }
        self.merged.rows += (rows - becomes) as u64;
        // Of what was merged within nothing is left.
        self.merged.elsewhere = done.elsewhere + Nanos(work.saturating_sub(span));
    }

    /// Whoever waits for tasks that left a construct also waits for what comes after the construct.
    fn is_waited_for(&self, done: &Open, inner: bool) -> bool {
        let Some(left_to) = done.leaves_to else {
            return true;
        };
        if !inner {
            return done.waits.is_some_and(|waits| left_to <= waits);
        }
        let task = self.open.iter().rposition(|open| !matches!(open.kind, Construct::Fork | Construct::Group));
        task.is_none_or(|task| left_to > task || self.open[task].waits.is_some_and(|waits| left_to <= waits))
    }
}
