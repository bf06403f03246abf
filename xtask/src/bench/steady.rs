//! How steady reports are: programs of every kind, ten times with the machine to themselves, and ten times beside four other processes that
//! are always busy. Parallelism may vary by 5 % of its median, and the verdict always names the same line.

use std::collections::BTreeSet;

use anyhow::Context;
use serde_json::Value;

use super::build::{self, Twins};
use super::child::{Busy, Call};
use super::figure::{Figure, Target};
use super::spread::Spread;
use super::{table, Options};

const GROUP: &str = "steady";
const RUNS: usize = 10;
/// Of the median, from the least to the most.
const VARIES: f64 = 0.05;
/// Processes beside the program.
const LOADS: [usize; 2] = [0, 4];

/// A program, what it is called in tables, and its arguments.
struct Case {
    name: &'static str,
    program: fn() -> anyhow::Result<Twins>,
    arguments: &'static [&'static str],
}

const fn case(name: &'static str, program: fn() -> anyhow::Result<Twins>, arguments: &'static [&'static str]) -> Case {
    Case { name, program, arguments }
}

fn waits() -> anyhow::Result<Twins> {
    build::program("waits")
}

fn rayon() -> anyhow::Result<Twins> {
    build::program("bench")
}

fn openmp(name: &str) -> anyhow::Result<Twins> {
    build::c_program("openmp", name)
}

fn threads() -> anyhow::Result<Twins> {
    build::compiled("gcc", "threads", "throughput", "c", &["-pthread"])
}

fn turns() -> anyhow::Result<Twins> {
    build::compiled("gcc", "threads", "turns", "c", &["-pthread"])
}

fn tbb() -> anyhow::Result<Twins> {
    build::compiled("g++", "tbb", "planted", "cpp", &["-ltbb"])
}

const CASES: &[Case] = &[
    case("rayon: fib with cutoff", rayon, &["fib-cutoff", "1"]),
    case("rayon: sort", rayon, &["sort", "1"]),
    case("rayon: queue of jobs", waits, &["queue"]),
    case("rayon: condition", waits, &["condition"]),
    case("rayon: barrier", waits, &["barrier"]),
    case("rayon: sleeps", waits, &["sleeps"]),
    case("OpenMP: mergesort", || openmp("mergesort"), &["2000000"]),
    case("OpenMP: static loops", || openmp("loops"), &["static", "400"]),
    case("OpenMP: dynamic loops", || openmp("loops"), &["dynamic", "400"]),
    case("threads: pipeline", threads, &["pipeline", "500"]),
    case("threads: one lock", threads, &["lock", "500"]),
    case("threads: turns under a lock", turns, &["2000"]),
    case("oneTBB: serial reduction", tbb, &["reduce", "bad"]),
    case("oneTBB: one lock", tbb, &["lock", "bad"]),
    case("oneTBB: serial stage", tbb, &["pipeline", "bad"]),
];

/// Measures the group.
pub(super) fn measure(options: &Options) -> anyhow::Result<Vec<Figure>> {
    let mut figures = Vec::new();
    let cases: Vec<&Case> = CASES.iter().filter(|case| options.wants(GROUP, case.name)).collect();
    if cases.is_empty() {
        return Ok(figures);
    }
    let load = build::program("bench")?;
    table::group("Steadiness: ten runs, alone and beside four busy processes");
    for busy in LOADS {
        let _busy = Busy::start(&load.native, busy)?;
        for case in &cases {
            let arguments = case.arguments.iter().map(|word| (*word).to_owned()).collect();
            let call = Call { program: (case.program)()?, arguments, workers: 2, folder: build::root() };
            for figure in of(case.name, busy, &call)? {
                table::row(&figure);
                figures.push(figure);
            }
        }
    }
    Ok(figures)
}

fn of(name: &str, busy: usize, call: &Call) -> anyhow::Result<[Figure; 2]> {
    let (mut parallelism, mut named) = (Vec::new(), BTreeSet::new());
    for _ in 0..RUNS {
        let report = call.profiled()?.report;
        parallelism.push(report["program"]["parallelism"].as_f64().context("a report without parallelism")?);
        named.insert(said(&report));
    }
    let spread = Spread::of(parallelism);
    let (least, most) = spread.extremes();
    let figure = |quantity, value, target, remark| Figure {
        group: GROUP,
        case: format!("{name}, load {busy}"),
        workers: 2,
        quantity,
        value,
        spread: Spread::of([value]),
        target: Some(Target::AtMost(target)),
        behind: vec![("parallelism", spread.clone())],
        remark,
    };
    let of_median = format!("of {:.2}", spread.median());
    let words = named.iter().cloned().collect::<Vec<_>>().join(" or ");
    #[expect(clippy::cast_precision_loss, reason = "a few")]
    let lines = named.len() as f64;
    Ok([
        figure("parallelism varies by", (most - least) / spread.median(), VARIES, of_median),
        figure("verdicts", lines, 1.0, words),
    ])
}

/// What limits the program, and where.
fn said(report: &Value) -> String {
    let verdict = &report["verdict"];
    let part = &verdict["losses"][0]["parts"][0];
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    match verdict["outcome"].as_str() {
        Some("limited") => {
            let of_row = |rows: &str| {
                let found = report[rows].as_array()?.iter().find(|row| row["id"] == part["id"])?;
                let places = [found, &found["place"], &found["to"], &found["from"]];
                places.iter().find(|place| place["line"].is_number()).map(|place| place["line"].to_string())
            };
            let line = of_row("sites").or_else(|| of_row("regions")).unwrap_or_default();
            format!("{}: {} at line {line}", text(&verdict["losses"][0]["cause"]), text(&part["reason"]))
        }
        outcome => outcome.unwrap_or_default().to_owned(),
    }
}
