//! Rows as RFC 4180 has them.

use std::io::{self, Write};

use workspan_report::words::csv_cell;

/// A row. Cells with commas, quotes or ends of lines are quoted.
pub(crate) fn row<S: AsRef<str>>(out: &mut dyn Write, cells: impl IntoIterator<Item = S>) -> io::Result<()> {
    for (at, cell) in cells.into_iter().enumerate() {
        if at > 0 {
            out.write_all(b",")?;
        }
        out.write_all(csv_cell(cell.as_ref()).as_bytes())?;
    }
    out.write_all(b"\n")
}

/// A cell that may be empty.
pub(crate) fn or_empty<T: ToString>(value: Option<T>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(cells: &[&str], expected: &str) {
        let mut out = Vec::new();
        row(&mut out, cells).expect("memory can be written");
        assert_eq!(String::from_utf8_lossy(&out), expected);
    }

    #[test]
    fn cells_are_quoted_where_they_must_be() {
        check(&["a", "", "b c"], "a,,b c\n");
        check(&["Vec<a, b>", "say \"a\"", "1\n2\r"], "\"Vec<a, b>\",\"say \"\"a\"\"\",\"1\n2\r\"\n");
    }
}
