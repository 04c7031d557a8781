//! California housing (Pace and Barry 1997): 20,640 census blocks, eight features each, the median
//! value in $100,000.
//!
//! The data are not included. The reader accepts the original nine raw columns (with a header or
//! without) or the eight derived ones with their target, as scikit-learn's loader returns them, and
//! checks the content: mean population 1425.4767 and the sum of all values. A variant in
//! circulation with 207 blank bedroom counts is refused.
//!
//! Instances are houses drawn with replacement from a fixed split of the blocks: a quarter for
//! testing, 33 % of the others for validation, by a seeded permutation.

use std::path::Path;

use super::{Dataset, FeatureShape, Features, Matrix};
use crate::error::{Error, Result};
use crate::random::{NumpyRandomState, Purpose, RandomStream};
use crate::size_limits::read_text_file;

/// Blocks in the full table.
const BLOCKS: usize = 20_640;
/// Blocks for training, validation and testing.
const PART_SIZES: [usize; 3] = [10_371, 5_109, 5_160];
/// Seed of both permutations of the published split.
const SPLIT_SEED: u32 = 42;
/// Mean population of a block, as published with the data, and the deviation that is rounding.
const MEAN_POPULATION: f64 = 1_425.476_744;
const POPULATION_TOLERANCE: f64 = 1e-5;
/// Sum of all median house values, in dollars.
const TOTAL_VALUE: f64 = 4_269_504_061.0;
/// Names of the derived features.
const NAMES: [&str; 8] = [
    "MedInc",
    "HouseAge",
    "AveRooms",
    "AveBedrms",
    "Population",
    "AveOccup",
    "Latitude",
    "Longitude",
];
/// The raw columns in the order of the original file, lower case without separators.
const RAW_COLUMNS: [&str; 9] = [
    "longitude",
    "latitude",
    "housingmedianage",
    "totalrooms",
    "totalbedrooms",
    "population",
    "households",
    "medianincome",
    "medianhousevalue",
];

/// All blocks: features and values, row by row.
#[derive(Debug, Clone, PartialEq)]
pub struct HousingTable {
    features: Vec<[f64; 8]>,
    values: Vec<f64>,
}

impl HousingTable {
    /// Reads and checks a file.
    ///
    /// # Errors
    /// When the file cannot be read, lacks a column, or is not the California housing table; the
    /// error has the difference.
    pub fn read(path: &Path) -> Result<Self> {
        let text = read_text_file(path)?;
        Self::parse(&text)
            .map_err(|message| Error::setting(format!("{}: {message}", path.display())))
    }

    fn parse(text: &str) -> std::result::Result<Self, String> {
        let mut lines = text
            .lines()
            .enumerate()
            .filter(|(_, line)| !line.trim().is_empty())
            .peekable();
        let columns = match lines.peek() {
            Some((_, line))
                if line.starts_with(|c: char| c.is_ascii_alphabetic() || c == '"' || c == ',') =>
            {
                let header = HousingColumns::from_header(line)?;
                lines.next();
                header
            }
            Some(_) => HousingColumns::Raw((0..9).collect()),
            None => return Err("the file is empty".into()),
        };
        let mut houses = Self {
            features: Vec::new(),
            values: Vec::new(),
        };
        for (number, line) in lines {
            let fields: Vec<&str> = line.split(',').map(str::trim).collect();
            let (features, value) = columns
                .house(&fields)
                .map_err(|m| format!("line {}: {m}", number + 1))?;
            houses.features.push(features);
            houses.values.push(value);
        }
        houses.check()?;
        Ok(houses)
    }

    /// Checks that this is the California housing table.
    fn check(&self) -> std::result::Result<(), String> {
        let hint = "scikit-learn's fetch_california_housing returns the right one";
        if self.values.len() != BLOCKS {
            return Err(format!(
                "{} blocks instead of {BLOCKS}; {hint}",
                self.values.len()
            ));
        }
        let value: f64 = self
            .values
            .iter()
            .map(|value| (value * 100_000.0).round())
            .sum();
        let population: f64 =
            self.features.iter().map(|house| house[4]).sum::<f64>() / BLOCKS as f64;
        let has_population = (population - MEAN_POPULATION).abs() <= POPULATION_TOLERANCE;
        if value != TOTAL_VALUE || !has_population {
            return Err(format!(
                "this is not the California housing table (its values add up to {value}); {hint}"
            ));
        }
        Ok(())
    }

    /// Blocks for training, validation and testing: numpy's permutations with seed 42, as two
    /// splits by scikit-learn.
    pub fn parts() -> [Vec<usize>; 3] {
        let [_, num_validation, num_test] = PART_SIZES;
        let first = NumpyRandomState::new(SPLIT_SEED).permutation(BLOCKS);
        let (test, others) = first.split_at(num_test);
        let second = NumpyRandomState::new(SPLIT_SEED).permutation(BLOCKS - num_test);
        let (validation, train) = second.split_at(num_validation);
        let blocks = |indices: &[usize]| indices.iter().map(|index| others[*index]).collect();
        [blocks(train), blocks(validation), test.to_vec()]
    }

    /// Instances of `houses` houses for training, validation and testing, each drawn from its own
    /// part; features are standardized on the training part.
    ///
    /// # Errors
    /// When the table would be empty.
    pub fn instances(&self, houses: usize, split: [usize; 3], seed: u32) -> Result<Dataset> {
        let parts = Self::parts();
        let (mean, scale) = self.mean_and_deviation();
        let mut stream = RandomStream::new(Purpose::Benchmark, u64::from(seed), [1, 0]);
        let (mut features, mut values) = (Vec::new(), Vec::new());
        for (part, instances) in parts.iter().zip(split) {
            for _ in 0..instances * houses {
                let block = part[stream.index_below(part.len())];
                let raw = self.features[block];
                features.extend((0..8).map(|k| ((raw[k] - mean[k]) / scale[k]) as f32));
                values.push(self.values[block] as f32);
            }
        }
        let rows: usize = split.iter().sum();
        let features = Matrix::new(rows * houses, 8, features)?;
        let names = NAMES.iter().map(|name| (*name).to_string()).collect();
        let features = Features::new(features, FeatureShape::Long { items: houses }, Some(names))?;
        Dataset::new(features, Matrix::new(rows, houses, values)?, None)
    }

    /// Mean and standard deviation of each feature over the training part.
    pub fn mean_and_deviation(&self) -> ([f64; 8], [f64; 8]) {
        let [blocks, _, _] = &Self::parts();
        let count = blocks.len() as f64;
        let mean = std::array::from_fn(|k| {
            blocks.iter().map(|b| self.features[*b][k]).sum::<f64>() / count
        });
        let variance = |k: usize, mean: f64| {
            blocks
                .iter()
                .map(|b| (self.features[*b][k] - mean).powi(2))
                .sum::<f64>()
        };
        (
            mean,
            std::array::from_fn(|k| (variance(k, mean[k]) / count).sqrt()),
        )
    }
}

/// The columns of a file.
enum HousingColumns {
    /// Indices of the raw columns.
    Raw(Vec<usize>),
    /// Indices of the derived columns and the target.
    Derived(Vec<usize>),
}

impl HousingColumns {
    fn from_header(header: &str) -> std::result::Result<Self, String> {
        let plain = |name: &str| {
            name.chars()
                .filter(char::is_ascii_alphanumeric)
                .collect::<String>()
                .to_ascii_lowercase()
        };
        let names: Vec<String> = header.split(',').map(plain).collect();
        let index = |name: &&str| names.iter().position(|known| *known == plain(name));
        let indices = |wanted: &[&str]| wanted.iter().map(index).collect::<Option<Vec<usize>>>();
        let derived: Vec<&str> = NAMES.iter().copied().chain(["MedHouseVal"]).collect();
        if let Some(columns) = indices(&RAW_COLUMNS) {
            return Ok(Self::Raw(columns));
        }
        indices(&derived).map(Self::Derived).ok_or_else(|| {
            format!(
                "columns are neither {} nor {}",
                RAW_COLUMNS.join(", "),
                derived.join(", ")
            )
        })
    }

    /// Features and value of a line.
    fn house(&self, fields: &[&str]) -> std::result::Result<([f64; 8], f64), String> {
        let number = |column: usize| {
            let field = fields
                .get(column)
                .ok_or_else(|| format!("only {} columns", fields.len()))?;
            if field.is_empty() {
                return Err(format!(
                    "column {} is blank; this is the variant with 207 blank bedroom counts, whose \
                     instances would differ from published ones",
                    column + 1
                ));
            }
            field
                .parse::<f64>()
                .ok()
                .filter(|v| v.is_finite())
                .ok_or_else(|| format!("'{field}' is not a number"))
        };
        match self {
            Self::Raw(columns) => {
                let raw = columns
                    .iter()
                    .map(|column| number(*column))
                    .collect::<std::result::Result<Vec<f64>, _>>()?;
                let [
                    longitude,
                    latitude,
                    age,
                    rooms,
                    bedrooms,
                    population,
                    households,
                    income,
                    value,
                ] = raw[..]
                else {
                    return Err("nine columns are needed".into());
                };
                let per_household = |total: f64| total / households;
                let features = [
                    income,
                    age,
                    per_household(rooms),
                    per_household(bedrooms),
                    population,
                    per_household(population),
                    latitude,
                    longitude,
                ];
                Ok((features, value / 100_000.0))
            }
            Self::Derived(columns) => {
                let numbers = columns
                    .iter()
                    .map(|column| number(*column))
                    .collect::<std::result::Result<Vec<f64>, _>>()?;
                Ok((std::array::from_fn(|k| numbers[k]), numbers[8]))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{HousingColumns, HousingTable};

    #[test]
    fn averages_are_per_household() {
        let raw = HousingColumns::Raw((0..9).collect());
        let fields = [
            "-122.23", "37.88", "41", "880", "129", "322", "126", "8.3252", "452600",
        ];
        let (features, value) = raw.house(&fields).unwrap();
        assert_eq!(
            features,
            [
                8.3252,
                41.0,
                880.0 / 126.0,
                129.0 / 126.0,
                322.0,
                322.0 / 126.0,
                37.88,
                -122.23
            ]
        );
        assert_eq!(value, 4.526);
    }

    #[test]
    fn other_tables_are_refused_with_a_reason() {
        let message = |text: &str| HousingTable::parse(text).unwrap_err();
        assert!(message("").contains("empty"));
        assert!(message("a,b,c\n1,2,3").contains("medianhousevalue"));
        assert!(message("-122.23,37.88,41,880,,322,126,8.3252,452600").contains("207"));
        assert!(
            message("-122.23,37.88,41,880,129,322,126,8.3252,x")
                .contains("line 1: 'x' is not a number")
        );
        assert!(
            message("-122.23,37.88,41,880,129,322,126,8.3252,452600")
                .contains("1 blocks instead of 20640")
        );
    }

    #[test]
    fn every_block_is_in_one_part() {
        let parts = HousingTable::parts();
        assert_eq!(parts.each_ref().map(Vec::len), [10_371, 5_109, 5_160]);
        let mut all: Vec<usize> = parts.concat();
        all.sort_unstable();
        assert!(all.into_iter().eq(0..20_640));
    }
}
