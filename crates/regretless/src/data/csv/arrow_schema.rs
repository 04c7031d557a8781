//! The time zones of the columns of a Parquet file. Parquet stores times with a zone in UTC and not
//! the zone itself, which Arrow's writers (pyarrow, pandas, polars) add as their own schema: a
//! message of Arrow's IPC format in base64, which is a FlatBuffer (format/Schema.fbs of Arrow).

use std::collections::HashMap;
use std::fs::File;
use std::path::Path;

use parquet::file::reader::{FileReader, SerializedFileReader};

/// Names of the zones whose clock shows UTC.
const UTC_NAMES: [&str; 6] = ["UTC", "Etc/UTC", "GMT", "Etc/GMT", "Z", "+00:00"];

/// The number of `Timestamp` among the types of a field.
const TIMESTAMP_TYPE: u8 = 10;

/// The zone that a column's times were written in, if its clock shows another time than UTC and the
/// file says so.
pub(super) fn time_zone(path: &Path, column: &str) -> Option<String> {
    let reader = SerializedFileReader::new(File::open(path).ok()?).ok()?;
    let entries = reader.metadata().file_metadata().key_value_metadata()?;
    let schema = entries.iter().find(|entry| entry.key == "ARROW:schema")?;
    let message = decoded_base64(schema.value.as_deref()?)?;
    let zone = time_zones(&message)?.remove(column)?;
    (!UTC_NAMES.contains(&zone.as_str())).then_some(zone)
}

/// The zones of the columns in a message, by name.
fn time_zones(message: &[u8]) -> Option<HashMap<String, String>> {
    // Behind a marker, which old writers leave out, and the length.
    let start = if message.get(..4)? == [0xFF; 4] { 8 } else { 4 };
    let buffer = FlatBuffer(message.get(start..)?);
    let fields = buffer
        .root()?
        .table(2)
        .and_then(|schema| schema.tables(1))?;
    let mut zones = HashMap::new();
    for field in fields {
        let zone = field
            .table(3)
            .filter(|_| field.byte(2) == Some(TIMESTAMP_TYPE))
            .and_then(|timestamp| timestamp.text(1));
        if let (Some(name), Some(zone)) = (field.text(0), zone) {
            zones.insert(name, zone);
        }
    }
    Some(zones)
}

/// Bytes of a FlatBuffer. Every read is checked: `None` if the buffer is damaged.
#[derive(Clone, Copy)]
struct FlatBuffer<'a>(&'a [u8]);

/// A table in a FlatBuffer, by its position.
#[derive(Clone, Copy)]
struct FlatTable<'a> {
    buffer: FlatBuffer<'a>,
    position: usize,
}

impl<'a> FlatBuffer<'a> {
    fn bytes<const N: usize>(self, at: usize) -> Option<[u8; N]> {
        let end = at.checked_add(N)?;
        self.0.get(at..end)?.try_into().ok()
    }

    fn number(self, at: usize) -> Option<usize> {
        usize::try_from(u32::from_le_bytes(self.bytes(at)?)).ok()
    }

    /// The position that an offset leads to.
    fn target(self, at: usize) -> Option<usize> {
        at.checked_add(self.number(at)?)
    }

    fn root(self) -> Option<FlatTable<'a>> {
        let position = self.target(0)?;
        Some(FlatTable {
            buffer: self,
            position,
        })
    }
}

impl<'a> FlatTable<'a> {
    /// The position of a field; `None` if it has no value.
    fn field(self, number: usize) -> Option<usize> {
        let to_fields = i32::from_le_bytes(self.buffer.bytes(self.position)?);
        let fields = i64::try_from(self.position).ok()? - i64::from(to_fields);
        let fields = usize::try_from(fields).ok()?;
        let size = u16::from_le_bytes(self.buffer.bytes(fields)?);
        let entry = 4 + 2 * number;
        if entry + 2 > usize::from(size) {
            return None;
        }
        let offset = u16::from_le_bytes(self.buffer.bytes(fields + entry)?);
        (offset > 0).then(|| self.position + usize::from(offset))
    }

    fn byte(self, number: usize) -> Option<u8> {
        self.buffer.bytes(self.field(number)?).map(|[byte]| byte)
    }

    fn table(self, number: usize) -> Option<Self> {
        let position = self.buffer.target(self.field(number)?)?;
        Some(Self { position, ..self })
    }

    fn tables(self, number: usize) -> Option<Vec<Self>> {
        let list = self.buffer.target(self.field(number)?)?;
        let count = self.buffer.number(list)?;
        let mut tables = Vec::new();
        for entry in 0..count {
            let position = self.buffer.target(list + 4 + 4 * entry)?;
            tables.push(Self { position, ..self });
        }
        Some(tables)
    }

    fn text(self, number: usize) -> Option<String> {
        let start = self.buffer.target(self.field(number)?)?;
        let length = self.buffer.number(start)?;
        let text = self.buffer.0.get(start + 4..)?.get(..length)?;
        String::from_utf8(text.to_vec()).ok()
    }
}

/// The bytes of a text in base64 (RFC 4648).
fn decoded_base64(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut count) = (0_u32, 0);
    for digit in text.trim_end_matches('=').bytes() {
        let value = match digit {
            b'A'..=b'Z' => digit - b'A',
            b'a'..=b'z' => digit - b'a' + 26,
            b'0'..=b'9' => digit - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        bits = (bits << 6) | u32::from(value);
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count) as u8);
            bits &= (1 << count) - 1;
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::{decoded_base64, time_zones};

    /// Written by pyarrow: the columns `t` in Europe/Berlin, `u` in UTC, `n` without a zone and the
    /// number `x`.
    const SCHEMA: &str = "\
        /////yABAAAQAAAAAAAKAAwABgAFAAgACgAAAAABBAAMAAAACAAIAAAABAAIAAAABAAAAAQAAACoAAAAYAAA\
        ADAAAAAEAAAAeP///wAAAQMQAAAAFAAAAAQAAAAAAAAAAQAAAHgAAADa////AAACAKD///8AAAEKEAAAABgA\
        AAAEAAAAAAAAAAEAAABuAAYACAAGAAYAAAAAAAIAzP///wAAAQoQAAAAFAAAAAQAAAAAAAAAAQAAAHUAAAC8\
        ////AAABAAQAAAADAAAAVVRDABAAFAAIAAYABwAMAAAAEAAQAAAAAAABChAAAAAcAAAABAAAAAAAAAABAAAA\
        dAAAAAgADAAGAAgACAAAAAAAAgAEAAAADQAAAEV1cm9wZS9CZXJsaW4AAAA=";

    #[test]
    fn zones_are_those_of_the_columns_that_have_one() {
        let zones = time_zones(&decoded_base64(SCHEMA).unwrap()).unwrap();
        assert_eq!(zones.len(), 2, "{zones:?}");
        assert_eq!((&*zones["t"], &*zones["u"]), ("Europe/Berlin", "UTC"));
    }

    #[test]
    fn damaged_schemas_have_no_zones_and_do_no_harm() {
        let message = decoded_base64(SCHEMA).unwrap();
        for end in 0..message.len() {
            let _ = time_zones(&message[..end]);
        }
        for place in 0..message.len() {
            let mut damaged = message.clone();
            damaged[place] ^= 0x5A;
            let _ = time_zones(&damaged);
        }
        assert_eq!(decoded_base64("a?"), None);
    }
}
