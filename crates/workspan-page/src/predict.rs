//! What a run would take on this number of processors: on a graph that is small enough to be asked while somebody waits.

use workspan_analysis::laws;
use workspan_analysis::schedule::{greedy, stealing, BuildOptions, Graph, Stealing};
use workspan_analysis::Rows;
use workspan_model::{Nanos, Recording};

/// Pieces of a graph at most: what is small is folded until they are no more.
pub const PIECES: usize = 8_000;

/// Parts of pieces at most: a piece that is made faster is run in as many parts, of one without end as many as there may be
/// processors.
pub const PARTS: u64 = 100_000;

/// Schedules by work stealing of which the median is reported.
pub const SEEDS: u64 = 3;

/// Speedups on a number of processors: what one processor takes as recorded, over the time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Predicted {
    /// Of a greedy schedule.
    pub greedy: f64,
    /// By work stealing: the least, the median and the most of [`SEEDS`].
    pub stealing: [f64; 3],
}

/// The graph of a run.
pub fn graph<R: Rows + ?Sized>(recording: &Recording, rows: &R) -> Result<Graph, R::Error> {
    Graph::of(recording, rows, &BuildOptions { most: PIECES, ..BuildOptions::default() })
}

/// What a graph takes, if one processor takes `on_one` and a steal costs `steal`.
pub fn predicted(graph: &Graph, on_one: Nanos, steal: Nanos, processors: u32) -> Predicted {
    let speedup = |time: Nanos| laws::speedup(on_one, time).map_or(0.0, |ratio| ratio.0);
    let mut times: Vec<f64> =
        (0..SEEDS).map(|seed| speedup(stealing(graph, processors, &Stealing::of(steal, seed)).time)).collect();
    times.sort_by(f64::total_cmp);
    let at = |index: usize| times.get(index).copied().unwrap_or_default();
    Predicted {
        greedy: speedup(greedy(graph, processors).time),
        stealing: [at(0), at(times.len() / 2), at(times.len().saturating_sub(1))],
    }
}
