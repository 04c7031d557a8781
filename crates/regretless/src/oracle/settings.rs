//! How questions asked during training are answered: exactly, from the relaxation, from a pool.
//!
//! In writing, these settings follow the loss: `SPO+ relax`, `SPO+ relax tight`, `SPO+ cache 5%`,
//! `MAP cache 0%`, `PFYL cache 10% per instance most 500`.

use std::fmt;

use crate::error::{Error, Result};
use crate::solve::relax::Relaxation;

/// When a coin decides between a solve and the pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Coin {
    /// Once for all instances of a batch, as the released code of the field does.
    #[default]
    Batch,
    /// Once for each instance.
    Instance,
}

/// Answers from a pool of known decisions (Mulamba et al. 2021).
///
/// The pool starts with the best decisions of the training rows. With probability `share` a question is
/// solved and the answer joins the pool; otherwise the cheapest decision of the pool is the answer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cache {
    /// Probability of a solve, from 0 to 1.
    pub share: f64,
    /// When the coin is thrown.
    pub coin: Coin,
    /// Most decisions kept.
    pub most: usize,
}

impl Cache {
    /// Most decisions kept unless told otherwise.
    pub const MOST: usize = 10_000;

    /// A cache with this share of solves and the default rest.
    pub fn new(share: f64) -> Self {
        Self { share, coin: Coin::Batch, most: Self::MOST }
    }
}

/// How an oracle answers.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct OracleSettings {
    /// Solve this relaxation instead of the problem itself.
    pub relaxation: Option<Relaxation>,
    /// Answer most questions from a pool.
    pub cache: Option<Cache>,
}

impl OracleSettings {
    /// How settings look, for messages.
    pub const CHOICES: [&'static str; 6] =
        ["relax", "relax tight", "cache 5%", "cache 0%", "cache 5% per instance", "cache 5% most 1000"];

    /// Reads one setting from the front of a list of words, if it is one; the rest stays.
    ///
    /// # Errors
    /// When the setting is given twice or its numbers make no sense.
    pub fn read(&mut self, words: &mut &[&str]) -> Result<bool> {
        match take(words) {
            Some("relax") => {
                let kind = if take_if(words, "tight") { Relaxation::Tight } else { Relaxation::Plain };
                once("relax", self.relaxation.replace(kind).is_some())?;
            }
            Some("cache") => {
                let cache = read_cache(words)?;
                once("cache", self.cache.replace(cache).is_some())?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// The first word, if it begins a setting.
fn take<'w>(words: &mut &[&'w str]) -> Option<&'w str> {
    let (first, rest) = words.split_first()?;
    if ["relax", "cache"].contains(first) {
        *words = rest;
        return Some(first);
    }
    None
}

fn take_if(words: &mut &[&str], word: &str) -> bool {
    let found = words.first() == Some(&word);
    if found {
        *words = &words[1..];
    }
    found
}

fn once(name: &str, twice: bool) -> Result<()> {
    if twice { Err(Error::setting(format!("'{name}' is given twice"))) } else { Ok(()) }
}

fn read_cache(words: &mut &[&str]) -> Result<Cache> {
    let wrong = || Error::setting("cache takes the share of questions that are solved, from 0% to 100%: cache 5%");
    let (percent, rest) = words.split_first().ok_or_else(wrong)?;
    *words = rest;
    let share = percent.strip_suffix('%').and_then(|digits| digits.parse::<f64>().ok());
    let share = share.filter(|share| (0.0..=100.0).contains(share)).ok_or_else(wrong)?;
    let mut cache = Cache::new(share / 100.0);
    loop {
        if words.starts_with(&["per", "instance"]) {
            cache.coin = Coin::Instance;
            *words = &words[2..];
        } else if words.starts_with(&["per", "batch"]) {
            cache.coin = Coin::Batch;
            *words = &words[2..];
        } else if take_if(words, "most") {
            let count = words.first().and_then(|word| word.parse::<usize>().ok()).filter(|most| *most > 0);
            cache.most = count.ok_or_else(|| Error::setting("cache … most takes a whole number from 1"))?;
            *words = &words[1..];
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
        let Some(cache) = self.cache else { return Ok(()) };
        // Rounded to 12 digits, since 0.07 · 100 is not 7 in binary.
        write!(f, " cache {}%", (cache.share * 1e14).round() / 1e12)?;
        if cache.coin == Coin::Instance {
            f.write_str(" per instance")?;
        }
        if cache.most != Cache::MOST {
            write!(f, " most {}", cache.most)?;
        }
        Ok(())
    }
}
