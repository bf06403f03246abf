//! What inflated strands have to do with memory: the allocations that they miss on, or share with other tasks. Beside the answer
//! of `workspan inflation`, from a task graph of the same program.

use schemars::JsonSchema;
use serde::Serialize;
use workspan_model::Ratio;

use crate::differential::{Inflated, NodeByNode, Pair, Site};
use crate::parts::{ratio, time};
use crate::terminal::{line, more, Style, Table};
use crate::words::{count, memory as in_units, percent};

/// A site inflates by at least this share of what its strands cost in the base.
const LEAST: f64 = 0.05;
/// And by this share of the work of the base.
const LEAST_OF_WORK: f64 = 0.01;
/// Of the accesses, those that an allocation is named for: a line from memory, or from another processor, takes some hundred
/// times as long as one from the processor's own cache, so that one in a thousand shows.
pub const LEAST_MOVED: f64 = 0.001;

/// What a task graph says about the memory of strands that inflate.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Memory {
    /// The graph.
    pub graph: String,
    /// Whether nothing is missing from it.
    pub complete: bool,
    /// What it is a sample of, in words; null: it has everything.
    pub sampled: Option<String>,
    /// Bytes of a cache line.
    pub line_bytes: u64,
    /// Bytes of the cache that misses are counted in, which all threads share.
    pub cache_bytes: u64,
    /// Lines of its sets.
    pub cache_ways: u64,
    /// Sites whose strands inflate; empty if none do.
    pub strands: Vec<Strands>,
}

/// Strands of sites that inflate, and what they touch.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Strands {
    /// The sites.
    pub sites: Vec<InflatedSite>,
    /// The call that creates the tasks of the graph that stand for them; null: the program's first task.
    pub created_at: Option<String>,
    /// Cache lines that these tasks access, each as often as it is.
    pub accesses: u64,
    /// What moves to them, first what moves most. What is less than a thousandth of their accesses is not named.
    pub allocations: Vec<Moving>,
}

/// A site that inflates.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct InflatedSite {
    /// Its id; null for serial code.
    pub id: Option<String>,
    /// Its place.
    pub name: String,
    /// What its strands cost more, in nanoseconds.
    pub more_ns: i64,
    /// New over base.
    pub inflation: Option<f64>,
}

/// Why cache lines move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    /// Threads access different bytes of them at the same time.
    FalseSharing,
    /// Threads access the same bytes at the same time.
    TrueSharing,
    /// They read what another thread has written before.
    Traffic,
    /// The cache does not hold them, after it has filled.
    Misses,
}

impl Cause {
    fn words(self) -> &'static str {
        match self {
            Cause::FalseSharing => "false sharing",
            Cause::TrueSharing => "true sharing",
            Cause::Traffic => "traffic",
            Cause::Misses => "misses",
        }
    }
}

/// An allocation whose cache lines move.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Moving {
    /// Why.
    pub cause: Cause,
    /// How often a line moves, at most.
    pub count: u64,
    /// Count over accesses.
    pub share: f64,
    /// Bytes read that another thread has written; 0 but for traffic.
    pub bytes: u64,
    /// The call that allocates; null: the stack or a variable.
    pub allocated_at: Option<String>,
    /// The variable, if it is one and known.
    pub variable: Option<String>,
    /// Bytes of the largest allocation of the call; null: not allocated.
    pub largest_bytes: Option<u64>,
    /// Where most of these accesses are.
    pub at: String,
    /// Where the other thread's accesses are; null of misses.
    pub with: Option<String>,
}

/// The sites whose strands inflate, more than noise and enough to matter.
pub fn inflated(nodes: &NodeByNode) -> Vec<&Site> {
    let all = nodes.program.work.base_ns;
    let noise = nodes.noise.map_or(0.0, |noise| noise.work);
    let more = |Inflated { work, .. }: &Inflated| {
        work.more_ns > 0 && over(*work) >= LEAST.max(noise) && share(work.more_ns, all) >= LEAST_OF_WORK
    };
    nodes.sites.iter().filter(|site| more(&site.sums)).collect()
}

/// What it costs more, as a share of the base.
fn over(pair: Pair) -> f64 {
    pair.inflation.map_or(0.0, |inflation| inflation - 1.0)
}

#[expect(clippy::cast_precision_loss, reason = "a share, for comparison")]
fn share(part: i64, whole: i64) -> f64 {
    part as f64 / whole.max(1) as f64
}

/// As text.
pub(crate) fn text(out: &mut String, memory: &Memory, style: Style) {
    let Memory { graph, line_bytes, cache_bytes, cache_ways, .. } = memory;
    line(out, "");
    if memory.strands.is_empty() {
        line(out, &format!("no strands inflate beyond noise: {graph} has nothing to explain"));
        return;
    }
    let cache = in_units(*cache_bytes);
    line(
        out,
        &style.bold(&format!(
            "why, by {graph}: cache lines of {line_bytes} bytes that move; misses in {cache}, {cache_ways}-way, that all threads share"
        )),
    );
    if let Some(sampled) = &memory.sampled {
        line(out, &style.warning(&format!("! {sampled}")));
    }
    for strands in &memory.strands {
        line(out, "");
        let site =
            |site: &InflatedSite| format!("{} ({} more, {}x)", site.name, time(site.more_ns), ratio(site.inflation));
        let names: Vec<String> = strands.sites.iter().map(site).collect();
        let tasks = strands.created_at.as_deref().unwrap_or("the program's start");
        line(out, &format!("strands of {}; in the graph, tasks created at {tasks}", names.join(", ")));
        if strands.allocations.is_empty() {
            line(out, "nothing they touch explains it: they share no lines with other threads, and fit into the cache");
            continue;
        }
        let mut table = Table::new(&["of accesses", "lines", "cause", "at most", "memory", "accessed at"]);
        for moving in strands.allocations.iter().take(style.top) {
            let memory = match (&moving.allocated_at, &moving.variable) {
                (Some(place), _) => format!("allocated at {place}"),
                (None, Some(name)) => format!("variable {name}"),
                (None, None) => "stack and variables".to_owned(),
            };
            let with = moving.with.as_ref().map_or_else(String::new, |with| match moving.cause {
                Cause::Traffic => format!(", written at {with}"),
                _ => format!(", and at {with}"),
            });
            table.row(vec![
                percent(Ratio(moving.share)),
                count(moving.count),
                moving.cause.words().to_owned(),
                moving.largest_bytes.map_or_else(String::new, in_units),
                memory,
                format!("{}{with}", moving.at),
            ]);
        }
        table.write(out, style, 2);
        more(out, strands.allocations.len(), style, "allocation");
    }
}
