//! The curves as SVG: readable alone, in light and dark; the curves differ in dashes and marks, too, not in colour alone.

use std::fmt::Write;

use super::curves::{self, Drawn};
use super::view::Scale;
use crate::html::axis::ticks;
use crate::html::escape;

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 460.0;
const LEFT: f64 = 52.0;
const TOP: f64 = 20.0;
const RIGHT: f64 = 560.0;
const BOTTOM: f64 = 410.0;

const STYLE: &str = "\
svg{--bg:#fff;--fg:#1c2025;--dim:#5d6673;--line:#e1e4e8;--max:#1c2025;--idle:#b8700a;--infl:#0a58b8;--act:#b3203a;\
--eli:#2d7d46;background:var(--bg);font:12px system-ui,sans-serif}
@media (prefers-color-scheme:dark){svg{--bg:#1a1c1f;--fg:#dfe3e8;--dim:#98a1ad;--line:#33373d;--max:#dfe3e8;\
--idle:#e6a94f;--infl:#7db4f5;--act:#f2798c;--eli:#7fcf95}}
text{fill:var(--fg)}.axis{fill:var(--dim)}.grid{stroke:var(--line)}path,line{fill:none;stroke-width:2}.grid{stroke-width:1}
.linear{stroke:var(--dim);stroke-dasharray:2 4}.elision{stroke:var(--eli);stroke-dasharray:8 3 2 3}\
.maximal{stroke:var(--max)}.idle{stroke:var(--idle);stroke-dasharray:7 4}.inflation{stroke:var(--infl);\
stroke-dasharray:3 3}.actual{stroke:var(--act);stroke-width:2.5}
circle{fill:var(--bg);stroke-dasharray:none;stroke-width:2}.error{stroke:var(--act);stroke-width:1}
";

/// The picture.
pub fn svg(view: &Scale) -> String {
    let curves = curves::of(view);
    let (right, top) = curves::extent(&curves);
    let x = |workers: f64| LEFT + (RIGHT - LEFT) * workers / right;
    let y = |speedup: f64| BOTTOM - (BOTTOM - TOP) * speedup.clamp(0.0, top) / top;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" \
         aria-label=\"Factored speedups\">\n<title>{}</title>\n<style>{STYLE}</style>\n",
        escape::text(&view.text)
    );
    // Writing to a string does not fail.
    for tick in ticks(top) {
        let at = y(tick);
        let _ = writeln!(
            out,
            "<line class=\"grid\" x1=\"{LEFT}\" y1=\"{at:.1}\" x2=\"{RIGHT}\" y2=\"{at:.1}\"/>\
             <text class=\"axis\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{tick}</text>",
            LEFT - 8.0,
            at + 4.0
        );
    }
    let mut last = f64::NEG_INFINITY;
    for point in &view.points {
        let at = x(f64::from(point.workers));
        if at - last < 18.0 {
            continue;
        }
        last = at;
        let _ = writeln!(
            out,
            "<text class=\"axis\" x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
            BOTTOM + 18.0,
            point.workers
        );
    }
    let _ = writeln!(
        out,
        "<text class=\"axis\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">workers</text>\
         <text class=\"axis\" x=\"14\" y=\"{:.1}\" text-anchor=\"middle\" transform=\"rotate(-90 14 {:.1})\">speedup</text>",
        (LEFT + RIGHT) / 2.0,
        BOTTOM + 38.0,
        (TOP + BOTTOM) / 2.0,
        (TOP + BOTTOM) / 2.0
    );
    for curve in &curves {
        draw(&mut out, curve, &x, &y);
    }
    legend(&mut out, &curves);
    out.push_str("</svg>\n");
    out
}

fn draw(out: &mut String, curve: &Drawn, x: &dyn Fn(f64) -> f64, y: &dyn Fn(f64) -> f64) {
    let class = curve.class;
    let path: Vec<String> = curve.points.iter().map(|(p, value, _)| format!("{:.1},{:.1}", x(*p), y(*value))).collect();
    let _ = writeln!(out, "<path class=\"{class}\" d=\"M{}\"/>", path.join(" L"));
    if class == "linear" {
        return;
    }
    for (p, value, error) in &curve.points {
        if class == "actual" && *error > 0.0 {
            let _ = writeln!(
                out,
                "<line class=\"error\" x1=\"{0:.1}\" y1=\"{1:.1}\" x2=\"{0:.1}\" y2=\"{2:.1}\"/>",
                x(*p),
                y(value - error),
                y(value + error)
            );
        }
        let _ = writeln!(
            out,
            "<circle class=\"{class}\" cx=\"{:.1}\" cy=\"{:.1}\" r=\"3.5\"><title>{} at P = {p}: {value:.2}</title></circle>",
            x(*p),
            y(*value),
            curve.name
        );
    }
}

fn legend(out: &mut String, curves: &[Drawn]) {
    let mut at = TOP + 10.0;
    for curve in curves {
        let value = curve.points.last().map_or(0.0, |point| point.1);
        let (class, name) = (curve.class, curve.name);
        let _ = writeln!(
            out,
            "<line class=\"{class}\" x1=\"{:.1}\" y1=\"{at:.1}\" x2=\"{:.1}\" y2=\"{at:.1}\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\">{name} {value:.2}</text>",
            RIGHT + 16.0,
            RIGHT + 48.0,
            RIGHT + 56.0,
            at + 4.0
        );
        at += 22.0;
    }
}
