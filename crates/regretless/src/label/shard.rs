//! One of several equal shards of the rows of a table.

use crate::error::{Error, Result};

/// One of several equal parts of the rows: row r belongs to shard r mod `count`, and rows with
/// equal costs to the shard of the first of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    /// The shard, counted from 0.
    pub index: usize,
    /// Number of shards.
    pub count: usize,
}

impl Shard {
    /// All rows.
    pub(super) const ALL_ROWS: Self = Self { index: 0, count: 1 };

    /// Whether a row belongs to this shard.
    pub(super) fn contains(self, row: usize) -> bool {
        row % self.count == self.index
    }
}

impl std::str::FromStr for Shard {
    type Err = Error;

    /// `2/7` is the second of seven.
    fn from_str(text: &str) -> Result<Self> {
        let numbers = text
            .split_once('/')
            .and_then(|(index, count)| Some((index.parse().ok()?, count.parse().ok()?)));
        match numbers {
            Some((index, count)) if (1..=count).contains(&index) => Ok(Self {
                index: index - 1,
                count,
            }),
            _ => Err(Error::setting(format!("'{text}' is not a shard"))
                .with_remedy("the second of seven is 2/7")),
        }
    }
}
