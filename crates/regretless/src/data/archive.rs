//! Safetensors files, opened with suspicion: a header of at most 1 MiB, and no section that claims
//! to reach beyond the end of the file.

use safetensors::SafeTensors;
use serde_json::Value;

/// Longest header that is read.
pub(crate) const LONGEST_HEADER: u64 = 1 << 20;

/// The sections of a file that lies in memory.
///
/// # Errors
/// What is wrong with the file.
pub(crate) fn open(bytes: &[u8]) -> Result<SafeTensors<'_>, String> {
    let Some((length, rest)) = bytes.split_first_chunk() else {
        return Err("the file is shorter than its header".into());
    };
    let length = u64::from_le_bytes(*length);
    if length > LONGEST_HEADER {
        return Err(format!("its header claims {length} bytes, more than the {LONGEST_HEADER} that are read"));
    }
    let header = rest.get(..length as usize).ok_or("the file is shorter than its header")?;
    check_ends(header, rest.len() as u64)?;
    SafeTensors::deserialize(bytes).map_err(|error| format!("its header is damaged: {error}"))
}

/// Refuses sections past the end before any sum of their lengths is formed, which could overflow.
fn check_ends(header: &[u8], length: u64) -> Result<(), String> {
    let header: Value = serde_json::from_slice(header).map_err(|error| format!("its header is damaged: {error}"))?;
    let sections = header.as_object().ok_or("its header is no JSON object")?;
    let within = |section: &Value| section["data_offsets"][1].as_u64().is_some_and(|end| end <= length);
    match sections.iter().find(|(name, section)| *name != "__metadata__" && !within(section)) {
        Some((name, _)) => Err(format!("its section '{name}' reaches beyond the end of the file")),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::open;

    fn file(header: &str, data: usize) -> Vec<u8> {
        [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), &vec![0; data]].concat()
    }

    #[test]
    fn a_plain_file_is_opened() {
        let bytes = file(r#"{"a":{"dtype":"U8","shape":[3],"data_offsets":[0,3]}}"#, 3);
        assert_eq!(open(&bytes).unwrap().tensor("a").unwrap().shape(), [3]);
    }

    #[test]
    fn claims_beyond_the_file_are_refused() {
        let huge = r#"{"a":{"dtype":"U8","shape":[18446744073709551615],"data_offsets":[0,18446744073709551615]}}"#;
        assert!(open(&file(huge, 3)).unwrap_err().contains("beyond the end"));
        assert!(open(&(1_u64 << 40).to_le_bytes()).unwrap_err().contains("claims"));
        assert!(open(&100_u64.to_le_bytes()).unwrap_err().contains("shorter"));
        assert!(open(&[0; 7]).unwrap_err().contains("shorter"));
        assert!(open(&file("[]", 0)).unwrap_err().contains("no JSON object"));
    }
}
