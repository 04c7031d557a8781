//! Times of rows, by which a table is split: dates and date-times of ISO 8601, or numbers.

use std::cmp::Ordering;

use chrono::NaiveDate;

/// The times of all rows of a table.
#[derive(Debug, Default)]
pub struct RowTimes {
    values: Vec<TimeValue>,
    /// The times as they are written.
    texts: Vec<String>,
}

/// One time; values of different kinds are never compared.
#[derive(Debug, Clone, Copy, PartialEq)]
enum TimeValue {
    /// Any finite number, such as a day's number or a Unix time.
    Number(f64),
    /// Nanoseconds since 1970-01-01T00:00.
    Date {
        nanoseconds: i128,
        /// Whether the time has a time zone, so it is in UTC here.
        is_zoned: bool,
    },
}

const NANOSECONDS_PER_SECOND: i128 = 1_000_000_000;
pub(super) const SECONDS_PER_DAY: i64 = 86_400;

impl RowTimes {
    /// Adds the time of the next row.
    ///
    /// # Errors
    /// A message when the text is no time, or a time of another kind than those before.
    pub fn push(&mut self, text: &str) -> Result<(), String> {
        let text = text.trim();
        let value = TimeValue::parse(text)?;
        if let (Some(first), Some(first_text)) = (self.values.first(), self.texts.first())
            && !value.has_kind_of(*first)
        {
            return Err(format!(
                "'{text}' cannot be compared with '{first_text}' of the first row; write all times \
                 as numbers, as dates without a time zone, or as dates with one"
            ));
        }
        self.values.push(value);
        self.texts.push(text.to_owned());
        Ok(())
    }

    /// Number of rows.
    pub(crate) fn len(&self) -> usize {
        self.values.len()
    }

    /// Row numbers from the earliest to the latest; rows of one time are in the table's order.
    pub fn sorted_rows(&self) -> Vec<usize> {
        let mut rows: Vec<usize> = (0..self.len()).collect();
        rows.sort_by(|a, b| self.compare(*a, *b));
        rows
    }

    /// Whether every row is later than the one before it in the table.
    pub fn are_increasing(&self) -> bool {
        (1..self.len()).all(|row| self.compare(row - 1, row) == Ordering::Less)
    }

    /// The order of two rows in time.
    pub fn compare(&self, a: usize, b: usize) -> Ordering {
        match (self.values[a], self.values[b]) {
            (TimeValue::Number(a), TimeValue::Number(b)) => a.total_cmp(&b),
            (TimeValue::Date { nanoseconds: a, .. }, TimeValue::Date { nanoseconds: b, .. }) => {
                a.cmp(&b)
            }
            // `push` refuses values of different kinds.
            (TimeValue::Number(_), TimeValue::Date { .. })
            | (TimeValue::Date { .. }, TimeValue::Number(_)) => Ordering::Equal,
        }
    }

    /// Whether the times are dates or date-times, not numbers.
    pub fn are_dates(&self) -> bool {
        matches!(self.values.first(), Some(TimeValue::Date { .. }))
    }

    /// The time of a row as a number: seconds since 1970-01-01T00:00, or the number itself.
    pub fn number(&self, row: usize) -> f64 {
        match self.values[row] {
            TimeValue::Number(number) => number,
            TimeValue::Date { nanoseconds, .. } => nanoseconds as f64 * 1e-9,
        }
    }

    /// The time of a row for people, without a time of day that is midnight.
    pub fn text(&self, row: usize) -> &str {
        let text = self.texts[row].as_str();
        if let TimeValue::Number(_) = self.values[row] {
            return text;
        }
        let short = match text.split_once('.') {
            Some((seconds, fraction)) if fraction.bytes().all(|byte| byte == b'0') => seconds,
            _ => text,
        };
        match short.split_at_checked("2026-01-31".len()) {
            Some((date, "T00:00:00" | " 00:00:00" | "T00:00" | " 00:00")) => date,
            _ => short,
        }
    }
}

/// Whether a text is a date or date-time.
pub(crate) fn is_date(text: &str) -> bool {
    parse_date(text.trim()).is_some()
}

/// Seconds from 1970-01-01T00:00 to a date or date-time as the clock of its own time zone shows it;
/// `None` for other texts.
pub(crate) fn wall_clock_seconds(text: &str) -> Option<i64> {
    parse_civil_time(text).map(|time| time.seconds)
}

impl TimeValue {
    fn parse(text: &str) -> Result<Self, String> {
        if text.is_empty() {
            return Err("the cell is empty; every row needs a time".into());
        }
        if let Ok(number) = text.parse::<f64>() {
            return if number.is_finite() {
                // Negative zero would be earlier than zero.
                Ok(Self::Number(number + 0.0))
            } else {
                Err(format!("'{text}' is no time; every row needs one"))
            };
        }
        parse_date(text).ok_or_else(|| {
            let start: String = text.chars().take(40).collect();
            format!(
                "'{start}' is no time; write dates such as 2026-01-31 or 2026-01-31T18:30, or \
                 numbers"
            )
        })
    }

    fn has_kind_of(self, other: Self) -> bool {
        match (self, other) {
            (Self::Number(_), Self::Number(_)) => true,
            (
                Self::Date { is_zoned, .. },
                Self::Date {
                    is_zoned: other, ..
                },
            ) => is_zoned == other,
            (Self::Number(_), Self::Date { .. }) | (Self::Date { .. }, Self::Number(_)) => false,
        }
    }
}

fn parse_date(text: &str) -> Option<TimeValue> {
    let time = parse_civil_time(text)?;
    let seconds = time.seconds - time.offset.unwrap_or(0);
    Some(TimeValue::Date {
        nanoseconds: i128::from(seconds) * NANOSECONDS_PER_SECOND + i128::from(time.nanoseconds),
        is_zoned: time.offset.is_some(),
    })
}

/// A time as it is written.
struct CivilTime {
    /// Seconds since 1970-01-01T00:00 of the clock that shows it.
    seconds: i64,
    /// Nanoseconds since that second.
    nanoseconds: i64,
    /// Seconds that its time zone is ahead of UTC, if it has one.
    offset: Option<i64>,
}

/// A date (2026-01-31, or 2026-01 for a month) or a date-time with seconds, a fraction of them and
/// a time zone if they are given, separated by `T` or a space.
fn parse_civil_time(text: &str) -> Option<CivilTime> {
    let mut scanner = Scanner(text.as_bytes());
    let year = scanner.digits(4)?;
    scanner.expect(b'-')?;
    let month = scanner.digits(2)?;
    let mut day = 1;
    let (mut seconds, mut nanoseconds, mut offset) = (0, 0, None);
    if !scanner.is_at_end() {
        scanner.expect(b'-')?;
        day = scanner.digits(2)?;
        if scanner.take(b'T') || scanner.take(b' ') {
            (seconds, nanoseconds) = scanner.time_of_day()?;
            offset = scanner.zone()?;
        }
    }
    if !scanner.is_at_end() {
        return None;
    }
    let date = NaiveDate::from_ymd_opt(i32::try_from(year).ok()?, month, day)?;
    seconds += i64::from(date.to_epoch_days()) * SECONDS_PER_DAY;
    Some(CivilTime {
        seconds,
        nanoseconds,
        offset,
    })
}

/// The rest of a text that is parsed.
struct Scanner<'a>(&'a [u8]);

impl Scanner<'_> {
    fn is_at_end(&self) -> bool {
        self.0.is_empty()
    }

    /// Consumes this byte if it is the next one.
    fn take(&mut self, byte: u8) -> bool {
        match self.0.split_first() {
            Some((first, rest)) if *first == byte => {
                self.0 = rest;
                true
            }
            Some(_) | None => false,
        }
    }

    fn expect(&mut self, byte: u8) -> Option<()> {
        self.take(byte).then_some(())
    }

    /// A number of exactly this many digits, nine at most.
    fn digits(&mut self, count: usize) -> Option<u32> {
        let (digits, rest) = self.0.split_at_checked(count)?;
        let mut number = 0;
        for digit in digits {
            number = 10 * number + char::from(*digit).to_digit(10)?;
        }
        self.0 = rest;
        Some(number)
    }

    /// Seconds since midnight, and nanoseconds since that second.
    fn time_of_day(&mut self) -> Option<(i64, i64)> {
        let hour = self.digits(2)?;
        self.expect(b':')?;
        let minute = self.digits(2)?;
        let (mut second, mut fraction) = (0, 0);
        if self.take(b':') {
            second = self.digits(2)?;
            if self.take(b'.') {
                fraction = self.fraction()?;
            }
        }
        // A minute can have a leap second.
        let is_valid = hour < 24 && minute < 60 && second <= 60;
        is_valid.then_some((i64::from(3600 * hour + 60 * minute + second), fraction))
    }

    /// Nanoseconds of a fraction with up to nine digits.
    fn fraction(&mut self) -> Option<i64> {
        let count = self.0.iter().take_while(|byte| byte.is_ascii_digit());
        let count = count.count();
        if count == 0 || count > 9 {
            return None;
        }
        let exponent = u32::try_from(9 - count).ok()?;
        Some(i64::from(self.digits(count)?) * 10_i64.pow(exponent))
    }

    /// Seconds that a time zone is ahead of UTC; `Some(None)` if none is given.
    fn zone(&mut self) -> Option<Option<i64>> {
        if self.take(b'Z') {
            return Some(Some(0));
        }
        let sign = if self.take(b'+') {
            1
        } else if self.take(b'-') {
            -1
        } else {
            return Some(None);
        };
        let hours = self.digits(2)?;
        let mut minutes = 0;
        if !self.is_at_end() {
            self.take(b':');
            minutes = self.digits(2)?;
        }
        let is_valid = hours < 24 && minutes < 60;
        is_valid.then_some(Some(sign * i64::from(3600 * hours + 60 * minutes)))
    }
}

#[cfg(test)]
mod tests {
    use super::{RowTimes, TimeValue, is_date};

    fn seconds(text: &str) -> i128 {
        match TimeValue::parse(text).unwrap() {
            TimeValue::Date { nanoseconds, .. } => nanoseconds / 1_000_000_000,
            TimeValue::Number(number) => panic!("{number} is no date"),
        }
    }

    #[test]
    fn dates_become_seconds_since_1970() {
        // Compared with `date -u -d TEXT +%s`.
        for (text, expected) in [
            ("1970-01-01", 0),
            ("1969-12-31T23:59:59", -1),
            ("2024-02-29 12:00", 1_709_208_000),
            ("2025-10-27", 1_761_523_200),
            ("2025-10-27T01:30:00+02:00", 1_761_521_400),
            ("2025-10-26T23:30:00Z", 1_761_521_400),
            ("2000-03-01", 951_868_800),
            ("1900-03-01", -2_203_891_200),
            ("2025-10", 1_759_276_800),
        ] {
            assert_eq!(seconds(text), expected, "{text}");
        }
    }

    #[test]
    fn other_texts_are_no_times() {
        for text in [
            "",
            "nan",
            "inf",
            "27.10.2025",
            "10/27/2025",
            "2025-13-01",
            "2025-02-29",
            "1900-02-29",
            "2025-1-2",
            "2025-01-02T",
            "2025-01-02T25:00",
            "2025-01-02T10:60",
            "2025-01-02x",
            "2025-01-02T10:00:00.",
            "2025-01-02T10:00+2",
            "monday",
        ] {
            assert!(RowTimes::default().push(text).is_err(), "{text}");
            assert!(!is_date(text), "{text}");
        }
        assert!(is_date(" 2025-01-02 ") && !is_date("20250102"));
    }

    #[test]
    fn times_of_different_kinds_are_refused() {
        for [first, second] in [
            ["2025-01-01", "3"],
            ["3", "2025-01-01"],
            ["2025-01-01T00:00Z", "2025-01-02"],
        ] {
            let mut times = RowTimes::default();
            times.push(first).unwrap();
            assert!(times.push(second).is_err(), "{first} {second}");
        }
    }

    #[test]
    fn rows_are_sorted_by_value_and_ties_keep_their_order() {
        let mut times = RowTimes::default();
        for text in ["10", "9", "1e1", "-0.5"] {
            times.push(text).unwrap();
        }
        assert_eq!(times.sorted_rows(), [3, 1, 0, 2]);
        assert!(!times.are_increasing());
    }

    #[test]
    fn midnight_is_not_shown() {
        let mut times = RowTimes::default();
        for (text, shown) in [
            ("2025-10-27 00:00:00", "2025-10-27"),
            ("2025-10-28T00:00:00.000000000", "2025-10-28"),
            ("2025-10-28T10:00:00.000", "2025-10-28T10:00:00"),
            ("2025-10-29", "2025-10-29"),
        ] {
            times.push(text).unwrap();
            assert_eq!(times.text(times.len() - 1), shown);
        }
    }
}
