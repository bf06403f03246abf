//! Who waits for whom, by what threads run: view model, and as text.

use schemars::JsonSchema;
use serde::Serialize;
use workspan_analysis::throughput::{throughput, Knot};
use workspan_model::{Ratio, Recording, Role};

use crate::parts::{id, name, time};
use crate::ran::Ran;
use crate::terminal::{line, more, Style, Table};
use crate::words::{count, percent};

/// Which threads wait for which, and for which in the end.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Threads {
    /// What threads run that waited or were waited for.
    pub nodes: Vec<ThreadNode>,
    /// Waits between two of these, by falling share; of all runs.
    pub waits: Vec<ThreadWaits>,
    /// What limits throughput: threads that others wait for and that wait for nobody else, by falling time waited for them.
    pub bottlenecks: Vec<Bottleneck>,
}

/// What threads run.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ThreadNode {
    /// The id of the site of threads; `main`; `outside`: files, sockets, other processes, time.
    pub id: String,
    /// Its place.
    pub name: String,
    /// Threads that ran it, in a run.
    pub threads: u64,
    /// Their work, of all runs.
    pub work_ns: i64,
    /// The code that they spent most of it in, if that was sampled.
    pub ran: Option<Ran>,
}

/// Waits of threads for others.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ThreadWaits {
    /// The waiting threads' node.
    pub from: String,
    /// The node of those who ended the waits.
    pub to: String,
    /// Waits.
    pub count: u64,
    /// How long they took.
    pub waited_ns: i64,
    /// Of that, for locks.
    pub locked_ns: i64,
    /// How long others waited meanwhile for the waiting threads, each for itself.
    pub passed_on_ns: i64,
    /// `waited_ns` and `passed_on_ns` over the time of the waiting threads; may be above 1.
    pub share: f64,
    /// `waited_ns` alone over that time.
    pub own_share: f64,
    /// It counts for bottlenecks.
    pub strong: bool,
}

/// Threads that limit throughput.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Bottleneck {
    /// Their nodes: several wait for each other.
    pub threads: Vec<String>,
    /// How long others waited for them.
    pub waited_for_ns: i64,
    /// Of their waits for each other, the share for locks; null if there are none.
    pub locked_share: Option<f64>,
    /// The largest share of their time for which threads waited for them themselves.
    pub share: f64,
    /// In words.
    pub text: String,
}

/// Those of a recording.
pub(crate) fn view(recording: &Recording) -> Option<Threads> {
    let found = throughput(recording)?;
    let nodes = found.nodes.iter().map(|node| ThreadNode {
        id: node_id(recording, node.role),
        name: node_name(recording, node.role),
        threads: node.threads,
        work_ns: node.work.0,
        ran: ran(recording, node.role),
    });
    let waits = found.edges.iter().map(|edge| ThreadWaits {
        from: node_id(recording, edge.wait.waiter),
        to: node_id(recording, edge.wait.on),
        count: edge.wait.count,
        waited_ns: edge.wait.waited.0,
        locked_ns: edge.wait.locked.0,
        passed_on_ns: edge.wait.passed_on.0,
        share: edge.share,
        own_share: edge.own_share.min(1.0),
        strong: edge.strong,
    });
    let bottlenecks = found.bottlenecks.iter().map(|knot| Bottleneck {
        threads: knot.roles.iter().map(|role| node_id(recording, *role)).collect(),
        waited_for_ns: knot.waited_for.0,
        locked_share: knot.locked,
        share: knot.share,
        text: sentence(recording, knot),
    });
    Some(Threads { nodes: nodes.collect(), waits: waits.collect(), bottlenecks: bottlenecks.collect() })
}

fn node_id(recording: &Recording, role: Role) -> String {
    match role {
        Role::Main => "main".to_owned(),
        Role::Outside => "outside".to_owned(),
        Role::Threads(site) => id(recording, Some(site)).unwrap_or_default(),
    }
}

fn node_name(recording: &Recording, role: Role) -> String {
    match role {
        Role::Main => "main thread".to_owned(),
        Role::Outside => "outside (files, sockets, time)".to_owned(),
        Role::Threads(site) => name(recording, site),
    }
}

fn ran(recording: &Recording, role: Role) -> Option<Ran> {
    let Role::Threads(site) = role else { return None };
    recording.ran.iter().find(|ran| ran.site == site).map(Ran::of)
}

/// What limits throughput, in words.
fn sentence(recording: &Recording, knot: &Knot) -> String {
    let known = |role: &Role| match role {
        Role::Main => "the main thread".to_owned(),
        Role::Outside => "the outside world (files, sockets, time)".to_owned(),
        Role::Threads(site) => {
            let function = recording.sites.get(site.0 as usize).and_then(|site| site.function.as_ref());
            // Without a place in the source the function is the place.
            let function = function.filter(|function| function.offset.is_none());
            let function = function.map_or_else(String::new, |function| format!("`{}` at ", function.name));
            let ran = ran(recording, *role).map_or_else(String::new, |ran| format!(", busy in {}", ran.place()));
            format!("the threads of {function}{}{ran}", node_name(recording, *role))
        }
    };
    let share = percent(Ratio(knot.share));
    let who: Vec<String> = knot.roles.iter().map(known).collect();
    match (&who[..], knot.locked) {
        ([one], None) => format!("throughput is limited by {one}: others wait {share} of their time for it"),
        ([one], Some(locked)) => format!(
            "throughput is limited by {one}: its threads wait {share} of their time for each other, {} of that for locks",
            percent(Ratio(locked))
        ),
        (all, locked) => {
            let locked = locked.filter(|locked| *locked > 0.0).map(|locked| percent(Ratio(locked)));
            let locks = locked.map_or_else(String::new, |locked| format!(", {locked} of that for locks"));
            format!("throughput is limited by {}, which wait for each other{locks}", all.join(" and "))
        }
    }
}

/// Columns of the table.
pub(crate) const COLUMNS: [&str; 7] =
    ["of their time", "waited", "for locks", "passed on", "times", "threads that wait", "for"];

/// What the columns are.
pub(crate) const LEGEND: &str =
    "of their time: the waits over the time of the waiting threads; passed on: how long others waited for these \
                                 threads meanwhile, added up over all that did";

impl Threads {
    /// The cells of each row, by falling share.
    pub(crate) fn rows(&self) -> impl Iterator<Item = [String; 7]> + '_ {
        let name = |id: &str| self.nodes.iter().find(|node| node.id == id).map_or("?", |node| &node.name).to_owned();
        self.waits.iter().map(move |wait| {
            [
                percent(Ratio(wait.own_share)),
                time(wait.waited_ns),
                time(wait.locked_ns),
                time(wait.passed_on_ns),
                count(wait.count),
                name(&wait.from),
                name(&wait.to),
            ]
        })
    }
}

/// The section of a report.
pub(crate) fn text(out: &mut String, threads: &Threads, style: Style) {
    line(out, "");
    for bottleneck in &threads.bottlenecks {
        line(out, &bottleneck.text);
    }
    let mut table = Table::new(&COLUMNS);
    for row in threads.rows().take(style.top) {
        table.row(row.to_vec());
    }
    table.write(out, style, COLUMNS.len() - 2);
    more(out, threads.waits.len(), style, "pair of threads");
    line(out, &style.dim(LEGEND));
}
