//! Runs against cells, one by one.

use proptest::prelude::*;

use super::{Cell, Found, Moments, Numbers, Reader, Readers, Shadow};

const CELLS: u32 = 600;

/// What a cell holds: its write, and groups of reads.
type State = ((u32, u64), Vec<(u32, u64, u64)>);

fn state(shadow: &mut Shadow, address: u64) -> State {
    let mut page = (0, 0);
    let Some((cell, readers)) = shadow.whole_cell(address, 3, &mut page) else {
        return State::default();
    };
    contents(*cell, readers)
}

fn contents(cell: Cell, readers: &Readers) -> State {
    let mut groups = Vec::new();
    let mut at = cell.readers;
    while at != 0 {
        let reader = readers.get(at);
        groups.push((reader.site, reader.first, reader.last));
        at = reader.next;
    }
    ((cell.writer, cell.written), groups)
}

/// The same as [`Piece::read`](super::Piece::read).
fn read(state: &mut State, site: u32, now: u64) {
    let of_site: Vec<usize> = (0..state.1.len()).filter(|at| state.1[*at].0 == site).collect();
    if let [latest, former, ..] = of_site[..] {
        state.1[latest].1 = state.1[former].1;
        state.1.remove(former);
    }
    state.1.insert(0, (site, now, now));
}

proptest! {
    #[test]
    fn a_run_is_what_its_cells_would_be(
        base in 0_u64..5000,
        (spread, written) in (1_u64..70, any::<bool>()),
        steps in prop::collection::vec((0_u8..6, 0_u32..CELLS, 1_u32..200, any::<bool>()), 0..60),
    ) {
        let (mut shadow, mut page) = (Shadow::default(), (0, 0));
        let address = |number: u32| 8 * (base + u64::from(number) * spread);
        let mut expected = Vec::new();
        for number in 0..CELLS {
            shadow.span(address(number), 8);
            let place = shadow.whole(address(number), 3, &mut page).unwrap_or_default();
            let (cell, readers) = shadow.cell(place);
            if written {
                let list = readers.add(Reader { site: 7, next: 0, first: 5, last: 9 + 2 * u64::from(number) });
                *cell = Cell { written: 3 + u64::from(number), writer: 4, readers: list };
            }
            expected.push(state(&mut shadow, address(number)));
        }
        prop_assert!(shadow.join((address(0), 8 * spread, CELLS), 3));
        let mut now = 10_000;
        for (kind, at, count, is_down) in steps {
            let count = count.min(if is_down { at + 1 } else { CELLS - at });
            now += 1000;
            if kind == 0 {
                // One is accessed alone.
                prop_assert_eq!(&state(&mut shadow, address(at)), &expected[at as usize]);
                continue;
            }
            if kind == 5 {
                shadow.unite((address(0), 8 * spread, CELLS), 3);
                continue;
            }
            if kind == 1 && count < 3 {
                shadow.forget(address(at), 8);
                expected[at as usize] = State::default();
                continue;
            }
            let place = shadow.found(address(at), 3, &mut page);
            let Some(Found::Run(run, first)) = place else { continue };
            let (low, end) = shadow.run(run).map_or((0, 0), |run| run.bounds());
            let left = if is_down { first + 1 - low } else { end - first };
            let numbers = Numbers { first, count: left.min(count), is_down };
            let moments = Moments::through((first, now), if is_down { 3_u64.wrapping_neg() } else { 3 });
            let site = 10 + u32::from(kind);
            for number in 0..numbers.count {
                let moment = now + 3 * u64::from(number);
                let state = &mut expected[(if is_down { at - number } else { at + number }) as usize];
                if kind < 3 {
                    *state = ((site, moment), Vec::new());
                } else {
                    read(state, site, moment);
                }
            }
            if let Some(run) = shadow.run_mut(run) {
                if kind < 3 {
                    run.write(numbers, site, moments);
                } else {
                    run.read(numbers, site, moments);
                }
                let of: u32 = run.pieces(numbers).map(|(_, numbers)| numbers.count).sum();
                prop_assert_eq!(of, numbers.count);
            }
            shadow.used(run, numbers.count);
        }
        shadow.unite((address(0), 8 * spread, CELLS), 3);
        for number in 0..CELLS {
            prop_assert_eq!(shadow.is_written(address(number)), expected[number as usize].0.0 != 0);
            prop_assert_eq!(&state(&mut shadow, address(number)), &expected[number as usize], "{}", number);
        }
    }

    #[test]
    fn cells_of_all_sizes_say_what_each_byte_would(
        steps in prop::collection::vec((0_u8..5, 3900_u64..4200, 0_u32..5, 1_u64..40, 1_u64..30), 0..80),
    ) {
        let mut shadow = Shadow::default();
        let mut expected = vec![State::default(); 4800];
        for (now, (kind, at, shift, odd, many)) in (1..).zip(steps) {
            // Aligned, as most are, several one after the other; or not.
            let (at, size, many) = if shift < 4 { (at >> shift << shift, 1 << shift, many) } else { (at, odd, 1) };
            for begin in (0..many).map(|number| at + number * size) {
                let [first, end] = [begin, begin + size].map(|at| usize::try_from(at).unwrap_or_default());
                let bytes = expected[first..end].iter_mut();
                match kind {
                    0 | 4 => bytes.for_each(|byte| *byte = State::default()),
                    1 => bytes.for_each(|byte| *byte = ((3, now), Vec::new())),
                    _ => bytes.for_each(|byte| byte.1.insert(0, (kind.into(), now, now))),
                }
                if kind == 0 {
                    shadow.forget(begin, size);
                    continue;
                }
                if kind == 4 {
                    shadow.release(begin, size);
                    continue;
                }
                for (address, size) in Shadow::pieces(begin, size) {
                    shadow.span(address, size);
                    for place in shadow.places.clone() {
                        let (cell, readers) = shadow.cell(place);
                        if kind == 1 {
                            readers.drop_list(cell.readers);
                            *cell = Cell { written: now, writer: 3, readers: 0 };
                        } else {
                            let new = Reader { site: kind.into(), next: cell.readers, first: now, last: now };
                            cell.readers = readers.add(new);
                        }
                    }
                }
            }
        }
        for (address, expected) in (0..).zip(&expected).skip(3800) {
            prop_assert_eq!(shadow.is_written(address), expected.0.0 != 0);
            shadow.span(address, 1);
            prop_assert_eq!(shadow.places.len(), 1);
            let (cell, readers) = shadow.cell(shadow.places[0]);
            prop_assert_eq!(&contents(*cell, readers), expected, "{}", address);
        }
    }

    #[test]
    fn moments_within_are_the_first_ones(
        start in 0_u64..50, step in -3_i64..4, first in 20_u32..40, count in 1_u32..20, is_down in any::<bool>(), low in 0_u64..80, more in 0_u64..80,
    ) {
        let moments = Moments::through((0, start + 200), step.cast_unsigned());
        let numbers = Numbers { first, count, is_down };
        let (low, high) = (low + 150, low + 150 + more);
        let expected = (0..count).take_while(|at| (low..=high).contains(&moments.of(numbers.get(*at)))).count();
        prop_assert_eq!(moments.leading(numbers, (low, high)) as usize, expected);
    }
}
