//! Trace events as JSON: what Perfetto and `chrome://tracing` open.
//!
//! A track for each lane, a complete event (`X`) for each slice, a pair of flow events (`s`, `f`) for each arrow, in the order
//! of time. Slices on the critical path are of the category `critical` and have a colour. Times are microseconds with three
//! decimals: exact.

use std::io::{self, Write};

use workspan_analysis::strands::order::Order;
use workspan_model::{ContextId, Nanos, Recording};

use crate::json::{Micros, Text};
use crate::names;
use crate::timeline::{Arrow, Lane, LeftOut, Slice, Timeline};

/// All tracks are of one process.
const PROCESS: u32 = 1;

/// Writes the trace of a run of `recording`.
pub fn write(recording: &Recording, timeline: &Timeline, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{{\"displayTimeUnit\":\"ns\",\"traceEvents\":[")?;
    let program = names::program(recording);
    write!(
        out,
        "{{\"ph\":\"M\",\"pid\":{PROCESS},\"tid\":0,\"name\":\"process_name\",\"args\":{{\"name\":{}}}}}",
        Text(&program)
    )?;
    for (at, lane) in timeline.lanes.iter().enumerate() {
        let (track, name) = (track(at), lane_name(*lane));
        for (kind, value) in [
            ("thread_name", format!("\"name\":{}", Text(&name))),
            ("thread_sort_index", format!("\"sort_index\":{track}")),
        ] {
            write!(
                out,
                ",\n{{\"ph\":\"M\",\"pid\":{PROCESS},\"tid\":{track},\"name\":\"{kind}\",\"args\":{{{value}}}}}"
            )?;
        }
    }
    let LeftOut { strands, time, arrows } = timeline.left_out;
    let left_out = format!("{{\"strands\":{strands},\"time_ns\":{},\"arrows\":{arrows}}}", time.0);
    write!(out, ",\n{{\"ph\":\"M\",\"pid\":{PROCESS},\"tid\":0,\"name\":\"workspan_left_out\",\"args\":{left_out}}}")?;
    events(recording, timeline, out)?;
    writeln!(out, "\n],\"otherData\":{{\"made_by\":\"workspan\",\"left_out\":{left_out}}}}}")
}

/// What a lane is called.
pub fn lane_name(lane: Lane) -> String {
    match lane.lane {
        0 => format!("thread {}", lane.thread),
        more => format!("thread {} ({})", lane.thread, more + 1),
    }
}

fn track(lane: usize) -> usize {
    lane + 1
}

/// Slices and arrows by time. A viewer ties the end of an arrow to the slice that is open then, so slices come first.
fn events(recording: &Recording, timeline: &Timeline, out: &mut dyn Write) -> io::Result<()> {
    let names = Names::of(recording);
    let mut slices: Vec<usize> = (0..timeline.slices.len()).collect();
    slices.sort_by_key(|at| (timeline.slices[*at].start, *at));
    let mut ends: Vec<(Nanos, usize, bool)> = Vec::new();
    for (at, arrow) in timeline.arrows.iter().enumerate() {
        ends.push((leaves(arrow, &timeline.slices[arrow.from]), at, false));
        ends.push((arrives(arrow, &timeline.slices[arrow.to]), at, true));
    }
    ends.sort_unstable();
    let mut ends = ends.into_iter().peekable();
    for at in slices {
        let slice = &timeline.slices[at];
        while let Some((time, arrow, last)) = ends.next_if(|(time, _, _)| *time < slice.start) {
            flow(timeline, time, arrow, last, out)?;
        }
        names.slice(slice, out)?;
    }
    ends.try_for_each(|(time, arrow, last)| flow(timeline, time, arrow, last, out))
}

/// Within the slice, not at its very end, where it is open no more.
fn leaves(arrow: &Arrow, from: &Slice) -> Nanos {
    arrow.at.min(from.end - Nanos(1)).max(from.start)
}

fn arrives(arrow: &Arrow, to: &Slice) -> Nanos {
    arrow.until.min(to.end - Nanos(1)).max(to.start)
}

fn flow(timeline: &Timeline, time: Nanos, at: usize, last: bool, out: &mut dyn Write) -> io::Result<()> {
    let arrow = &timeline.arrows[at];
    let (phase, slice) = if last { ("\"f\",\"bp\":\"e\"", arrow.to) } else { ("\"s\"", arrow.from) };
    let name = order(arrow.order);
    let track = track(timeline.slices[slice].lane);
    write!(
        out,
        ",\n{{\"ph\":{phase},\"id\":{},\"cat\":\"order\",\"name\":\"{name}\",\"pid\":{PROCESS},\"tid\":{track},\"ts\":{}}}",
        at + 1,
        Micros(time)
    )
}

/// The word for an order.
pub(crate) fn order(order: Order) -> &'static str {
    match order {
        Order::Continue => "continue",
        Order::Spawn => "spawn",
        Order::Join => "join",
        Order::Depend => "depend",
        Order::Wake => "wake",
    }
}

/// What is said of each context, written once.
struct Names {
    /// The names of slices.
    names: Vec<String>,
    /// Arguments that do not depend on the slice.
    arguments: Vec<String>,
}

impl Names {
    fn of(recording: &Recording) -> Names {
        let tree = &recording.contexts;
        let plain = names::contexts(recording);
        let argument = |id: ContextId| {
            let site = tree.site(id).and_then(|site| recording.sites.get(site.0 as usize));
            let handle = site.map(|site| site.stable_id(&recording.sites)).unwrap_or_default();
            let mut around: Vec<&str> =
                tree.path(id).skip(1).filter_map(|id| plain.get(id.index())).map(String::as_str).collect();
            around.reverse();
            format!("\"site\":{},\"context\":{},\"around\":{}", Text(&handle), id.0, Text(&around.join(" > ")))
        };
        Names {
            arguments: tree.ids().map(argument).collect(),
            names: plain.iter().map(|name| Text(name).to_string()).collect(),
        }
    }

    fn slice(&self, slice: &Slice, out: &mut dyn Write) -> io::Result<()> {
        let at = slice.context.index();
        let (name, arguments) = (&self.names[at], &self.arguments[at]);
        let (category, colour) = if slice.critical { ("critical", ",\"cname\":\"terrible\"") } else { ("strand", "") };
        write!(
            out,
            ",\n{{\"ph\":\"X\",\"name\":{name},\"cat\":\"{category}\"{colour},\"pid\":{PROCESS},\"tid\":{},\"ts\":{},\"dur\":{},\
             \"args\":{{{arguments},\"task\":{},\"work_ns\":{},\"blocked_ns\":{},\"strands\":{},\"critical\":{}}}}}",
            track(slice.lane),
            Micros(slice.start),
            Micros(slice.end - slice.start),
            slice.task.0,
            slice.work.0,
            slice.blocked.0,
            slice.strands,
            slice.critical,
        )
    }
}
