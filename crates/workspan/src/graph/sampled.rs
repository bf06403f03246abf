//! Graphs that have the accesses to a part of the cache lines: what their numbers mean, and what cannot be said.

use serde_json::{json, Value};
use workspan_graph::cache::Size;
use workspan_graph::curve::Sharing;
use workspan_graph::drawn::{smallest, Drawn};
use workspan_graph::file::Recording;
use workspan_graph::part::replay;
use workspan_graph::sample::{self, Sample};

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

/// Misses of the sizes between two that a sample says something about, with lines of this size.
pub fn between(
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
    replay(recording, &mut drawn)?;
    Ok(drawn.sizes(sample, recording.accesses()))
}
