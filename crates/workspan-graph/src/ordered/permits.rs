//! What is certain for who takes a permit of a semaphore.
//!
//! With the first value n, the k-th take comes after k - n posts, but nobody says after which. So a moment comes before it for certain
//! where less than k - n of the posts so far do not know of it. Of each context that is the (k - n)-th smallest of the moments that
//! the posts know.
//!
//! Here each take beyond the first n uses up, of each context, the smallest of those that are left, and what it has learnt the later ones
//! know, too. **Never less than what is certain:** with m - 1 moments used up, the greater of the greatest of these and the smallest
//! of the others has m that are not greater, itself among them, so the m-th smallest of all is not greater. **Memory:** the moments of as
//! many posts as the semaphore's value is high. **Cost** of a post: a step for each context that it knows; of a take: one for each
//! context known.

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::order::Learnt;

/// A semaphore.
#[derive(Clone, Debug, Default)]
pub(crate) struct Permits {
    /// Takes that need no post.
    free: u64,
    /// Posts that no take has used up.
    posts: u64,
    /// Of each context, what these know.
    known: BTreeMap<u32, Known>,
    certain: Learnt,
}

/// What posts know of a context.
#[derive(Clone, Debug, Default)]
struct Known {
    /// Posts that know of it.
    posts: u64,
    /// The moments, and how often each.
    moments: BTreeMap<u32, u64>,
}

impl Permits {
    /// Of a new one with this value.
    pub(crate) fn new(value: u64) -> Permits {
        Permits { free: value, ..Permits::default() }
    }

    /// A post by who knows this.
    pub(crate) fn post(&mut self, learnt: &Learnt) {
        self.posts += 1;
        for (context, moment) in learnt.iter() {
            let known = self.known.entry(*context).or_default();
            known.posts += 1;
            *known.moments.entry(*moment).or_default() += 1;
        }
    }

    /// What who takes a permit learns.
    pub(crate) fn take(&mut self) -> Option<&Learnt> {
        if self.free > 0 {
            self.free -= 1;
            return None;
        }
        // Without a post that was seen, somebody posts who is not watched.
        if self.posts > 0 {
            let certain = Rc::make_mut(&mut self.certain);
            for (context, known) in &mut self.known {
                if known.posts < self.posts {
                    continue;
                }
                let Some(mut least) = known.moments.first_entry() else { continue };
                let latest = certain.entry(*context).or_default();
                *latest = (*latest).max(*least.key());
                *least.get_mut() -= 1;
                if *least.get() == 0 {
                    least.remove();
                }
                known.posts -= 1;
            }
            self.known.retain(|_, known| known.posts > 0);
            self.posts -= 1;
        }
        Some(&self.certain)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn learnt(moments: &[(u32, u32)]) -> Learnt {
        Rc::new(moments.iter().copied().collect())
    }

    fn taken(permits: &mut Permits) -> Vec<(u32, u32)> {
        permits
            .take()
            .map(|learnt| learnt.iter().map(|(context, moment)| (*context, *moment)).collect())
            .unwrap_or_default()
    }

    #[test]
    fn who_finds_a_permit_learns_nothing() {
        let mut permits = Permits::new(2);
        permits.post(&learnt(&[(1, 5)]));
        assert_eq!([taken(&mut permits), taken(&mut permits)], [vec![], vec![]]);
        assert_eq!(taken(&mut permits), [(1, 5)]);
    }

    #[test]
    fn of_two_posts_the_first_take_knows_what_both_know() {
        let mut permits = Permits::new(0);
        permits.post(&learnt(&[(1, 5), (3, 7)]));
        permits.post(&learnt(&[(2, 9), (3, 4)]));
        assert_eq!(taken(&mut permits), [(3, 4)]);
        assert_eq!(taken(&mut permits), [(1, 5), (2, 9), (3, 7)]);
    }

    proptest! {
        /// From the definition: the m-th smallest of what the posts so far know, if all come before all takes; never less otherwise.
        #[test]
        fn takes_know_what_is_certain(
            first in 0..3_u64,
            steps in prop::collection::vec(prop::option::of(prop::collection::vec(0..6_u32, 3)), 0..24),
        ) {
            let mut permits = Permits::new(first);
            let (mut posts, mut takes) = (Vec::new(), 0);
            let mut posts_came_first = true;
            for step in steps {
                if let Some(moments) = step {
                    posts_came_first &= takes == 0;
                    let pairs: Vec<_> = (1..).zip(moments.iter().copied()).filter(|(_, moment)| *moment > 0).collect();
                    permits.post(&learnt(&pairs));
                    posts.push(moments);
                    continue;
                }
                takes += 1;
                let Some(position) = usize::try_from(takes - 1).unwrap().checked_sub(usize::try_from(first).unwrap()) else {
                    prop_assert!(taken(&mut permits).is_empty());
                    continue;
                };
                if position >= posts.len() {
                    // The program would wait.
                    break;
                }
                let found: BTreeMap<u32, u32> = taken(&mut permits).into_iter().collect();
                for context in 0..3 {
                    let mut known: Vec<u32> = posts.iter().map(|moments: &Vec<u32>| moments[context]).collect();
                    known.sort_unstable();
                    let found = found.get(&(u32::try_from(context).unwrap() + 1)).copied().unwrap_or(0);
                    prop_assert!(found >= known[position], "{found} of {known:?} at {position}");
                    prop_assert!(!posts_came_first || found == known[position], "{found} of {known:?} at {position}");
                }
            }
        }
    }
}
