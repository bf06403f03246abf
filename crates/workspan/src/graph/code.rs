//! `workspan graph code`: how parallel each basic block is executed.

use serde_json::{json, Value};
use workspan_graph::code::{Code, Style};
use workspan_graph::graph::Graph;
use workspan_graph::program::place;
use workspan_graph::replay::replay;

use super::open::open;
use super::shown::{self, Table};
use crate::args::graph::GraphCode;
use crate::exit::Outcome;
use crate::output;

/// From few to many runs.
const SHADES: &[u8] = b" .:-=+*#%@";
/// Most columns of the heat map.
const WIDTH: u32 = 32;

/// Runs the verb.
pub fn run(args: &GraphCode) -> anyhow::Result<Outcome> {
    let recording = open(&args.folder)?;
    let mut code = Code::new(&Graph::of(&recording));
    replay(&recording, &mut code)?;
    let mut found: Vec<_> = code.blocks.iter().collect();
    found.sort_by_key(|(segment, block)| (std::cmp::Reverse(block.count()), **segment));
    let width = code.most.clamp(1, WIDTH);
    let mut styles = [(Style::Serial, 0_u64), (Style::Mixed, 0), (Style::Parallel, 0)];
    let mut rows: Vec<Vec<Value>> = Vec::new();
    for (id, block) in found {
        let style = block.style(code.most);
        styles.iter_mut().filter(|(one, _)| *one == style).for_each(|(_, runs)| *runs += block.count());
        let segment = recording.program.segment(*id);
        let at = segment.and_then(|(loaded, segment)| place(&loaded.module, segment.place));
        let at = at.map(|(file, line)| format!("{file}:{line}"));
        let name = segment.and_then(|(loaded, segment)| loaded.module.functions.get(segment.function as usize));
        let name = name.map(|function| function.name.clone());
        let last =
            if args.form.json || args.form.csv { json!(block.runs) } else { json!(heat(block, width, code.most)) };
        rows.push(vec![json!(block.count()), json!(block.mean()), json!(style.name()), json!(at), json!(name), last]);
    }
    let all: u64 = styles.iter().map(|(_, runs)| runs).sum();
    let share = |runs: u64| runs.saturating_mul(100).checked_div(all).unwrap_or(0);
    let words: Vec<String> =
        styles.iter().map(|(style, runs)| format!("{} {} %", style.name(), share(*runs))).collect();
    let head = format!(
        "{all} runs of basic blocks: {}; at most {} contexts run at a time\nheat: runs with 1 to {} contexts running, from few '.' to many '@', logarithmic",
        words.join(", "), code.most, code.most
    );
    let fields = json!({
        "most_contexts": code.most,
        "styles": styles.iter().map(|(style, runs)| (style.name().to_owned(), json!(runs))).collect::<serde_json::Map<_, _>>(),
        "complete": recording.complete(),
    });
    let columns = &["runs", "mean_contexts", "style", "at", "function", "heat"];
    let table = Table { name: "blocks", columns, rows };
    output::data(&shown::write(&args.form, &table, &head, fields, args.form.top))?;
    Ok(Outcome::OK)
}

/// Runs by number of contexts, as characters.
fn heat(block: &workspan_graph::code::Block, width: u32, most: u32) -> String {
    let column = |contexts: u32| ((contexts.max(1) - 1) * width / most.max(1)) as usize;
    let mut runs = vec![0_u64; width as usize];
    for (contexts, count) in &block.runs {
        if let Some(place) = runs.get_mut(column(*contexts)) {
            *place += count;
        }
    }
    let top = runs.iter().copied().max().unwrap_or(0).max(1);
    let shade = |count: u64| match count {
        0 => ' ',
        _ => {
            let steps = SHADES.len() - 1;
            let level = 1 + count.ilog2() as usize * (steps - 1) / top.ilog2().max(1) as usize;
            char::from(SHADES[level.min(steps)])
        }
    };
    format!("|{}|", runs.into_iter().map(shade).collect::<String>())
}
