//! Recordings that no program made, of any length, and how long the analyses of strands take with them, for
//! `cargo xtask bench`.
//!
//! * `offline make SHAPE STRANDS FILE`: writes a recording of about this number of strands of a shape (`joins`, `iterators`,
//!   `tasks`), and prints `strands` and `bytes`, what they are on disk.
//! * `offline replay FILE`, `offline what-if FILE`, `offline advise FILE`: analyses it as the verbs do, and prints
//!   `strands`, `seconds`, `cpu_seconds`, and `peak_kib`, the largest resident set of this process.
//! * `offline predict FILE`: the same, and the seconds of its parts: `graph`, and for eleven numbers of processors, 1 to
//!   1024, `greedy` and `stealing`, each one after the other.

#![expect(clippy::print_stdout, reason = "a command")]

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{bail, Context};
use nix::sys::resource::{getrusage, UsageWho};
use nix::sys::time::TimeValLike;
use workspan::strands::{self, Recorded, StoredRows};
use workspan_analysis::schedule::{greedy, stealing, BuildOptions, Graph, Stealing};
use workspan_analysis::strands::Replay;
use workspan_analysis::what_if::{Change, Factor, Selector};
use workspan_analysis::{advise, replay, what_if, Goal, Scenario};
use workspan_model::{Nanos, Recording, Run};
use workspan_read::encode;
use workspan_store::{folder_of, names, Meta, Reader, Writer};
use workspan_testkit::strands::stream::Shape;
use workspan_testkit::strands::Stream;

fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        ["make", shape, strands, file] => make(shape_of(shape)?, strands.parse()?, Path::new(file)),
        [verb, file] => analyse(verb, Path::new(file)),
        _ => bail!("usage: offline make SHAPE STRANDS FILE | offline (replay | what-if | advise | predict) FILE"),
    }
}

fn shape_of(name: &str) -> anyhow::Result<Shape> {
    Ok(match name {
        "joins" => Shape::Joins,
        "iterators" => Shape::Iterators,
        "tasks" => Shape::Tasks,
        _ => bail!("there is no shape `{name}`"),
    })
}

fn make(shape: Shape, strands: u64, file: &Path) -> anyhow::Result<()> {
    let (recording, stream) = Stream::new(shape, strands, 1);
    let recording = Recording { command: vec!["./made-up".to_owned()], ..recording };
    let folder = folder_of(file);
    if folder.is_dir() {
        names::remove(&folder)?;
    }
    let meta = Meta { command: recording.command.clone(), made_at: recording.made_at, ..Meta::default() };
    let mut writer = Writer::create(&folder, 1, &meta)?;
    let mut replay = Replay::new(&recording);
    let mut failed = None;
    stream.read(&mut |rows| {
        replay.feed(rows);
        failed = writer.push(rows).err();
        failed.is_none()
    });
    if let Some(error) = failed {
        return Err(error.into());
    }
    let summary = writer.finish(&recording, None)?;
    let runs = vec![replay.finish().into_run(&Run::default())];
    fs::write(file, encode(&Recording { runs, ..recording }))?;
    println!("strands {}\nbytes {}", summary.strands, summary.bytes);
    Ok(())
}

fn analyse(verb: &str, file: &Path) -> anyhow::Result<()> {
    let started = Instant::now();
    let Recorded { recording, run, rows } = strands::open(file, 1)?;
    match verb {
        "replay" => anyhow::ensure!(replay(&recording, &rows)?.into_run(&run).span == run.span, "another span"),
        "what-if" => {
            let part = Selector::Lines { file: "main.rs".to_owned(), first: 3, last: 3 };
            let change = Change { part, factor: Factor::new(8.0).context("it is more than 1")? };
            what_if(&recording, &rows, &[Scenario { changes: vec![change] }])?;
        }
        "advise" => drop(advise(&recording, &run, &rows, &Goal::default())?),
        "predict" => predict(&recording, &rows)?,
        _ => bail!("there is no verb `{verb}`"),
    }
    let seconds = started.elapsed().as_secs_f64();
    let strands = Reader::open(&folder_of(file), 1)?.stored().and_then(|stored| stored.strands);
    println!("strands {}\nseconds {seconds}\ncpu_seconds {}", strands.unwrap_or(0), cpu_seconds()?);
    println!("peak_kib {}", peak_kib().unwrap_or(0));
    Ok(())
}

fn predict(recording: &Recording, rows: &StoredRows) -> anyhow::Result<()> {
    let processors = || (0..=10).map(|power| 1 << power);
    let started = Instant::now();
    let graph = Graph::of(recording, rows, &BuildOptions::default())?;
    println!("pieces {}\ngraph {}", graph.pieces(), started.elapsed().as_secs_f64());
    let started = Instant::now();
    let greedy: Vec<Nanos> = processors().map(|processors| greedy(&graph, processors).time).collect();
    println!("greedy {}", started.elapsed().as_secs_f64());
    let started = Instant::now();
    let options = Stealing::of(Nanos(200), 0);
    let stolen: Vec<Nanos> = processors().map(|processors| stealing(&graph, processors, &options).time).collect();
    println!("stealing {}", started.elapsed().as_secs_f64());
    anyhow::ensure!(greedy.first() == stolen.first(), "one processor takes what it takes");
    Ok(())
}

/// CPU time of this process.
fn cpu_seconds() -> anyhow::Result<f64> {
    let usage = getrusage(UsageWho::RUSAGE_SELF)?;
    let time = usage.user_time() + usage.system_time();
    Ok(Duration::from_micros(time.num_microseconds().try_into()?).as_secs_f64())
}

/// Largest resident set of this process.
fn peak_kib() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse().ok()
}
