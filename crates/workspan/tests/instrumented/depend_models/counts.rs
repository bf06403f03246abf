//! What the critical-path graphs count, by call site and depth of recursion, against the tree of all that ran.

use std::collections::BTreeMap;
use std::fmt::Write;

use workspan_depend::engine::Engine;
use workspan_depend::paths::walk::DEPTH;

use super::tree::{NodeId, Tree, What};

/// Place of the call, function, depth of recursion.
type Key = (u32, u32, u32);

#[derive(Default, PartialEq, Eq)]
struct Counts {
    entries: BTreeMap<Key, u64>,
    /// By segment and line of it.
    lines: BTreeMap<(Key, (u32, u32)), u64>,
    loops: BTreeMap<(Key, u32), (u64, u64)>,
    /// By line that calls, and what is called.
    calls: BTreeMap<(Key, (u32, u32), Key), u64>,
}

fn of_tree(tree: &Tree<'_>) -> Counts {
    let key = |frame: NodeId| {
        let node = &tree.nodes[frame];
        let What::Call(place) = node.what else { panic!("a frame is a call") };
        let is_own = |other: &&NodeId| {
            matches!(tree.nodes[**other].what, What::Call(_)) && tree.nodes[**other].function == node.function
        };
        let depth = u32::try_from(node.path.iter().filter(is_own).count()).expect("few");
        (place, node.function, depth.min(DEPTH))
    };
    let mut found = Counts::default();
    let mut last: BTreeMap<NodeId, (u32, u32)> = BTreeMap::new();
    let mut begun: BTreeMap<NodeId, ()> = BTreeMap::new();
    for line in &tree.lines {
        let frame = tree.frame(line.node);
        // Calls and loops in the order in which lines of them first ran.
        for node in tree.nodes[line.node].path.iter().skip(1).copied() {
            if begun.insert(node, ()).is_some() {
                continue;
            }
            let path = &tree.nodes[node].path;
            match tree.nodes[node].what {
                What::Call(_) => {
                    *found.entries.entry(key(node)).or_default() += 1;
                    let around = tree.frame(path[path.len() - 2]);
                    if let Some(caller) = last.get(&around) {
                        *found.calls.entry((key(around), *caller, key(node))).or_default() += 1;
                    }
                }
                What::Loop(number) => found.loops.entry((key(frame), number)).or_default().0 += 1,
                What::Iteration => {
                    let What::Loop(number) = tree.nodes[path[path.len() - 2]].what else { panic!("of a loop") };
                    found.loops.entry((key(frame), number)).or_default().1 += 1;
                }
            }
        }
        let at = (line.segment, line.number);
        *found.lines.entry((key(frame), at)).or_default() += 1;
        last.insert(frame, at);
    }
    found
}

/// What differs.
pub(super) fn differences(engine: &Engine, tree: &Tree<'_>, name: &str) -> String {
    let mut found = Counts::default();
    for each in &engine.walked.contexts {
        found.entries.insert(each.key, each.entries);
        found.lines.extend(each.lines.iter().map(|(line, count)| ((each.key, engine.lines[line as usize]), count)));
        found.loops.extend(each.loops.iter().map(|(number, count)| ((each.key, *number), *count)));
        let calls = each.calls.iter().map(|((line, to), count)| {
            ((each.key, engine.lines[*line as usize], engine.walked.contexts[*to as usize].key), *count)
        });
        found.calls.extend(calls);
    }
    let expected = of_tree(tree);
    let mut out = String::new();
    let mut note = |what: &str, found: String, expected: String| {
        if found != expected {
            let _ = writeln!(out, "{name}: {what}\n{found}\nfrom the definition\n{expected}");
        }
    };
    note("calls of contexts", format!("{:?}", found.entries), format!("{:?}", expected.entries));
    note("executions of lines", format!("{:?}", found.lines), format!("{:?}", expected.lines));
    note("iterations", format!("{:?}", found.loops), format!("{:?}", expected.loops));
    note("calls of lines", format!("{:?}", found.calls), format!("{:?}", expected.calls));
    for (key, record) in &engine.table.all {
        let range = record.count * record.least..=record.count * record.most;
        if key.carrier != 0 && !range.contains(&record.sum) {
            let _ = writeln!(out, "{name}: distances of {key:?}: {record:?}");
        }
    }
    out
}
