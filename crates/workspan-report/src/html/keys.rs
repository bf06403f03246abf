//! What a site is known by everywhere on the page: a number that links its marks, and a colour.

use std::collections::BTreeMap;

use super::escape;
use crate::view::Report;
use crate::{place, rows};
use workspan_model::Nanos;

/// Classes of colours, as `style.css` defines them.
const COLOURS: [&str; 8] = ["c1", "c2", "c3", "c4", "c5", "c6", "c7", "c8"];

/// From this share of the work or of the critical path a site has a colour of its own: what only passes time on to the
/// sites below it stays grey.
const COLOURED: f64 = 0.01;

/// Sites and regions by their ids.
#[derive(Debug)]
pub(crate) struct Keys<'a> {
    by_id: BTreeMap<&'a str, usize>,
    keys: Vec<Key>,
}

/// A site or region.
#[derive(Debug)]
pub(crate) struct Key {
    /// Whole name.
    pub(crate) name: String,
    /// Name for a box of an icicle.
    pub(crate) label: String,
    /// Class of its colour. Serial code has a hatching instead; of the others only the heaviest have one of their own.
    pub(crate) tint: &'static str,
}

impl<'a> Keys<'a> {
    /// All that the report names: sites first, then what only regions or contexts name.
    pub(crate) fn of(report: &'a Report) -> Keys<'a> {
        let mut keys = Keys { by_id: BTreeMap::new(), keys: Vec::new() };
        for site in &report.sites {
            let name = rows::site_name(site);
            let label = short_label(&format!("{} {}", name.place, site.kind));
            keys.add(&site.id, Key { name: name.to_string(), label, tint: "c0" });
        }
        for region in &report.regions {
            let name = rows::region_name(region);
            let (label, tint) = match region.kind.as_str() {
                // Boxes are narrow, and their hatching says that it is serial.
                "serial" => {
                    (short_label(&place::between(region.from.as_ref(), region.to.as_ref(), region.beside)), "cs")
                }
                kind => (short_label(&format!("{} {kind}", name.place)), "c0"),
            };
            keys.add(&region.id, Key { name: name.to_string(), label, tint });
        }
        for context in &report.contexts {
            let key = Key { name: context.label.clone(), label: short_label(&context.label), tint: "c0" };
            keys.add(&context.id, key);
        }
        keys.colour(report);
        keys
    }

    fn add(&mut self, id: &'a str, key: Key) {
        let keys = &mut self.keys;
        self.by_id.entry(id).or_insert_with(|| {
            keys.push(key);
            keys.len() - 1
        });
    }

    /// Colours go to the sites whose own code stands out most in either icicle.
    fn colour(&mut self, report: &Report) {
        let share = |part: i64, whole: i64| Nanos(part).as_f64() / Nanos(whole.max(1)).as_f64();
        let (work, span) = (report.program.work_ns, report.program.span_ns);
        let mut order: Vec<(f64, &str)> = report
            .sites
            .iter()
            .map(|site| (share(site.self_ns, work).max(share(site.critical_ns, span)), site.id.as_str()))
            .filter(|(weight, _)| *weight >= COLOURED)
            .collect();
        order.sort_by(|a, b| b.0.total_cmp(&a.0));
        for ((_, id), colour) in order.into_iter().zip(COLOURS) {
            if let Some(key) = self.by_id.get(id).and_then(|key| self.keys.get_mut(*key)) {
                key.tint = colour;
            }
        }
    }

    /// The number and the description of a site or region.
    pub(crate) fn get(&self, id: &str) -> Option<(usize, &Key)> {
        let number = *self.by_id.get(id)?;
        Some((number, self.keys.get(number)?))
    }

    /// Labels by number.
    pub(crate) fn labels(&self) -> Vec<&str> {
        self.keys.iter().map(|key| key.label.as_str()).collect()
    }

    /// Handles by number.
    pub(crate) fn ids(&self) -> Vec<&'a str> {
        let mut ids = vec![""; self.keys.len()];
        for (id, number) in &self.by_id {
            ids[*number] = id;
        }
        ids
    }

    /// The attribute that links everything about one site.
    pub(crate) fn attribute(&self, id: &str) -> String {
        self.get(id).map_or(String::new(), |(number, _)| format!(" data-s=\"{number}\""))
    }

    /// A patch of its colour.
    pub(crate) fn swatch(&self, id: &str) -> String {
        let tint = self.get(id).map_or("c0", |(_, key)| key.tint);
        format!("<i class=\"sw {tint}\"></i>")
    }
}

/// The id of the row of a site.
pub(crate) fn anchor(id: &str) -> String {
    escape::text(id)
}

/// A name without the folders in it: boxes are narrow.
fn short_label(name: &str) -> String {
    let words: Vec<&str> = name.split(' ').map(|word| word.rsplit_once('/').map_or(word, |(_, file)| file)).collect();
    escape::unmarked(&words.join(" ")).into_owned()
}
