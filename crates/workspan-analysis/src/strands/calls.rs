//! Calls: instances of sites, in all and on the critical path (Cilkprof ch. 2, 3.3, 4.1).
//!
//! When an instance ends, its work and span are known, and the path that leads to its end is marked with them: the marks that
//! the longest path has at the end of the program are the calls on the span. So a mark is kept where Cilkprof retains a
//! profile, and dropped where it discards one; but a path is shared by all who have a common past, so that nothing is copied.
//! Marks of one row are folded into one node (`super::path`).
//!
//! An instance of OpenMP has all that was created in it, which may outlast it, and then the path does not come to its end. It
//! is marked where it *begins*, by a token, which gets the sums when they are known. So is what lasts over a barrier, whose
//! span is known with the rounds; and the parts of a worksharing construct have one token for all members.
//!
//! By height, the row of an instance is known when it ends: until then its own strands are on the path under a local token.
//!
//! **Cost:** constant for each instance, but for the search of its row by height. **Memory:** a row for each context or, by
//! height, for each call site and height; beyond that, of open constructs only.

use std::collections::BTreeMap;

use workspan_model::{CallMetrics, ContextId, Nanos, Recording, SiteId, SiteKind, Totals};

use super::path::{OnPath, Paths, Stretch, Tail, LOCAL, TOKEN};
use super::position::Work;
use super::tables::Tables;

/// How recursion is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum View {
    /// Outermost instances only; a row for each context.
    Outermost,
    /// All instances, a row for each call site and height.
    Heights,
}

/// What a row is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum CallKey {
    Context(ContextId),
    Height { callee: SiteId, caller: Option<SiteId>, height: u32 },
}

/// What calls there are.
#[derive(Debug, Default)]
pub(super) struct Calls {
    heights: bool,
    /// Strands on the path are reported by row: by height, where nothing but strands is on it.
    locals: bool,
    /// Per context.
    contexts: Vec<Callee>,
    open: Vec<Open>,
    rows: Vec<CallMetrics>,
    keys: Vec<CallKey>,
    found: BTreeMap<CallKey, u32>,
}

#[derive(Clone, Copy, Debug)]
struct Callee {
    /// `None` for serial code.
    site: Option<SiteId>,
    /// Each fork is a call.
    joins: bool,
    /// An instance has all that is created in it.
    lasting: bool,
}

/// Where the running strand stands.
#[derive(Debug)]
pub(super) struct Here<'a> {
    pub(super) paths: &'a mut Paths,
    pub(super) tail: &'a mut Tail,
    pub(super) work: Work,
    /// Of the running member.
    pub(super) round: usize,
}

/// An instance that has not ended.
#[derive(Clone, Copy, Debug)]
struct Open {
    context: ContextId,
    caller: Option<SiteId>,
    /// The path has been marked where it began.
    token: Option<u32>,
    /// By height: the key of its own strands.
    local: Option<u32>,
    height: u32,
    own: i64,
    /// Where a fork begins.
    span: i64,
    work: Work,
    round: usize,
}

/// A member's part of a worksharing construct, or all of them.
#[derive(Clone, Copy, Debug)]
pub(super) struct SharedCall {
    context: ContextId,
    caller: Option<SiteId>,
    token: u32,
    local: Option<u32>,
    height: u32,
    work: i64,
    own: i64,
}

impl SharedCall {
    pub(super) fn add(&mut self, part: &SharedCall) {
        self.height = self.height.max(part.height);
        self.work = self.work.saturating_add(part.work);
        self.own = self.own.saturating_add(part.own);
    }
}

/// A call whose span is known when the rounds are.
#[derive(Clone, Copy, Debug)]
pub(super) struct LateCall {
    row: u32,
    token: u32,
    work: i64,
    /// As if both rounds began where the team does.
    span: i64,
    entered: usize,
    left: usize,
}

impl Here<'_> {
    /// Marks the path with a new token.
    fn mark(&mut self) -> u32 {
        let token = self.paths.tokens.create();
        self.paths.mark(self.tail, Stretch { key: token, span: 0, secondary: 1, work: 0 });
        token
    }
}

impl Calls {
    /// Of a run of `recording`.
    pub(super) fn new(recording: &Recording, tables: &Tables, view: View) -> Calls {
        let tree = &recording.contexts;
        let callee = |id| {
            let site = tree.site(id).and_then(|id| Some((id, recording.sites.get(id.0 as usize)?.kind)));
            let site = site.filter(|(_, kind)| kind.spawns());
            let joins = site.is_some_and(|(_, kind)| kind == SiteKind::Join);
            Callee { site: site.map(|(id, _)| id), joins, lasting: tables.get(id).lasting }
        };
        let heights = view == View::Heights;
        // By context, rows are there from the beginning.
        let (rows, keys) = if heights {
            (Vec::new(), Vec::new())
        } else {
            (vec![CallMetrics::ZERO; tree.len()], tree.ids().map(CallKey::Context).collect())
        };
        let contexts = tree.ids().map(callee).collect();
        Calls { heights, locals: heights, contexts, rows, keys, ..Calls::default() }
    }

    /// The running strand cost so much.
    #[inline(always)]
    pub(super) fn add_local(&mut self, work: i64) {
        if let Some(open) = self.open.last_mut() {
            open.own = open.own.saturating_add(work);
        }
    }

    /// The key of the running strand, if it is not its context's.
    #[inline(always)]
    pub(super) fn local_key(&self) -> Option<u32> {
        self.open.last()?.local
    }

    /// There are steals on the path.
    pub(super) fn without_locals(&mut self) {
        self.locals = false;
    }

    /// A region is entered, or a task begins. Returns whether that is a call.
    pub(super) fn begin(&mut self, here: Here<'_>, around: ContextId, inner: ContextId, outermost: bool) -> bool {
        let counted = self.heights || outermost;
        self.open(here, around, inner, counted)
    }

    /// A fork begins; `own`: the innermost open construct is a region of the same context, whose own fork it is. Else it is a
    /// join that is called by another of the same place.
    pub(super) fn begin_fork(&mut self, here: Here<'_>, context: ContextId, own: bool) -> bool {
        let counted = self.heights && self.contexts[context.index()].joins && !own;
        self.open(here, context, context, counted)
    }

    /// An instance begins where the running strand stands; `counted` if the view has it.
    fn open(&mut self, mut here: Here<'_>, around: ContextId, context: ContextId, counted: bool) -> bool {
        let callee = self.contexts[context.index()];
        if callee.site.is_none() || !counted {
            return false;
        }
        let token = callee.lasting.then(|| here.mark());
        let local = self.locals.then(|| here.paths.tokens.create_local());
        self.open.push(Open {
            context,
            caller: self.contexts[around.index()].site,
            token,
            local,
            height: 0,
            own: 0,
            span: here.tail.span,
            work: here.work,
            round: here.round,
        });
        true
    }

    /// A fork that is a call ends.
    pub(super) fn end_fork(&mut self, here: Here<'_>) -> Option<LateCall> {
        let open = self.close()?;
        let (work, span) = (here.work.since(open.work), here.tail.span.saturating_sub(open.span));
        self.end(here, &open, work, span)
    }

    /// A region ends; `work` is that of what is waited for.
    pub(super) fn end_region(&mut self, here: Here<'_>, work: i64, span: i64) -> Option<LateCall> {
        let open = self.close()?;
        let lasting = self.contexts[open.context.index()].lasting;
        let work = if lasting { here.work.all_since(open.work) } else { work };
        self.end(here, &open, work, span)
    }

    /// The running task ends; `latest` is the end of the last of those that it created, and they in turn.
    pub(super) fn end_task(&mut self, here: Here<'_>, latest: i64) -> Option<LateCall> {
        let open = self.close()?;
        let (end, work) = if self.contexts[open.context.index()].lasting {
            (here.tail.span.max(latest), here.work.all_since(open.work))
        } else {
            (here.tail.span, here.work.since(open.work))
        };
        self.end(here, &open, work, end.saturating_sub(open.span))
    }

    fn close(&mut self) -> Option<Open> {
        let open = self.open.pop()?;
        if let Some(around) = self.open.last_mut() {
            around.height = around.height.max(open.height + 1);
        }
        Some(open)
    }

    /// Counts an instance, unless its span is known only with the rounds.
    fn end(&mut self, mut here: Here<'_>, open: &Open, work: i64, span: i64) -> Option<LateCall> {
        let row = self.row(open.context, open.caller, open.height, open.own);
        if let Some(local) = open.local {
            self.settle_local(here.paths, here.tail);
            let key = self.key_of(row) + 1;
            here.paths.tokens.make_key_known(local, key);
        }
        let (entered, left) = (open.round, here.round);
        if entered != left {
            let token = open.token.unwrap_or_else(|| here.mark());
            return Some(LateCall { row, token, work, span, entered, left });
        }
        match open.token {
            Some(token) => self.count_call(here.paths, row, token, work, span),
            None => {
                let sums = self.sums(row, work, span);
                self.count(row, work, span);
                here.paths.mark(here.tail, sums);
            }
        }
        None
    }

    /// The row of a call that has ended, with what it ran itself.
    fn row(&mut self, context: ContextId, caller: Option<SiteId>, height: u32, own: i64) -> u32 {
        if !self.heights {
            return context.0;
        }
        let Some(callee) = self.contexts[context.index()].site else {
            return 0;
        };
        let key = CallKey::Height { callee, caller, height };
        let new = u32::try_from(self.rows.len()).unwrap_or(u32::MAX);
        let row = *self.found.entry(key).or_insert(new);
        if row == new {
            self.rows.push(CallMetrics::ZERO);
            self.keys.push(key);
        }
        if let Some(sums) = self.rows.get_mut(row as usize) {
            sums.local_work += Nanos(own);
        }
        row
    }

    fn count(&mut self, row: u32, work: i64, span: i64) {
        if let Some(sums) = self.rows.get_mut(row as usize) {
            sums.calls_on_work += 1;
            sums.work_on_work += Nanos(work);
            sums.span_on_work += Nanos(span);
        }
    }

    fn count_call(&mut self, paths: &mut Paths, row: u32, token: u32, work: i64, span: i64) {
        self.count(row, work, span);
        paths.tokens.make_known(token, self.sums(row, work, span));
    }

    /// What a path is marked with by a call of a row.
    fn sums(&self, row: u32, work: i64, span: i64) -> Stretch {
        Stretch { key: self.key_of(row), span, secondary: 1, work }
    }

    /// Of a row. The next key is that of its own strands.
    fn key_of(&self, row: u32) -> u32 {
        let first = u32::try_from(self.contexts.len()).unwrap_or(u32::MAX);
        first.saturating_add(row.saturating_mul(2)) & !(TOKEN | LOCAL)
    }

    /// The running strand ends, or its path goes elsewhere: what it has of an instance's own strands is noted as long as the
    /// instance is open.
    pub(super) fn settle_local(&self, paths: &mut Paths, tail: &mut Tail) {
        if self.locals {
            paths.settle(tail);
        }
    }

    /// A member's part ends; `all`: what the members before have of the same construct.
    pub(super) fn end_shared(&mut self, mut here: Here<'_>, all: Option<SharedCall>) -> Option<SharedCall> {
        let open = self.close()?;
        let token = open.token.unwrap_or_else(|| here.mark());
        let (known, known_local) = (all.map(|call| call.token), all.and_then(|call| call.local));
        if let Some(all) = known {
            here.paths.tokens.make_alias(token, all);
        }
        if let (Some(local), Some(all)) = (open.local, known_local) {
            self.settle_local(here.paths, here.tail);
            here.paths.tokens.make_key_known(local, all);
        }
        let work = here.work.all_since(open.work);
        let Open { context, caller, height, own, .. } = open;
        let local = known_local.or(open.local);
        Some(SharedCall { context, caller, token: known.unwrap_or(token), local, height, work, own })
    }

    /// The team has ended in which a call lasted over a barrier; `starts`: by how much the rounds begin later, as far as
    /// they are known.
    pub(super) fn end_late(&mut self, paths: &mut Paths, call: &LateCall, starts: &[(i64, i64)]) {
        let start = |round: usize| starts.get(round).or(starts.last()).map_or(0, |(span, _)| *span);
        let span = call.span.saturating_add(start(call.left).saturating_sub(start(call.entered)));
        self.count_call(paths, call.row, call.token, call.work, span);
    }

    /// The team has ended whose members had parts of a worksharing construct.
    pub(super) fn end_all_shared(&mut self, paths: &mut Paths, call: &SharedCall, span: i64) {
        let row = self.row(call.context, call.caller, call.height, call.own);
        if let Some(local) = call.local {
            let key = self.key_of(row) + 1;
            paths.tokens.make_key_known(local, key);
        }
        self.count_call(paths, row, call.token, call.work, span);
    }

    /// The rows that are not empty, of a run with this critical path, and these totals by context.
    pub(super) fn metrics(&self, path: &[OnPath], totals: &[Totals]) -> Vec<(CallKey, CallMetrics)> {
        let mut rows = self.rows.clone();
        let contexts = totals.len();
        for part in path {
            let at = part.key as usize;
            let of_row = at.checked_sub(contexts);
            if let Some(sums) = of_row.and_then(|at| rows.get_mut(at / 2)) {
                if of_row.is_some_and(|at| at % 2 == 1) {
                    sums.local_span += Nanos(part.span);
                    continue;
                }
                sums.calls_on_span += part.secondary.unsigned_abs();
                sums.work_on_span += Nanos(part.work);
                sums.span_on_span += Nanos(part.span);
            } else if let Some(sums) = rows.get_mut(at).filter(|_| !self.heights && at < contexts) {
                sums.local_span += Nanos(part.span);
            }
        }
        if !self.heights {
            for (sums, totals) in rows.iter_mut().zip(totals) {
                sums.local_work = totals.self_work;
            }
        }
        let rows = self.keys.iter().copied().zip(rows);
        rows.filter(|(_, sums)| *sums != CallMetrics::ZERO).collect()
    }
}
