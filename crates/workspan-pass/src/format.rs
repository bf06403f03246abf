//! Formats of `printf`: which arguments are texts.

/// A text that is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Text {
    /// Number of the argument, of those behind the format.
    pub argument: u32,
    /// How much of it.
    pub precision: Precision,
}

/// How much of a text is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precision {
    /// All.
    None,
    /// At most N bytes.
    Number(u64),
    /// At most as many as an argument says.
    Argument(u32),
}

impl Text {
    /// With numbers of all arguments, if this is the first one behind the format.
    pub fn behind(self, first: u32) -> Text {
        let precision = match self.precision {
            Precision::Argument(at) => Precision::Argument(at + first),
            other => other,
        };
        Text { argument: self.argument + first, precision }
    }

    /// The last argument that it needs.
    pub fn last(&self) -> u32 {
        match self.precision {
            Precision::Argument(at) => at.max(self.argument),
            _ => self.argument,
        }
    }
}

/// The texts that a format names; nothing if it names arguments by number, wide characters, or what is not known.
pub fn texts(format: &str) -> Option<Vec<Text>> {
    let (mut found, mut argument) = (Vec::new(), 0);
    let mut rest = format;
    while let Some((_, after)) = rest.split_once('%') {
        let mut at = after.trim_start_matches(['-', '+', ' ', '#', '0', '\'', 'I']);
        let mut precision = Precision::None;
        if let Some(after) = at.strip_prefix('*') {
            (at, argument) = (after, argument + 1);
        } else {
            at = digits(at).1;
        }
        if let Some(after) = at.strip_prefix('.') {
            if let Some(after) = after.strip_prefix('*') {
                precision = Precision::Argument(argument);
                (at, argument) = (after, argument + 1);
            } else {
                let (number, after) = digits(after);
                precision = Precision::Number(number);
                at = after;
            }
        }
        let plain = at.trim_start_matches(['h', 'l', 'L', 'q', 'j', 'z', 't']);
        let is_wide = plain.len() < at.len();
        let conversion = plain.chars().next()?;
        rest = &plain[conversion.len_utf8()..];
        match conversion {
            '%' | 'm' => continue,
            's' if is_wide => return None,
            's' => found.push(Text { argument, precision }),
            'd' | 'i' | 'o' | 'u' | 'x' | 'X' | 'e' | 'E' | 'f' | 'F' | 'g' | 'G' | 'a' | 'A' | 'c' | 'p' => {}
            _ => return None,
        }
        argument += 1;
    }
    Some(found)
}

fn digits(text: &str) -> (u64, &str) {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    (text[..end].parse().unwrap_or(0), &text[end..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(format: &str, expected: Option<&[(u32, Precision)]>) {
        let found = texts(format).map(|all| all.iter().map(|text| (text.argument, text.precision)).collect::<Vec<_>>());
        assert_eq!(found.as_deref(), expected, "{format}");
    }

    #[test]
    fn texts_of_formats_are_found() {
        let all = Precision::None;
        check("no argument, 100 %%", Some(&[]));
        check("%d %s", Some(&[(1, all)]));
        check("%-8s%5.2f%s", Some(&[(0, all), (2, all)]));
        check(
            "%*d %.*s %.3s %.s",
            Some(&[(3, Precision::Argument(2)), (4, Precision::Number(3)), (5, Precision::Number(0))]),
        );
        check("%lu %zu %hhx %Lf %p %c %s", Some(&[(6, all)]));
        check("%m %s", Some(&[(0, all)]));
        check("%2$s %1$d", None);
        check("%ls", None);
        check("%n", None);
        check("%", None);
    }
}
