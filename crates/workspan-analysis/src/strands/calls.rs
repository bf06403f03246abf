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

use workspan_model::{CallMetrics, ContextId, Nanos, Recording, SiteId, SiteKind};

use super::charge::{ByCall, ByContext, Charge};
use super::frames::{Frame, Share};
use super::machine::Machine;
use super::path::{Stretch, LOCAL, TOKEN};
use super::result::Finished;
use super::tables::Role;

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
    /// Strands on the path are told by row: by height, where nothing but strands is on it.
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
    work: i64,
    apart: i64,
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

impl Calls {
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

    fn close(&mut self) -> Option<Open> {
        let open = self.open.pop()?;
        if let Some(around) = self.open.last_mut() {
            around.height = around.height.max(open.height + 1);
        }
        Some(open)
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
}

impl Machine<ByCall> {
    /// A machine that tells calls.
    pub(crate) fn of_calls(recording: &Recording, view: View) -> Machine<ByCall> {
        let mut machine = Machine::new(recording, ByContext);
        let tree = &recording.contexts;
        let callee = |id| {
            let site = tree.site(id).and_then(|id| Some((id, recording.sites.get(id.0 as usize)?.kind)));
            let site = site.filter(|(_, kind)| kind.spawns());
            Callee { site: site.map(|(id, _)| id), joins: site.is_some_and(|(_, kind)| kind == SiteKind::Join) }
        };
        let heights = view == View::Heights;
        // By context, rows are there from the beginning.
        let (rows, keys) = if heights {
            (Vec::new(), Vec::new())
        } else {
            (vec![CallMetrics::ZERO; tree.len()], tree.ids().map(CallKey::Context).collect())
        };
        machine.calls = Calls {
            heights,
            locals: heights,
            contexts: tree.ids().map(callee).collect(),
            rows,
            keys,
            ..Calls::default()
        };
        machine
    }
}

impl<C: Charge> Machine<C> {
    /// An instance begins where the running strand stands; `counted` if the view has it. Returns whether that is a call.
    fn open_call(&mut self, around: ContextId, context: ContextId, counted: bool) -> bool {
        let callee = self.calls.contexts[context.index()];
        if callee.site.is_none() || !counted {
            return false;
        }
        let token = self.tables.get(context).lasting.then(|| self.mark());
        let local = self.calls.locals.then(|| self.paths.local_token());
        self.calls.open.push(Open {
            context,
            caller: self.calls.contexts[around.index()].site,
            token,
            local,
            height: 0,
            own: 0,
            span: self.tail.span,
            work: self.work,
            apart: self.apart,
            round: self.round,
        });
        true
    }

    /// Marks the path with a new token.
    fn mark(&mut self) -> u32 {
        let token = self.paths.token();
        self.paths.mark(&mut self.tail, Stretch { key: token, span: 0, beside: 1, work: 0 });
        token
    }

    /// A region is entered.
    pub(super) fn begin_call(&mut self, around: ContextId, inner: ContextId, outermost: bool) -> bool {
        let counted = self.calls.heights || outermost;
        self.open_call(around, inner, counted)
    }

    /// A task begins.
    pub(super) fn begin_task_call(&mut self, around: ContextId, context: ContextId, outermost: bool) -> bool {
        let role = self.tables.get(context).role;
        matches!(role, Role::Tasks | Role::Pieces) && self.begin_call(around, context, outermost)
    }

    /// A fork that is no region's own: a join that is called by another of the same place.
    pub(super) fn begin_fork_call(&mut self, context: ContextId) -> bool {
        let own = matches!(self.frames.last(), Some(Frame::Region(region)) if region.context == context);
        let counted = self.calls.heights && self.calls.contexts[context.index()].joins && !own;
        self.open_call(context, context, counted)
    }

    pub(super) fn end_fork_call(&mut self) {
        if let Some(open) = self.calls.close() {
            let work = self.work.saturating_sub(open.work).saturating_sub(self.apart.saturating_sub(open.apart));
            self.end_call(&open, work, self.tail.span.saturating_sub(open.span));
        }
    }

    /// `work` is that of what is waited for.
    pub(super) fn end_region_call(&mut self, work: i64, span: i64) {
        if let Some(open) = self.calls.close() {
            let lasting = self.tables.get(open.context).lasting;
            let work = if lasting { self.work.saturating_sub(open.work) } else { work };
            self.end_call(&open, work, span);
        }
    }

    /// The task, whose state is the running one, ends.
    pub(super) fn end_task_call(&mut self) {
        let Some(open) = self.calls.close() else {
            return;
        };
        let mut end = self.tail.span;
        let mut work = self.work.saturating_sub(open.work);
        if self.tables.get(open.context).lasting {
            end = end.max(self.children.late);
        } else {
            work = work.saturating_sub(self.apart.saturating_sub(open.apart));
        }
        self.end_call(&open, work, end.saturating_sub(open.span));
    }

    fn end_call(&mut self, open: &Open, work: i64, span: i64) {
        let row = self.calls.row(open.context, open.caller, open.height, open.own);
        self.end_local(open.local, row);
        let (entered, left) = (open.round, self.round);
        if entered != left && self.innermost_team().is_some() {
            let token = open.token.unwrap_or_else(|| self.mark());
            if let Some(team) = self.innermost_team() {
                team.late_calls.push(LateCall { row, token, work, span, entered, left });
            }
            return;
        }
        match open.token {
            Some(token) => self.count_call(row, token, work, span),
            None => {
                let sums = self.sums(row, work, span);
                self.calls.count(row, work, span);
                self.paths.mark(&mut self.tail, sums);
            }
        }
    }

    fn count_call(&mut self, row: u32, token: u32, work: i64, span: i64) {
        self.calls.count(row, work, span);
        self.paths.make_known(token, self.sums(row, work, span));
    }

    /// What a path is marked with by a call of a row.
    fn sums(&self, row: u32, work: i64, span: i64) -> Stretch {
        Stretch { key: self.key_of(row), span, beside: 1, work }
    }

    /// Of a row. The next key is that of its own strands.
    fn key_of(&self, row: u32) -> u32 {
        let first = u32::try_from(self.tables.contexts.len()).unwrap_or(u32::MAX);
        first.saturating_add(row.saturating_mul(2)) & !(TOKEN | LOCAL)
    }

    /// The row of an instance's own strands is known.
    fn end_local(&mut self, local: Option<u32>, row: u32) {
        if let Some(local) = local {
            self.settle_local();
            let key = self.key_of(row) + 1;
            self.paths.make_key_known(local, key);
        }
    }

    /// The running strand ends, or its path goes elsewhere: what it has of an instance's own strands is noted as long as the
    /// instance is open.
    pub(super) fn settle_local(&mut self) {
        if self.calls.locals {
            self.paths.settle(&mut self.tail);
        }
    }

    /// A member's part ends.
    pub(super) fn end_shared_call(&mut self) -> Option<SharedCall> {
        let open = self.calls.close()?;
        let ordinal = self.shared;
        let token = open.token.unwrap_or_else(|| self.mark());
        let all = self.innermost_team().and_then(|team| team.shares.get(ordinal)?.call);
        let (known, known_local) = (all.map(|call| call.token), all.and_then(|call| call.local));
        if let Some(all) = known {
            self.paths.make_alias(token, all);
        }
        if let (Some(local), Some(all)) = (open.local, known_local) {
            self.settle_local();
            self.paths.make_key_known(local, all);
        }
        let work = self.work.saturating_sub(open.work);
        let Open { context, caller, height, own, .. } = open;
        let local = known_local.or(open.local);
        Some(SharedCall { context, caller, token: known.unwrap_or(token), local, height, work, own })
    }

    /// A team has ended; `starts` tells by how much the rounds begin later, as far as they are known.
    pub(super) fn finish_calls(&mut self, late: &[LateCall], shares: &[Share], starts: &[(i64, i64)]) {
        let start = |round: usize| starts.get(round).or(starts.last()).map_or(0, |(span, _)| *span);
        for call in late {
            let span = call.span.saturating_add(start(call.left).saturating_sub(start(call.entered)));
            self.count_call(call.row, call.token, call.work, span);
        }
        for share in shares {
            if let Some(call) = share.call {
                let row = self.calls.row(call.context, call.caller, call.height, call.own);
                if let Some(local) = call.local {
                    let key = self.key_of(row) + 1;
                    self.paths.make_key_known(local, key);
                }
                self.count_call(row, call.token, call.work, share.span);
            }
        }
    }
}

impl Finished<ByCall> {
    /// The rows that are not empty.
    pub(crate) fn calls(&self) -> Vec<(CallKey, CallMetrics)> {
        let mut rows = self.calls.rows.clone();
        let contexts = self.totals.len();
        for part in &self.path {
            let at = part.key as usize;
            let of_row = at.checked_sub(contexts);
            if let Some(sums) = of_row.and_then(|at| rows.get_mut(at / 2)) {
                if of_row.is_some_and(|at| at % 2 == 1) {
                    sums.local_span += Nanos(part.span);
                    continue;
                }
                sums.calls_on_span += part.beside.unsigned_abs();
                sums.work_on_span += Nanos(part.work);
                sums.span_on_span += Nanos(part.span);
            } else if let Some(sums) = rows.get_mut(at).filter(|_| !self.calls.heights && at < contexts) {
                sums.local_span += Nanos(part.span);
            }
        }
        if !self.calls.heights {
            for (sums, totals) in rows.iter_mut().zip(&self.totals) {
                sums.local_work = totals.self_work;
            }
        }
        let rows = self.calls.keys.iter().copied().zip(rows);
        rows.filter(|(_, sums)| *sums != CallMetrics::ZERO).collect()
    }
}
