//! How questions asked during training are answered: exactly, from the relaxation, from a pool, by
//! a heuristic, with or without the help of what was found for the same instance last time.
//!
//! In writing, these settings follow the loss: `SPO+ relax`, `SPO+ relax tight warm`, `SPO+ cache
//! 5%`, `PFYL cache 10% per instance most 500`, `SPO+ warm certify memory 200MB`, `SPO+ lk`, `SPO+
//! lk quick`, `SPO+ lk near`, `SPO+ nodes 100`.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::solve::relaxation::Relaxation;

/// When a coin decides between a solve and the pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CacheGranularity {
    /// Once for all instances of a batch, as the released code of the field does.
    #[default]
    Batch,
    /// Once for each instance.
    Instance,
}

/// Answers from a pool of known decisions (Mulamba et al. 2021).
///
/// The pool starts with the best decisions of the training rows. With probability `share` a
/// question is solved and the answer joins the pool; otherwise the cheapest decision of the pool is
/// the answer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CacheSettings {
    /// Probability of a solve, from 0 to 1.
    pub solve_ratio: f64,
    /// When the coin is thrown.
    pub granularity: CacheGranularity,
    /// Most decisions kept.
    pub capacity: usize,
}

impl CacheSettings {
    /// Most decisions kept unless told otherwise.
    pub const DEFAULT_CAPACITY: usize = 10_000;

    /// A cache with this share of solves and the default rest.
    pub fn new(solve_ratio: f64) -> Self {
        Self {
            solve_ratio,
            granularity: CacheGranularity::Batch,
            capacity: Self::DEFAULT_CAPACITY,
        }
    }
}

/// A decision that need not be the best.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Heuristic {
    /// What a local search ends with: for tours that of Lin and Kernighan.
    LocalSearch,
    /// What a local search first comes to: several times as soon, and a little worse.
    FastLocalSearch,
    /// What a local search comes to from the best decision under the true costs, without kicks:
    /// soonest of all, for losses that compare with that decision. As [`Heuristic::Quick`] where a
    /// search cannot start from a decision.
    LocalSearchFromLabel,
    /// The best decision after this many nodes of the search tree.
    NodeLimit(u64),
}

impl fmt::Display for Heuristic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LocalSearch => f.write_str("lk"),
            Self::FastLocalSearch => f.write_str("lk quick"),
            Self::LocalSearchFromLabel => f.write_str("lk near"),
            Self::NodeLimit(capacity) => write!(f, "nodes {capacity}"),
        }
    }
}

impl FromStr for Heuristic {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let unknown = || {
            Error::unknown(
                "search",
                text,
                &[
                    "lk (local search)",
                    "lk quick (its beginning)",
                    "nodes 100 (a search that stops)",
                ],
            )
        };
        let words: Vec<&str> = text.split_whitespace().collect();
        match words[..] {
            ["lk"] => Ok(Self::LocalSearch),
            ["lk", "quick"] => Ok(Self::FastLocalSearch),
            ["lk", "near"] => Err(Error::setting(
                "'lk near' starts from the best decision, so it cannot be what decides; use 'lk' \
                    or 'lk quick'",
            )),
            ["nodes", capacity] => read_nodes(&mut &[capacity][..]).map(Self::NodeLimit),
            _ => Err(unknown()),
        }
    }
}

impl TryFrom<String> for Heuristic {
    type Error = Error;

    fn try_from(text: String) -> Result<Self> {
        text.parse()
    }
}

impl From<Heuristic> for String {
    fn from(heuristic: Heuristic) -> Self {
        heuristic.to_string()
    }
}

/// How an oracle answers.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct OracleSettings {
    /// Solve this relaxation instead of the problem itself.
    pub relaxation: Option<Relaxation>,
    /// Answer most questions from a pool.
    pub cache: Option<CacheSettings>,
    /// Answer with decisions that need not be the best.
    pub heuristic: Option<Heuristic>,
    /// Start every solve from what was found for the same instance last time.
    pub warm: bool,
    /// Try first whether the decision of last time is proved to be still the best.
    pub certify: bool,
    /// Most megabytes that all memories may take together; [`OracleSettings::MEMORY`] unless given.
    pub memory_mb: Option<usize>,
}

impl OracleSettings {
    /// How settings look, for messages.
    pub const EXAMPLES: [&'static str; 13] = [
        "relax",
        "relax tight",
        "cache 5%",
        "cache 0%",
        "cache 5% per instance",
        "cache 5% most 1000",
        "warm",
        "certify",
        "memory 200MB",
        "lk",
        "lk quick",
        "lk near",
        "nodes 100",
    ];

    /// Megabytes for memories unless told otherwise.
    pub const DEFAULT_WARM_START_MB: usize = 512;

    /// Whether anything is kept of an instance between questions.
    pub fn uses_warm_starts(&self) -> bool {
        self.warm || self.certify
    }

    /// Bytes for memories.
    pub fn warm_start_bytes(&self) -> usize {
        if self.uses_warm_starts() {
            self.memory_mb
                .unwrap_or(Self::DEFAULT_WARM_START_MB)
                .saturating_mul(1 << 20)
        } else {
            0
        }
    }

    /// The part that changes the time and not the answers.
    #[must_use]
    pub fn exactness_preserving(&self) -> Self {
        Self {
            warm: self.warm,
            certify: self.certify,
            memory_mb: self.memory_mb,
            ..Self::default()
        }
    }

    /// Reads one setting from the front of a list of words, if it is one; the rest stays.
    ///
    /// # Errors
    /// When the setting is given twice or its numbers make no sense.
    pub fn read(&mut self, words: &mut &[&str]) -> Result<bool> {
        let Some((name, mut rest)) = words.split_first() else {
            return Ok(false);
        };
        let twice = match *name {
            "relax" => {
                let kind = if take_if(&mut rest, "tight") {
                    Relaxation::Tight
                } else {
                    Relaxation::Plain
                };
                self.relaxation.replace(kind).is_some()
            }
            "cache" => self.cache.replace(read_cache(&mut rest)?).is_some(),
            "warm" => std::mem::replace(&mut self.warm, true),
            "certify" => std::mem::replace(&mut self.certify, true),
            "memory" => self.memory_mb.replace(read_memory(&mut rest)?).is_some(),
            "lk" => {
                let kinds = [
                    ("quick", Heuristic::FastLocalSearch),
                    ("near", Heuristic::LocalSearchFromLabel),
                ];
                let kind = kinds.into_iter().find(|(word, _)| take_if(&mut rest, word));
                let kind = kind.map_or(Heuristic::LocalSearch, |(_, kind)| kind);
                self.heuristic.replace(kind).is_some()
            }
            "nodes" => self
                .heuristic
                .replace(Heuristic::NodeLimit(read_nodes(&mut rest)?))
                .is_some(),
            _ => return Ok(false),
        };
        *words = rest;
        let again = match *name {
            "lk" | "nodes" => {
                "'lk' and 'nodes' exclude each other, and each is given once, not twice".to_owned()
            }
            other => format!("'{other}' is given twice"),
        };
        if twice {
            Err(Error::setting(again))
        } else {
            Ok(true)
        }
    }

    /// Checks that the settings go together.
    ///
    /// # Errors
    /// When two of them contradict each other, or one does nothing.
    pub fn check(&self) -> Result<()> {
        let wrong = |message: String| Err(Error::setting(message));
        if let Some(heuristic) = self.heuristic {
            if self.relaxation.is_some() {
                return wrong(format!(
                    "'relax' and '{heuristic}' exclude each other; leave one of them out"
                ));
            }
            if self.uses_warm_starts() {
                return wrong(format!(
                    "'warm' and 'certify' speed up exact answers; with '{heuristic}' answers would \
                        depend on what was \
                     asked before; leave one of them out"
                ));
            }
        }
        if self.memory_mb.is_some() && !self.uses_warm_starts() {
            return wrong("'memory' means nothing without 'warm' or 'certify'".into());
        }
        Ok(())
    }
}

fn take_if(words: &mut &[&str], word: &str) -> bool {
    let found = words.first() == Some(&word);
    if found {
        *words = &words[1..];
    }
    found
}

/// The first word as a whole number from 1.
fn read_count(words: &mut &[&str], unit: &str, message: &str) -> Result<u64> {
    let found = words
        .first()
        .and_then(|word| word.strip_suffix(unit)?.parse().ok())
        .filter(|count| *count > 0);
    let count = found.ok_or_else(|| Error::setting(message))?;
    *words = &words[1..];
    Ok(count)
}

fn read_memory(words: &mut &[&str]) -> Result<usize> {
    let count = read_count(
        words,
        "MB",
        "memory takes a whole number of megabytes: memory 200MB",
    )?;
    Ok(usize::try_from(count).unwrap_or(usize::MAX))
}

fn read_nodes(words: &mut &[&str]) -> Result<u64> {
    read_count(
        words,
        "",
        "nodes takes the most nodes of a search, a whole number from 1: nodes 100",
    )
}

fn read_cache(words: &mut &[&str]) -> Result<CacheSettings> {
    let wrong = || {
        Error::setting(
            "cache takes the share of questions that are solved, from 0% to 100%: cache 5%",
        )
    };
    let (percent, rest) = words.split_first().ok_or_else(wrong)?;
    *words = rest;
    let solve_ratio = percent
        .strip_suffix('%')
        .and_then(|digits| digits.parse::<f64>().ok());
    let solve_ratio = solve_ratio
        .filter(|solve_ratio| (0.0..=100.0).contains(solve_ratio))
        .ok_or_else(wrong)?;
    let mut cache = CacheSettings::new(solve_ratio / 100.0);
    loop {
        if words.starts_with(&["per", "instance"]) {
            cache.granularity = CacheGranularity::Instance;
            *words = &words[2..];
        } else if words.starts_with(&["per", "batch"]) {
            cache.granularity = CacheGranularity::Batch;
            *words = &words[2..];
        } else if take_if(words, "most") {
            let capacity = read_count(words, "", "cache … most takes a whole number from 1")?;
            cache.capacity = usize::try_from(capacity).unwrap_or(usize::MAX);
        } else {
            return Ok(cache);
        }
    }
}

impl fmt::Display for OracleSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.relaxation {
            None => {}
            Some(Relaxation::Plain) => f.write_str(" relax")?,
            Some(Relaxation::Tight) => f.write_str(" relax tight")?,
        }
        if let Some(cache) = self.cache {
            write!(f, " {cache}")?;
        }
        if let Some(heuristic) = self.heuristic {
            write!(f, " {heuristic}")?;
        }
        for (word, given) in [(" warm", self.warm), (" certify", self.certify)] {
            f.write_str(if given { word } else { "" })?;
        }
        self.memory_mb
            .map_or(Ok(()), |capacity| write!(f, " memory {capacity}MB"))
    }
}

impl fmt::Display for CacheSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Rounded to 12 digits, since 0.07 · 100 is not 7 in binary.
        write!(f, "cache {}%", (self.solve_ratio * 1e14).round() / 1e12)?;
        if self.granularity == CacheGranularity::Instance {
            f.write_str(" per instance")?;
        }
        if self.capacity != Self::DEFAULT_CAPACITY {
            write!(f, " most {}", self.capacity)?;
        }
        Ok(())
    }
}
