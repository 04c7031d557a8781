//! Irish electricity prices of 2011 to 2013: half-hours of 789 days, eight features each.
//!
//! Reads `prices2013.dat` as published by the ICON challenge on energy-aware scheduling
//! (uncompressed or gzipped): two quoted
//! words, then sixteen numbers per line. A carbon intensity of 0 is a missing value and is
//! interpolated; days with other missing values are skipped. The 48-item knapsack has its values in
//! a separate CSV file, weights in its first line.

use std::io::Read;
use std::path::Path;

use super::{Dataset, FeatureShape, Features, Matrix};
use crate::error::{Error, InputPlace, Result};
use crate::random::NumpyRandomState;

/// Half-hours of a day.
pub const SLOTS_PER_DAY: usize = 48;
/// Names of the features, and their positions among the numbers of a line.
const FEATURES: [(&str, usize); 8] = [
    ("HolidayFlag", 0),
    ("DayOfWeek", 1),
    ("WeekOfYear", 2),
    ("Month", 4),
    ("ForecastWindProduction", 7),
    ("SystemLoadEA", 8),
    ("SMPEA", 9),
    ("CO2Intensity", 12),
];
/// Position of the price among the numbers of a line.
const PRICE_FIELD: usize = 15;
/// Numbers of a line.
const VALUES_PER_LINE: usize = 16;
/// Index of the feature that is interpolated, the carbon intensity.
const INTENSITY_FEATURE: usize = 7;

/// Days of prices and their features.
#[derive(Debug, Clone, PartialEq)]
pub struct EnergyPrices {
    /// One entry per half-hour.
    features: Vec<[f64; 8]>,
    prices: Vec<f64>,
}

impl EnergyPrices {
    /// Reads the table of prices.
    ///
    /// # Errors
    /// When the file cannot be read or a line is invalid; the error has the line.
    pub fn read(path: &Path) -> Result<Self> {
        let text = read_text(path)?;
        Self::parse(&text)
            .map_err(|message| Error::setting(format!("{}: {message}", path.display())))
    }

    fn parse(text: &str) -> std::result::Result<Self, String> {
        let lines = text
            .lines()
            .enumerate()
            .filter(|(_, line)| !line.starts_with('#') && !line.trim().is_empty());
        let rows = lines.map(|(number, line)| {
            numbers(line).ok_or_else(|| {
                format!(
                    "line {}: two quoted words and {VALUES_PER_LINE} numbers are needed",
                    number + 1
                )
            })
        });
        let rows: Vec<[f64; VALUES_PER_LINE]> = rows.collect::<std::result::Result<_, String>>()?;
        if rows.is_empty() || !rows.len().is_multiple_of(SLOTS_PER_DAY) {
            return Err(format!(
                "{} half-hours are not a multiple of {SLOTS_PER_DAY}",
                rows.len()
            ));
        }
        let mut features: Vec<[f64; 8]> = rows
            .iter()
            .map(|row| FEATURES.map(|(_, field)| row[field]))
            .collect();
        interpolate(&mut features);
        let mut days = Self {
            features: Vec::new(),
            prices: Vec::new(),
        };
        for (day, numbers) in features
            .chunks_exact(SLOTS_PER_DAY)
            .zip(rows.chunks_exact(SLOTS_PER_DAY))
        {
            let complete = day.iter().flatten().all(|v| v.is_finite())
                && numbers.iter().all(|row| row[PRICE_FIELD].is_finite());
            if complete {
                days.features.extend_from_slice(day);
                days.prices
                    .extend(numbers.iter().map(|row| row[PRICE_FIELD]));
            }
        }
        Ok(days)
    }

    /// Days without missing values.
    pub fn days(&self) -> usize {
        self.prices.len() / SLOTS_PER_DAY
    }

    /// Features and prices of every half-hour, day by day.
    #[cfg(test)]
    pub fn half_hours(&self) -> (&[[f64; 8]], &[f64]) {
        (&self.features, &self.prices)
    }

    /// One instance per day, in an order that depends on the seed: the costs are the prices, or
    /// `values` of the same days.
    ///
    /// # Errors
    /// When there are not as many values as half-hours.
    pub fn instances(&self, values: Option<&[f64]>, rows: usize, seed: u32) -> Result<Dataset> {
        let values = values.unwrap_or(&self.prices);
        if values.len() != self.prices.len() || rows > self.days() {
            let message = format!(
                "{rows} days of {} values are requested",
                values.len() / SLOTS_PER_DAY
            );
            return Err(Error::setting(format!(
                "{message}, but there are {} days",
                self.days()
            )));
        }
        let mut order = NumpyRandomState::new(seed).permutation(self.days());
        order.truncate(rows);
        let slots = order
            .iter()
            .flat_map(|day| day * SLOTS_PER_DAY..(day + 1) * SLOTS_PER_DAY);
        let features: Vec<f64> = slots.clone().flat_map(|slot| self.features[slot]).collect();
        let costs: Vec<f64> = slots.map(|slot| values[slot]).collect();
        let names = FEATURES
            .iter()
            .map(|(name, _)| (*name).to_string())
            .collect();
        let features = Matrix::from_f64(rows * SLOTS_PER_DAY, 8, &features)?;
        let features = Features::new(
            features,
            FeatureShape::Long {
                items: SLOTS_PER_DAY,
            },
            Some(names),
        )?;
        Dataset::new(
            features,
            Matrix::from_f64(rows, SLOTS_PER_DAY, &costs)?,
            None,
        )
    }
}

/// Weights of the 48 items, and their values day by day.
///
/// # Errors
/// When the file cannot be read or a line is invalid.
pub fn read_items(path: &Path) -> Result<(Vec<f64>, Vec<f64>)> {
    let text = read_text(path)?;
    let invalid = |line: usize| {
        Error::setting(format!(
            "{}: line {}: a word and {SLOTS_PER_DAY} numbers are needed",
            path.display(),
            line + 1
        ))
    };
    let mut weights = None;
    let mut values = Vec::new();
    for (number, line) in text.lines().enumerate() {
        if line.is_empty() {
            continue;
        }
        let fields = line.split(',').skip(1);
        let row: Option<Vec<f64>> = fields.map(|field| field.trim().parse().ok()).collect();
        let row = row.filter(|row| row.len() == SLOTS_PER_DAY);
        let row = row.ok_or_else(|| invalid(number))?;
        match weights {
            None => weights = Some(row),
            Some(_) => values.extend(row),
        }
    }
    Ok((weights.ok_or_else(|| invalid(0))?, values))
}

/// Largest file of energy data, unpacked, in bytes. The known ones have 5 MB; a packed file of a
/// few megabytes can unpack to any size.
const MAX_FILE_BYTES: u64 = 100_000_000;

/// All bytes of a reader, if there are not too many.
fn read_bounded(from: impl Read, path: &Path) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(MAX_FILE_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(Error::io(path))?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        let message = format!("has more than {MAX_FILE_BYTES} bytes (unpacked)");
        return Err(Error::input(InputPlace::file(path), message)
            .with_remedy("energy data have about 5 million"));
    }
    Ok(bytes)
}

/// The text of a file, decompressed if necessary.
fn read_text(path: &Path) -> Result<String> {
    let file = std::fs::File::open(path).map_err(Error::io(path))?;
    let bytes = read_bounded(file, path)?;
    let bytes = match bytes.starts_with(&[0x1f, 0x8b]) {
        true => read_bounded(flate2::read::GzDecoder::new(&bytes[..]), path)?,
        false => bytes,
    };
    String::from_utf8(bytes)
        .map_err(|_| Error::setting(format!("{}: the file is not text", path.display())))
}

/// The numbers after two quoted words; missing ones are `NaN`.
fn numbers(line: &str) -> Option<[f64; VALUES_PER_LINE]> {
    let after_quotes = line.rsplit('"').next()?;
    let numbers: Option<Vec<f64>> = after_quotes
        .split_whitespace()
        .map(|word| word.parse().ok())
        .collect();
    numbers?.try_into().ok()
}

/// Replaces carbon intensities of 0 by linear interpolation.
fn interpolate(features: &mut [[f64; 8]]) {
    let mut last_known: Option<usize> = None;
    for slot in 0..features.len() {
        if features[slot][INTENSITY_FEATURE] == 0.0 || features[slot][INTENSITY_FEATURE].is_nan() {
            features[slot][INTENSITY_FEATURE] = f64::NAN;
            continue;
        }
        if let Some(before) = last_known.filter(|before| before + 1 < slot) {
            let (from, to) = (
                features[before][INTENSITY_FEATURE],
                features[slot][INTENSITY_FEATURE],
            );
            for (steps, row) in features[before..slot].iter_mut().enumerate().skip(1) {
                row[INTENSITY_FEATURE] = from + steps as f64 / (slot - before) as f64 * (to - from);
            }
        }
        last_known = Some(slot);
    }
}
