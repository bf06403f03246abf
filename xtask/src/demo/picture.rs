//! A picture to work on: a PNG whose pixels are stored as they are.

/// A picture of waves and a pattern, so that filters and compression have something to choose between.
pub(super) fn png(width: u32, height: u32) -> Vec<u8> {
    let mut out = b"\x89PNG\r\n\x1a\n".to_vec();
    let mut header = [width.to_be_bytes(), height.to_be_bytes()].concat();
    // Eight bits, red, green and blue; the only compression, filtering and order there are.
    header.extend([8, 2, 0, 0, 0]);
    chunk(&mut out, b"IHDR", &header);
    chunk(&mut out, b"IDAT", &stored(&pixels(width, height)));
    chunk(&mut out, b"IEND", &[]);
    out
}

fn pixels(width: u32, height: u32) -> Vec<u8> {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 1 and 255")]
    let wave = |phase: f64| (128.0 + 127.0 * phase.sin()) as u8;
    let mut out = Vec::new();
    for y in 0..height {
        // Not filtered.
        out.push(0);
        for x in 0..width {
            let (fx, fy) = (f64::from(x), f64::from(y));
            let [pattern, ..] = (x ^ y).to_le_bytes();
            out.extend([wave(fx / 37.0 + fy / 91.0), wave(fx * fy / 5_000.0), pattern]);
        }
    }
    out
}

/// A zlib stream of blocks without compression.
fn stored(data: &[u8]) -> Vec<u8> {
    let mut out = vec![0x78, 0x01];
    let blocks = data.chunks(0xffff);
    let last = blocks.len().saturating_sub(1);
    for (index, block) in blocks.enumerate() {
        let length = u16::try_from(block.len()).unwrap_or(u16::MAX);
        out.push(u8::from(index == last));
        out.extend(length.to_le_bytes());
        out.extend((!length).to_le_bytes());
        out.extend(block);
    }
    out.extend(adler32(data).to_be_bytes());
    out
}

fn chunk(out: &mut Vec<u8>, name: &[u8; 4], data: &[u8]) {
    let length = u32::try_from(data.len()).unwrap_or(u32::MAX);
    out.extend(length.to_be_bytes());
    let start = out.len();
    out.extend(name);
    out.extend(data);
    let sum = crc32(&out[start..]);
    out.extend(sum.to_be_bytes());
}

fn crc32(data: &[u8]) -> u32 {
    let step = |crc: u32| if crc & 1 == 0 { crc >> 1 } else { (crc >> 1) ^ 0xedb8_8320 };
    !data.iter().fold(u32::MAX, |crc, byte| (0..8).fold(crc ^ u32::from(*byte), |crc, _| step(crc)))
}

fn adler32(data: &[u8]) -> u32 {
    let (a, b) = data.iter().fold((1, 0), |(a, b), byte| {
        let a = (a + u32::from(*byte)) % 65_521;
        (a, (a + b) % 65_521)
    });
    b << 16 | a
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksums_are_those_of_the_standards() {
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
        assert_eq!(adler32(b"Wikipedia"), 0x11e6_0398);
    }

    #[test]
    fn a_picture_is_as_large_as_it_says() {
        let png = png(300, 200);
        assert_eq!(&png[16..24], [0, 0, 1, 44, 0, 0, 0, 200]);
        let pixels: usize = 200 * (1 + 3 * 300);
        let blocks = pixels.div_ceil(0xffff);
        assert_eq!(png.len(), 8 + (12 + 13) + (12 + 2 + 5 * blocks + pixels + 4) + 12);
    }
}
