//! Something for each context, where one context mostly follows itself.

use std::collections::HashMap;

/// A value for each context. **Cost:** a comparison where the context is the one before, a look-up otherwise.
#[derive(Clone, Debug, Default)]
pub(crate) struct Contexts<T> {
    at: HashMap<u32, usize>,
    values: Vec<T>,
    /// Places of contexts that are gone.
    free: Vec<usize>,
    /// The context of the last request, and its place.
    last: Option<(u32, usize)>,
}

impl<T: Default> Contexts<T> {
    /// The value of a context; the first time a new one.
    pub(crate) fn get(&mut self, context: u32) -> &mut T {
        let at = match self.last {
            Some((last, at)) if last == context => at,
            _ => self.find(context),
        };
        &mut self.values[at]
    }

    fn find(&mut self, context: u32) -> usize {
        let Contexts { at, values, free, last } = self;
        let found = *at.entry(context).or_insert_with(|| {
            free.pop().unwrap_or_else(|| {
                values.push(T::default());
                values.len() - 1
            })
        });
        *last = Some((context, found));
        found
    }

    /// The value of a context, if it has one.
    pub(crate) fn known(&self, context: u32) -> Option<&T> {
        self.at.get(&context).map(|at| &self.values[*at])
    }

    /// Forgets a context.
    pub(crate) fn remove(&mut self, context: u32) {
        self.last = None;
        if let Some(at) = self.at.remove(&context) {
            self.values[at] = T::default();
            self.free.push(at);
        }
    }
}
