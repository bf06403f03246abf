//! The models as bars, on a logarithmic scale: figure 3.4 of Mak's thesis for one program.

use std::fmt::Write;

use super::make::number;
use super::view::Limits;
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
