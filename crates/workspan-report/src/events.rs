//! Events by site: view models, and as text. Of a report, and of two recordings that are compared.

use std::fmt::Write;

use schemars::JsonSchema;
use serde::Serialize;
use workspan_analysis::differential::United;
use workspan_analysis::events::{self, CountedEvent, Sides};
use workspan_model::{Ratio, Recording, SiteId};

use crate::parts::{id, name, ratio, time};
use crate::terminal::{line, more, Style, Table};
use crate::words::{count, percent};

/// An event that was counted by context.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct EventTotal {
    /// Its name.
    pub name: String,
    /// How often it came in strands; null if it was not counted.
    pub in_strands: Option<f64>,
    /// How often it came in the whole process, from its start to its end; null if that was not counted.
    pub whole: Option<f64>,
    /// The share of these that came in strands, and so has a site.
    pub attributed: Option<f64>,
    /// The least share of a run in which it was counted: below 1 where counters took turns, and what was counted stands for
    /// all of the run.
    pub counted_share: f64,
    /// Threads that did not count it: what came there is missing.
    pub missing_threads: u32,
    /// Only what came outside of the kernel was counted.
    pub outside_kernel: bool,
    /// Why it was not counted.
    pub refused: Option<String>,
}

/// Events of a recording.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Events {
    /// Which.
    pub events: Vec<EventTotal>,
    /// Where they came, by falling share.
    pub sites: Vec<EventSite>,
}

/// The events of a site.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct EventSite {
    /// Its id; null for code outside any.
    pub id: Option<String>,
    /// Its place.
    pub name: String,
    /// `serial` or the kind of the construct; empty for code outside any.
    pub kind: String,
    /// How often each came in strands of the site itself, in the order of `events`.
    pub own: Vec<f64>,
    /// The same including below.
    pub inclusive: Vec<f64>,
}

/// Events of two recordings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct ComparedEvents {
    /// Those that both have requested.
    pub events: Vec<EventPair>,
    /// Sites: as the other lists of this answer are ordered.
    pub sites: Vec<EventSitePair>,
}

/// An event on both sides.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct EventPair {
    /// In the base.
    pub base: EventTotal,
    /// In the new recording.
    pub new: EventTotal,
}

/// A site on both sides.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct EventSitePair {
    /// Its id; null for code outside any.
    pub id: Option<String>,
    /// Its place.
    pub name: String,
    /// `serial` or the kind of the construct; empty for code outside any.
    pub kind: String,
    /// Time of its own strands, in nanoseconds.
    pub work: EventSides,
    /// Each event in strands of the site itself, in the order of `events`.
    pub own: Vec<EventSides>,
    /// The same including below.
    pub inclusive: Vec<EventSides>,
}

/// A number on both sides.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct EventSides {
    /// In the base.
    pub base: f64,
    /// In the new recording.
    pub new: f64,
    /// New over base; null if the base has none.
    pub inflation: Option<f64>,
}

/// [`workspan_model::SiteKind::name`] of serial code.
const SERIAL: &str = "serial";

/// What was counted in `recording`.
pub(crate) fn view(recording: &Recording) -> Events {
    let found = events::events(recording);
    let sites = found.sites.into_iter().map(|row| EventSite {
        id: id(recording, row.site),
        name: site_name(recording, row.site),
        kind: kind(recording, row.site),
        own: row.own,
        inclusive: row.inclusive,
    });
    Events { events: found.events.iter().map(event).collect(), sites: sites.collect() }
}

/// What was counted in two recordings; sites first as in `order`.
pub(crate) fn compared<'o>(
    united: &United,
    base: &Recording,
    new: &Recording,
    order: impl IntoIterator<Item = Option<&'o str>>,
) -> ComparedEvents {
    let found = events::compare(united, base, new);
    let recording = &united.recording;
    let sites = found.sites.iter().map(|row| EventSitePair {
        id: id(recording, row.site),
        name: site_name(recording, row.site),
        kind: kind(recording, row.site),
        work: pair(&row.work),
        own: row.own.iter().map(pair).collect(),
        inclusive: row.inclusive.iter().map(pair).collect(),
    });
    let mut sites: Vec<EventSitePair> = sites.collect();
    let order: Vec<Option<&str>> = order.into_iter().collect();
    sites.sort_by_key(|site| order.iter().position(|id| *id == site.id.as_deref()).unwrap_or(usize::MAX));
    let events = found.events.iter().map(|[base, new]| EventPair { base: event(base), new: event(new) });
    ComparedEvents { events: events.collect(), sites }
}

fn event(found: &CountedEvent) -> EventTotal {
    let whole = found.whole.filter(|whole| *whole > 0.0);
    EventTotal {
        name: found.name.clone(),
        in_strands: found.in_strands,
        whole: found.whole,
        attributed: found.in_strands.zip(whole).map(|(in_strands, whole)| in_strands / whole),
        counted_share: found.counted_share,
        missing_threads: found.missing_threads,
        outside_kernel: found.outside_kernel,
        refused: found.refused.clone(),
    }
}

fn site_name(recording: &Recording, site: Option<SiteId>) -> String {
    site.map_or_else(|| "the program itself".to_owned(), |site| name(recording, site))
}

fn kind(recording: &Recording, site: Option<SiteId>) -> String {
    let site = site.and_then(|site| recording.sites.get(site.0 as usize));
    site.map_or_else(String::new, |site| site.kind.name().to_owned())
}

fn pair(sides: &Sides) -> EventSides {
    let Sides { base, new } = *sides;
    EventSides { base, new, inflation: (base > 0.0).then(|| new / base) }
}

/// What is missing, a line for each reason.
pub(crate) fn warnings<'e>(events: impl IntoIterator<Item = &'e EventTotal>) -> Vec<String> {
    let mut reasons: Vec<(String, Vec<&str>)> = Vec::new();
    for event in events {
        let Some(refused) = &event.refused else {
            continue;
        };
        let reason = match event.in_strands {
            None => format!("not counted ({refused})"),
            Some(_) => format!("not counted on {} of the threads ({refused})", event.missing_threads),
        };
        match reasons.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, names)) if names.contains(&event.name.as_str()) => {}
            Some((_, names)) => names.push(&event.name),
            None => reasons.push((reason, vec![&event.name])),
        }
    }
    reasons.into_iter().map(|(reason, names)| format!("{}: {reason}", names.join(", "))).collect()
}

/// What there is to show; nothing if nothing was counted.
pub(crate) struct Shown<'v> {
    view: &'v Events,
    /// Those that were counted, with their positions.
    counted: Vec<(usize, &'v EventTotal)>,
}

impl<'v> Shown<'v> {
    pub(crate) fn of(view: &'v Events) -> Option<Shown<'v>> {
        let counted: Vec<_> = view.events.iter().enumerate().filter(|(_, event)| event.in_strands.is_some()).collect();
        (!counted.is_empty()).then_some(Shown { view, counted })
    }

    /// A sentence for each event.
    pub(crate) fn sentences(&self) -> impl Iterator<Item = String> + '_ {
        self.counted.iter().map(|(_, event)| sentence(event))
    }

    /// Names of the columns, the last one that of the site.
    pub(crate) fn columns(&self) -> Vec<&'v str> {
        let columns = self.counted.iter().flat_map(|(_, event)| [event.name.as_str(), "share", "including below"]);
        columns.chain(["site"]).collect()
    }

    /// Rows of these columns, and the ids of their sites.
    pub(crate) fn rows(&self) -> impl Iterator<Item = (Vec<String>, Option<&'v str>)> + '_ {
        self.view.sites.iter().map(|site| {
            let cells = self.counted.iter().flat_map(|(at, event)| {
                let of = |counts: &[f64]| counts.get(*at).copied().unwrap_or(0.0);
                let (own, inclusive) = (of(&site.own), of(&site.inclusive));
                let share = own / event.in_strands.unwrap_or(0.0).max(1.0);
                [number(own), percent(Ratio(share)), number(inclusive)]
            });
            let label = labelled(&site.name, &site.kind, None);
            (cells.chain([label]).collect(), site.id.as_deref())
        })
    }
}

/// As text: nothing if nothing was counted.
pub(crate) fn text(out: &mut String, view: &Events, style: Style) {
    let Some(shown) = Shown::of(view) else {
        return;
    };
    line(out, "");
    shown.sentences().for_each(|sentence| line(out, &style.dim(&sentence)));
    let columns = shown.columns();
    let mut table = Table::new(&columns);
    shown.rows().take(style.top).for_each(|(cells, _)| table.row(cells));
    table.write(out, style, columns.len() - 1);
    more(out, view.sites.len(), style, "site");
}

fn sentence(event: &EventTotal) -> String {
    let mut text = format!("{}: {} in strands", event.name, number(event.in_strands.unwrap_or(0.0)));
    if let (Some(whole), Some(share)) = (event.whole, event.attributed) {
        let _ = write!(text, ", {} of the {} of the whole process", percent(Ratio(share)), number(whole));
    }
    if event.outside_kernel {
        text.push_str("; outside of the kernel only");
    }
    if event.counted_share < 0.995 {
        let _ = write!(text, "; counted {} of the time", percent(Ratio(event.counted_share)));
    }
    text
}

/// The same of two recordings.
pub(crate) fn compared_text(out: &mut String, view: &ComparedEvents, style: Style) {
    let is_counted = |pair: &EventPair| pair.base.in_strands.is_some() && pair.new.in_strands.is_some();
    let counted: Vec<(usize, &EventPair)> =
        view.events.iter().enumerate().filter(|(_, pair)| is_counted(pair)).collect();
    if counted.is_empty() {
        return;
    }
    line(out, "");
    line(out, &style.dim("events of a site's own strands, before and after:"));
    let names = counted.iter().flat_map(|(_, pair)| [pair.new.name.as_str(), "after", "ratio"]);
    let header: Vec<&str> = ["work before", "after", "ratio"].into_iter().chain(names).chain(["site"]).collect();
    let mut table = Table::new(&header);
    for site in view.sites.iter().take(style.top) {
        let work = [nanos(site.work.base), nanos(site.work.new), ratio(site.work.inflation)];
        let cells = counted.iter().flat_map(|(at, _)| match site.own.get(*at) {
            Some(own) => [number(own.base), number(own.new), ratio(own.inflation)],
            None => ["-", "-", "-"].map(str::to_owned),
        });
        let label = labelled(&site.name, &site.kind, site.id.as_deref());
        table.row(work.into_iter().chain(cells).chain([label]).collect());
    }
    table.write(out, style, header.len() - 1);
    more(out, view.sites.len(), style, "site");
}

/// The place of serial code says what it is.
fn labelled(name: &str, kind: &str, id: Option<&str>) -> String {
    let kind = if kind == SERIAL { "" } else { kind };
    [name, kind, id.unwrap_or_default()].into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count; saturates")]
fn number(value: f64) -> String {
    count(value.round() as u64)
}

#[expect(clippy::cast_possible_truncation, reason = "a time; saturates")]
fn nanos(value: f64) -> String {
    time(value.round() as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn total(name: &str, in_strands: Option<f64>, refused: Option<&str>) -> EventTotal {
        EventTotal {
            name: name.to_owned(),
            in_strands,
            whole: Some(1_000.0),
            attributed: in_strands.map(|in_strands| in_strands / 1_000.0),
            counted_share: 1.0,
            missing_threads: u32::from(refused.is_some()) * 2,
            outside_kernel: false,
            refused: refused.map(str::to_owned),
        }
    }

    fn plain(write: impl Fn(&mut String, Style)) -> String {
        let mut out = String::new();
        write(&mut out, Style::default());
        out
    }

    #[test]
    fn what_is_missing_is_one_line_for_each_reason() {
        let events = [
            total("cycles", None, Some("no such counter")),
            total("instructions", None, Some("no such counter")),
            total("migrations", Some(3.0), Some("not permitted")),
            total("page-faults", Some(7.0), None),
            total("cycles", None, Some("no such counter")),
        ];
        let expected = [
            "cycles, instructions: not counted (no such counter)",
            "migrations: not counted on 2 of the threads (not permitted)",
        ];
        assert_eq!(warnings(&events), expected);
    }

    #[test]
    fn only_what_was_counted_has_columns() {
        let site = |name: &str, kind: &str, own: f64| EventSite {
            id: Some("s-1".to_owned()),
            name: name.to_owned(),
            kind: kind.to_owned(),
            own: vec![0.0, own],
            inclusive: vec![0.0, 2.0 * own],
        };
        let half = EventTotal { counted_share: 0.5, outside_kernel: true, ..total("page-faults", Some(800.0), None) };
        let view = Events {
            events: vec![total("cycles", None, Some("no")), half],
            sites: vec![site("a.rs:3", "join", 300.0), site("serial code after a.rs:3", SERIAL, 100.0)],
        };
        insta::assert_snapshot!(plain(|out, style| text(out, &view, style)), @r"
        page-faults: 800 in strands, 80 % of the 1000 of the whole process; outside of the kernel only; counted 50 % of the time
        page-faults  share  including below  site
                300   38 %              600  a.rs:3 join
                100   12 %              200  serial code after a.rs:3
        ");
    }

    #[test]
    fn both_sides_stand_beside_the_time() {
        let sides = |base: f64, new: f64| EventSides { base, new, inflation: (base > 0.0).then(|| new / base) };
        let pair = |name: &str, counted: Option<f64>| EventPair {
            base: total(name, counted, None),
            new: total(name, counted, None),
        };
        let view = ComparedEvents {
            events: vec![pair("cycles", None), pair("page-faults", Some(5.0))],
            sites: vec![EventSitePair {
                id: Some("s-1".to_owned()),
                name: "a.rs:3".to_owned(),
                kind: "join".to_owned(),
                work: sides(1_000_000.0, 3_000_000.0),
                own: vec![sides(0.0, 0.0), sides(4.0, 6.0)],
                inclusive: vec![sides(0.0, 0.0), sides(4.0, 6.0)],
            }],
        };
        insta::assert_snapshot!(plain(|out, style| compared_text(out, &view, style)), @r"
        events of a site's own strands, before and after:
        work before    after  ratio  page-faults  after  ratio  site
            1.00 ms  3.00 ms   3.00            4      6   1.50  a.rs:3 join s-1
        ");
        assert_eq!(plain(|out, style| compared_text(out, &ComparedEvents::default(), style)), "");
    }
}
