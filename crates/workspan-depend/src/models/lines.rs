//! When the lines of a task were ready: a table of numbers by line.
//!
//! **Cost:** a store for a line; emptying it is a count.

/// Numbers by line; those that are not there are 0.
#[derive(Debug, Default)]
pub(super) struct Lines {
    /// Numbers, and the epoch that they belong to.
    places: Vec<(u64, u64)>,
    epoch: u64,
    /// Lines of this epoch.
    touched: Vec<u32>,
}

impl Lines {
    /// The number of a line.
    #[inline]
    pub(super) fn get(&self, line: u32) -> u64 {
        match self.places.get(line as usize) {
            Some((epoch, number)) if *epoch == self.epoch => *number,
            _ => 0,
        }
    }

    /// The number of a line is at least this.
    #[inline]
    pub(super) fn raise(&mut self, line: u32, number: u64) {
        let at = line as usize;
        if self.places.len() <= at {
            self.places.resize(at + 1, (u64::MAX, 0));
        }
        let place = &mut self.places[at];
        if place.0 == self.epoch {
            place.1 = place.1.max(number);
        } else {
            *place = (self.epoch, number);
            self.touched.push(line);
        }
    }

    /// None is there any more.
    #[inline]
    pub(super) fn clear(&mut self) {
        self.epoch += 1;
        self.touched.clear();
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.touched.len()
    }

    /// All numbers, in an order that only a new line changes.
    pub(super) fn numbers(&self) -> impl Iterator<Item = u64> + '_ {
        self.touched.iter().map(|line| self.get(*line))
    }

    /// Changes them, in the same order.
    pub(super) fn set(&mut self, mut number: impl FnMut() -> u64) {
        for line in &self.touched {
            self.places[*line as usize].1 = number();
        }
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
                match number {
                    99 => {
                        lines.clear();
                        map.clear();
                    }
                    98 => {
                        lines.set(|| 7);
                        map.values_mut().for_each(|number| *number = 7);
                    }
                    _ => {
                        lines.raise(line, number);
                        let known = map.entry(line).or_insert(0);
                        *known = number.max(*known);
                    }
                }
                prop_assert_eq!(lines.len(), map.len());
                prop_assert!((0..20).all(|line| lines.get(line) == map.get(&line).copied().unwrap_or(0)));
            }
            let mut numbers: Vec<u64> = lines.numbers().collect();
            let mut expected: Vec<u64> = map.into_values().collect();
            numbers.sort_unstable();
            expected.sort_unstable();
            prop_assert_eq!(numbers, expected);
        }
    }
}
