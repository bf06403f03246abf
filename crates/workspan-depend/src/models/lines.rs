//! When the lines of a task were ready: a table of numbers by line.
//!
//! **Argument:** as in [`done`](super::done), the task counts from a number that is higher than all that tasks before it have noted.
//!
//! **Cost:** a comparison and a store for a line.

/// Numbers by line; those that are not there are 0.
#[derive(Debug, Default)]
pub(super) struct Lines {
    numbers: Vec<u64>,
}

impl Lines {
    /// The number of a line.
    #[inline]
    pub(super) fn get(&self, line: u32) -> u64 {
        self.numbers.get(line as usize).copied().unwrap_or(0)
    }

    /// The number of a line is at least this.
    #[inline]
    pub(super) fn raise(&mut self, line: u32, number: u64) {
        match self.numbers.get_mut(line as usize) {
            Some(known) => *known = number.max(*known),
            None => self.grow(line as usize, number),
        }
    }

    /// The number of a line.
    pub(super) fn set(&mut self, line: u32, number: u64) {
        if let Some(known) = self.numbers.get_mut(line as usize) {
            *known = number;
        }
    }

    #[cold]
    fn grow(&mut self, line: usize, number: u64) {
        self.numbers.resize(line + 1, 0);
        self.numbers[line] = number;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn it_is_a_map(steps in prop::collection::vec((0_u32..20, 0_u64..100), 0..200)) {
            let (mut lines, mut map) = (Lines::default(), BTreeMap::new());
            for (line, number) in steps {
                lines.raise(line, number);
                let known = map.entry(line).or_insert(0);
                *known = number.max(*known);
                prop_assert!((0..20).all(|line| lines.get(line) == map.get(&line).copied().unwrap_or(0)));
            }
        }
    }
}
