//! Texts in the tables: of fixed room, and cut where they are longer.

use core::cell::Cell;

/// Of a text that is too long, the end: the file name says more than the first folders.
pub fn kept_end(text: &[u8], room: usize) -> &[u8] {
    &text[text.len().saturating_sub(room)..]
}

/// Copies the end of `text` that fits. Returns its length.
pub fn copy_text(to: &[Cell<u8>], text: &[u8]) -> u32 {
    let text = kept_end(text, to.len());
    for (cell, byte) in to.iter().zip(text) {
        cell.set(*byte);
    }
    text.len() as u32
}

/// The first `len` bytes of `cells` as text, copied to `to`; empty if they are none, as a name that was cut may be.
pub fn text_of<'t>(cells: &[Cell<u8>], len: u32, to: &'t mut [u8]) -> &'t str {
    let len = (len as usize).min(cells.len()).min(to.len());
    for (byte, cell) in to.iter_mut().zip(cells) {
        *byte = cell.get();
    }
    core::str::from_utf8(&to[..len]).unwrap_or("")
}
