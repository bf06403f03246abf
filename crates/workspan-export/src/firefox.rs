//! The Firefox Profiler's processed profiles, in version 61 of the format, which newer profilers read as they read all older
//! ones.
//!
//! A thread whose samples weigh what contexts worked, one whose samples weigh what they add to the critical path and, where
//! there are strands, one for each lane of each thread, with a marker for each slice. All share their stacks. Weights are
//! milliseconds (`tracing-ms`) with six decimals: exact.

use std::io::{self, Write};

use workspan_model::{Nanos, Recording, SiteKind};

use crate::chrome::lane_name;
use crate::json::{List, Millis, Or, Text};
use crate::stacks::{Frame, Stacks, Weight};
use crate::timeline::{Slice, Timeline};

/// Version of the processed format.
const FORMAT: u32 = 61;
/// Version of the format that it is processed from.
const GECKO: u32 = 31;

/// Categories, with their colours.
const CATEGORIES: [(&str, &str); 4] = [("Serial", "orange"), ("Parallel", "blue"), ("Lock", "red"), ("Other", "grey")];

/// Writes the profile of a run of `recording`.
pub fn write(
    recording: &Recording,
    stacks: &Stacks,
    timeline: Option<&Timeline>,
    out: &mut dyn Write,
) -> io::Result<()> {
    meta(recording, stacks, timeline, out)?;
    let mut strings = Strings::default();
    shared(stacks, &mut strings, out)?;
    let marker = strings.of("strand");
    write!(out, ",\n\"stringArray\":[{}]}},\n\"threads\":[", List(strings.all.iter().map(|text| Text(text))))?;
    weighted(stacks, Weight::Work, "work", out)?;
    write!(out, ",")?;
    weighted(stacks, Weight::Critical, "critical path", out)?;
    if let Some(timeline) = timeline {
        for (at, slices) in timeline.slices.chunk_by(|a, b| a.lane == b.lane).enumerate() {
            write!(out, ",")?;
            lane(stacks, timeline, at, slices, marker, out)?;
        }
    }
    writeln!(out, "\n]}}")
}

fn meta(recording: &Recording, stacks: &Stacks, timeline: Option<&Timeline>, out: &mut dyn Write) -> io::Result<()> {
    let categories = CATEGORIES
        .iter()
        .map(|(name, color)| format!("{{\"name\":\"{name}\",\"color\":\"{color}\",\"subcategories\":[\"Other\"]}}"));
    let field = |key: &str, label: &str, format: &str| {
        format!("{{\"key\":\"{key}\",\"label\":\"{label}\",\"format\":\"{format}\"}}")
    };
    let fields = [
        field("name", "Site", "string"),
        field("work", "Work", "duration"),
        field("blocked", "Blocked", "duration"),
        field("critical", "Critical path", "string"),
        field("task", "Task", "integer"),
    ];
    write!(
        out,
        "{{\"meta\":{{\"interval\":0.001,\"startTime\":{},\"processType\":0,\"product\":{},\"stackwalk\":0,\"debug\":false,\
         \"version\":{GECKO},\"preprocessedProfileVersion\":{FORMAT},\"symbolicated\":true,\"importedFrom\":\"workspan\",\
         \"oscpu\":{},\"CPUName\":{},\"logicalCPUs\":{},\n\"categories\":[{}],\n\"markerSchema\":[{{\"name\":\"strand\",\
         \"display\":[\"marker-chart\",\"marker-table\"],\"tooltipLabel\":\"{{marker.data.name}}\",\
         \"tableLabel\":\"{{marker.data.name}}\",\"chartLabel\":\"{{marker.data.name}}\",\"fields\":[{}]}}]",
        recording.made_at.saturating_mul(1_000),
        Text(&stacks.name),
        Text(&recording.machine.system),
        Text(&recording.machine.processor),
        recording.machine.cpus,
        List(categories),
        List(fields.iter()),
    )?;
    if let Some(left_out) = timeline.map(|timeline| timeline.left_out) {
        let entry = |label: &str, value: String| {
            format!("{{\"label\":\"{label}\",\"format\":\"string\",\"value\":{}}}", Text(&value))
        };
        let entries =
            [entry("Strands excluded", left_out.strands.to_string()), entry("Their time", left_out.time.to_string())];
        write!(out, ",\"extra\":[{{\"label\":\"Workspan\",\"entries\":[{}]}}]", List(entries.iter()))?;
    }
    write!(out, "}},\n\"libs\":[],\n\"pages\":[],\n")
}

/// The tables of stacks, all but the strings.
fn shared(stacks: &Stacks, strings: &mut Strings, out: &mut dyn Write) -> io::Result<()> {
    let mut sources = Strings::default();
    let functions: Vec<usize> = stacks.frames.iter().map(|frame| strings.of(&frame.name)).collect();
    let place = |frame: &Frame| frame.place.clone();
    let source: Vec<Option<usize>> =
        stacks.frames.iter().map(|frame| place(frame).map(|(file, _, _)| sources.of(&file))).collect();
    let files: Vec<usize> = sources.all.iter().map(|file| strings.of(file)).collect();
    let frames = stacks.frames.len();
    let same = |text: &'static str| List(std::iter::repeat_n(text, frames));
    let line = || stacks.frames.iter().map(|frame| Or(place(frame).map(|(_, line, _)| line).filter(|line| *line > 0)));
    let column =
        || stacks.frames.iter().map(|frame| Or(place(frame).map(|(_, _, column)| column).filter(|at| *at > 0)));
    writeln!(
        out,
        "\"shared\":{{\"stackTable\":{{\"frame\":[{}],\"prefix\":[{}],\"length\":{}}},",
        List(stacks.stacks.iter().map(|stack| stack.frame)),
        List(stacks.stacks.iter().map(|stack| Or(stack.parent))),
        stacks.stacks.len()
    )?;
    writeln!(
        out,
        "\"frameTable\":{{\"address\":[{}],\"inlineDepth\":[{}],\"category\":[{}],\"subcategory\":[{}],\"func\":[{}],\
         \"nativeSymbol\":[{}],\"innerWindowID\":[{}],\"line\":[{}],\"column\":[{}],\"length\":{frames}}},",
        same("-1"),
        same("0"),
        List(stacks.frames.iter().map(|frame| category(frame.kind))),
        same("0"),
        List(0..frames),
        same("null"),
        same("null"),
        List(line()),
        List(column()),
    )?;
    writeln!(
        out,
        "\"funcTable\":{{\"name\":[{}],\"isJS\":[{}],\"relevantForJS\":[{}],\"resource\":[{}],\"source\":[{}],\
         \"lineNumber\":[{}],\"columnNumber\":[{}],\"length\":{frames}}},",
        List(functions.iter()),
        same("false"),
        same("false"),
        same("-1"),
        List(source.iter().map(|source| Or(*source))),
        List(line()),
        List(column()),
    )?;
    let files_of = |text: &'static str| List(std::iter::repeat_n(text, files.len()));
    write!(
        out,
        "\"resourceTable\":{{\"lib\":[],\"name\":[],\"host\":[],\"type\":[],\"length\":0}},\
         \"nativeSymbols\":{{\"libIndex\":[],\"address\":[],\"name\":[],\"functionSize\":[],\"length\":0}},\n\
         \"sources\":{{\"id\":[{}],\"filename\":[{}],\"startLine\":[{}],\"startColumn\":[{}],\"sourceMapURL\":[{}],\"length\":{}}}",
        files_of("null"),
        List(files.iter()),
        files_of("1"),
        files_of("1"),
        files_of("null"),
        files.len()
    )
}

fn category(kind: Option<SiteKind>) -> usize {
    match kind {
        None => 3,
        Some(kind) if kind.is_lock() => 2,
        Some(kind) if kind.spawns() => 1,
        Some(_) => 0,
    }
}

/// Samples one after the other, each as long as it weighs.
fn weighted(stacks: &Stacks, weight: Weight, name: &str, out: &mut dyn Write) -> io::Result<()> {
    let samples = stacks.weighted(weight);
    let mut end = Nanos::ZERO;
    let mut starts = Vec::with_capacity(samples.len());
    for (_, own) in &samples {
        starts.push(end);
        end += *own;
    }
    let samples = Samples {
        stacks: samples.iter().map(|(stack, _)| *stack).collect(),
        weights: samples.iter().map(|(_, own)| *own).collect(),
        starts,
    };
    thread(name, name, weight == Weight::Work, end, &samples, "", 0, out)
}

/// Strands of a lane: samples where they begin, and markers.
fn lane(
    stacks: &Stacks,
    timeline: &Timeline,
    number: usize,
    slices: &[Slice],
    marker: usize,
    out: &mut dyn Write,
) -> io::Result<()> {
    let samples = Samples {
        stacks: slices.iter().map(|slice| slice.context.index()).collect(),
        weights: slices.iter().map(|slice| slice.work.at_least_zero()).collect(),
        starts: slices.iter().map(|slice| slice.start).collect(),
    };
    let data = slices.iter().map(|slice| {
        let name = stacks.stacks.get(slice.context.index()).and_then(|stack| stacks.frames.get(stack.frame));
        format!(
            "{{\"type\":\"strand\",\"name\":{},\"work\":{},\"blocked\":{},\"critical\":\"{}\",\"task\":{}}}",
            Text(name.map_or("", |frame| &frame.name)),
            Millis(slice.work),
            Millis(slice.blocked),
            if slice.critical { "yes" } else { "no" },
            slice.task.0
        )
    });
    let markers = format!(
        "\"data\":[{}],\"name\":[{}],\"startTime\":[{}],\"endTime\":[{}],\"phase\":[{}],\"category\":[{}]",
        List(data),
        List(slices.iter().map(|_| marker)),
        List(slices.iter().map(|slice| Millis(slice.start))),
        List(slices.iter().map(|slice| Millis(slice.end))),
        List(slices.iter().map(|_| 1)),
        List(slices.iter().map(|_| 3)),
    );
    let name = slices.first().map_or_else(String::new, |slice| lane_name(timeline.lanes[slice.lane]));
    let end = slices.last().map_or(Nanos::ZERO, |slice| slice.end);
    thread(&name, &format!("{}", number + 1), false, end, &samples, &markers, slices.len(), out)
}

struct Samples {
    stacks: Vec<usize>,
    weights: Vec<Nanos>,
    starts: Vec<Nanos>,
}

#[expect(clippy::too_many_arguments, reason = "the columns of a thread")]
fn thread(
    name: &str,
    id: &str,
    main: bool,
    end: Nanos,
    samples: &Samples,
    markers: &str,
    marker_count: usize,
    out: &mut dyn Write,
) -> io::Result<()> {
    let no_markers = "\"data\":[],\"name\":[],\"startTime\":[],\"endTime\":[],\"phase\":[],\"category\":[]";
    let markers = if markers.is_empty() { no_markers } else { markers };
    write!(
        out,
        "\n{{\"processType\":\"default\",\"processName\":\"workspan\",\"processStartupTime\":0,\"processShutdownTime\":null,\
         \"registerTime\":0,\"unregisterTime\":{},\"pausedRanges\":[],\"name\":{},\"isMainThread\":{main},\"pid\":\"1\",\
         \"tid\":{},\"samples\":{{\"stack\":[{}],\"time\":[{}],\"weight\":[{}],\"weightType\":\"tracing-ms\",\"length\":{}}},\
         \"markers\":{{{markers},\"length\":{marker_count}}}}}",
        Millis(end),
        Text(name),
        Text(id),
        List(samples.stacks.iter()),
        List(samples.starts.iter().map(|time| Millis(*time))),
        List(samples.weights.iter().map(|own| Millis(*own))),
        samples.stacks.len()
    )
}

/// Strings, each once.
#[derive(Default)]
struct Strings {
    all: Vec<String>,
    known: std::collections::BTreeMap<String, usize>,
}

impl Strings {
    fn of(&mut self, text: &str) -> usize {
        if let Some(at) = self.known.get(text) {
            return *at;
        }
        self.all.push(text.to_owned());
        self.known.insert(text.to_owned(), self.all.len() - 1);
        self.all.len() - 1
    }
}
