//! How many iterations come whose addresses are all at even distances.
//!
//! **Argument:** what one iteration has more than the one before, as words of 8 bytes, the next one has, too. A slot that lies in two words may
//! carry from one to the other: where words are not what was expected, and in the end, slots are compared.

use workspan_graph::events::slot;
use workspan_trace::SLOT_BYTES;

use super::strip::Strip;

/// Bits of a word, and of a slot.
const WORD: usize = 64;
const SLOT: usize = 8 * SLOT_BYTES;

/// What all iterations have in common.
struct Even<'b> {
    strip: &'b Strip,
    bytes: &'b [u8],
    /// Addresses of the first one, and how far the next ones are.
    slots: Vec<(usize, u64, u64)>,
}

/// A slot of some bytes.
#[inline]
fn address(bytes: &[u8], at: usize) -> u64 {
    slot(&bytes[at..], 0)
}

impl Strip {
    /// How many times it comes, at most `most`; its addresses at even distances.
    pub(super) fn evens(&self, bytes: &[u8], most: usize) -> usize {
        let most = most.min(bytes.len() / self.bytes);
        if most < 2 || !self.comes(bytes) || !self.comes(&bytes[self.bytes..]) {
            return 0;
        }
        let of_slot = |at: &usize| {
            let (first, second) = (address(bytes, *at), address(bytes, self.bytes + at));
            (*at, first, second.wrapping_sub(first))
        };
        let even = Even { strip: self, bytes, slots: self.places.iter().map(of_slot).collect() };
        let count = match self.bytes.div_ceil(8) {
            2 => even.words::<2>(most),
            3 => even.words::<3>(most),
            4 => even.words::<4>(most),
            5 => even.words::<5>(most),
            6 => even.words::<6>(most),
            7 => even.words::<7>(most),
            8 => even.words::<8>(most),
            9 => even.words::<9>(most),
            10 => even.words::<10>(most),
            11 => even.words::<11>(most),
            12 => even.words::<12>(most),
            _ => even.each(2, most),
        };
        if even.is_next(count - 1) {
            count
        } else {
            even.each(2, most)
        }
    }
}

impl Even<'_> {
    /// True if an iteration is what is expected.
    fn is_next(&self, number: usize) -> bool {
        let bytes = &self.bytes[number * self.strip.bytes..];
        let expected = |(at, first, stride): &(usize, u64, u64)| {
            address(bytes, *at) == first.wrapping_add(stride.wrapping_mul(number as u64))
        };
        self.strip.comes(bytes) && self.slots.iter().all(expected)
    }

    /// From an iteration on, up to another.
    fn each(&self, from: usize, to: usize) -> usize {
        (from..to).find(|number| !self.is_next(*number)).unwrap_or(to)
    }

    /// The words of an iteration, if there are bytes behind the last one.
    #[inline]
    fn load<const WORDS: usize>(&self, number: usize) -> Option<[u64; WORDS]> {
        let bytes = self.bytes.get(number * self.strip.bytes..)?.get(..8 * WORDS)?;
        let mut words = [0; WORDS];
        for (word, bytes) in words.iter_mut().zip(bytes.as_chunks::<8>().0) {
            *word = u64::from_le_bytes(*bytes);
        }
        Some(words)
    }

    /// How much more each word of an iteration is than that of the one before.
    fn steps<const WORDS: usize>(&self) -> [u64; WORDS] {
        let mut steps = [0_u64; WORDS];
        for (at, _, stride) in &self.slots {
            let (word, bit) = (at / 8, 8 * (at % 8));
            steps[word] = steps[word].wrapping_add(stride << bit);
            let low = WORD - bit;
            if low < SLOT {
                // The rest of it, which the lower bits carry to as seldom as possible.
                let rest = stride.cast_signed().wrapping_add(1 << (low - 1)) >> low;
                steps[word + 1] = steps[word + 1].wrapping_add(rest.cast_unsigned());
            }
        }
        steps
    }

    fn words<const WORDS: usize>(&self, most: usize) -> usize {
        let steps = self.steps::<WORDS>();
        let mask = u64::MAX >> (8 * (8 * WORDS - self.strip.bytes));
        let Some(mut words) = self.load::<WORDS>(1) else {
            return self.each(2, most);
        };
        for number in 2..most {
            let Some(next) = self.load::<WORDS>(number) else {
                return self.each(number, most);
            };
            let mut other = 0;
            for at in 0..WORDS {
                words[at] = words[at].wrapping_add(steps[at]);
                let differs = words[at] ^ next[at];
                other |= if at + 1 == WORDS { differs & mask } else { differs };
            }
            if other != 0 {
                if !self.is_next(number) {
                    return number;
                }
                words = next;
            }
        }
        most
    }
}
