//! The answer of `workspan advise`: its view model, and as text.

use schemars::JsonSchema;
use serde::Serialize;
use workspan_analysis::advise::{self, Advice, Caveat, Gain, Goal, Grain, Kind, Large};
use workspan_model::{Nanos, Ratio, Recording};

pub use crate::parts::Piece;
use crate::parts::{factor, id, name, piece, problems, ratio, time};
use crate::terminal::{head, line, Style, Table};
use crate::words::{count, percent};

/// Which parts must be parallelised, and whose tasks have the wrong size.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Answer {
    /// Version of this form.
    pub schema_version: u32,
    /// In one line, a number first.
    pub text: String,
    /// What was requested.
    pub goal: Wanted,
    /// How the steps ended: `already-enough`, `reached`, `overhead`, `waiting`, `scattered`, `gave-up` or `no-data`.
    pub outcome: String,
    /// Parallelism as recorded.
    pub parallelism: Option<f64>,
    /// The same with even iterations, where chunks of loops alone were seen: the steps, and how they ended, are for these.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub even_parallelism: Option<f64>,
    /// After the last step.
    pub reached: Option<f64>,
    /// Mean cost of creating a task; null if it is not known.
    pub creation_ns: Option<i64>,
    /// Segments to parallelise one after the other.
    pub steps: Vec<Step>,
    /// What to do.
    pub findings: Vec<Finding>,
    /// Warnings about the accuracy of the numbers.
    pub warnings: Vec<String>,
}

/// What advice is to reach.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Wanted {
    /// Parallelism.
    pub target: f64,
    /// By what factor a segment becomes faster in each step.
    pub factor: f64,
    /// A task is worth it that takes at least this many times what its creation costs.
    pub threshold: f64,
}

/// A step towards the target.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Step {
    /// What becomes faster.
    pub piece: Piece,
    /// By what in all, this step included.
    pub factor: f64,
    /// What it had of the critical path before this step.
    pub critical_ns: i64,
    /// Its strands there.
    pub strands: u64,
    /// Span after this step.
    pub span_ns: i64,
    /// Parallelism after this step.
    pub parallelism: Option<f64>,
}

/// Something to do.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Finding {
    /// Stable between runs.
    pub id: String,
    /// `parallelise`, `too-fine` or `too-coarse`.
    pub kind: String,
    /// In words.
    pub text: String,
    /// The segment to parallelise; null for sizes of tasks.
    pub piece: Option<Piece>,
    /// Id of the site.
    pub site: Option<String>,
    /// Of a segment: by what factor it must become faster. Of tasks that are too coarse: into how many each could be split.
    pub factor: Option<f64>,
    /// Tasks and what they cost; null for a segment.
    pub tasks: Option<Tasks>,
    /// Parallelism of the program when this alone is done.
    pub parallelism: Option<f64>,
    /// The same if the segment cost nothing.
    pub ceiling: Option<f64>,
    /// Work that is saved.
    pub saved_ns: i64,
    /// `dependences`, `only-together`, `under-lock`, `incomplete`.
    pub caveats: Vec<String>,
}

/// Tasks of a site.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Tasks {
    /// Their number.
    pub count: u64,
    /// Their mean size.
    pub mean_ns: i64,
    /// Mean cost of creating one.
    pub creation_ns: i64,
    /// Cost of creating them, over what they ran.
    pub overhead: Option<f64>,
    /// The smallest size that is worth a task: `threshold` times `creation_ns`.
    pub cutoff_ns: i64,
    /// Tasks below that.
    pub below: u64,
    /// Tasks that are too large; null for tasks that are too small.
    pub large: Option<LargeTasks>,
}

/// Tasks that are too large.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct LargeTasks {
    /// Their number.
    pub count: u64,
    /// They take longer than this.
    pub limit_ns: i64,
    /// Tasks of the site on the critical path.
    pub on_path: u64,
    /// Mean size of those.
    pub mean_on_path_ns: i64,
    /// The longest task of the site takes at most this.
    pub longest_ns: i64,
    /// Half of the site's tasks take at most this.
    pub median_ns: i64,
}

/// The answer as it is shown.
pub fn answer(recording: &Recording, goal: &Goal, advice: &Advice) -> Answer {
    let steps: Vec<Step> = advice.steps.iter().map(|row| step(recording, row)).collect();
    let parallelism = advice.parallelism.map(|ratio| ratio.0);
    let even = advice.even.map(|ratio| ratio.0);
    let reached = steps.last().map_or(even.or(parallelism), |step| step.parallelism);
    let now = match even {
        Some(_) => format!(
            "{} if the iterations of each loop cost the same, {} or more if they do not",
            ratio(even),
            ratio(parallelism)
        ),
        None => ratio(parallelism),
    };
    let (outcome, words) = outcome(advice.outcome);
    let target = Ratio(goal.target);
    let text = match advice.outcome {
        advise::Outcome::NoData => words.to_owned(),
        _ if steps.is_empty() => format!("parallelism {now}: target {target} {words}"),
        _ => {
            format!("parallelism {now}, {} predicted after the steps below: target {target} {words}", ratio(reached))
        }
    };
    let text = text + &left(recording, advice);
    Answer {
        schema_version: 1,
        text,
        goal: Wanted { target: goal.target, factor: goal.factor, threshold: goal.threshold },
        outcome: outcome.to_owned(),
        parallelism,
        even_parallelism: even,
        reached,
        creation_ns: advice.creation.map(|nanos| nanos.0),
        steps,
        findings: advice.findings.iter().map(|row| finding(recording, goal, row)).collect(),
        warnings: problems(&advice.problems),
    }
}

/// What stands in the way of the target, if it is out of reach.
fn left(recording: &Recording, advice: &Advice) -> String {
    let Some(advise::Left { place, share: Some(share), mean }) = advice.left else {
        return String::new();
    };
    let at = piece(recording, &place).text;
    format!("; {at} has {} of the critical path that is left, in strands of {mean} on average", percent(share))
}

fn outcome(outcome: advise::Outcome) -> (&'static str, &'static str) {
    match outcome {
        advise::Outcome::AlreadyEnough => ("already-enough", "is reached already"),
        advise::Outcome::Reached => ("reached", "is reached"),
        advise::Outcome::Overhead => ("overhead", "is not reachable, because task overhead would dominate"),
        advise::Outcome::TooShort => {
            ("overhead", "is not reachable, because what is left on the critical path is too short to be divided")
        }
        advise::Outcome::Waiting => ("waiting", "is not reachable, because the critical path mostly waits"),
        advise::Outcome::Scattered => {
            ("scattered", "is not reachable, because many small segments are left on the critical path")
        }
        advise::Outcome::GaveUp => ("gave-up", "is not reached within the limit of steps"),
        advise::Outcome::NoData => ("no-data", "nothing was measured"),
    }
}

fn step(recording: &Recording, step: &advise::Step) -> Step {
    Step {
        piece: piece(recording, &step.place),
        factor: step.factor,
        critical_ns: step.critical.0,
        strands: step.strands,
        span_ns: step.span.0,
        parallelism: step.parallelism.map(|ratio| ratio.0),
    }
}

fn finding(recording: &Recording, goal: &Goal, finding: &advise::Finding) -> Finding {
    let Gain { parallelism, ceiling, work } = finding.gain;
    let (kind, text, at, site, factor, tasks) = match &finding.kind {
        Kind::Parallelise { place, factor: by, critical, strands } => {
            let at = piece(recording, place);
            let (critical, by_words) = (*critical, factor(Some(*by)));
            let strands = if *strands == 1 { "1 strand".to_owned() } else { format!("{} strands", count(*strands)) };
            let text = if critical == Nanos::ZERO {
                format!("parallelise {}: critical once the others are faster, made {by_words} times faster", at.text)
            } else {
                format!(
                    "parallelise {}: {critical} of the critical path, {strands}; made {by_words} times faster",
                    at.text
                )
            };
            let site = at.site.clone();
            ("parallelise", text, Some(at), site, Some(*by), None)
        }
        Kind::TooFine(grain) => {
            ("too-fine", too_fine(recording, grain), None, id(recording, Some(grain.site)), None, tasks(grain, None))
        }
        Kind::TooCoarse(grain, large) => {
            let text = too_coarse(recording, goal, grain, large);
            ("too-coarse", text, None, id(recording, Some(grain.site)), Some(large.pieces), tasks(grain, Some(large)))
        }
    };
    Finding {
        id: finding.id.clone(),
        kind: kind.to_owned(),
        text,
        piece: at,
        site,
        factor,
        tasks,
        parallelism: parallelism.map(|ratio| ratio.0),
        ceiling: ceiling.map(|ratio| ratio.0),
        saved_ns: work.0,
        caveats: finding.caveats.iter().map(|row| caveat(*row).0.to_owned()).collect(),
    }
}

fn tasks(grain: &Grain, large: Option<&Large>) -> Option<Tasks> {
    let large = large.map(|large| LargeTasks {
        count: large.count,
        limit_ns: large.limit.0,
        on_path: large.on_path,
        mean_on_path_ns: large.mean_on_path.0,
        longest_ns: large.longest.0,
        median_ns: large.median.0,
    });
    Some(Tasks {
        count: grain.tasks,
        mean_ns: grain.mean.0,
        creation_ns: grain.creation.0,
        overhead: grain.overhead.map(|ratio| ratio.0),
        cutoff_ns: grain.cutoff.0,
        below: grain.below,
        large,
    })
}

fn too_fine(recording: &Recording, grain: &Grain) -> String {
    let Grain { site, tasks, mean, creation, cutoff, below, .. } = grain;
    let (site, tasks, below) = (name(recording, *site), count(*tasks), count(*below));
    format!("tasks too small at {site}: {tasks} of {mean} each, creating one costs {creation}; {below} take less than {cutoff}: run these within their creators")
}

fn too_coarse(recording: &Recording, goal: &Goal, grain: &Grain, large: &Large) -> String {
    let Large { count: found, limit, on_path, mean_on_path, longest, median, pieces } = large;
    let (site, tasks, target) = (name(recording, grain.site), grain.tasks, Ratio(goal.target));
    // Where creating a task costs next to nothing, any size will do.
    let least = match grain.cutoff {
        Nanos::ZERO => String::new(),
        cutoff => format!(", none shorter than {cutoff}"),
    };
    let which = match (tasks, *found) {
        (1, _) => format!("the only one takes {longest}"),
        (_, 1) => format!("1 of {} takes more than {limit} (up to {longest}; the median is {median})", count(tasks)),
        _ => format!(
            "{} of {} take more than {limit} (the longest up to {longest}, the median {median})",
            count(*found),
            count(tasks)
        ),
    };
    let path = match on_path {
        1 => format!("the one on the critical path takes {mean_on_path}"),
        _ => format!("the {} on the critical path take {mean_on_path} on average", count(*on_path)),
    };
    format!("tasks too large at {site}: {which}; {path}, too long for parallelism {target}; split the longest into up to {pieces:.0} tasks{least}")
}

/// A caveat's word, and what it says.
fn caveat(caveat: Caveat) -> (&'static str, &'static str) {
    match caveat {
        Caveat::Dependences => {
            ("dependences", "Workspan does not know whether its iterations or calls depend on one another")
        }
        Caveat::OnlyTogether => ("only-together", "alone it gains almost nothing: another path is nearly as long"),
        Caveat::UnderLock => ("under-lock", "it runs under a lock, in one thread at a time: parallelise it by doing less there, or by splitting the lock"),
        Caveat::Incomplete => ("incomplete", "part of the run is missing"),
    }
}

/// As indented JSON.
pub fn json(answer: &Answer) -> String {
    crate::parts::indented(answer)
}

/// As text.
pub fn text(answer: &Answer, style: Style) -> String {
    let mut out = String::new();
    head(&mut out, &answer.text, &answer.warnings, style);
    if !answer.steps.is_empty() {
        line(&mut out, "");
        let mut table = Table::new(&["step", "factor", "critical", "strands", "span then", "parallelism then", "what"]);
        for (number, step) in (1u32..).zip(&answer.steps) {
            let cells = [
                number.to_string(),
                factor(Some(step.factor)),
                time(step.critical_ns),
                count(step.strands),
                time(step.span_ns),
                ratio(step.parallelism),
                step.piece.text.clone(),
            ];
            table.row(cells.to_vec());
        }
        table.write(&mut out, style, 6);
        line(&mut out, &style.dim("critical: of the critical path that the steps before leave"));
    }
    for finding in answer.findings.iter().take(style.top) {
        line(&mut out, "");
        line(&mut out, &style.bold(&format!("{} {}", finding.id, finding.text)));
        let gain = match finding.kind.as_str() {
            "too-fine" => format!("saves {} of work", time(finding.saved_ns)),
            _ => format!(
                "alone: parallelism {}, or {} if this code cost nothing",
                ratio(finding.parallelism),
                ratio(finding.ceiling)
            ),
        };
        let overhead = finding.tasks.and_then(|tasks| tasks.overhead);
        let overhead =
            overhead.map_or(String::new(), |share| format!("; creation is {} of what they run", percent(Ratio(share))));
        line(&mut out, &format!("  {gain}{overhead}"));
        for word in &finding.caveats {
            let all = [Caveat::Dependences, Caveat::OnlyTogether, Caveat::UnderLock, Caveat::Incomplete].map(caveat);
            let text = all.iter().find(|(name, _)| name == word).map_or(word.as_str(), |(_, text)| text);
            line(&mut out, &style.dim(&format!("  note: {text}")));
        }
    }
    out
}
