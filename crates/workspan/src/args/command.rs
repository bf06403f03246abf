//! A command in one argument.

use std::ffi::OsString;
use std::str::FromStr;

/// A command line that was given as one argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// As it was given.
    pub text: String,
    /// The program and its arguments; at least the former.
    pub words: Vec<OsString>,
}

impl FromStr for Command {
    type Err = String;

    /// Words stand apart by spaces; quotes and backslashes are a shell's, and nothing else of it is.
    fn from_str(text: &str) -> Result<Command, String> {
        let words = split(text)?;
        if words.first().is_none_or(String::is_empty) {
            return Err("it names no program".to_owned());
        }
        Ok(Command { text: text.to_owned(), words: words.into_iter().map(OsString::from).collect() })
    }
}

fn split(text: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match (quote, letter) {
            (Some(end), _) if letter == end => quote = None,
            (None, '\'' | '"') => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            (None | Some('"'), '\\') => {
                let next = letters.next().ok_or("it ends in a backslash")?;
                word.get_or_insert_default().push(next);
            }
            (None, _) if letter.is_whitespace() => words.extend(word.take()),
            _ => word.get_or_insert_default().push(letter),
        }
    }
    if let Some(quote) = quote {
        return Err(format!("a {quote} is not closed"));
    }
    words.extend(word);
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, words: &[&str]) {
        assert_eq!(text.parse::<Command>().map(|c| c.words), Ok(words.iter().map(OsString::from).collect()));
    }

    #[test]
    fn words_are_a_shells() {
        check("./seq", &["./seq"]);
        check("  ./seq  a\tb ", &["./seq", "a", "b"]);
        check(r#"'my prog' "a \"b\"" c\ d '' e'f'g"#, &["my prog", "a \"b\"", "c d", "", "efg"]);
        check(r"a 'b\c' $HOME *", &["a", r"b\c", "$HOME", "*"]);
        for (bad, why) in [("", "no program"), ("'' a", "no program"), ("a 'b", "not closed"), ("a\\", "backslash")] {
            assert!(bad.parse::<Command>().is_err_and(|error| error.contains(why)), "{bad}");
        }
    }
}
