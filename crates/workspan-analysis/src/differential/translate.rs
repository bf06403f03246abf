//! Rows whose contexts have other numbers.

use workspan_model::{ContextId, Strand};

use crate::strands::merge::Source;

/// A source whose contexts are numbered anew.
#[derive(Debug)]
pub(super) struct Translated<'a, S> {
    source: S,
    contexts: &'a [ContextId],
    batch: Vec<Strand>,
}

impl<'a, S> Translated<'a, S> {
    /// `contexts`: by the source's number.
    pub(super) fn new(source: S, contexts: &'a [ContextId]) -> Translated<'a, S> {
        Translated { source, contexts, batch: Vec::new() }
    }
}

impl<S: Source> Source for Translated<'_, S> {
    type Error = S::Error;

    fn next_batch(&mut self) -> Result<Option<&[Strand]>, S::Error> {
        let Some(rows) = self.source.next_batch()? else {
            return Ok(None);
        };
        self.batch.clear();
        self.batch.extend(rows.iter().map(|row| translated(row, self.contexts)));
        Ok(Some(&self.batch))
    }
}

fn translated(row: &Strand, contexts: &[ContextId]) -> Strand {
    // Rows may name any number: one that nobody has is still none.
    let same = |id: ContextId| contexts.get(id.index()).copied().unwrap_or(ContextId(u32::MAX));
    Strand { event: row.event.with_contexts(same), context: same(row.context), ..*row }
}
