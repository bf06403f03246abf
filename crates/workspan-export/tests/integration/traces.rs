//! Chrome traces: what Perfetto and `chrome://tracing` require.

use std::collections::BTreeMap;

use serde_json::Value;
use workspan_export::chrome;
use workspan_export::timeline::timeline;
use workspan_model::Nanos;

use crate::sample::{check_snapshot, sample, written, Sample, SEEDS, SHOWN};

/// A complete event.
#[derive(Clone, Debug)]
struct Slice {
    track: u64,
    start: i64,
    end: i64,
    name: String,
    work: i64,
    blocked: i64,
    critical: bool,
}

/// What a trace says.
struct Trace {
    slices: Vec<Slice>,
    arrows: usize,
    left_out: (u64, i64, u64),
}

fn trace(sample: &Sample, limit: usize) -> String {
    let timeline = timeline(&sample.recording, &sample.run, &sample.rows, limit).unwrap_or_else(|never| match never {});
    written(|out| chrome::write(&sample.recording, &timeline, out))
}

/// Microseconds with three decimals, exactly.
fn nanos(value: &Value) -> i64 {
    let text = value.as_number().expect("a number").to_string();
    let (sign, text) = text.strip_prefix('-').map_or((1, text.as_str()), |text| (-1, text));
    let (whole, rest) = text.split_once('.').unwrap_or((text, ""));
    let whole: i64 = whole.parse().expect("whole microseconds");
    let rest: i64 = format!("{rest:0<3}").parse().expect("three decimals");
    sign * (whole * 1000 + rest)
}

/// Reads a trace as a viewer does, and checks what that relies on.
pub(crate) fn check_trace(text: &str) -> Vec<String> {
    let read = read(text);
    read.slices.into_iter().map(|slice| slice.name).collect()
}

fn read(text: &str) -> Trace {
    let json: Value = serde_json::from_str(text).expect("JSON");
    let events = json["traceEvents"].as_array().expect("events");
    let left_out = &json["otherData"]["left_out"];
    let mut trace = Trace {
        slices: Vec::new(),
        arrows: 0,
        left_out: (
            left_out["strands"].as_u64().expect("a number"),
            left_out["time_ns"].as_i64().expect("a number"),
            left_out["arrows"].as_u64().expect("a number"),
        ),
    };
    let mut named = BTreeMap::new();
    let mut open: BTreeMap<u64, (i64, String)> = BTreeMap::new();
    let mut last = i64::MIN;
    for event in events {
        let track = event["tid"].as_u64().expect("a thread");
        assert_eq!(event["pid"], 1);
        let name = event["name"].as_str().expect("a name").to_owned();
        let phase = event["ph"].as_str().expect("a phase");
        if phase == "M" {
            if name == "thread_name" {
                let known = named.insert(track, event["args"]["name"].as_str().expect("a name").to_owned());
                assert_eq!(known, None, "two names");
            }
            if name == "workspan_left_out" {
                assert_eq!(&event["args"], left_out);
            }
            continue;
        }
        let start = nanos(&event["ts"]);
        assert!(start >= last, "not in the order of time: {event}");
        last = start;
        assert!(named.contains_key(&track), "{event}");
        match phase {
            "X" => {
                let args = &event["args"];
                let number = |name: &str| args[name].as_i64().expect("a number");
                let critical = args["critical"].as_bool().expect("a truth");
                assert_eq!(event["cat"], if critical { "critical" } else { "strand" });
                let end = start + nanos(&event["dur"]);
                let (work, blocked) = (number("work_ns"), number("blocked_ns"));
                trace.slices.push(Slice { track, start, end, name, work, blocked, critical });
            }
            "s" => {
                let id = event["id"].as_u64().expect("a number");
                assert_eq!(open.insert(id, (start, name)), None, "begun twice: {event}");
                is_in_a_slice(&trace.slices, track, start);
            }
            "f" => {
                assert_eq!(event["bp"], "e");
                let id = event["id"].as_u64().expect("a number");
                let (begun, same) = open.remove(&id).expect("it has begun");
                assert!(begun <= start && same == name, "{event}");
                is_in_a_slice(&trace.slices, track, start);
                trace.arrows += 1;
            }
            other => panic!("{other}"),
        }
    }
    assert!(open.is_empty(), "not ended: {open:?}");
    let mut by_track = trace.slices.clone();
    by_track.sort_by_key(|slice| (slice.track, slice.start, slice.end));
    for pair in by_track.windows(2) {
        assert!(pair[0].track != pair[1].track || pair[0].end <= pair[1].start, "{pair:?}");
    }
    trace
}

/// As a viewer ties an end of an arrow: to what began last on this track.
fn is_in_a_slice(slices: &[Slice], track: u64, at: i64) {
    let last = slices.iter().rev().find(|slice| slice.track == track).expect("a slice");
    assert!(last.start <= at && at < last.end.max(last.start + 1), "{at}: {last:?}");
}

#[test]
fn slices_add_up_to_the_run() {
    let (mut slices, mut strands, mut arrows) = (0, 0, 0);
    for seed in SEEDS {
        let sample = sample(seed);
        let found = read(&trace(&sample, 1_000_000));
        let sum = |value: fn(&Slice) -> i64| found.slices.iter().map(value).sum::<i64>();
        assert_eq!(found.left_out.0, 0, "seed {seed}");
        assert_eq!(sum(|slice| slice.work), sample.work().0, "seed {seed}");
        assert_eq!(sum(|slice| slice.blocked), sample.run.blocked.0, "seed {seed}");
        assert_eq!(sum(|slice| slice.end - slice.start), (sample.work() + sample.run.blocked).0, "seed {seed}");
        let critical = found.slices.iter().filter(|slice| slice.critical);
        assert_eq!(critical.map(|slice| slice.work + slice.blocked).sum::<i64>(), sample.run.span.0, "seed {seed}");
        slices += found.slices.len();
        arrows += found.arrows;
        strands += sample.rows.iter().filter(|row| row.cost + row.blocked > Nanos::ZERO).count();
    }
    // Some are merged, and there is something to see.
    assert!(slices < strands && arrows > strands / 4, "{slices} of {strands}, {arrows}");
}

/// Of too many the longest are there, and the rest is reported.
#[test]
fn what_is_left_out_is_told() {
    for seed in SEEDS.step_by(7) {
        let sample = sample(seed);
        let whole = read(&trace(&sample, 1_000_000));
        for limit in [1, 3, whole.slices.len() / 2 + 1] {
            let found = read(&trace(&sample, limit));
            assert!(found.slices.len() <= limit, "seed {seed}");
            let kept: i64 = found.slices.iter().map(|slice| slice.work + slice.blocked).sum();
            assert_eq!(kept + found.left_out.1, (sample.work() + sample.run.blocked).0, "seed {seed}");
            assert_eq!(found.slices.len() == whole.slices.len(), found.left_out.0 == 0, "seed {seed}");
            // What is kept is longer than the rest on average, far more so if little is.
            if let (true, left @ 1..) = (!found.slices.is_empty(), found.left_out.0) {
                let shortest = found.slices.iter().map(|slice| slice.end - slice.start).min().expect("some");
                let rest = found.left_out.1 / i64::try_from(left).expect("few");
                assert!(shortest >= rest / 2, "seed {seed} limit {limit}: {shortest} {rest}");
            }
        }
    }
}

/// Rows that no program made: all at once, on any thread.
#[test]
fn strands_that_overlap_get_lanes() {
    for seed in SEEDS {
        let mut sample = sample(seed);
        for (at, row) in (0..).zip(&mut sample.rows) {
            (row.start, row.thread) = (Nanos((at * 7919) % 13 - 3), u16::try_from(at % 2).expect("small"));
        }
        let found = read(&trace(&sample, 1_000_000));
        let kept: i64 = found.slices.iter().map(|slice| slice.work + slice.blocked).sum();
        assert_eq!(kept + found.left_out.1, (sample.work() + sample.run.blocked).0, "seed {seed}");
    }
}

#[test]
fn a_trace() {
    check_snapshot("chrome", &trace(&sample(SHOWN), 40));
}
