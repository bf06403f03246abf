//! Lines, steps and dots over two axes, as SVG: series differ in dashes and marks, too, not in colour alone.

use std::fmt::Write;

use super::axis::{Axis, Extent};
use super::escape;

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 320.0;
const LEFT: f64 = 66.0;
const RIGHT: f64 = 740.0;
const TOP: f64 = 34.0;
const BOTTOM: f64 = 270.0;

const STYLE: &str = "\
.chart{--a:#0a58b8;--b:#b8700a;--c:#2d7d46;font:12px system-ui,sans-serif}
@media (prefers-color-scheme:dark){.chart{--a:#7db4f5;--b:#e6a94f;--c:#7fcf95}}
.chart text{fill:currentColor}.chart .grid{stroke:currentColor;opacity:.15}.chart path{fill:none;stroke-width:2}
.chart .s0{stroke:var(--a)}.chart .s1{stroke:var(--b);stroke-dasharray:7 4}.chart .s2{stroke:var(--c);stroke-dasharray:2 3}
.chart .m{stroke-width:1.5;stroke-dasharray:none;fill-opacity:.35}.chart .f0{fill:var(--a)}.chart .f1{fill:var(--b)}
.chart .f2{fill:var(--c)}.chart .e{stroke-width:1;stroke-dasharray:none}
";

/// How a series is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Draw {
    /// Points, joined by lines.
    Line,
    /// Each value lasts up to the next point.
    Steps,
    /// Points alone.
    Dots,
}

/// A point of a series.
#[derive(Clone, Debug, Default)]
pub struct Point {
    /// Along the axis below.
    pub x: f64,
    /// Along the axis at the left.
    pub y: f64,
    /// Half of the length of its error bar; 0: exact.
    pub error: f64,
    /// What it is, in words; nothing for points that nobody points at.
    pub title: String,
}

/// Points that belong together.
#[derive(Clone, Debug)]
pub struct Series {
    /// In the legend.
    pub name: String,
    /// How it is drawn.
    pub draw: Draw,
    /// From left to right, if they are joined.
    pub points: Vec<Point>,
}

/// A drawing.
#[derive(Clone, Debug)]
pub struct Chart {
    /// What it shows, for those who do not see it.
    pub title: String,
    /// The axis below.
    pub x: Axis,
    /// The axis at the left.
    pub y: Axis,
    /// At most three.
    pub series: Vec<Series>,
}

/// The drawing as SVG.
pub(crate) fn svg(chart: &Chart) -> String {
    let points = || chart.series.iter().flat_map(|series| &series.points);
    let across = Extent::of(&chart.x, points().map(|point| point.x));
    let upward = Extent::of(&chart.y, points().map(|point| point.y + point.error));
    let x = |value: f64| LEFT + (RIGHT - LEFT) * across.place(value);
    let y = |value: f64| BOTTOM - (BOTTOM - TOP) * upward.place(value);
    let mut out = format!(
        "<svg class=\"chart\" xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" \
         aria-label=\"{}\">\n<style>{STYLE}</style>\n",
        escape::text(&chart.title)
    );
    // Writing to a string does not fail.
    for (value, shown) in upward.marks() {
        let at = y(value);
        let _ = writeln!(
            out,
            "<line class=\"grid\" x1=\"{LEFT}\" y1=\"{at:.1}\" x2=\"{RIGHT}\" y2=\"{at:.1}\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            LEFT - 8.0,
            at + 4.0,
            escape::text(&shown)
        );
    }
    let mut last = f64::NEG_INFINITY;
    for (value, shown) in across.marks() {
        let at = x(value);
        if at - last < 44.0 {
            continue;
        }
        last = at;
        let _ = writeln!(
            out,
            "<line class=\"grid\" x1=\"{at:.1}\" y1=\"{TOP}\" x2=\"{at:.1}\" y2=\"{BOTTOM}\"/>\
             <text x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
            BOTTOM + 17.0,
            escape::text(&shown)
        );
    }
    let _ = writeln!(
        out,
        "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text><text x=\"4\" y=\"14\">{}</text>",
        (LEFT + RIGHT) / 2.0,
        BOTTOM + 38.0,
        escape::text(&chart.x.label),
        escape::text(&chart.y.label)
    );
    for (number, series) in chart.series.iter().enumerate() {
        draw(&mut out, number.min(2), series, &x, &y);
    }
    legend(&mut out, &chart.series);
    out.push_str("</svg>\n");
    out
}

fn draw(out: &mut String, class: usize, series: &Series, x: &dyn Fn(f64) -> f64, y: &dyn Fn(f64) -> f64) {
    let mut path = String::new();
    let mut height: Option<f64> = None;
    for point in &series.points {
        let (across, up) = (x(point.x), y(point.y));
        let _ = match (height, series.draw) {
            (None, _) => write!(path, "M{across:.1},{up:.1}"),
            (Some(before), Draw::Steps) => write!(path, " L{across:.1},{before:.1} L{across:.1},{up:.1}"),
            (Some(_), _) => write!(path, " L{across:.1},{up:.1}"),
        };
        height = Some(up);
    }
    if series.draw != Draw::Dots && !path.is_empty() {
        let _ = writeln!(out, "<path class=\"s{class}\" d=\"{path}\"/>");
    }
    for point in &series.points {
        let (across, up) = (x(point.x), y(point.y));
        if point.error > 0.0 {
            let _ = writeln!(
                out,
                "<line class=\"e s{class}\" x1=\"{across:.1}\" y1=\"{:.1}\" x2=\"{across:.1}\" y2=\"{:.1}\"/>",
                y(point.y - point.error),
                y(point.y + point.error)
            );
        }
        if !point.title.is_empty() {
            let _ = writeln!(
                out,
                "<circle class=\"m s{class} f{class}\" cx=\"{across:.1}\" cy=\"{up:.1}\" r=\"3.5\"><title>{}</title></circle>",
                escape::text(&point.title)
            );
        }
    }
}

/// Beside the label of the axis at the left; of a single series nobody needs one.
fn legend(out: &mut String, series: &[Series]) {
    if series.len() < 2 {
        return;
    }
    let mut at = RIGHT;
    for (number, series) in series.iter().enumerate().rev() {
        let class = number.min(2);
        let name = escape::text(&series.name);
        let _ = writeln!(out, "<text x=\"{at:.1}\" y=\"14\" text-anchor=\"end\">{name}</text>");
        at -= series.name.chars().count() as f64 * 6.8 + 8.0;
        let _ = match series.draw {
            Draw::Dots => writeln!(out, "<circle class=\"m s{class} f{class}\" cx=\"{at:.1}\" cy=\"10\" r=\"3.5\"/>"),
            _ => writeln!(out, "<path class=\"s{class}\" d=\"M{:.1},10 L{at:.1},10\"/>", at - 26.0),
        };
        at -= 44.0;
    }
}
