//! What a member of a team gets of a static loop: the runtime reports the first chunk alone, and gcc's programs share out themselves.
//!
//! With a chunk size that is chunks, not iterations: the size is the program's choice.

/// A member's place in its team.
#[derive(Clone, Copy, Debug)]
pub(super) struct MemberPlace {
    /// Size of the team, not 0.
    pub(super) of: u64,
    /// Its number.
    pub(super) number: u64,
}

/// Of `iterations` that are divided evenly: the first members have one more.
pub(super) fn even(iterations: u64, place: MemberPlace) -> u64 {
    iterations / place.of + u64::from(place.number < iterations % place.of)
}

/// Chunks of `iterations` that are dealt out by chunks of this size, not 0, in turn.
pub(super) fn dealt(iterations: u64, chunk: u64, place: MemberPlace) -> u64 {
    even(iterations.div_ceil(chunk), place)
}

/// Iterations or chunks, where the runtime reports a chunk of this size, of a loop of `iterations`, and nobody has seen whether the program
/// requested one: of members that have no more than one chunk each, it may be their part of the iterations.
pub(super) fn chunks(iterations: u64, chunk: u64, place: MemberPlace) -> u64 {
    let all_at_once = chunk.saturating_add(1).saturating_mul(place.of) > iterations;
    if chunk == 0 || all_at_once {
        chunk
    } else {
        dealt(iterations, chunk, place)
    }
}

/// Where it reports a section, of this number of them if they are shared out at once.
pub(super) fn sections(of: Option<u64>, place: MemberPlace) -> u64 {
    of.map_or(1, |of| even(of, place).max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One by one.
    fn counted(iterations: u64, chunk: u64, place: MemberPlace) -> u64 {
        let mut chunks: Vec<u64> = (0..iterations).map(|at| at / chunk).collect();
        chunks.dedup();
        chunks.into_iter().filter(|at| at % place.of == place.number).count() as u64
    }

    #[test]
    fn members_get_what_they_get_one_by_one() {
        for iterations in 0..60 {
            for of in 1..7 {
                let places = (0..of).map(|number| MemberPlace { of, number });
                assert_eq!(places.clone().map(|place| even(iterations, place)).sum::<u64>(), iterations);
                for chunk in 1..9 {
                    for place in places.clone() {
                        let expected = counted(iterations, chunk, place);
                        assert_eq!(dealt(iterations, chunk, place), expected, "{iterations} by {chunk}, {place:?}");
                    }
                }
            }
        }
    }
}
