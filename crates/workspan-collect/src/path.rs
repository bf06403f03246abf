//! Critical paths: for every strand, how much of its absolute span was spent in which context.
//!
//! A path is a chain of [`PathNode`]s, newest first; each holds a few (context, ticks) entries. A strand carries a
//! *handle* to its newest node plus `path_since`, the absolute span up to which the chain accounts; the rest belongs
//! to the strand's current context and is added ([`extend`]) when the context changes. So a fork or join within one
//! region touches no node at all.
//!
//! Calls go the same way: where an outermost instance of a context ends, its work is added to the path of the strand that
//! ends it ([`called`]). Of the whole chain at the end, the entries are what lies on the critical path: Cilkprof's
//! span-on-span and work-on-span (ch. 2, 3.3), with this chain in the place of its sparse arrays. An instance of OpenMP is
//! on the path where it begins; if its sums are not known when that is passed on, the entry is that of a call which is
//! awaited ([`super::calls`]), and becomes its context's when the chain is folded.
//!
//! **Ownership.** A handle either *owns* a reference ([`OWNED`] set) or borrows one that a suspended ancestor holds. A
//! node counts its holders: owning handles, and nodes that follow it. A strand may add to the node in place only if it
//! owns it and is the only holder; otherwise it makes a new node. When two branches join, the longer one's chain is
//! kept and the other's released ([`merge`]), which frees the nodes that only it held.
//!
//! **Bound.** A chain that has grown by [`FOLD_AFTER`] nodes, or to twice what was left of it, is folded: cut at the nodes that
//! somebody else holds, too, each piece into as few nodes as it has contexts. What is behind such a node is seen by way of it
//! alone, so that entries may move there; only one thread at a time may do that ([`Header::folding`](workspan_wire::shm::Header)),
//! and whoever finds another at it leaves it for later. So the nodes alive are at most `2 × paths × (FOLD_AFTER + contexts)`,
//! and there are at most two paths per active task. Folding costs each node a constant number of steps, amortised.

use super::calls::{self, CallId};
use super::free::Free;
use super::origin::Origin;
use super::shared::Shared;
use super::spare;
use super::strand;
use super::tables::ContextId;
use workspan_wire::shm::{PathNode, Thread, AWAITED, CALL_WANTED, MAX_NODES, NODE, NODE_ENTRIES, OWNED, PREFIXED};
use workspan_wire::sync::{AtomicU32, Ordering};

/// Chains that grow by this much are folded.
pub const FOLD_AFTER: u32 = 48;

/// A position in the table of nodes; 0 for none.
type NodeId = u32;

/// A path that has ended: its end, its handle, and the absolute span up to which the handle accounts.
#[derive(Clone, Copy, Debug)]
pub struct Tail {
    /// Absolute span at its end.
    pub span: i64,
    /// Handle.
    pub path: u32,
    /// Accounted up to here.
    pub since: i64,
}

/// Starts the path of a task. What its parent had not yet added when it forked becomes the task's *prefix*; a task
/// that neither changes context nor ends as the longest never adds it, and so needs no node.
pub fn start(thread: &Thread, origin: &Origin) {
    let prefix = origin.span - origin.path_since;
    if origin.forked_in == origin.context || prefix == 0 {
        strand::set_tail(thread, origin.path, origin.path_since);
    } else {
        strand::set_tail(thread, origin.path | PREFIXED, origin.span);
        thread.task.prefix.set(prefix);
        thread.task.prefix_context.set(origin.forked_in);
    }
}

/// Adds the prefix, if there is one, and marks the path with the running task's call, if that is wanted.
#[inline(always)]
pub fn settle(thread: &Thread) {
    if strand::path(thread) & PREFIXED != 0 {
        settle_prefix(thread);
    }
}

#[cold]
fn settle_prefix(thread: &Thread) {
    let shared = Shared::of(thread);
    let mut path = strand::path(thread) & !PREFIXED;
    if thread.task.prefix.get() != 0 {
        path = add(shared, path, thread.task.prefix_context.get(), thread.task.prefix.get());
    }
    if thread.task.call.get() == CALL_WANTED {
        let call = calls::begin(shared, strand::context(thread), 0, 1);
        thread.task.call.set(call);
        path = mark(shared, path, call);
    }
    strand::set_path(thread, path);
}

/// Charges the strand's span since the last change to `context`.
pub fn extend(shared: Shared, thread: &Thread, span: i64, context: ContextId) {
    settle(thread);
    let position = thread.task.position.get();
    let ticks = span - position.since;
    let path = if ticks == 0 { position.path } else { add(shared, position.path, context, ticks) };
    strand::set_tail(thread, path, span);
}

/// The strand ends an outermost instance of `context`; its own path accounts for it already.
pub fn called(shared: Shared, thread: &Thread, context: ContextId, work: i64, span: i64) {
    strand::set_path(thread, add_call(shared, strand::path(thread), context, 0, work, span));
}

/// `path` plus `ticks` in `context`, and plus the end of an outermost instance of it; the handle passed in is used up.
pub fn add_call(shared: Shared, path: u32, context: ContextId, ticks: i64, work: i64, span: i64) -> u32 {
    add_part(shared, path, context, Part { ticks, work, span, calls: 1 })
}

/// `path` plus the begin of `call`, which is awaited; the handle passed in is used up.
pub fn mark(shared: Shared, path: u32, call: CallId) -> u32 {
    if call == 0 {
        return path;
    }
    calls::hold(shared, call);
    let part = Part { ticks: 0, work: 0, span: 0, calls: call };
    try_add(shared, path, AWAITED, part).unwrap_or_else(|| {
        calls::release(shared, call);
        path
    })
}

/// `path` plus `ticks` in `context`; the handle passed in is used up.
pub fn add(shared: Shared, path: u32, context: ContextId, ticks: i64) -> u32 {
    add_part(shared, path, context, Part { ticks, work: 0, span: 0, calls: 0 })
}

/// What a context has on a path.
#[derive(Clone, Copy)]
struct Part {
    ticks: i64,
    /// Of outermost instances that end on the path: their work, their spans, and how many they are.
    work: i64,
    span: i64,
    calls: u32,
}

impl Part {
    fn of(node: &PathNode, entry: usize) -> Part {
        Part {
            ticks: node.ticks[entry].get(),
            work: node.work[entry].get(),
            span: node.span[entry].get(),
            calls: node.calls[entry].get(),
        }
    }

    fn put(self, node: &PathNode, entry: usize) {
        node.ticks[entry].set(self.ticks);
        node.work[entry].set(self.work);
        node.span[entry].set(self.span);
        node.calls[entry].set(self.calls);
    }

    fn add_to(self, node: &PathNode, entry: usize) {
        let now = Part::of(node, entry);
        Part {
            ticks: now.ticks + self.ticks,
            work: now.work + self.work,
            span: now.span + self.span,
            calls: now.calls.saturating_add(self.calls),
        }
        .put(node, entry);
    }
}

fn add_part(shared: Shared, path: u32, context: ContextId, part: Part) -> u32 {
    try_add(shared, path, context, part).unwrap_or(path)
}

/// `None`: there is no node left.
fn try_add(shared: Shared, path: u32, context: ContextId, part: Part) -> Option<u32> {
    let id = path & NODE;
    if path & OWNED != 0 && id != 0 {
        let node = shared.node(id);
        let alone = node.holders.load(Ordering::Acquire) == 1;
        if alone && (add_entry(node, context, part) || (resolve(shared, node) && add_entry(node, context, part))) {
            fold_if_long(shared, id);
            return Some(path);
        }
    }
    let new = allocate(shared)?;
    let node = shared.node(new);
    part.put(node, 0);
    node.contexts[0].set(context);
    node.len.set(1);
    node.holders.store(1, Ordering::Relaxed);
    node.parent.store(id, Ordering::Relaxed);
    if id != 0 {
        let parent = shared.node(id);
        node.length.set(parent.length.get() + 1);
        node.fold_at.set(parent.fold_at.get());
        if path & OWNED == 0 {
            parent.holders.fetch_add(1, Ordering::Relaxed);
        }
    } else {
        node.length.set(1);
        node.fold_at.set(FOLD_AFTER);
    }
    fold_if_long(shared, new);
    Some(new | OWNED)
}

/// Keeps the longer of two branches that started from `from`; of equal ones the first. The handle `from`, which the
/// branches borrowed, is used up, as are those of both branches.
pub fn merge(shared: Shared, from: u32, from_since: i64, first: Tail, second: Tail) -> Tail {
    let (longer, shorter) = if second.span > first.span { (second, first) } else { (first, second) };
    release(shared, shorter.path);
    if longer.path & OWNED != 0 {
        release(shared, from);
        // The fork's own handle was in the way of folding until now.
        fold_if_long(shared, longer.path & NODE);
        longer
    } else {
        debug_assert_eq!(longer.path & NODE, from & NODE);
        Tail { span: longer.span, path: from, since: from_since }
    }
}

/// A handle of its own for what `path` names.
pub fn own(shared: Shared, path: u32) -> u32 {
    let id = path & NODE;
    if id == 0 {
        return 0;
    }
    shared.node(id).holders.fetch_add(1, Ordering::Relaxed);
    id | OWNED
}

/// Gives a handle up.
pub fn release(shared: Shared, path: u32) {
    let mut path = path;
    while path & OWNED != 0 && path & NODE != 0 {
        let id = path & NODE;
        let node = shared.node(id);
        if node.holders.fetch_sub(1, Ordering::Release) != 1 {
            return;
        }
        // As a fence would, which ThreadSanitizer does not know: behind all subtractions before this one.
        node.holders.load(Ordering::Acquire);
        path = node.parent.load(Ordering::Relaxed) | OWNED;
        free(shared, id);
    }
}

/// Gives up those that are handles.
#[inline(never)]
pub fn release_all<const COUNT: usize>(shared: Shared, paths: [u32; COUNT]) {
    paths.iter().for_each(|path| release(shared, *path));
}

fn add_entry(node: &PathNode, context: ContextId, part: Part) -> bool {
    let len = node.len.get() as usize;
    for i in 0..len {
        if node.contexts[i].get() == context && context != AWAITED {
            part.add_to(node, i);
            return true;
        }
    }
    if len == NODE_ENTRIES {
        return false;
    }
    node.contexts[len].set(context);
    part.put(node, len);
    node.len.set(len as u32 + 1);
    true
}

/// Calls of `node`, which the caller alone holds, that are known by now become their contexts'. True if there were any.
fn resolve(shared: Shared, node: &PathNode) -> bool {
    let mut any = false;
    for at in 0..node.len.get() as usize {
        let context = node.contexts[at].get();
        let (known, part) = resolved(shared, context, Part::of(node, at));
        if known != context {
            node.contexts[at].set(known);
            part.put(node, at);
            any = true;
        }
    }
    if any {
        let len = node.len.replace(0) as usize;
        for at in 0..len {
            add_entry(node, node.contexts[at].get(), Part::of(node, at));
        }
    }
    any
}

/// An entry; if it is a call that is known by now, that of its context.
fn resolved(shared: Shared, context: ContextId, part: Part) -> (ContextId, Part) {
    if context != AWAITED {
        return (context, part);
    }
    match calls::known(shared, part.calls) {
        Some(sums) => {
            calls::release(shared, part.calls);
            (sums.context, Part { ticks: 0, work: sums.work, span: sums.span, calls: 1 })
        }
        None => (context, part),
    }
}

fn fold_if_long(shared: Shared, newest: NodeId) {
    let node = shared.node(newest);
    if node.length.get() >= node.fold_at.get() && node.holders.load(Ordering::Acquire) == 1 {
        fold(shared, newest);
    }
}

/// Folds the chain that ends with `newest`, which the caller alone holds.
#[cold]
fn fold(shared: Shared, newest: NodeId) {
    let node = shared.node(newest);
    let (mut kept, mut next) = fold_piece(shared, newest);
    if next != 0 {
        let folding = &shared.header().folding;
        if folding.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).is_err() {
            node.fold_at.set(node.length.get() + FOLD_AFTER);
            return;
        }
        while next != 0 {
            let at = shared.node(next);
            if at.holders.load(Ordering::Acquire) == 1 {
                let (nodes, behind) = fold_piece(shared, next);
                kept += nodes;
                next = behind;
            } else {
                kept += 1;
                next = at.parent.load(Ordering::Relaxed);
            }
        }
        folding.store(0, Ordering::Release);
    }
    node.length.set(kept);
    node.fold_at.set(kept + kept.max(FOLD_AFTER));
}

/// Folds a piece of a chain: `newest`, which is seen by way of one holder alone, and what is behind it as far as the same holds:
/// entries move into the newest nodes, and the emptied ones are freed. Returns how many are left, and what is behind them.
fn fold_piece(shared: Shared, newest: NodeId) -> (u32, NodeId) {
    // `into` is the node that takes entries; everything between `newest` and `into` is full and kept.
    let mut into = newest;
    let mut kept = 1;
    resolve(shared, shared.node(newest));
    loop {
        let next = shared.node(into).parent.load(Ordering::Relaxed);
        if next == 0 || shared.node(next).holders.load(Ordering::Acquire) != 1 {
            return (kept, next);
        }
        let source = shared.node(next);
        let mut left = 0;
        for i in 0..source.len.get() as usize {
            let (context, part) = resolved(shared, source.contexts[i].get(), Part::of(source, i));
            if !add_to_kept(shared, newest, into, context, part) {
                source.contexts[left].set(context);
                part.put(source, left);
                left += 1;
            }
        }
        source.len.set(left as u32);
        if left == 0 {
            let behind = source.parent.load(Ordering::Relaxed);
            shared.node(into).parent.store(behind, Ordering::Relaxed);
            free(shared, next);
        } else {
            into = next;
            kept += 1;
        }
    }
}

/// Adds to one of the nodes from `newest` to `last`, a piece that the caller may change.
fn add_to_kept(shared: Shared, newest: NodeId, last: NodeId, context: ContextId, part: Part) -> bool {
    let mut at = newest;
    loop {
        let node = shared.node(at);
        for i in 0..node.len.get() as usize {
            if node.contexts[i].get() == context && context != AWAITED {
                part.add_to(node, i);
                return true;
            }
        }
        if at == last {
            return add_entry(node, context, part);
        }
        at = node.parent.load(Ordering::Relaxed);
    }
}

fn allocate(shared: Shared) -> Option<NodeId> {
    let taken = nodes(shared).take();
    if taken.is_none() {
        shared.header().dropped_nodes.fetch_add(1, Ordering::Relaxed);
    }
    taken
}

fn free(shared: Shared, id: NodeId) {
    let node = shared.node(id);
    for i in 0..node.len.get() as usize {
        if node.contexts[i].get() == AWAITED {
            calls::release(shared, node.calls[i].get());
        }
    }
    nodes(shared).give(id);
}

fn nodes(shared: Shared) -> Free<'static, impl Fn(u32) -> &'static AtomicU32> {
    let header = shared.header();
    let next = move |id| &shared.node(id).parent;
    Free { head: &header.free_nodes, used: &header.nodes, count: MAX_NODES, next, stash: spare::nodes(shared) }
}
