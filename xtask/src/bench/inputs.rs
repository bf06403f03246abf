//! Inputs for published programs, made on the spot and always the same: pictures, and a tree of source files.

use std::fs;
use std::path::{Path, PathBuf};

/// A picture of `side` × `side` pixels with gradients, a pattern and noise that depends on `seed`, as PNG.
pub(super) fn picture(file: &Path, side: u32, seed: u64) -> anyhow::Result<()> {
    let mut noise = Noise(seed);
    let mut rows = Vec::new();
    for y in 0..side {
        // No filter.
        rows.push(0);
        for x in 0..side {
            let grain = noise.below(64);
            let square = (x / 32 + y / 32) % 2 * 128;
            rows.extend([x * 192 / side + grain, y * 192 / side + grain / 2, square + grain].map(low_byte));
        }
    }
    let header: Vec<u8> = [side.to_be_bytes(), side.to_be_bytes()].concat();
    let mut png = b"\x89PNG\r\n\x1a\n".to_vec();
    // Eight bits each of red, green and blue, not interlaced.
    chunk(&mut png, b"IHDR", &[&header[..], &[8, 2, 0, 0, 0]].concat())?;
    chunk(&mut png, b"IDAT", &stored(&rows)?)?;
    chunk(&mut png, b"IEND", &[])?;
    fs::write(file, png)?;
    Ok(())
}

/// A folder with `count` source files of a few hundred lines.
pub(super) fn sources(folder: &Path, count: u64) -> anyhow::Result<Vec<PathBuf>> {
    const LINES: &[&str] = &[
        "fn function(argument: &str) -> usize {",
        "    let text = \"a text // without a comment\";",
        "    // A comment of some words.",
        "    argument.chars().filter(|c| c.is_alphabetic()).count() + text.len()",
        "}",
        "",
        "/// Documentation, which is a comment too.",
        "/* A block of comments",
        "   in two lines. */",
        "static NAMES: &[&str] = &[\"one\", \"two\", r#\"three \"quoted\"\"#];",
    ];
    let mut files = Vec::new();
    for i in 0..count {
        let mut noise = Noise(i + 1);
        let mut text = String::new();
        for _ in 0..200 + noise.below(800) {
            text.push_str(LINES[noise.below(10) as usize]);
            text.push('\n');
        }
        let part = folder.join(format!("part{}", i % 40));
        fs::create_dir_all(&part)?;
        let file = part.join(format!("file{i}.rs"));
        fs::write(&file, text)?;
        files.push(file);
    }
    Ok(files)
}

/// A reproducible sequence.
struct Noise(u64);

impl Noise {
    fn below(&mut self, end: u32) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let high = (self.0 >> 33) as u32;
        high % end
    }
}

fn low_byte(value: u32) -> u8 {
    value.to_le_bytes()[0]
}

fn chunk(png: &mut Vec<u8>, kind: &[u8; 4], data: &[u8]) -> anyhow::Result<()> {
    let named = [kind, data].concat();
    png.extend(u32::try_from(data.len())?.to_be_bytes());
    png.extend(&named);
    png.extend(checksum(&named).to_be_bytes());
    Ok(())
}

/// CRC-32 as PNG has it.
fn checksum(data: &[u8]) -> u32 {
    !data.iter().fold(!0u32, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 })
    })
}

/// A zlib stream without compression.
fn stored(data: &[u8]) -> anyhow::Result<Vec<u8>> {
    let mut stream = vec![0x78, 0x01];
    let blocks = data.chunks(0xffff);
    let count = blocks.len();
    for (i, block) in blocks.enumerate() {
        let length = u16::try_from(block.len())?;
        stream.push(u8::from(i + 1 == count));
        stream.extend(length.to_le_bytes());
        stream.extend((!length).to_le_bytes());
        stream.extend(block);
    }
    let sums = data.iter().fold((1u32, 0u32), |(a, b), byte| {
        let a = (a + u32::from(*byte)) % 65_521;
        (a, (b + a) % 65_521)
    });
    stream.extend((sums.1 << 16 | sums.0).to_be_bytes());
    Ok(stream)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksums_are_those_of_the_standards() {
        assert_eq!(checksum(b"IEND"), 0xae42_6082);
        assert_eq!(checksum(b"123456789"), 0xcbf4_3926);
        let stream = stored(b"Wikipedia").expect("short");
        assert_eq!(stream[stream.len() - 4..], 0x11e6_0398u32.to_be_bytes());
    }
}
