//! What the program chose, made harmless: names, arguments and source lines may hold any character.

use std::borrow::Cow;
use std::fmt::Write as _;

use serde::Serialize;

use crate::shown::{shown_in_json, shown_text};

/// As text, or as the value of a quoted attribute.
pub(crate) fn text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in shown_text(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

/// A sentence of Workspan's, in which names and commands stand between backticks: these become elements.
pub(crate) fn prose(sentence: &str) -> String {
    let mut parts: Vec<String> = sentence.split('`').map(text).collect();
    // One that stands alone is the program's.
    let alone = if parts.len().is_multiple_of(2) { parts.pop() } else { None };
    let mut out = String::with_capacity(sentence.len() + 16);
    for (index, part) in parts.iter().enumerate() {
        let _ = if index.is_multiple_of(2) { out.write_str(part) } else { write!(out, "<code>{part}</code>") };
    }
    out.extend(alone.map(|rest| format!("`{rest}")));
    out
}

/// The same where no element can stand: in tooltips, and in what the script shows.
pub(crate) fn unmarked(sentence: &str) -> Cow<'_, str> {
    if sentence.contains('`') {
        Cow::Owned(sentence.replace('`', ""))
    } else {
        Cow::Borrowed(sentence)
    }
}

/// As JSON inside a `script` element, which only `<` could end.
pub(crate) fn json(value: &impl Serialize) -> String {
    let text = serde_json::to_string(value).unwrap_or_else(|_| "null".to_owned());
    // The script shows these strings.
    shown_in_json(&text).replace('<', "\\u003c")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_between_backticks_become_elements() {
        for (sentence, page, tooltip) in [
            ("plain", "plain", "plain"),
            ("in `f<T>` (a.rs:1)", "in <code>f&lt;T&gt;</code> (a.rs:1)", "in f<T> (a.rs:1)"),
            ("`a` and `b`", "<code>a</code> and <code>b</code>", "a and b"),
            ("`a` and a ` alone", "<code>a</code> and a ` alone", "a and a  alone"),
            ("`", "`", ""),
        ] {
            assert_eq!(prose(sentence), page);
            assert_eq!(unmarked(sentence), tooltip);
        }
    }

    #[test]
    fn markup_becomes_text() {
        assert_eq!(text("</script><b>&\"'"), "&lt;/script&gt;&lt;b&gt;&amp;&quot;&#39;");
        assert_eq!(text("a\x1b[1m\u{202e}b\n"), "a\\u001b[1m\\u202eb\n");
        assert_eq!(json(&"</script><b>&\"'"), r#""\u003c/script>\u003cb>&\"'""#);
    }
}
