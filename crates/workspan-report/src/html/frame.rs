//! What stands above and below the panels: the verdict, warnings, and how the recording was made.

use super::{date, escape};
use crate::rows::{share, time};
use crate::view::{Recorded, Report};
use crate::words;

/// The title of the page.
pub(crate) fn title(report: &Report) -> String {
    let command = report.recorded.command.first().map_or("", String::as_str);
    let program = command.rsplit_once('/').map_or(command, |(_, name)| name);
    let lead = report.verdict.text.split(": ").next().unwrap_or_default();
    let parts: Vec<&str> = [program, lead, "Workspan"].into_iter().filter(|part| !part.is_empty()).collect();
    escape::text(&parts.join(" · "))
}

/// The line at the top.
pub(crate) fn header(recorded: &Recorded) -> String {
    let at = if recorded.at == 0 { String::new() } else { date::utc(recorded.at) };
    let command = escape::text(&recorded.command.join(" "));
    format!(
        r##"<header><strong>Workspan</strong><code title="{command}">{command}</code><time>{at}</time>
<nav><a href="#words">Words</a><a href="#scaling">Speedup</a><a href="#icicles">Work and critical path</a><a href="#regions">Regions</a><a
href="#sites">Sites</a><a href="#source">Source</a><a href="#recording">Recording</a></nav></header>
"##
    )
}

/// The verdict, and what to know before believing it.
pub(crate) fn verdict(report: &Report) -> String {
    let verdict = &report.verdict;
    let (lead, rest) = match verdict.text.split_once(": ") {
        Some((lead, rest)) => (lead, format!(": {rest}")),
        None => (verdict.text.as_str(), String::new()),
    };
    let rest = escape::prose(&rest);
    let known = |id: &str| report.sites.iter().any(|site| site.id == id);
    let region = |id: &str| report.regions.iter().any(|region| region.id == id);
    let rest = match verdict.main.as_deref() {
        Some(main) if known(main) => format!("<a href=\"#{}\">{rest}</a>", escape::text(main)),
        Some(main) if region(main) => format!("<a href=\"#region-{}\">{rest}</a>", escape::text(main)),
        _ => rest,
    };
    let warnings: String = report
        .warnings
        .iter()
        .map(|warning| format!("<li><b aria-hidden=\"true\">!</b> {}</li>\n", escape::prose(&warning.message)))
        .collect();
    let warnings = match warnings.as_str() {
        "" => warnings,
        items => format!("<ul class=\"warnings\" aria-label=\"Warnings\">\n{items}</ul>\n"),
    };
    format!("<h1><b>{}</b>{rest}</h1>\n{}{warnings}", escape::text(lead), losses(report))
}

/// Speedup and losses, and what to try next.
fn losses(report: &Report) -> String {
    let verdict = &report.verdict;
    let Some((speedup, losses)) = verdict.lines.split_first() else {
        return String::new();
    };
    let items: String = losses.iter().map(|line| format!("<li>{}</li>\n", escape::prose(line.trim()))).collect();
    let items = if items.is_empty() { items } else { format!("<ul class=\"losses\">\n{items}</ul>\n") };
    let next = verdict.next.as_ref().map(|next| format!("<p class=\"next\">Try: {}</p>\n", escape::prose(next)));
    format!("<p class=\"speedup\">{}</p>\n{items}{}", escape::prose(speedup), next.unwrap_or_default())
}

/// How the recording was made, and the numbers that stand in no table.
pub(crate) fn recording(report: &Report) -> String {
    let (program, recorded) = (&report.program, &report.recorded);
    let end = match (program.exit_code, program.signal) {
        (_, Some(signal)) => format!("ended by {}", words::signal_name(signal)),
        (Some(code), None) => format!("exit status {code}"),
        (None, None) => "unknown".to_owned(),
    };
    let losses = match (program.complete, program.dropped) {
        (true, _) => "none".to_owned(),
        (false, 0) => "some code is missing, see the warnings".to_owned(),
        (false, dropped) => format!("{} events did not fit into the collector's tables", words::count(dropped)),
    };
    let cpus = if recorded.cpus == 1 { "1 CPU".to_owned() } else { format!("{} CPUs", recorded.cpus) };
    let measured = |picoseconds: i64| Some(picos(picoseconds)).filter(|_| picoseconds > 0);
    let items = [
        ("command", Some(recorded.command.join(" "))),
        ("end", Some(end)),
        ("events lost", Some(losses)),
        ("runs", Some(recorded.runs.to_string())),
        ("runtime", Some(recorded.runtime.clone())),
        ("machine", Some(format!("{}, {cpus}, {}", recorded.processor, recorded.system))),
        ("clock", Some(if recorded.clock == "real" { "the processor's cycle counter" } else { "virtual" }.to_owned())),
        ("CPU time, from the kernel", Some(time(program.cpu_ns))),
        ("serial code outside of regions", Some(time(program.serial_ns))),
        ("creating tasks", Some(format!("{} ({} of work)", time(program.overhead_ns), share(program.task_overhead)))),
        ("excluded: waiting for a CPU", Some(time(program.preempted_ns))),
        ("excluded: interrupts", Some(time(program.interrupted_ns))),
        ("excluded: start of the runtime, at its first use", program.first_use_ns.map(time)),
        ("excluded: the profiler, and the rest", Some(time(program.collector_ns))),
        ("measured: a fork and join", measured(recorded.join_cost_ps)),
        ("measured and excluded: an event of the profiler", measured(recorded.probe_cost_ps)),
        ("made by", Some(format!("workspan {}", recorded.workspan))),
    ];
    let items: String = items
        .into_iter()
        .filter_map(|(name, value)| Some((name, value?)))
        .map(|(name, value)| format!("<dt>{name}</dt><dd>{}</dd>\n", escape::text(&value)))
        .collect();
    format!(
        "<p class=\"help\">Excluded times count neither as work nor as span; wall time includes them. Each is a sum over all threads, so it may \
         exceed the wall time. The last of them is what is left of the threads' time when everything else is subtracted: mostly what the \
         profiler took. A run on another machine, or with another input, may give other numbers.</p>\n<dl>\n{items}</dl>\n"
    )
}

fn picos(picos: i64) -> String {
    format!("{:.1} ns", workspan_model::Nanos(picos).as_f64() / 1_000.0)
}
