//! Columns of numbers, packed without loss: what cells that were not accessed for long become ([`crate::cold`]).
//!
//! Numbers of a column are like each other, and like those of the columns before: depths grow with the run in all models.
//! Each column is kept as differences to what one of a few predictions says, whichever makes the differences smallest: nothing;
//! the number before; a column before; that column scaled to fit. Differences have as many bits as the widest of them needs.
//! **Cost**: a few operations for each number and prediction, a load and a shift for each when it is read.

/// How a column is predicted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Prediction {
    /// By nothing.
    None,
    /// By the column before.
    Beside,
    /// By the column that it is like.
    Like,
    /// By the number before it.
    Before,
    /// By that column, scaled.
    Scaled,
}

const PREDICTIONS: [Prediction; 5] =
    [Prediction::None, Prediction::Beside, Prediction::Like, Prediction::Before, Prediction::Scaled];

/// How many bits a difference can have, 0 included.
const WIDTHS: u8 = 33;
/// Differences of no more bits than this are not worth another prediction.
const NARROW: u32 = 4;

/// Where a line through the numbers of two columns leads: from `x` to `y`, by this slope.
#[derive(Clone, Copy, Debug, Default)]
struct Line {
    x: u32,
    y: u32,
    slope: f32,
}

impl Line {
    /// Through the smallest and the largest number of `of`.
    fn through(of: &[u32], column: &[u32]) -> Line {
        let least = (0..of.len()).min_by_key(|row| of[*row]).unwrap_or(0);
        let most = (0..of.len()).max_by_key(|row| of[*row]).unwrap_or(0);
        let run = f64::from(of[most]) - f64::from(of[least]);
        let rise = f64::from(column[most]) - f64::from(column[least]);
        Line { x: of[least], y: column[least], slope: if run > 0.0 { (rise / run) as f32 } else { 0.0 } }
    }

    #[inline(always)]
    fn at(self, x: u32) -> u32 {
        let way = f64::from(x.wrapping_sub(self.x)) * f64::from(self.slope);
        self.y.wrapping_add(way as i64 as u32)
    }
}

/// Packs columns of `rows` numbers each, one behind the other; `likes` says of each which one before it may be like it.
pub(crate) fn pack(numbers: &[u32], rows: usize, likes: &[usize], differences: &mut Vec<u32>, into: &mut Vec<u8>) {
    for (at, column) in numbers.chunks_exact(rows).enumerate() {
        let beside = at.checked_sub(1).map(|at| &numbers[at * rows..][..rows]);
        let like = likes.get(at).filter(|like| **like < at).map(|at| &numbers[at * rows..][..rows]);
        let (mut best, mut least, mut bits) = (Prediction::None, 0, u32::MAX);
        let mut line = Line::default();
        for prediction in PREDICTIONS {
            if bits <= NARROW {
                break;
            }
            let of = match prediction {
                Prediction::None | Prediction::Before => Some(column),
                Prediction::Beside => beside,
                Prediction::Like | Prediction::Scaled => like,
            };
            let Some(of) = of else { continue };
            if prediction == Prediction::Scaled {
                line = Line::through(of, column);
            }
            let (from, to) = range(prediction, column, of, line);
            let needed = u32::BITS - to.wrapping_sub(from).leading_zeros();
            if needed < bits {
                (best, least, bits) = (prediction, from, needed);
            }
        }
        into.push(best as u8 * WIDTHS + bits as u8);
        // The sign comes last, so that what is near zero is short.
        write_short((least << 1) ^ ((least as i32 >> 31) as u32), into);
        if best == Prediction::Before {
            into.extend(column[0].to_le_bytes());
        }
        if best == Prediction::Scaled {
            into.extend(line.x.to_le_bytes());
            into.extend(line.y.to_le_bytes());
            into.extend(line.slope.to_le_bytes());
        }
        let of = match best {
            Prediction::None | Prediction::Before => column,
            Prediction::Beside => beside.unwrap_or(column),
            Prediction::Like | Prediction::Scaled => like.unwrap_or(column),
        };
        if bits > 0 {
            differences.clear();
            each(best, column, of, line, |difference| differences.push(difference.wrapping_sub(least)));
            write(differences, bits, into);
        }
    }
}

/// The differences of a column, in its order.
#[inline(always)]
fn each(prediction: Prediction, column: &[u32], of: &[u32], line: Line, mut found: impl FnMut(u32)) {
    match prediction {
        Prediction::None => column.iter().for_each(|number| found(*number)),
        Prediction::Before => {
            // The first one is kept besides; in its place stands a difference that there is.
            found(column.get(1).map_or(0, |second| second.wrapping_sub(column[0])));
            column.windows(2).for_each(|pair| found(pair[1].wrapping_sub(pair[0])));
        }
        Prediction::Beside | Prediction::Like => {
            column.iter().zip(of).for_each(|(number, of)| found(number.wrapping_sub(*of)));
        }
        Prediction::Scaled => {
            column.iter().zip(of).for_each(|(number, of)| found(number.wrapping_sub(line.at(*of))));
        }
    }
}

/// The smallest and the largest difference, as numbers with a sign.
#[inline(always)]
fn range(prediction: Prediction, column: &[u32], of: &[u32], line: Line) -> (u32, u32) {
    let (mut least, mut most) = (i32::MAX, i32::MIN);
    each(prediction, column, of, line, |difference| {
        let difference = difference as i32;
        least = least.min(difference);
        most = most.max(difference);
    });
    (least as u32, most as u32)
}

fn write_short(mut number: u32, into: &mut Vec<u8>) {
    while number >= 128 {
        into.push(number as u8 | 128);
        number >>= 7;
    }
    into.push(number as u8);
}

fn read_short(bytes: &[u8], at: &mut usize) -> u32 {
    let mut number = 0;
    for shift in [0, 7, 14, 21, 28] {
        let next = byte(bytes, *at);
        *at += 1;
        number |= u32::from(next & 127) << shift;
        if next < 128 {
            break;
        }
    }
    number
}

fn write(numbers: &[u32], bits: u32, into: &mut Vec<u8>) {
    let (mut held, mut count) = (0u64, 0);
    for number in numbers {
        held |= u64::from(*number) << count;
        count += bits;
        if count >= 32 {
            into.extend((held as u32).to_le_bytes());
            held >>= 32;
            count -= 32;
        }
    }
    into.extend(&held.to_le_bytes()[..count.div_ceil(8) as usize]);
}

/// The columns that were packed; bytes that [`pack`] has not made give any numbers.
pub(crate) fn unpack(bytes: &[u8], rows: usize, likes: &[usize], numbers: &mut [u32]) {
    let mut at = 0;
    for place in 0..numbers.len() / rows.max(1) {
        let (before, rest) = numbers.split_at_mut(place * rows);
        let column = &mut rest[..rows];
        let kind = byte(bytes, at);
        let prediction = PREDICTIONS[usize::from(kind / WIDTHS).min(PREDICTIONS.len() - 1)];
        let bits = u32::from(kind % WIDTHS);
        at += 1;
        let least = read_short(bytes, &mut at);
        let least = (least >> 1) ^ (least & 1).wrapping_neg();
        let first = word(bytes, at) as u32;
        if prediction == Prediction::Before {
            at += 4;
        }
        let mut line = Line::default();
        if prediction == Prediction::Scaled {
            let of = |at| word(bytes, at) as u32;
            line = Line { x: of(at), y: of(at + 4), slope: f32::from_bits(of(at + 8)) };
            at += 12;
        }
        let mask = ((1u64 << bits) - 1) as u32;
        let mut bit = at * 8;
        for number in column.iter_mut() {
            *number = ((word(bytes, bit / 8) >> (bit % 8)) as u32 & mask).wrapping_add(least);
            bit += bits as usize;
        }
        at += (rows * bits as usize).div_ceil(8);
        let of = |column: usize| before.get(column * rows..).and_then(|from| from.get(..rows));
        let like = || likes.get(place).and_then(|like| of(*like));
        match prediction {
            Prediction::None => {}
            Prediction::Before => {
                column[0] = first;
                for row in 1..rows {
                    column[row] = column[row].wrapping_add(column[row - 1]);
                }
            }
            Prediction::Beside => add(column, place.checked_sub(1).and_then(of), |of| of),
            Prediction::Like => add(column, like(), |of| of),
            Prediction::Scaled => add(column, like(), |of| line.at(of)),
        }
    }
}

#[inline(always)]
fn add(column: &mut [u32], of: Option<&[u32]>, predicted: impl Fn(u32) -> u32) {
    for (number, of) in column.iter_mut().zip(of.unwrap_or_default()) {
        *number = number.wrapping_add(predicted(*of));
    }
}

fn byte(bytes: &[u8], at: usize) -> u8 {
    bytes.get(at).copied().unwrap_or(0)
}

/// Eight bytes from a place on; zeros behind the end.
#[inline(always)]
fn word(bytes: &[u8], at: usize) -> u64 {
    match bytes.get(at..at + 8).and_then(|word| word.try_into().ok()) {
        Some(word) => u64::from_le_bytes(word),
        None => (0..8).map(|n| u64::from(byte(bytes, at + n)) << (8 * n)).sum(),
    }
}

#[cfg(test)]
mod tests {
    use super::{pack, unpack};

    /// Numbers by a simple generator.
    fn random(state: &mut u64) -> u32 {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (*state >> 33) as u32
    }

    #[test]
    fn columns_come_back() {
        let mut state = 7;
        for case in 0..600 {
            let rows = 1 + random(&mut state) as usize % 80;
            let columns = 1 + random(&mut state) as usize % 6;
            let near: Vec<usize> = (0..columns).map(|at| at / 2).collect();
            let wide = if case % 3 == 0 { u32::MAX } else { 1 << (random(&mut state) % 20) };
            let mut numbers = Vec::new();
            for column in 0..columns {
                for row in 0..rows {
                    let other = if column > 0 { numbers[(column - 1) * rows + row] } else { 0u32 };
                    let noise = random(&mut state) % wide;
                    numbers.push(match case % 5 {
                        0 => random(&mut state).wrapping_mul(2),
                        1 => other.wrapping_add(noise),
                        2 => other.wrapping_mul(3).wrapping_add(noise),
                        3 => u32::try_from(row).unwrap_or(0).wrapping_mul(wide).wrapping_add(noise % 4),
                        _ => [0, u32::MAX, 1 << 31, noise][row % 4],
                    });
                }
            }
            let mut bytes = Vec::new();
            pack(&numbers, rows, &near, &mut Vec::new(), &mut bytes);
            let mut found = vec![0; numbers.len()];
            unpack(&bytes, rows, &near, &mut found);
            assert_eq!(found, numbers, "case {case}");
        }
    }

    #[test]
    fn what_is_alike_takes_little() {
        let near: Vec<usize> = (0..12).map(|at| at / 2).collect();
        let numbers: Vec<u32> =
            (0..12u32).flat_map(|column| (0..64u32).map(move |row| 1000 * column + 17 * row)).collect();
        let mut bytes = Vec::new();
        pack(&numbers, 64, &near, &mut Vec::new(), &mut bytes);
        assert!(bytes.len() < 60, "{} bytes", bytes.len());
    }

    #[test]
    fn bytes_that_are_none_do_not_panic() {
        let mut state = 3;
        for len in 0..200 {
            let bytes: Vec<u8> = (0..len).map(|_| random(&mut state) as u8).collect();
            unpack(&bytes, 64, &[9; 8], &mut [0; 64 * 8]);
        }
    }
}
