//! What the answers of several commands consist of.

use schemars::generate::SchemaSettings;
use schemars::JsonSchema;
use serde::Serialize;
use workspan_analysis::strands::{Place, Point, Problems};
use workspan_model::{Nanos, Ratio, Recording, SiteId, SiteKind};

use crate::place;

/// A segment of the program: the strands of a site between two events.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Piece {
    /// Id of the site whose strands they are; null for code outside any.
    pub site: Option<String>,
    /// The event before them: `begin`, `end`, `wait`, or the place of one; `?`: its place was not recorded.
    pub from: String,
    /// The event after them.
    pub to: String,
    /// In words.
    pub text: String,
}

/// An event whose place was not recorded.
const UNKNOWN: &str = "?";

/// A segment as it is shown.
pub(crate) fn piece(recording: &Recording, at: &Place) -> Piece {
    let (from, to) = (point(recording, at.before), point(recording, at.after));
    let site = at.site.and_then(|id| recording.sites.get(id.0 as usize));
    let label = site.map_or_else(
        || "the program itself".to_owned(),
        |site| {
            let label = place::label(recording, site);
            place::marked(site).map_or(label.clone(), |name| format!("`{name}` at {label}"))
        },
    );
    let kind = site.map(|site| site.kind);
    let text = match (at.before, at.after) {
        (Point::Unknown, Point::Unknown) => label,
        // Its label names both ends.
        _ if matches!(kind, Some(SiteKind::Serial { from, to }) if from.or(to).is_some()) => label,
        // Of branches that fork further, this is what the last ones do.
        (Point::Begin, Point::End) if !matches!(kind, Some(SiteKind::Join)) => format!("{label}, all of it"),
        // Of a loop, or a line that creates several tasks.
        (Point::Site(before), Point::Site(after)) if before == after => format!("{label}, between two events at {to}"),
        (Point::Wait, Point::Wait) => format!("{label}, between two waits"),
        _ => format!("{label}, {} to {}", shown(&from), shown(&to)),
    };
    Piece { site: id(recording, at.site), from, to, text }
}

/// An event in words.
fn shown(event: &str) -> &str {
    if event == UNKNOWN {
        "(unknown event)"
    } else {
        event
    }
}

fn point(recording: &Recording, point: Point) -> String {
    match point {
        Point::Unknown => UNKNOWN.to_owned(),
        Point::Begin => "begin".to_owned(),
        Point::End => "end".to_owned(),
        Point::Wait => "wait".to_owned(),
        Point::Site(id) => name(recording, id),
    }
}

/// A site as a list names it.
pub(crate) fn name(recording: &Recording, id: SiteId) -> String {
    recording.sites.get(id.0 as usize).map_or_else(|| "?".to_owned(), |site| place::label(recording, site))
}

/// The handle of a site.
pub(crate) fn id(recording: &Recording, id: Option<SiteId>) -> Option<String> {
    recording.sites.get(id?.0 as usize).map(|site| site.stable_id(&recording.sites))
}

/// What was wrong with strands, in words.
pub(crate) fn problems(problems: &Problems) -> Vec<String> {
    let words = |(problem, count)| format!("strands do not fit together: {count} {problem}");
    problems.iter().map(words).collect()
}

/// Parallelism in a table.
pub(crate) fn ratio(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| Ratio(value).to_string())
}

/// Two ends of a range that differ by no more than this factor are shown as one number.
pub(crate) const ONE_NUMBER: f64 = 1.02;

/// A number for chunks of loops as they were, and for iterations that cost the same, if that is more than a trifle more.
pub(crate) fn range(seen: Option<f64>, even: Option<f64>) -> String {
    match (seen, even) {
        (Some(low), Some(high)) if high > low * ONE_NUMBER => format!("{}–{}", ratio(seen), ratio(even)),
        _ => ratio(seen),
    }
}

/// A time in a table.
pub(crate) fn time(nanos: i64) -> String {
    Nanos(nanos).to_string()
}

/// A factor: with a decimal only where there is one.
pub(crate) fn factor(factor: Option<f64>) -> String {
    factor.map_or_else(|| "inf".to_owned(), |factor| format!("{factor}"))
}

/// The schema of what is written as JSON: all fields are there, also those that may be null.
pub(crate) fn schema<T: JsonSchema>() -> String {
    let generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    serde_json::to_string_pretty(&generator.into_root_schema_for::<T>()).unwrap_or_default() + "\n"
}

/// Anything as indented JSON.
pub(crate) fn indented(value: &impl Serialize) -> String {
    serde_json::to_string_pretty(value).unwrap_or_else(|error| format!("{{\"error\":\"{error}\"}}"))
}
