//! Graphs that have the accesses to a part of the cache lines: what their numbers mean, and what cannot be said.

use serde_json::{json, Value};
use workspan_graph::cache::{Size, SIZES};
use workspan_graph::curve::Sharing;
use workspan_graph::drawn::{smallest, Drawn};
use workspan_graph::file::Recording;
use workspan_graph::sample::{self, Sample};
use workspan_report::graph::Drawing;

use super::cache::{drawing, size_in_words, Cache};
use super::shown::{self, Answer, Table};
use crate::table::{self, Align};

/// How numbers come from a graph that is a sample.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Numbers {
    /// From what is there of everything: tasks, times, counts.
    #[default]
    Exact,
    /// Of the recorded lines alone.
    Part,
    /// Estimated for all lines, with an error.
    Estimate,
}

impl Numbers {
    fn name(self) -> &'static str {
        match self {
            Numbers::Exact => "exact",
            Numbers::Part => "of-recorded-lines",
            Numbers::Estimate => "estimated",
        }
    }
}

/// What a graph has, in a few words; nothing: it has all accesses.
pub fn in_short(recording: &Recording) -> Option<String> {
    recording.sample.map(|sample| format!("accesses to 1 of {} cache lines are recorded", sample.one_in))
}

/// What that means for numbers.
pub fn sentence(recording: &Recording, numbers: Numbers) -> Option<String> {
    let short = in_short(recording)?;
    Some(match numbers {
        Numbers::Exact => format!("{short}; these numbers are exact, from all that ran"),
        Numbers::Part => format!("{short}: counts are of these, and what happens in other lines is missing"),
        Numbers::Estimate => format!("{short}: these numbers are estimated for all lines, ± in 95 of 100 samples"),
    })
}

/// The same in JSON.
pub fn json(recording: &Recording, numbers: Numbers) -> Option<Value> {
    let sample = recording.sample?;
    Some(json!({ "one_in": sample.one_in, "share": 1.0 / f64::from(sample.one_in), "numbers": numbers.name() }))
}

/// The answer of `graph cache`: all sizes that a sample says something about.
pub(super) fn cache(recording: &Recording, sample: &Sample, cache: Cache) -> anyhow::Result<Answer> {
    anyhow::ensure!(cache.sample.is_none(), "the graph is a sample already: leave out --sample");
    let Cache { line, ways, shared, .. } = cache;
    let sizes = between(recording, sample, (line, ways, shared), SIZES)?;
    let accesses = recording.accesses();
    let ratio = |size: &Size| (accesses > 0).then(|| shown::ratio(size.misses, accesses));
    let error = |size: &Size| shown::ratio(size.error, accesses);
    let whose = if shared { "one cache of all threads" } else { "a cache for each thread" };
    let least = size_in_words(smallest(ways));
    let head = format!(
        "{accesses} accesses to lines of {line} bytes; {ways}-way LRU, {whose}; caches from {least} on: the sample says nothing of smaller ones"
    );
    let mut rows = vec![["size", "misses", "of accesses"].map(str::to_owned).to_vec()];
    rows.extend(sizes.iter().map(|size| {
        let share = format!("{:.3} % ± {:.3}", ratio(size).unwrap_or(0.0) * 100.0, error(size) * 100.0);
        vec![size_in_words(size.bytes), size.misses.to_string(), share]
    }));
    let text = format!("{head}\n\n{}", table::write(&rows, &[Align::Right; 3]));
    let row = |size: &Size| {
        vec![json!(size.bytes), json!(accesses), json!(size.misses), json!(ratio(size)), json!(error(size))]
    };
    Ok(Answer {
        of: "graph cache",
        title: "Cache misses",
        help: "Share of accesses that miss in a cache of each size, estimated.",
        head,
        fields: json!({
            "line_bytes": line, "ways": ways, "shared": shared, "sample": Value::Null, "complete": recording.complete(),
        }),
        table: Table {
            name: "sizes",
            columns: &["bytes", "accesses", "misses", "miss_ratio", "miss_ratio_error"],
            rows: sizes.iter().map(row).collect(),
        },
        text: Some(text),
        drawings: vec![Drawing::Chart(drawing(&sizes))],
        numbers: Numbers::Estimate,
        ..Answer::default()
    })
}

/// Misses of one size.
pub fn size(recording: &Recording, sample: &Sample, form: (u64, u64, bool), bytes: u64) -> anyhow::Result<Size> {
    check_size(form.1, bytes)?;
    let found = between(recording, sample, form, (bytes, bytes))?;
    found.into_iter().next().ok_or_else(|| anyhow::anyhow!("a cache has a power of two of bytes"))
}

/// Which caches a sample says nothing about.
pub fn check_size(ways: u64, bytes: u64) -> anyhow::Result<()> {
    let least = smallest(ways);
    anyhow::ensure!(
        bytes >= least,
        "the graph is a sample of the cache lines, which says nothing of caches below {} KiB ({ways}-way): name a larger one, \
         or record without --sample",
        least >> 10
    );
    Ok(())
}

fn between(
    recording: &Recording,
    sample: &Sample,
    (line, ways, shared): (u64, u64, bool),
    sizes: (u64, u64),
) -> anyhow::Result<Vec<Size>> {
    anyhow::ensure!(
        line == sample::LINE,
        "the graph is a sample of lines of {} bytes, and says nothing of others: --line {}, or record without --sample",
        sample::LINE,
        sample::LINE
    );
    let mut drawn = Drawn::new(ways, sizes, if shared { Sharing::Shared } else { Sharing::Private })?;
    sample::replay(recording, &mut drawn)?;
    Ok(drawn.sizes(sample, recording.accesses()))
}
