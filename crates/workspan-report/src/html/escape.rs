//! What the program chose, made harmless: names, arguments and source lines may hold any character.

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
    fn markup_becomes_text() {
        assert_eq!(text("</script><b>&\"'"), "&lt;/script&gt;&lt;b&gt;&amp;&quot;&#39;");
        assert_eq!(text("a\x1b[1m\u{202e}b\n"), "a\\u001b[1m\\u202eb\n");
        assert_eq!(json(&"</script><b>&\"'"), r#""\u003c/script>\u003cb>&\"'""#);
    }
}
