//! Mutations of files: of single bytes, and of the lines, words and numbers of a text, so that many
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
