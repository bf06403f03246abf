//! Numbers packed into bits, lowest first.

/// Unpacks `count` numbers of `width` bits; `None` if there are fewer bytes, or more bits than a number has.
///
/// **Cost:** about a load and a shift for each number.
pub(super) fn unpack(bytes: &[u8], width: u32, count: usize, mut put: impl FnMut(u64)) -> Option<()> {
    if width > 64 || bytes.len() < (count.checked_mul(width as usize)?).div_ceil(8) {
        return None;
    }
    if width == 0 {
        (0..count).for_each(|_| put(0));
        return Some(());
    }
    let mask = u64::MAX >> (64 - width);
    let mut bit = 0usize;
    let mut left = count;
    // As long as a load of 8 bytes lies within, and holds all bits of the number.
    if width <= 56 {
        while left > 0 {
            let Some(load) = bytes.get(bit / 8..).and_then(|rest| rest.first_chunk()) else {
                break;
            };
            put(u64::from_le_bytes(*load) >> (bit % 8) & mask);
            bit += width as usize;
            left -= 1;
        }
    }
    for _ in 0..left {
        let mut load = [0; 16];
        let rest = &bytes[bit / 8..];
        let length = rest.len().min(16);
        load[..length].copy_from_slice(&rest[..length]);
        #[expect(clippy::cast_possible_truncation, reason = "the lowest bits are meant")]
        put((u128::from_le_bytes(load) >> (bit % 8)) as u64 & mask);
        bit += width as usize;
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_width_is_unpacked() {
        for width in 0..=64u32 {
            let mask = if width == 0 { 0 } else { u64::MAX >> (64 - width) };
            let values: Vec<u64> = (1..50u64).map(|n| n.wrapping_mul(0x9e37_79b9_7f4a_7c15) & mask).collect();
            let mut bytes = vec![0u8; (values.len() * width as usize).div_ceil(8)];
            for (index, value) in values.iter().enumerate() {
                for at in (0..width as usize).filter(|at| value >> at & 1 == 1) {
                    bytes[(index * width as usize + at) / 8] |= 1 << ((index * width as usize + at) % 8);
                }
            }
            let mut read = Vec::new();
            unpack(&bytes, width, values.len(), |value| read.push(value)).expect("there are enough");
            assert_eq!(read, values, "width {width}");
            assert!(width == 0 || unpack(&bytes[1..], width, values.len(), |_| {}).is_none());
        }
        assert_eq!(unpack(&[0; 100], 65, 1, |_| {}), None);
    }
}
