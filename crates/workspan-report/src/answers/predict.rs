//! The answer of `workspan predict`: its view model, as text and as CSV.

use schemars::JsonSchema;
use serde::Serialize;
use workspan_analysis::laws;
use workspan_analysis::predict::{Point as Computed, Prediction};
use workspan_analysis::schedule::{Grain, Graph};
use workspan_model::{Nanos, Ratio, Recording, SiteKind, LARGEST_TEAM};

pub use crate::calls::Steal;
use crate::parts::{id, name, problems, range, ratio, time};
use crate::terminal::{head, line, Style, Table};
use crate::under_lock::{self, UnderLock};
use crate::what_if::Change;
use crate::words::{count, percent};

/// How long a program would take on other numbers of processors.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "Predict")]
pub struct Answer {
    /// Version of this form.
    pub schema_version: u32,
    /// In one line, a number first.
    pub text: String,
    /// Which of repeated runs it is about, from 1.
    pub run: u32,
    /// What is to be faster, by being done in parallel.
    pub changes: Vec<Change>,
    /// Whose tasks are to be run by their creators if they are small.
    pub grain: Vec<Cutoff>,
    /// What a steal costs.
    pub steal_ns: i64,
    /// How that is known: `asked`, `measured`, `assumed`.
    pub steal: String,
    /// Schedules by work stealing for each number of processors.
    pub seeds: u32,
    /// For any number of processors.
    pub program: Program,
    /// The largest number of processors requested of which four fifths are used, as of all below.
    pub scales_to: Option<u32>,
    /// By number of processors.
    pub points: Vec<Point>,
    /// Strands that were recorded.
    pub strands: u64,
    /// Nodes of the schedule graph that they were folded into.
    pub pieces: u64,
    /// Warnings about the accuracy of the numbers.
    pub warnings: Vec<String>,
}

/// Tasks that their creators are to run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "PredictCutoff")]
pub struct Cutoff {
    /// Id of their site.
    pub id: String,
    /// Its place.
    pub name: String,
    /// Those with less work, all below them included.
    pub least_ns: i64,
}

/// What holds for any number of processors.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "PredictProgram")]
pub struct Program {
    /// What one processor takes, as recorded: the speedups are over this.
    pub recorded_ns: i64,
    /// What one processor takes with what was requested.
    pub serial_ns: i64,
    /// Time that strands waited for the outside world, for which they need no processor.
    pub blocked_ns: i64,
    /// Longest chain of strands.
    pub span_ns: i64,
    /// The same if everything on it that can be stolen is stolen.
    pub burdened_span_ns: i64,
    /// The speedup that no number of processors exceeds.
    pub most_speedup: Option<f64>,
    /// The same with even iterations, where chunks of loops alone were seen; or in any other order of locks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub even_most_speedup: Option<f64>,
}

/// A number of processors.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "PredictPoint")]
pub struct Point {
    /// The number.
    pub processors: u32,
    /// What one processor takes, divided by it.
    pub work_law_ns: i64,
    /// No schedule is shorter: the work law and the span law.
    pub laws_ns: i64,
    /// The same with the burdened span, from two processors on.
    pub burdened_ns: i64,
    /// No greedy schedule is longer.
    pub brent_ns: i64,
    /// A greedy schedule, in which nothing costs anything but strands.
    pub greedy_ns: i64,
    /// Of that: speedup.
    pub greedy_speedup: Option<f64>,
    /// By work stealing, the median.
    pub time_ns: i64,
    /// The shortest.
    pub time_min_ns: i64,
    /// The longest.
    pub time_max_ns: i64,
    /// What one processor takes as recorded, over the median.
    pub speedup: Option<f64>,
    /// Over the longest.
    pub speedup_min: Option<f64>,
    /// Over the shortest.
    pub speedup_max: Option<f64>,
    /// The same as `speedup` with even iterations, where chunks of loops alone were seen: the truth lies between.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub even_speedup: Option<f64>,
    /// Speedup over processors.
    pub efficiency: Option<f64>,
    /// Time that processors have nothing to do, over all of them, in the median.
    pub idle_ns: i64,
    /// Time that they take to steal.
    pub overhead_ns: i64,
    /// Tasks and branches that are stolen.
    pub steals: u64,
}

/// What was asked.
#[derive(Clone, Debug)]
pub struct Asked<'a> {
    /// The most in any other order of locks, where that matters.
    pub any_order: Option<Ratio>,
    /// Code under one lock, if that takes longer than any chain of strands.
    pub under_lock: Option<UnderLock>,
    /// The recording.
    pub recording: &'a Recording,
    /// Its run, from 1.
    pub run: u32,
    /// What is to be faster.
    pub changes: Vec<Change>,
    /// Cutoffs.
    pub grain: &'a [Grain],
    /// What a steal costs.
    pub steal: Steal,
    /// Schedules by work stealing.
    pub seeds: u32,
}

/// The answer as it is shown.
pub fn answer(asked: Asked<'_>, graph: &Graph, computed: &Prediction, even: Option<&Prediction>) -> Answer {
    let bounds = computed.bounds;
    let of_even = |at: usize| even.and_then(|even| even.points.get(at));
    let points: Vec<Point> = (0..).zip(&computed.points).map(|(at, seen)| point(seen, of_even(at))).collect();
    let cutoff = |grain: &Grain| Cutoff {
        id: id(asked.recording, Some(grain.site)).unwrap_or_default(),
        name: name(asked.recording, grain.site),
        least_ns: grain.least.0,
    };
    let program = Program {
        recorded_ns: bounds.recorded.0,
        serial_ns: bounds.serial.0,
        blocked_ns: bounds.blocked.0,
        span_ns: bounds.span.0,
        burdened_span_ns: bounds.burdened_span.0,
        most_speedup: bounds.most_speedup().map(|ratio| ratio.0),
        even_most_speedup: even.and_then(|even| even.bounds.most_speedup()).or(asked.any_order).map(|ratio| ratio.0),
    };
    Answer {
        schema_version: 1,
        text: headline(&asked, &program, &points),
        run: asked.run,
        grain: asked.grain.iter().map(cutoff).collect(),
        steal_ns: asked.steal.cost().0,
        steal: asked.steal.word().to_owned(),
        seeds: asked.seeds,
        scales_to: computed.scales_to,
        strands: graph.rows(),
        pieces: graph.pieces() as u64,
        warnings: warnings(&asked, graph, &program, &points),
        changes: asked.changes,
        program,
        points,
    }
}

fn point(point: &Computed, even: Option<&Computed>) -> Point {
    let typical = *point.typical();
    let (shortest, longest) = (point.stealing.first().unwrap_or(&typical), point.stealing.last().unwrap_or(&typical));
    let speedup = |time: Nanos| point.speedup(time).map(|ratio| ratio.0);
    Point {
        processors: point.processors,
        work_law_ns: point.work_law.0,
        laws_ns: point.laws.0,
        burdened_ns: point.burdened.0,
        brent_ns: point.brent.0,
        greedy_ns: point.greedy.time.0,
        greedy_speedup: speedup(point.greedy.time),
        time_ns: typical.time.0,
        time_min_ns: shortest.time.0,
        time_max_ns: longest.time.0,
        speedup: speedup(typical.time),
        speedup_min: speedup(longest.time),
        speedup_max: speedup(shortest.time),
        even_speedup: even.and_then(|even| even.speedup(even.typical().time)).map(|ratio| ratio.0),
        efficiency: point.efficiency().map(|share| share.0),
        idle_ns: typical.idle.0,
        overhead_ns: typical.overhead.0,
        steals: typical.steals,
    }
}

/// About as many processors as the machine has; otherwise as many as are used well; and at most.
fn headline(asked: &Asked<'_>, program: &Program, points: &[Point]) -> String {
    let cpus = asked.recording.machine.cpus;
    let efficient = |point: &&Point| point.efficiency.is_some_and(|share| share >= 0.8);
    let here = points.iter().find(|point| point.processors == cpus && cpus > 1);
    let chosen = here.or_else(|| points.iter().rfind(efficient)).or(points.last());
    let (Some(point), true) = (chosen, program.recorded_ns > 0) else {
        return "nothing was measured".to_owned();
    };
    let best = points.iter().max_by(|a, b| a.speedup.unwrap_or(0.0).total_cmp(&b.speedup.unwrap_or(0.0)));
    let best = best.filter(|best| best.processors > point.processors);
    let best = best.map_or(String::new(), |best| format!("{}: {}; ", best.processors, times(best)));
    let with = if asked.changes.is_empty() && asked.grain.is_empty() { "" } else { ", with these changes" };
    let run = match asked.recording.runs.len() {
        0 | 1 => String::new(),
        runs => format!(" (run {} of {runs})", asked.run),
    };
    let noun = if point.processors == 1 { "processor" } else { "processors" };
    let most = range(program.most_speedup, program.even_most_speedup);
    format!("{} {noun}: {}; {best}any number: at most {most}x{with}{run}", point.processors, times(point))
}

/// A speedup and between what it lies.
fn times(point: &Point) -> String {
    let [low, high] = [point.speedup_min, point.speedup_max].map(ratio);
    let band = if low == high { String::new() } else { format!(" ({low}-{high})") };
    format!("{}x{band}", range(point.speedup, point.even_speedup))
}

/// What code under one lock does to the numbers: with changes, it is in none of them.
fn under_lock(asked: &Asked<'_>, graph: &Graph, program: &Program) -> Option<String> {
    let of_strands = laws::parallelism(Nanos(program.recorded_ns), graph.recorded_span());
    let under_lock = asked.under_lock.as_ref()?;
    if asked.changes.is_empty() {
        under_lock.bound(of_strands)
    } else {
        under_lock.warning(of_strands)
    }
}

fn warnings(asked: &Asked<'_>, graph: &Graph, program: &Program, points: &[Point]) -> Vec<String> {
    let mut warnings = problems(&graph.problems());
    warnings.extend(under_lock(asked, graph, program));
    warnings.extend(under_lock::unseen(asked.recording, asked.run));
    let most = points.iter().map(|point| point.processors).max().unwrap_or(0);
    let recording = asked.recording;
    let run = recording.runs.get((asked.run as usize).saturating_sub(1));
    let has_loops = recording.sites.iter().any(|site| matches!(site.kind, SiteKind::Loop | SiteKind::Sections));
    let widest = graph.widest_team();
    let wanted = if recording.uses_openmp() { most.min(LARGEST_TEAM) } else { most };
    if has_loops && widest > 0 && most > widest {
        let advice = if wanted > widest { format!(" (record with `--logical-cores {wanted}`)") } else { String::new() };
        warnings.push(format!(
            "the largest team had {widest} members: its loops were split for {widest}, not for {most} processors{advice}"
        ));
    }
    let splits = recording.sites.iter().any(|site| matches!(site.kind, SiteKind::ParIter | SiteKind::ParSort));
    let cores = run.and_then(|run| run.logical_cores).filter(|_| splits && !recording.uses_openmp());
    if let Some(cores) = cores.filter(|cores| *cores < most) {
        warnings.push(format!(
            "rayon split its loops for {cores} cores, not for {most} (record with `--logical-cores {most}`)"
        ));
    }
    // With virtual cores one thread of a team runs at a time.
    let one_at_a_time = recording.uses_openmp() && run.is_some_and(|run| run.logical_cores.is_some());
    if let Some(workers) = run.map(|run| run.workers).filter(|workers| *workers > 1 && !one_at_a_time) {
        // At one thread a loop of OpenMP is one chunk.
        let alone = if has_loops { format!("--logical-cores {wanted}") } else { "--workers 1".to_owned() };
        warnings.push(format!(
            "recorded on {workers} workers: the strands include what these cost each other (record with `{alone}`)"
        ));
    }
    if program.blocked_ns > program.recorded_ns / 100 {
        let blocked = time(program.blocked_ns);
        warnings.push(format!(
            "strands waited {blocked} for files, timers, other processes, or strands that cannot be followed: the prediction \
             assumes that these take as long as ever"
        ));
    }
    if graph.folded() > 0 && graph.threshold() > Nanos::ZERO {
        let (rows, pieces) = (count(graph.rows()), count(graph.pieces() as u64));
        let (folded, span) = (time(program.span_ns), graph.recorded_span());
        warnings.push(format!(
            "merged {rows} strands into {pieces}, tasks with less work than {} into one each: the span is {folded}, \
             {span} as recorded",
            graph.threshold()
        ));
    }
    warnings
}

/// As indented JSON.
pub fn json(answer: &Answer) -> String {
    crate::parts::indented(answer)
}

/// Columns of [`csv`].
const CSV: &str =
    "processors,work_law_ns,laws_ns,burdened_ns,brent_ns,greedy_ns,time_ns,time_min_ns,time_max_ns,speedup,\
                   efficiency,idle_ns,overhead_ns,steals\n";

/// A line for each number of processors, names first.
pub fn csv(answer: &Answer) -> String {
    let mut out = CSV.to_owned();
    let decimal = |number: Option<f64>| number.map(|number| number.to_string()).unwrap_or_default();
    for point in &answer.points {
        let cells = [
            point.processors.to_string(),
            point.work_law_ns.to_string(),
            point.laws_ns.to_string(),
            point.burdened_ns.to_string(),
            point.brent_ns.to_string(),
            point.greedy_ns.to_string(),
            point.time_ns.to_string(),
            point.time_min_ns.to_string(),
            point.time_max_ns.to_string(),
            decimal(point.speedup),
            decimal(point.efficiency),
            point.idle_ns.to_string(),
            point.overhead_ns.to_string(),
            point.steals.to_string(),
        ];
        line(&mut out, &cells.join(","));
    }
    out
}

/// Columns of numbers of processors.
pub(crate) const POINTS: [&str; 9] =
    ["processors", "time", "speedup", "from", "to", "greedy", "bound", "efficiency", "idle"];

/// A number of processors.
pub(crate) fn point_row(program: &Program, point: &Point) -> [String; 9] {
    let most = laws::speedup(Nanos(program.recorded_ns), Nanos(point.laws_ns)).map(|most| most.0);
    let all = Nanos(point.time_ns) * i64::from(point.processors);
    let share = |share: Option<Ratio>| share.map_or_else(|| "-".to_owned(), percent);
    [
        point.processors.to_string(),
        time(point.time_ns),
        range(point.speedup, point.even_speedup),
        ratio(point.speedup_min),
        ratio(point.speedup_max),
        ratio(point.greedy_speedup),
        ratio(most),
        share(point.efficiency.map(Ratio)),
        share(Nanos(point.idle_ns).over(all)),
    ]
}

/// What a range of speedups is, if there is one.
const EVEN: &str = "a range of speedups: the chunks of loops as they were, to iterations that cost the same";

/// As text. `unicode`: the terminal shows more than ASCII.
pub fn text(answer: &Answer, style: Style, unicode: bool) -> String {
    let mut out = String::new();
    head(&mut out, &answer.text, &answer.warnings, style);
    line(&mut out, "");
    let (full, light) = marks(unicode);
    let bars = format!("{full} speedup, {light} on to the bound; from 1x, 3 marks double it");
    let mut table = Table::new(&[&POINTS[..], &[bars.as_str()]].concat());
    for point in &answer.points {
        let mut cells = point_row(&answer.program, point).to_vec();
        cells.push(bar(&answer.program, point, unicode));
        table.row(cells);
    }
    table.write(&mut out, style, POINTS.len());
    let program = &answer.program;
    let scales = answer.scales_to.map_or(String::new(), |most| {
        let processors = if most == 1 { "processor" } else { "processors" };
        format!("; efficiency 80 % or more on up to {most} {processors}")
    });
    let steal = if answer.seeds == 0 {
        String::new()
    } else {
        format!("; {} seeds, a steal costs {} ({})", answer.seeds, time(answer.steal_ns), answer.steal)
    };
    let [one, span, burdened] = [program.serial_ns, program.span_ns, program.burdened_span_ns].map(time);
    if answer.points.iter().any(|point| point.even_speedup.is_some()) {
        line(&mut out, &style.dim(EVEN));
    }
    line(&mut out, &style.dim(&columns_explained(answer)));
    line(
        &mut out,
        &style.dim(&format!(
            "speedups are relative to {one} on one processor; span {span}, burdened {burdened}{scales}{steal}"
        )),
    );
    out
}

/// What the columns of speedups are.
fn columns_explained(answer: &Answer) -> String {
    let schedules = match answer.seeds {
        0 => String::new(),
        n => format!("speedup, from, to: median, least and most of {n} schedules by work stealing; "),
    };
    format!("{schedules}greedy: one schedule in which stealing takes no time (others may be faster); bound: no schedule of these strands is faster on that number of processors")
}

/// What bars are drawn with: what is reached, and what is left.
fn marks(unicode: bool) -> (&'static str, &'static str) {
    if unicode {
        ("█", "░")
    } else {
        ("#", ".")
    }
}

/// The speedup, and what it lacks of the bound; logarithmic.
fn bar(program: &Program, point: &Point, unicode: bool) -> String {
    let bound = laws::speedup(Nanos(program.recorded_ns), Nanos(point.laws_ns)).map_or(1.0, |most| most.0);
    let marks = |speedup: f64| {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 160")]
        let marks = (speedup.clamp(1.0, 1e12).log2() * 3.0).round() as usize;
        marks
    };
    let (full, light) = self::marks(unicode);
    let reached = marks(point.speedup.unwrap_or(1.0));
    full.repeat(reached) + &light.repeat(marks(bound).saturating_sub(reached))
}
