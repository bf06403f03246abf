//! Random programs, given to a small collector twice: once by the addresses of their sites, once by their places. Merging
//! the first recording must give the second.

use std::collections::BTreeMap;

use super::*;
use crate::histogram::{Bucket, Histogram};

/// splitmix64.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % bound
    }
}

/// Serial code of a cost, or a region: the address of its site and what runs inside.
enum Node {
    Work(i64),
    Region(u64, Vec<Node>),
    /// The program dies in here.
    Die,
}

fn program(random: &mut Random, depth: u64, dies: bool) -> Vec<Node> {
    let count = 1 + random.below(4);
    let mut nodes: Vec<Node> = (0..count)
        .map(|_| match random.below(if depth == 0 { 1 } else { 3 }) {
            0 => Node::Work(i64::try_from(random.below(1000)).expect("small")),
            _ => Node::Region(random.below(12), program(random, depth - 1, false)),
        })
        .collect();
    if dies {
        let last =
            if depth == 0 { Node::Die } else { Node::Region(random.below(12), program(random, depth - 1, true)) };
        nodes.push(last);
    }
    nodes
}

/// Three addresses to each place.
fn site(address: u64, placed: bool) -> Site {
    let line = u32::try_from(address / 3).expect("small");
    Site {
        kind: if line == 0 { SiteKind::Loop } else { SiteKind::Task },
        file: if placed { "a.c".to_owned() } else { String::new() },
        line: if placed { line + 1 } else { 0 },
        column: 0,
        function: None,
        type_name: String::new(),
        module: String::new(),
        addresses: vec![address],
        via: None,
    }
}

/// A collector by the book: every strand is charged to the sites around it, a site is outermost if none around it is the
/// same, and serial code at the top lies between the regions there.
#[derive(Default)]
struct Collector {
    placed: bool,
    sites: Vec<Site>,
    contexts: ContextTree,
    totals: BTreeMap<ContextId, Totals>,
    critical: BTreeMap<ContextId, Nanos>,
    open: Vec<OpenRegion>,
    last: Option<SiteId>,
    pending: i64,
    now: i64,
    /// Every region that is active, and when it began.
    active: Vec<(SiteId, i64)>,
    died: bool,
}

impl Collector {
    fn intern(&mut self, site: Site) -> SiteId {
        let known = self.sites.iter().position(|known| known.identity() == site.identity());
        let index = known.unwrap_or_else(|| {
            self.sites.push(site);
            self.sites.len() - 1
        });
        SiteId(u32::try_from(index).expect("few"))
    }

    fn totals(&mut self, context: ContextId) -> &mut Totals {
        self.totals.entry(context).or_default()
    }

    fn charge(&mut self, context: ContextId, cost: i64) {
        self.totals(context).self_work += Nanos(cost);
        // Any share of the strands will do.
        *self.critical.entry(context).or_default() += Nanos(cost / 2);
    }

    fn close_serial(&mut self, to: Option<SiteId>) {
        let serial = Site { kind: SiteKind::Serial { from: self.last, to }, addresses: Vec::new(), ..site(0, false) };
        let serial = self.intern(serial);
        let context = self.contexts.enter(ContextId::ROOT, serial).expect("the root is there").0;
        let cost = std::mem::take(&mut self.pending);
        self.charge(context, cost);
    }

    fn run(&mut self, nodes: &[Node], context: ContextId) {
        for node in nodes {
            match node {
                Node::Work(cost) => {
                    self.now += cost;
                    if context == ContextId::ROOT {
                        self.pending += cost;
                    } else {
                        self.charge(context, *cost);
                    }
                }
                Node::Die => {
                    self.died = true;
                }
                Node::Region(address, inside) => self.region(*address, inside, context),
            }
            if self.died {
                return;
            }
        }
    }

    fn region(&mut self, address: u64, inside: &[Node], from: ContextId) {
        let id = self.intern(site(address, self.placed));
        if from == ContextId::ROOT {
            self.close_serial(Some(id));
        }
        let outermost = self.active.iter().all(|(site, _)| *site != id);
        let (context, recursive) = self.contexts.enter(from, id).expect("it is there");
        assert_eq!(recursive, !outermost);
        self.active.push((id, self.now));
        self.run(inside, context);
        let begun = self.active.pop().expect("it was pushed").1;
        let took = Nanos(self.now - begun);
        if self.died {
            self.open.push(OpenRegion { context, outermost, span: took });
            return;
        }
        let totals = self.totals(context);
        if outermost {
            totals.instances += 1;
            totals.work += took;
            totals.span += Nanos(took.0 / 3);
        }
        totals.entries += 1;
        totals.tasks += 2;
        totals.items += 1;
        totals.task_work += took;
        totals.overhead += Nanos(5);
        totals.blocked += Nanos(7);
        totals.sizes.merge(&Histogram::new([Bucket { low: took, high: Nanos(took.0 + 1), count: 2 }]));
        if from == ContextId::ROOT {
            totals.wall += took;
            self.last = Some(id);
        }
    }

    fn recording(mut self, program: &[Node]) -> Recording {
        self.run(program, ContextId::ROOT);
        if !self.died {
            self.close_serial(None);
        }
        let Collector { sites, contexts, totals, critical, open, .. } = self;
        let per_context = |id: ContextId| totals.get(&id).cloned().unwrap_or_default();
        let run = Run {
            totals: contexts.ids().map(per_context).collect(),
            critical: contexts.ids().map(|id| critical.get(&id).copied().unwrap_or_default()).collect(),
            open,
            ..Run::default()
        };
        Recording { sites, contexts, runs: vec![run], ..Recording::default() }
    }
}

fn record(program: &[Node], placed: bool) -> Recording {
    Collector { placed, ..Collector::default() }.recording(program)
}

/// Gives the sites of a recording their places, as symbolising does.
fn place(recording: &mut Recording) {
    for known in recording.sites.iter_mut().filter(|known| known.kind.spawns()) {
        *known = site(known.addresses[0], true);
    }
}

/// Whether a context is recursive, and what each run says of it.
type Said = (bool, Vec<(Totals, Nanos)>);

/// A recording in an order and in terms that do not depend on ids: what is said of each path of places.
fn by_path(recording: &Recording) -> BTreeMap<Vec<String>, Said> {
    let name = |id: SiteId| {
        let site = &recording.sites[id.0 as usize];
        format!("{} {} {}", site.kind.name(), site.line, site.stable_id(&recording.sites))
    };
    let tree = &recording.contexts;
    tree.ids()
        .map(|id| {
            let path = tree.path(id).filter_map(|at| tree.site(at)).map(name).collect();
            let values = recording.runs.iter().map(|run| (run.totals[id.index()].clone(), run.critical[id.index()]));
            (path, (tree.get(id).is_some_and(|c| c.recursive), values.collect()))
        })
        .collect()
}

fn open_by_path(recording: &Recording) -> Vec<(Vec<u32>, bool, Nanos)> {
    let line = |at: ContextId| recording.contexts.site(at).map(|site| recording.sites[site.0 as usize].line);
    let open = recording.runs.iter().flat_map(|run| &run.open);
    open.map(|o| (recording.contexts.path(o.context).filter_map(line).collect(), o.outermost, o.span)).collect()
}

#[track_caller]
fn check_tree(recording: &Recording) {
    let tree = &recording.contexts;
    for id in tree.ids().skip(1) {
        let context = tree.get(id).expect("it is there");
        assert!(context.parent < id && !tree.get(context.parent).expect("it is there").recursive);
        let site = context.site.expect("it is not the root");
        assert!((site.0 as usize) < recording.sites.len());
        let around = tree.path(context.parent).filter(|at| tree.site(*at) == Some(site)).count();
        assert_eq!(around, usize::from(context.recursive));
    }
}

#[test]
fn what_is_merged_is_as_if_the_places_had_been_known() {
    let mut folded = 0;
    for seed in 0..2_000 {
        let mut random = Random(seed);
        let depth = 1 + seed % 6;
        let program = program(&mut random, depth, seed % 5 == 0);
        let mut merged = record(&program, false);
        let before = merged.clone();
        place(&mut merged);
        merge_sites(&mut merged);
        let known = record(&program, true);
        check_tree(&merged);
        assert_eq!(by_path(&merged), by_path(&known), "seed {seed}");
        assert_eq!(open_by_path(&merged), open_by_path(&known), "seed {seed}");
        // By its own: nothing is lost, whatever the other recording says.
        let (was, is) = (&before.runs[0], &merged.runs[0]);
        assert_eq!((was.work(), was.tasks()), (is.work(), is.tasks()));
        assert_eq!(was.critical.iter().copied().sum::<Nanos>(), is.critical.iter().copied().sum());
        folded += usize::from(merged.contexts.len() < before.contexts.len());
        let once = merged.clone();
        merge_sites(&mut merged);
        assert_eq!(merged, once, "seed {seed}");
    }
    assert!(folded > 1_000, "{folded}");
}

#[test]
fn what_has_no_place_stays_apart() {
    let mut recording = record(&[Node::Region(1, vec![Node::Region(2, vec![])]), Node::Region(1, vec![])], false);
    let before = recording.clone();
    merge_sites(&mut recording);
    assert_eq!(recording, before);
    // One address in two files is two places.
    let [one, other] = [1, 2]
        .map(|address| recording.sites.iter().position(|site| site.addresses == [address]).expect("both were met"));
    recording.sites[one].addresses = recording.sites[other].addresses.clone();
    recording.sites[one].module = "libx.so".to_owned();
    merge_sites(&mut recording);
    assert_eq!(recording.sites.len(), before.sites.len());
    recording.sites[one].module.clear();
    merge_sites(&mut recording);
    assert!(recording.sites.len() < before.sites.len());
}
