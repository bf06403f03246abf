//! Strands to lanes: sorted by time, merged, and as many as there is room for.

use super::select::Lengths;
use super::slices::{Arrow, Between, Kept, Lane, LeftOut, Slice, Timeline};

/// Lanes of a thread. More are needed only by rows that no program made.
const MOST_LANES: usize = 16;

/// `gap`: at most so much may lie between strands that become one slice.
pub(super) fn arrange(
    mut strands: Vec<Kept>,
    arrows: Vec<Between>,
    mut left_out: LeftOut,
    gap: i64,
    room: u64,
) -> Timeline {
    let mut order: Vec<usize> = (0..strands.len()).collect();
    order.sort_by_key(|at| (strands[*at].thread, strands[*at].slice.start, strands[*at].slice.end, *at));
    let mut lanes: Vec<Lane> = Vec::new();
    let mut slices: Vec<Slice> = Vec::new();
    // By strand: its slice.
    let mut slice_of: Vec<Option<usize>> = vec![None; strands.len()];
    // The last slice of each lane of the thread.
    let mut open: Vec<(usize, usize)> = Vec::new();
    let mut thread = None;
    for at in order {
        let Kept { thread: of, slice: strand } = &mut strands[at];
        if thread != Some(*of) {
            thread = Some(*of);
            open.clear();
        }
        let goes_on = |last: &Slice| {
            let between = (strand.start - last.end).0;
            (last.task, last.context, last.critical) == (strand.task, strand.context, strand.critical)
                && (0..=gap).contains(&between)
        };
        if let Some((_, last)) = open.iter().find(|(_, last)| goes_on(&slices[*last])) {
            let slice = &mut slices[*last];
            slice.end = strand.end;
            slice.work += strand.work;
            slice.blocked += strand.blocked;
            slice.strands += 1;
            slice_of[at] = Some(*last);
            continue;
        }
        let free = open.iter().position(|(_, last)| slices[*last].end <= strand.start);
        let position = free.unwrap_or(open.len());
        if position >= MOST_LANES {
            left_out.strands += 1;
            left_out.time += strand.work + strand.blocked;
            continue;
        }
        if free.is_none() {
            let lane = u16::try_from(position).unwrap_or(u16::MAX);
            lanes.push(Lane { thread: *of, lane });
            open.push((lanes.len() - 1, 0));
        }
        strand.lane = open[position].0;
        open[position].1 = slices.len();
        slice_of[at] = Some(slices.len());
        slices.push(*strand);
    }
    let kept = thin_out(&mut slices, room, &mut left_out);
    let mut timeline = Timeline { lanes, slices, arrows: Vec::new(), left_out };
    for Between { from, to, order } in arrows {
        let find = |strand: usize| slice_of[strand].and_then(|slice| kept[slice]);
        let (Some(first), Some(second)) = (find(from), find(to)) else {
            timeline.left_out.arrows += 1;
            continue;
        };
        let (at, until) = (strands[from].slice.end, strands[to].slice.start);
        if at > until {
            // Threads with a virtual clock have ticks of their own; so has a strand that was put together.
            timeline.left_out.arrows += 1;
            continue;
        }
        timeline.arrows.push(Arrow { from: first, at, to: second, until, order });
    }
    timeline.arrows.sort_by_key(|arrow| (arrow.until, arrow.at, arrow.to, arrow.from));
    timeline
}

/// Leaves the longest slices, by lane and time, and reports where each is then.
fn thin_out(slices: &mut Vec<Slice>, room: u64, left_out: &mut LeftOut) -> Vec<Option<usize>> {
    let length = |slice: &Slice| slice.end - slice.start;
    let mut lengths = Lengths::default();
    slices.iter().for_each(|slice| lengths.add(length(slice)));
    let mut selection = lengths.select(room);
    let mut keep: Vec<(usize, Slice)> = Vec::new();
    for (at, slice) in slices.iter().enumerate() {
        if selection.keeps(length(slice)) {
            keep.push((at, *slice));
        } else {
            left_out.strands += slice.strands;
            left_out.time += slice.work + slice.blocked;
        }
    }
    keep.sort_by_key(|(at, slice)| (slice.lane, slice.start, *at));
    let mut position = vec![None; slices.len()];
    for (new, (old, _)) in keep.iter().enumerate() {
        position[*old] = Some(new);
    }
    *slices = keep.into_iter().map(|(_, slice)| slice).collect();
    position
}
