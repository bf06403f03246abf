//! Where rows come from.

use std::convert::Infallible;
use std::ops::ControlFlow;

use workspan_model::Strand;

/// The rows of one run, in serial order. They may be read several times.
pub trait Rows {
    /// Why they could not be read.
    type Error;

    /// Hands all rows over in batches of any size, until `take` has enough.
    fn read(&self, take: &mut dyn FnMut(&[Strand]) -> ControlFlow<()>) -> Result<(), Self::Error>;
}

impl Rows for [Strand] {
    type Error = Infallible;

    fn read(&self, take: &mut dyn FnMut(&[Strand]) -> ControlFlow<()>) -> Result<(), Infallible> {
        // Small enough to stay in the cache when several analyses look at a batch.
        let _ = self.chunks(1024).try_for_each(take);
        Ok(())
    }
}

impl Rows for Vec<Strand> {
    type Error = Infallible;

    fn read(&self, take: &mut dyn FnMut(&[Strand]) -> ControlFlow<()>) -> Result<(), Infallible> {
        self.as_slice().read(take)
    }
}
