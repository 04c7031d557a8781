//! Mutations of files: of single bytes, and of the lines, words and numbers of a text, so many
//! mutants pass the first checks of a reader and reach the later ones.

use fastrand::Rng;

/// Numbers at which readers fail: extremes, sizes that overflow, and text that is almost a number.
const NUMBERS: [&str; 24] = [
    "0",
    "-0",
    "-1",
    "1",
    "2",
    "3",
    "0.5",
    "1e-9",
    "1e-320",
    "1e20",
    "1e100",
    "1e308",
    "-1e308",
    "1e309",
    "nan",
    "inf",
    "-inf",
    "65535",
    "65536",
    "4294967296",
    "9223372036854775807",
    "18446744073709551615",
    "1,5",
    "0x10",
];

/// Characters that separate words in the formats read here.
const SEPARATORS: &[char] = &[
    ' ', '\t', '\n', '\r', ',', ':', '=', '"', '[', ']', '{', '}', '(', ')',
];

/// How often a line is repeated to make a file that is longer than its header says.
const MAX_REPETITIONS: usize = 300;

/// A mutant of one of the texts: one to four mutations, most of them of lines and words.
pub fn mutate_text(texts: &[Vec<u8>], rng: &mut Rng) -> Vec<u8> {
    let mut bytes = texts[rng.usize(..texts.len())].clone();
    for _ in 0..rng.usize(1..=4) {
        bytes = match rng.u32(..10) {
            0..=3 => replace_word(bytes, texts, rng),
            4..=6 => change_line(&bytes, rng),
            7 => splice(&bytes, texts, rng),
            _ => mutate_bytes(bytes, rng),
        };
    }
    bytes
}

/// One mutation of bytes: a changed, inserted or removed byte, or a truncated file.
pub fn mutate_bytes(mut bytes: Vec<u8>, rng: &mut Rng) -> Vec<u8> {
    if bytes.is_empty() {
        return vec![rng.u8(..)];
    }
    let position = rng.usize(..bytes.len());
    match rng.u32(..6) {
        0 => bytes[position] ^= 1 << rng.u32(..8),
        1 => bytes[position] = rng.u8(..),
        2 => bytes.insert(position, rng.u8(..)),
        3 => drop(bytes.remove(position)),
        4 => bytes.truncate(position),
        _ => {
            let end = bytes.len().min(position + rng.usize(1..=16));
            let copy = bytes[position..end].to_vec();
            bytes.splice(position..position, copy);
        }
    }
    bytes
}

/// Replaces a word by a number of [`NUMBERS`] or by a word of any of the texts.
fn replace_word(bytes: Vec<u8>, texts: &[Vec<u8>], rng: &mut Rng) -> Vec<u8> {
    let Ok(text) = String::from_utf8(bytes.clone()) else {
        return mutate_bytes(bytes, rng);
    };
    let words: Vec<(usize, &str)> = words(&text).collect();
    if words.is_empty() {
        return mutate_bytes(bytes, rng);
    }
    let (start, word) = words[rng.usize(..words.len())];
    let other = String::from_utf8_lossy(&texts[rng.usize(..texts.len())]).into_owned();
    let others: Vec<(usize, &str)> = self::words(&other).collect();
    let replacement = if others.is_empty() || rng.bool() {
        NUMBERS[rng.usize(..NUMBERS.len())]
    } else {
        others[rng.usize(..others.len())].1
    };
    let mut mutant = text.clone();
    mutant.replace_range(start..start + word.len(), replacement);
    mutant.into_bytes()
}

/// The words of a text with their positions.
fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let start = text.as_ptr() as usize;
    text.split(SEPARATORS)
        .filter(|word| !word.is_empty())
        .map(move |word| (word.as_ptr() as usize - start, word))
}

/// Removes, doubles, moves or repeats a line, or changes the ends of all lines.
fn change_line(bytes: &[u8], rng: &mut Rng) -> Vec<u8> {
    let mut lines: Vec<Vec<u8>> = bytes.split(|b| *b == b'\n').map(<[u8]>::to_vec).collect();
    let line = rng.usize(..lines.len());
    let other = rng.usize(..lines.len());
    match rng.u32(..6) {
        0 => drop(lines.remove(line)),
        1 => lines.insert(line, lines[line].clone()),
        2 => lines.swap(line, other),
        3 => lines.insert(other, Vec::new()),
        4 => {
            let copies = vec![lines[line].clone(); rng.usize(1..=MAX_REPETITIONS)];
            lines.splice(line..line, copies);
        }
        _ => return lines.join(&b"\r\n"[..]),
    }
    lines.join(&b'\n')
}

/// The beginning of one text and the end of another.
fn splice(bytes: &[u8], texts: &[Vec<u8>], rng: &mut Rng) -> Vec<u8> {
    let other = &texts[rng.usize(..texts.len())];
    let mut mutant = bytes[..rng.usize(..=bytes.len())].to_vec();
    mutant.extend_from_slice(&other[rng.usize(..=other.len())..]);
    mutant
}

/// Replaces a word in the header of a safetensors file, which is JSON text behind eight bytes that
/// state its length.
pub fn mutate_header(file: &[u8], rng: &mut Rng) -> Vec<u8> {
    let (length, content) = file.split_first_chunk().unwrap();
    let (header, arrays) = content.split_at(u64::from_le_bytes(*length) as usize);
    let header = replace_word(header.to_vec(), &[header.to_vec()], rng);
    let mut mutant = (header.len() as u64).to_le_bytes().to_vec();
    mutant.extend(header);
    mutant.extend_from_slice(arrays);
    mutant
}

/// Length of the footer and magic bytes at the end of a Parquet file.
const PARQUET_TAIL_BYTES: usize = 8;

/// Integers at which readers of Parquet files fail: lengths, counts and offsets.
const PARQUET_INTEGERS: [i64; 14] = [
    0,
    1,
    -1,
    7,
    100,
    127,
    128,
    65_536,
    1 << 20,
    i32::MAX as i64,
    1 << 31,
    1 << 40,
    i64::MAX,
    i64::MIN,
];

/// One to three mutations of a Parquet file: of any byte, of its footer with a length that matches
/// again, or of the header of a page. Integers there have a variable number of bytes; one that
/// takes more or fewer moves the rest of the file.
pub fn mutate_parquet(file: &[u8], rng: &mut Rng) -> Vec<u8> {
    let (content, tail) = file.split_at(file.len() - PARQUET_TAIL_BYTES);
    let length = u32::from_le_bytes(tail[..4].try_into().unwrap()) as usize;
    let (pages, footer) = content.split_at(content.len() - length);
    let (mut pages, mut footer) = (pages.to_vec(), footer.to_vec());
    for _ in 0..rng.usize(1..=3) {
        match rng.u32(..8) {
            0 => pages = mutate_bytes(pages, rng),
            1 => footer = mutate_bytes(footer, rng),
            2..=4 => {
                let position = rng.usize(..footer.len().max(1));
                replace_integer(&mut footer, position, rng);
            }
            5 => copy_part(&mut footer, rng),
            _ => {
                let header = page_header(&pages, rng);
                replace_integer(&mut pages, header + rng.usize(..16), rng);
            }
        }
    }
    let mut mutant = pages;
    mutant.extend(&footer);
    mutant.extend((footer.len() as u32).to_le_bytes());
    mutant.extend(&tail[4..]);
    if rng.u32(..16) == 0 {
        return mutate_bytes(mutant, rng);
    }
    mutant
}

/// The position of a page's header, which begins with the type of the page and two sizes.
fn page_header(pages: &[u8], rng: &mut Rng) -> usize {
    let is_header = |bytes: &[u8]| matches!(bytes, [0x15, 0 | 4 | 6, 0x15]);
    let headers = pages.windows(3).enumerate();
    let found = headers.filter(|(_, bytes)| is_header(bytes));
    let positions: Vec<usize> = found.map(|(position, _)| position).collect();
    if positions.is_empty() {
        return 0;
    }
    positions[rng.usize(..positions.len())]
}

/// Overwrites the integer at a position by one of [`PARQUET_INTEGERS`], as Thrift's compact
/// protocol writes it: seven bits per byte, the sign in the lowest bit.
fn replace_integer(bytes: &mut Vec<u8>, position: usize, rng: &mut Rng) {
    let Some(rest) = bytes.get(position..) else {
        return;
    };
    let length = 1 + rest.iter().take_while(|byte| **byte >= 0x80).count();
    let end = bytes.len().min(position + length);
    let value = PARQUET_INTEGERS[rng.usize(..PARQUET_INTEGERS.len())];
    let mut left = ((value << 1) ^ (value >> 63)).cast_unsigned();
    if rng.bool() {
        // Lengths of lists and texts have no sign.
        left = value.cast_unsigned();
    }
    let mut integer = Vec::new();
    while left >= 0x80 {
        integer.push(left as u8 | 0x80);
        left >>= 7;
    }
    integer.push(left as u8);
    bytes.splice(position..end, integer);
}

/// Overwrites a part of the bytes by another.
fn copy_part(bytes: &mut [u8], rng: &mut Rng) {
    let length = rng.usize(..=bytes.len().min(64));
    let last = bytes.len() - length;
    let (from, to) = (rng.usize(..=last), rng.usize(..=last));
    bytes.copy_within(from..from + length, to);
}
