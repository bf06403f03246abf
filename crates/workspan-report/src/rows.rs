//! Rows of the tables: the terminal and the page show the same cells.

use std::borrow::Cow;
use std::fmt;

use crate::parts::range;
use crate::place;
use crate::view::{Burdened, Extremes, Region, Report, Site, Uniform};
use crate::words::{count, percent};
use workspan_model::{Nanos, Ratio};

/// What a row is about. As text: its parts, one after the other.
#[derive(Debug)]
pub(crate) struct Name {
    /// Place in the source, or where serial code lies.
    pub(crate) place: String,
    /// Kind, function, state.
    pub(crate) rest: String,
    /// The place in the workspace that led to a dependency.
    pub(crate) via: Option<String>,
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.place, self.rest)?;
        match &self.via {
            Some(via) => write!(f, " (from {via})"),
            None => Ok(()),
        }
    }
}

/// The whole program, and its extremes over several runs.
pub(crate) fn program(report: &Report) -> Vec<[String; 10]> {
    let p = &report.program;
    let mut rows = vec![[
        "program".to_owned(),
        time(p.work_ns),
        time(p.span_ns),
        bracket(p.parallelism, p.uniform),
        burdened(p.burdened),
        count(p.tasks),
        share(p.task_overhead),
        time(p.wall_ns),
        time(p.idle_ns),
        time(p.blocked_ns),
    ]];
    let Some(spread) = &report.spread else {
        return rows;
    };
    for (name, lowest) in [("  lowest", true), ("  highest", false)] {
        let of = |e: &Extremes<i64>| time(if lowest { e.min } else { e.max });
        let parallelism = if lowest { spread.parallelism.min } else { spread.parallelism.max };
        let empty = String::new;
        rows.push([
            name.to_owned(),
            of(&spread.work_ns),
            of(&spread.span_ns),
            ratio(Some(parallelism)),
            empty(),
            empty(),
            empty(),
            of(&spread.wall_ns),
            empty(),
            empty(),
        ]);
    }
    rows
}

/// Under what conditions the numbers of the program came about.
pub(crate) fn conditions(report: &Report) -> String {
    let p = &report.program;
    let mut parts: Vec<String> = match p.workers {
        0 => own_threads(report).into_iter().collect(),
        1 => vec!["1 worker".to_owned()],
        n => vec![format!("{n} workers")],
    };
    // Of OpenMP's teams one thread runs at a time, so that every chunk of a loop is seen.
    let openmp = report.recorded.runtime.contains("OpenMP");
    parts.extend(p.logical_cores.filter(|_| p.workers > 0).map(|n| match openmp {
        true => format!("teams of {n} threads, of which one runs at a time (--logical-cores {n})"),
        false => format!("loops split as for {n} cores (--logical-cores {n})"),
    }));
    let more = p.asked_threads.as_ref().filter(|asked| p.workers == 1 && asked.answer > 1);
    parts.extend(more.map(|asked| format!("{} answered {} threads", asked.by.join(" and "), asked.answer)));
    parts.extend(
        report.spread.as_ref().map(|s| {
            format!("tables: medians of {} runs; the lines above them: the run of median parallelism", s.runs)
        }),
    );
    if report.verdict.even_iterations == Some(true) {
        let how =
            "two numbers for a parallelism: with the chunks of loops as they ran, and if all iterations of a loop cost the same; work, \
             span, shares in the tables: of the chunks as they ran; losses: of even iterations";
        parts.push(how.to_owned());
    }
    parts.extend(steal(report));
    parts.join("; ")
}

/// Threads of a program without workers: those that it has created itself.
fn own_threads(report: &Report) -> Option<String> {
    let created: u64 = report.sites.iter().filter(|site| site.kind == "thread").map(|site| site.instances).sum();
    match created {
        0 => None,
        1 => Some("1 thread, created by the program".to_owned()),
        n => Some(format!("{} threads, created by the program", count(n))),
    }
}

/// What a steal costs, how that is known, and what it is for; nothing for a program of which nothing can be stolen.
fn steal(report: &Report) -> Option<String> {
    let cost = time(report.recorded.steal_ns.filter(|_| report.program.workers > 0)?);
    let known = match report.recorded.steal_from.as_deref() {
        Some("measured") => " (measured)",
        Some("assumed") => " (assumed, not measured)",
        _ => "",
    };
    Some(format!("burdened: each steal costs {cost}{known}"))
}

/// Why a span is longer than the work, if it is: nothing that one processor does takes so long.
pub(crate) fn longer_than_work(report: &Report) -> Option<String> {
    let (work, span) = (report.program.work_ns, report.program.span_ns);
    let waits = span.checked_sub(work).filter(|waits| work > 0 && *waits > span / 100)?;
    Some(format!(
        "span exceeds work: the critical path has at least {} of waiting for files, timers or other processes, which is no work",
        time(waits)
    ))
}

/// What was waited by looking again and again, and where most of it, if that is more than a trifle.
pub(crate) fn polled(report: &Report) -> Option<String> {
    let polled = report.program.polled_ns.filter(|polled| *polled > report.program.work_ns / 100)?;
    let most = report.sites.iter().max_by_key(|site| site.polled_ns).filter(|site| site.polled_ns.is_some());
    let most = most.map_or(String::new(), |site| {
        let name = site_name(site);
        format!(" (most of it at {}{})", name.place, name.rest)
    });
    Some(format!(
        "{} of the time blocked, threads looked again and again whether another one had come so far{most}: that is a wait, not work, for a \
         strand that nobody sees; the span is what it took in this run",
        time(polled)
    ))
}

/// Shares of times below this are no difference.
const TRIFLE: i64 = 100;

/// What to know of regions whose parallelism is not work divided by span.
pub(crate) fn region_notes(regions: &[Region]) -> Vec<&'static str> {
    let parallel = regions.iter().filter(|region| region.kind != "serial" || beside(region.work_ns, region.span_ns));
    notes(parallel.map(|region| (region.work_ns, region.span_ns, region.instances_span_ns)))
}

/// The same of sites, and what the row of a lock does not have.
pub(crate) fn site_notes(sites: &[Site]) -> Vec<&'static str> {
    let mut all = notes(sites.iter().map(|site| (site.work_ns, site.span_ns, site.instances_span_ns)));
    let of_threads = sites.iter().any(|site| site.kind == "thread");
    let locks = of_threads && sites.iter().any(|site| site.kind == "lock");
    all.extend(locks.then_some(
        "lock: the times taken, and the work under the lock, count from the first wait for it on, or from when it was seen to be held for 2 µs or more",
    ));
    all
}

/// Of rows with these works, spans, and sums of spans where these are more.
fn notes(rows: impl Iterator<Item = (i64, i64, Option<i64>)>) -> Vec<&'static str> {
    let (mut cut, mut waits) = (false, false);
    for (work, span, sum) in rows.filter(|(work, ..)| *work > 0) {
        cut |= side_by_side(span, sum);
        let sum = sum.unwrap_or(span);
        waits |= sum - work > work / TRIFLE;
    }
    let cut = cut.then_some(
        "each: instances of the row ran side by side; the parallelism is that of one of them alone, and span (total) is at most the program's span",
    );
    let waits = waits.then_some(
        "parallelism counts as 1 where the instances of a row together took longer than their work: they waited, for other code, a lock or the outside world",
    );
    cut.into_iter().chain(waits).collect()
}

/// True if instances of a row ran side by side: their spans add up to more than the row's, which is at most the program's.
fn side_by_side(span: i64, sum: Option<i64>) -> bool {
    sum.is_some_and(|sum| sum - span > span / TRIFLE)
}

/// A row's parallelism: of each of its instances where they ran side by side.
fn parallelism(seen: Option<f64>, uniform: Option<Uniform>, span: i64, sum: Option<i64>) -> String {
    let each = if seen.is_some() && side_by_side(span, sum) { " each" } else { "" };
    bracket(seen, uniform) + each
}

/// The most of the critical path that code before all regions has which a row of its own would say nothing about.
const LITTLE: f64 = 0.01;

/// Regions as they are shown: of two rows of code before all regions, code in which none followed and code before the first, a small first one is part
/// of the second.
pub(crate) fn shown_regions(report: &Report) -> Cow<'_, [Region]> {
    let starts = |region: &Region| region.kind == "serial" && region.prefix;
    let regions = &report.regions;
    let alone = regions.iter().position(|region| {
        starts(region) && region.to.is_none() && region.critical_share.is_none_or(|share| share < LITTLE)
    });
    let before = regions.iter().position(|region| starts(region) && region.to.is_some());
    let (Some(alone), Some(before)) = (alone, before) else {
        return Cow::Borrowed(regions);
    };
    let mut regions = regions.clone();
    let (little, row) = (regions[alone].clone(), &mut regions[before]);
    row.critical_share = row.critical_share.map(|share| share + little.critical_share.unwrap_or(0.0));
    row.critical_ns += little.critical_ns;
    row.work_ns += little.work_ns;
    row.span_ns += little.span_ns;
    row.wall_ns += little.wall_ns;
    regions.remove(alone);
    regions.sort_by_key(|region| std::cmp::Reverse(region.critical_ns));
    Cow::Owned(regions)
}

/// Parallelism between what was seen and what uniform loops would give, if that is more than a trifle more.
fn bracket(seen: Option<f64>, uniform: Option<Uniform>) -> String {
    range(seen, uniform.and_then(|uniform| uniform.parallelism))
}

/// What is left of parallelism if all is stolen that can be, or a dash.
fn burdened(burdened: Option<Burdened>) -> String {
    ratio(burdened.and_then(|burdened| burdened.parallelism))
}

/// True if serial code ran on several threads at a time, by its work and its span.
fn beside(work: i64, span: i64) -> bool {
    work - span > span / TRIFLE
}

/// A region; the last cell is [`region_name`].
pub(crate) fn region(region: &Region) -> [String; 7] {
    let serial = region.kind == "serial";
    [
        share(region.critical_share),
        time(region.work_ns),
        time(region.span_ns),
        // Serial code of several threads at a time is serial within each alone.
        if serial && !beside(region.work_ns, region.span_ns) {
            "serial".to_owned()
        } else {
            parallelism(region.parallelism, region.uniform, region.span_ns, region.instances_span_ns)
        },
        count(region.instances),
        if serial { String::new() } else { time(region.idle_ns) },
        region_name(region).to_string(),
    ]
}

/// What the runtime took to start, at its first use, as a row among regions, if that is more than a trifle.
pub(crate) fn first_use(report: &Report) -> Option<[String; 7]> {
    let took = report.program.first_use_ns.filter(|took| *took > report.program.work_ns / 1000)?;
    let mut row: [String; 7] = Default::default();
    (row[0], row[1], row[6]) = ("excluded".to_owned(), time(took), "start of the runtime, at its first use".to_owned());
    Some(row)
}

/// The name of a region.
pub(crate) fn region_name(region: &Region) -> Name {
    let open = if region.open { " (not ended)" } else { "" };
    let (place, rest) = match &region.place {
        None => {
            let (from, to) = (region.from.as_ref(), region.to.as_ref());
            (place::serial(from, to, region.ran.as_ref(), region.beside), String::new())
        }
        Some(at) => (place::text(at), format!("{}{open}", own_name(&region.kind, region.name.as_deref()))),
    };
    Name { place, rest, via: None }
}

/// A spawn site; the last cell is [`site_name`].
pub(crate) fn site(site: &Site) -> [String; 13] {
    let locked = |cell: String| if site.contended_ns > 0 { cell } else { String::new() };
    let [mean, median, p90] = sizes(site);
    [
        share(site.critical_share),
        time(site.work_ns),
        time(site.span_ns),
        parallelism(site.parallelism, site.uniform, site.span_ns, site.instances_span_ns),
        burdened(site.burdened),
        count(site.tasks),
        mean,
        median,
        p90,
        share(site.overhead_share),
        locked(time(site.contended_ns)),
        locked(count(site.instances)),
        site_name(site).to_string(),
    ]
}

/// From this number of tasks on, one in ten is one.
const TENTHS: u64 = 10;

/// Mean, median and p90 of the sizes of tasks. A median of one task and a tenth of a few are nothing: of these the longest is
/// shown, as far as it is known.
fn sizes(site: &Site) -> [String; 3] {
    let Some(sizes) = &site.task_ns else {
        return [const { String::new() }; 3];
    };
    // No task is longer than the chain of code that it is in; an instance that never ended has none.
    let chain = Some(site.span_ns).filter(|span| *span >= sizes.mean);
    let longest = || {
        site.task_sizes
            .iter()
            .map(|bucket| bucket.to_ns - 1)
            .max()
            .map(|most| chain.map_or(most, |span| most.min(span)))
    };
    let p90 = match site.tasks {
        TENTHS.. => time(sizes.p90),
        _ => longest().map_or_else(|| time(sizes.p90), |longest| format!("\u{2264} {}", time(longest))),
    };
    match site.tasks {
        0 | 1 => [time(sizes.mean), String::new(), String::new()],
        _ => [time(sizes.mean), time(sizes.p50), p90],
    }
}

/// The name of a spawn site.
pub(crate) fn site_name(site: &Site) -> Name {
    // For want of a place the code is named after the function.
    let named = site.function.as_ref().filter(|_| site.code.is_none() && !place::starts_threads(&site.file));
    let function = named.map_or(String::new(), |f| format!(" in {f}"));
    Name {
        place: site
            .code
            .clone()
            .unwrap_or_else(|| place::in_line(&site.file, site.line, Some(site.column).filter(|_| site.with_column))),
        rest: format!("{}{function}", own_name(&site.kind, site.name.as_deref())),
        via: site.via.as_ref().map(|p| place::short(&p.file, p.line)),
    }
}

/// The kind of a site, and the name of a marked region behind it; of a body its name, which has the kind.
fn own_name(kind: &str, name: Option<&str>) -> String {
    match name {
        None => format!(" {kind}"),
        Some(name) if name.starts_with(kind) => format!(" {name}"),
        Some(name) => format!(" {kind} `{name}`"),
    }
}

/// A time with a unit.
pub(crate) fn time(nanos: i64) -> String {
    Nanos(nanos).to_string()
}

/// A quotient, or a dash.
pub(crate) fn ratio(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), |v| Ratio(v).to_string())
}

/// A share, or a dash.
pub(crate) fn share(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), |v| percent(Ratio(v)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Work, span, and the sum of the instances' spans: which sentences are needed.
    #[test]
    fn rows_that_do_not_divide_are_explained() {
        let (cut, waits) = ("side by side", "counts as 1");
        for (row, expected) in [
            ((84, 51, Some(84)), &[cut][..]),
            ((557, 557, None), &[]),
            ((557, 868, None), &[waits]),
            ((557, 868, Some(2000)), &[cut, waits]),
            ((1000, 1009, None), &[]),
            ((1000, 500, Some(504)), &[]),
            ((0, 10, None), &[]),
        ] {
            let found = notes([row, (10, 5, None)].into_iter());
            assert_eq!(found.len(), expected.len(), "{row:?}: {found:?}");
            assert!(found.iter().zip(expected).all(|(note, word)| note.contains(word)), "{row:?}: {found:?}");
        }
    }
}
