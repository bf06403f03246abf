//! Profiles made of stacks: folded stacks, speedscope, the Firefox Profiler.

use serde_json::Value;
use workspan_export::stacks::{stacks, Weight};
use workspan_export::timeline::{timeline, Timeline};
use workspan_export::{firefox, folded, speedscope};
use workspan_model::Nanos;

use crate::sample::{check_snapshot, sample, written, Sample, SEEDS, SHOWN};

fn in_time(sample: &Sample) -> Timeline {
    timeline(&sample.recording, &sample.run, &sample.rows, 1_000_000).unwrap_or_else(|never| match never {})
}

pub(crate) fn write_folded(sample: &Sample, weight: Weight) -> String {
    written(|out| folded::write(&stacks(&sample.recording, &sample.run), weight, out))
}

pub(crate) fn write_speedscope(sample: &Sample, timeline: Option<&Timeline>) -> String {
    written(|out| speedscope::write(&stacks(&sample.recording, &sample.run), timeline, out))
}

pub(crate) fn write_firefox(sample: &Sample, timeline: Option<&Timeline>) -> String {
    written(|out| firefox::write(&sample.recording, &stacks(&sample.recording, &sample.run), timeline, out))
}

/// Stacks and the sum of their weights. A line's weight stands behind the last blank.
pub(crate) fn check_folded(text: &str) -> (Vec<Vec<String>>, i64) {
    let lines = text.lines().map(|line| {
        let (stack, weight) = line.rsplit_once(' ').expect("a weight");
        let frames: Vec<String> = stack.split(';').map(str::to_owned).collect();
        assert!(frames.iter().all(|frame| !frame.is_empty() && !frame.contains(char::is_control)), "{line:?}");
        (frames, weight.parse::<u32>().map(i64::from).or_else(|_| weight.parse::<i64>()).expect("a whole number"))
    });
    let (stacks, weights): (Vec<_>, Vec<_>) = lines.unzip();
    let mut distinct = stacks.clone();
    distinct.sort();
    distinct.dedup();
    assert!(weights.iter().all(|weight| *weight > 0));
    (stacks, weights.iter().sum())
}

#[test]
fn folded_stacks_add_up() {
    for seed in SEEDS {
        let sample = sample(seed);
        assert_eq!(check_folded(&write_folded(&sample, Weight::Work)).1, sample.work().0, "seed {seed}");
        assert_eq!(check_folded(&write_folded(&sample, Weight::Critical)).1, sample.run.span.0, "seed {seed}");
    }
    check_snapshot("folded", &write_folded(&sample(SHOWN), Weight::Work));
    check_snapshot("folded-critical", &write_folded(&sample(SHOWN), Weight::Critical));
}

fn list<'v>(value: &'v Value, name: &str) -> &'v [Value] {
    value[name].as_array().unwrap_or_else(|| panic!("{name} is no list: {value}"))
}

fn whole(value: &Value) -> i64 {
    value.as_i64().unwrap_or_else(|| panic!("{value} is no whole number"))
}

fn index(value: &Value, below: usize) -> usize {
    let index = usize::try_from(whole(value)).expect("not negative");
    assert!(index < below, "{index} of {below}");
    index
}

/// What speedscope's schema and importer ask for. Gives the sums of the sampled profiles, and of what lanes are open.
pub(crate) fn check_speedscope(text: &str) -> (Vec<(String, i64)>, i64) {
    let json: Value = serde_json::from_str(text).expect("JSON");
    assert_eq!(json["$schema"], "https://www.speedscope.app/file-format-schema.json");
    let frames = list(&json["shared"], "frames");
    for frame in frames {
        assert!(frame["name"].is_string() && ["file"].iter().all(|key| frame[key].is_string() || frame[key].is_null()));
        assert!(["line", "col"].iter().all(|key| frame[key].is_u64() || frame[key].is_null()), "{frame}");
    }
    let profiles = list(&json, "profiles");
    index(&json["activeProfileIndex"], profiles.len());
    let (mut sums, mut busy) = (Vec::new(), 0);
    for profile in profiles {
        let name = profile["name"].as_str().expect("a name").to_owned();
        assert_eq!(profile["unit"], "nanoseconds");
        let (start, end) = (whole(&profile["startValue"]), whole(&profile["endValue"]));
        assert!(start <= end);
        if profile["type"] == "sampled" {
            let (samples, weights) = (list(profile, "samples"), list(profile, "weights"));
            assert_eq!(samples.len(), weights.len());
            for stack in samples {
                let stack = stack.as_array().expect("a stack");
                assert!(!stack.is_empty());
                stack.iter().for_each(|frame| _ = index(frame, frames.len()));
            }
            assert!(weights.iter().all(|weight| whole(weight) >= 0));
            let sum = weights.iter().map(whole).sum();
            assert_eq!(sum, end - start);
            sums.push((name, sum));
        } else {
            assert_eq!(profile["type"], "evented");
            busy += check_events(list(profile, "events"), frames.len(), start, end);
        }
    }
    (sums, busy)
}

/// Balanced, in order, within the profile. Gives how long anything is open.
fn check_events(events: &[Value], frames: usize, start: i64, end: i64) -> i64 {
    let (mut open, mut last, mut busy) = (Vec::new(), start, 0);
    for event in events {
        let at = whole(&event["at"]);
        assert!(last <= at && at <= end, "{event}");
        if !open.is_empty() {
            busy += at - last;
        }
        last = at;
        let frame = index(&event["frame"], frames);
        match event["type"].as_str() {
            Some("O") => open.push(frame),
            Some("C") => assert_eq!(open.pop(), Some(frame)),
            other => panic!("{other:?}"),
        }
    }
    assert!(open.is_empty());
    busy
}

#[test]
fn speedscope_adds_up() {
    for seed in SEEDS {
        let sample = sample(seed);
        let expected = [("work".to_owned(), sample.work().0), ("critical path".to_owned(), sample.run.span.0)];
        let (sums, _) = check_speedscope(&write_speedscope(&sample, None));
        assert_eq!(sums, expected, "seed {seed}");
        let (sums, busy) = check_speedscope(&write_speedscope(&sample, Some(&in_time(&sample))));
        assert_eq!((sums, busy), (expected.to_vec(), (sample.work() + sample.run.blocked).0), "seed {seed}");
    }
    check_snapshot("speedscope", &write_speedscope(&sample(SHOWN), None));
}

/// Milliseconds with six decimals, exactly.
fn millis(value: &Value) -> i64 {
    let text = value.as_number().expect("a number").to_string();
    if let Some((digits, exponent)) = text.split_once("e-") {
        // Tiny numbers come back so.
        let exponent: usize = exponent.parse().expect("an exponent");
        let (whole, rest) = digits.split_once('.').unwrap_or((digits, ""));
        let moved = format!("{}{whole}{rest}", "0".repeat(exponent - 1));
        return format!("{moved:0<6}")[..6].parse().expect("six decimals");
    }
    let (whole, rest) = text.split_once('.').unwrap_or((&text, ""));
    let nanos: i64 = whole.parse::<i64>().expect("whole milliseconds").abs() * 1_000_000;
    (nanos + format!("{rest:0<6}").parse::<i64>().expect("six decimals")) * if text.starts_with('-') { -1 } else { 1 }
}

/// A table of columns of equal length.
fn check_table(table: &Value, columns: &[&str]) -> usize {
    let length = usize::try_from(whole(&table["length"])).expect("not negative");
    for column in columns {
        assert_eq!(list(table, column).len(), length, "{column}");
    }
    assert_eq!(
        table.as_object().expect("a table").len(),
        columns.len() + 1 + usize::from(!table["weightType"].is_null())
    );
    length
}

/// What the Firefox Profiler's tables rely on. Gives the sums of the weights of each thread.
pub(crate) fn check_firefox(text: &str) -> Vec<(String, i64)> {
    let json: Value = serde_json::from_str(text).expect("JSON");
    let meta = &json["meta"];
    assert_eq!(meta["preprocessedProfileVersion"], 61);
    for field in ["interval", "startTime", "processType", "stackwalk", "version"] {
        assert!(meta[field].is_number(), "{field}");
    }
    let categories = list(meta, "categories").len();
    let schemas: Vec<&str> = list(meta, "markerSchema").iter().filter_map(|schema| schema["name"].as_str()).collect();
    let shared = &json["shared"];
    let strings = list(shared, "stringArray");
    assert!(strings.iter().all(Value::is_string));
    let sources = check_table(&shared["sources"], &["id", "filename", "startLine", "startColumn", "sourceMapURL"]);
    list(&shared["sources"], "filename").iter().for_each(|name| _ = index(name, strings.len()));
    let functions = ["name", "isJS", "relevantForJS", "resource", "source", "lineNumber", "columnNumber"];
    let functions = check_table(&shared["funcTable"], &functions);
    list(&shared["funcTable"], "name").iter().for_each(|name| _ = index(name, strings.len()));
    let with_source = list(&shared["funcTable"], "source").iter().filter(|source| !source.is_null());
    with_source.for_each(|source| _ = index(source, sources));
    let frames = [
        "address",
        "inlineDepth",
        "category",
        "subcategory",
        "func",
        "nativeSymbol",
        "innerWindowID",
        "line",
        "column",
    ];
    let frames = check_table(&shared["frameTable"], &frames);
    list(&shared["frameTable"], "func").iter().for_each(|func| _ = index(func, functions));
    list(&shared["frameTable"], "category").iter().for_each(|category| _ = index(category, categories));
    let stacks = check_table(&shared["stackTable"], &["frame", "prefix"]);
    list(&shared["stackTable"], "frame").iter().for_each(|frame| _ = index(frame, frames));
    for (at, prefix) in list(&shared["stackTable"], "prefix").iter().enumerate() {
        // A prefix comes first.
        assert!(prefix.is_null() == (at == 0) && (prefix.is_null() || index(prefix, stacks) < at));
    }
    check_table(&shared["resourceTable"], &["lib", "name", "host", "type"]);
    check_table(&shared["nativeSymbols"], &["libIndex", "address", "name", "functionSize"]);
    let mut sums = Vec::new();
    for thread in list(&json, "threads") {
        for field in ["processType", "name", "pid", "tid"] {
            assert!(thread[field].is_string(), "{field}");
        }
        let samples = &thread["samples"];
        check_table(samples, &["stack", "time", "weight"]);
        assert_eq!(samples["weightType"], "tracing-ms");
        list(samples, "stack").iter().for_each(|stack| _ = index(stack, stacks));
        assert!(list(samples, "time").iter().map(millis).is_sorted());
        let markers = &thread["markers"];
        check_table(markers, &["data", "name", "startTime", "endTime", "phase", "category"]);
        list(markers, "name").iter().for_each(|name| _ = index(name, strings.len()));
        list(markers, "category").iter().for_each(|category| _ = index(category, categories));
        for (begin, end) in list(markers, "startTime").iter().zip(list(markers, "endTime")) {
            assert!(millis(begin) <= millis(end));
        }
        for data in list(markers, "data") {
            assert!(schemas.contains(&data["type"].as_str().expect("a type")), "{data}");
        }
        let sum = list(samples, "weight").iter().map(millis).sum();
        sums.push((thread["name"].as_str().expect("a name").to_owned(), sum));
    }
    sums
}

#[test]
fn firefox_adds_up() {
    for seed in SEEDS {
        let sample = sample(seed);
        let expected = [("work".to_owned(), sample.work().0), ("critical path".to_owned(), sample.run.span.0)];
        assert_eq!(check_firefox(&write_firefox(&sample, None)), expected, "seed {seed}");
        let sums = check_firefox(&write_firefox(&sample, Some(&in_time(&sample))));
        assert_eq!(sums[..2], expected, "seed {seed}");
        assert_eq!(sums[2..].iter().map(|(_, sum)| *sum).sum::<i64>(), sample.work().0, "seed {seed}");
    }
    check_snapshot("firefox", &write_firefox(&sample(SHOWN), None));
}

/// What is below zero is excluded and reported; a part of the path whose context is lost has a stack of its own.
#[test]
fn odd_weights() {
    let mut sample = sample(SHOWN);
    sample.run.totals[1].self_work = Nanos(-7);
    sample.run.lost_path = Nanos(5);
    let stacks = stacks(&sample.recording, &sample.run);
    let missing = stacks.below_zero(Weight::Work);
    assert_eq!(missing, Nanos(-7));
    let (_, sum) = check_folded(&write_folded(&sample, Weight::Work));
    assert_eq!(Nanos(sum) + missing, sample.work());
    let (found, _) = check_folded(&write_folded(&sample, Weight::Critical));
    assert!(found.iter().any(|stack| stack[1..] == ["(context not known)"]), "{found:?}");
}
