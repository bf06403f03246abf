//! Lists and places as bytes, for all parts of a [file](mod@crate::file).

use workspan_trace::bytes::{Malformed, Reader, Writer};

use crate::source::Place;

/// Writes a list.
pub(crate) fn many<T>(out: &mut Writer, all: &[T], mut put: impl FnMut(&mut Writer, &T)) {
    out.number(all.len() as u64);
    for each in all {
        put(out, each);
    }
}

/// Reads a list.
pub(crate) fn all<'b, T>(
    from: &mut Reader<'b>,
    mut take: impl FnMut(&mut Reader<'b>) -> Result<T, Malformed>,
) -> Result<Vec<T>, Malformed> {
    let count = from.count()?;
    (0..count).map(|_| take(from)).collect()
}

/// Writes a place.
pub(crate) fn put_place(out: &mut Writer, place: &Place) {
    out.text(&place.file);
    out.number(place.line.into());
    out.number(place.column.into());
}

/// Reads a place.
pub(crate) fn take_place(from: &mut Reader<'_>) -> Result<Place, Malformed> {
    Ok(Place { file: from.text()?, line: from.small()?, column: from.small()? })
}
