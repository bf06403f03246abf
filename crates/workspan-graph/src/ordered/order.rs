//! Which moment of a context comes before which of another, for any number of contexts.
//!
//! A context's moments are numbered; the number rises where others may learn of what came before. Contexts form a tree by
//! creation, and what has ended points to the moment of the context that joined it. Moment k of e comes before moment n of c
//! if, going from e up to whoever joined it and so on, one comes to c or to one that c descends from, early enough. That
//! decides programs of tasks without a clock for each. What locks, conditions, barriers and atomics order besides is kept in
//! a set of moments that a context has learnt of, which its tasks inherit.
//!
//! **Memory:** a constant for each context, and the sets, which contexts share until they learn more. **Cost** of a
//! question: the depth of joins times the logarithm of the depth of creation, for each moment learnt of; answers are kept.

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

/// Moments by context.
pub type Learnt = Rc<BTreeMap<u32, u32>>;

/// Sets larger than this lose what is known without them.
const MANY: usize = 64;

#[derive(Clone, Debug, Default)]
struct Context {
    now: u32,
    /// Who created it, and when.
    creator: Option<(u32, u32)>,
    depth: u32,
    /// An ancestor some steps up.
    jump: u32,
    /// Who joined it, and when.
    joined: Option<(u32, u32)>,
    learnt: Learnt,
    /// Answers: of each context the latest moment that comes before any from here on, and the latest that was found not to,
    /// with the number of changes then.
    before: HashMap<u32, u32>,
    not_before: HashMap<u32, (u32, u32)>,
    changes: u32,
    prune_at: usize,
}

/// All contexts.
#[derive(Clone, Debug, Default)]
pub struct Order {
    contexts: HashMap<u32, Context>,
}

impl Order {
    fn get(&mut self, number: u32) -> &mut Context {
        // Without a creator, each is a tree by itself.
        let new = || Context { now: 1, prune_at: MANY, jump: number, ..Context::default() };
        self.contexts.entry(number).or_insert_with(new)
    }

    /// The moment that a context is at.
    pub fn now(&mut self, context: u32) -> u32 {
        self.get(context).now
    }

    /// The moment that a context is at, and how often it has learnt of others. As long as both are the same, the same comes before
    /// what it does.
    pub fn state(&mut self, context: u32) -> (u32, u32) {
        let it = self.get(context);
        (it.now, it.changes)
    }

    /// A context creates another.
    pub fn create(&mut self, creator: u32, created: u32) {
        let (now, learnt, depth, jump) = {
            let it = self.get(creator);
            let found = (it.now, Rc::clone(&it.learnt), it.depth, it.jump);
            it.now += 1;
            found
        };
        let (jump_depth, second) = {
            let it = self.get(jump);
            (it.depth, it.jump)
        };
        let second_depth = self.get(second).depth;
        let it = self.get(created);
        if it.creator.is_some() || created == creator {
            return;
        }
        (it.creator, it.depth, it.learnt) = (Some((creator, now)), depth + 1, learnt);
        it.jump =
            if u64::from(depth) + u64::from(second_depth) == 2 * u64::from(jump_depth) { second } else { creator };
    }

    /// Whatever a context did and learnt comes before what another does from here on. It has ended.
    pub fn join(&mut self, context: u32, ended: u32) {
        if context == ended {
            return;
        }
        let now = self.now(context);
        let last = self.now(ended);
        let learnt = Rc::clone(&self.get(ended).learnt);
        let is_first = self.get(ended).joined.is_none() && !self.joins_lead(context, ended);
        if is_first {
            self.get(ended).joined = Some((context, now));
        }
        self.learn(context, &learnt);
        if !is_first {
            self.learn(context, &Rc::new(BTreeMap::from([(ended, last)])));
        }
        // Who joins need not descend from who created.
        let creator = self.get(ended).creator;
        if let Some(creator) = creator.filter(|creator| !self.is_known(*creator, (context, now))) {
            self.learn(context, &Rc::new(BTreeMap::from([creator])));
        }
        self.get(context).changes += 1;
    }

    /// True if whoever joined a context, and so on, is another: contexts that join each other are damage.
    fn joins_lead(&mut self, context: u32, to: u32) -> bool {
        let mut at = context;
        while let Some((next, _)) = self.get(at).joined {
            if next == to {
                return true;
            }
            at = next;
        }
        false
    }

    /// What others learn of who learns of this moment; the next one begins.
    pub fn release(&mut self, context: u32) -> Learnt {
        let it = self.get(context);
        let mut learnt = Rc::clone(&it.learnt);
        Rc::make_mut(&mut learnt).insert(context, it.now);
        it.now += 1;
        learnt
    }

    /// A context learns of moments.
    pub fn learn(&mut self, context: u32, learnt: &Learnt) {
        let it = self.get(context);
        if Rc::ptr_eq(&it.learnt, learnt) {
            return;
        }
        let news: Vec<(u32, u32)> = learnt
            .iter()
            .filter(|(other, when)| **other != context && it.learnt.get(other).is_none_or(|known| known < when))
            .map(|(other, when)| (*other, *when))
            .collect();
        if news.is_empty() {
            return;
        }
        Rc::make_mut(&mut it.learnt).extend(news);
        it.changes += 1;
        if it.learnt.len() > it.prune_at {
            self.prune(context);
        }
    }

    fn prune(&mut self, context: u32) {
        let now = self.now(context);
        let learnt = std::mem::take(&mut self.get(context).learnt);
        let kept: BTreeMap<u32, u32> = learnt
            .iter()
            .filter(|(other, when)| !self.is_known((**other, **when), (context, now)))
            .map(|(other, when)| (*other, *when))
            .collect();
        let it = self.get(context);
        it.prune_at = (kept.len() * 2).max(MANY);
        it.learnt = Rc::new(kept);
    }

    /// True if a moment of a context comes before what another does now.
    pub fn is_before(&mut self, earlier: u32, moment: u32, context: u32) -> bool {
        if earlier == context {
            return true;
        }
        let it = self.get(context);
        if it.before.get(&earlier).is_some_and(|known| *known >= moment) {
            return true;
        }
        let (now, changes) = (it.now, it.changes);
        if it.not_before.get(&earlier).is_some_and(|(least, when)| *least <= moment && *when == changes) {
            return false;
        }
        let learnt = Rc::clone(&it.learnt);
        let found = learnt.get(&earlier).is_some_and(|known| *known >= moment)
            || self.descends((earlier, moment), (context, now))
            || learnt.iter().any(|(other, when)| self.descends((earlier, moment), (*other, *when)));
        let it = self.get(context);
        if found {
            it.before.insert(earlier, moment);
        } else {
            it.not_before.insert(earlier, (moment, changes));
        }
        found
    }

    /// True if a moment, and all that comes before it by creation, comes before `later` even if nobody has learnt of it.
    fn is_known(&mut self, earlier: (u32, u32), later: (u32, u32)) -> bool {
        self.leaves(earlier.0, later).is_some_and(|moment| earlier.1 <= moment)
            || self.get(earlier.0).joined.is_some_and(|joined| joined.0 == later.0)
    }

    /// By joins and creations alone.
    fn descends(&mut self, earlier: (u32, u32), later: (u32, u32)) -> bool {
        let mut at = earlier;
        loop {
            if self.leaves(at.0, later).is_some_and(|moment| at.1 <= moment) {
                return true;
            }
            let Some(joined) = self.get(at.0).joined else {
                return false;
            };
            at = joined;
        }
    }

    /// The last moment of an ancestor that `later` comes after by creation; that of the context itself.
    fn leaves(&mut self, ancestor: u32, later: (u32, u32)) -> Option<u32> {
        let (mut context, moment) = later;
        if context == ancestor {
            return Some(moment);
        }
        let depth = self.get(ancestor).depth;
        while self.get(context).depth > depth + 1 {
            let it = self.get(context);
            let (from, jump, creator) = (it.depth, it.jump, it.creator?);
            let of_jump = self.get(jump).depth;
            context = if (depth + 1..from).contains(&of_jump) { jump } else { creator.0 };
            if self.get(context).depth >= from {
                // Two contexts that created each other: a damaged recording.
                return None;
            }
        }
        self.get(context).creator.filter(|creator| creator.0 == ancestor).map(|creator| creator.1)
    }
}
