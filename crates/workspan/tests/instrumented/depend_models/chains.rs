//! Sizes of calls, and how lines follow one another, against the tree of all that ran.

use std::collections::BTreeMap;
use std::fmt::Write;

use workspan_depend::engine::Engine;

use super::slow;
use super::tree::{NodeId, Tree, What};

/// The line that a call is on.
#[derive(Clone, Copy)]
struct At {
    line: u32,
    /// Where its latest piece was, and whether it has left that place since.
    node: NodeId,
    moved: bool,
}

/// Executions and cost of lines, and how often they followed one another, by function.
type Lines = (BTreeMap<(u32, u32), (u64, u64)>, BTreeMap<(u32, u32, u32), u64>);

fn of_tree(tree: &Tree<'_>) -> Lines {
    let (mut lines, mut edges) = Lines::default();
    let mut at: BTreeMap<NodeId, At> = BTreeMap::new();
    for each in &tree.lines {
        let frame = tree.frame(each.node);
        let function = tree.nodes[frame].function;
        let now = at.entry(frame).or_insert(At { line: 0, node: each.node, moved: true });
        now.moved |= now.node != each.node;
        now.node = each.node;
        if each.line != 0 && (now.moved || now.line != each.line) {
            lines.entry((function, each.line)).or_default().0 += 1;
            if now.line != 0 {
                *edges.entry((function, now.line, each.line)).or_default() += 1;
            }
            (now.line, now.moved) = (each.line, false);
        }
        // It is part of all lines that have called what leads here.
        for around in tree.nodes[each.node].path.iter().filter(|node| matches!(tree.nodes[**node].what, What::Call(_)))
        {
            if let Some(now) = at.get(around).filter(|now| now.line != 0) {
                lines.entry((tree.nodes[*around].function, now.line)).or_default().1 += each.cost;
            }
        }
    }
    (lines, edges)
}

/// What differs.
pub(super) fn differences(engine: &Engine, tree: &Tree<'_>, name: &str) -> String {
    let mut out = String::new();
    let mut note = |what: &str, found: String, expected: String| {
        if found != expected {
            let _ = writeln!(out, "{name}: {what}\n{found}\nfrom the definition\n{expected}");
        }
    };
    let expected = slow::sizes(tree, &engine.source);
    let found: BTreeMap<u32, slow::Size> = expected
        .keys()
        .map(|place| {
            let found = engine.continuations.of(*place);
            assert!(*place == 0 || found.awaited == found.calls, "{name}: all calls are waited for");
            let longest = (found.longest, found.longest_continuation);
            let slow =
                slow::Size { calls: found.calls, length: found.length, continuation: found.continuation, longest };
            (*place, slow)
        })
        .collect();
    let shown = |sizes: &BTreeMap<u32, slow::Size>| {
        // Nothing follows the program.
        format!("{:?}", sizes.iter().filter(|(place, _)| **place != 0).collect::<Vec<_>>())
    };
    note("sizes of calls", shown(&found), shown(&expected));
    let (lines, edges) = of_tree(tree);
    let chain = &engine.continuations.chain;
    note("executions of lines", format!("{:?}", chain.executions()), format!("{lines:?}"));
    note("lines that follow one another", format!("{:?}", chain.transitions()), format!("{edges:?}"));
    out
}
