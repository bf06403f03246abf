//! The panel of the run over time: how many strands ran at each moment, as SVG that needs no script.

use crate::live::Live;
use crate::parts::ratio;
use crate::rows::time;
use crate::view::Report;
use workspan_analysis::Timeline;
use workspan_model::Nanos;

/// Height of the drawing, in its own units.
const HEIGHT: f64 = 100.0;

/// How many strands ran in each bucket, on average.
pub(crate) fn running(timeline: &Timeline) -> Vec<f64> {
    timeline.busy.iter().map(|busy| busy.over(timeline.width).map_or(0.0, |ratio| ratio.0)).collect()
}

/// The panel, or nothing where the times of strands are not known.
pub(crate) fn panel(report: &Report, live: Option<&Live>) -> String {
    let Some((live, timeline)) = live.and_then(|live| Some((live, live.timeline.as_ref()?))) else {
        return String::new();
    };
    let running = running(timeline);
    let buckets = Nanos(i64::try_from(running.len()).unwrap_or(1)).as_f64();
    let length = Nanos(timeline.width.0.saturating_mul(i64::try_from(running.len()).unwrap_or(1)));
    let work: Nanos = timeline.busy.iter().copied().sum();
    let mean = work.over(length).map_or(0.0, |ratio| ratio.0);
    let top = running.iter().copied().fold(f64::from(report.program.workers), f64::max).max(1.0);
    let y = |value: f64| HEIGHT * (1.0 - value / top);
    let area: String = running.iter().enumerate().map(|(at, value)| format!("V{:.2}H{}", y(*value), at + 1)).collect();
    let of_runs = if live.run.1 > 1 { format!(" Run {} of {}.", live.run.0, live.run.1) } else { String::new() };
    format!(
        r#"<section id="timeline"><h2>Over time</h2>
<p class="help">Strands running at each moment, averaged over {width}. Where the number is below that of workers, some workers waited.
Low for long: too little parallelism there. Low and ragged in a program of high parallelism: work did not reach the workers in time.
A strand is drawn from its start for as long as it computed. Time in which it had no processor, was interrupted or was blocked is
drawn as a gap behind it, although the strand had not ended{gaps}.{of_runs} Not shown: which worker ran it, and why a worker waited.</p>
<figure><figcaption><b>Strands running</b> {mean} on average (dashed line), {most} at most, over {length}</figcaption>
<div class="time"><svg class="timeline" width="100%" height="120" viewBox="0 0 {buckets} {HEIGHT}" preserveAspectRatio="none"
role="img" aria-label="Strands running over time: {mean} on average"><path class="area" d="M0 {HEIGHT}{area}V{HEIGHT}Z"/>
<path class="mean" d="M0 {at_mean:.2}H{buckets}"/></svg></div>
<p class="axis"><span>{from}</span><span class="detail"></span><span>{to}</span></p></figure></section>
"#,
        width = time(timeline.width.0),
        gaps = gaps(report),
        mean = ratio(Some(mean)),
        most = ratio(running.iter().copied().reduce(f64::max)),
        length = time(length.0),
        at_mean = y(mean),
        from = time(timeline.from.0),
        to = time((timeline.from + length).0),
    )
}

/// How much of the run the gaps are, if that is known and more than nothing.
fn gaps(report: &Report) -> String {
    let program = &report.program;
    let known = [
        ("without a processor", program.preempted_ns),
        ("interrupted", program.interrupted_ns),
        ("blocked", program.blocked_ns),
    ];
    let parts: Vec<String> = known
        .into_iter()
        .filter(|(_, nanos)| *nanos > 0)
        .map(|(what, nanos)| format!("{} {what}", time(nanos)))
        .collect();
    if parts.is_empty() {
        return String::new();
    }
    format!(" (in this program, over all threads: {})", parts.join(", "))
}
