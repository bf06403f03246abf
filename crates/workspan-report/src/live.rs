//! What a page shows of a run that was recorded strand by strand, and what it carries to compute with.
//!
//! The rows are read a handful of times; each reading is linear in them. What is kept is bounded: steps, buckets and segments by
//! constants, the rows that are carried by [`MOST_ROWS`] and [`MOST_BYTES`]. What does not fit is merged, and the page says so.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;

use flate2::write::GzEncoder;
use flate2::Compression;
use workspan_analysis::advise::piece_id;
use workspan_analysis::predict::Prediction;
use workspan_analysis::schedule::Graph;
use workspan_analysis::strands::{coarsened, regions, walk, Place as Spot, RegionProfile, Step};
use workspan_analysis::timeline::{extent, timeline};
use workspan_analysis::{Rows, Timeline};
use workspan_model::{Machine, Nanos, Recording, SiteId, SiteKind};

use workspan_page::predict::Predicted;
use workspan_page::Merged;

use crate::calls::Steal;
use crate::parts::{piece, problems, Piece};
use crate::place;
use crate::view::Place;

/// Rows that a page carries at most.
pub const MOST_ROWS: u64 = 4_000_000;

/// Bytes of them at most, deflated.
pub const MOST_BYTES: usize = 9_000_000;

/// Steps of the walk along the critical path.
const STEPS: usize = 48;

/// Stages in which it is read.
const STAGES: u32 = 1 << 10;

/// Buckets of the timeline.
const BUCKETS: usize = 600;

/// Segments that the page knows by name.
const PIECES: usize = 2_000;

/// Segments that are offered to be made faster.
const OFFERED: usize = 8;

/// What the strands of a run report.
#[derive(Debug)]
pub struct Live {
    /// Which of repeated runs it is, from 1, and of how many.
    pub(crate) run: (u32, usize),
    pub(crate) timeline: Option<Timeline>,
    pub(crate) walk: Vec<Stretch>,
    /// All segments, by falling share of the critical path.
    pub(crate) pieces: Vec<Part>,
    /// How many of them are offered.
    pub(crate) offered: usize,
    /// Sites by handle.
    pub(crate) sites: BTreeMap<String, Vec<u32>>,
    /// Time that strands were blocked, but for what they waited for each other.
    pub(crate) blocked: Nanos,
    /// On 1, 2, 4 … processors, as `workspan predict` has it.
    pub(crate) predicted: Vec<Dot>,
    /// How many strands became part of others to predict that, and how much work these have.
    pub(crate) folded: (u64, Nanos),
    /// The rows, deflated, unless they are too many however they are merged.
    pub(crate) carried: Option<Vec<u8>>,
    /// What of them was merged.
    pub(crate) merged: Merged,
    pub(crate) warnings: Vec<String>,
}

/// What is predicted of the run as recorded, on 1, 2, 4 … processors: what `workspan predict` predicts.
#[derive(Clone, Copy, Debug)]
pub struct Foretold<'a> {
    /// The strands as a graph.
    pub graph: &'a Graph,
    /// What they take.
    pub seen: &'a Prediction,
    /// The same with even iterations, where chunks of loops alone were seen.
    pub even: Option<&'a Prediction>,
}

/// A number of processors.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dot {
    pub(crate) seen: Predicted,
    /// The median by work stealing with even iterations.
    pub(crate) even: Option<f64>,
}

/// A segment of the critical path.
#[derive(Debug)]
pub(crate) struct Stretch {
    pub(crate) piece: Piece,
    /// A line to show.
    pub(crate) place: Option<Place>,
    pub(crate) length: Nanos,
    pub(crate) share: f64,
    pub(crate) strands: u64,
}

/// A segment that can be made faster.
#[derive(Debug)]
pub(crate) struct Part {
    pub(crate) piece: Piece,
    /// By which `workspan what-if` knows it.
    pub(crate) handle: String,
    pub(crate) spot: Spot,
    pub(crate) share: f64,
}

/// What the rows of a run of `recording`, counted from 1, report.
pub fn live<R: Rows + ?Sized>(
    recording: &Recording,
    number: u32,
    rows: &R,
    foretold: &Foretold<'_>,
) -> Result<Live, R::Error> {
    let extent = extent(rows)?;
    let by_region = regions(recording, rows)?;
    let run = recording.runs.get((number as usize).saturating_sub(1));
    let virtual_clock = run.is_some_and(|run| run.clock == workspan_model::Clock::Virtual);
    let steal = run.map_or(Nanos::ZERO, |run| Steal::of(None, recording, run).cost());
    // Ticks that a program counts say how long something took, not when it was.
    let timeline = if virtual_clock { None } else { timeline(rows, &extent, BUCKETS)? };
    let steps = coarsened(walk(recording, rows, extent.rows, STAGES)?, STEPS);
    // The page computes with the same.
    let machine = Machine { steal_ns: steal.0.unsigned_abs(), ..recording.machine.clone() };
    let carried_from = Recording { machine, ..recording.clone() };
    let mut most = MOST_ROWS;
    let (carried, merged) = loop {
        let (bytes, merged) = workspan_page::encode_within(&carried_from, rows, extent.rows, most)?;
        let bytes = deflated(&bytes);
        // Rows whose constructs cannot be merged are as many as they are.
        if bytes.len() <= MOST_BYTES || most < 1_000 || extent.rows - merged.rows > most {
            break (bytes, merged);
        }
        most = extent.rows.min(most) / 2;
    };
    let pieces = pieces(recording, &by_region);
    let offered = pieces.iter().filter(|part| part.share > 0.0).count().min(OFFERED);
    Ok(Live {
        run: (number, recording.runs.len()),
        timeline,
        walk: steps.iter().map(|step| stretch(recording, step, by_region.span)).collect(),
        pieces,
        offered,
        sites: sites(recording),
        blocked: foretold.graph.blocked(),
        predicted: if extent.strands == 0 { Vec::new() } else { dots(foretold) },
        folded: (foretold.graph.folded(), foretold.graph.threshold()),
        carried: Some(carried).filter(|bytes| bytes.len() <= MOST_BYTES),
        merged,
        warnings: problems(&by_region.problems),
    })
}

fn dots(foretold: &Foretold<'_>) -> Vec<Dot> {
    let even = |at: usize| {
        let point = foretold.even?.points.get(at)?;
        point.speedup(point.typical().time).map(|ratio| ratio.0)
    };
    (0..).zip(&foretold.seen.points).map(|(at, point)| Dot { seen: Predicted::of(point), even: even(at) }).collect()
}

/// In the form that browsers can inflate.
pub(crate) fn deflated(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::new(6));
    // Memory takes all.
    let _ = encoder.write_all(bytes);
    encoder.finish().unwrap_or_default()
}

fn stretch(recording: &Recording, step: &Step, span: Nanos) -> Stretch {
    let spot = Spot::of(&recording.contexts, &step.region);
    Stretch {
        piece: piece(recording, &spot),
        place: line(recording, &spot),
        length: step.length(),
        share: step.length().over(span).map_or(0.0, |share| share.0),
        strands: step.strands,
    }
}

/// The line at which a segment begins, or that of whatever else is known of it.
fn line(recording: &Recording, spot: &Spot) -> Option<Place> {
    let site = |id: SiteId| recording.sites.get(id.0 as usize);
    let ends = match spot.site.and_then(site).map(|site| site.kind) {
        Some(SiteKind::Serial { from, to }) => [from, to],
        _ => [None, None],
    };
    let known = [spot.before.site(), ends[0], spot.site, ends[1], spot.after.site()];
    known.into_iter().flatten().filter_map(site).find_map(|site| {
        let via = site.via.as_ref().map(|(file, line)| Place {
            file: file.clone(),
            line: *line,
            column: 0,
            code: None,
            with_column: false,
        });
        via.or_else(|| place::of(recording, site))
    })
}

fn pieces(recording: &Recording, profile: &RegionProfile) -> Vec<Part> {
    let mut sums: BTreeMap<Spot, (Nanos, Nanos)> = BTreeMap::new();
    for row in &profile.regions {
        let sum = sums.entry(Spot::of(&recording.contexts, &row.region)).or_default();
        sum.0 += row.critical + row.critical_blocked;
        sum.1 += row.work;
    }
    let mut order: Vec<(Spot, (Nanos, Nanos))> = sums.into_iter().collect();
    order.sort_by_key(|(spot, sum)| (std::cmp::Reverse(*sum), *spot));
    order.truncate(PIECES);
    let part = |(spot, (critical, _)): (Spot, (Nanos, Nanos))| Part {
        piece: piece(recording, &spot),
        handle: piece_id(recording, &spot),
        spot,
        share: critical.over(profile.span).map_or(0.0, |share| share.0),
    };
    order.into_iter().map(part).collect()
}

fn sites(recording: &Recording) -> BTreeMap<String, Vec<u32>> {
    let used: BTreeSet<SiteId> = recording.contexts.ids().filter_map(|id| recording.contexts.site(id)).collect();
    let mut sites: BTreeMap<String, Vec<u32>> = BTreeMap::new();
    for id in used {
        if let Some(site) = recording.sites.get(id.0 as usize) {
            sites.entry(site.stable_id(&recording.sites)).or_default().push(id.0);
        }
    }
    sites
}
