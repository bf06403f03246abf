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
    /// The event before them: `begin` and `end` of the site's instance, `wait`, or the place of one; `?`: its place was not recorded.
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
    let [before, after] = [Bound::of(at, at.before), Bound::of(at, at.after)];
    let text = match (before, after) {
        (Bound::Unknown, Bound::Unknown) => label,
        // Its label names both ends.
        _ if matches!(kind, Some(SiteKind::Serial { from, to }) if from.or(to).is_some()) => label,
        // Of branches that fork further, this is what the last ones do.
        (Bound::Begin, Bound::End) if !matches!(kind, Some(SiteKind::Join)) => format!("{label}, all of it"),
        (Bound::Wait, Bound::Wait) => format!("{label}, between two waits"),
        (Bound::Inside, Bound::Inside) => format!("{label}, between two events inside it"),
        // Of a loop, or a line that creates several tasks.
        (Bound::At, Bound::At) if from == to => format!("{label}, between two events at {to}"),
        (Bound::Begin, Bound::Wait) => format!("{label}, from its begin to its first wait"),
        (Bound::Wait, Bound::End) => format!("{label}, from its last wait to its end"),
        _ => format!("{label}, from {} to {}", before.shown(&from), after.shown(&to)),
    };
    Piece { site: id(recording, at.site), from, to, text }
}

/// What a segment begins or ends with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bound {
    Unknown,
    Begin,
    End,
    Wait,
    /// A line of its own.
    At,
    /// At the line of the segment's own site, which says nothing: the begin of a group of tasks, or recursion.
    Inside,
}

impl Bound {
    fn of(at: &Place, point: Point) -> Bound {
        match point {
            Point::Unknown => Bound::Unknown,
            Point::Begin | Point::Enter => Bound::Begin,
            Point::End | Point::Leave => Bound::End,
            Point::Wait | Point::Meet => Bound::Wait,
            Point::Site(id) if at.site == Some(id) => Bound::Inside,
            Point::Site(_) => Bound::At,
        }
    }

    fn shown(self, place: &str) -> &str {
        match self {
            Bound::Unknown => "an unknown event",
            Bound::Begin => "its begin",
            Bound::End => "its end",
            Bound::Wait => "a wait",
            Bound::At => place,
            Bound::Inside => "an event inside it",
        }
    }
}

fn point(recording: &Recording, point: Point) -> String {
    match point {
        Point::Unknown => UNKNOWN.to_owned(),
        Point::Begin | Point::Enter => "begin".to_owned(),
        Point::End | Point::Leave => "end".to_owned(),
        Point::Wait | Point::Meet => "wait".to_owned(),
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

#[cfg(test)]
mod tests {
    use workspan_model::Site;

    use super::*;

    /// A task, a parallel region, a join and a marked region.
    fn recording() -> Recording {
        let kinds = [SiteKind::Task, SiteKind::Parallel, SiteKind::Join, SiteKind::Marked];
        let sites = (1..).zip(kinds).map(|(line, kind)| Site::at(kind, "a.c", line, 1)).collect();
        Recording { sites, ..Recording::default() }
    }

    #[track_caller]
    fn check(site: u32, before: Point, after: Point, expected: &str) {
        let place = Place { site: Some(SiteId(site)), before, after };
        assert_eq!(piece(&recording(), &place).text, expected);
    }

    #[test]
    fn segments_name_their_ends() {
        use Point::{Begin, End, Enter, Leave, Meet, Unknown, Wait};
        let at = |site| Point::Site(SiteId(site));
        check(0, Begin, End, "a.c:1, all of it");
        check(0, Begin, Wait, "a.c:1, from its begin to its first wait");
        check(0, Wait, End, "a.c:1, from its last wait to its end");
        // The first line of a region says nothing of its end.
        check(1, Enter, Leave, "a.c:2, all of it");
        check(1, Wait, Leave, "a.c:2, from its last wait to its end");
        check(1, Wait, Meet, "a.c:2, between two waits");
        check(1, Begin, at(0), "a.c:2, from its begin to a.c:1");
        check(0, at(1), at(1), "a.c:1, between two events at a.c:2");
        check(0, at(1), at(0), "a.c:1, from a.c:2 to an event inside it");
        check(0, at(0), at(0), "a.c:1, between two events inside it");
        check(2, Begin, End, "a.c:3, from its begin to its end");
        check(3, Unknown, End, "a.c:4, from an unknown event to its end");
        check(3, Unknown, Unknown, "a.c:4");
    }
}
