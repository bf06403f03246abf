//! Randomised work stealing, as the runtimes do it.
//!
//! Each worker has a deque. Who forks offers all branches but the first, the first one of these last, and runs that; who creates a
//! task offers it and goes on. A worker without work takes what it has offered last; if that is nothing, it steals what another one,
//! picked at random, has offered first. Who comes to a join or a wait that is not over does the same meanwhile, and goes on
//! behind it when whatever it has taken on has ended ([`Policy::Owner`]): as rayon and libomp do, whose waiting frames lie on a
//! stack. A barrier is passed by whoever has run the member before. Who waits for the outside world holds no processor: the worker
//! does something else meanwhile.
//!
//! **What costs**: a steal; once more, going on behind a join of which another worker has run a part, or behind a barrier; and the search:
//! thieves look into one deque after the other, each look taking `attempt`. It is simulated for all idle workers
//! together: with *k* of them, and *v* of *P - 1* deques that have something, the next steal comes after a time that is uniform
//! up to `2·attempt·(P - 1)/(k·v)`, so that a thousand idle workers cost no event.
//!
//! Cost: `O(n log P)`. Memory: 6 bytes for a piece, besides the graph.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use workspan_model::Nanos;

use super::graph::{kind, Graph, SCALE};
use super::parts::Parts;
use super::workers::{Random, Some as Set, Worker};
use super::{Schedule, MOST_PROCESSORS};

/// What stealing costs, and how it is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stealing {
    /// A steal, and again the end of what was stolen.
    pub steal: Nanos,
    /// A look into a deque.
    pub attempt: Nanos,
    /// Who goes on behind a join.
    pub policy: Policy,
    /// Of the thieves' choices.
    pub seed: u64,
}

impl Stealing {
    /// As the runtimes do it. A steal moves a deque's end and what lies there, a look only the former: it takes half of it.
    pub fn of(steal: Nanos, seed: u64) -> Stealing {
        Stealing { steal, attempt: Nanos(steal.0 / 2), policy: Policy::Owner, seed }
    }
}

/// Who goes on behind a join.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// The worker that waits for it, when it has ended what it has taken on meanwhile: rayon, libomp.
    Owner,
    /// Whoever ends the last part: Cilk.
    Last,
}

/// A schedule by work stealing on this number of processors, 1 to [`MOST_PROCESSORS`].
pub fn stealing(graph: &Graph, processors: u32, options: &Stealing) -> Schedule {
    let processors = processors.clamp(1, MOST_PROCESSORS);
    let mut run = Run::new(graph, processors, options);
    let time = run.run().max(graph.least);
    Schedule::new(processors, time, run.busy, run.overhead, run.steals)
}

/// Who has arrived at a piece: the last worker in its lower bits, and these.
mod who {
    pub(super) const WORKER: u16 = (1 << 10) - 1;
    pub(super) const SOMEBODY: u16 = 1 << 10;
    /// Several.
    pub(super) const SEVERAL: u16 = 1 << 11;
    /// The one who waits for it.
    pub(super) const OWNER: u16 = 1 << 12;
    /// And does so at a barrier.
    pub(super) const PARKED: u16 = 1 << 13;
}

/// No worker: thieves look for work.
const SEARCH: u32 = u32::MAX;
/// Of a piece: it has ended, and so has its delay. There are fewer pieces.
const DELAY: u32 = 1 << 31;

struct Run<'a> {
    graph: &'a Graph,
    parts: Parts,
    steal: i64,
    attempt: i64,
    policy: Policy,
    random: Random,
    workers: Vec<Worker>,
    idle: Set,
    /// Those whose deques have something.
    victims: Set,
    searching: bool,
    /// Edges that a piece still waits for; of one that runs in parts, those that have not ended.
    needs: Vec<u32>,
    who: Vec<u16>,
    /// Parts of a piece that have not begun, if there are any parts.
    begun: Vec<u32>,
    /// Time, worker, piece.
    events: BinaryHeap<Reverse<(i64, u32, u32)>>,
    over: Vec<u32>,
    next: Vec<u32>,
    now: i64,
    busy: i64,
    overhead: i64,
    steals: u64,
}

impl<'a> Run<'a> {
    fn new(graph: &'a Graph, processors: u32, options: &Stealing) -> Run<'a> {
        let parts = graph.parts;
        Run {
            graph,
            parts,
            steal: options.steal.0.max(0).saturating_mul(SCALE),
            attempt: options.attempt.0.max(0).saturating_mul(SCALE),
            policy: options.policy,
            random: Random::new(options.seed),
            workers: (0..processors).map(|_| Worker::default()).collect(),
            idle: Set::none_of(processors),
            victims: Set::none_of(processors),
            searching: false,
            needs: graph.needs.clone(),
            who: vec![0; graph.pieces()],
            begun: if parts.any { vec![0; graph.pieces()] } else { Vec::new() },
            events: BinaryHeap::new(),
            over: Vec::new(),
            next: Vec::new(),
            now: 0,
            busy: 0,
            overhead: 0,
            steals: 0,
        }
    }

    fn run(&mut self) -> i64 {
        let workers = u32::try_from(self.workers.len()).unwrap_or(1);
        for worker in 1..workers {
            self.idle.add(worker);
        }
        // There is one, the program's first; a barrier that nobody comes to is over.
        let pieces = u32::try_from(self.graph.pieces()).unwrap_or(0);
        let first: Vec<u32> = (0..pieces).filter(|piece| self.needs[*piece as usize] == 0).collect();
        for piece in first {
            if self.graph.kind[piece as usize] & kind::VIRTUAL == 0 {
                self.next.push(piece);
            } else {
                self.over.push(piece);
            }
        }
        self.tell(0, None);
        self.go_on(0, 0);
        let mut end = 0;
        loop {
            let Some(Reverse((time, worker, piece))) = self.events.pop() else {
                if self.unblock() {
                    continue;
                }
                return end;
            };
            self.now = time;
            if worker == SEARCH {
                self.searching = false;
                self.steal();
            } else {
                end = end.max(time);
                if piece & DELAY == 0 {
                    self.end(worker, piece);
                } else {
                    self.end_delay(worker, piece & !DELAY);
                }
            }
        }
    }

    /// A worker begins a piece, or a part of one that has begun. True if nothing of it is left for others.
    fn begin(&mut self, worker: u32, piece: u32, stolen: bool) -> bool {
        let at = piece as usize;
        let (time, extent) = self.graph.length(at);
        let (count, length) = self.parts.divide(time, extent);
        let (mut fresh, mut all) = (true, true);
        if count > 1 {
            let count = u32::try_from(count).unwrap_or(1);
            let left = &mut self.begun[at];
            fresh = *left == 0;
            if fresh {
                *left = count;
                self.needs[at] = count;
            }
            *left -= 1;
            all = *left == 0;
        }
        let length = if count > 1 && all { time - length * (count - 1) } else { length };
        let told = fresh && self.who[at] & who::SEVERAL != 0;
        let moves = i64::from(stolen) + i64::from(told);
        let overhead = self.steal.saturating_mul(moves);
        self.overhead = self.overhead.saturating_add(overhead);
        self.busy = self.busy.saturating_add(length);
        let end = self.now.saturating_add(length).saturating_add(overhead);
        self.events.push(Reverse((end, worker, piece)));
        all
    }

    fn end(&mut self, worker: u32, piece: u32) {
        let needs = &mut self.needs[piece as usize];
        if *needs > 1 {
            *needs -= 1;
            self.take(worker);
            return;
        }
        *needs = 0;
        let delay = self.graph.delay(piece);
        if delay > 0 {
            self.events.push(Reverse((self.now.saturating_add(delay), worker, piece | DELAY)));
            self.take(worker);
            return;
        }
        self.over.push(piece);
        self.tell(worker, Some(piece));
        self.go_on(worker, self.graph.kind[piece as usize]);
    }

    /// The strand that `worker` has run goes on. Who does something else meanwhile offers what comes next.
    fn end_delay(&mut self, worker: u32, piece: u32) {
        self.over.push(piece);
        self.tell(worker, Some(piece));
        if self.idle.has(worker) {
            self.idle.remove(worker);
            self.go_on(worker, self.graph.kind[piece as usize]);
            return;
        }
        for next in std::mem::take(&mut self.next) {
            self.offer(worker, next);
        }
        self.search();
    }

    /// Notifies whoever comes behind what is over, of which `ended` is what `worker` has run. What it may go on with is in `next`.
    fn tell(&mut self, worker: u32, ended: Option<u32>) {
        let id = u16::try_from(worker).unwrap_or(0) & who::WORKER;
        while let Some(piece) = self.over.pop() {
            let kind = self.graph.kind[piece as usize];
            let owns = ended == Some(piece) && kind & (kind::WAITS | kind::PARKS) != 0;
            for target in self.graph.successors(piece).iter().copied() {
                let to = target as usize;
                let is_virtual = self.graph.kind[to] & kind::VIRTUAL != 0;
                // Of what was folded, several may lead there.
                let owns = owns && !is_virtual && self.who[to] & who::OWNER == 0;
                let who = &mut self.who[to];
                if *who & who::SOMEBODY != 0 && *who & who::WORKER != id {
                    *who |= who::SEVERAL;
                }
                let waits = *who & who::OWNER != 0;
                if owns || !waits {
                    *who = (*who & !who::WORKER) | id | who::SOMEBODY;
                }
                if owns {
                    *who |= who::OWNER | if kind & kind::PARKS != 0 { who::PARKED } else { 0 };
                }
                let who = *who;
                self.needs[to] -= 1;
                if self.needs[to] > 0 {
                    if owns && kind & kind::WAITS != 0 && self.policy == Policy::Owner {
                        self.workers[worker as usize].waits.push(target);
                    }
                } else if is_virtual {
                    self.over.push(target);
                } else if waits && who & who::PARKED != 0 && who & who::WORKER != id {
                    self.resume(u32::from(who & who::WORKER), target);
                } else if waits && who & who::PARKED == 0 && self.policy == Policy::Owner {
                    self.wake(u32::from(who & who::WORKER), target);
                } else {
                    self.next.push(target);
                }
            }
        }
    }

    /// The worker goes on with the first of what comes next, and offers the rest; behind the creation of a task, with the last.
    fn go_on(&mut self, worker: u32, kind: u16) {
        let mut next = std::mem::take(&mut self.next);
        if next.len() > 1 {
            next.sort_unstable();
        }
        let own = if kind & kind::SPAWNS != 0 {
            next.pop()
        } else {
            next.reverse();
            next.pop()
        };
        for piece in next.drain(..) {
            self.offer(worker, piece);
        }
        self.next = next;
        match own {
            Some(piece) => self.begin_own(worker, piece),
            None => self.take(worker),
        }
        self.search();
    }

    fn begin_own(&mut self, worker: u32, piece: u32) {
        if !self.begin(worker, piece, false) {
            // Its other parts.
            self.offer(worker, piece);
        }
    }

    fn offer(&mut self, worker: u32, piece: u32) {
        self.workers[worker as usize].deque.push_back(piece);
        self.victims.add(worker);
    }

    /// The worker is free.
    fn take(&mut self, worker: u32) {
        let own = &mut self.workers[worker as usize];
        if let Some(piece) = own.waits.pop_if(|piece| self.needs[*piece as usize] == 0) {
            self.begin_own(worker, piece);
        } else if let Some(piece) = own.deque.back().copied() {
            if self.begin(worker, piece, false) {
                let own = &mut self.workers[worker as usize];
                own.deque.pop_back();
                if own.deque.is_empty() {
                    self.victims.remove(worker);
                }
            }
        } else {
            self.idle.add(worker);
            self.search();
        }
    }

    /// What `owner` waits for, innermost or not, is over: it goes on if it has nothing else to do.
    fn wake(&mut self, owner: u32, piece: u32) {
        if self.idle.has(owner) && self.workers[owner as usize].waits.last() == Some(&piece) {
            self.idle.remove(owner);
            self.take(owner);
        }
    }

    /// The next strand of a member behind a barrier: for the worker that has run the one before, or for a thief.
    fn resume(&mut self, owner: u32, piece: u32) {
        self.offer(owner, piece);
        if self.idle.has(owner) {
            self.idle.remove(owner);
            self.take(owner);
        }
    }

    /// Thieves look for work, if there are any and there is some.
    fn search(&mut self) {
        let pairs = i64::from(self.idle.count()) * i64::from(self.victims.count());
        if self.searching || pairs == 0 {
            return;
        }
        self.searching = true;
        let deques = i64::try_from(self.workers.len()).unwrap_or(1) - 1;
        let most = self.attempt.saturating_mul(2 * deques) / pairs;
        let found = self.now.saturating_add(self.random.up_to(most));
        self.events.push(Reverse((found, SEARCH, 0)));
    }

    /// One of them has found some.
    fn steal(&mut self) {
        let (Some(victim), Some(thief)) = (self.victims.pick(&mut self.random), self.idle.pick(&mut self.random))
        else {
            return;
        };
        if let Some(piece) = self.workers[victim as usize].deque.front().copied() {
            self.idle.remove(thief);
            self.steals += 1;
            if self.begin(thief, piece, true) {
                let deque = &mut self.workers[victim as usize].deque;
                deque.pop_front();
                if deque.is_empty() {
                    self.victims.remove(victim);
                }
            }
        }
        self.search();
    }

    /// Nobody runs, and something is left: whatever is over and lies below what is not. Well-nested constructs have none.
    fn unblock(&mut self) -> bool {
        for worker in self.idle.all().to_vec() {
            let waits = &mut self.workers[worker as usize].waits;
            if let Some(at) = waits.iter().rposition(|piece| self.needs[*piece as usize] == 0) {
                let piece = waits.remove(at);
                self.idle.remove(worker);
                self.begin_own(worker, piece);
                return true;
            }
        }
        false
    }
}
