//! Verdicts in words.

use workspan_analysis::verdict::{Basis, Cause, Contributor, Headline, Judged, Loss, Outcome, Part, Reason, Unit, Why};
use workspan_analysis::Profile;
use workspan_model::{Nanos, Ratio, Recording, SiteId, SiteKind};

use crate::place;
use crate::ran::Ran;
use crate::words::{count, has_unseen_locks, percent};

/// From this share of the critical path on, a bound that is the number of processors says nothing.
const MOST_OF_PATH: f64 = 0.5;

/// What is no more than this times what it was is no gain.
const NO_GAIN: f64 = 1.005;

/// Two speedups of which one is less than this share of the other are a range.
const RANGE: f64 = 0.9;

/// What a strand that is blocked waits for.
const OUTSIDE: &str = "files, timers or other processes";

/// What a strand does that waits for another one without being blocked.
const LOOKING: &str = "looking again and again whether another thread has come so far";

/// The first line, a number first.
pub(super) fn headline(recording: &Recording, profile: &Profile, headline: &Headline) -> String {
    match headline {
        Headline::NoData => "nothing was measured".to_owned(),
        Headline::NeverForks => "parallelism 1: the program never forked".to_owned(),
        Headline::Parallelism { parallelism, even, uneven, any_order, main, overhead } => {
            let main = main.map_or(String::new(), |main| {
                let share = share_of_path(main.share, main.as_seen);
                let what = match (profile.waits(main.site), main.threads) {
                    (true, _) if profile.polls(main.site) => {
                        format!("{} {LOOKING}", at(recording, Some(main.site)))
                    }
                    (true, _) => format!("{} waiting for {OUTSIDE}", at(recording, Some(main.site))),
                    (false, Some(threads)) => {
                        format!("code of the {threads} threads of {}", at(recording, Some(main.site)))
                    }
                    (false, None) => contributor(recording, main.site),
                };
                format!(": {share} of the critical path is {what}")
            });
            let overhead = overhead.map_or(String::new(), |overhead| {
                let (share, tasks) = (percent(overhead), profile.program.tasks);
                let noun = if tasks == 1 { "task" } else { "tasks" };
                format!("; creating {} {noun} costs {share} of the work", count(tasks))
            });
            match (even, any_order) {
                (Some(even), _) if uneven.is_some() => {
                    let at = at(recording, *uneven);
                    format!(
                        "parallelism {parallelism} with the chunks that ran, {even} if all iterations cost the same, which those of {at} do not{main}{overhead}"
                    )
                }
                (None, Some(most)) => format!(
                    "parallelism {parallelism} in the order in which locks were taken, at most {most} in any other if each thread does the same{main}{overhead}"
                ),
                (Some(even), _) => format!(
                    "parallelism {even} if {}, {parallelism} or more if they do not{main}{overhead}",
                    even_parts(recording)
                ),
                (None, None) => format!("parallelism {parallelism}{main}{overhead}"),
            }
        }
    }
}

/// What would have to cost the same.
fn even_parts(recording: &Recording) -> &'static str {
    let some = |of: fn(SiteKind) -> bool| recording.sites.iter().any(|site| of(site.kind));
    match (some(|kind| kind == SiteKind::Sections), some(|kind| kind == SiteKind::Loop)) {
        (true, false) => "all sections cost the same",
        (true, true) => "the iterations of each loop, and the sections, cost the same",
        _ => "the iterations of each loop cost the same",
    }
}

/// True if the site is of this kind.
fn is(recording: &Recording, site: Option<SiteId>, kind: SiteKind) -> bool {
    let site = site.and_then(|site| recording.sites.get(site.0 as usize));
    site.is_some_and(|site| site.kind == kind)
}

/// What its longest is one of.
fn piece(recording: &Recording, site: Option<SiteId>) -> &'static str {
    match (is(recording, site, SiteKind::Sections), is(recording, site, SiteKind::Loop)) {
        (true, _) => "section",
        (_, true) => "chunk",
        _ => "task",
    }
}

/// One share, or a range: of even iterations, and of chunks as they were.
fn share_of_path(even: Ratio, seen: Ratio) -> String {
    let [low, high] = if even.0 < seen.0 { [even, seen] } else { [seen, even] }.map(percent);
    match low == high {
        true => high,
        false => format!("{} to {high}", low.trim_end_matches(" %")),
    }
}

pub(super) fn contributor(recording: &Recording, id: SiteId) -> String {
    let Some(site) = recording.sites.get(id.0 as usize) else {
        return "unknown".to_owned();
    };
    let at = place::label(recording, site);
    match (site.kind.row().code, place::marked(site)) {
        ("", _) => at,
        (code, None) if site.kind.is_body() => match place::name(site) {
            Some(name) => format!("code of {name}, at {at}"),
            None => format!("{code} {at}"),
        },
        (_, Some(name)) => format!("code directly inside the region `{name}` at {at}"),
        (code, None) => {
            let ran = recording.ran(site).map_or(String::new(), |ran| Ran::of(ran).clause());
            let comma = if ran.starts_with(' ') { "," } else { "" };
            format!("{code} {at}{comma}{ran}")
        }
    }
}

/// What follows the first line: the speedup, then each loss.
pub(super) fn lines(recording: &Recording, judged: &Judged) -> Vec<String> {
    let mut lines = vec![speedup(recording, judged)];
    let worth_a_word = |loss: &&Loss| loss.share.0 >= 0.005;
    lines.extend(judged.losses.iter().filter(worth_a_word).map(|loss| loss_line(recording, judged, loss)));
    lines
}

/// The speed on N processors, what it is known from, and what limits it.
fn speedup(recording: &Recording, judged: &Judged) -> String {
    let on = processors(judged);
    let (speedup, slowest) = (format!("{:.1}x", judged.speedup.0), format!("{:.1}x", judged.slowest.0));
    let speedup = match judged.basis {
        Basis::Simulated if judged.loops.is_some() && slowest != speedup => format!("{slowest} to {speedup}"),
        Basis::Bounds if slowest != speedup => format!("{slowest} to {speedup}"),
        Basis::Bounds | Basis::Simulated => speedup,
    };
    let judgement = match &judged.outcome {
        Outcome::ScalesWell if judged.loops.is_some() => format!("scales well if {}", even_parts(recording)),
        Outcome::ScalesWell if has_unseen_locks(recording) => {
            "scales well if little of the work is under one lock".to_owned()
        }
        Outcome::ScalesWell => "scales well".to_owned(),
        Outcome::Limited(cause) => format!("limited by {}", name(*cause)),
        Outcome::Inconclusive(why) => format!("inconclusive ({})", why_words(recording, why)),
    };
    let from = match judged.basis {
        Basis::Bounds if judged.best_order => "bounds from work and span, in any order of locks",
        Basis::Bounds => "bounds from work and span",
        Basis::Simulated => "simulated from the strands",
    };
    format!("on {on}: {speedup} the speed of one ({from}), {judgement}")
}

fn processors(judged: &Judged) -> String {
    match judged.processors {
        1 => "1 processor".to_owned(),
        n => format!("{n} processors"),
    }
}

fn name(cause: Cause) -> &'static str {
    match cause {
        Cause::Parallelism => "too little parallelism",
        Cause::Locks => "lock contention",
        Cause::TaskOverhead => "task overhead",
        Cause::Scheduling => "scheduling",
        Cause::Inflation => "work inflation",
        Cause::Algorithm => "algorithmic overhead",
    }
}

fn why_words(recording: &Recording, why: &Why) -> String {
    let words = match why {
        Why::NeverForks => "the program never forked",
        Why::TooShort => "the run is too short",
        Why::Incomplete => "part of the run is missing",
        Why::OnlyBounds => "only bounds are known",
        Why::UnevenLoop(site) => {
            return format!(
                "the iterations of {} differ in cost, and only chunks of them were seen",
                at(recording, Some(*site))
            )
        }
    };
    words.to_owned()
}

fn loss_line(recording: &Recording, judged: &Judged, loss: &Loss) -> String {
    // The cost of creating tasks is a part of the work: these processors are busy.
    let (verb, all) = match loss.cause {
        Cause::TaskOverhead => ("busy with", "the overhead"),
        _ => ("lost to", "the loss"),
    };
    let parts: Vec<String> = loss
        .parts
        .iter()
        .map(|part| format!("{} ({} of {all})", reason(recording, part.site, &part.reason), percent(part.share)))
        .collect();
    let parts = if parts.is_empty() { String::new() } else { format!(": {}", parts.join("; ")) };
    let lost = format!("{:.1}", loss.speedup.0);
    // With chunks as they ran it is more.
    let least = if is_range(judged) { "at least " } else { "" };
    format!("  {least}{lost:>4} of {} {verb} {}{parts}", processors(judged), name(loss.cause))
}

/// True if chunks of loops leave the speedup open.
fn is_range(judged: &Judged) -> bool {
    judged.loops.is_some() && judged.slowest.0 < judged.speedup.0 * RANGE
}

fn at(recording: &Recording, site: Option<SiteId>) -> String {
    let site = site.and_then(|site| recording.sites.get(site.0 as usize));
    site.map_or_else(|| "serial code".to_owned(), |site| place::label(recording, site))
}

/// What its kind has to say of code of its own; empty for the usual.
fn remedy(recording: &Recording, site: SiteId) -> &'static str {
    recording.sites.get(site.0 as usize).map_or("", |site| site.kind.row().remedy)
}

/// Why a site costs processor time.
pub(super) fn reason(recording: &Recording, site: Option<SiteId>, reason: &Reason) -> String {
    let at = at(recording, site);
    match *reason {
        Reason::SerialStart | Reason::SerialBetween | Reason::SerialEnd => at,
        Reason::Lock => format!("code under the lock at {at}"),
        Reason::Waits => format!("{at} waits for {OUTSIDE}"),
        Reason::Polls => format!("{at} waits for another thread by looking again and again"),
        Reason::SharedIterator => format!("items of {at} come from one iterator"),
        Reason::FewThreads { threads, at_a_time } if nearly_all_run(threads, at_a_time) => {
            format!("only {} of {at}", threads_of(threads))
        }
        Reason::FewThreads { threads, at_a_time } => {
            format!(
                "on average {:.1} of the {} of {at} run at a time outside of locks",
                at_a_time.0,
                threads_of(threads)
            )
        }
        Reason::FewTasks { tasks, of: Unit::Iterations } if is(recording, site, SiteKind::Sections) => {
            format!("{} at {at}", number_of(tasks, "section"))
        }
        // A thread that runs several sections has them in one chunk.
        Reason::FewTasks { of: Unit::Chunks, .. } if is(recording, site, SiteKind::Sections) => {
            format!("few or uneven sections at {at}")
        }
        Reason::FewTasks { tasks, of: Unit::Iterations } => {
            format!("about {} at a time of the loop at {at}", number_of(tasks, "iteration"))
        }
        Reason::FewTasks { tasks, of: Unit::Chunks } => {
            format!("about {} of the loop at {at}", number_of(tasks, "chunk"))
        }
        Reason::FewTasks { tasks, .. } if is(recording, site, SiteKind::Broadcast) => {
            format!("{} of the broadcast at {at}, one for each worker", number_of(tasks, "task"))
        }
        Reason::FewTasks { tasks, of: Unit::Tasks } => format!("about {} at a time at {at}", number_of(tasks, "task")),
        // Who got none counts in the mean.
        Reason::LongTask { longest, .. } if is(recording, site, SiteKind::Sections) => {
            format!("one of the sections at {at} takes {longest}")
        }
        Reason::LongTask { longest, .. } if is(recording, site, SiteKind::Loop) => {
            format!("a chunk of the loop at {at} takes {longest}")
        }
        Reason::LongTask { longest, mean } if mean > Nanos::ZERO && longest.0 / 2 > mean.0 => {
            format!("a task of {at} takes {longest}, the mean is {mean}")
        }
        Reason::LongTask { longest, .. } => format!("a task of {at} takes {longest}"),
        Reason::InTurn => format!("tasks of {at} wait for each other"),
        Reason::Chunks if is(recording, site, SiteKind::Sections) => format!("few or uneven sections at {at}"),
        Reason::Chunks => format!("few or uneven chunks of the loop at {at}"),
        Reason::OwnCode => site.map_or(at, |site| contributor(recording, site)),
        Reason::SmallTasks { mean, creation } => {
            format!("tasks of {at} run {mean} on average, and creating one costs {creation}")
        }
    }
}

/// From this share on, more threads are what is missing.
const NEARLY_ALL: f64 = 0.75;

/// True if nearly all threads run at a time.
#[expect(clippy::cast_precision_loss, reason = "a number of threads")]
fn nearly_all_run(threads: u64, at_a_time: Ratio) -> bool {
    at_a_time.0 >= threads as f64 * NEARLY_ALL
}

fn threads_of(threads: u64) -> String {
    match threads {
        1 => "1 thread".to_owned(),
        n => format!("{n} threads"),
    }
}

fn number_of(things: f64, word: &str) -> String {
    match things.round() {
        n if n <= 1.0 => format!("1 {word}"),
        n => format!("{n:.0} {word}s"),
    }
}

/// What to try next.
pub(super) fn next(
    recording: &Recording,
    judged: &Judged,
    main: Option<&Contributor>,
    has_strands: bool,
) -> Option<String> {
    let loss = judged.losses.first();
    match (&judged.outcome, loss) {
        (Outcome::Inconclusive(Why::OnlyBounds), _) if has_strands => {
            Some("record again with --strands: these strands do not show how tasks fit onto processors".to_owned())
        }
        (Outcome::Inconclusive(Why::OnlyBounds), _) => {
            Some("record again with --strands, which shows how tasks fit onto processors".to_owned())
        }
        (Outcome::Inconclusive(Why::UnevenLoop(_)), _) => {
            Some("record again with --logical-cores 64, which shows smaller chunks".to_owned())
        }
        (Outcome::Limited(_), Some(loss)) => match loss.parts.first() {
            Some(part) => {
                let narrow = match is_range(judged) {
                    true => "; to narrow the range, record with --logical-cores 64, which shows smaller chunks",
                    false => "",
                };
                let other = match loss.cause {
                    Cause::Parallelism => other_first(recording, part, main),
                    _ => String::new(),
                };
                let uneven = match judged.loops.and_then(|loops| loops.uneven).filter(|site| Some(*site) != part.site) {
                    Some(site) => format!(
                        "; and give the loop at {} smaller chunks and a dynamic schedule, since its iterations differ",
                        at(recording, Some(site))
                    ),
                    None => String::new(),
                };
                let advice = advice(recording, judged, part);
                Some(format!("{advice}{}{uneven}{narrow}{other}", gain(recording, judged, part)))
            }
            None if recording.runs.iter().all(|run| run.totals.iter().all(|totals| totals.tasks == 0)) => {
                Some("give parallel regions and loops more work each, so that fewer begin and end".to_owned())
            }
            None => Some("make tasks longer, so that fewer have to be distributed".to_owned()),
        },
        _ => None,
    }
}

/// Why it is not about what the first line names, if it is not: processors wait longer for this code than for code that takes more of
/// the critical path, which therefore has other code beside it.
pub(super) fn other_first(recording: &Recording, part: &Part, main: Option<&Contributor>) -> String {
    match main.filter(|main| Some(main.site) != part.site && main.share.0 > part.of_path.0) {
        Some(main) => format!(
            "; {} takes more of the critical path, but other code runs beside it, so that fewer processors wait for it",
            contributor(recording, main.site)
        ),
        None => String::new(),
    }
}

/// What it brings at most, and on what assumption; nothing where that says no more than the number of processors.
fn gain(recording: &Recording, judged: &Judged, part: &Part) -> String {
    let Ratio(without) = part.without;
    let on = processors(judged);
    // Most of the critical path: nothing measured bounds what is left. None of it: a path beside it is as long.
    let says_nothing = without >= f64::from(judged.processors) && part.of_path.0 >= MOST_OF_PATH;
    if says_nothing || without <= judged.speedup.0 * NO_GAIN {
        return String::new();
    }
    // A task that starts first is as long as ever.
    let first = match part.reason {
        Reason::LongTask { longest, .. } => judged.on_one.over(longest).filter(|most| most.0 < without),
        _ => None,
    };
    match first {
        Some(Ratio(most)) => format!(
            " (at most {without:.1}x on {on} if none of this code stays on the critical path; at most {most:.1}x if the longest {} starts first)",
            piece(recording, part.site)
        ),
        None if matches!(part.reason, Reason::SmallTasks { .. }) => {
            format!(" (at most {without:.1}x on {on} if creating tasks cost nothing)")
        }
        None => format!(" (at most {without:.1}x on {on} if none of this code stays on the critical path)"),
    }
}

fn advice(recording: &Recording, judged: &Judged, part: &Part) -> String {
    let at = at(recording, part.site);
    match part.reason {
        Reason::SerialStart | Reason::SerialBetween | Reason::SerialEnd => format!("parallelise {at}"),
        Reason::Lock => format!("hold the lock at {at} for less time, or split it"),
        Reason::Waits => format!("let other tasks run while {at} waits"),
        Reason::Polls => format!("find what {at} waits for, and have that come earlier, or other work done meanwhile"),
        Reason::SharedIterator => format!("let {at} split its items by index instead of taking them from one iterator"),
        Reason::FewThreads { threads, at_a_time } if nearly_all_run(threads, at_a_time) => {
            format!("divide the work of {at} among more threads, as many as there are processors")
        }
        Reason::FewThreads { .. } => {
            format!("divide the work of {at} evenly among its threads, and let them wait for each other less")
        }
        Reason::FewTasks { .. } | Reason::LongTask { .. } if is(recording, part.site, SiteKind::Broadcast) => {
            format!("divide what the broadcast at {at} does by the number of workers: it runs once on each")
        }
        Reason::FewTasks { of, .. } => {
            let wanted = count(u64::from(judged.processors) * 4);
            match of {
                _ if is(recording, part.site, SiteKind::Sections) => {
                    format!("divide the sections at {at} into more, {wanted} or more")
                }
                Unit::Tasks => format!("split the work of {at} into more tasks, {wanted} or more at a time"),
                Unit::Chunks => format!("split the loop at {at} into more chunks, {wanted} or more"),
                Unit::Iterations => {
                    format!("give the loop at {at} more iterations, {wanted} or more, or parallelise what one does")
                }
            }
        }
        Reason::LongTask { .. } if is(recording, part.site, SiteKind::Sections) => {
            format!("divide the longest of the sections at {at}")
        }
        Reason::LongTask { .. } if is(recording, part.site, SiteKind::Loop) => {
            format!("split the longest chunks of the loop at {at}, or what its longest iteration does")
        }
        Reason::LongTask { .. } => format!("split the longest tasks of {at}, or start them first"),
        Reason::InTurn => format!("let each task of {at} wait for fewer others, or split the tasks"),
        Reason::Chunks if is(recording, part.site, SiteKind::Sections) => {
            format!("divide the longest of the sections at {at}")
        }
        Reason::Chunks => format!("split the loop at {at} into smaller chunks, or give it a dynamic schedule"),
        Reason::OwnCode => match part.site.map(|site| (site, remedy(recording, site))) {
            Some((_, remedy)) if !remedy.is_empty() => format!("{remedy} {at}"),
            Some((site, _)) => format!("parallelise {}", contributor(recording, site)),
            None => format!("parallelise {at}"),
        },
        Reason::SmallTasks { creation, .. } => {
            format!("make each task of {at} run {} or more (see `workspan advise`)", creation * 10)
        }
    }
}
