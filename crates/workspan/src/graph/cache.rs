//! `workspan graph cache`: misses of LRU caches of all sizes.

use serde_json::json;
use workspan_graph::cache::{Caches, Size, SIZES};
use workspan_graph::curve::{excerpts, Curve, Sharing};
use workspan_graph::drawn::smallest;
use workspan_graph::file::Recording;
use workspan_graph::replay::replay;
use workspan_graph::sample::Sample;
use workspan_report::graph::{Axis, Chart, Draw, Drawing, Point, Scale, Series};
use workspan_report::words::memory;

use super::open::open;
use super::sampled;
use super::shown::{self, Answer, Table};
use super::timeline::short;
use crate::args::graph::GraphCache;
use crate::exit::Outcome;
use crate::output;
use crate::table::{self, Align};

/// Share of the accesses by which a sample may be wrong.
const MOST_ERROR: f64 = 0.01;

/// Runs the verb.
pub fn run(args: &GraphCache) -> anyhow::Result<Outcome> {
    let recording = open(&args.folder)?;
    let answer =
        answer(&recording, Cache { line: args.line, ways: args.ways, shared: args.shared, sample: args.sample })?;
    shown::write(&args.form, &recording, &answer)?;
    Ok(Outcome::OK)
}

/// Caches of all sizes.
#[derive(Clone, Copy, Debug)]
pub struct Cache {
    /// Bytes of a line.
    pub line: u64,
    /// Lines of a set.
    pub ways: u64,
    /// All contexts share them.
    pub shared: bool,
    /// Of the larger ones, one of how many sets is simulated; nothing: all.
    pub sample: Option<u64>,
}

/// What was simulated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Simulated {
    All,
    /// Some excerpts of the run.
    Excerpts,
    /// From this size on less than all: one of N sets of large caches, of small ones windows of time.
    Sets(u64, u64),
}

impl Simulated {
    fn name(self) -> Option<&'static str> {
        match self {
            Simulated::All => None,
            Simulated::Excerpts => Some("excerpts"),
            Simulated::Sets(..) => Some("sets"),
        }
    }
}

/// Misses of each size.
fn sizes(recording: &Recording, cache: Cache) -> anyhow::Result<(Vec<Size>, Simulated)> {
    let Cache { line, ways, shared, sample } = cache;
    if let Some(one_in) = sample {
        // First of all for what is wrong with the sample.
        let caches = Caches::sampled(line, ways, SIZES, (one_in, recording.accesses()))?;
        let some = (one_in, MOST_ERROR);
        let found =
            if shared { None } else { excerpts::sizes(recording, (line, ways), SIZES, some)? }.unwrap_or_default();
        if found.suffices {
            return Ok((found.sizes, Simulated::Excerpts));
        }
        if !found.no_sets {
            let from = caches.sampled_from();
            let sizes = simulate(recording, caches, shared)?;
            if sizes.iter().all(|size| size.is_within(MOST_ERROR)) {
                return Ok((sizes, from.map_or(Simulated::All, |from| Simulated::Sets(one_in, from))));
            }
        }
        output::note("the sample would be wrong by more than 1 % of the accesses: everything is simulated");
    }
    Ok((simulate(recording, Caches::new(line, ways, SIZES)?, shared)?, Simulated::All))
}

fn simulate(recording: &Recording, caches: Caches, shared: bool) -> anyhow::Result<Vec<Size>> {
    let mut curve = Curve::new(caches, if shared { Sharing::Shared } else { Sharing::Private });
    replay(recording, &mut curve)?;
    Ok(curve.sizes())
}

/// The curve: of a graph that is a sample, all sizes that this says something about.
pub fn answer(recording: &Recording, cache: Cache) -> anyhow::Result<Answer> {
    match &recording.sample {
        None => of_all(recording, cache),
        Some(sample) => of_sample(recording, sample, cache),
    }
}

fn of_all(recording: &Recording, cache: Cache) -> anyhow::Result<Answer> {
    let (sizes, simulated) = sizes(recording, cache)?;
    // Nothing is sampled where everything is simulated after all.
    let one_in = cache.sample.filter(|_| simulated != Simulated::All);
    let how = match simulated {
        Simulated::All => String::new(),
        Simulated::Excerpts => "sampled: excerpts of the run".to_owned(),
        Simulated::Sets(one_in, from) => format!(
            "sampled from {} on: one of {one_in} sets of large caches, windows of time of small ones",
            memory(from)
        ),
    };
    let how = one_in.map(|_| format!("{how}; ± in 95 of 100 samples"));
    let help = "Share of accesses that miss in a cache of each size. The smallest size at which a curve has fallen is what the \
                program uses again and again.";
    let mut answer = curve(recording, (cache, one_in), &sizes, (how, help));
    answer.fields["sample_of"] = json!(simulated.name());
    Ok(answer)
}

fn of_sample(recording: &Recording, sample: &Sample, cache: Cache) -> anyhow::Result<Answer> {
    anyhow::ensure!(cache.sample.is_none(), "the graph is a sample already: leave out --sample");
    let Cache { line, ways, shared, .. } = cache;
    let sizes = sampled::between(recording, sample, (line, ways, shared), SIZES)?;
    let least = memory(smallest(ways));
    let how = format!("caches from {least} on: the sample says nothing of smaller ones");
    let help = "Share of accesses that miss in a cache of each size, estimated.";
    let answer = curve(recording, (cache, None), &sizes, (Some(how), help));
    Ok(Answer { numbers: sampled::Numbers::Estimate, ..answer })
}

/// The answer of these sizes; `how` they were estimated, if they were, so that each has an error.
fn curve(
    recording: &Recording,
    (cache, one_in): (Cache, Option<u64>),
    sizes: &[Size],
    (how, help): (Option<String>, &'static str),
) -> Answer {
    let Cache { line, ways, shared, .. } = cache;
    let ratio = |size: &Size| (size.accesses > 0).then(|| shown::ratio(size.misses, size.accesses));
    let error = |size: &Size| shown::ratio(size.error, size.accesses);
    let accesses = sizes.first().map_or_else(|| recording.accesses(), |size| size.accesses);
    let whose = if shared { "one cache of all threads" } else { "a cache for each thread" };
    let mut head = format!("{accesses} accesses to lines of {line} bytes; {ways}-way LRU, {whose}");
    if let Some(how) = &how {
        head = format!("{head}; {how}");
    }
    let mut rows = vec![["size", "misses", "of accesses"].map(str::to_owned).to_vec()];
    rows.extend(sizes.iter().map(|size| {
        let mut share = ratio(size).map_or_else(String::new, |ratio| format!("{:.3} %", ratio * 100.0));
        if how.is_some() {
            share = format!("{share} ± {:.3}", error(size) * 100.0);
        }
        vec![memory(size.bytes), size.misses.to_string(), share]
    }));
    let text = format!("{head}\n\n{}", table::write(&rows, &[Align::Right, Align::Right, Align::Right]));
    let row = |size: &Size| {
        vec![json!(size.bytes), json!(size.accesses), json!(size.misses), json!(ratio(size)), json!(error(size))]
    };
    Answer {
        of: "graph cache",
        title: "Cache misses",
        help,
        head,
        fields: json!({
            "line_bytes": line, "ways": ways, "shared": shared, "sample": one_in, "complete": recording.complete(),
        }),
        table: Table {
            name: "sizes",
            columns: &["bytes", "accesses", "misses", "miss_ratio", "miss_ratio_error"],
            rows: sizes.iter().map(row).collect(),
        },
        text: Some(text),
        drawings: vec![Drawing::Chart(drawing(sizes))],
        ..Answer::default()
    }
}

#[expect(clippy::cast_precision_loss, reason = "powers of two, drawn")]
fn drawing(sizes: &[Size]) -> Chart {
    let point = |size: &Size| {
        let y = 100.0 * shown::ratio(size.misses, size.accesses);
        let error = 100.0 * shown::ratio(size.error, size.accesses);
        let title = format!("{}: {y:.3} % ± {error:.3}, {} misses", memory(size.bytes), size.misses);
        Point { x: size.bytes as f64, y, error, title }
    };
    Chart {
        title: "Misses by size of the cache".to_owned(),
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a power of two")]
        x: Axis { label: "size of the cache".to_owned(), scale: Scale::Doubling, shown: |size| memory(size as u64) },
        y: Axis {
            label: "misses of accesses".to_owned(),
            scale: Scale::Linear,
            shown: |share| format!("{} %", short(share)),
        },
        series: vec![Series { name: "misses".to_owned(), draw: Draw::Line, points: sizes.iter().map(point).collect() }],
    }
}
