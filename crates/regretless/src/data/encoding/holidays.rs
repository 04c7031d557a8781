//! Holidays in a text file: one date per line, in any column of a CSV file.

use std::fs;
use std::path::Path;

use super::FeatureOptions;
use super::calendar::day_of_text;
use crate::error::{Error, InputPlace, Result};

/// Most bytes of a file of holidays. Untuned: far more than anybody writes.
const MAX_HOLIDAY_BYTES: u64 = 10_000_000;

impl FeatureOptions {
    /// Reads the dates of a file: the first date of every line. The first line may be a header.
    ///
    /// # Errors
    /// When the file cannot be read, or another line than the first has no date.
    pub fn read_holidays(path: &Path) -> Result<Vec<String>> {
        // Before it is read: a path to another file could be that of a large one.
        let size = fs::metadata(path).map_err(Error::io(path))?.len();
        if size > MAX_HOLIDAY_BYTES {
            let message = format!("a list of holidays has at most {MAX_HOLIDAY_BYTES} bytes");
            return Err(Error::input(InputPlace::file(path), message));
        }
        let text = fs::read_to_string(path).map_err(Error::io(path))?;
        let mut dates = Vec::new();
        // Spreadsheets begin text files with a byte order mark.
        for (number, line) in text.trim_start_matches('\u{feff}').lines().enumerate() {
            let cells = line.split([',', ';', '\t']);
            let mut cells = cells.map(|cell| cell.trim().trim_matches('"'));
            match cells.find(|cell| day_of_text(cell).is_some()) {
                Some(date) => dates.push(date.to_owned()),
                None if number == 0 || line.trim().is_empty() => {}
                None => {
                    let place = InputPlace::file(path).row(number as u64 + 1);
                    return Err(Error::input(place, "there is no date in this line")
                        .with_remedy("write dates such as 2026-12-25"));
                }
            }
        }
        if dates.is_empty() {
            return Err(Error::input(
                InputPlace::file(path),
                "there is no date in this file",
            ));
        }
        Ok(dates)
    }
}

#[cfg(test)]
mod tests {
    use super::FeatureOptions;

    #[test]
    fn dates_are_read_from_any_column_and_other_lines_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("holidays.csv");
        std::fs::write(
            &file,
            "name,date\r\nChristmas,\"2026-12-25\"\r\n\r\nNew Year,2027-01-01\r\n",
        )
        .unwrap();
        let dates = FeatureOptions::read_holidays(&file).unwrap();
        assert_eq!(dates, ["2026-12-25", "2027-01-01"]);
        std::fs::write(&file, "2026-12-25\n26.12.2026\n").unwrap();
        let error = FeatureOptions::read_holidays(&file)
            .unwrap_err()
            .to_string();
        assert!(error.contains("row 2"), "{error}");
        std::fs::write(&file, "date\n").unwrap();
        assert!(FeatureOptions::read_holidays(&file).is_err());
    }
}
