//! Weekday, day of the year and hour of a wall-clock time.
//!
//! Days are counted from 1970-01-01. A time zone is not applied: the weekday is that of the date as
//! it is written.

use chrono::{Datelike, NaiveDate};

use crate::data::row_times::{SECONDS_PER_DAY, wall_clock_seconds};

/// Names of the weekdays, the first day of a week being Monday (ISO 8601).
pub(super) const WEEKDAY_NAMES: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];

/// The day, counted from 1970-01-01, of a wall-clock time in seconds.
pub(super) fn day_of(seconds: i64) -> i64 {
    seconds.div_euclid(SECONDS_PER_DAY)
}

/// The day of a date as text.
pub(super) fn day_of_text(text: &str) -> Option<i64> {
    wall_clock_seconds(text.trim()).map(day_of)
}

fn date_of(day: i64) -> NaiveDate {
    let date = i32::try_from(day).ok().and_then(NaiveDate::from_epoch_days);
    // Texts have years of four digits, so only a damaged model file names a later day.
    date.unwrap_or(NaiveDate::MAX)
}

/// The weekday, from 0 for Monday to 6 for Sunday.
pub(super) fn weekday_of(seconds: i64) -> u8 {
    date_of(day_of(seconds)).weekday().num_days_from_monday() as u8
}

/// The hour of the day, from 0 to 23.
pub(super) fn hour_of(seconds: i64) -> u8 {
    (seconds.rem_euclid(SECONDS_PER_DAY) / 3600) as u8
}

/// The part of its year that has passed, from 0 to less than 1.
pub(super) fn year_fraction(seconds: i64) -> f64 {
    let date = date_of(day_of(seconds));
    let days_passed = i64::from(date.ordinal0());
    let length: i64 = if date.leap_year() { 366 } else { 365 };
    let passed = days_passed * SECONDS_PER_DAY + seconds.rem_euclid(SECONDS_PER_DAY);
    passed as f64 / (length * SECONDS_PER_DAY) as f64
}

/// The day of the month of a day, from 1.
pub(super) fn day_of_month(day: i64) -> i64 {
    i64::from(date_of(day).day())
}

/// The year of a day.
pub(super) fn year_of(day: i64) -> i64 {
    i64::from(date_of(day).year())
}

/// The date of a day as text.
pub(super) fn date_text(day: i64) -> String {
    date_of(day).to_string()
}

#[cfg(test)]
mod tests {
    use super::{date_text, day_of_month, day_of_text, hour_of, weekday_of, year_fraction};
    use crate::data::row_times::wall_clock_seconds;

    fn seconds(text: &str) -> i64 {
        wall_clock_seconds(text).unwrap()
    }

    #[test]
    fn weekdays_are_those_of_the_calendar() {
        // Compared with `date -d TEXT +%u`.
        for (text, weekday) in [
            ("1970-01-01", 3),
            ("1969-12-31", 2),
            ("2026-11-16", 0),
            ("2024-02-29T23:59", 3),
            ("1900-03-01", 3),
            ("2000-02-29", 1),
        ] {
            assert_eq!(weekday_of(seconds(text)), weekday, "{text}");
        }
        assert_eq!(hour_of(seconds("2026-01-01T18:30")), 18);
        // The hour is that of the clock, whatever the zone.
        assert_eq!(hour_of(seconds("2026-01-01T18:30+05:00")), 18);
    }

    #[test]
    fn days_read_back_as_their_dates() {
        for text in [
            "1969-12-31",
            "2000-02-29",
            "2100-03-01",
            "1600-01-01",
            "2026-12-31",
        ] {
            assert_eq!(date_text(day_of_text(text).unwrap()), text);
        }
        assert_eq!(day_of_month(day_of_text("2024-02-29").unwrap()), 29);
    }

    #[test]
    fn fractions_of_a_year_begin_in_january_and_stay_below_one() {
        assert_eq!(year_fraction(seconds("2026-01-01")), 0.0);
        assert_eq!(year_fraction(seconds("2024-07-02")), 0.5);
        let last = year_fraction(seconds("2024-12-31T23:59:59"));
        assert!(last < 1.0 && last > 0.999_99, "{last}");
    }
}
