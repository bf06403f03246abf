//! Headers of pages.

use super::thrift::{Cursor, Kind};

/// What a page is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) dictionary: bool,
    pub(super) encoding: i64,
    /// Rows, or numbers in a dictionary.
    pub(super) values: usize,
    pub(super) unpacked: usize,
    pub(super) packed: usize,
}

/// Reads a header.
pub(super) fn header(cursor: &mut Cursor<'_>) -> Option<Header> {
    let mut header = Header::default();
    let mut kind_of_page = None;
    cursor.structure(|c, field, kind| {
        match (field, kind) {
            (1, Kind::Number) => kind_of_page = Some(c.signed()?),
            (2, Kind::Number) => header.unpacked = c.size()?,
            (3, Kind::Number) => header.packed = c.size()?,
            // The two kinds of pages have the fields that matter in the same places.
            (5 | 7, Kind::Struct) => c.structure(|c, field, kind| {
                match (field, kind) {
                    (1, Kind::Number) => header.values = c.size()?,
                    (2, Kind::Number) => header.encoding = c.signed()?,
                    _ => return Some(false),
                }
                Some(true)
            })?,
            _ => return Some(false),
        }
        Some(true)
    })?;
    header.dictionary = match kind_of_page? {
        0 => false,
        2 => true,
        _ => return None,
    };
    Some(header)
}
