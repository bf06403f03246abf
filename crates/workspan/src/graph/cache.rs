//! `workspan graph cache`: misses of LRU caches of all sizes.

use serde_json::json;
use workspan_graph::cache::{Caches, Size, SIZES};
use workspan_graph::curve::{Curve, Sharing};
use workspan_graph::file::Recording;
use workspan_graph::replay::replay;
use workspan_report::graph::{Axis, Chart, Draw, Drawing, Point, Scale, Series};

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

/// Misses of each size, and the smallest size whose misses are estimated.
fn sizes(recording: &Recording, cache: Cache) -> anyhow::Result<(Vec<Size>, Option<u64>)> {
    let Cache { line, ways, shared, sample } = cache;
    let caches = match sample {
        Some(one_in) => Caches::sampled(line, ways, SIZES, (one_in, recording.accesses()))?,
        None => Caches::new(line, ways, SIZES)?,
    };
    let from = caches.sampled_from();
    let mut curve = Curve::new(caches, if shared { Sharing::Shared } else { Sharing::Private });
    replay(recording, &mut curve)?;
    let sizes = curve.sizes();
    if sizes.iter().all(|size| size.is_within(MOST_ERROR)) {
        return Ok((sizes, from));
    }
    output::note("the sample would be wrong by more than 1 % of the accesses: all sets are simulated");
    self::sizes(recording, Cache { sample: None, ..cache })
}

/// The curve.
pub fn answer(recording: &Recording, cache: Cache) -> anyhow::Result<Answer> {
    let Cache { line, ways, shared, .. } = cache;
    if let Some(recorded) = &recording.sample {
        return sampled::cache(recording, recorded, cache);
    }
    let (sizes, sampled) = sizes(recording, cache)?;
    // Nothing is sampled where all sets are simulated after all.
    let one_in = cache.sample.filter(|_| sampled.is_some());
    let ratio = |size: &Size| (size.accesses > 0).then(|| shown::ratio(size.misses, size.accesses));
    let accesses = sizes.first().map_or(0, |size| size.accesses);
    let whose = if shared { "one cache of all threads" } else { "a cache for each thread" };
    let mut head = format!("{accesses} accesses to lines of {line} bytes; {ways}-way LRU, {whose}");
    if let (Some(one_in), Some(from)) = (one_in, sampled) {
        head = format!("{head}; sampled from {} on: one of {one_in} sets of large caches, windows of time of small ones; ± in 95 of 100 samples", size_in_words(from));
    }
    let error = |size: &Size| shown::ratio(size.error, size.accesses);
    let mut rows = vec![["size", "misses", "of accesses"].map(str::to_owned).to_vec()];
    rows.extend(sizes.iter().map(|size| {
        let mut share = ratio(size).map_or_else(String::new, |ratio| format!("{:.3} %", ratio * 100.0));
        if one_in.is_some() {
            share = format!("{share} ± {:.3}", error(size) * 100.0);
        }
        vec![size_in_words(size.bytes), size.misses.to_string(), share]
    }));
    let text = format!("{head}\n\n{}", table::write(&rows, &[Align::Right, Align::Right, Align::Right]));
    let row = |size: &Size| {
        vec![json!(size.bytes), json!(size.accesses), json!(size.misses), json!(ratio(size)), json!(error(size))]
    };
    Ok(Answer {
        of: "graph cache",
        title: "Cache misses",
        help: "Share of accesses that miss in a cache of each size. The smallest size at which a curve has fallen is what the \
               program uses again and again.",
        head,
        fields: json!({ "line_bytes": line, "ways": ways, "shared": shared, "sample": one_in, "complete": recording.complete() }),
        table: Table {
            name: "sizes",
            columns: &["bytes", "accesses", "misses", "miss_ratio", "miss_ratio_error"],
            rows: sizes.iter().map(row).collect(),
        },
        text: Some(text),
        drawings: vec![Drawing::Chart(drawing(&sizes))],
        ..Answer::default()
    })
}

#[expect(clippy::cast_precision_loss, reason = "powers of two, drawn")]
pub(super) fn drawing(sizes: &[Size]) -> Chart {
    let point = |size: &Size| {
        let y = 100.0 * shown::ratio(size.misses, size.accesses);
        let error = 100.0 * shown::ratio(size.error, size.accesses);
        let title = format!("{}: {y:.3} % ± {error:.3}, {} misses", size_in_words(size.bytes), size.misses);
        Point { x: size.bytes as f64, y, error, title }
    };
    Chart {
        title: "Misses by size of the cache".to_owned(),
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a power of two")]
        x: Axis {
            label: "size of the cache".to_owned(),
            scale: Scale::Doubling,
            shown: |size| size_in_words(size as u64),
        },
        y: Axis {
            label: "misses of accesses".to_owned(),
            scale: Scale::Linear,
            shown: |share| format!("{} %", short(share)),
        },
        series: vec![Series { name: "misses".to_owned(), draw: Draw::Line, points: sizes.iter().map(point).collect() }],
    }
}

pub(super) fn size_in_words(bytes: u64) -> String {
    match bytes {
        0..1024 => format!("{bytes} B"),
        1024..1_048_576 => format!("{} KiB", bytes >> 10),
        _ => format!("{} MiB", bytes >> 20),
    }
}
