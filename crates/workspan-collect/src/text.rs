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
