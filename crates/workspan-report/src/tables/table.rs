//! Text in columns.

/// On which side of its column a cell stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// Words.
    Left,
    /// Numbers.
    Right,
}

/// Lines of cells two spaces apart; no space at the end of a line.
pub fn write(rows: &[Vec<String>], columns: &[Align]) -> String {
    write_wide(rows, columns, &[])
}

/// The same, with columns of at least these widths.
pub fn write_wide(rows: &[Vec<String>], columns: &[Align], least: &[usize]) -> String {
    let width = |c: usize| rows.iter().filter_map(|row| row.get(c)).map(|cell| cell.chars().count()).max().unwrap_or(0);
    let least = least.iter().copied().chain(std::iter::repeat(0));
    let widths: Vec<usize> = (0..columns.len()).map(width).zip(least).map(|(width, least)| width.max(least)).collect();
    let mut out = String::new();
    for row in rows {
        let mut line = String::new();
        for ((cell, align), width) in row.iter().zip(columns).zip(&widths) {
            let pad = " ".repeat(width - cell.chars().count());
            match align {
                Align::Left => line.extend([cell.as_str(), &pad, "  "]),
                Align::Right => line.extend([pad.as_str(), cell, "  "]),
            }
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_aligned() {
        let rows = [["a", "1", "x"], ["bcd", "23", ""]].map(|row| row.map(str::to_owned).to_vec());
        assert_eq!(write(&rows, &[Align::Left, Align::Right, Align::Left]), "a     1  x\nbcd  23\n");
    }
}
