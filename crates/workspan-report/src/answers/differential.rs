//! Two recordings node by node: the view model, and as text.

use schemars::JsonSchema;
use serde::Serialize;
use workspan_analysis::advise::piece_id;
use workspan_analysis::diff::{Number, SAME};
use workspan_analysis::differential::{Cost, PlaceRow, SiteRow, Sums, United};
use workspan_analysis::strands::merge;
use workspan_analysis::{Differential, Spread};
use workspan_model::{Clock, Nanos, Ratio, Recording, Run};

use crate::parts::{id, name, piece, problems, ratio, time, Piece};
use crate::terminal::{line, more, Style, Table};
use crate::words::{count, percent};

/// What the same strands cost in two recordings.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct NodeByNode {
    /// In one line, a number first.
    pub text: String,
    /// Strands of the new recording's first run.
    pub strands: u64,
    /// Of them, those that the base has, too.
    pub matched: u64,
    /// Whether both are the same node for node.
    pub same: bool,
    /// Of each run of the base: strands without a partner.
    pub base: Vec<Unmatched>,
    /// Of each new run but the first: the same.
    pub others: Vec<Unmatched>,
    /// Longest chain of strands of the new runs, each at its median, in nanoseconds.
    pub span_ns: i64,
    /// The whole program.
    pub program: Inflated,
    /// Cost of strands that only the base has, in nanoseconds: the mean over its runs.
    pub only_base_ns: i64,
    /// Sites: of `inflation` first what costs more on the critical path, then what costs more in all; of `diff` what has
    /// changed most.
    pub sites: Vec<Site>,
    /// Segments of the source between two events, in the same order.
    pub pieces: Vec<Place>,
    /// By how much runs that are alike differ; null of `inflation` where one side has a single run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub noise: Option<Noise>,
    /// Warnings about the accuracy of the numbers.
    pub warnings: Vec<String>,
}

/// Strands that have not matched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Unmatched {
    /// The first new run has them, this one has not.
    pub missing: u64,
    /// This one has them, the first new run has not.
    pub extra: u64,
}

/// A cost on both sides.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Pair {
    /// In the base, in nanoseconds.
    pub base_ns: i64,
    /// In the new runs.
    pub new_ns: i64,
    /// What it costs more; below zero if it is less.
    pub more_ns: i64,
    /// New over base: the inflation; null if the base has nothing.
    pub inflation: Option<f64>,
}

/// A part of the program.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Inflated {
    /// All strands that both sides have.
    pub work: Pair,
    /// Those on the critical path of the new runs.
    pub critical: Pair,
    /// Cost of strands that only the new runs have, in nanoseconds.
    pub only_new_ns: i64,
    /// Of these, on the critical path.
    pub critical_only_new_ns: i64,
    /// Time that the critical path was blocked in the new runs.
    pub critical_blocked_ns: i64,
    /// Strands of the new runs but for those that cost nothing.
    pub strands: u64,
}

/// The strands of a site itself.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Site {
    /// Its id; null for what is outside of any.
    pub id: Option<String>,
    /// Its place.
    pub name: String,
    /// What it amounts to.
    #[serde(flatten)]
    pub sums: Inflated,
    /// Cost of strands that only the base has, in nanoseconds.
    pub only_base_ns: i64,
    /// Strands without a partner, summed over the base's runs.
    pub unmatched: Unmatched,
}

/// A segment of the source.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Place {
    /// Its handle, as `advise` and `what-if` know it.
    pub id: String,
    /// Where it is.
    pub piece: Piece,
    /// What it amounts to.
    #[serde(flatten)]
    pub sums: Inflated,
}

/// What comes first in lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// What costs more in the new runs: on the critical path, then in all.
    Inflated,
    /// What has changed, either way.
    Changed,
}

/// By how much runs that are alike differ, as a share: a change of no more than that is within noise.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Noise {
    /// Of work.
    pub work: f64,
    /// Of what is on the critical path.
    pub critical: f64,
    /// And a time that is noise whatever it is a share of, in nanoseconds.
    pub least_ns: f64,
}

impl Noise {
    /// Of two recordings; none where one has a single run.
    pub fn between(base: &Recording, new: &Recording) -> Option<Noise> {
        let of = |value: fn(&Run) -> Nanos| Some(spread(base, value)?.hypot(spread(new, value)?));
        let least_ns = least(base, new, 1);
        Some(Noise { work: of(Run::work)?, critical: of(|run| run.span)?, least_ns })
    }

    /// The same, and an assumption where one has a single run.
    pub fn assumed(base: &Recording, new: &Recording) -> Noise {
        let share = if least(base, new, 0) > 0.0 { SAME } else { 0.0 };
        let alone = Noise { work: share, critical: share, least_ns: least(base, new, 0) };
        Noise::between(base, new).unwrap_or(alone)
    }
}

/// What is noise whatever it is a share of; nothing with the virtual clock.
fn least(base: &Recording, new: &Recording, several: usize) -> f64 {
    let real = |recording: &Recording| recording.runs.iter().any(|run| run.clock == Clock::Real);
    if real(base) || real(new) {
        Nanos::LEAST[several]
    } else {
        0.0
    }
}

/// How far runs lie from their middle, over their median.
fn spread(recording: &Recording, value: fn(&Run) -> Nanos) -> Option<f64> {
    let over = Spread::of(recording.runs.iter().map(value));
    let share = Nanos(over.high.0 - over.low.0).over(over.median).map_or(0.0, |share| share.0);
    (recording.runs.len() > 1).then_some(share / 2.0)
}

/// What a change amounts to beside the noise, in words; nothing if it is more.
fn beside(pair: Pair, noise: Option<(f64, f64)>) -> &'static str {
    match noise {
        _ if pair.more_ns == 0 => "",
        Some(noise) if is_within(pair, noise) => " (within noise)",
        None if pair.more_ns < 0 => " (of one run: the noise is not known)",
        _ => "",
    }
}

/// Whether a change is no more than noise: a share, and a time.
#[expect(clippy::cast_precision_loss, reason = "for comparison")]
fn is_within(pair: Pair, (share, least): (f64, f64)) -> bool {
    (pair.more_ns.unsigned_abs() as f64) <= (share * pair.base_ns as f64).max(least)
}

impl Noise {
    /// Of what is on the critical path.
    fn on_path(self) -> (f64, f64) {
        (self.critical, self.least_ns)
    }

    /// Of work.
    fn in_all(self) -> (f64, f64) {
        (self.work, self.least_ns)
    }
}

/// The answer as it is shown. `noise`: of runs that are alike.
pub fn view(united: &United, found: &Differential, order: Order, noise: Option<Noise>) -> NodeByNode {
    let recording = &united.recording;
    let program = inflated(&found.program);
    let mut sites: Vec<Site> = found.sites.iter().filter(|row| counts(row)).map(|row| site(recording, row)).collect();
    let mut pieces: Vec<Place> =
        found.places.iter().filter(|row| costs(&row.sums)).map(|row| place(recording, row)).collect();
    if order == Order::Changed {
        let rank = |sums: &Inflated| {
            std::cmp::Reverse((sums.critical.more_ns.unsigned_abs(), sums.work.more_ns.unsigned_abs()))
        };
        sites.sort_by_key(|site| rank(&site.sums));
        pieces.sort_by_key(|place| rank(&place.sums));
    }
    NodeByNode {
        text: match order {
            Order::Changed => summary(&program, pieces.first(), &sites, noise),
            Order::Inflated => inflation(&program, pieces.first(), noise),
        },
        strands: found.strands,
        matched: found.matched,
        same: found.same(),
        base: found.base.iter().map(unmatched).collect(),
        others: found.others.iter().map(unmatched).collect(),
        span_ns: found.span.0,
        program,
        only_base_ns: found.only_base.0,
        sites,
        pieces,
        noise,
        warnings: warnings(found),
    }
}

/// In one line, the largest change: of strands that both have, or that only one has.
fn summary(program: &Inflated, first: Option<&Place>, sites: &[Site], noise: Option<Noise>) -> String {
    let changed = first.map_or(0, |place| place.sums.critical.more_ns.saturating_abs());
    let lonely = |site: &&Site| site.only_base_ns.max(site.sums.only_new_ns);
    let lonely = sites.iter().max_by_key(lonely).filter(|site| lonely(site) > changed);
    let words = |pair: Pair, noise: Option<(f64, f64)>| match noise {
        Some(noise) if is_within(pair, noise) => "the same work".to_owned(),
        _ => format!("work {}x", ratio(pair.inflation)),
    };
    let critical = words(program.critical, noise.map(Noise::on_path));
    let work = words(program.work, noise.map(Noise::in_all));
    let sums = match critical == work {
        true => format!("{critical} on the critical path and in total"),
        false => format!("{critical} on the critical path, {work} in total"),
    };
    if let Some(site) = lonely {
        let (what, took) = match (site.only_base_ns, site.sums.only_new_ns) {
            (gone, new) if gone >= new => ("only before", gone),
            (_, new) => ("only after", new),
        };
        let name = &site.name;
        return format!("{BOTH}: {sums}; most changed: {name}, {} {what}", time(took));
    }
    let noisy = |pair: Pair| noise.is_some_and(|noise| is_within(pair, noise.on_path()));
    let changed = first.map(|place| place.sums.critical).filter(|pair| pair.more_ns != 0);
    if changed.is_some_and(noisy) {
        return format!("{BOTH}: {sums}; no segment changed by more than noise");
    }
    let most = first.filter(|_| changed.is_some()).map_or_else(String::new, |place| {
        let Pair { more_ns, inflation, .. } = place.sums.critical;
        let word = if more_ns > 0 { "more" } else { "less" };
        let by = time(more_ns.saturating_abs());
        format!("; most changed: {}, {by} {word} ({}x)", place.piece.text, ratio(inflation))
    });
    format!("{BOTH}: {sums}{most}")
}

/// What a comparison strand by strand covers.
const BOTH: &str = "strands in both recordings";

/// The same of runs beside others: what costs less there is no inflation.
fn inflation(program: &Inflated, first: Option<&Place>, noise: Option<Noise>) -> String {
    let first = first.filter(|place| place.sums.critical.more_ns > 0);
    let words = |pair: Pair, noise: Option<(f64, f64)>| format!("{}x{}", ratio(pair.inflation), beside(pair, noise));
    let critical = words(program.critical, noise.map(Noise::on_path));
    let work = words(program.work, noise.map(Noise::in_all));
    let most = first.map_or_else(String::new, |place| {
        let Pair { more_ns, inflation, .. } = place.sums.critical;
        format!("; most at {}: {} more ({}x)", place.piece.text, time(more_ns), ratio(inflation))
    });
    format!("work {critical} on the critical path, {work} in total{most}")
}

fn costs(sums: &Sums) -> bool {
    sums.strands > 0 || sums.work != Cost::default() || sums.critical_blocked != Nanos::ZERO
}

fn counts(row: &SiteRow) -> bool {
    costs(&row.sums) || row.only_base != Nanos::ZERO || row.unmatched != merge::Unmatched::default()
}

fn unmatched(unmatched: &merge::Unmatched) -> Unmatched {
    Unmatched { missing: unmatched.missing, extra: unmatched.extra }
}

fn inflated(sums: &Sums) -> Inflated {
    let pair = |cost: &Cost| Pair {
        base_ns: cost.base.0,
        new_ns: cost.new.0,
        more_ns: cost.more().0,
        inflation: cost.inflation().map(|inflation| inflation.0),
    };
    Inflated {
        work: pair(&sums.work),
        critical: pair(&sums.critical),
        only_new_ns: sums.only_new.0,
        critical_only_new_ns: sums.critical_only_new.0,
        critical_blocked_ns: sums.critical_blocked.0,
        strands: sums.strands,
    }
}

fn site(recording: &Recording, row: &SiteRow) -> Site {
    Site {
        id: id(recording, row.site),
        name: row.site.map_or_else(|| "the program itself".to_owned(), |site| name(recording, site)),
        sums: inflated(&row.sums),
        only_base_ns: row.only_base.0,
        unmatched: unmatched(&row.unmatched),
    }
}

fn place(recording: &Recording, row: &PlaceRow) -> Place {
    Place { id: piece_id(recording, &row.place), piece: piece(recording, &row.place), sums: inflated(&row.sums) }
}

fn warnings(found: &Differential) -> Vec<String> {
    let mut warnings = problems(&found.problems);
    if !found.same() {
        let runs = u64::try_from(found.base.len().max(1)).unwrap_or(1);
        let extra = found.base.iter().map(|run| run.extra).sum::<u64>() / runs;
        warnings.push(format!(
            "{} of {} strands are in both recordings, {} only in the second, about {} only in the first; inflation covers those in both",
            count(found.matched),
            count(found.strands),
            count(found.strands - found.matched),
            count(extra),
        ));
    }
    let unmatched = found.program.only_new.over(found.program.work.new + found.program.only_new);
    if let Some(share) = unmatched.filter(|share| share.0 > 0.05) {
        warnings
            .push(format!("{} of the work of the second recording has no counterpart in the first", percent(share)));
    }
    if found.program.work.base > Nanos::ZERO && found.program.critical.base == Nanos::ZERO {
        warnings.push("no strand on the critical path of the second recording is in the first".to_owned());
    }
    warnings
}

/// As text, below the head of whoever asks, who calls the sides `base` and `new`.
pub(crate) fn text(out: &mut String, view: &NodeByNode, [base, new]: [&str; 2], order: Order, style: Style) {
    let share = Ratio(as_share(view.matched, view.strands));
    line(out, &format!("strand by strand: {} of {} strands are in both", percent(share), count(view.strands)));
    let [critical, work] = ["critical", "work"].map(|what| format!("{what} {base}"));
    let header = [&critical, new, "more", "ratio", &work, new, "ratio", "segment"];
    let mut table = Table::new(&header);
    let noise = view.noise.map(Noise::on_path);
    let noisy = |pair: &Pair| if order == Order::Inflated || noise.is_some() { beside(*pair, noise) } else { "" };
    let mut row = |sums: &Inflated, text: String| {
        let Inflated { critical, work, .. } = sums;
        table.row(vec![
            time(critical.base_ns),
            time(critical.new_ns),
            format!("{}{}", time(critical.more_ns), noisy(critical)),
            ratio(critical.inflation),
            time(work.base_ns),
            time(work.new_ns),
            ratio(work.inflation),
            text,
        ]);
    };
    row(&view.program, "all".to_owned());
    for place in view.pieces.iter().take(style.top) {
        row(&place.sums, format!("{} {}", place.piece.text, place.id));
    }
    table.write(out, style, 7);
    more(out, view.pieces.len(), style, "segment");
    unmatched_strands(out, view, style);
}

/// What only one side has.
fn unmatched_strands(out: &mut String, view: &NodeByNode, style: Style) {
    let lonely = |site: &&Site| site.only_base_ns != 0 || site.sums.only_new_ns != 0;
    if !view.sites.iter().any(|site| lonely(&site)) {
        return;
    }
    line(out, "");
    let mut table = Table::new(&["strands only before", "their work", "only after", "their work", "site"]);
    let mut sites: Vec<&Site> = view.sites.iter().filter(lonely).collect();
    sites.sort_by_key(|site| std::cmp::Reverse(site.only_base_ns.max(site.sums.only_new_ns)));
    for site in sites.iter().take(style.top) {
        table.row(vec![
            count(site.unmatched.extra),
            time(site.only_base_ns),
            count(site.unmatched.missing),
            time(site.sums.only_new_ns),
            format!("{} {}", site.name, site.id.as_deref().unwrap_or_default()),
        ]);
    }
    table.write(out, style, 4);
    more(out, sites.len(), style, "site");
}

#[expect(clippy::cast_precision_loss, reason = "a share, for reading")]
fn as_share(part: u64, all: u64) -> f64 {
    if all == 0 {
        0.0
    } else {
        part as f64 / all as f64
    }
}
