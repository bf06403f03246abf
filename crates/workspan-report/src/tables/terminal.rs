//! What every text for a terminal is made of: a head, lines, tables.

/// How to write.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    /// With ANSI colours.
    pub colour: bool,
    /// Most rows per table.
    pub top: usize,
}

impl Default for Style {
    fn default() -> Style {
        Style { colour: false, top: 15 }
    }
}

impl Style {
    fn paint(self, code: &str, text: &str) -> String {
        if self.colour {
            format!("\x1b[{code}m{text}\x1b[0m")
        } else {
            text.to_owned()
        }
    }

    pub(crate) fn bold(self, text: &str) -> String {
        self.paint("1", text)
    }

    pub(crate) fn dim(self, text: &str) -> String {
        self.paint("2", text)
    }

    pub(crate) fn warning(self, text: &str) -> String {
        self.paint("33", text)
    }
}

/// What is said first, and what to know before believing it.
pub(crate) fn head<'a>(out: &mut String, text: &str, warnings: impl IntoIterator<Item = &'a String>, style: Style) {
    line(out, &style.bold(text));
    for warning in warnings {
        line(out, &style.warning(&format!("! {warning}")));
    }
}

pub(crate) fn line(out: &mut String, text: &str) {
    out.push_str(text.trim_end());
    out.push('\n');
}

/// Says how many rows are not shown; `what` is one of them.
pub(crate) fn more(out: &mut String, all: usize, style: Style, what: &str) {
    let hidden = all.saturating_sub(style.top);
    let ending = if hidden == 1 { "" } else { "s" };
    if hidden > 0 {
        line(out, &style.dim(&format!("and {hidden} more {what}{ending} (--top {all})")));
    }
}

/// Columns aligned to the right, the last (and the first, if unnamed) to the left.
pub(crate) struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    pub(crate) fn new(header: &[&str]) -> Table {
        Table { rows: vec![header.iter().map(|h| (*h).to_owned()).collect()] }
    }

    pub(crate) fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    /// `left`: the column that is aligned to the left.
    pub(crate) fn write(&self, out: &mut String, style: Style, left: usize) {
        let columns = self.rows.first().map_or(0, Vec::len);
        let width = |c: usize| self.rows.iter().filter_map(|r| r.get(c)).map(|t| t.chars().count()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..columns).map(width).collect();
        for (i, row) in self.rows.iter().enumerate() {
            let mut text = String::new();
            for (c, cell) in row.iter().enumerate() {
                let pad = " ".repeat(widths[c].saturating_sub(cell.chars().count()));
                if c > 0 {
                    text.push_str("  ");
                }
                if c == left {
                    text.push_str(cell);
                    text.push_str(&pad);
                } else {
                    text.push_str(&pad);
                    text.push_str(cell);
                }
            }
            let text = text.trim_end();
            line(out, &if i == 0 { style.dim(text) } else { text.to_owned() });
        }
    }
}
