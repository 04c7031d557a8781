//! Examples on real data, which are part of the program. `scripts/example-data` makes their tables
//! from `testdata/`, whose README has origin and terms.
//!
//! * `data/electricity.csv.gz`: prices and forecasts of the Irish electricity market by day, as
//!   means over hours; `data/hours.csv` names the hours.
//! * `data/houses.csv.gz`: values of houses by block groups of the 1990 US census, with asking
//!   prices that are made up.

use std::path::{Path, PathBuf};

use regretless::data::atomic_write::write_atomically;
use regretless_base::error::{Error, Result};
use serde::Serialize;

/// A table that is part of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ExampleTable {
    file_name: &'static str,
    content: &'static [u8],
    /// What people call its costs, as a file.
    names: Option<&'static str>,
}

const ELECTRICITY: ExampleTable = ExampleTable {
    file_name: "electricity.csv.gz",
    content: include_bytes!("../../data/electricity.csv.gz"),
    names: Some(include_str!("../../data/hours.csv")),
};
const HOUSES: ExampleTable = ExampleTable {
    file_name: "houses.csv.gz",
    content: include_bytes!("../../data/houses.csv.gz"),
    names: None,
};
/// Forecasts have names that are like those of prices.
const PRICES: ExampleColumns = ExampleColumns {
    costs: Some("price_*"),
    instance_column: None,
    item_column: None,
    cost_column: None,
};
const PROBLEM_FILE_NAME: &str = "problem.toml";
const NAMES_FILE_NAME: &str = "names.csv";

/// An example: a question, its problem, and a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FitExample {
    /// Its name.
    pub name: &'static str,
    /// The title of its page.
    pub title: &'static str,
    /// The unit of its costs.
    pub unit: &'static str,
    /// What its columns are.
    pub columns: ExampleColumns,
    table: ExampleTable,
    problem: &'static str,
}

/// The settings of columns that names and values do not tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct ExampleColumns {
    /// The pattern of the costs.
    pub costs: Option<&'static str>,
    /// Of a long table, the column that names the instance.
    pub instance_column: Option<&'static str>,
    /// The one that names the item.
    pub item_column: Option<&'static str>,
    /// The one with the cost.
    pub cost_column: Option<&'static str>,
}

impl ExampleColumns {
    /// The flags of a command line.
    pub fn flags(&self) -> String {
        let flags = [
            ("costs", self.costs),
            ("instance-column", self.instance_column),
            ("item-column", self.item_column),
            ("cost-column", self.cost_column),
        ];
        let mut text = String::new();
        for (flag, columns) in flags {
            if let Some(columns) = columns {
                text += &format!(" --{flag} '{columns}'");
            }
        }
        text
    }
}

/// All examples.
pub const FIT_EXAMPLES: [FitExample; 3] = [
    FitExample {
        name: "battery",
        title: "When to charge the battery, and when to sell?",
        unit: "EUR",
        columns: PRICES,
        table: ELECTRICITY,
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
        columns: PRICES,
        table: ELECTRICITY,
        problem: "\
# A machine of 1 MW runs eight hours of the next day, whose prices are unknown.
kind = \"top_k\"
items = 24
k = 8
sense = \"minimize\"
",
    },
    FitExample {
        name: "houses",
        title: "Which houses to buy?",
        unit: "kUSD",
        columns: ExampleColumns {
            costs: None,
            instance_column: Some("week"),
            item_column: Some("house"),
            cost_column: Some("value"),
        },
        table: HOUSES,
        problem: "\
# Offers and budget differ from week to week. A house earns its unknown value minus its price.
kind = \"knapsack\"
weights = { column = \"price\" }
capacity = { column = \"budget\" }
known = { column = \"price\", factor = -1 }
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

    /// Writes the files into a folder. Those that exist are replaced: they are the same.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn write(&self, folder: &Path) -> Result<ExampleFiles> {
        std::fs::create_dir_all(folder).map_err(Error::io(folder))?;
        let write = |name: &str, content: &[u8]| {
            let file = folder.join(name);
            write_atomically(&file, true, |out| out.write_all(content))?;
            Ok(file)
        };
        let names = self.table.names;
        Ok(ExampleFiles {
            table: write(self.table.file_name, self.table.content)?,
            problem: write(PROBLEM_FILE_NAME, self.problem.as_bytes())?,
            names: names
                .map(|names| write(NAMES_FILE_NAME, names.as_bytes()))
                .transpose()?,
        })
    }
}

/// The files of an example.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExampleFiles {
    /// The table.
    pub table: PathBuf,
    /// The problem.
    pub problem: PathBuf,
    /// What people call the costs.
    pub names: Option<PathBuf>,
}
