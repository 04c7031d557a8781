//! Settings of the oracle during training: exact solves, a relaxation, a solution pool or a
//! heuristic, with or without warm starts.
//!
//! In a method name these settings follow the loss: `SPO+ relax`, `SPO+ relax tight warm`,
//! `SPO+ cache 5%`, `PFYL cache 10% per-instance capacity 500`, `SPO+ warm certify memory 200MB`,
//! `SPO+ local-search`, `SPO+ local-search:fast`, `SPO+ local-search:from-label`,
//! `SPO+ node-limit 100`.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::renamed;
use crate::solve::relaxation::Relaxation;

const LOCAL_SEARCH: &str = "local-search";
const LOCAL_SEARCH_FAST: &str = "local-search:fast";
const LOCAL_SEARCH_FROM_LABEL: &str = "local-search:from-label";
const NODE_LIMIT: &str = "node-limit";
/// Percentages are printed rounded to multiples of one over this, twelve decimals: more digits than
/// a user types, and fewer than rounding errors affect.
const PERCENT_ROUNDING: f64 = 1e12;

/// Whether the draw between a solve and a pool lookup is made per batch or per instance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum CacheGranularity {
    /// Once for all instances of a batch, as in the published implementations.
    #[default]
    Batch,
    /// Once for each instance.
    Instance,
}

/// The solution cache (Mulamba et al. 2021): some solver calls return a decision of the solution
/// pool instead of solving.
///
/// The pool starts with the labels of the training rows. With probability `solve_ratio` a solver
/// call is solved and its solution is added to the pool; otherwise the cheapest decision of the
/// pool is returned.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct CacheSettings {
    /// Probability of a solve, from 0 to 1.
    pub solve_ratio: f64,
    /// How often the draw is made.
    pub granularity: CacheGranularity,
    /// Maximum number of decisions in the pool.
    pub capacity: usize,
}

impl CacheSettings {
    /// Default capacity of the pool. Untuned: it bounds the time of a lookup, which is linear in
    /// the number of decisions, and the memory of the pool.
    pub const DEFAULT_CAPACITY: usize = 10_000;

    /// A cache with this solve ratio and default granularity and capacity.
    pub fn new(solve_ratio: f64) -> Self {
        Self {
            solve_ratio,
            granularity: CacheGranularity::Batch,
            capacity: Self::DEFAULT_CAPACITY,
        }
    }
}

/// A solver whose decisions need not be optimal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Heuristic {
    /// Local search: Lin–Kernighan for the TSP, iterated local search for the CVRP.
    LocalSearch,
    /// The first local optimum of that search: several times as fast and slightly worse.
    FastLocalSearch,
    /// The local optimum reached from the label, without perturbations: the fastest, for losses
    /// that compare with the label. Same as [`Heuristic::FastLocalSearch`] if a search cannot start
    /// from a decision.
    LocalSearchFromLabel,
    /// The incumbent after this many nodes of branch and bound.
    NodeLimit(u64),
}

impl fmt::Display for Heuristic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LocalSearch => f.write_str(LOCAL_SEARCH),
            Self::FastLocalSearch => f.write_str(LOCAL_SEARCH_FAST),
            Self::LocalSearchFromLabel => f.write_str(LOCAL_SEARCH_FROM_LABEL),
            Self::NodeLimit(nodes) => write!(f, "{NODE_LIMIT} {nodes}"),
        }
    }
}

impl FromStr for Heuristic {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let words: Vec<&str> = text.split_whitespace().collect();
        // Words that a heuristic leaves unread make it another, unknown text.
        let mut unread = &words[..];
        let heuristic = Self::read(&mut unread)?.filter(|_| unread.is_empty());
        match heuristic {
            Some(Self::LocalSearchFromLabel) => Err(Error::setting(format!(
                "'{LOCAL_SEARCH_FROM_LABEL}' starts from the label and cannot compute labels or \
                 decisions"
            ))
            .with_remedy(format!("use '{LOCAL_SEARCH}' or '{LOCAL_SEARCH_FAST}'"))),
            Some(heuristic) => Ok(heuristic),
            None => Err(Error::unknown(
                "heuristic",
                text,
                &[
                    LOCAL_SEARCH,
                    "local-search:fast (its first local optimum)",
                    "node-limit 100 (branch and bound with a node limit)",
                ],
            )),
        }
    }
}

impl Heuristic {
    /// Reads a heuristic from the front of a list of words, if there is one.
    fn read(words: &mut &[&str]) -> Result<Option<Self>> {
        let Some((name, mut rest)) = words.split_first() else {
            return Ok(None);
        };
        let heuristic = match *name {
            LOCAL_SEARCH => Self::LocalSearch,
            LOCAL_SEARCH_FAST => Self::FastLocalSearch,
            LOCAL_SEARCH_FROM_LABEL => Self::LocalSearchFromLabel,
            NODE_LIMIT => Self::NodeLimit(read_count(
                &mut rest,
                "",
                "node-limit takes the maximum number of branch-and-bound nodes, an integer of at \
                 least 1: node-limit 100",
            )?),
            "lk" => {
                return Err(match rest.first() {
                    Some(&"quick") => renamed::refuse("lk quick", LOCAL_SEARCH_FAST),
                    Some(&"near") => renamed::refuse("lk near", LOCAL_SEARCH_FROM_LABEL),
                    Some(_) | None => renamed::refuse("lk", LOCAL_SEARCH),
                });
            }
            "nodes" => return Err(renamed::refuse("nodes", NODE_LIMIT)),
            _ => return Ok(None),
        };
        *words = rest;
        Ok(Some(heuristic))
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

/// How the oracle handles solver calls.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct OracleSettings {
    /// Solve this relaxation instead of the problem itself.
    pub relaxation: Option<Relaxation>,
    /// Look up solver calls in a solution pool, except for a fraction that is solved.
    pub cache: Option<CacheSettings>,
    /// Solve by a heuristic.
    pub heuristic: Option<Heuristic>,
    /// Start each solve from the state of the instance's previous solve.
    pub warm: bool,
    /// First test whether the previous decision of the instance is certified to be still optimal.
    pub certify: bool,
    /// Limit in megabytes on all warm-start states together;
    /// [`OracleSettings::DEFAULT_WARM_START_MB`] if `None`.
    pub memory_mb: Option<usize>,
}

impl OracleSettings {
    /// Example settings, for messages.
    pub const EXAMPLES: [&'static str; 13] = [
        "relax",
        "relax tight",
        "cache 5%",
        "cache 0%",
        "cache 5% per-instance",
        "cache 5% capacity 1000",
        "warm",
        "certify",
        "memory 200MB",
        LOCAL_SEARCH,
        LOCAL_SEARCH_FAST,
        LOCAL_SEARCH_FROM_LABEL,
        "node-limit 100",
    ];

    /// Default limit in megabytes on all warm-start states together. Untuned: instances beyond it
    /// are solved cold, so it trades memory for time.
    pub const DEFAULT_WARM_START_MB: usize = 512;

    /// Whether state of an instance is kept between solver calls.
    pub fn uses_warm_starts(&self) -> bool {
        self.warm || self.certify
    }

    /// Limit in bytes on all warm-start states together.
    pub fn warm_start_bytes(&self) -> usize {
        if self.uses_warm_starts() {
            self.memory_mb
                .unwrap_or(Self::DEFAULT_WARM_START_MB)
                .saturating_mul(1 << 20)
        } else {
            0
        }
    }

    /// The settings that change the time and not the decisions.
    #[must_use]
    pub fn exactness_preserving(&self) -> Self {
        Self {
            warm: self.warm,
            certify: self.certify,
            memory_mb: self.memory_mb,
            ..Self::default()
        }
    }

    /// Reads one setting from the front of a list of words. Returns whether there was one; the
    /// remaining words stay in the list.
    ///
    /// # Errors
    /// When the setting is given twice or its value is invalid.
    pub fn read(&mut self, words: &mut &[&str]) -> Result<bool> {
        if let Some(heuristic) = Heuristic::read(words)? {
            return match self.heuristic.replace(heuristic) {
                None => Ok(true),
                Some(earlier) => Err(Error::setting(format!(
                    "'{earlier}' and '{heuristic}': only one heuristic can be given, and not twice"
                ))),
            };
        }
        let Some((name, mut rest)) = words.split_first() else {
            return Ok(false);
        };
        let is_repeated = match *name {
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
            _ => return Ok(false),
        };
        *words = rest;
        if is_repeated {
            return Err(Error::setting(format!("'{name}' is given twice")));
        }
        Ok(true)
    }

    /// Checks that the settings are compatible.
    ///
    /// # Errors
    /// When two of them contradict each other, or one has no effect.
    pub fn check(&self) -> Result<()> {
        let invalid = |message: String| Err(Error::setting(message));
        if let Some(heuristic) = self.heuristic {
            if self.relaxation.is_some() {
                return invalid(format!(
                    "'relax' and '{heuristic}' cannot be combined; leave one of them out"
                ));
            }
            // A local search from the last decision would end in another optimum than one from
            // scratch, and the result would depend on the order of the calls.
            if self.uses_warm_starts() {
                return invalid(format!(
                    "'warm' and 'certify' speed up exact solves; with '{heuristic}' decisions \
                     would depend on earlier solver calls; leave one of them out"
                ));
            }
        }
        if self.memory_mb.is_some() && !self.uses_warm_starts() {
            return invalid("'memory' has no effect without 'warm' or 'certify'".into());
        }
        Ok(())
    }
}

fn take_if(words: &mut &[&str], word: &str) -> bool {
    let is_first = words.first() == Some(&word);
    if is_first {
        *words = &words[1..];
    }
    is_first
}

/// The first word as a positive integer followed by this unit.
fn read_count(words: &mut &[&str], unit: &str, message: &str) -> Result<u64> {
    let count = words
        .first()
        .and_then(|word| word.strip_suffix(unit)?.parse().ok())
        .filter(|count| *count > 0);
    let count = count.ok_or_else(|| Error::setting(message))?;
    *words = &words[1..];
    Ok(count)
}

fn read_memory(words: &mut &[&str]) -> Result<usize> {
    let count = read_count(
        words,
        "MB",
        "memory takes an integer number of megabytes: memory 200MB",
    )?;
    Ok(usize::try_from(count).unwrap_or(usize::MAX))
}

fn read_cache(words: &mut &[&str]) -> Result<CacheSettings> {
    let mut cache = CacheSettings::new(read_solve_ratio(words)?);
    loop {
        if take_if(words, "per-instance") {
            cache.granularity = CacheGranularity::Instance;
        } else if take_if(words, "per-batch") {
            cache.granularity = CacheGranularity::Batch;
        } else if take_if(words, "capacity") {
            let message = "capacity takes an integer of at least 1: cache 5% capacity 1000";
            let capacity = read_count(words, "", message)?;
            cache.capacity = usize::try_from(capacity).unwrap_or(usize::MAX);
        } else if words.starts_with(&["per", "instance"]) {
            return Err(renamed::refuse("per instance", "per-instance"));
        } else if words.starts_with(&["per", "batch"]) {
            return Err(renamed::refuse("per batch", "per-batch"));
        } else if words.first() == Some(&"most") {
            return Err(renamed::refuse("most", "capacity"));
        } else {
            return Ok(cache);
        }
    }
}

fn read_solve_ratio(words: &mut &[&str]) -> Result<f64> {
    let percent = words
        .first()
        .and_then(|word| word.strip_suffix('%')?.parse::<f64>().ok())
        .filter(|percent| (0.0..=100.0).contains(percent));
    let Some(percent) = percent else {
        return Err(Error::setting(
            "cache takes the solve ratio, the fraction of solver calls that are solved, from 0% to \
             100%: cache 5%",
        ));
    };
    *words = &words[1..];
    Ok(percent / 100.0)
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
        if self.warm {
            f.write_str(" warm")?;
        }
        if self.certify {
            f.write_str(" certify")?;
        }
        if let Some(megabytes) = self.memory_mb {
            write!(f, " memory {megabytes}MB")?;
        }
        Ok(())
    }
}

impl fmt::Display for CacheSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Rounded, since 0.07 · 100 is not 7 in binary.
        let percent = (self.solve_ratio * (100.0 * PERCENT_ROUNDING)).round() / PERCENT_ROUNDING;
        write!(f, "cache {percent}%")?;
        if self.granularity == CacheGranularity::Instance {
            f.write_str(" per-instance")?;
        }
        if self.capacity != Self::DEFAULT_CAPACITY {
            write!(f, " capacity {}", self.capacity)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{Heuristic, OracleSettings};

    #[test]
    fn old_words_are_refused_with_the_new_word() {
        for (old, new) in [
            ("lk", "local-search"),
            ("lk quick", "local-search:fast"),
            ("lk near", "local-search:from-label"),
            ("nodes 100", "node-limit"),
            ("cache 5% most 9", "capacity"),
            ("cache 5% per instance", "per-instance"),
            ("cache 5% capacity 9 per batch", "per-batch"),
        ] {
            let words: Vec<&str> = old.split_whitespace().collect();
            let message = OracleSettings::default()
                .read(&mut &words[..])
                .unwrap_err()
                .to_string();
            assert!(message.contains(&format!("'{new}'")), "{message}");
        }
        let message = "lk quick".parse::<Heuristic>().unwrap_err().to_string();
        assert!(message.contains("'local-search:fast'"), "{message}");
    }
}
