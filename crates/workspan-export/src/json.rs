//! Values of JSON, one at a time: files may be too large for a tree of them.

use std::fmt::{self, Write};

use workspan_model::Nanos;

/// A string in quotes. `<` is escaped, too, so that it can stand in a script of a page.
pub(crate) struct Text<'a>(pub(crate) &'a str);

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char('"')?;
        for c in self.0.chars() {
            match c {
                '"' => f.write_str("\\\"")?,
                '\\' => f.write_str("\\\\")?,
                '\n' => f.write_str("\\n")?,
                '<' | '\u{2028}' | '\u{2029}' => write!(f, "\\u{:04x}", u32::from(c))?,
                c if c.is_control() => write!(f, "\\u{:04x}", u32::from(c))?,
                c => f.write_char(c)?,
            }
        }
        f.write_char('"')
    }
}

/// A list, without its brackets.
pub(crate) struct List<I>(pub(crate) I);

impl<T: fmt::Display, I: Iterator<Item = T> + Clone> fmt::Display for List<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, item) in self.0.clone().enumerate() {
            if at > 0 {
                f.write_char(',')?;
            }
            write!(f, "{item}")?;
        }
        Ok(())
    }
}

/// A number, or `null`.
pub(crate) struct Or<T>(pub(crate) Option<T>);

impl<T: fmt::Display> fmt::Display for Or<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Some(value) => value.fmt(f),
            None => f.write_str("null"),
        }
    }
}

/// Nanoseconds as microseconds, exactly.
pub(crate) struct Micros(pub(crate) Nanos);

impl fmt::Display for Micros {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        decimal(f, self.0, 1_000, 3)
    }
}

/// Nanoseconds as milliseconds, exactly.
pub(crate) struct Millis(pub(crate) Nanos);

impl fmt::Display for Millis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        decimal(f, self.0, 1_000_000, 6)
    }
}

/// Nanoseconds as seconds, exactly.
pub(crate) struct Seconds(pub(crate) Nanos);

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        decimal(f, self.0, 1_000_000_000, 9)
    }
}

fn decimal(f: &mut fmt::Formatter<'_>, nanos: Nanos, unit: u64, digits: usize) -> fmt::Result {
    if nanos < Nanos::ZERO {
        f.write_char('-')?;
    }
    let size = nanos.0.unsigned_abs();
    write!(f, "{}", size / unit)?;
    let rest = format!("{:0digits$}", size % unit);
    match rest.trim_end_matches('0') {
        "" => Ok(()),
        rest => write!(f, ".{rest}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_read_back_as_they_were() {
        for text in ["a", "\"\\\n\r\t\0\u{7f}\u{9f}", "</script><b>", "\u{2028}é\u{fffd}😀", ""] {
            let written = Text(text).to_string();
            assert!(written.is_ascii() || !text.is_ascii(), "{written}");
            assert!(!written.contains('<') && !written.contains(char::is_control), "{written}");
            assert_eq!(serde_json::from_str::<String>(&written).ok().as_deref(), Some(text), "{written}");
        }
    }

    #[test]
    fn times_are_exact() {
        assert_eq!(Micros(Nanos(1_234_567)).to_string(), "1234.567");
        assert_eq!(Micros(Nanos(-1_050)).to_string(), "-1.05");
        assert_eq!(Millis(Nanos(1_000_000)).to_string(), "1");
        assert_eq!(Seconds(Nanos(7)).to_string(), "0.000000007");
        assert_eq!(Seconds(Nanos(i64::MIN)).to_string(), "-9223372036.854775808");
    }
}
