//! `workspan graph sharing`: lines of the cache that contexts share falsely, and the bytes that go from one to another.

use serde_json::{json, Value};
use workspan_graph::file::Recording;
use workspan_graph::part::replay;
use workspan_graph::sharing::Sharing;

use super::open::{call, open, place_of};
use super::sampled::Numbers;
use super::shown::{self, Answer, Table};
use crate::args::graph::GraphSharing;
use crate::exit::Outcome;

/// Runs the verb.
pub fn run(args: &GraphSharing) -> anyhow::Result<Outcome> {
    let recording = open(&args.folder)?;
    shown::write(&args.form, &recording, &answer(&recording, args.line, args.traffic)?)?;
    Ok(Outcome::OK)
}

/// False sharing of lines of some bytes, or the bytes that contexts read and others have written.
pub fn answer(recording: &Recording, line: u64, traffic: bool) -> anyhow::Result<Answer> {
    anyhow::ensure!(line.is_power_of_two() && line <= 64, "a line has a power of two of bytes, 64 at most: --line 64");
    let mut sharing = Sharing::new(line);
    replay(recording, &mut sharing)?;
    let at = |place| json!(place_of(recording, place).0);
    let bytes: u64 = sharing.contexts.values().sum();
    let fields = json!({ "line_bytes": line, "traffic_bytes": bytes, "complete": recording.complete() });
    let (table, head) = if traffic {
        let mut found: Vec<_> = sharing.places.iter().collect();
        found.sort_by_key(|(_, bytes)| std::cmp::Reverse(**bytes));
        let rows = found.into_iter().map(|((from, to), bytes)| vec![json!(bytes), at(*from), at(*to)]).collect();
        let pairs = sharing.contexts.len();
        let head = format!("{bytes} bytes that one context wrote and another read, between {pairs} pairs of contexts");
        (Table { name: "traffic", columns: &["bytes", "written_at", "read_at"], rows }, head)
    } else {
        let mut found: Vec<_> = sharing.found.iter().collect();
        found.sort_by_key(|(_, found)| std::cmp::Reverse(found.count));
        let row = |((first, second), found): (&(_, _), &workspan_graph::sharing::False)| -> Vec<Value> {
            let site = found.allocation.and_then(|allocation| call(recording, allocation.segment));
            vec![json!(found.count), json!(found.lines.len()), at(*first), at(*second), json!(site)]
        };
        let rows: Vec<_> = found.into_iter().map(row).collect();
        let head = match rows.len() {
            0 if recording.sample.is_some() => "No false sharing in the recorded lines.".to_owned(),
            0 => "No false sharing: contexts that run at the same time write to lines of their own.".to_owned(),
            count => format!("{count} pairs of places share lines of {} bytes but no bytes", line),
        };
        (Table { name: "false_sharing", columns: &["count", "lines", "first", "second", "allocated_at"], rows }, head)
    };
    let (title, help) = if traffic {
        ("Memory traffic", "Bytes that one context wrote and another read first, by the places that write and read.")
    } else {
        ("False sharing", "Places that write to the same lines of the cache, but to different bytes, with nothing between that orders them.")
    };
    Ok(Answer { of: "graph sharing", title, help, head, fields, table, numbers: Numbers::Part, ..Answer::default() })
}
