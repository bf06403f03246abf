//! The panel of the critical path: the segments of which it consists, in order, with a line of source for each.

use super::bar;
use super::escape;
use super::keys::Keys;
use super::source::Listing;
use super::table;
use super::Sources;
use crate::live::{Live, Stretch};
use crate::rows::{share, time};
use crate::words::count;

/// From this share of the path a segment has a row of its own, as long as there are few enough.
const SHOWN: f64 = 0.002;

/// The panel, or nothing where there are no strands: then regions and icicles say what there is to say.
pub(crate) fn panel(live: Option<&Live>, keys: &Keys<'_>, listing: &Listing<'_>, sources: &Sources) -> String {
    let Some(live) = live.filter(|live| live.walk.iter().any(|stretch| stretch.share > 0.0)) else {
        return String::new();
    };
    let mut rows = String::new();
    let mut until = 0.0;
    let mut small: Vec<&Stretch> = Vec::new();
    for stretch in &live.walk {
        if stretch.share < SHOWN {
            small.push(stretch);
            continue;
        }
        rows += &rest(&mut small, &mut until);
        rows += &row(stretch, until, keys, listing, sources);
        until += stretch.share;
    }
    rows += &rest(&mut small, &mut until);
    format!(
        r#"<section id="walk"><h2>Along the critical path</h2>
<p class="help">The critical path from start to end: code that had to run in this order, as long as the span. Each row is a segment:
the code of a site between two events, and the functions that this code calls. <em>Begin</em> and <em>end</em> are those of the site itself.
The bar is the segment's share of the path. The line of source below is where the segment begins; if that has no line, as the end of
a wait has none, it is the line of the site; of serial code, that of the region next to it. A segment that the path passes many times, in a loop, has one row with the number of strands. Not shown: other paths that are
nearly as long, which become critical when this one gets shorter.</p>
<div class="scroll"><table class="rows walk"><thead>{head}</thead><tbody>
{rows}</tbody></table></div></section>
"#,
        head = table::header(&["share", "up to", "time", "strands", "code"], 4),
    )
}

fn row(stretch: &Stretch, before: f64, keys: &Keys<'_>, listing: &Listing<'_>, sources: &Sources) -> String {
    let id = stretch.piece.site.as_deref().unwrap_or_default();
    let place = stretch.place.as_ref();
    let line = place.and_then(|place| {
        let index = usize::try_from(place.line.checked_sub(1)?).ok()?;
        sources.get(&place.file)?.lines().nth(index)
    });
    let code = line.map_or(String::new(), |line| {
        let shown: String = line.trim().chars().take(160).collect();
        format!("<code>{}</code>", escape::text(&shown))
    });
    format!(
        "<tr{key}><td{bar}>{share}</td><td>{until}</td><td>{time}</td><td>{strands}</td><td>{swatch}{name}{code}</td></tr>\n",
        key = keys.attribute(id),
        bar = bar::bar(Some(stretch.share)),
        share = share(Some(stretch.share)),
        until = share(Some((before + stretch.share).min(1.0))),
        time = time(stretch.length.0),
        strands = count(stretch.strands),
        swatch = keys.swatch(id),
        name = listing.link(place, &stretch.piece.text),
    )
}

/// Segments too short for rows of their own.
fn rest(small: &mut Vec<&Stretch>, until: &mut f64) -> String {
    let stretches = std::mem::take(small);
    let length: i64 = stretches.iter().map(|stretch| stretch.length.0).sum();
    let part: f64 = stretches.iter().map(|stretch| stretch.share).sum();
    *until += part;
    if length == 0 {
        return String::new();
    }
    format!(
        "<tr class=\"rest\"><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{} shorter {}</td></tr>\n",
        share(Some(part)),
        share(Some(until.min(1.0))),
        time(length),
        count(stretches.iter().map(|stretch| stretch.strands).sum()),
        stretches.len(),
        if stretches.len() == 1 { "segment" } else { "segments" },
    )
}
