//! Caches of four ways, each set of which is two words: the [names](crate::names) of its lines, the one used
//! last in the highest bits of the first. (Halves that move from one word to the other are no neighbours in memory: compilers would read them
//! at once, which waits for both words to be written.)

/// A cache of one size.
#[derive(Debug)]
pub(crate) struct Four {
    pub(crate) bytes: u64,
    /// Sets; 0 is no line. Memory that is never used takes none.
    pub(crate) sets: Vec<[u64; 2]>,
    pub(crate) misses: u64,
}

impl Four {
    /// One without lines.
    pub(crate) fn new(bytes: u64, sets: u64) -> Four {
        Four { bytes, sets: vec![[0; 2]; usize::try_from(sets).unwrap_or(0)], misses: 0 }
    }

    /// The names in the order of their sets, in each the line used last first.
    pub(crate) fn names(&self) -> impl Iterator<Item = u32> + '_ {
        self.sets.iter().flatten().flat_map(|pair| [high(*pair), low(*pair)])
    }

    /// Looks for a line, which becomes the one used last. True if it was not there.
    pub(crate) fn find(&mut self, name: u32) -> bool {
        let place = name as usize & (self.sets.len() - 1);
        let set = &mut self.sets[place];
        let first = set[0];
        if high(first) == name {
            return false;
        }
        if low(first) == name {
            set[0] = first.rotate_left(32);
            return false;
        }
        let missed = !step(set, name);
        self.misses += u64::from(missed);
        missed
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the lower half")]
fn low(pair: u64) -> u32 {
    (pair & u64::from(u32::MAX)) as u32
}

fn high(pair: u64) -> u32 {
    (pair >> 32) as u32
}

/// Makes a line the one used last of its set, which was not used last or last but one. True if it was there.
#[inline(always)]
fn step(set: &mut [u64; 2], name: u32) -> bool {
    let [first, second] = *set;
    let (is_c, is_d) = (high(second) == name, low(second) == name);
    // What was used since moves back by one; what was used longest ago leaves, or the line its old place.
    let last = if is_c { second } else { second >> 32 };
    *set = [u64::from(name) << 32 | first >> 32, first << 32 | u64::from(low(last))];
    is_c | is_d
}

/// Makes a line that is not in a set the one used last.
#[inline(always)]
fn insert(set: &mut [u64; 2], name: u32) {
    let [first, second] = *set;
    *set = [u64::from(name) << 32 | first >> 32, first << 32 | second >> 32];
}

/// True if a line is in a set.
#[inline(always)]
fn is_in(set: &[u64; 2], name: u32) -> bool {
    let [first, second] = *set;
    (low(first) == name) | (high(first) == name) | (low(second) == name) | (high(second) == name)
}

/// Looks for lines one after the other. What the largest cache has not, the others have not. A line that was used last of its set
/// is not looked for in larger ones; one that was used last but one is no further behind in those. Keeps the lines that were used
/// last in none of these caches.
pub(crate) fn pass<const N: usize>(levels: &mut [Four; N], names: &mut Vec<u32>) {
    // By the number of caches that missed; and the lines that none has.
    let (mut misses, mut absent) = ([0_u64; 8], 0);
    let mut sets = levels.each_mut().map(|level| level.sets.as_mut_slice());
    let mut kept = 0;
    for at in 0..names.len() {
        let name = names[at];
        names[kept] = name;
        let place = |sets: &[[u64; 2]]| name as usize & (sets.len() - 1);
        if !sets.last().is_some_and(|sets| sets.get(place(sets)).is_some_and(|set| is_in(set, name))) {
            absent += 1;
            kept += 1;
            for sets in &mut sets {
                if let Some(set) = sets.get_mut(place(sets)) {
                    insert(set, name);
                }
            }
            continue;
        }
        let (mut missed, mut number) = (0, 0);
        let mut second = false;
        for sets in &mut sets {
            let Some(set) = sets.get_mut(place(sets)) else { break };
            let first = set[0];
            if high(first) == name {
                break;
            }
            number += 1;
            if low(first) == name {
                set[0] = first.rotate_left(32);
                second = true;
                break;
            }
            missed += usize::from(!step(set, name));
        }
        misses[missed & 7] += 1;
        if second {
            for sets in &mut sets[number..] {
                let Some(set) = sets.get_mut(place(sets)) else { break };
                let first = set[0];
                if high(first) == name {
                    break;
                }
                number += 1;
                set[0] = first.rotate_left(32);
            }
        }
        kept += usize::from(number == N);
    }
    names.truncate(kept);
    // The first ones missed.
    for (number, level) in levels.iter_mut().enumerate() {
        level.misses += absent + misses[number + 1..].iter().sum::<u64>();
    }
}
