//! The graphs in the page: a table of them, and a drawing of each that shows when it is chosen, by a link alone.
//!
//! **Layout:** a row for each line in the order of execution: at the left the dependences that a loop carries, in the middle the line, then
//! the dependences within an iteration, and the source.

use std::fmt::Write as _;

use super::dot::{title, words};
use super::text::number;
use super::view::{CriticalPaths, Graph, GraphEdge};
use crate::html::escape;
use crate::place::short_file;

/// Graphs in a page.
const MOST: usize = 100;
/// Nodes in a drawing.
const MOST_NODES: usize = 60;
/// Pixels of a row.
const ROW: usize = 26;
/// Where the box of a line begins and ends, and where its source does.
const BOX: (usize, usize) = (150, 350);
const SOURCE: usize = 480;
const WIDTH: usize = 980;

const STYLE: &str = "\
.graph{display:none}.graph:target,.graphs:not(:has(:target))>.graph:first-of-type{display:block}\
.graph svg{max-width:none;font:12px ui-monospace,monospace}.graph rect{fill:none;stroke:var(--line)}\
.graph rect.on{stroke:#c2410c;stroke-width:2}.graph a rect{fill:color-mix(in srgb,currentColor 6%,transparent)}\
.graph text{fill:var(--fg)}.graph text.dim{fill:var(--dim)}.graph path{fill:none;stroke:var(--dim)}\
.graph path.on{stroke:#c2410c;stroke-width:2}.graph path.off{stroke-dasharray:2 3;opacity:.55}\
.graph path.head{fill:var(--dim);stroke:none}.graph path.head.on{fill:#c2410c}";

/// The section. `line`: a line of the source.
pub(in crate::depend) fn section(view: &CriticalPaths, line: &dyn Fn(&str, u32) -> Option<String>) -> String {
    if view.graphs.is_empty() {
        return String::new();
    }
    let mut out = format!(
        "<style>{STYLE}</style>\n<h2>Critical paths</h2>\n<p>With the clauses above, parallelism is {:.2} if an iteration waits for the whole iterations that it depends on, {:.2} if a \
         line waits for the lines that it depends on: estimates from means, which may exceed the model everything. The drawings are of \
         the latter. A box is a line or an inner loop: 17: 8 &times; 20000 stands for line 17, 8 instructions each time, executed 20000 times; of a loop these are the instructions of its critical path. At \
         the left are the dependences that the loop carries, at the right those within an iteration. What is on the critical path is thick and \
         orange; what a clause takes away is dotted. A filled box opens what its line calls.</p>\n",
        view.iterations_as_tasks.parallelism, view.lines_as_tasks.parallelism
    );
    out.push_str(&list(view));
    out.push_str("<div class=\"graphs\">\n");
    for graph in view.graphs.iter().take(MOST) {
        drawing(graph, view, line, &mut out);
    }
    out + "</div>\n"
}

fn link(name: &str, text: &str, view: &CriticalPaths) -> String {
    let text = escape::text(text);
    let is_there = view.graphs.iter().take(MOST).any(|each| each.id == name);
    if is_there {
        format!("<a href=\"#{}\">{text}</a>", escape::text(name))
    } else {
        text
    }
}

#[expect(clippy::cast_precision_loss, reason = "a share that is shown")]
fn list(view: &CriticalPaths) -> String {
    let mut rows = String::new();
    for graph in view.graphs.iter().take(MOST) {
        let share = graph.on_path * graph.span * 100.0 / view.lines_as_tasks.span.max(1) as f64;
        let _ = writeln!(
            rows,
            "<tr><td>{:.1} %</td><td>{}</td><td>{}</td><td>{:.2}</td><td class=\"name\">{}</td></tr>",
            share.min(100.0),
            number(graph.span),
            graph.entries,
            graph.parallelism,
            link(&graph.id, &title(graph), view)
        );
    }
    let head = ["of the path", "span", "executions", "parallelism"].map(|name| format!("<th>{name}</th>")).concat();
    let more = view.graphs.len().saturating_sub(MOST) as u64 + view.left_out;
    let more = if more > 0 {
        format!("<p class=\"dim\">{more} more are in the JSON or too many for it.</p>\n")
    } else {
        String::new()
    };
    let open = if view.graphs.len() <= 12 { " open" } else { "" };
    format!(
        "<details{open}><summary>{} calls and loops</summary><div class=\"scroll\"><table><tr>{head}<th \
         class=\"name\">of</th></tr>\n{rows}</table></div></details>\n{more}",
        view.graphs.len()
    )
}

fn drawing(graph: &Graph, view: &CriticalPaths, line: &dyn Fn(&str, u32) -> Option<String>, out: &mut String) {
    // The costliest, in their order.
    let mut ranked: Vec<usize> = (0..graph.nodes.len()).collect();
    ranked.sort_by(|a, b| {
        let cost = |at: usize| (graph.nodes[at].times * graph.nodes[at].cost, graph.nodes[at].cost);
        cost(*b).partial_cmp(&cost(*a)).unwrap_or(std::cmp::Ordering::Equal).then(a.cmp(b))
    });
    ranked.truncate(MOST_NODES);
    let costliest = ranked.first().and_then(|at| graph.nodes[*at].opens.first());
    ranked.sort_unstable();
    let _ = writeln!(out, "<section class=\"graph\" id=\"{}\">", escape::text(&graph.id));
    let _ = writeln!(out, "<h2>{}</h2>", escape::text(&title(graph)));
    let around = graph.within.as_deref().map(|name| format!(" &middot; {}", link(name, "what is around it", view)));
    let into = costliest.map(|name| format!(" &middot; {}", link(name, "into its costliest line", view)));
    let _ = writeln!(
        out,
        "<p class=\"dim\">{}; each {} instructions, critical path {}, parallelism {:.2}{}{}</p>",
        executions(graph),
        number(graph.work),
        number(graph.span),
        graph.parallelism,
        around.unwrap_or_default(),
        into.unwrap_or_default()
    );
    if ranked.len() < graph.nodes.len() {
        let _ = writeln!(out, "<p class=\"dim\">The {} costliest of {} lines.</p>", ranked.len(), graph.nodes.len());
    }
    let height = ranked.len() * ROW + 16;
    let _ = writeln!(out, "<svg viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-label=\"dependences\">");
    let row = |at: u32| ranked.binary_search(&(at as usize)).ok();
    let (mut left, mut right) = (0, 0);
    for edge in &graph.edges {
        if let (Some(from), Some(to)) = (row(edge.from), row(edge.to)) {
            let lane = if edge.carried { &mut left } else { &mut right };
            *lane += 1;
            arc(edge, (from, to), *lane, out);
        }
    }
    for (at, number_of_node) in ranked.iter().enumerate() {
        let node = &graph.nodes[*number_of_node];
        let top = at * ROW + 8;
        let on = if node.times > 0.0 { " class=\"on\"" } else { "" };
        let what = if node.kind == "loop" { "loop " } else { "" };
        let text = format!("{what}{}: {} &times; {}", node.line, number(node.cost), node.count);
        let (x, y) = (BOX.0, top + 15);
        let inner = format!(
            "<rect x=\"{x}\" y=\"{top}\" width=\"{}\" height=\"20\" rx=\"3\"{on}/><text x=\"{}\" y=\"{y}\">{text}</text>",
            BOX.1 - BOX.0,
            x + 6
        );
        let opens = node.opens.iter().find(|name| view.graphs.iter().take(MOST).any(|each| each.id == **name));
        let _ = match opens {
            Some(name) => writeln!(out, "<a href=\"#{}\">{inner}</a>", escape::text(name)),
            None => writeln!(out, "{inner}"),
        };
        let source = line(&node.file, node.line).unwrap_or_else(|| short_file(&node.file).to_owned());
        let source: String = source.trim().chars().take(66).collect();
        let _ = writeln!(out, "<text class=\"dim\" x=\"{SOURCE}\" y=\"{y}\">{}</text>", escape::text(&source));
    }
    out.push_str("</svg>\n");
    edges(graph, out);
    out.push_str("</section>\n");
}

fn executions(graph: &Graph) -> String {
    let of = |count: u64, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
    match graph.kind {
        "loop" => format!("{}, {}", of(graph.entries, "execution"), of(graph.iterations, "iteration")),
        _ => of(graph.entries, "call"),
    }
}

/// An arrow beside the rows: carried ones at the left.
fn arc(edge: &GraphEdge, (from, to): (usize, usize), lane: usize, out: &mut String) {
    let class = match () {
        () if !edge.clause.is_empty() => "off",
        () if edge.times > 0.0 => "on",
        () => "",
    };
    let reach = 24 + (lane * 13) % 90;
    let (x, bend) = if edge.carried { (BOX.0, BOX.0.saturating_sub(reach)) } else { (BOX.1, BOX.1 + reach) };
    let (begin, end) = (from * ROW + 23, to * ROW + if from == to { 12 } else { 15 });
    let tip = if edge.carried { x - 7 } else { x + 7 };
    let _ = writeln!(
        out,
        "<g><title>{}</title><path class=\"{class}\" d=\"M{x} {begin}C{bend} {begin} {bend} {end} {tip} {end}\"/><path \
         class=\"head {class}\" d=\"M{x} {end}L{tip} {}L{tip} {}Z\"/></g>",
        escape::text(&words(edge)),
        end - 4,
        end + 4
    );
    if class == "on" && !edge.variable.is_empty() {
        let name: String = edge.variable.chars().take(12).collect();
        let (at, anchor) = if edge.carried { (2, "start") } else { (SOURCE - 10, "end") };
        let middle = usize::midpoint(begin, end) + 4;
        let _ = writeln!(
            out,
            "<text class=\"dim\" x=\"{at}\" y=\"{middle}\" text-anchor=\"{anchor}\">{}</text>",
            escape::text(&name)
        );
    }
}

fn edges(graph: &Graph, out: &mut String) {
    if graph.edges.is_empty() {
        return;
    }
    let mut rows = String::new();
    for edge in graph.edges.iter().take(500) {
        let line = |at: u32| graph.nodes.get(at as usize).map_or(0, |node| node.line);
        let _ = writeln!(
            rows,
            "<tr><td>{}</td><td>{}</td><td class=\"name\">{}</td><td>{}</td></tr>",
            line(edge.from),
            line(edge.to),
            escape::text(&words(edge)),
            number(edge.times)
        );
    }
    let _ = writeln!(
        out,
        "<details><summary>{} dependences</summary><div class=\"scroll\"><table><tr><th>from line</th><th>to line</th><th \
         class=\"name\">dependence</th><th>times on the path</th></tr>\n{rows}</table></div></details>",
        graph.edges.len()
    );
}
