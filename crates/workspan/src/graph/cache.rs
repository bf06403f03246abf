//! `workspan graph cache`: misses of LRU caches of all sizes.

use serde_json::json;
use workspan_graph::cache::{Caches, Curve, Sharing, Size, SIZES};
use workspan_graph::replay::replay;

use super::open::open;
use crate::args::graph::GraphCache;
use crate::exit::Outcome;
use crate::output;
use crate::table::{self, Align};

/// Runs the verb.
pub fn run(args: &GraphCache) -> anyhow::Result<Outcome> {
    let caches = Caches::new(args.line, args.ways, SIZES)?;
    let recording = open(&args.folder)?;
    let sharing = if args.shared { Sharing::Shared } else { Sharing::Private };
    let mut curve = Curve::new(caches, sharing);
    replay(&recording, &mut curve)?;
    let sizes = curve.sizes();
    let text = if args.json {
        let row = |size: &Size| json!({ "bytes": size.bytes, "accesses": size.accesses, "misses": size.misses, "miss_ratio": ratio(size) });
        let document = json!({
            "schema_version": 1,
            "line_bytes": args.line,
            "ways": args.ways,
            "shared": args.shared,
            "complete": recording.complete(),
            "sizes": sizes.iter().map(row).collect::<Vec<_>>(),
        });
        format!("{document:#}\n")
    } else {
        let mut rows = vec![["size", "misses", "of accesses"].map(str::to_owned).to_vec()];
        rows.extend(sizes.iter().map(|size| {
            let share = ratio(size).map_or_else(String::new, |ratio| format!("{:.3} %", ratio * 100.0));
            vec![size_in_words(size.bytes), size.misses.to_string(), share]
        }));
        let accesses = sizes.first().map_or(0, |size| size.accesses);
        let whose = if args.shared { "one cache of all contexts" } else { "a cache for each context" };
        let head = format!("{accesses} accesses to lines of {} bytes; {}-way LRU, {whose}\n\n", args.line, args.ways);
        head + &table::write(&rows, &[Align::Right, Align::Right, Align::Right])
    };
    output::data(&text)?;
    Ok(Outcome::OK)
}

#[expect(clippy::cast_precision_loss, reason = "a ratio that is shown")]
fn ratio(size: &Size) -> Option<f64> {
    (size.accesses > 0).then(|| size.misses as f64 / size.accesses as f64)
}

fn size_in_words(bytes: u64) -> String {
    match bytes {
        0..1024 => format!("{bytes} B"),
        1024..1_048_576 => format!("{} KiB", bytes >> 10),
        _ => format!("{} MiB", bytes >> 20),
    }
}
