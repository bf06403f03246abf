//! `workspan graph sharing`: lines of the cache that contexts share falsely, and the bytes that go from one to another.

use serde_json::{json, Value};
use workspan_graph::replay::replay;
use workspan_graph::sharing::Sharing;

use super::open::{allocation_site, open, place_of};
use super::shown::{self, Table};
use crate::args::graph::GraphSharing;
use crate::exit::Outcome;
use crate::output;

/// Runs the verb.
pub fn run(args: &GraphSharing) -> anyhow::Result<Outcome> {
    anyhow::ensure!(
        args.line.is_power_of_two() && args.line <= 64,
        "a line has a power of two of bytes, 64 at most: --line 64"
    );
    let recording = open(&args.folder)?;
    let mut sharing = Sharing::new(args.line);
    replay(&recording, &mut sharing)?;
    let at = |place| json!(place_of(&recording, place).0);
    let bytes: u64 = sharing.contexts.values().sum();
    let fields = json!({ "line_bytes": args.line, "traffic_bytes": bytes, "complete": recording.complete() });
    let (table, head) = if args.traffic {
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
            let site = found.allocation.and_then(|allocation| allocation_site(&recording, allocation.segment));
            let site = site.map(|(file, line)| format!("{file}:{line}"));
            vec![json!(found.count), json!(found.lines.len()), at(*first), at(*second), json!(site)]
        };
        let rows: Vec<_> = found.into_iter().map(row).collect();
        let head = match rows.len() {
            0 => "No false sharing: contexts that run at the same time write to lines of their own.".to_owned(),
            count => format!("{count} pairs of places share lines of {} bytes but no bytes", args.line),
        };
        (Table { name: "false_sharing", columns: &["count", "lines", "first", "second", "allocated_at"], rows }, head)
    };
    output::data(&shown::write(&args.form, &table, &head, fields, args.form.top))?;
    Ok(Outcome::OK)
}
