//! Heat maps as SVG: a row for each thing, a column for each level, the darker the more, on a logarithmic scale.

use std::fmt::Write;

use super::escape;

const WIDTH: f64 = 760.0;
const LEFT: f64 = 66.0;
const RIGHT: f64 = 740.0;
const TOP: f64 = 10.0;
/// Rows that are drawn: where there are more, several share one.
const MOST_ROWS: usize = 240;
/// Columns that are drawn.
const MOST_COLUMNS: usize = 64;
/// Steps of colour.
const SHADES: u32 = 8;

const STYLE: &str = "\
.heat{font:12px system-ui,sans-serif}.heat text{fill:currentColor}.heat .frame{fill:none;stroke:currentColor;opacity:.3}
.heat rect.h{fill:#0a58b8}@media (prefers-color-scheme:dark){.heat rect.h{fill:#7db4f5}}
";

/// A row.
#[derive(Clone, Debug, Default)]
pub struct Row {
    /// What it is, in words.
    pub title: String,
    /// Levels, from 1 on, and how often each occurs.
    pub counts: Vec<(u32, u64)>,
}

/// A heat map.
#[derive(Clone, Debug)]
pub struct Heat {
    /// What it shows, for those who do not see it.
    pub title: String,
    /// What the columns are.
    pub columns: String,
    /// What the rows are.
    pub rows_are: String,
    /// The highest level.
    pub most: u32,
    /// From the top down.
    pub rows: Vec<Row>,
}

/// The map as SVG.
pub(crate) fn svg(heat: &Heat) -> String {
    let together = heat.rows.len().div_ceil(MOST_ROWS).max(1);
    let drawn = heat.rows.len().div_ceil(together).max(1);
    let height = (220.0 / drawn as f64).clamp(2.0, 22.0);
    let columns = (heat.most.max(1) as usize).min(MOST_COLUMNS);
    let width = (RIGHT - LEFT) / columns as f64;
    let bottom = TOP + height * drawn as f64;
    let column = |level: u32| {
        let level = u64::from(level.clamp(1, heat.most.max(1)) - 1);
        usize::try_from(level * columns as u64 / u64::from(heat.most.max(1))).unwrap_or(0)
    };
    let cells: Vec<Vec<u64>> = heat
        .rows
        .chunks(together)
        .map(|rows| {
            let mut cells = vec![0_u64; columns];
            for (level, count) in rows.iter().flat_map(|row| &row.counts) {
                let cell = &mut cells[column(*level)];
                *cell = cell.saturating_add(*count);
            }
            cells
        })
        .collect();
    let top = cells.iter().flatten().copied().max().unwrap_or(0).max(1);
    let mut out = format!(
        "<svg class=\"heat\" xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {:.0}\" role=\"img\" aria-label=\"{}\">\n\
         <style>{STYLE}</style>\n",
        bottom + 44.0,
        escape::text(&heat.title)
    );
    // Writing to a string does not fail.
    for (number, (cells, rows)) in cells.iter().zip(heat.rows.chunks(together)).enumerate() {
        let title = match rows {
            [row] => row.title.clone(),
            rows => format!("{} and {} more", rows[0].title, rows.len() - 1),
        };
        let _ = write!(out, "<g><title>{}</title>", escape::text(&title));
        for (column, count) in cells.iter().enumerate().filter(|(_, count)| **count > 0) {
            let _ = write!(
                out,
                "<rect class=\"h\" x=\"{:.1}\" y=\"{:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" fill-opacity=\"{:.2}\"/>",
                LEFT + width * column as f64,
                TOP + height * number as f64,
                shade(*count, top)
            );
        }
        out.push_str("</g>\n");
    }
    let _ = writeln!(
        out,
        "<rect class=\"frame\" x=\"{LEFT}\" y=\"{TOP}\" width=\"{:.1}\" height=\"{:.1}\"/>",
        RIGHT - LEFT,
        bottom - TOP
    );
    let step = columns.div_ceil(16);
    for place in (0..columns).step_by(step) {
        let level = 1 + place as u64 * u64::from(heat.most.max(1)) / columns as u64;
        let _ = writeln!(
            out,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{level}</text>",
            LEFT + width * (place as f64 + 0.5),
            bottom + 17.0
        );
    }
    let middle = (TOP + bottom) / 2.0;
    let _ = writeln!(
        out,
        "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>\
         <text x=\"14\" y=\"{middle:.1}\" text-anchor=\"middle\" transform=\"rotate(-90 14 {middle:.1})\">{}</text>\n</svg>",
        (LEFT + RIGHT) / 2.0,
        bottom + 38.0,
        escape::text(&heat.columns),
        escape::text(&heat.rows_are)
    );
    out
}

/// How dark a cell is: from an eighth for a single run to whole for the most.
fn shade(count: u64, top: u64) -> f64 {
    let (level, all) = (count.max(1).ilog2(), top.max(1).ilog2().max(1));
    let step = 1 + level * (SHADES - 1) / all;
    f64::from(step.min(SHADES)) / f64::from(SHADES)
}
