//! The models as bars, on a logarithmic scale: figure 3.4 of Mak's thesis for one program.

use std::fmt::Write;

use super::make::number;
use super::view::{Limits, Profile};
use crate::html::escape;

const WIDTH: f64 = 720.0;
const LEFT: f64 = 110.0;
const ROW: f64 = 24.0;
const TOP: f64 = 14.0;

/// The drawing.
pub fn svg(view: &Limits) -> String {
    let models: Vec<_> = view.models.iter().chain(&view.control).collect();
    let most = models.iter().filter_map(|model| model.parallelism).fold(10.0, f64::max);
    let decades = most.log10().ceil().max(1.0);
    let x = |value: f64| LEFT + (WIDTH - LEFT - 70.0) * value.max(1.0).log10() / decades;
    let bottom = TOP + ROW * models.len() as f64;
    let mut out = String::new();
    // Writing to a string does not fail.
    let _ = writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {:.0}\" role=\"img\" aria-label=\"{}\">\n\
         <style>text{{font:12px system-ui,sans-serif;fill:currentColor}}.grid{{stroke:currentColor;opacity:.2}}\
         .table{{fill:#3b6fb5}}.control{{fill:#8a8f98}}</style>",
        bottom + 30.0,
        escape::text(&view.text)
    );
    let mut decade = 0.0;
    while decade <= decades {
        let value = 10f64.powf(decade);
        let at = x(value);
        let _ = writeln!(
            out,
            "<line class=\"grid\" x1=\"{at:.1}\" y1=\"{TOP}\" x2=\"{at:.1}\" y2=\"{bottom:.1}\"/>\
             <text x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{value:.0}</text>",
            bottom + 18.0
        );
        decade += 1.0;
    }
    for (place, model) in models.iter().enumerate() {
        let y = TOP + ROW * place as f64;
        let class = if place < view.models.len() { "table" } else { "control" };
        let value = model.parallelism.unwrap_or(0.0);
        let end = x(value);
        let _ = writeln!(
            out,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>\
             <rect class=\"{class}\" x=\"{LEFT}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\"><title>{}</title></rect>\
             <text x=\"{:.1}\" y=\"{:.1}\">{}</text>",
            LEFT - 8.0,
            y + 16.0,
            escape::text(&model.name),
            y + 4.0,
            (end - LEFT).max(1.0),
            ROW - 8.0,
            escape::text(&model.meaning),
            end + 6.0,
            y + 16.0,
            number(value)
        );
    }
    out.push_str("</svg>\n");
    out
}

/// A profile as bars, on a logarithmic scale.
pub(super) fn profile(profile: &Profile) -> String {
    const HEIGHT: f64 = 90.0;
    let per_cycle = |instructions: &u64| (*instructions as f64 / profile.cycles.max(1) as f64).max(1.0);
    let highest = profile.instructions.iter().map(per_cycle).fold(10.0, f64::max).log10();
    let width = WIDTH / profile.instructions.len().max(1) as f64;
    let mut path = String::new();
    for (at, instructions) in profile.instructions.iter().enumerate() {
        let height = HEIGHT * per_cycle(instructions).log10() / highest;
        let _ = write!(path, "M{:.1} {HEIGHT}v-{height:.1}h{width:.2}v{height:.1}", at as f64 * width);
    }
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"parallelism over \
         the run\"><path d=\"{path}\" fill=\"#3b6fb5\"/></svg>\n"
    )
}
