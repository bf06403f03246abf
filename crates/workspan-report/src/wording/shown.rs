//! Text of others made harmless before a terminal or a page shows it.
//!
//! Names, paths and messages come from programs, recordings and file systems. A terminal obeys control characters in them
//! (ESC and its eight-bit twin move the cursor, set titles, hide lines); terminals and browsers obey bidirectional controls,
//! which make text read as other than it is. Each becomes the text `\uXXXX`, which JSON strings mean the same by.
//!
//! **Invariant:** what these return holds no character that anything obeys, but for those that they say they let through. **Cost:** a pass over the text; nothing is copied unless something is found.

use std::borrow::Cow;
use std::fmt::Write;

/// As part of a line: a name, a path, a message.
pub fn shown(text: &str) -> Cow<'_, str> {
    filtered(text, "\\u", |_| 0)
}

/// As text of a page, whose source lines have tabs.
pub fn shown_text(text: &str) -> Cow<'_, str> {
    filtered(text, "\\u", |rest| usize::from(rest.starts_with(['\n', '\t'])))
}

/// As lines that we have written ourselves: new lines, tabs and our own colours (`ESC [ digits m`) stay. In a document of
/// JSON a string stays what it was.
pub fn shown_lines(text: &str) -> Cow<'_, str> {
    filtered(text, "\\u", |rest| match rest.as_bytes() {
        [b'\n' | b'\t', ..] => 1,
        [0x1b, b'[', colour @ ..] => {
            let digits = colour.iter().take_while(|byte| byte.is_ascii_digit() || **byte == b';').count();
            if colour.get(digits) == Some(&b'm') {
                digits + 3
            } else {
                0
            }
        }
        _ => 0,
    })
}

/// As a document of JSON whose strings are to be shown: they then hold the harmless text.
pub fn shown_in_json(document: &str) -> Cow<'_, str> {
    filtered(document, "\\\\u", |rest| usize::from(rest.starts_with(['\n', '\t'])))
}

/// Replaces what must not be shown by `mark` and its number; `kept` says how many bytes of what begins with it may stay.
fn filtered<'t>(text: &'t str, mark: &str, kept: impl Fn(&str) -> usize) -> Cow<'t, str> {
    let Some(first) = text.find(is_obeyed) else {
        return Cow::Borrowed(text);
    };
    let mut out = String::with_capacity(text.len() + 16);
    out.push_str(&text[..first]);
    let mut rest = &text[first..];
    while let Some(c) = rest.chars().next() {
        let stays = if is_obeyed(c) { kept(rest) } else { c.len_utf8() };
        let (now, later) = rest.split_at(if stays > 0 { stays } else { c.len_utf8() });
        if stays > 0 {
            out.push_str(now);
        } else {
            // Writing to a string does not fail.
            let _ = write!(out, "{mark}{:04x}", u32::from(c));
        }
        rest = later;
    }
    Cow::Owned(out)
}

/// Control characters, and those that change the direction or the lines of text.
fn is_obeyed(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{206f}' | '\u{feff}'
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_obeyed_becomes_text() {
        for (text, expected) in [
            ("plain, grün, 漢字, ⋯", "plain, grün, 漢字, ⋯"),
            ("\x1b[2Jx\x07", "\\u001b[2Jx\\u0007"),
            ("a\nb\tc\rd\x7f", "a\\u000ab\\u0009c\\u000dd\\u007f"),
            ("\u{9b}31m", "\\u009b31m"),
            ("cod\u{202e}cr.sj", "cod\\u202ecr.sj"),
            ("\u{2066}x\u{2069}\u{200f}\u{2028}", "\\u2066x\\u2069\\u200f\\u2028"),
        ] {
            assert_eq!(shown(text), expected);
        }
    }

    #[test]
    fn our_lines_and_colours_stay() {
        for (text, expected) in [
            ("a\n\tb\n", "a\n\tb\n"),
            ("\x1b[1;31mred\x1b[0m", "\x1b[1;31mred\x1b[0m"),
            ("\x1b[2Jx", "\\u001b[2Jx"),
            ("\x1b[31", "\\u001b[31"),
            ("\x1b]0;title\x07\x1b", "\\u001b]0;title\\u0007\\u001b"),
        ] {
            assert_eq!(shown_lines(text), expected);
        }
    }

    #[test]
    fn a_json_string_means_the_same() {
        let hostile = "a\u{202e}b\u{9b}c\u{2028}";
        let json = serde_json::to_string(hostile).unwrap();
        let shown = shown_lines(&json).into_owned();
        assert!(shown.is_ascii());
        assert_eq!(serde_json::from_str::<String>(&shown).unwrap(), hostile);
        let text = shown_in_json(&json);
        assert_eq!(serde_json::from_str::<String>(&text).unwrap(), "a\\u202eb\\u009bc\\u2028");
    }
}
