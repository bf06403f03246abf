//! Bars in the cells of tables.

/// The attributes of a cell with a bar as long as a share.
pub(crate) fn bar(share: Option<f64>) -> String {
    match share {
        Some(share) if share >= 0.0005 => format!(" class=\"bar\" style=\"--v:{:.1}%\"", share.min(1.0) * 100.0),
        _ => String::new(),
    }
}
