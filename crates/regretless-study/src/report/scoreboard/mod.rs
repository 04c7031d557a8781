//! A scoreboard: the methods of an experiment ranked among methods with published test regrets.
//!
//! On a task, the rank of a method is one more than the number of published methods with a lower
//! mean regret, so equal means share a rank and our other methods do not count. Over all tasks, all
//! methods are ranked together, with the mean of the ranks that equal methods share, and compared
//! as Demšar proposes ("Statistical Comparisons of Classifiers over Multiple Data Sets", 2006): two
//! methods differ if their mean ranks are further apart than the critical difference of Nemenyi's
//! test.

mod nemenyi;
mod tables;

use std::ops::Range;

use crate::experiment::{ExperimentResults, ProblemResults, RegretSample};

pub use tables::{BoardCell, BoardColumn, BoardRow, BoardTable};

use crate::report::text::pluralize;

/// All tasks of an experiment with published test regrets.
#[derive(Debug, Clone, PartialEq)]
pub struct Scoreboard {
    pub(crate) tasks: Vec<TaskBoard>,
    /// Methods with a result on every ranked task, the lowest mean rank first.
    pub(crate) ranking: Vec<RankedMethod>,
    /// Methods of ours without a result on some ranked task.
    pub(crate) incomplete: Vec<String>,
    /// Critical difference of mean ranks at 95 %; none for a single task.
    pub(crate) critical_difference: Option<f64>,
}

/// One task.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TaskBoard {
    /// Index of the problem.
    pub(crate) problem: usize,
    pub(crate) name: String,
    pub(crate) rows: [usize; 3],
    /// Whether it counts in mean ranks: it has results of ours and several published seeds.
    pub(crate) is_ranked: bool,
    /// The lowest mean regret first; methods without a result come last.
    pub(crate) entries: Vec<BoardEntry>,
}

/// Whose result it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ResultSource {
    Published,
    Ours,
}

impl ResultSource {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Published => "published",
            Self::Ours => "ours",
        }
    }
}

/// One method on one task.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct BoardEntry {
    pub(crate) name: String,
    pub(crate) source: ResultSource,
    pub(crate) sample: RegretSample,
    /// Rank among the published methods; none without a result.
    pub(crate) rank: Option<usize>,
}

impl BoardEntry {
    fn is(&self, name: &str, source: ResultSource) -> bool {
        self.name == name && self.source == source
    }
}

/// One method over all ranked tasks.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RankedMethod {
    pub(crate) name: String,
    pub(crate) source: ResultSource,
    /// Its rank among the published methods on each ranked task.
    pub(crate) ranks: Vec<usize>,
    /// Mean of these ranks.
    pub(crate) mean_rank_among_published: f64,
    /// Mean of its ranks among all methods.
    pub(crate) mean_rank: f64,
}

impl Scoreboard {
    /// The scoreboard of an experiment; none if no test regrets are published.
    pub fn new(results: &ExperimentResults) -> Option<Self> {
        let tasks: Vec<TaskBoard> = results
            .problems
            .iter()
            .enumerate()
            .filter(|(_, problem)| !problem.published_regrets.is_empty())
            .map(|(index, problem)| TaskBoard::new(index, problem))
            .collect();
        if tasks.is_empty() {
            return None;
        }
        let ranked: Vec<&TaskBoard> = tasks.iter().filter(|task| task.is_ranked).collect();
        let (ranking, incomplete) = rank_methods(&ranked);
        let is_comparison = ranked.len() > 1 && ranking.len() > 1;
        let critical_difference =
            is_comparison.then(|| nemenyi::critical_difference(ranking.len(), ranked.len()));
        Some(Self {
            tasks,
            ranking,
            incomplete,
            critical_difference,
        })
    }

    /// Number of tasks that count in mean ranks.
    pub(crate) fn ranked_tasks(&self) -> usize {
        self.tasks.iter().filter(|task| task.is_ranked).count()
    }

    /// Maximal groups of methods in the ranking whose mean ranks do not differ significantly.
    pub(crate) fn groups(&self) -> Vec<Range<usize>> {
        let Some(difference) = self.critical_difference else {
            return Vec::new();
        };
        let mut groups: Vec<Range<usize>> = Vec::new();
        for (start, first) in self.ranking.iter().enumerate() {
            let is_close = |other: &&RankedMethod| other.mean_rank - first.mean_rank <= difference;
            let end = start + self.ranking[start..].iter().take_while(is_close).count();
            let is_new = groups.last().is_none_or(|last| end > last.end);
            if end > start + 1 && is_new {
                groups.push(start..end);
            }
        }
        groups
    }

    /// The main results in sentences.
    pub(crate) fn conclusions(&self) -> Vec<String> {
        let tasks = self.ranked_tasks();
        let mut sentences = Vec::new();
        for source in [ResultSource::Ours, ResultSource::Published] {
            let best = self.ranking.iter().find(|method| method.source == source);
            if let Some(best) = best {
                let whose = match source {
                    ResultSource::Ours => "our methods",
                    ResultSource::Published => "the published methods",
                };
                sentences.push(format!(
                    "Best of {whose} over {}: {}, with a mean rank of {:.2} among the published \
                     methods and of {:.2} among all.",
                    pluralize(tasks, "task"),
                    best.name,
                    best.mean_rank_among_published,
                    best.mean_rank
                ));
            }
        }
        if let Some(difference) = self.critical_difference {
            sentences.push(format!(
                "{} are few for a test: mean ranks of {} must be {difference:.1} apart \
                 to differ significantly (Nemenyi's test at 95 %).",
                pluralize(tasks, "task"),
                pluralize(self.ranking.len(), "method")
            ));
        }
        sentences
    }
}

impl TaskBoard {
    fn new(index: usize, problem: &ProblemResults) -> Self {
        let mut entries = Vec::new();
        for (name, sample) in &problem.published_regrets {
            entries.push(BoardEntry {
                name: name.clone(),
                source: ResultSource::Published,
                sample: sample.clone(),
                rank: None,
            });
        }
        let has_several_seeds = entries.iter().any(|entry| entry.sample.spread.count > 1);
        for method in &problem.methods {
            entries.push(BoardEntry {
                name: method.name.clone(),
                source: ResultSource::Ours,
                sample: method.regret_sample.clone().unwrap_or_default(),
                rank: None,
            });
        }
        let published: Vec<f64> = entries
            .iter()
            .filter(|entry| entry.source == ResultSource::Published)
            .filter_map(|entry| entry.sample.spread.mean)
            .collect();
        for entry in &mut entries {
            let mean = entry.sample.spread.mean;
            entry.rank = mean.map(|mean| rank_among(&published, mean));
        }
        let has_results_of_ours = entries
            .iter()
            .any(|entry| entry.source == ResultSource::Ours && entry.rank.is_some());
        let key = |entry: &BoardEntry| entry.sample.spread.mean.unwrap_or(f64::INFINITY);
        entries.sort_by(|a, b| key(a).total_cmp(&key(b)));
        Self {
            problem: index,
            name: problem.name.clone(),
            rows: problem.rows,
            is_ranked: has_several_seeds && has_results_of_ours,
            entries,
        }
    }

    fn entry(&self, name: &str, source: ResultSource) -> Option<&BoardEntry> {
        let found = self.entries.iter().find(|entry| entry.is(name, source));
        found.filter(|entry| entry.rank.is_some())
    }
}

/// One more than the number of lower values.
fn rank_among(values: &[f64], value: f64) -> usize {
    1 + values.iter().filter(|other| **other < value).count()
}

/// The rank among values that contain this one; equal values share the mean of their ranks.
fn shared_rank(values: &[f64], value: f64) -> f64 {
    let equal = values.iter().filter(|other| **other == value).count();
    rank_among(values, value) as f64 + (equal as f64 - 1.0) / 2.0
}

/// Methods with a result on every task, the lowest mean rank first, and the names of ours without.
fn rank_methods(tasks: &[&TaskBoard]) -> (Vec<RankedMethod>, Vec<String>) {
    let Some(first) = tasks.first() else {
        return (Vec::new(), Vec::new());
    };
    let (mut complete, mut incomplete) = (Vec::new(), Vec::new());
    for entry in &first.entries {
        let has_result = |task: &&TaskBoard| task.entry(&entry.name, entry.source).is_some();
        if tasks.iter().all(has_result) {
            complete.push(entry);
        } else if entry.source == ResultSource::Ours {
            incomplete.push(entry.name.clone());
        }
    }
    let means: Vec<Vec<f64>> = tasks
        .iter()
        .map(|task| {
            let mean =
                |entry: &&BoardEntry| task.entry(&entry.name, entry.source)?.sample.spread.mean;
            complete.iter().filter_map(mean).collect()
        })
        .collect();
    let count = tasks.len() as f64;
    let mut ranking: Vec<RankedMethod> = complete
        .iter()
        .enumerate()
        .map(|(index, entry)| {
            let ranks: Vec<usize> = tasks
                .iter()
                .filter_map(|task| task.entry(&entry.name, entry.source)?.rank)
                .collect();
            let shared: f64 = means
                .iter()
                .map(|means| shared_rank(means, means[index]))
                .sum();
            RankedMethod {
                name: entry.name.clone(),
                source: entry.source,
                mean_rank_among_published: ranks.iter().sum::<usize>() as f64 / count,
                ranks,
                mean_rank: shared / count,
            }
        })
        .collect();
    ranking.sort_by(|a, b| a.mean_rank.total_cmp(&b.mean_rank));
    (ranking, incomplete)
}

#[cfg(test)]
mod tests {
    use crate::experiment::RegretSample;

    use super::{
        BoardEntry, ResultSource, Scoreboard, TaskBoard, rank_among, rank_methods, shared_rank,
    };

    /// A task with these mean regrets, of published methods a and b and of our method c.
    fn task(means: [f64; 3]) -> TaskBoard {
        let mut entries = Vec::new();
        for (name, mean) in ["a", "b", "c"].into_iter().zip(means) {
            let mut sample = RegretSample::default();
            sample.spread.mean = Some(mean);
            entries.push(BoardEntry {
                name: name.into(),
                source: if name == "c" {
                    ResultSource::Ours
                } else {
                    ResultSource::Published
                },
                rank: Some(rank_among(&means[..2], mean)),
                sample,
            });
        }
        TaskBoard {
            problem: 0,
            name: "task".into(),
            rows: [1; 3],
            is_ranked: true,
            entries,
        }
    }

    #[test]
    fn ranks_are_those_computed_by_hand() {
        // Lower, equal and higher than published means of 0.1, 0.2, 0.2 and 0.4.
        let published = [0.1, 0.2, 0.2, 0.4];
        let ranks = [0.05, 0.1, 0.2, 0.3, 0.5].map(|mean| rank_among(&published, mean));
        assert_eq!(ranks, [1, 1, 2, 4, 5]);
        assert_eq!(
            published.map(|mean| shared_rank(&published, mean)),
            [1.0, 2.5, 2.5, 4.0]
        );
    }

    #[test]
    fn mean_ranks_are_those_computed_by_hand() {
        // Among all: a 1, 3; b 2.5, 1; c 2.5, 2. Among published: a 1, 2; b 2, 1; c 2, 2.
        let (first, second) = (task([0.1, 0.2, 0.2]), task([0.9, 0.1, 0.3]));
        let (ranking, incomplete) = rank_methods(&[&first, &second]);
        let found: Vec<(&str, f64, f64)> = ranking
            .iter()
            .map(|method| {
                (
                    method.name.as_str(),
                    method.mean_rank,
                    method.mean_rank_among_published,
                )
            })
            .collect();
        assert_eq!(found, [("b", 1.75, 1.5), ("a", 2.0, 1.5), ("c", 2.25, 2.0)]);
        assert_eq!(ranking[2].ranks, [2, 2]);
        assert!(incomplete.is_empty());
    }

    #[test]
    fn a_method_without_a_result_on_a_task_is_not_ranked() {
        let (first, mut second) = (task([0.1, 0.2, 0.3]), task([0.1, 0.2, 0.3]));
        for entry in &mut second.entries {
            if entry.name != "a" {
                (entry.rank, entry.sample.spread.mean) = (None, None);
            }
        }
        let (ranking, incomplete) = rank_methods(&[&first, &second]);
        assert_eq!(ranking.len(), 1);
        assert_eq!(incomplete, ["c"]);
    }

    #[test]
    fn groups_are_the_longest_runs_within_the_critical_difference() {
        let (ranking, _) = rank_methods(&[&task([0.1, 0.2, 0.3])]);
        let board = |critical_difference| Scoreboard {
            tasks: Vec::new(),
            ranking: ranking.clone(),
            incomplete: Vec::new(),
            critical_difference: Some(critical_difference),
        };
        assert_eq!(board(0.5).groups(), []);
        assert_eq!(board(1.0).groups(), [0..2, 1..3]);
        assert_eq!(board(2.0).groups(), vec![0..3; 1]);
    }
}
