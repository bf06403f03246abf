//! What a program amounts to, by the definitions.
//!
//! The program is executed serially, depth first. Every strand's cost goes to the innermost site around it; every
//! construct returns its span and the shares of sites in the longest chain. There are no contexts, no clocks, no frames,
//! no folding: recursion is handled by asking whether a site is already on the stack of active ones (TaskProf 3.4).

use std::collections::BTreeMap;

use crate::program::{Node, ScopeKind};

/// Kinds of sites, named as in reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Serial code of the root.
    Serial,
    /// `join`.
    Join,
    /// A scope of the given flavour.
    Scope(u8),
    /// A task in a scope.
    ScopeSpawn,
    /// A detached task.
    Spawn,
    /// A parallel iterator.
    ParIter,
    /// A parallel bridge.
    ParBridge,
}

/// A site: construct and textual copy.
pub type Site = (Kind, u8);

/// What a site amounts to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SiteAnswer {
    /// Work of outermost instances.
    pub work: u64,
    /// Sum of their spans.
    pub span: u64,
    /// Outermost instances.
    pub instances: u64,
    /// Strands of the site itself.
    pub self_work: u64,
    /// Their share of the critical path.
    pub critical: u64,
    /// Tasks created.
    pub tasks: u64,
    /// What the outermost instances on the critical path amount to.
    pub on_path: Calls,
}

/// Instances of a site on a chain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Calls {
    /// How many.
    pub count: u64,
    /// Their work.
    pub work: u64,
    /// Their spans.
    pub span: u64,
}

/// What a program amounts to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// Sum of all strands.
    pub work: u64,
    /// Longest chain.
    pub span: u64,
    /// By site.
    pub sites: BTreeMap<Site, SiteAnswer>,
}

/// Evaluates a program.
pub fn evaluate(program: &Node) -> Answer {
    let mut oracle = Oracle::default();
    let mut chain = Chain::default();
    let mut scopes = Vec::new();
    // A panic that nobody catches does not occur in generated programs.
    let _ = oracle.run(program, &mut chain, &mut scopes);
    let longest =
        oracle.detached.iter().fold(&chain, |best, other| if other.length > best.length { other } else { best });
    let longest = longest.clone();
    let mut answer = Answer { work: oracle.work, span: longest.length, sites: oracle.sites };
    for (site, ticks) in longest.shares {
        answer.sites.entry(site).or_default().critical = ticks;
    }
    for (site, calls) in longest.calls {
        answer.sites.entry(site).or_default().on_path = calls;
    }
    answer
}

/// The longest chain up to a point: its length and what it consists of.
#[derive(Clone, Debug, Default)]
struct Chain {
    length: u64,
    shares: BTreeMap<Site, u64>,
    calls: BTreeMap<Site, Calls>,
}

impl Chain {
    fn add(&mut self, site: Site, ticks: u64) {
        self.length += ticks;
        if ticks > 0 {
            *self.shares.entry(site).or_default() += ticks;
        }
    }

    /// The longer of two; of equal ones `self`.
    fn join(&mut self, other: Chain) {
        if other.length > self.length {
            *self = other;
        }
    }
}

struct Panicked;

#[derive(Default)]
struct Oracle {
    work: u64,
    /// Of it: in detached tasks.
    apart: u64,
    sites: BTreeMap<Site, SiteAnswer>,
    active: Vec<Site>,
    detached: Vec<Chain>,
}

/// Ends and work of the tasks of an open scope.
type Tasks = Vec<(Chain, u64)>;

impl Oracle {
    fn here(&self) -> Site {
        self.active.last().copied().unwrap_or((Kind::Serial, 0))
    }

    fn site(&mut self, site: Site) -> &mut SiteAnswer {
        self.sites.entry(site).or_default()
    }

    /// Runs `body` as an instance of `site`.
    fn within<R>(&mut self, site: Site, chain: &mut Chain, body: impl FnOnce(&mut Oracle, &mut Chain) -> R) -> R {
        let outermost = !self.active.contains(&site);
        let (work, apart, length) = (self.work, self.apart, chain.length);
        self.active.push(site);
        let result = body(self, chain);
        self.active.pop();
        if outermost {
            let (work, span) = (self.work - work - (self.apart - apart), chain.length - length);
            let answer = self.site(site);
            answer.work += work;
            answer.span += span;
            answer.instances += 1;
            let calls = chain.calls.entry(site).or_default();
            *calls = Calls { count: calls.count + 1, work: calls.work + work, span: calls.span + span };
        }
        result
    }

    fn run(&mut self, node: &Node, chain: &mut Chain, scopes: &mut Vec<Tasks>) -> Result<(), Panicked> {
        match node {
            Node::Work(ticks) => {
                let here = self.here();
                self.work += ticks;
                self.site(here).self_work += ticks;
                chain.add(here, *ticks);
                Ok(())
            }
            Node::Seq(nodes) => nodes.iter().try_for_each(|node| self.run(node, chain, scopes)),
            Node::Join(copy, left, right) => {
                let site = (Kind::Join, *copy);
                self.within(site, chain, |oracle, chain| {
                    oracle.site(site).tasks += 1;
                    let mut other = chain.clone();
                    let first = oracle.run(left, chain, scopes);
                    let second = oracle.run(right, &mut other, scopes);
                    chain.join(other);
                    first.and(second)
                })
            }
            Node::Scope(kind, copy, body) => {
                let flavour = match kind {
                    ScopeKind::Plain => 0,
                    ScopeKind::Fifo => 1,
                    ScopeKind::InPlace => 2,
                };
                self.within((Kind::Scope(flavour), *copy), chain, |oracle, chain| {
                    scopes.push(Tasks::new());
                    let result = oracle.run(body, chain, scopes);
                    for (end, work) in scopes.pop().unwrap_or_default() {
                        chain.join(end);
                        // Waited for here.
                        oracle.apart -= work;
                    }
                    result
                })
            }
            Node::Spawn(copy, body) => {
                let site = (Kind::ScopeSpawn, *copy);
                self.site(site).tasks += 1;
                let mut task = chain.clone();
                let (work, apart) = (self.work, self.apart);
                let result = self.within(site, &mut task, |oracle, task| oracle.run(body, task, scopes));
                // Part of what waits for it: the scope, not what lies between.
                let own = self.work - work - (self.apart - apart);
                self.apart += own;
                if let Some(tasks) = scopes.last_mut() {
                    tasks.push((task, own));
                }
                debug_assert!(result.is_ok());
                Ok(())
            }
            Node::ParIter(copy, items) => {
                let site = (Kind::ParIter, *copy);
                self.within(site, chain, |oracle, chain| {
                    oracle.site(site).tasks += items.len() as u64 - 1;
                    let start = chain.clone();
                    let mut result = Ok(());
                    for (i, item) in items.iter().enumerate() {
                        let mut end = start.clone();
                        let ended = oracle.run(item, &mut end, &mut Vec::new());
                        result = result.and(ended);
                        if i == 0 {
                            *chain = end;
                        } else {
                            chain.join(end);
                        }
                    }
                    result
                })
            }
            Node::ParBridge(copy, items) => {
                let site = (Kind::ParBridge, *copy);
                self.within(site, chain, |oracle, chain| {
                    let mut iterator = chain.clone();
                    for (cost, item) in items {
                        let here = oracle.here();
                        oracle.work += cost;
                        oracle.site(here).self_work += cost;
                        iterator.add(here, *cost);
                        let mut end = iterator.clone();
                        let result = oracle.run(item, &mut end, &mut Vec::new());
                        debug_assert!(result.is_ok());
                        chain.join(end);
                    }
                    chain.join(iterator);
                    Ok(())
                })
            }
            Node::Install(body) => self.run(body, chain, &mut Vec::new()),
            Node::Detach(copy, body) => {
                let site = (Kind::Spawn, *copy);
                self.site(site).tasks += 1;
                let mut task = chain.clone();
                let (work, apart) = (self.work, self.apart);
                let result = self.within(site, &mut task, |oracle, task| oracle.run(body, task, &mut Vec::new()));
                debug_assert!(result.is_ok());
                // Nobody waits for it, so it is no part of what is around it.
                self.apart += self.work - work - (self.apart - apart);
                self.detached.push(task);
                Ok(())
            }
            Node::Yield => Ok(()),
            Node::Panic => Err(Panicked),
            Node::Catch(body) => {
                // Caught, whatever it was.
                let _ = self.run(body, chain, &mut Vec::new());
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn join(left: Node, right: Node) -> Node {
        Node::Join(0, Box::new(left), Box::new(right))
    }

    #[test]
    fn joins_take_the_longer_branch() {
        let program =
            Node::Seq(vec![Node::Work(10), join(Node::Work(3), join(Node::Work(2), Node::Work(5))), Node::Work(1)]);
        let answer = evaluate(&program);
        assert_eq!((answer.work, answer.span), (21, 16));
        let site = answer.sites[&(Kind::Join, 0)];
        assert_eq!((site.work, site.span, site.instances, site.critical, site.tasks), (10, 5, 1, 5, 2));
        assert_eq!(answer.sites[&(Kind::Serial, 0)].critical, 11);
    }

    #[test]
    fn a_bridge_is_a_serial_chain_with_parallel_items() {
        let items = vec![(1, Node::Work(10)), (1, Node::Work(1)), (20, Node::Work(2))];
        let answer = evaluate(&Node::ParBridge(0, items));
        assert_eq!((answer.work, answer.span), (35, 24));
    }
}
