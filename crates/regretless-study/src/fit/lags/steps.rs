//! Times as numbers of periods: the distance between two periods is a number, a span of time or
//! some months.

use regretless::data::RowTimes;
use time::{Date, Duration, Month, PrimitiveDateTime, Time};

const SECONDS_PER_DAY: f64 = 86_400.0;
/// Share of a period by which a time may be off its grid: rounding, not another period.
const GRID_TOLERANCE: f64 = 1e-3;
/// Most missing periods as a share of all: with more, the rows of a lag are often absent, as on
/// days off.
const MAX_MISSING_SHARE: f64 = 0.02;
/// Length of `2026-01`, the part of a date that months count.
const MONTH_LENGTH: usize = 7;

/// The distance between two periods.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum PeriodStep {
    /// Where times are numbers.
    Number(f64),
    Seconds(f64),
    Months(i64),
}

/// The period of every row, counted from the first one.
#[derive(Debug, Clone)]
pub(super) struct PeriodNumbers {
    pub step: PeriodStep,
    /// By row.
    pub numbers: Vec<i64>,
}

impl PeriodNumbers {
    /// The periods of regular times; `None` where times have no common distance or too many periods
    /// are missing.
    pub fn of(times: &RowTimes, rows: usize) -> Option<Self> {
        let months: Option<Vec<f64>> = (0..rows).map(|row| month_of(times, row)).collect();
        if let Some(months) = months.filter(|_| times.are_dates()) {
            let (step, numbers) = on_grid(&months)?;
            return Some(Self {
                step: PeriodStep::Months(step as i64),
                numbers,
            });
        }
        let values: Vec<f64> = (0..rows).map(|row| times.number(row)).collect();
        let (step, numbers) = on_grid(&values)?;
        let step = if times.are_dates() {
            PeriodStep::Seconds(step)
        } else {
            PeriodStep::Number(step)
        };
        Some(Self { step, numbers })
    }
}

impl PeriodStep {
    /// Periods after which costs are usually alike: a week of days, a day of hours, a year of
    /// months.
    pub fn usual_season(self) -> Option<usize> {
        match self {
            Self::Number(_) => None,
            Self::Months(months) if 12 % months == 0 => Some((12 / months) as usize),
            Self::Months(_) => None,
            Self::Seconds(seconds) if seconds == SECONDS_PER_DAY => Some(7),
            Self::Seconds(seconds) => {
                let periods = SECONDS_PER_DAY / seconds;
                (periods > 1.0 && periods.fract() == 0.0).then_some(periods as usize)
            }
        }
    }

    /// The time some periods after another one, written as that one is; `None` where it cannot be
    /// written.
    pub fn later(self, text: &str, periods: usize) -> Option<String> {
        let count = i64::try_from(periods).ok()?;
        match self {
            Self::Number(step) => {
                let number: f64 = text.parse().ok()?;
                Some((number + step * periods as f64).to_string())
            }
            Self::Months(step) => {
                let [year, month] = [text.get(..4)?, text.get(5..MONTH_LENGTH)?];
                let months = year.parse::<i64>().ok()? * 12 + month.parse::<i64>().ok()? - 1;
                let later = months + step * count;
                let rest = &text[MONTH_LENGTH..];
                Some(format!("{:04}-{:02}{rest}", later / 12, later % 12 + 1))
            }
            Self::Seconds(step) => later_clock(text, Duration::seconds_f64(step * periods as f64)),
        }
    }
}

/// The month of a row, if its time is a date of a month: all rows of a table of months have the
/// same day and time of day.
fn month_of(times: &RowTimes, row: usize) -> Option<f64> {
    let (text, first) = (times.text(row), times.text(0));
    if text.get(MONTH_LENGTH..)? != first.get(MONTH_LENGTH..)? {
        return None;
    }
    let year: f64 = text.get(..4)?.parse().ok()?;
    let month: f64 = text.get(5..MONTH_LENGTH)?.parse().ok()?;
    Some(12.0 * year + month)
}

/// The usual distance of these values and the number of each on the grid of this distance.
fn on_grid(values: &[f64]) -> Option<(f64, Vec<i64>)> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.dedup();
    let first = *sorted.first()?;
    let mut distances: Vec<f64> = sorted.windows(2).map(|pair| pair[1] - pair[0]).collect();
    distances.sort_by(f64::total_cmp);
    let step = *distances.get(distances.len() / 2)?;
    let number = |value: f64| {
        let periods = (value - first) / step;
        let is_on_grid = (periods - periods.round()).abs() <= GRID_TOLERANCE;
        is_on_grid.then_some(periods.round() as i64)
    };
    let last = number(*sorted.last()?)?;
    let missing = (last + 1) as f64 - sorted.len() as f64;
    if missing > MAX_MISSING_SHARE * sorted.len() as f64 {
        return None;
    }
    let numbers: Option<Vec<i64>> = values.iter().map(|value| number(*value)).collect();
    Some((step, numbers?))
}

/// A date or date-time after some time, in the form of the first one; a time zone stays.
fn later_clock(text: &str, span: Duration) -> Option<String> {
    let number = |range: std::ops::Range<usize>| text.get(range)?.parse::<u8>().ok();
    let year: i32 = text.get(..4)?.parse().ok()?;
    let month = Month::try_from(number(5..7)?).ok()?;
    let date = Date::from_calendar_date(year, month, number(8..10)?).ok()?;
    let has_clock = text.len() > 10;
    let has_seconds = text.as_bytes().get(16) == Some(&b':');
    let clock = match (has_clock, has_seconds) {
        (false, _) => Time::MIDNIGHT,
        (true, false) => Time::from_hms(number(11..13)?, number(14..16)?, 0).ok()?,
        (true, true) => Time::from_hms(number(11..13)?, number(14..16)?, number(17..19)?).ok()?,
    };
    let later = PrimitiveDateTime::new(date, clock).checked_add(span)?;
    let day = format!(
        "{:04}-{:02}-{:02}",
        later.year(),
        u8::from(later.month()),
        later.day()
    );
    if !has_clock && later.time() == Time::MIDNIGHT {
        return Some(day);
    }
    let between = if has_clock { &text[10..11] } else { "T" };
    let time = format!("{day}{between}{:02}:{:02}", later.hour(), later.minute());
    Some(if has_seconds {
        format!("{time}:{:02}{}", later.second(), &text[19..])
    } else {
        format!("{time}{}", text.get(16..).unwrap_or_default())
    })
}

#[cfg(test)]
mod tests {
    use super::{PeriodNumbers, PeriodStep};
    use regretless::data::RowTimes;

    fn numbers(times: &[&str]) -> Option<PeriodNumbers> {
        let mut parsed = RowTimes::default();
        for time in times {
            parsed.push(time).unwrap();
        }
        PeriodNumbers::of(&parsed, times.len())
    }

    #[test]
    fn days_hours_months_and_numbers_are_counted_and_others_are_irregular() {
        let days = numbers(&["2024-02-28", "2024-03-01", "2024-02-29"]).unwrap();
        assert_eq!(
            (days.numbers.as_slice(), days.step.usual_season()),
            ([0, 2, 1].as_slice(), Some(7))
        );
        let hours = numbers(&["2024-01-01T23:00", "2024-01-02T00:00"]).unwrap();
        assert_eq!(hours.step.usual_season(), Some(24));
        let months = numbers(&["2024-01-15", "2024-02-15", "2024-03-15"]).unwrap();
        assert_eq!(months.step, PeriodStep::Months(1));
        assert_eq!(
            numbers(&["1", "2", "3"]).unwrap().step,
            PeriodStep::Number(1.0)
        );
        assert!(numbers(&["2024-01-01", "2024-01-02", "2024-01-09", "2024-01-10"]).is_none());
        assert!(numbers(&["1", "2", "3.5", "4.5"]).is_none());
    }

    #[test]
    fn later_times_are_written_like_the_earlier_ones() {
        let day = PeriodStep::Seconds(86_400.0);
        let hour = PeriodStep::Seconds(3600.0);
        for (step, text, periods, expected) in [
            (day, "2024-02-28", 2, "2024-03-01"),
            (hour, "2024-12-31T23:00", 1, "2025-01-01T00:00"),
            (hour, "2024-12-31", 1, "2024-12-31T01:00"),
            (
                hour,
                "2024-05-05 22:30:00+02:00",
                3,
                "2024-05-06 01:30:00+02:00",
            ),
            (PeriodStep::Months(1), "2024-12", 2, "2025-02"),
            (PeriodStep::Months(1), "2024-11-15", 1, "2024-12-15"),
            (PeriodStep::Number(5.0), "7", 2, "17"),
        ] {
            assert_eq!(
                step.later(text, periods).as_deref(),
                Some(expected),
                "{text}"
            );
        }
    }
}
