//! Examples on real data, which are part of the program.
//!
//! Prices and forecasts of the Irish electricity market by day, as means over hours
//! (`data/electricity.csv.gz`, made by `scripts/example-data`; origin and terms: `testdata/`).

use std::path::{Path, PathBuf};

use regretless::data::atomic_write::write_atomically;
use regretless_base::error::{Error, Result};

/// The table of all examples.
const ELECTRICITY: &[u8] = include_bytes!("../../data/electricity.csv.gz");
const TABLE_FILE_NAME: &str = "electricity.csv.gz";
const PROBLEM_FILE_NAME: &str = "problem.toml";

/// An example: a question, its problem, and a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FitExample {
    /// Its name.
    pub name: &'static str,
    /// The title of its page.
    pub title: &'static str,
    /// The unit of its costs.
    pub unit: &'static str,
    /// The pattern of its costs: forecasts have names that are alike.
    pub costs: &'static str,
    problem: &'static str,
}

/// All examples.
pub const FIT_EXAMPLES: [FitExample; 2] = [
    FitExample {
        name: "battery",
        title: "When to charge the battery, and when to sell?",
        unit: "EUR",
        costs: "price_*",
        problem: "\
# A battery of 10 MWh buys and sells on the next day's market, whose prices are unknown.
kind = \"storage\"
steps = 24
capacity = 10.0
charge_limit = 2.5             # MWh in an hour
discharge_limit = 2.5
charge_efficiency = 0.92
discharge_efficiency = 0.95
initial = 5.0                  # the level at midnight, which the next midnight has, too
",
    },
    FitExample {
        name: "machine",
        title: "In which eight hours should the machine run?",
        unit: "EUR",
        costs: "price_*",
        problem: "\
# A machine of 1 MW runs eight hours of the next day, whose prices are unknown.
kind = \"top_k\"
items = 24
k = 8
sense = \"minimize\"
",
    },
];

impl FitExample {
    /// The example of a name.
    ///
    /// # Errors
    /// When there is none.
    pub fn named(name: &str) -> Result<&'static Self> {
        let found = FIT_EXAMPLES.iter().find(|example| example.name == name);
        found.ok_or_else(|| Error::unknown("example", name, &FIT_EXAMPLES.map(|one| one.name)))
    }

    /// Writes table and problem into a folder and returns their files. Those that exist are
    /// replaced: they are the same.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn write(&self, folder: &Path) -> Result<[PathBuf; 2]> {
        std::fs::create_dir_all(folder).map_err(Error::io(folder))?;
        let files = [TABLE_FILE_NAME, PROBLEM_FILE_NAME].map(|name| folder.join(name));
        let contents = [ELECTRICITY, self.problem.as_bytes()];
        for (file, content) in files.iter().zip(contents) {
            write_atomically(file, true, |out| out.write_all(content))?;
        }
        Ok(files)
    }
}
