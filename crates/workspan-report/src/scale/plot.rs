//! The curves in the terminal: marks at each P, the linear one dotted between them.
//!
//! Of curves that fall together the lower one is seen, so that the actual one always is.

use super::curves::{self, Drawn};
use super::view::Scale;
use workspan_model::Ratio;

const WIDTH: usize = 60;
const HEIGHT: usize = 18;

/// The plot and its legend.
pub(super) fn draw(view: &Scale, unicode: bool) -> String {
    let curves = curves::of(view);
    let (right, top) = curves::extent(&curves);
    let mut grid = vec![vec![' '; WIDTH + 1]; HEIGHT + 1];
    let mark = |curve: &Drawn| curve.marks[usize::from(!unicode)];
    let mut put = |x: f64, y: f64, mark: char| {
        let (column, row) = (place(x / right, WIDTH), HEIGHT - place(y / top, HEIGHT));
        if let Some(cell) = grid.get_mut(row).and_then(|row| row.get_mut(column)) {
            *cell = mark;
        }
    };
    if let Some(linear) = curves.first() {
        for column in 0..=WIDTH {
            let x = right * fraction(column, WIDTH);
            if let Some(y) = curves::between(linear, x) {
                put(x, y, mark(linear));
            }
        }
    }
    for curve in curves.iter().skip(1) {
        for (x, y, _) in &curve.points {
            put(*x, *y, mark(curve));
        }
    }
    let (side, corner, floor) = if unicode { ('│', '└', '─') } else { ('|', '+', '-') };
    let mut out = String::new();
    for (row, cells) in grid.iter().enumerate() {
        // A label on every sixth row.
        let label = match row % 6 {
            0 => Ratio(top * fraction(HEIGHT - row, HEIGHT)).to_string(),
            _ => String::new(),
        };
        let cells: String = cells.iter().collect();
        push(&mut out, &format!("{label:>6} {side}{cells}"));
    }
    let floor: String = std::iter::repeat_n(floor, WIDTH + 1).collect();
    push(&mut out, &format!("{:>6} {corner}{floor}", ""));
    push(&mut out, &format!("{:>7} {}", "", axis(view, right)));
    let legend: Vec<String> = curves.iter().map(|curve| format!("{} {}", mark(curve), curve.name)).collect();
    push(&mut out, &format!("{:>7} {}", "", legend.join("   ")));
    out
}

fn push(out: &mut String, line: &str) {
    out.push_str(line.trim_end());
    out.push('\n');
}

/// The numbers of workers below their columns, those excluded for which there is no room.
fn axis(view: &Scale, right: f64) -> String {
    let mut text = String::new();
    for point in &view.points {
        let label = point.workers.to_string();
        let column = place(f64::from(point.workers) / right, WIDTH).saturating_sub(label.len() / 2);
        let used = text.chars().count();
        if used == 0 || column > used {
            text.extend(std::iter::repeat_n(' ', column - used));
            text.push_str(&label);
        }
    }
    text + "  workers"
}

#[expect(clippy::cast_precision_loss, reason = "small numbers")]
fn fraction(part: usize, whole: usize) -> f64 {
    part as f64 / whole as f64
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "small numbers; saturates"
)]
fn place(share: f64, cells: usize) -> usize {
    (share.clamp(0.0, 1.0) * cells as f64).round() as usize
}
