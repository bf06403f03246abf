//! What limits the throughput of a program whose threads live long: the threads that others wait for and that wait for nobody else.
//!
//! The graph of who waited for whom ([`WaitFor`]), with waits redistributed along who was waited for meanwhile, is that of *wPerf* (OSDI
//! 2018). A **knot** is a set of nodes each of which leads to all others of it, and none to a node outside: whoever waits waits for a knot
//! in the end, so that to speed up anything else helps nobody. Weak edges are taken out first: waits that do not matter would tie
//! everything into one knot. Those of a knot of several nodes are taken out until what is left is of one order ([`untie`]).
//!
//! **Cost:** linear in the edges, which are few.

use std::collections::{BTreeMap, BTreeSet};

use workspan_model::wait::unite;
use workspan_model::{Clock, Nanos, Recording, Role, WaitFor};

/// Of the time of the threads that wait: a weaker edge is taken out.
const WEAK_OF_TIME: f64 = 0.1;
/// The same of the strongest edge's weight.
const WEAK_OF_STRONGEST: f64 = 0.2;
/// Of the longest waits between two nodes of a knot ([`on_account`]): shorter ones are taken out.
const WEAK_IN_KNOT: f64 = 0.5;

/// Who waits for whom, and for whom in the end.
#[derive(Clone, Debug, PartialEq)]
pub struct Throughput {
    /// What threads run that waited or were waited for.
    pub nodes: Vec<Node>,
    /// Waits between two of them, by falling weight.
    pub edges: Vec<Edge>,
    /// Knots, by falling weight of the waits for them.
    pub bottlenecks: Vec<Knot>,
}

/// What threads run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node {
    /// What it is.
    pub role: Role,
    /// How many threads have run it.
    pub threads: u64,
    /// Their work.
    pub work: Nanos,
}

/// Waits of one node for another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Edge {
    /// The waits, of all runs.
    pub wait: WaitFor,
    /// How long a thread of the waiting node waited so, or others meanwhile for it, over the time of the run.
    pub share: f64,
    /// The same of its own waits alone.
    pub own_share: f64,
    /// It was left when weak ones were taken out.
    pub strong: bool,
}

/// Nodes that wait for nobody but each other.
#[derive(Clone, Debug, PartialEq)]
pub struct Knot {
    /// Its nodes.
    pub roles: Vec<Role>,
    /// Weight of the waits of others for it.
    pub waited_for: Nanos,
    /// Of its own waits, those for locks, over all.
    pub locked: Option<f64>,
    /// The largest share of their time for which threads waited for it themselves: others, or else its own. That `main` waits for the end
    /// of its threads counts only if nobody else waits.
    pub share: f64,
}

/// Who waits for whom in a recording. `None`: no thread but that of `main` waited for another one for long, or the clock is virtual.
pub fn throughput(recording: &Recording) -> Option<Throughput> {
    let real = recording.runs.iter().filter(|run| run.clock == Clock::Real);
    let wall: Nanos = real.clone().map(|run| run.wall).sum();
    let mut waits: Vec<WaitFor> = real.flat_map(|run| run.waits.iter().copied()).collect();
    unite(&mut waits);
    let roles: BTreeSet<Role> = waits.iter().flat_map(|wait| [wait.waiter, wait.on]).collect();
    let nodes: Vec<Node> = roles.iter().map(|role| node(recording, *role)).collect();
    let threads = |role: Role| nodes.iter().find(|node| node.role == role).map_or(1, |node| node.threads.max(1));
    let mut edges: Vec<Edge> = waits
        .iter()
        .map(|wait| {
            let time = wall.as_f64() * threads(wait.waiter) as f64;
            let of_time = |part: Nanos| if time > 0.0 { part.as_f64() / time } else { 0.0 };
            let share = of_time(weight(wait));
            Edge { wait: *wait, share, own_share: of_time(wait.waited), strong: share >= WEAK_OF_TIME }
        })
        .collect();
    edges.sort_by(|a, b| b.share.total_cmp(&a.share));
    let strongest =
        edges.iter().filter(|edge| edge.wait.on != Role::Outside).map(|edge| edge.share).fold(0.0, f64::max);
    for edge in &mut edges {
        edge.strong &= edge.share >= WEAK_OF_STRONGEST * strongest;
    }
    // That `main` waits for the end of its threads is no news.
    let shows = |edge: &Edge| edge.strong && edge.wait.on != Role::Outside && edge.wait.waiter != Role::Main;
    if !edges.iter().any(shows) {
        return None;
    }
    while untie(&mut edges, &nodes) {}
    let bottlenecks = knots(&edges);
    Some(Throughput { nodes, edges, bottlenecks })
}

/// Waits, and as many more as others waited meanwhile.
fn weight(wait: &WaitFor) -> Nanos {
    wait.waited + wait.passed_on
}

fn node(recording: &Recording, role: Role) -> Node {
    let runs = recording.runs.len().max(1) as u64;
    let Role::Threads(site) = role else { return Node { role, threads: 1, work: Nanos::ZERO } };
    let of_site =
        recording.contexts.ids().filter(|id| recording.contexts.get(*id).is_some_and(|c| c.site == Some(site)));
    let (mut threads, mut work) = (0, Nanos::ZERO);
    for totals in of_site.flat_map(|id| recording.runs.iter().filter_map(move |run| run.totals.get(id.index()))) {
        threads += totals.instances;
        work += totals.work;
    }
    Node { role, threads: (threads / runs).max(1), work }
}

/// Takes waits between two nodes of a knot out that are much shorter than the longest there: all of them, as one alone might leave a way out
/// of the knot by another. True: some were.
fn untie(edges: &mut [Edge], nodes: &[Node]) -> bool {
    let accounts: Vec<Nanos> = edges.iter().map(|edge| on_account(edge, edges, nodes)).collect();
    let mut untied = false;
    for knot in knots(edges) {
        let within = |edge: &Edge| {
            let inside = |role: &Role| knot.roles.contains(role);
            edge.strong && edge.wait.waiter != edge.wait.on && inside(&edge.wait.waiter) && inside(&edge.wait.on)
        };
        let inner: Vec<usize> = (0..edges.len()).filter(|at| within(&edges[*at])).collect();
        let strongest = inner.iter().map(|at| accounts[*at]).max().unwrap_or(Nanos::ZERO);
        for at in inner {
            if accounts[at].as_f64() < WEAK_IN_KNOT * strongest.as_f64() {
                edges[at].strong = false;
                untied = true;
            }
        }
    }
    untied
}

/// How long threads waited on account of whom they waited for: no longer than that was at work or waited for the outside world. The rest it
/// waited itself, which its own edges say, or had no processor. What is passed on in a circle comes round again, and does not count.
fn on_account(edge: &Edge, edges: &[Edge], nodes: &[Node]) -> Nanos {
    let WaitFor { waiter, on, waited, .. } = edge.wait;
    let node = |role: Role| nodes.iter().find(|node| node.role == role);
    // What is not known is no bound.
    let Some(work) = node(on).map(|node| node.work).filter(|work| *work > Nanos::ZERO) else { return waited };
    let outside = edges.iter().filter(|other| other.wait.waiter == on && other.wait.on == Role::Outside);
    let busy = work + outside.map(|other| other.wait.waited).sum();
    let waiters = node(waiter).map_or(1, |node| node.threads.max(1));
    waited.min(Nanos(busy.0.saturating_mul(i64::try_from(waiters).unwrap_or(i64::MAX))))
}

/// Strongly connected parts of the strong edges that no strong edge leaves, and that somebody waits for.
fn knots(edges: &[Edge]) -> Vec<Knot> {
    let strong: Vec<(Role, Role)> =
        edges.iter().filter(|edge| edge.strong).map(|edge| (edge.wait.waiter, edge.wait.on)).collect();
    let nodes: BTreeSet<Role> = strong.iter().flat_map(|(from, to)| [*from, *to]).collect();
    let reach: BTreeMap<Role, BTreeSet<Role>> = nodes.iter().map(|node| (*node, reached(*node, &strong))).collect();
    let mut knots: Vec<Knot> = Vec::new();
    for node in &nodes {
        let group = &reach[node];
        // Whoever is reached from it leads back to it; and of such nodes each is in one group only.
        if group.iter().all(|other| reach[other].contains(node)) && group.first() == Some(node) {
            knots.push(knot(group, edges));
        }
    }
    knots.sort_by(|a, b| b.waited_for.cmp(&a.waited_for).then_with(|| a.roles.cmp(&b.roles)));
    knots
}

/// All that is reached from `node`, itself among them.
fn reached(node: Role, edges: &[(Role, Role)]) -> BTreeSet<Role> {
    let mut found = BTreeSet::from([node]);
    let mut open = vec![node];
    while let Some(next) = open.pop() {
        for (_, to) in edges.iter().filter(|(from, _)| *from == next) {
            if found.insert(*to) {
                open.push(*to);
            }
        }
    }
    found
}

fn knot(group: &BTreeSet<Role>, edges: &[Edge]) -> Knot {
    let leads_in = |edge: &&Edge| edge.strong && group.contains(&edge.wait.on);
    let outside = |edge: &&Edge| !group.contains(&edge.wait.waiter);
    let waited_for = edges.iter().filter(leads_in).filter(outside).map(|edge| weight(&edge.wait)).sum();
    let within = || edges.iter().filter(|edge| edge.strong && !outside(edge));
    let [all, locked] = [|wait: &WaitFor| wait.waited, |wait: &WaitFor| wait.locked]
        .map(|part| within().map(|edge| part(&edge.wait)).sum::<Nanos>().as_f64());
    Knot {
        roles: group.iter().copied().collect(),
        waited_for,
        locked: (all > 0.0).then(|| locked / all),
        share: {
            let largest = |which: &dyn Fn(&Edge) -> bool| {
                let of_these = edges.iter().filter(leads_in).filter(|edge| which(edge)).map(|edge| edge.own_share);
                of_these.reduce(f64::max)
            };
            let others = largest(&|edge| outside(&edge) && edge.wait.waiter != Role::Main);
            others
                .or_else(|| largest(&|edge| edge.wait.waiter != Role::Main))
                .or_else(|| largest(&|_| true))
                .unwrap_or(0.0)
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use workspan_model::{ContextId, ContextTree, Run, SiteId, Totals};

    fn threads(number: u32) -> Role {
        Role::Threads(SiteId(number))
    }

    /// Bottlenecks of a run of 1000 ns with these waits: who, for whom, how long, how long passed on.
    #[track_caller]
    fn check(waits: &[(Role, Role, i64, i64)], expected: &[&[Role]]) {
        check_working(&[], waits, expected);
    }

    /// The same if threads 0, 1, … are at work for so long.
    #[track_caller]
    fn check_working(works: &[i64], waits: &[(Role, Role, i64, i64)], expected: &[&[Role]]) {
        let mut contexts = ContextTree::default();
        for site in (0..).take(works.len()) {
            contexts.intern(ContextId::ROOT, SiteId(site)).expect("the root is there");
        }
        let totals =
            [0].iter().chain(works).map(|work| Totals { instances: 1, work: Nanos(*work), ..Totals::default() });
        let waits = waits.iter().map(|(waiter, on, waited, passed_on)| WaitFor {
            waiter: *waiter,
            on: *on,
            count: 1,
            waited: Nanos(*waited),
            locked: Nanos::ZERO,
            passed_on: Nanos(*passed_on),
        });
        let run = Run { wall: Nanos(1_000), waits: waits.collect(), totals: totals.collect(), ..Run::default() };
        let found = throughput(&Recording { contexts, runs: vec![run], ..Recording::default() });
        let knots: Vec<Vec<Role>> = found.into_iter().flat_map(|t| t.bottlenecks).map(|knot| knot.roles).collect();
        assert_eq!(knots, expected);
    }

    /// Measured, of a chain in which `back` works for 8 of 9 parts: threads that have no processor let others wait as those that work do.
    #[test]
    fn waits_for_threads_without_a_processor() {
        let [front, middle, back] = [0, 1, 2].map(threads);
        for [to_back, from_back, to_middle, to_front] in
            [[409, 123, 468, 87], [319, 186, 448, 148], [493, 421, 603, 124], [253, 174, 402, 167]]
        {
            let waits = [
                (middle, back, to_back, 900),
                (back, middle, from_back, 800),
                (front, middle, to_middle, 700),
                (middle, front, to_front, 700),
            ];
            check_working(&[21, 1, 165], &waits, &[&[back]]);
        }
        // Who does not work waits for the outside world.
        let waits = [(front, back, 500, 0), (back, front, 400, 0), (back, Role::Outside, 450, 0)];
        check_working(&[20, 1, 1], &waits, &[&[Role::Outside]]);
    }

    #[test]
    fn knots_of_small_graphs() {
        let [a, b, c, d] = [0, 1, 2, 3].map(threads);
        // A pipeline: its slow stage is in the middle.
        check(&[(a, b, 700, 0), (c, b, 800, 0), (b, a, 50, 0), (b, c, 20, 0)], &[&[b]]);
        // A chain.
        check(&[(a, b, 700, 0), (b, c, 600, 600)], &[&[c]]);
        // Two that wait for each other, and one for them.
        check(&[(a, b, 300, 0), (b, c, 400, 300), (c, b, 300, 0)], &[&[b, c]]);
        // The same, and one of them waits for hardly anybody.
        check(&[(a, b, 900, 0), (b, c, 300, 100), (c, b, 900, 0)], &[&[b]]);
        // Two knots, the one with more waits first.
        check(&[(a, b, 200, 0), (c, d, 500, 0)], &[&[d], &[b]]);
        // The outside world.
        check(&[(a, b, 500, 0), (b, Role::Outside, 600, 500)], &[&[Role::Outside]]);
        // One that waits for its like.
        check(&[(a, a, 500, 0), (b, a, 300, 0)], &[&[a]]);
        // Nobody waits for long, or for nobody but the outside world.
        check(&[(a, b, 50, 0)], &[]);
        check(&[(a, Role::Outside, 900, 0)], &[]);
        check(&[(Role::Main, a, 900, 0)], &[]);
    }
}
