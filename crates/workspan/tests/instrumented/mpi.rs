//! Programs on MPI, on both implementations: the shape of their graphs, and the bytes that they move, are what they print
//! themselves. Each run starts a launcher, so that one run checks much.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use workspan_graph::events::Access;
use workspan_graph::file::{Recording, NAME};
use workspan_graph::graph::Graph;
use workspan_graph::replay::{replay, Consumer, Executed};
use workspan_trace::program::Access as Mode;

use crate::support::{build, err, folder, out, success, workspan};
use crate::threads::shape;

const BOTH: [&str; 2] = ["openmpi", "mpich"];

/// Builds `programs/mpi/NAME.c` as `prog`.
#[track_caller]
fn build_program(folder: &Path, mpi: &str, name: &str) {
    let file = format!("{name}.c");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs/mpi").join(&file);
    fs::copy(source, folder.join(&file)).expect("a program of the repository");
    build(folder, &format!("mpicc.{mpi} -O1 {file} -o prog"));
}

/// Runs a command on ranks.
fn on_ranks(folder: &Path, mpi: &str, ranks: usize, command: &[&str]) -> Output {
    let options: &[&str] = if mpi == "openmpi" { &["--allow-run-as-root", "--oversubscribe"] } else { &[] };
    Command::new(format!("mpirun.{mpi}"))
        .args(options)
        .args(["-n", &ranks.to_string()])
        .args(command)
        .current_dir(folder)
        .env("XDG_CACHE_HOME", Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache"))
        .stdin(Stdio::null())
        .output()
        .expect("the MPI packages are installed")
}

fn record(folder: &Path, mpi: &str, ranks: usize) -> Output {
    let us = env!("CARGO_BIN_EXE_workspan");
    on_ranks(folder, mpi, ranks, &[us, "graph", "record", "-o", "run.graph", "--", "./prog"])
}

/// Merges the graphs of all ranks.
fn merge(folder: &Path, ranks: &[&str], options: &[&str]) -> Output {
    let mut arguments = vec!["graph", "merge", "-o", "all.graph"];
    arguments.extend(options);
    arguments.extend(ranks);
    workspan(folder, &arguments)
}

fn names(ranks: usize) -> Vec<String> {
    (0..ranks).map(|rank| format!("run.{rank}.graph")).collect()
}

#[track_caller]
fn merge_all(folder: &Path, ranks: usize) {
    let names = names(ranks);
    success(merge(folder, &names.iter().map(String::as_str).collect::<Vec<_>>(), &[]));
}

fn json(folder: &Path, command: &str, graph: &str) -> serde_json::Value {
    let output = workspan(folder, &["graph", command, graph, "--json"]);
    assert!(matches!(output.status.code(), Some(0 | 1)), "{}", err(&output));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

/// Bytes that libraries read and wrote, by rank.
#[derive(Default)]
struct Moved(BTreeMap<u64, [u64; 2]>);

impl Consumer for Moved {
    fn segment(&mut self, _: Executed<'_>, _: &[Access]) {}

    fn transfer(&mut self, _: Executed<'_>, access: &Access) {
        let moved = self.0.entry(access.address >> 48).or_default();
        moved[usize::from(access.mode == Mode::Store)] += access.size;
    }
}

fn opened(folder: &Path, graph: &str) -> Recording {
    Recording::open(&folder.join(graph).join(NAME)).expect("a graph")
}

/// All that the program prints about itself against its graphs.
fn check(mpi: &str, ranks: usize) {
    let folder = folder(&format!("mpi-{mpi}-{ranks}"));
    build_program(&folder, mpi, "shapes");
    let printed = out(&success(record(&folder, mpi, ranks)));
    // Rank, syncs, passages, bytes read, bytes written, collectives.
    let mut own: Vec<Vec<u64>> = printed
        .lines()
        .filter_map(|line| line.strip_prefix("rank "))
        .map(|line| line.split(' ').map(|number| number.parse().expect("a number")).collect())
        .collect();
    own.sort_unstable();
    assert_eq!(own.len(), ranks, "{printed}");
    for numbers in &own {
        let report = json(&folder, "report", &format!("run.{}.graph", numbers[0]));
        assert_eq!(report["complete"], true, "{report:#}");
        let (syncs, passages) = (numbers[1], numbers[2]);
        assert_eq!(shape(&report), [1 + syncs + passages, 0, 0, syncs, passages, 1], "{mpi}, rank {}", numbers[0]);
        assert_eq!(report["rank"]["of"], ranks);
    }
    merge_all(&folder, ranks);
    let report = json(&folder, "report", "all.graph");
    assert_eq!(report["complete"], true, "{report:#}");
    let sum = |column: usize| own.iter().map(|numbers| numbers[column]).sum::<u64>();
    let n = ranks as u64;
    // Context 0 creates and joins the ranks.
    let work = 1 + 2 * n + n + sum(1) + sum(2);
    assert_eq!(shape(&report), [work, n, n, sum(1), own[0][5], n + 1], "{mpi} on {ranks} ranks");
    assert_eq!(report["ranks"]["messages"]["sent_only"], 0);
    assert_eq!(report["ranks"]["messages"]["received_only"], 0);
    let recording = opened(&folder, "all.graph");
    let graph = Graph::of(&recording);
    assert_eq!(graph.order().len(), graph.tasks.len(), "acyclic");
    let mut moved = Moved::default();
    replay(&recording, &mut moved).expect("readable");
    let expected: BTreeMap<u64, [u64; 2]> = own.iter().map(|numbers| (numbers[0], [numbers[3], numbers[4]])).collect();
    assert_eq!(moved.0, expected, "bytes read and written, by rank");
    assert_eq!(json(&folder, "races", "all.graph")["races"], serde_json::json!([]));
}

#[test]
fn open_mpi_has_the_shape_and_moves_the_bytes_that_the_program_prints() {
    for ranks in [1, 2, 4] {
        check("openmpi", ranks);
    }
}

#[test]
fn mpich_has_the_shape_and_moves_the_bytes_that_the_program_prints() {
    for ranks in [1, 2, 4] {
        check("mpich", ranks);
    }
}

/// A stencil: the output is that without recording, messages have edges between ranks, every back end reads the merged graph.
#[test]
fn a_stencil_on_four_ranks() {
    for mpi in BOTH {
        let folder = folder(&format!("mpi-stencil-{mpi}"));
        build_program(&folder, mpi, "stencil");
        let native = out(&success(on_ranks(&folder, mpi, 4, &["./prog"])));
        assert_eq!(out(&success(record(&folder, mpi, 4))), native);
        merge_all(&folder, 4);
        let report = json(&folder, "report", "all.graph");
        // 20 steps, 3 pairs of neighbours, in both directions: sent, received, the send complete; 20 sums, one at the end, start and end.
        let (messages, collectives) = (20 * 3 * 2, 20 + 1 + 2);
        let work = 9 + 4 + 3 * messages + 4 * collectives;
        assert_eq!(shape(&report), [work, 4, 4, 3 * messages, collectives, 5], "{mpi}: {report:#}");
        assert_eq!(report["ranks"]["messages"]["matched"], messages);
        let recording = opened(&folder, "all.graph");
        let graph = Graph::of(&recording);
        let rank = |task: u32| recording.ranks.bits(graph.tasks[task as usize].context);
        let between = graph.edges.iter().filter(|edge| {
            let [from, to] = [edge.0, edge.1].map(|task| graph.tasks[task as usize].operation);
            rank(edge.0) != rank(edge.1) && from.is_some() && to.is_some()
        });
        assert_eq!(between.count() as u64, messages, "an edge for each message");
        assert_eq!(graph.order().len(), graph.tasks.len());
        assert_eq!(json(&folder, "races", "all.graph")["races"], serde_json::json!([]));
        for command in ["cache", "timeline", "misses", "sharing", "code"] {
            assert_eq!(json(&folder, command, "all.graph")["complete"], true, "{command}");
        }
        // The line of the wait is where data arrives.
        let misses = json(&folder, "misses", "all.graph");
        let arrives = |row: &serde_json::Value| row["at"] == "stencil.c:23";
        assert!(misses["instructions"].as_array().expect("a list").iter().any(arrives), "{misses:#}");
        // A rank waits for another, for at most as long as the run took, and the critical path is no longer than all work.
        let waits = json(&folder, "waits", "all.graph");
        let [work, span] = ["work_ns", "span_ns"].map(|key| waits[key].as_u64().expect("a number"));
        assert!(0 < span && span <= work, "{waits:#}");
        for row in waits["waits"].as_array().expect("a list") {
            let ns = row["ns"].as_u64().expect("a number");
            let [own, other] = ["rank", "for_rank"].map(|key| row[key].as_u64().expect("a rank"));
            assert!(ns > 0 && own != other && own < 4 && other < 4, "{row:#}");
            assert!(row["waits_at"].as_str().is_some_and(|at| at.starts_with("stencil.c:")), "{row:#}");
        }
    }
}

#[test]
fn what_does_not_belong_together_is_not_merged() {
    let folder = folder("mpi-bad");
    build_program(&folder, "mpich", "stencil");
    success(record(&folder, "mpich", 2));
    fs::rename(folder.join("run.1.graph"), folder.join("former.graph")).expect("there");
    success(record(&folder, "mpich", 2));
    #[track_caller]
    fn refused(output: &Output, text: &str) {
        assert_eq!(output.status.code(), Some(2), "{}", err(output));
        assert!(err(output).contains(text), "{}", err(output));
    }
    refused(&merge(&folder, &["run.0.graph"], &[]), "of 2 ranks these are missing: 1; name their graphs, too");
    refused(
        &merge(&folder, &["run.0.graph", "former.graph"], &[]),
        "run.0.graph and former.graph are of different runs",
    );
    refused(&merge(&folder, &["run.0.graph", "run.0.graph"], &[]), "are of the same rank");
    refused(&merge(&folder, &["run.0.graph", "none.graph"], &[]), "cannot read the task graph none.graph");
    // Without a rank: what it sent is received by nobody, what it should have sent is missing.
    success(merge(&folder, &["run.0.graph"], &["--partial"]));
    let report = json(&folder, "report", "all.graph");
    assert_eq!((&report["complete"], &report["ranks"]["of"]), (&false.into(), &2.into()));
    assert_eq!(report["ranks"]["messages"]["received_only"], 20);
    refused(&merge(&folder, &["run.0.graph", "all.graph"], &["-o", "other.graph"]), "cannot be used multiple times");
    refused(&workspan(&folder, &["graph", "merge", "-o", "b.graph", "all.graph"]), "all.graph was merged already");
    let launched = ["graph", "record", "-o", "c.graph", "--", "mpirun.mpich", "-n", "2", "./prog"];
    refused(&workspan(&folder, &launched), "mpirun.mpich starts the ranks: put it first");
    // A program that never starts MPI, as a rank and by itself.
    fs::write(folder.join("quiet.c"), "int main(void) { volatile int i = 0; i++; return 0; }").expect("writable");
    build(&folder, "cc -O1 quiet.c -o prog");
    success(record(&folder, "mpich", 1));
    refused(&merge(&folder, &["run.0.graph"], &[]), "its program did not call MPI_Init");
}

/// A rank that is killed leaves what it did; a program that no launcher has started is rank 0 of 1.
#[test]
fn a_rank_that_dies_and_one_that_is_alone() {
    let folder = folder("mpi-dies");
    let text = "#include <mpi.h>
#include <stdlib.h>
#include <signal.h>
int main(int argc, char **argv) {
    int me, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (ranks > 1 && me == 1) raise(SIGKILL);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
";
    fs::write(folder.join("dies.c"), text).expect("writable");
    // MPICH's launcher kills the other recorders, too; Open MPI's ends them.
    build(&folder, "mpicc.openmpi -O1 dies.c -o prog");
    assert!(!record(&folder, "openmpi", 2).status.success());
    let output = merge(&folder, &["run.0.graph", "run.1.graph"], &[]);
    assert!(err(&output).contains("run.1.graph: "), "{}", err(&output));
    let report = json(&folder, "report", "all.graph");
    assert_eq!((&report["complete"], &report["contexts"]), (&false.into(), &3.into()), "{report:#}");
    build(&folder, "mpicc.mpich -O1 dies.c -o prog");
    success(workspan(&folder, &["graph", "record", "-o", "alone.graph", "--", "./prog"]));
    let report = json(&folder, "report", "alone.graph");
    assert_eq!(report["rank"], serde_json::json!({ "rank": 0, "of": 1 }));
    assert_eq!(shape(&report), [4, 0, 0, 0, 3, 1]);
}
