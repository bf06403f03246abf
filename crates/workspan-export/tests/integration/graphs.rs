//! Graphs: DOT by a parser of its grammar and, where it is installed, by graphviz; GraphML by a parser of XML.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::process::{Command, Stdio};

use workspan_analysis::strands::order::{visit, Order, TaskId, Visitor};
use workspan_export::graph::{graph, Graph, TooLarge};
use workspan_export::{dot, graphml};
use workspan_model::Strand;
use workspan_store::{TaskTotals, Totals};
use workspan_testkit::strands::random;

use crate::sample::{check_snapshot, sample, written, Sample, SEEDS, SHOWN};

fn graph_of(sample: &Sample) -> Graph {
    let made = graph(&sample.recording, &sample.rows, 2_000).unwrap_or_else(|never| match never {});
    made.expect("it is small")
}

pub(crate) fn write_dot(sample: &Sample) -> String {
    written(|out| dot::write(&sample.recording, &graph_of(sample), out))
}

pub(crate) fn write_graphml(sample: &Sample) -> String {
    written(|out| graphml::write(&sample.recording, &graph_of(sample), out))
}

/// A token of DOT.
#[derive(Clone, Debug, PartialEq)]
enum Token {
    Name(String),
    Mark(char),
    Arrow,
}

fn tokens(text: &str) -> Vec<Token> {
    let mut found = Vec::new();
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            c if c.is_whitespace() => {}
            '-' if rest.peek() == Some(&'>') => {
                rest.next();
                found.push(Token::Arrow);
            }
            '"' => {
                let mut name = String::new();
                loop {
                    match rest.next().expect("the quote ends") {
                        '"' => break,
                        '\\' => match rest.next().expect("something is escaped") {
                            'n' => name.push('\n'),
                            c @ ('"' | '\\') => name.push(c),
                            other => panic!("\\{other}"),
                        },
                        c => {
                            assert!(!c.is_control(), "{c:?} in a quote");
                            name.push(c);
                        }
                    }
                }
                found.push(Token::Name(name));
            }
            c if c.is_ascii_alphanumeric() => {
                let mut name = String::from(c);
                while let Some(c) = rest.next_if(|c| c.is_ascii_alphanumeric() || *c == '-' || *c == '_') {
                    name.push(c);
                }
                found.push(Token::Name(name));
            }
            '{' | '}' | '[' | ']' | '=' | ',' | ';' => found.push(Token::Mark(c)),
            other => panic!("{other:?} in DOT"),
        }
    }
    found
}

type Attributes = BTreeMap<String, String>;

/// Nodes with their attributes, edges with theirs.
pub(crate) struct Dot {
    pub(crate) nodes: BTreeMap<String, Attributes>,
    pub(crate) edges: Vec<(String, String, Attributes)>,
}

/// `digraph NAME { NODE [ATTRIBUTES]; NODE -> NODE [ATTRIBUTES]; … }`
pub(crate) fn check_dot(text: &str) -> Dot {
    let tokens = tokens(text);
    let mut rest = tokens.iter();
    let mut next = || rest.next().expect("it goes on").clone();
    let name = |token: Token| match token {
        Token::Name(name) => name,
        other => panic!("{other:?}"),
    };
    assert_eq!(name(next()), "digraph");
    name(next());
    assert_eq!(next(), Token::Mark('{'));
    let mut dot = Dot { nodes: BTreeMap::new(), edges: Vec::new() };
    loop {
        let token = next();
        if token == Token::Mark('}') {
            break;
        }
        let from = name(token);
        let mut token = next();
        let mut to = None;
        if token == Token::Arrow {
            to = Some(name(next()));
            token = next();
        }
        let mut attributes = Attributes::new();
        assert_eq!(token, Token::Mark('['));
        loop {
            let key = name(next());
            assert_eq!(next(), Token::Mark('='));
            attributes.insert(key, name(next()));
            match next() {
                Token::Mark(']') => break,
                other => assert_eq!(other, Token::Mark(',')),
            }
        }
        assert_eq!(next(), Token::Mark(';'));
        match to {
            Some(to) => {
                assert!(dot.nodes.contains_key(&from) && dot.nodes.contains_key(&to), "{from} -> {to}");
                dot.edges.push((from, to, attributes));
            }
            // What all nodes have.
            None if from == "node" => {}
            None => assert_eq!(dot.nodes.insert(from, attributes), None),
        }
    }
    assert_eq!(rest.next(), None);
    dot
}

#[test]
fn dot_is_what_its_grammar_says() {
    for seed in SEEDS {
        let sample = sample(seed);
        let graph = graph_of(&sample);
        let dot = check_dot(&write_dot(&sample));
        assert_eq!((dot.nodes.len(), dot.edges.len()), (graph.nodes.len(), graph.edges.len()), "seed {seed}");
        let bold = |attributes: &Attributes| attributes.get("color").is_some_and(|colour| colour == "red");
        assert_eq!(dot.nodes.values().filter(|node| bold(node)).count(), critical(&graph), "seed {seed}");
    }
    check_snapshot("dot", &write_dot(&sample(SHOWN)));
}

fn critical(graph: &Graph) -> usize {
    graph.nodes.iter().filter(|node| node.critical).count()
}

/// Where there is none, our own parser has to do.
#[test]
fn graphviz_reads_dot() {
    for seed in [SHOWN, 78] {
        let child = Command::new("dot").arg("-Tcanon").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let Ok(mut child) = child else {
            return;
        };
        let text = write_dot(&sample(seed));
        child.stdin.take().expect("it is piped").write_all(text.as_bytes()).expect("it reads");
        let output = child.wait_with_output().expect("it ends");
        assert!(output.status.success() && !output.stdout.is_empty(), "seed {seed}");
    }
}

/// The critical path is one path from beginning to end, as long as the span, and nothing is longer.
#[test]
fn the_bold_path_is_the_span() {
    for seed in SEEDS {
        let sample = sample(seed);
        let graph = graph_of(&sample);
        let takes = |node: usize| graph.nodes[node].takes().0;
        let bold = graph.nodes.iter().filter(|node| node.critical);
        assert_eq!(bold.map(|node| node.takes().0).sum::<i64>(), sample.run.span.0, "seed {seed}");
        let path: Vec<_> = graph.edges.iter().filter(|edge| edge.critical).collect();
        assert_eq!(path.len() + 1, critical(&graph).max(1), "seed {seed}");
        let (from, to): (BTreeSet<_>, BTreeSet<_>) = path.iter().map(|edge| (edge.from, edge.to)).unzip();
        assert_eq!((from.len(), to.len()), (path.len(), path.len()), "seed {seed}: it forks");
        // Each node once all before it are done; what is left is a circle.
        let mut longest = vec![0; graph.nodes.len()];
        let mut waits = vec![0; graph.nodes.len()];
        graph.edges.iter().for_each(|edge| waits[edge.to] += 1);
        let mut ready: Vec<usize> = (0..waits.len()).filter(|node| waits[*node] == 0).collect();
        let mut done = 0;
        while let Some(node) = ready.pop() {
            done += 1;
            longest[node] += takes(node);
            for edge in graph.edges.iter().filter(|edge| edge.from == node) {
                longest[edge.to] = longest[edge.to].max(longest[node]);
                waits[edge.to] -= 1;
                if waits[edge.to] == 0 {
                    ready.push(edge.to);
                }
            }
        }
        assert_eq!(done, graph.nodes.len(), "seed {seed}: a circle");
        assert_eq!(longest.into_iter().max(), Some(sample.run.span.0), "seed {seed}");
    }
}

#[test]
fn what_is_too_large_is_said() {
    let sample = sample(SHOWN);
    let strands = sample.rows.len();
    let made = |limit| graph(&sample.recording, &sample.rows, limit).unwrap_or_else(|never| match never {});
    assert_eq!(made(strands - 1), Err(TooLarge { strands: strands as u64 }));
    assert!(made(strands).is_ok());
}

/// The labels of all nodes.
pub(crate) fn check_graphml(text: &str) -> Vec<String> {
    let document = roxmltree::Document::parse(text).expect("XML");
    let root = document.root_element();
    let namespace = "http://graphml.graphdrawing.org/xmlns";
    let is = |node: &roxmltree::Node<'_, '_>, name: &str| node.has_tag_name((namespace, name));
    assert!(is(&root, "graphml"));
    let attribute = |node: &roxmltree::Node<'_, '_>, name: &str| {
        node.attribute(name).unwrap_or_else(|| panic!("{name} of {node:?}")).to_owned()
    };
    let keys: BTreeMap<String, (String, String)> = root
        .children()
        .filter(|node| is(node, "key"))
        .map(|key| (attribute(&key, "id"), (attribute(&key, "for"), attribute(&key, "attr.type"))))
        .collect();
    let graph = root.children().find(|node| is(node, "graph")).expect("a graph");
    assert_eq!(attribute(&graph, "edgedefault"), "directed");
    let data = |of: &str, node: &roxmltree::Node<'_, '_>| {
        let mut values = BTreeMap::new();
        for data in node.children().filter(|node| is(node, "data")) {
            let key = attribute(&data, "key");
            let value = data.text().unwrap_or_default().to_owned();
            let (element, kind) = &keys[&key];
            assert_eq!(element, of);
            match kind.as_str() {
                "int" | "long" => _ = value.parse::<i64>().expect("a whole number"),
                "boolean" => _ = value.parse::<bool>().expect("a truth"),
                kind => assert_eq!(kind, "string"),
            }
            assert_eq!(values.insert(key, value), None, "twice");
        }
        values
    };
    let (mut labels, mut known) = (Vec::new(), BTreeSet::new());
    for node in graph.children().filter(|node| is(node, "node")) {
        assert!(known.insert(attribute(&node, "id")), "twice");
        labels.extend(data("node", &node).remove("node-label"));
    }
    for edge in graph.children().filter(|node| is(node, "edge")) {
        assert!(known.contains(&attribute(&edge, "source")) && known.contains(&attribute(&edge, "target")));
        assert_eq!(data("edge", &edge).len(), 2);
    }
    labels
}

#[test]
fn graphml_is_what_its_schema_says() {
    for seed in SEEDS.step_by(3) {
        let sample = sample(seed);
        let strands = graph_of(&sample).nodes.iter().filter(|node| node.strand.is_some()).count();
        assert_eq!(check_graphml(&write_graphml(&sample)).len(), strands, "seed {seed}");
    }
    let text = write_graphml(&sample(SHOWN));
    let head: String = text.lines().take(60).map(|line| line.to_owned() + "\n").collect();
    check_snapshot("graphml", &head);
}

/// The task of each row that is a strand.
#[derive(Default)]
struct Tasks(BTreeMap<u64, u32>);

impl Visitor for Tasks {
    type End = ();

    fn strand(&mut self, number: u64, _: &Strand, task: TaskId, _: &[((), Order)]) {
        self.0.insert(number, task.0);
    }

    fn barrier(&mut self) {}

    fn arrive(&mut self, (): (), (): ()) {}
}

/// Nodes of graphs and rows of the table of strands can be joined by `task`.
#[test]
fn tasks_have_the_numbers_of_the_store() {
    for seed in 0..500 {
        let rows = random(seed).rows;
        let mut found = Tasks::default();
        visit(&rows, &mut found).unwrap_or_else(|never| match never {});
        let mut check = |task: &TaskTotals| {
            if let Some(id) = u64::try_from(task.first_strand).ok().and_then(|row| found.0.get(&row)) {
                assert_eq!(i64::from(*id), task.task, "seed {seed}");
            }
        };
        let mut totals = Totals::default();
        totals.feed(&rows, &mut check);
        totals.finish(check);
    }
}
