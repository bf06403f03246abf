//! What a run with changes would take on this number of processors, while somebody waits: of all its strands or not at all. On a graph
//! of which short strands are merged the result is another one, by several per cent on few processors and by half on a thousand.

use workspan_analysis::predict::{point, Bounds, Options, Point, SEEDS};
use workspan_analysis::schedule::Graph;
use workspan_model::Nanos;

/// Strands at most: six schedules of as many take a fraction of a second.
pub const STRANDS: u64 = 1 << 17;

/// Parts of pieces at most: a piece that is made faster is run in as many parts, of one without end as many as there may be
/// processors.
pub const PARTS: u64 = 400_000;

/// Speedups on a number of processors: what one processor takes as recorded, over the time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Predicted {
    /// Of a greedy schedule.
    pub greedy: f64,
    /// By work stealing: the least, the median and the most of [`SEEDS`].
    pub stealing: [f64; 3],
}

impl Predicted {
    /// What `workspan predict` has of a number of processors.
    pub fn of(point: &Point) -> Predicted {
        let typical = point.typical();
        let ends = [point.stealing.last().unwrap_or(typical), typical, point.stealing.first().unwrap_or(typical)];
        let speedup = |time: Nanos| point.speedup(time).map_or(0.0, |ratio| ratio.0);
        Predicted { greedy: speedup(point.greedy.time), stealing: ends.map(|schedule| speedup(schedule.time)) }
    }
}

/// What a graph takes, if one processor takes `on_one` and a steal costs `steal`.
pub fn predicted(graph: &Graph, on_one: Nanos, steal: Nanos, processors: u32) -> Predicted {
    let options = Options { processors: Vec::new(), steal, seeds: SEEDS };
    Predicted::of(&point(graph, &Bounds::of(graph, on_one, steal), &options, processors))
}
