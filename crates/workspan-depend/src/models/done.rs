//! When the children of a task were ready: a table of numbers by key, with open addressing.
//!
//! **Argument:** the task counts from a number that is higher than all that tasks before it have noted, so theirs are known from its own
//! without a look at them, and nothing has to be emptied.
//!
//! **Cost:** a multiplication and mostly one comparison; nothing is allocated before the first child.

/// No key: [`Child::key`](super::Child) of no line, loop or place.
const NONE: u64 = u64::MAX;
/// Keys from which on the table is emptied for a new task.
const MANY: usize = 64;

/// Numbers by key; those that are not there are 0.
#[derive(Debug, Default)]
pub(super) struct Done {
    /// Keys and numbers: a power of two, at most half of them in use.
    places: Vec<(u64, u64)>,
    count: usize,
}

impl Done {
    /// Where a key is, or would be.
    #[inline]
    fn find(&self, key: u64) -> usize {
        let mask = self.places.len() - 1;
        let mut at = (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as usize & mask;
        while self.places[at].0 != key && self.places[at].0 != NONE {
            at = (at + 1) & mask;
        }
        at
    }

    /// The number of a key.
    #[inline]
    pub(super) fn get(&self, key: u64) -> u64 {
        if self.count == 0 {
            return 0;
        }
        let (found, number) = self.places[self.find(key)];
        if found == key {
            number
        } else {
            0
        }
    }

    /// The number of a key is at least this.
    #[inline]
    pub(super) fn raise(&mut self, key: u64, number: u64) {
        if 2 * self.count >= self.places.len() {
            self.grow();
        }
        let at = self.find(key);
        let place = &mut self.places[at];
        if place.0 == NONE {
            *place = (key, number);
            self.count += 1;
        } else {
            place.1 = place.1.max(number);
        }
    }

    fn grow(&mut self) {
        let size = (2 * self.places.len()).max(8);
        let former = std::mem::replace(&mut self.places, vec![(NONE, 0); size]);
        for (key, number) in former.into_iter().filter(|(key, _)| *key != NONE) {
            let at = self.find(key);
            self.places[at] = (key, number);
        }
    }

    /// A task begins: its numbers will be higher than all that are there.
    #[inline]
    pub(super) fn begin(&mut self) {
        if self.count > MANY {
            self.places.fill((NONE, 0));
            self.count = 0;
        }
    }

    /// All numbers from one on, in an order that only a new key changes.
    pub(super) fn numbers(&self, from: u64) -> impl Iterator<Item = u64> + '_ {
        self.places.iter().filter(move |(key, number)| *key != NONE && *number >= from).map(|(_, number)| *number)
    }

    /// The same, to change them.
    pub(super) fn numbers_mut(&mut self, from: u64) -> impl Iterator<Item = &mut u64> {
        let all = self.places.iter_mut().filter(move |(key, number)| *key != NONE && *number >= from);
        all.map(|(_, number)| number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn it_is_a_map_of_what_the_task_has_noted(steps in prop::collection::vec((0_u64..90, 0_u64..100), 0..400)) {
            let (mut done, mut map, mut from) = (Done::default(), BTreeMap::new(), 0);
            for (key, number) in steps {
                if number == 99 {
                    from += 100;
                    done.begin();
                    map.clear();
                } else {
                    done.raise(key << 30, from + number);
                    let known = map.entry(key).or_insert(0);
                    *known = number.max(*known);
                }
                let of = |key: u64| done.get(key << 30).saturating_sub(from);
                prop_assert!((0..90).all(|key| of(key) == map.get(&key).copied().unwrap_or(0)));
            }
            let mut numbers: Vec<u64> = done.numbers(from).map(|number| number - from).collect();
            let mut expected: Vec<u64> = map.into_values().collect();
            numbers.sort_unstable();
            expected.sort_unstable();
            prop_assert_eq!(numbers, expected);
        }
    }
}
