//! The tables of a scoreboard, for the page, for Markdown and for a terminal.

use super::{BoardEntry, RankedMethod, ResultSource, Scoreboard, TaskBoard};
use crate::report::table::MISSING_VALUE;
use crate::report::text::pluralize;

/// A table of methods.
#[derive(Debug, Clone, PartialEq)]
pub struct BoardTable {
    /// Its title.
    pub title: String,
    /// How to read it, in sentences.
    pub explanation: String,
    /// Index of the problem; none for the table of all tasks.
    pub(crate) problem: Option<usize>,
    /// The columns after that of the method.
    pub columns: Vec<BoardColumn>,
    /// One row per method.
    pub rows: Vec<BoardRow>,
}

/// A column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BoardColumn {
    /// Its title.
    pub title: String,
    /// Explanation in a few words.
    pub(crate) hint: String,
}

/// A method.
#[derive(Debug, Clone, PartialEq)]
pub struct BoardRow {
    /// The name of the method.
    pub method: String,
    /// Whether it is one of ours.
    pub is_ours: bool,
    /// One cell per column.
    pub cells: Vec<BoardCell>,
}

/// A cell with its sort key.
#[derive(Debug, Clone, PartialEq)]
pub struct BoardCell {
    /// Its text.
    pub text: String,
    pub(crate) key: Option<f64>,
}

impl BoardCell {
    fn text(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            key: None,
        }
    }

    /// A rank or a count, or the mark of a missing one.
    fn count(value: Option<usize>) -> Self {
        Self::number(value.map(|value| value as f64), |value| {
            format!("{value:.0}")
        })
    }

    /// A number, or the mark of a missing one.
    fn number(value: Option<f64>, write: impl Fn(f64) -> String) -> Self {
        Self {
            text: value.map_or_else(|| MISSING_VALUE.to_string(), write),
            key: value,
        }
    }
}

fn column(title: &str, hint: &str) -> BoardColumn {
    BoardColumn {
        title: title.into(),
        hint: hint.into(),
    }
}

impl Scoreboard {
    /// Mean ranks over all ranked tasks, then each task.
    pub fn tables(&self) -> Vec<BoardTable> {
        let mut tables = Vec::new();
        if !self.ranking.is_empty() {
            tables.push(self.ranking_table());
        }
        tables.extend(self.tasks.iter().map(TaskBoard::table));
        tables
    }

    fn ranking_table(&self) -> BoardTable {
        let ranked = self.tasks.iter().filter(|task| task.is_ranked);
        let mut columns = vec![
            column("mean rank", "mean of the ranks among the published methods"),
            column(
                "mean rank of all",
                "mean of the ranks among all methods of this table",
            ),
        ];
        for task in ranked {
            columns.push(column(&task.name, "rank among the published methods"));
        }
        columns.push(column("source", "published, or ours"));
        let mut sentences = vec![
            "Rank of a method on a task: one more than the number of published methods with a \
             lower mean test regret; equal means share a rank, our other methods do not count. \
             For the mean rank of all, the methods of the table are ranked together. The best of \
             many methods is chosen by test rows here, which flatters it."
                .to_string(),
        ];
        let others: Vec<&str> = self
            .tasks
            .iter()
            .filter(|task| !task.is_ranked)
            .map(|task| task.name.as_str())
            .collect();
        if !others.is_empty() {
            sentences.push(format!(
                "Not counted, because there is only one published seed or no result of ours: {}.",
                others.join(", ")
            ));
        }
        if !self.incomplete.is_empty() {
            sentences.push(format!(
                "Not ranked, because results on some task are missing: {}.",
                self.incomplete.join(", ")
            ));
        }
        BoardTable {
            title: format!("Mean ranks over {}", pluralize(self.ranked_tasks(), "task")),
            explanation: sentences.join(" "),
            problem: None,
            columns,
            rows: self.ranking.iter().map(ranking_row).collect(),
        }
    }
}

fn ranking_row(method: &RankedMethod) -> BoardRow {
    let mut cells = Vec::new();
    for mean in [method.mean_rank_among_published, method.mean_rank] {
        cells.push(BoardCell::number(Some(mean), |mean| format!("{mean:.2}")));
    }
    for rank in &method.ranks {
        cells.push(BoardCell::count(Some(*rank)));
    }
    cells.push(BoardCell::text(method.source.word()));
    BoardRow {
        method: method.name.clone(),
        is_ours: method.source == ResultSource::Ours,
        cells,
    }
}

impl TaskBoard {
    fn table(&self) -> BoardTable {
        let [train, validation, test] = self.rows;
        let lowest = self
            .entries
            .first()
            .and_then(|entry| entry.sample.spread.mean);
        // Four decimals, as published regrets have three significant digits then; the lowest ones
        // of `cubic` need more.
        let decimals = if lowest.is_some_and(|mean| mean < 1e-3) {
            6
        } else {
            4
        };
        let mut sentences = vec![format!(
            "{train} training, {validation} validation and {test} test rows. Test regret: sum of \
             regrets divided by the sum of best objectives, mean ± standard deviation over seeds."
        )];
        let covers_rows = |entry: &&BoardEntry| entry.sample.covers_test_rows;
        sentences.push(if self.entries.iter().any(|entry| covers_rows(&entry)) {
            format!(
                "95 % bootstrap intervals of the mean: those of our methods cover the choice of \
                 seeds and of the {}, those of published methods the choice of seeds only, since \
                 their regrets by row are not published.",
                pluralize(test, "test row")
            )
        } else {
            "95 % bootstrap intervals of the mean cover the choice of seeds, not of test rows."
                .to_string()
        });
        BoardTable {
            title: self.name.clone(),
            explanation: sentences.join(" "),
            problem: Some(self.problem),
            columns: vec![
                column("test regret", "mean over seeds ± standard deviation"),
                column("rank", "rank among the published methods"),
                column("95 % interval", "bootstrap interval of the mean"),
                column("interval covers", "what is drawn anew in a resample"),
                column("seeds", "number of seeds"),
                column("source", "published, or ours"),
            ],
            rows: self
                .entries
                .iter()
                .map(|entry| task_row(entry, decimals))
                .collect(),
        }
    }
}

fn task_row(entry: &BoardEntry, decimals: usize) -> BoardRow {
    let regret = |value: f64| format!("{value:.decimals$}");
    let sample = &entry.sample;
    let sd = sample.spread.sd;
    let mean = |mean: f64| {
        let sd = sd.map(|sd| format!(" ± {}", regret(sd)));
        format!("{}{}", regret(mean), sd.unwrap_or_default())
    };
    let (interval, covers) = match sample.interval {
        Some(interval) => (
            format!("{} to {}", regret(interval.lower), regret(interval.upper)),
            match (sample.covers_test_rows, sample.spread.count) {
                (true, 1) => "test rows",
                (true, _) => "seeds, test rows",
                (false, _) => "seeds",
            },
        ),
        None => ("–".to_string(), "–"),
    };
    BoardRow {
        method: entry.name.clone(),
        is_ours: entry.source == ResultSource::Ours,
        cells: vec![
            BoardCell::number(sample.spread.mean, mean),
            BoardCell::count(entry.rank),
            BoardCell {
                text: interval,
                key: sample.interval.map(|interval| interval.lower),
            },
            BoardCell::text(covers),
            BoardCell::count(Some(sample.spread.count)),
            BoardCell::text(entry.source.word()),
        ],
    }
}
