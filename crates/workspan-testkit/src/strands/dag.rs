//! What rows amount to, by the definitions: an explicit graph of all strands, and its longest path.
//!
//! The rows are parsed by recursive descent. Every strand is a node, every join, wait and barrier another that costs nothing;
//! an edge says what must be over before. Nodes are visited in topological order (Kahn). Nothing is composed, shared, folded or
//! bounded. Of paths of equal length the first in serial order counts. Well-nested rows only.
//!
//! Instances: the work of an instance is that of the strands within it, and within all tasks that are waited for within it.
//! So every instance has one that it is part of: the one around it or, for a task, the one around its group.

mod solve;
mod spot;

use std::collections::BTreeMap;

use workspan_model::{ContextId, Creation, Event, Recording, SiteKind, Strand};

pub use spot::{Place, Spot};

/// What a context amounts to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sums {
    /// Cost of its strands.
    pub self_work: i64,
    /// Time they were blocked.
    pub blocked: i64,
    /// What they add to the critical path.
    pub critical: i64,
    /// Outermost instances: number, work, span, span with uniform loops.
    pub instances: (u64, i64, i64, i64),
    /// Instances of any nesting.
    pub entries: u64,
    /// Sizes of its tasks, ascending.
    pub tasks: Vec<i64>,
    /// Of them, items.
    pub items: u64,
    /// Cost of creating them.
    pub overhead: i64,
}

/// What rows amount to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Evaluated {
    /// Cost of all strands.
    pub work: i64,
    /// Longest path.
    pub span: i64,
    /// The same with uniform loops.
    pub uniform: i64,
    /// Per context.
    pub contexts: Vec<Sums>,
    /// Per row: where its strand is.
    pub places: Vec<Place>,
    /// Rows on the critical path.
    pub path: Vec<usize>,
    /// Instances of sites, in no order.
    pub calls: Vec<Call>,
}

/// An instance of a site.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Call {
    /// Its context.
    pub context: ContextId,
    /// The one from which it is entered or created.
    pub around: ContextId,
    /// No instance of the same site is around it.
    pub outermost: bool,
    /// Instances nested below it, at most.
    pub height: u32,
    /// Its work.
    pub work: i64,
    /// Work of strands that are in no instance below.
    pub own: i64,
    /// What they add to the critical path.
    pub own_on_path: i64,
    /// Its span.
    pub span: i64,
    /// It is on the critical path: one of OpenMP if it begins there, another one if it ends there.
    pub on_path: bool,
}

/// Evaluates well-nested rows.
pub fn evaluate(recording: &Recording, rows: &[Strand]) -> Evaluated {
    evaluate_burdened(recording, rows, 0)
}

/// The same if each branch but a fork's first, each task, and each member of a team of more than one began so much later, and
/// were waited for so much longer.
pub fn evaluate_burdened(recording: &Recording, rows: &[Strand], burden: i64) -> Evaluated {
    let mut graph = Graph { burden, ..Graph::new(recording, rows) };
    let end = graph.run();
    graph.solve(end)
}

/// A node of the graph, and what must be over before it begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// What it takes of a processor.
    pub cost: i64,
    /// After what time behind its end others may begin.
    pub delay: i64,
    /// The strand that it is; none of a join, a wait, a barrier.
    pub row: Option<usize>,
    /// Nodes before it.
    pub before: Vec<usize>,
    /// A task begins with it, a branch of tasks but the first, or a member but the first.
    pub begins: bool,
}

/// The graph itself.
pub fn graph(recording: &Recording, rows: &[Strand]) -> Vec<Step> {
    let mut graph = Graph::new(recording, rows);
    graph.run();
    let delay = |vertex: &Vertex| vertex.row.map_or(0, |row| rows[row].blocked.0);
    let step = |vertex: &Vertex| Step {
        cost: vertex.cost - delay(vertex),
        delay: delay(vertex),
        row: vertex.row,
        before: vertex.edges.iter().map(|edge| edge.before).collect(),
        begins: vertex.begins,
    };
    graph.vertices.iter().map(step).collect()
}

type Node = usize;

/// An edge: a node that must be over. With iterations, the uniform length since `from` is divided by them.
#[derive(Clone, Copy)]
struct Edge {
    before: Node,
    pieces: Option<(Node, i64)>,
    order: bool, // of locks: none of the uniform length
}

impl From<Node> for Edge {
    fn from(before: Node) -> Edge {
        Edge { before, pieces: None, order: false }
    }
}

#[derive(Default)]
struct Vertex {
    edges: Vec<Edge>,
    cost: i64,
    row: Option<usize>,
    begins: bool,
}

struct Instance {
    context: ContextId,
    outermost: bool,
    /// What it is part of.
    parent: Option<usize>,
    begin: Node,
    ends: Vec<Node>,
    work: i64,
    counts: bool,
    around: ContextId,
    /// The call around it, by creation; what it ran itself; all that was created in it.
    creator: Option<usize>,
    own: i64,
    own_on_path: i64,
    below: i64,
    /// It is reported as a call; a fork is nothing else.
    call: bool,
    fork: bool,
    /// Shared by members: this one's number and that of the team.
    share: Option<(usize, usize)>,
}

#[derive(Clone)]
struct Group {
    ends: Vec<Node>,
    instance: Option<usize>,
    /// The barriers of a team.
    team: Option<usize>,
}

struct Graph<'a> {
    recording: &'a Recording,
    rows: &'a [Strand],
    next: usize,
    /// The next strand begins a task.
    begins: bool,
    vertices: Vec<Vertex>,
    instances: Vec<Instance>,
    /// Of each row: the innermost call around it.
    owners: Vec<Option<usize>>,
    /// Sites active around, by creation.
    active: Vec<ContextId>,
    open: Vec<usize>,
    burden: i64,
    groups: Vec<Group>,
    detached: Vec<Node>,
    teams: Vec<Team>,
    open_teams: Vec<usize>,
    sizes: Vec<i64>,
    sums: Vec<Sums>,
    places: Vec<Place>,
    work: i64,
    /// What waits go on from.
    labels: BTreeMap<u32, Node>,
}

#[derive(Default)]
struct Team {
    barriers: Vec<Node>,
    /// Of the round, until the member comes to its end.
    tasks: Vec<Node>,
    round: usize,
    shared: usize,
}

/// The state of a task.
struct Task {
    at: Node,
    spot: Spot,
    instance: Option<usize>,
    children: Vec<Node>,
    created: Vec<Node>,
    after: Vec<Node>,
    /// All ends of tasks below.
    below: Vec<Node>,
}

impl Task {
    fn new(at: Node, instance: Option<usize>) -> Task {
        Task {
            at,
            spot: Spot::Begin,
            instance,
            children: Vec::new(),
            created: Vec::new(),
            after: Vec::new(),
            below: Vec::new(),
        }
    }
}

impl<'a> Graph<'a> {
    fn new(recording: &'a Recording, rows: &'a [Strand]) -> Graph<'a> {
        Graph {
            recording,
            rows,
            next: 0,
            begins: false,
            vertices: vec![Vertex::default()],
            instances: Vec::new(),
            owners: Vec::new(),
            active: Vec::new(),
            open: Vec::new(),
            burden: 0,
            groups: Vec::new(),
            detached: Vec::new(),
            teams: Vec::new(),
            open_teams: Vec::new(),
            sizes: vec![0],
            sums: vec![Sums::default(); recording.contexts.len()],
            places: Vec::new(),
            work: 0,
            labels: BTreeMap::new(),
        }
    }

    fn run(&mut self) -> Node {
        let mut task = Task::new(0, None);
        while self.next < self.rows.len() {
            self.step(&mut task);
        }
        task.at
    }

    fn node(&mut self, edges: Vec<Edge>) -> Node {
        self.vertices.push(Vertex { edges, ..Vertex::default() });
        self.vertices.len() - 1
    }

    fn kind(&self, context: ContextId) -> Option<SiteKind> {
        let site = self.recording.contexts.site(context)?;
        self.recording.sites.get(site.0 as usize).map(|site| site.kind)
    }

    fn is_pieces(&self, context: ContextId) -> bool {
        matches!(self.kind(context), Some(SiteKind::Loop | SiteKind::Sections))
    }

    /// Takes the next row: its strand, and whatever its event begins. Returns the event.
    fn step(&mut self, task: &mut Task) -> Event {
        let (index, row) = (self.next, self.rows[self.next]);
        self.next += 1;
        let after = self.spot_after(&row, task);
        self.places.push((task.spot, after));
        if !matches!(row.event, Event::After(_)) {
            task.spot = match row.event {
                Event::Fork(_) | Event::Next(_) => Spot::Begin,
                Event::Join | Event::Leave => Spot::At(row.context),
                Event::Enter(_) => Spot::Enter,
                Event::Group if task.spot == Spot::Enter => Spot::Enter,
                _ => after,
            };
        }
        let node = self.node(vec![task.at.into()]);
        self.vertices[node].cost = row.cost.0 + row.blocked.0;
        self.vertices[node].row = Some(index);
        self.vertices[node].begins = self.begins;
        // Such a row is no strand.
        self.begins &= matches!(row.event, Event::After(_));
        task.at = node;
        self.work += row.cost.0;
        let sums = &mut self.sums[row.context.index()];
        sums.self_work += row.cost.0;
        sums.blocked += row.blocked.0;
        if let Some(size) = self.sizes.last_mut() {
            *size += row.cost.0;
        }
        for at in &self.open {
            self.instances[*at].below += row.cost.0;
        }
        let owner = self.open.iter().rev().copied().find(|at| self.instances[*at].call);
        self.owners.push(owner);
        if let Some(at) = owner {
            self.instances[at].own += row.cost.0;
        }
        let mut instance = task.instance;
        while let Some(at) = instance {
            self.instances[at].work += row.cost.0;
            instance = self.instances[at].parent;
        }
        match row.event {
            Event::Fork(iterations) => self.fork(task, iterations, row.context),
            Event::Group => {
                self.groups.push(Group { ends: Vec::new(), instance: task.instance, team: None });
                while self.step(task) != Event::Wait {}
                let ends = self.groups.pop().map(|group| group.ends).unwrap_or_default();
                let edges = [task.at].into_iter().chain(ends).map(Edge::from).collect();
                task.at = self.node(edges);
            }
            Event::Spawn(creation) => self.spawn(task, creation, false),
            Event::Call(creation) => self.spawn(task, creation, true),
            Event::Sync => {
                let edges = [task.at].into_iter().chain(task.children.iter().copied()).map(Edge::from).collect();
                task.at = self.node(edges);
            }
            Event::After(number) => task.after.push(task.created[number as usize]),
            Event::Enter(inner) => {
                let around = task.instance;
                let share = self.is_pieces(inner).then(|| self.open_teams.last().copied()).flatten();
                let instance = self.begin(inner, task, around, row.context);
                self.active.push(inner);
                self.open.push(instance);
                task.instance = Some(instance);
                while self.step(task) != Event::Leave {}
                self.active.pop();
                self.open.pop();
                task.instance = around;
                self.instances[instance].ends.push(task.at);
                if let Some(team) = share {
                    self.instances[instance].share = Some((self.teams[team].shared, team));
                    self.teams[team].shared += 1;
                } else {
                    self.sums[inner.index()].entries += 1;
                }
            }
            Event::Team(members) => self.team(task, members),
            Event::Barrier => {
                if let Some(team) = self.open_teams.last().copied() {
                    task.at = self.meet(team, task.at);
                    self.teams[team].round += 1;
                }
            }
            Event::Wake(label) => {
                self.labels.insert(label, task.at);
            }
            Event::Await(label) | Event::Locked(label) => {
                let from = Edge { order: matches!(row.event, Event::Locked(_)), ..task.at.into() };
                task.at = self.node(vec![from, self.labels[&label].into()]);
            }
            _ => {}
        }
        row.event
    }

    fn spot_after(&self, row: &Strand, task: &Task) -> Spot {
        match row.event {
            Event::Spawn(creation) | Event::Call(creation) => Spot::At(creation.context),
            Event::Enter(inner) => Spot::At(inner),
            Event::End | Event::Next(_) | Event::Join => Spot::End,
            Event::Sync | Event::Wake(_) | Event::Await(_) | Event::Locked(_) => Spot::Wait,
            Event::Leave => Spot::Leave,
            Event::Wait | Event::Barrier | Event::TeamEnd => Spot::Meet,
            Event::After(_) => task.spot,
            _ => Spot::At(row.context),
        }
    }

    /// A new instance, begun where `task` is.
    fn begin(&mut self, context: ContextId, task: &Task, parent: Option<usize>, around: ContextId) -> usize {
        let site = self.recording.contexts.site(context);
        let outermost = !self.active.iter().any(|active| self.recording.contexts.site(*active) == site);
        let (begin, ends) = (task.at, Vec::new());
        self.instances.push(Instance {
            context,
            outermost,
            parent,
            begin,
            ends,
            work: 0,
            counts: true,
            around,
            creator: self.open.last().copied(),
            own: 0,
            own_on_path: 0,
            below: 0,
            call: true,
            fork: false,
            share: None,
        });
        self.instances.len() - 1
    }

    fn fork(&mut self, task: &mut Task, iterations: u32, context: ContextId) {
        let from = task.at;
        // A join right where its region begins is the region's.
        let entered = self.next >= 2 && self.rows[self.next - 2].event == Event::Enter(context);
        let call = (self.kind(context) == Some(SiteKind::Join) && !entered).then(|| {
            let call = self.begin(context, task, task.instance, context);
            (self.instances[call].counts, self.instances[call].fork) = (false, true);
            call
        });
        let around = task.instance;
        if let Some(call) = call {
            self.open.push(call);
            task.instance = Some(call);
        }
        // OpenMP's tasks are created, not forked.
        let tasks = !self.kind(context).is_some_and(self.recording.lasting());
        let mut edges = vec![Edge::from(from)];
        let mut iterations = iterations;
        let mut first = true;
        loop {
            task.at = from;
            if !first && tasks {
                self.begins = true;
                self.sizes.push(0);
                task.at = self.burden(from);
            }
            let event = loop {
                let event = self.step(task);
                if matches!(event, Event::Next(_) | Event::Join) {
                    break event;
                }
            };
            if !first && tasks {
                let size = self.sizes.pop().unwrap_or_default();
                self.sums[context.index()].tasks.push(size);
                task.at = self.burden(task.at);
            }
            first = false;
            edges.push(Edge { pieces: Some((from, i64::from(iterations.max(1)))), ..task.at.into() });
            match event {
                Event::Next(next) => iterations = next,
                _ => break,
            }
        }
        task.at = self.node(edges);
        if let Some(call) = call {
            self.open.pop();
            task.instance = around;
            self.instances[call].ends.push(task.at);
        }
    }

    /// So much after `node`.
    fn burden(&mut self, node: Node) -> Node {
        let later = self.node(vec![node.into()]);
        self.vertices[later].cost = self.burden;
        later
    }

    fn spawn(&mut self, task: &mut Task, creation: Creation, call: bool) {
        let context = creation.context;
        let edges = [task.at].into_iter().chain(task.after.drain(..)).map(Edge::from).collect();
        let around = self.rows[self.next - 1].context;
        let mut start = self.node(edges);
        if !call {
            self.begins = true;
            start = self.burden(start);
        }
        let group = creation.group.map(|outward| self.groups.len() - 1 - usize::from(outward));
        let parent = match group {
            _ if call => task.instance,
            Some(group) => self.groups[group].instance,
            None => None,
        };
        let mut inner = Task::new(start, None);
        let instance = self.begin(context, &inner, parent, around);
        inner.instance = Some(instance);
        let kind = self.kind(context);
        // In serial code, none of a site.
        let real = kind.is_some_and(SiteKind::spawns);
        let counts = real && !matches!(kind, Some(SiteKind::ParIter | SiteKind::Taskloop));
        (self.instances[instance].counts, self.instances[instance].call) = (counts, counts);
        self.active.push(context);
        self.open.push(instance);
        self.sizes.push(0);
        while self.step(&mut inner) != Event::End {}
        let size = self.sizes.pop().unwrap_or_default();
        self.active.pop();
        self.open.pop();
        let end = inner.at;
        let sums = &mut self.sums[context.index()];
        sums.overhead += creation.overhead.0;
        if real {
            sums.tasks.push(size);
        }
        match kind {
            Some(SiteKind::ParIter) => sums.items += 1,
            Some(SiteKind::Taskloop) => {}
            _ => sums.entries += u64::from(real),
        }
        self.instances[instance].ends.push(end);
        if kind.is_some_and(self.recording.lasting()) {
            self.instances[instance].ends.extend(&inner.below);
        }
        task.below.push(end);
        task.below.append(&mut inner.below);
        task.created.push(end);
        if call {
            task.at = end;
            return;
        }
        let back = self.burden(end);
        task.children.push(back);
        match group.map(|group| (group, self.groups[group].team)) {
            Some((_, Some(team))) => self.teams[team].tasks.push(back),
            Some((group, None)) => self.groups[group].ends.push(back),
            None => self.detached.push(end),
        }
    }

    /// The barrier of a team's current round waits for `node`, where a member comes to it, and for the tasks so far.
    fn meet(&mut self, team: usize, node: Node) -> Node {
        let round = self.teams[team].round;
        while self.teams[team].barriers.len() <= round {
            let barrier = self.node(Vec::new());
            self.teams[team].barriers.push(barrier);
        }
        let barrier = self.teams[team].barriers[round];
        let tasks = std::mem::take(&mut self.teams[team].tasks);
        self.vertices[barrier].edges.extend([node].into_iter().chain(tasks).map(Edge::from));
        barrier
    }

    fn team(&mut self, task: &mut Task, members: u32) {
        let begin = task.at;
        let team = self.teams.len();
        self.teams.push(Team::default());
        self.open_teams.push(team);
        self.groups.push(Group { ends: Vec::new(), instance: task.instance, team: Some(team) });
        let own = self.sizes.len();
        // One of them goes on where the team begins, but which one does most of the work is accident.
        let alone = members < 2;
        let mut first = true;
        while !matches!(self.rows[self.next].event, Event::TeamEnd) {
            (self.teams[team].round, self.teams[team].shared) = (0, 0);
            let mut member = Task::new(begin, task.instance);
            if !alone {
                member.at = self.burden(begin);
            }
            self.begins = !std::mem::take(&mut first);
            self.sizes.push(0);
            while self.step(&mut member) != Event::End {}
            let end = if alone { member.at } else { self.burden(member.at) };
            self.meet(team, end);
            self.sizes.truncate(own);
        }
        self.groups.pop();
        self.open_teams.pop();
        let mut end = begin;
        for barrier in self.teams[team].barriers.clone() {
            self.vertices[barrier].edges.push(end.into());
            end = barrier;
        }
        let mut rest = Task::new(end, task.instance);
        self.step(&mut rest);
        (task.at, task.spot) = (rest.at, rest.spot);
    }
}

#[cfg(test)]
mod tests;
