//! From measurements to the view model.

use workspan_analysis::factored::{factors, read, Bend, Curve, Estimate, Factors, Measured, Places, Quotient, Reading};
use workspan_model::{Nanos, Recording};

use super::view::{Causes, Conditions, Point, Region, Scale, Shape, Site, Speedup, Speedups, Time};
use super::words;
use crate::parts;

/// What is shown.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    /// What was run, and how.
    pub conditions: &'a Conditions,
    /// The times.
    pub measured: &'a Measured,
    /// Where idle time and inflation arise, with the recording that it is from.
    pub places: Option<(&'a Recording, &'a Places)>,
    /// False if it was interrupted.
    pub complete: bool,
    /// What the runs brought to light.
    pub warnings: &'a [String],
}

/// The view; `None` if there is not a single P with all that its factors need.
pub fn scale(input: Input<'_>) -> Option<Scale> {
    let Input { conditions, measured, places, complete, warnings } = input;
    let factors = factors(measured);
    let reading = read(&factors, places.map(|(_, places)| places.profiled))?;
    let last = factors.last()?;
    let mut warnings = warnings.to_vec();
    warnings.extend(words::warnings(&factors, conditions));
    let (regions, sites) = places.map(|(recording, places)| located(recording, places)).unwrap_or_default();
    Some(Scale {
        schema_version: 1,
        text: words::headline(last, &reading),
        complete,
        conditions: conditions.clone(),
        baseline: time(&last.baseline, measured.baseline.iter().copied()),
        elision: last.elision.map(|elision| time(&elision, measured.elision.iter().copied())),
        points: factors.iter().map(|factors| point(factors, measured)).collect(),
        causes: causes(last, &reading),
        reading: words::reading(&factors, &reading, conditions),
        shapes: reading.shapes.iter().map(shape).collect(),
        regions,
        sites,
        warnings,
    })
}

fn time(estimate: &Estimate, runs: impl Iterator<Item = Nanos>) -> Time {
    Time {
        mean_ns: estimate.mean.0,
        error_ns: estimate.error().map(|error| error.0),
        low_ns: estimate.low.0,
        high_ns: estimate.high.0,
        runs_ns: runs.map(|run| run.0).collect(),
    }
}

fn point(factors: &Factors, measured: &Measured) -> Point {
    let of_it = measured.points.iter().find(|point| point.workers == factors.workers);
    let (runs, one_worker) =
        of_it.map(|point| (point.runs.as_slice(), point.one_worker.as_slice())).unwrap_or_default();
    let p = i64::from(factors.workers);
    let speedups = &factors.speedups;
    Point {
        workers: factors.workers,
        time: time(&factors.time, runs.iter().map(|run| run.time)),
        idle: time(&factors.idle, runs.iter().map(|run| run.idle)),
        one_worker: time(&factors.one_worker, one_worker.iter().copied()),
        work: time(&factors.work, runs.iter().map(|run| run.time * p - run.idle)),
        inflation_ns: factors.inflation.0,
        idle_share: factors.idle.mean.over(factors.time.mean * p).map(|share| share.0),
        inflation: factors.work.mean.over(factors.one_worker.mean).map(|ratio| ratio.0),
        speedups: Speedups {
            linear: speedups.linear,
            elision: speedups.elision.map(speedup),
            maximal: speedups.maximal.map(speedup),
            idle_specific: speedups.idle_specific.map(speedup),
            inflation_specific: speedups.inflation_specific.map(speedup),
            actual: speedups.actual.map(speedup),
        },
    }
}

fn speedup(quotient: Quotient) -> Speedup {
    Speedup { value: quotient.value.0, error: quotient.error.map(|error| error.0) }
}

fn causes(last: &Factors, reading: &Reading) -> Causes {
    let causes = &reading.causes;
    Causes {
        workers: reading.workers,
        available_ns: (last.time.mean * i64::from(last.workers)).0,
        total_ns: causes.total.0,
        algorithmic_ns: causes.algorithmic.0,
        task_overhead_ns: causes.task_overhead.0,
        parallelism_ns: causes.parallelism.0,
        scheduling_ns: causes.scheduling.0,
        no_processor_ns: causes.no_processor.0,
        inflation_ns: causes.inflation.0,
    }
}

fn shape(shape: &workspan_analysis::factored::Shape) -> Shape {
    let bend = match shape.bend {
        Bend::Straight => "straight",
        Bend::Bends => "bends",
        Bend::Flattens => "flattens",
        Bend::Falls => "falls",
    };
    let (from, to) = shape.between;
    Shape { curve: key(shape.curve).to_owned(), shape: bend.to_owned(), from, to }
}

/// The name of a curve in `speedups`.
fn key(curve: Curve) -> &'static str {
    match curve {
        Curve::Elision => "elision",
        Curve::Maximal => "maximal",
        Curve::IdleSpecific => "idle_specific",
        Curve::InflationSpecific => "inflation_specific",
        Curve::Actual => "actual",
    }
}

fn located(recording: &Recording, places: &Places) -> (Vec<Region>, Vec<Site>) {
    let id = |site| parts::id(recording, Some(site)).unwrap_or_default();
    let region = |region: &workspan_analysis::factored::RegionFactors| Region {
        id: id(region.site),
        name: parts::name(recording, region.site),
        serial: region.serial,
        one_worker_ns: region.one_worker.0,
        work_ns: region.work.0,
        idle_ns: region.idle.0,
        inflation_ns: region.inflation().0,
    };
    let site = |site: &workspan_analysis::factored::SiteFactors| Site {
        id: id(site.site),
        name: parts::name(recording, site.site),
        one_worker_ns: site.one_worker.0,
        work_ns: site.work.0,
        inflation_ns: site.inflation().0,
    };
    (places.regions.iter().map(region).collect(), places.sites.iter().map(site).collect())
}
