//! speedscope's own format: a profile weighted by work, one by the critical path and, where there are strands, one for each
//! lane of each thread.
//!
//! Weights and times are whole nanoseconds. Events are balanced: a lane's stack is closed down to what it has in common with
//! the next one, and wholly where nothing ran.

use std::io::{self, Write};

use workspan_model::Nanos;

use crate::chrome::lane_name;
use crate::json::{List, Text};
use crate::stacks::{Stacks, Weight};
use crate::timeline::{Slice, Timeline};

/// Writes the profiles of a run.
pub fn write(stacks: &Stacks, timeline: Option<&Timeline>, out: &mut dyn Write) -> io::Result<()> {
    write!(out, "{{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"exporter\":\"workspan\"")?;
    write!(out, ",\"name\":{},\"activeProfileIndex\":0,\"shared\":{{\"frames\":[", Text(&stacks.name))?;
    for (at, frame) in stacks.frames.iter().enumerate() {
        write!(out, "{}\n{{\"name\":{}", if at > 0 { "," } else { "" }, Text(&frame.name))?;
        if let Some((file, line, column)) = &frame.place {
            write!(out, ",\"file\":{},\"line\":{line},\"col\":{column}", Text(file))?;
        }
        write!(out, "}}")?;
    }
    write!(out, "\n]}},\"profiles\":[")?;
    sampled(stacks, Weight::Work, "work", out)?;
    write!(out, ",")?;
    sampled(stacks, Weight::Critical, "critical path", out)?;
    if let Some(timeline) = timeline {
        evented(stacks, timeline, out)?;
    }
    writeln!(out, "\n]}}")
}

fn sampled(stacks: &Stacks, weight: Weight, name: &str, out: &mut dyn Write) -> io::Result<()> {
    let samples = stacks.weighted(weight);
    let end: Nanos = samples.iter().map(|(_, own)| *own).sum();
    let frames = samples.iter().map(|(stack, _)| format!("[{}]", List(stacks.frames_of(*stack).iter())));
    let weights = samples.iter().map(|(_, own)| own.0);
    write!(
        out,
        "\n{{\"type\":\"sampled\",\"name\":{},\"unit\":\"nanoseconds\",\"startValue\":0,\"endValue\":{},\n\"samples\":[{}],\
         \n\"weights\":[{}]}}",
        Text(name),
        end.0,
        List(frames),
        List(weights)
    )
}

fn evented(stacks: &Stacks, timeline: &Timeline, out: &mut dyn Write) -> io::Result<()> {
    for slices in timeline.slices.chunk_by(|a, b| a.lane == b.lane) {
        let (Some(first), Some(last)) = (slices.first(), slices.last()) else {
            continue;
        };
        let name = lane_name(timeline.lanes[first.lane]);
        write!(
            out,
            ",\n{{\"type\":\"evented\",\"name\":{},\"unit\":\"nanoseconds\",\"startValue\":{},\"endValue\":{},\"events\":[",
            Text(&name),
            first.start.0,
            last.end.0
        )?;
        lane(stacks, slices, out)?;
        write!(out, "]}}")?;
    }
    Ok(())
}

fn lane(stacks: &Stacks, slices: &[Slice], out: &mut dyn Write) -> io::Result<()> {
    let mut open: Vec<usize> = Vec::new();
    let mut comma = "";
    let mut event = |kind: &str, at: Nanos, frame: usize| {
        let written = write!(out, "{comma}\n{{\"type\":\"{kind}\",\"at\":{},\"frame\":{frame}}}", at.0);
        comma = ",";
        written
    };
    let mut ended = Nanos::ZERO;
    for slice in slices {
        let frames = stacks.frames_of(slice.context.index());
        let common = if slice.start > ended { 0 } else { open.iter().zip(&frames).take_while(|(a, b)| a == b).count() };
        for frame in open.drain(common..).rev() {
            event("C", ended, frame)?;
        }
        for frame in &frames[common..] {
            event("O", slice.start, *frame)?;
            open.push(*frame);
        }
        ended = slice.end;
    }
    open.into_iter().rev().try_for_each(|frame| event("C", ended, frame))
}
