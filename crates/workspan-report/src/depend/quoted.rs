//! Texts in graphviz's language.

/// A text as a string; a new line stays one.
pub(super) fn quoted(text: &str) -> String {
    let plain: String = text.chars().map(|c| if c.is_control() && c != '\n' { ' ' } else { c }).collect();
    format!("\"{}\"", plain.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
}
